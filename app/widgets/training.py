"""Pieces of the Train page: what each effort searches, what is missing, and how far a run is."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from app.figures import names_of
from app.text import plain
from app.theme import NEGATIVE_SIGN, POSITIVE_SIGN
from core.contract.models import Model, TrainEffort
from core.contract.traits import Trait

EFFORTS: Mapping[TrainEffort, str] = {
    "low": "One fixed setting for every trait. The quickest look.",
    "medium": "Nine settings for each trait, from plain to bold, averaged by how well they predict samples left out.",
    "high": "The usual choice. In this release it searches what medium does.",
    "max": "For when time does not matter. In this release it searches what medium does.",
}
"""What each effort searches, in plain words."""

_KINDS = {
    "train": "Training",
    "retune": "Searching for new parameters",
    "retrain": "Learning from feedback",
    "discover": "Discovering traits",
    "synthesize": "Writing samples",
}
_FEW = 8


def missing(traits: Sequence[Trait]) -> list[str]:
    """What keeps a training from starting, one sentence a trait, in markdown."""
    return [sentence for trait in traits if trait.kind == "extrinsic" and (sentence := _missing(trait))]


def pick_effort() -> TrainEffort:
    """The effort, which may stand in the link."""
    return (
        st.radio(
            "How wide to search",
            list(EFFORTS),
            index=list(EFFORTS).index("high"),
            captions=list(EFFORTS.values()),
            key="effort",
            bind="query-params",
        )
        or "high"
    )


def draw_readiness(traits: Sequence[Trait]) -> None:
    """Samples per pole of each trait, and whether they are enough."""
    given = [trait for trait in traits if trait.kind == "extrinsic"]
    fewest = min((min(trait.positive_samples, trait.negative_samples) for trait in given), default=0)
    names = names_of(traits)
    rows = [
        {
            "Trait": names[trait.key],
            "Ready": _verdict(trait),
            f"{POSITIVE_SIGN} Positive": trait.positive_samples,
            f"{NEGATIVE_SIGN} Negative": trait.negative_samples,
            "In between": trait.sample_count - trait.positive_samples - trait.negative_samples,
            "Poles": f"{trait.positive_label} ↔ {trait.negative_label}",
        }
        for trait in traits
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch", key="train.readiness")
    if 0 < fewest < _FEW:
        st.caption(f"One sample a pole is enough to train; figures and confidence get firm from about {_FEW}.")


def draw_progress(model: Model) -> None:
    """The run that keeps the model busy, and what may be done meanwhile."""
    with st.container(border=True, key="train.progress"):
        draw_run(model)
    if model.version_no is not None:
        st.caption(f"v{model.version_no} goes on scoring meanwhile.")
    st.caption("This goes on in the service: you may leave this page, reload it, or close the browser.")


def draw_run(model: Model) -> None:
    """The run itself: what, how far, how much longer."""
    last = model.last_operation
    st.subheader(_KINDS[last.kind] if last else "Working", icon=":material/progress_activity:", anchor=False)
    progress = last.progress if last else None
    if progress is None:
        st.progress(0.0, text="Waiting for its turn")
    else:
        of = f", {progress.done:,} of {progress.total:,}" if progress.total > 1 else ""
        st.progress(min(max(progress.fraction, 0.0), 1.0), text=f"{plain(progress.phase.capitalize())}{of}")
        st.caption(f"{_clock(progress.elapsed_s)} so far, {_left(progress.eta_s)}")
    if last and last.run_id:
        st.caption(f"Run `{last.run_id}`")


def _missing(trait: Trait) -> str:
    poles = ((trait.positive_samples, trait.positive_label), (trait.negative_samples, trait.negative_label))
    empty = [f"*{plain(pole)}*" for samples, pole in poles if not samples]
    return f"{plain(trait.name)} needs at least one sample that is {' and one that is '.join(empty)}." if empty else ""


def _verdict(trait: Trait) -> str:
    if trait.kind == "intrinsic":
        return "yes, found by discovery"
    fewest = min(trait.positive_samples, trait.negative_samples)
    if not fewest:
        return "no, a pole is empty"
    return "yes" if fewest >= _FEW else "yes, with few samples"


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 90 else f"{whole // 60} min {whole % 60} s"


def _left(seconds: float | None) -> str:
    if seconds is None:
        return "time left not known yet"
    return "nearly done" if seconds < 1 else f"about {_clock(seconds)} left"
