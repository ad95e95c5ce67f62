"""What discovery and synthesis have in common on a page: the choice of an effort, the start, and how it ended."""

from collections.abc import Callable, Mapping

import streamlit as st

from traitbench.app.service import attempt
from traitbench.app.text import ago, plain
from traitbench.contract.models import DEFAULT_EFFORT, Effort, Model, RunStarted
from traitbench.errors import DuplicateRun

"""The effort that the API takes when it is given none."""


def pick_effort(efforts: Mapping[Effort, str], *, key: str) -> Effort:
    """The effort, with what each means in words."""
    return st.radio(
        "Effort",
        list(efforts),
        index=list(efforts).index(DEFAULT_EFFORT),
        captions=list(efforts.values()),
        key=key,
        persist_state="session",
    )


def begin(start: Callable[[], RunStarted], *, already: str) -> bool:
    """Start a run; `already` is said kindly when the same run has been made before."""
    with attempt() as starting:
        try:
            start()
        except DuplicateRun as same:
            in_flight = same.details.get("status") != "succeeded"
            st.info("The same is going on already." if in_flight else already, icon=":material/content_copy:")
            return False
    return starting.done


def draw_failure(model: Model, *, what: str) -> bool:
    """Say that the model's last operation has failed, and why; whether it has."""
    last = model.last_operation
    if last is None or last.status != "failed":
        return False
    reason = last.error.message if last.error else "The service does not say why."
    st.error(
        f"**{what} that began {ago(last.started_at)} failed.** {plain(reason)}\n\nNothing was changed.",
        icon=":material/error:",
    )
    return True


def notes(model: Model) -> str:
    """What the last run says of its outcome, in markdown; empty when it says nothing."""
    progress = model.last_operation.progress if model.last_operation else None
    return " ".join(plain(note) for note in (progress.notes if progress else None) or ())
