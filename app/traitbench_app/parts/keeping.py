"""The versions that the retention rule removes next."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.versions import Version
from traitbench.display.text import count
from traitbench_app.parts.retention import goes_next, names_of_versions
from traitbench_app.shell.navigation import page_link


def draw_keeping(model: Model, versions: Sequence[Version]) -> None:
    """Draw the versions that the rule removes next, if any, and a link to the rule; `versions` newest first."""
    going = goes_next(model, versions)
    if going:
        st.markdown(
            f":material/delete_sweep: **The next version removes {count(len(going), 'version')}: "
            f"{names_of_versions(going)}.** Tag a version to keep it."
        )
    page_link("model", "What is kept", icon=":material/inventory_2:", part="What is kept")
