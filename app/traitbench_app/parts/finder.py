"""Find a model, a trait, a sample, a page or an action by typing: Ctrl+K opens the dialog on every page."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from traitbench.contract.models import Model
from traitbench.display.text import plain, shortened
from traitbench_app.parts.controls import ask
from traitbench_app.parts.model_actions import ARCHIVE
from traitbench_app.parts.runs import MISTAKES
from traitbench_app.shell import people, session
from traitbench_app.shell.navigation import PAGES, PageName, is_shown, page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client, guarded, offered_models

_MOST, _MOST_SAMPLES, _FEWEST_LETTERS = 10, 3, 3
_WORDS = "shell.find_words"


_SINGLE_KEYS = """
<p class="single-keys">Letters and digits work as keys while no field has the focus.
<button type="button" data-single-keys>Switch single keys off</button></p>
"""
"""What `shell.js` switches, in this browser."""


class LinkTarget(NamedTuple):
    """Where a link leads: what a person reads, the page, its model, and the query of its view.

    Without a page it archives the model, after a question.
    """

    words: str
    page: PageName | None
    model: str | None = None
    query: Mapping[str, str] = {}


_ACTIONS: tuple[tuple[str, PageName, Mapping[str, str]], ...] = (
    ("Add samples by hand", "samples", {"task": "Add by hand"}),
    ("Import samples from a file", "samples", {"task": "Import a file"}),
    ("Synthesize samples", "samples", {"task": "Synthesize"}),
    ("Check the samples", "samples", {"task": "Check"}),
    ("Compare the labels of several people", "samples", {"task": "Compare labels"}),
    ("Review mistakes", "train", {"show": MISTAKES}),
    ("Compare two versions", "versions", {"view": "Compare"}),
    ("Compare encoders", "versions", {"view": "Encoders"}),
    ("Show all figures of a version", "versions", {"view": "Details"}),
    ("Call the model from a program", "model", {"part": "Call it"}),
    ("Describe the model", "model", {"part": "Describe"}),
    ("Export the model", "model", {"part": "What is kept"}),
    ("Present a text, and share it with a room", "score", {"present": "1"}),
    ("Compare two texts", "score", {}),
    ("Score a file, and find what share is at a pole", "batch", {}),
    ("Discover traits in your texts", "traits", {}),
)
"""What can be done with the chosen model: the words, the page, and the query of its view."""


def finder(*, about_a_model: bool) -> None:
    """Draw the button that opens the dialog, with its key; `about_a_model` is whether the page is."""
    if st.button(
        "Find", icon=":material/search:", shortcut="Ctrl+K", type="tertiary", key="shell.find", width="stretch"
    ):
        _find(about_a_model)


def targets(models: Sequence[Model], chosen: Model | None) -> Iterator[LinkTarget]:
    """Yield the pages of the menu, the actions on the `chosen` model, and all models with their traits."""
    shown = [row for row in PAGES if is_shown(row)]
    for row in shown:
        yield LinkTarget(row.title, row.name)
    if people.current().operator:
        yield LinkTarget("Create an API key", "console")
    if chosen is not None:
        names = {row.name for row in shown}
        yield from (LinkTarget(words, name, None, query) for words, name, query in _ACTIONS if name in names)
    for model in models:
        yield LinkTarget(model.handle, "model", model.handle)
        yield from (LinkTarget(f"{trait}, a trait of {model.handle}", "model", model.handle) for trait in model.traits)


def matching(words: str, among: Iterator[LinkTarget]) -> list[LinkTarget]:
    """Return the places that contain all `words`, in any case; those that begin with them come first."""
    wanted = words.casefold().split()
    matches = [target for target in among if all(word in target.words.casefold() for word in wanted)]
    return sorted(matches, key=lambda target: not target.words.casefold().startswith(words.strip().casefold()))


@st.dialog("Find", icon=":material/search:")
def _find(about_a_model: bool) -> None:
    with guarded():
        words = st.text_input(
            "Words",
            key=_WORDS,
            type="search",
            live="300ms",
            placeholder="A page, an action, a model, a trait or words of a sample",
            label_visibility="collapsed",
        )
        models = offered_models()
        chosen = next((model for model in models if model.handle == session.chosen_handle()), None)
        matches = matching(words, targets(models, chosen))
        if about_a_model and chosen is not None and chosen.state != "archived" and not why_read_only(chosen):
            matches += matching(words, iter([LinkTarget("Archive this model", None, chosen.handle)]))
        samples = _samples(words, chosen)
        with st.container(gap="xsmall", key="shell.found"):
            st.html(f'<i hidden data-words="{escape(words)}"></i>')  # for Enter, in shell.js
            for target in (*matches[: _MOST - len(samples)], *samples):
                _draw(target)
        if not (matches or samples):
            st.caption("Nothing has these words.")
        elif words:
            st.caption(":material/keyboard_return: opens the first.")
        st.html(_SINGLE_KEYS)


def _samples(words: str, chosen: Model | None) -> list[LinkTarget]:
    """The newest samples of the chosen model that contain the words, if the person may read them."""
    if chosen is None or len(words.strip()) < _FEWEST_LETTERS or why_read_only(chosen):
        return []
    matches = client().samples.list(chosen.handle, text=words, newest_first=True, limit=_MOST_SAMPLES).items
    return [LinkTarget(f"“{shortened(each.text, 60)}”", "samples", None, {"find": words}) for each in matches]


def _draw(target: LinkTarget) -> None:
    if target.page is None:
        if st.button(
            target.words,
            icon=":material/inventory_2:",
            type="tertiary",
            key="shell.find_archive",
            on_click=ask,
            args=(ARCHIVE, target.model),
        ):
            st.rerun()
        return
    page_link(target.page, plain(target.words), model=target.model, **target.query)
