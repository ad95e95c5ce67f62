"""What becomes of old versions: the rule in a sentence, and those that the next version would push out."""

from collections.abc import Sequence

import streamlit as st

from traitbench.app.navigation import page_link
from traitbench.app.retention import goes_next, in_words, names_of_versions
from traitbench.app.text import count
from traitbench.contract.models import Model
from traitbench.contract.versions import Version


def draw_keeping(model: Model, versions: Sequence[Version]) -> None:
    """Draw it; `versions` newest first."""
    going = goes_next(model, versions)
    with st.container(border=True, key="versions.keeping"):
        if going:
            st.markdown(
                f":material/delete_sweep: **The next version pushes out {count(len(going), 'version')}: "
                f"{names_of_versions(going)}.** Tag one to keep it: a tagged version is never removed."
            )
        else:
            st.markdown(":material/inventory_2: **The next version pushes none of these out.**")
        st.caption(f"What stays when a version is added: {in_words(model)}.")
        page_link("model", "See or change this rule")
