"""What the Score page says about a model without a version, whose header says what to do."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain


def can_rehearse(traits: Sequence[Trait]) -> bool:
    """Whether some trait has a sample at each pole, so that the draft can score."""
    return any(trait.positive_samples and trait.negative_samples for trait in traits)


def draw_untrained(model: Model, traits: Sequence[Trait]) -> None:
    """Say what the scores below are, or why there are none."""
    if not can_rehearse(traits):
        st.markdown("To preview scores, add a sample at each pole of a trait.")
        return
    samples, error = sum(trait.sample_count for trait in traits), model.last_operation and model.last_operation.error
    failed = f"**The training failed.** {plain(error.message)} " if error and model.state == "failed" else ""
    st.markdown(
        f"{failed}**Preview from {count(samples, 'sample')}.** This is how the draft would score after training. "
        "Nothing is stored."
    )
