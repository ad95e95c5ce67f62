"""The shortcuts of a version, before any figure that they flatter."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.traits import Trait
from traitbench.display.quality import Evidence
from traitbench.display.text import plain
from traitbench_app.shell.navigation import page_link


def draw_shortcuts(evidence: Evidence, traits: Sequence[Trait]) -> None:
    """Draw what alone tells the poles apart, with a link to the check that names it; nothing without a shortcut."""
    sentences = evidence.warnings(traits)
    if sentences:
        st.warning("\n\n".join(map(plain, sentences)), icon=":material/warning:")
        page_link("samples", "See what it is", icon=":material/stethoscope:", task="Check")
