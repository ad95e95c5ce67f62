"""The file that a person dropped: it is kept in the session, and opens the page that makes a model of it."""

import streamlit as st
from streamlit.typing import UploadedFile

from traitbench_app.from_file.making import forget_plan
from traitbench_app.parts.upload import pick_file
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page

FILE = "file"
"""The query parameter with the name of the file."""

NEGATIVE, POSITIVE = "negative", "positive"
"""The query parameters of two words to score the file by. Those of Home are bound to its fields, and cannot be set."""

FORM = "from_file.form"
"""The form of all choices about the file."""

_DROPPED, _DROP = "from_file.dropped", "from_file.drop"
# The whole card takes the file.
_STYLE = """
<style>
.st-key-card-drop {
  position: relative; min-height: 68px; padding: 11px 150px 11px 18px;
  background: transparent !important; border: 1px dashed var(--tb-line-strong);
}
.st-key-card-drop > [data-testid="stElementContainer"] { position: static; flex: none; width: 0 !important; }
.st-key-card-drop [data-testid="stFileUploader"] { position: absolute; inset: 0; width: auto; }
.st-key-card-drop [data-testid="stWidgetLabel"] { position: absolute; clip-path: inset(50%); }
.st-key-card-drop [data-testid="stFileUploaderDropzone"] {
  height: 100%; min-height: 0; padding: 0 18px; flex-direction: row; justify-content: flex-end; align-items: center;
  border: 0; border-radius: inherit; background: none; cursor: pointer;
}
.st-key-card-drop [data-testid="stFileUploaderDropzone"] > :not(:has(button), button, input) { display: none; }
</style>
"""


def draw_drop(**words: str) -> None:
    """Draw the uploader as a card; a file that is dropped on it opens the page From a file.

    With `words`, which are in the link, the page scores it by these two words.
    """
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="card.drop"):
        st.html(_STYLE)
        with st.container(gap=None, width="stretch", key="drop.words"):
            st.markdown(":material/upload: **Drop a file**")
            st.caption("Labelled or not: both lead to a model.")
        file = pick_file(session.round_key(_DROP))
    if file is not None:
        forget_plan()
        session.store(_DROPPED, file)
        session.next_round(_DROP)
        session.next_round(FORM)
        st.switch_page(page("from_file"), query_params={FILE: file.name, **words})


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
