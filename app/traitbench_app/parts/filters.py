"""The filters of a list, which are part of its link: a field that searches, and choices that begin with all."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

import streamlit as st

_Option = TypeVar("_Option", bound=Hashable)


def find(key: str, placeholder: str, *, most: int | None = None) -> str:
    """Draw the field that searches, and return what is typed; `most` is the largest number of characters."""
    return st.text_input(
        "Find",
        key=key,
        bind="query-params",
        type="search",
        icon=":material/search:",
        placeholder=placeholder,
        max_chars=most,
        live="300ms",
        width=300,
    )


def pick(label: str, words: Mapping[_Option, str], *, key: str, every: str = "All") -> _Option | None:
    """Draw a choice among the keys of `words`, which say what each is; `every` says that none is chosen."""
    return st.selectbox(
        label,
        list(words),
        index=None,
        key=key,
        bind="query-params",
        format_func=lambda option: words.get(option, str(option)),
        placeholder=every,
        width=190,
    )
