"""Which version of a model served when, with the way back to the version before."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.versions import Activation, ActivationCause, Version
from traitbench.display.text import plain
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client

_MOST_SHOWN = 10
_UNDO = "versions.timeline_undo"
_CAUSES: dict[ActivationCause, str] = {
    "train": "trained",
    "retrain": "learned corrections",
    "activate": "put in use",
    "promote": "put in use from a draft",
    "import": "imported",
}


def draw_timeline(model: Model, versions: Sequence[Version], *, may_change: bool) -> None:
    """Draw which version scored when, newest first, with a button to return and one to undo the return."""
    page = client().versions.activations(model.handle, limit=_MOST_SHOWN)
    if not page.items:
        st.caption("Nothing is recorded yet. The record begins with this release.")
        return
    there = {each.version_no for each in versions}
    for at, each in enumerate(page.items):
        with st.container(horizontal=True, vertical_alignment="center", key=f"versions.timeline:{at}"):
            st.markdown(f"**v{each.version_no}** {_how(each)}", width="content")
            back = each.previous_version_no
            if at == 0 and may_change and back in there:
                _draw_return(model, each, back)
    if page.next_cursor is not None:
        st.caption(f"The latest {_MOST_SHOWN} are shown. `traitbench activations {model.handle}` lists all.")


def _how(each: Activation) -> str:
    by = "by itself" if each.by is None else f"by {plain(each.by)}"
    after = "" if each.previous_version_no is None else f", after v{each.previous_version_no}"
    who = f" {by}" if each.by is not None or each.cause == "retrain" else ""
    return f"since {each.activated_at:%Y-%m-%d %H:%M} UTC, {_CAUSES[each.cause]}{who}{after}"


def _draw_return(model: Model, latest: Activation, back: int | None) -> None:
    undoes = session.get(_UNDO) == (model.handle, latest.version_no, back)
    words = f"Undo: back to v{back}" if undoes else f"Return to v{back}"
    icon = ":material/undo:" if undoes else ":material/history:"
    if st.button(words, icon=icon, type="tertiary", key="versions.timeline_return"):
        with attempt() as returning:
            client().versions.activate(model.handle, version=f"v{back}")
        if returning.done:
            session.store(_UNDO, None if undoes else (model.handle, back, latest.version_no))
            session.flash(f"v{back} scores.")
            st.rerun()
