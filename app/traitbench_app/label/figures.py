"""What the labels have achieved so far: the balance, the held-out figure, the forecast, and whether it is enough."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN
from traitbench.display.text import count, plain
from traitbench.local.assistant import MOST_FITTED, Assistant
from traitbench_app.shell.navigation import page_link

ENOUGH_GAIN, ENOUGH_PER_POLE = 0.01, 15
"""More would not help: twenty more samples are forecast to add less than this to the AUROC, with so many per pole."""

_FEWEST, _CHANCE = 2, 0.5


def figures_of(assistant: Assistant, trait: Trait) -> TraitMetrics | None:
    """Return the figures of the refitted draft for a trait; None if there are none yet."""
    refit = assistant.refit
    if refit is None or refit.rehearsal is None:
        return None
    metrics = refit.rehearsal.metrics["traits"].get(trait.key)
    return None if metrics is None else TraitMetrics.model_validate(metrics)


def is_enough(figures: TraitMetrics | None, samples: Sequence[Sample], trait: Trait) -> bool:
    """Whether more labels would hardly help the trait."""
    if figures is None or figures.forecast is None or figures.auroc is None:
        return False
    fewest = min(balance(samples, trait))
    return not is_chance(figures) and fewest >= ENOUGH_PER_POLE and figures.forecast.auroc - figures.auroc < ENOUGH_GAIN


def is_chance(figures: TraitMetrics | None) -> bool:
    """Whether the draft may be no better than chance: the interval of its AUROC includes 0.5."""
    return bool(figures and figures.auroc_interval and figures.auroc_interval[0] <= _CHANCE)


def balance(samples: Sequence[Sample], trait: Trait) -> tuple[int, int]:
    """Return how many samples of the trait are at the negative and at the positive pole, without test samples."""
    own = [each.quality for each in samples if each.trait == trait.key and not each.held_out]
    return sum(quality < 0.5 for quality in own), sum(quality > 0.5 for quality in own)


def draw_figures(model: Model, assistant: Assistant, trait: Trait, samples: Sequence[Sample], *, pace: float) -> None:
    """Draw the row of figures for a trait, and say when more labels would hardly help."""
    negative, positive = balance(samples, trait)
    figures = figures_of(assistant, trait)
    with st.container(border=True, key="label.figures"):
        if figures is not None and figures.shortcut is not None:
            st.warning(plain(figures.shortcut.says), icon=":material/warning:")
        if is_enough(figures, samples, trait):
            _draw_enough(model, trait)
        elif is_chance(figures) and min(negative, positive) >= ENOUGH_PER_POLE:
            _draw_chance(trait)
        with st.container(horizontal=True, gap="large", key="label.metrics"):
            st.metric(
                "Samples",
                f"{NEGATIVE_SIGN} {negative:,} · {positive:,} {POSITIVE_SIGN}",
                help=f"Saved training samples of {plain(trait.name)}: at {plain(trait.negative_label)}, then at "
                f"{plain(trait.positive_label)}.",
                width="content",
            )
            _draw_held_out(figures)
            _draw_forecast(figures)
            if pace:
                st.metric("Pace", f"{pace:.0f} a minute", help="Your decisions per minute, lately.", width="content")
        st.caption(_status(model, assistant, trait, negative, positive, len(samples)))


def _draw_held_out(figures: TraitMetrics | None) -> None:
    help_text = (
        "AUROC of a fit in memory: how often a positive sample scores above a negative one. 0.5 is chance, "
        "1 is perfect. Each sample is scored by a fit that did not use it."
    )
    if figures is None or figures.auroc is None:
        st.metric("Held-out AUROC", "–", help=help_text, width="content")
        return
    between = figures.auroc_interval
    label = "Held-out AUROC" + (f", {between[0]:.2f} to {between[1]:.2f}" if between else "")
    st.metric(label, f"{figures.auroc:.2f}", help=help_text, width="content")


def _draw_forecast(figures: TraitMetrics | None) -> None:
    forecast = figures.forecast if figures else None
    label = f"With {forecast.more} more" if forecast else "With 20 more"
    help_text = "The forecast AUROC with more samples, from the learning curve of this fit."
    value = f"{forecast.auroc:.2f}" if forecast else "–"
    st.metric(label, value, help=help_text, width="content")


def _draw_enough(model: Model, trait: Trait) -> None:
    st.success(
        f"**Enough for {plain(trait.name)}.** More labels would hardly improve it: 20 more are forecast to add less "
        f"than {ENOUGH_GAIN} to the AUROC.",
        icon=":material/done_all:",
    )
    if model.version_no is None:
        page_link("train", "Train the model")


def _draw_chance(trait: Trait) -> None:
    st.warning(
        f"**The labels of {plain(trait.name)} cannot be told apart yet.** On texts that it has not seen, the draft "
        "does no better than chance. Check the labels before you add more.",
        icon=":material/help:",
    )
    page_link("samples", "Check the labels", task="Check")


def _status(model: Model, assistant: Assistant, trait: Trait, negative: int, positive: int, samples: int) -> str:
    """Say what the figures are based on, or what is missing for them."""
    if assistant.problem:
        return f":material/info: No preview here. {plain(assistant.problem)}"
    if samples > MOST_FITTED:
        return f"There are over {MOST_FITTED:,} samples, too many to refit here. Train to measure them."
    missing = [
        f"{count(_FEWEST - have, 'more text')} at {plain(label)}"
        for have, label in ((negative, trait.negative_label), (positive, trait.positive_label))
        if have < _FEWEST
    ]
    if missing:
        return f"The first figures need {' and '.join(missing)}."
    if assistant.refitting:
        return ":material/progress_activity: Refitting with your labels."
    then = "you train it" if model.version_no is None else "the next retraining"
    return f"Refitted in memory with all saved labels. The model does not change until {then}."
