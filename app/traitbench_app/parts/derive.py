"""What discovery and synthesis share on a page: the start and the outcome."""

from collections.abc import Callable

import streamlit as st

from traitbench.contract.models import Model, RunStarted
from traitbench.display.text import ago, plain
from traitbench.errors import DuplicateRun
from traitbench_app.shell.service import attempt


def begin(start: Callable[[], RunStarted], *, already: str) -> bool:
    """Start a run and return whether it started; `already` is shown if the same run was made before."""
    with attempt() as starting:
        try:
            start()
        except DuplicateRun as same:
            in_flight = same.details.get("status") != "succeeded"
            st.info("The same run is already in progress." if in_flight else already, icon=":material/content_copy:")
            return False
    return starting.done


def draw_failure(model: Model, *, what: str) -> bool:
    """Show why the model's last operation failed; return whether it did."""
    last = model.last_operation
    if last is None or last.status != "failed":
        return False
    reason = last.error.message if last.error else "The service gave no reason."
    st.error(
        f"**{what} that started {ago(last.started_at)} failed.** {plain(reason)}\n\nNothing was changed.",
        icon=":material/error:",
    )
    return True


def notes(model: Model) -> str:
    """The notes of the last run on its outcome, in markdown; empty if it has none."""
    progress = model.last_operation.progress if model.last_operation else None
    return " ".join(plain(note) for note in (progress.notes if progress else None) or ())
