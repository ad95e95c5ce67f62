"""Texts of a file that have no labels: they go to the Label page, where a person labels them one by one."""

from collections.abc import Sequence

import streamlit as st

from traitbench.display.text import count
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt
from traitbench_app.workspace import pool
from traitbench_app.workspace.pool import NoPool

_SENT = "samples.import.to_label"


def offer_labelling(handle: str, texts: Sequence[str], source: str, *, primary: bool) -> None:
    """Draw the button that takes texts without labels to the Label page; `source` names their file."""
    if not texts:
        return
    about = (handle, source, len(texts))
    with st.container(horizontal=True, vertical_alignment="center", key="samples.to_label"):
        if session.get(_SENT) == about:
            st.caption(f"{count(len(texts), 'text')} added to the Label page.", width="content")
            page_link("label", "Start labelling")
        elif st.button(
            f"Label {'this text' if len(texts) == 1 else f'these {len(texts):,} texts'}",
            type="primary" if primary else "secondary",
            icon=":material/label:",
            key="samples.label_button",
            help="Adds the texts without a label to the Label page, where you label them one by one.",
        ):
            _send(about, texts)


def _send(about: tuple[str, str, int], texts: Sequence[str]) -> None:
    handle, source, _ = about
    with attempt() as sending:
        try:
            added = pool.add(handle, texts, source)
        except NoPool as reason:
            st.error(str(reason), icon=":material/error:")
            return
    if sending.done:
        session.store(_SENT, about)
        known = len(texts) - added
        also = f" {known:,} left out: already added or labelled." if known else ""
        session.flash(f"{count(added, 'text')} added to the Label page.{also}")
        st.rerun()
