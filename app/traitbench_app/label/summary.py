"""What a person sees after leaving the desk: what was labelled, what is left, and the next step."""

import streamlit as st

from traitbench.contract.models import Model
from traitbench.display.text import count, plain
from traitbench_app.label.figures import balance
from traitbench_app.label.view import LEFT, View, work_of
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link


def draw_summary(model: Model, view: View) -> None:
    """Draw the counts and the ways on."""
    work = work_of(model, view)
    left = work.total - work.done
    pending = sum(each.pending for each in work.decisions)
    with st.container(border=True, key="label.summary"):
        st.subheader(f"{count(work.saved, 'label')} saved, {left:,} to go", icon=":material/label:", anchor=False)
        if pending:
            st.warning(f"{count(pending, 'label is', 'labels are')} not saved yet. Continue to send them again.")
        for trait in view.traits:
            negative, positive = balance(work.samples, trait)
            st.markdown(
                f"**{plain(trait.name)}**: {negative:,} {plain(trait.negative_label)}, {positive:,} "
                f"{plain(trait.positive_label)}"
            )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Continue labelling",
                type="primary",
                icon=":material/play_arrow:",
                key="label.continue",
                on_click=session.store,
                args=(LEFT, None),
            )
            if model.version_no is None:
                page_link("train", "Train the model")
            page_link("samples", "View samples")
