"""A model without samples: the ways to bring some."""

import streamlit as st

from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link

_WAYS = (
    ("add", "Add by hand", ":material/edit_note:", None),
    ("import", "Import a file", ":material/upload:", None),
    (
        "synthesize",
        "Synthesize",
        ":material/auto_awesome:",
        "Generate texts from the names of traits and poles, for a first try.",
    ),
)


def draw_empty(*, can_edit: bool) -> None:
    """Say that there are no samples, and draw a button for each way to bring some."""
    with st.container(border=True, key="samples.empty"):
        st.subheader("No samples yet" if can_edit else "No samples", icon=":material/notes:", anchor=False)
        if can_edit:
            with st.container(horizontal=True, vertical_alignment="center"):
                for view, label, icon, hint in _WAYS:
                    st.button(
                        label,
                        type="primary" if view == "add" else "secondary",
                        icon=icon,
                        key=f"samples.first_{view}",
                        on_click=session.put,
                        args=({"task": view},),
                        help=hint,
                    )
                page_link("label", "Label texts one by one")
