"""The retention rule for versions in one sentence, and the versions that it removes next."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.versions import Version
from traitbench.display.text import count
from traitbench_app.parts.retention import goes_next, in_words, names_of_versions
from traitbench_app.shell.navigation import page_link


def draw_keeping(model: Model, versions: Sequence[Version]) -> None:
    """Draw the rule and the versions that it removes next; `versions` newest first."""
    going = goes_next(model, versions)
    with st.container(border=True, key="versions.keeping"):
        if going:
            st.markdown(
                f":material/delete_sweep: **The next version removes {count(len(going), 'version')}: "
                f"{names_of_versions(going)}.** Tag a version to keep it."
            )
        else:
            st.markdown(":material/inventory_2: **The next version removes none of these.**")
        st.caption(f"Kept when a version is added: {in_words(model)}.")
        page_link("model", "View or change this rule")
