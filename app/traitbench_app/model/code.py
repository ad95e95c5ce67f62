"""Code that calls the model, to copy: for the version in use or for a fixed one."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.display.text import plain
from traitbench.names import pin
from traitbench_app.model.notebooks import notebook_of
from traitbench_app.model.snippets import KEY, snippets
from traitbench_app.parts.copying import copy_button
from traitbench_app.shell.links import service_address
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import client

_ACTIVE = "active"
_TEXT = "The text that you want to score."


def model_calls(model: Model) -> None:
    """Draw the code snippets."""
    if model.version_no is None:
        st.info("Train the model first. Until then, the service refuses these calls.", icon=":material/info:")
        page_link("train", "Train this model")
    pinned = _pick(model)
    handle = model.handle if pinned == _ACTIVE else pin(model.handle, pinned)
    ways = snippets(service_address(), handle, _TEXT)
    for tab, (name, snippet) in zip(st.tabs(list(ways), key="model.ways"), ways.items(), strict=True):
        with tab:
            st.code(snippet.code, language=snippet.language, wrap_lines=True)
            with st.container(horizontal=True, vertical_alignment="center"):
                copy_button(snippet.code, label="Copy code", key=f"model.copy.{name}")
                st.caption(f"Needs {snippet.needs}.")
    st.markdown(
        f"The code reads the API key from the variable `{KEY}`. Give each program its own key with the scope `scoring`."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Open in a notebook",
            notebook_of(service_address(), handle, _TEXT),
            file_name=f"{model.handle}.ipynb",
            mime="application/x-ipynb+json",
            icon=":material/science:",
            key="model.notebook",
            on_click="ignore",
            help="Downloads a notebook for Jupyter, VS Code or Colab. It scores a text and holds no API key.",
            disabled=model.version_no is None,
        )
        page_link("console", "Issue a key")
        st.link_button("Open the API reference", f"{service_address()}/v1/docs", icon=":material/menu_book:")


def _pick(model: Model) -> str:
    """The version to call: `active`, a tag or `vN`."""
    tags, numbers = _names(model)
    versions = [_ACTIVE, *tags, *numbers]
    labels = {_ACTIVE: "The version in use" + (f", now v{model.version_no}" if model.version_no else "")}
    labels |= {tag: f"Tag {plain(tag)}" for tag in tags} | {number: f"Always {number}" for number in numbers}
    return str(
        st.selectbox(
            "Version",
            versions,
            format_func=lambda each: labels.get(each, each),
            key=f"model.call_version.{model.handle}",
            width=320,
            help="The handle alone always calls the version in use. With a version number, the same text always gets "
            "the same score.",
        )
    )


def _names(model: Model) -> tuple[Sequence[str], Sequence[str]]:
    if model.version_no is None:
        return (), ()
    versions = list(client().versions.list(model.handle, limit=50).items)
    return [tag for each in versions for tag in each.tags], [f"v{each.version_no}" for each in versions]
