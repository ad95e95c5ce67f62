"""What a newcomer can do first: score a demo text, teach a model, or import a file and label it."""

from collections.abc import Callable, Sequence

import streamlit as st

from traitbench.analysis.checks import ENOUGH
from traitbench.contract.models import Model
from traitbench_app.parts.new_model import TO_LABEL, start
from traitbench_app.parts.primary_link import primary_link
from traitbench_app.shell.navigation import open_page, page_link

_DEMO = "demo"


def is_first_contact(models: Sequence[Model], owned: Sequence[str]) -> bool:
    """Whether the person has no model yet; demo models are not theirs."""
    return not any(_is_own(model, owned) for model in models)


def first_contact(models: Sequence[Model]) -> None:
    """Draw the choices. Without demo models, there is none to score with."""
    demos = [model for model in models if model.handle.startswith(f"{_DEMO}.")]
    choices: list[tuple[str, str, Callable[[], object]]] = [
        ("Try an idea", "Name two poles and score a text in a minute.", lambda: _try(is_first=not demos)),
        ("Teach your own", f"Name two poles. Type about {ENOUGH} texts for each, or import a labelled file.", _teach),
        ("Import a file and label it", "Import texts without labels, then label them one by one.", _label),
    ]
    if demos:
        choices.insert(0, ("Score a demo text", "See what a trained model says about a text.", lambda: _score(demos)))
    with st.container(key="catalog.first"):
        for column, (title, purpose, draw) in zip(st.columns(len(choices)), choices, strict=True):
            with column, st.container(border=True, height="stretch"):
                st.markdown(f"**{title}**")
                st.caption(purpose)
                draw()


def _is_own(model: Model, owned: Sequence[str]) -> bool:
    namespace = model.handle.split(".")[0]
    return namespace in owned and namespace != _DEMO


def _score(demos: Sequence[Model]) -> None:
    ready = next((model for model in demos if model.state == "ready"), None)
    if st.button(
        "Score a text",
        type="primary",
        icon=":material/speed:",
        key="catalog.first_score",
        disabled=ready is None,
        help=None if ready else "The demo models are in training. Reload the page in a minute.",
    ):
        open_page("score", model=str(ready and ready.handle))


def _try(*, is_first: bool) -> None:
    if is_first:
        primary_link("idea", "Try an idea")
    else:
        page_link("idea")


def _teach() -> None:
    st.button("New model", icon=":material/add:", key="catalog.new_button", on_click=start)


def _label() -> None:
    st.button("Label texts", icon=":material/label:", key="catalog.first_label", on_click=start, args=(TO_LABEL,))
