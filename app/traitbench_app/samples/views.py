"""The views of the Samples page, as links name them."""

from collections.abc import Iterable, Mapping
from typing import Literal

import streamlit as st

from traitbench_app.shell import session

ViewName = Literal["samples", "paste", "import", "synthesize", "check", "raters"]

VIEWS: Mapping[ViewName, str] = {
    "samples": "Samples",
    "paste": "Add by hand",
    "import": "Import a file",
    "synthesize": "Synthesize",
    "check": "Check",
    "raters": "Compare labels",
}
"""What links call them in the query parameter `task`."""

_TASK = "task"
_FIRST: ViewName = "samples"


def go_to(view: ViewName) -> None:
    """Open a view in the next run. Also a button callback."""
    session.store(_TASK, VIEWS[view])


def view_in_address() -> ViewName:
    """Return the view that the address asks for, or that was opened since; the address has it from now on."""
    goal = session.get(_TASK)
    session.store(_TASK, None)
    named = goal or st.query_params.get(_TASK, "")
    known: Iterable[ViewName] = VIEWS
    view = next((each for each in known if named in (each, VIEWS[each])), _FIRST)
    if view == "samples":
        st.query_params.pop(_TASK, None)
    elif st.query_params.get(_TASK) != VIEWS[view]:
        st.query_params[_TASK] = VIEWS[view]
    return view
