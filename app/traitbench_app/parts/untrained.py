"""What the Score page says about a model without a version: a draft, one that is being trained, or one that failed."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench_app.parts.next_step import draw_next_step
from traitbench_app.parts.primary_link import primary_link
from traitbench_app.parts.runs import draw_run, watch
from traitbench_app.shell.navigation import page_link


def can_rehearse(traits: Sequence[Trait]) -> bool:
    """Whether some trait has a sample at each pole, so that the draft can score."""
    return any(trait.positive_samples and trait.negative_samples for trait in traits)


def draw_untrained(model: Model, traits: Sequence[Trait]) -> None:
    """Say why there is no version, and what to do."""
    with st.container(border=True, key="score.draft"):
        if model.state == "busy":
            watch(model, draw=draw_run)
            page_link("train", "Watch on the Train page")
        elif not traits:
            draw_next_step(model, traits)
        elif not can_rehearse(traits):
            st.markdown("**Not trained yet.** To preview scores, add a sample at each pole of a trait.")
            primary_link("samples", "Add samples")
        elif model.state == "failed":
            error = model.last_operation.error if model.last_operation else None
            reason = plain(error.message) if error else "The service gave no reason."
            st.markdown(f"**The training failed.** {reason} Below is a preview from the samples.")
            page_link("train", "Train again")
        else:
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                samples = count(sum(trait.sample_count for trait in traits), "sample")
                st.markdown(
                    f"**Preview from {samples}.** This is how the draft would score after training. Nothing is stored."
                )
                page_link("train", "Train this model")
