"""The last change of samples, and its undo."""

import streamlit as st

from traitbench.display.text import count, plain
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt
from traitbench_app.workspace.changes import UNDO, Undo, forget_last, take_back

_MANY = 50


def draw_undo(handle: str) -> None:
    """Draw the last change with an undo button; nothing if it was in another model."""
    undo = session.get(UNDO)
    if not isinstance(undo, Undo) or undo.handle != handle:
        return
    st.caption(f"Just now: {plain(undo.what)}" + ("" if undo.possible else " (cannot be undone)"), width="content")
    if undo.possible and st.button("Undo", icon=":material/undo:", type="tertiary", key="samples.undo_button"):
        bar = st.empty()

        def progress(done: int, of: int) -> None:
            if of > _MANY:
                bar.progress(done / of, text=f"Removing {done:,} of {of:,}")

        with attempt() as undoing:
            left = take_back(undo, progress)
        if undoing.done:
            forget_last()
            session.flash(_undone(undo, left))
            st.rerun()


def _undone(undo: Undo, left: int) -> str:
    """The message after an undo."""
    if left:
        return f"{count(left, 'sample')} could not be removed."
    return f"Undone, except {count(undo.forgone, 'synthesized sample')}." if undo.forgone else "Undone."
