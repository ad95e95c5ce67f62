"""Details that are one click away: an expander whose content is made only while it is open, and stands in the link."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from traitbench_app.shell import session


@contextmanager
def folded(label: str, *, icon: str, key: str) -> Iterator[bool]:
    """Draw the expander and give whether it is open; the caller draws the content only then."""
    expander = st.expander(label, icon=icon, key=key, bind="query-params")
    with expander:
        yield bool(expander.open)


def is_open(key: str) -> bool:
    """Whether the expander is open, even before it is drawn; a link has `?<key>=true` then."""
    return str(session.get(key, st.query_params.get(key))).lower() == "true"
