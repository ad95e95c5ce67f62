"""A model as one file: to keep, to move, to bring in elsewhere."""

import streamlit as st

from traitbench.app.service import client
from traitbench.app.text import count
from traitbench.contract.models import Model


def export_model(model: Model, *, samples: int) -> None:
    """Draw the download; the file is made when it is asked for."""
    inside = "traits, versions with their figures" + (f" and **{count(samples, 'sample')}**" if samples else "")
    st.markdown(
        f"Everything as one JSON file that can be brought in again, here or elsewhere: definition, {inside}. It has a "
        "checksum, and is refused once it was changed."
    )
    st.download_button(
        "Export the model",
        lambda: client().models.export(model.handle).model_dump_json(exclude_unset=True),
        file_name=f"{model.handle}.json",
        mime="application/json",
        icon=":material/download:",
        key="model.export",
        on_click="ignore",
    )
    if samples:
        st.caption("The texts of the samples stand in it as they are: treat the file as you would treat them.")
