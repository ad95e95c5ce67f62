"""The file that a person dropped: it is kept in the session, and opens the page that makes a model of it."""

import streamlit as st
from streamlit.typing import UploadedFile

from traitbench_app.from_file.making import forget_plan
from traitbench_app.parts.upload import pick_file
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page

FILE = "file"
"""The query parameter with the name of the file."""

FORM = "from_file.form"
"""The form of all choices about the file."""

_DROPPED, _DROP = "from_file.dropped", "from_file.drop"


def draw_drop() -> None:
    """Draw the uploader as a card; a file that is dropped on it opens the page From a file."""
    with st.container(border=True, key="card.drop"):
        st.markdown("**Drop a file.** Labelled or not: both lead to a model.")
        file = pick_file(session.round_key(_DROP))
    if file is not None:
        forget_plan()
        session.store(_DROPPED, file)
        session.next_round(_DROP)
        session.next_round(FORM)
        st.switch_page(page("from_file"), query_params={FILE: file.name})


def dropped() -> UploadedFile | None:
    """Return the file that was dropped in this session."""
    file: UploadedFile | None = session.get(_DROPPED)
    return file


def forget() -> None:
    """Forget the file, all choices about it and what was made of it. A button callback."""
    forget_plan()
    session.store(_DROPPED, None)
    session.next_round(FORM)
    st.query_params.clear()
