"""The export of a model as one file, to back it up or to import it elsewhere."""

import streamlit as st

from traitbench.contract.models import Model
from traitbench.display.text import count
from traitbench_app.shell.service import client


def export_model(model: Model, *, samples: int) -> None:
    """Draw the download button; the file is created on click."""
    held = f", traits, versions with their figures and **{count(samples, 'sample')}**"
    inside = held if samples else ", traits and versions with their figures"
    st.markdown(f"One JSON file with the definition{inside}. You can import it here or on another service.")
    st.download_button(
        "Export model",
        lambda: client().models.export(model.handle).model_dump_json(exclude_unset=True),
        file_name=f"{model.handle}.json",
        mime="application/json",
        icon=":material/download:",
        key="model.export",
        on_click="ignore",
        help="The file has a checksum. An import refuses a file that was edited.",
    )
    if samples:
        st.caption("The file contains the texts of the samples, so protect it accordingly.")
