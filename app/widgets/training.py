"""Pieces of the Train page: what each effort searches, what is missing, and how far a run is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from traitbench.app import session
from traitbench.app.figures import names_of
from traitbench.app.text import plain
from traitbench.app.theme import NEGATIVE_SIGN, POSITIVE_SIGN
from traitbench.app.widgets.cost import captions, costs_of, draw_basis
from traitbench.contract.models import DEFAULT_EFFORT, Model, TrainEffort
from traitbench.contract.traits import Trait
from traitbench.scoring.search import EFFORTS

_WORTH: Mapping[TrainEffort, str] = {
    "low": "The quickest look.",
    "medium": "Enough for most traits.",
    "high": "The usual choice.",
    "max": "For when time does not matter.",
}

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


@dataclass(frozen=True)
class SearchChoice:
    """How a training is to search."""

    effort: TrainEffort
    use_labels: bool


def pick_search(traits: Sequence[Trait], *, to_read: int) -> SearchChoice:
    """Effort and labels, both of which may stand in the link, and what that costs when so many texts are unread."""
    costs = costs_of(list(_WORTH), traits, to_read)
    tries = {effort: f"{_sentence(EFFORTS[effort].says)} {worth}" for effort, worth in _WORTH.items()}
    effort = (
        st.radio(
            "How wide to search",
            list(_WORTH),
            index=list(_WORTH).index(DEFAULT_EFFORT),
            captions=captions(tries, costs),
            key="effort",
            bind="query-params",
        )
        or DEFAULT_EFFORT
    )
    use_labels = st.toggle(
        "Learn from the labels too",
        value=True,
        key="use_labels",
        bind="query-params",
        help="The words for a trait and its poles tell where to look before any sample does. That helps most with a "
        "handful of samples and plain words for a meaning, *angry* and *calm*. It misleads where the words stand for "
        "a style or form, or mean something of your own. Samples left out decide how much the words weigh; with "
        "hundreds of samples they hardly do.",
    )
    draw_basis(costs[effort])
    return SearchChoice(effort, use_labels)


def in_link(model: Model) -> dict[str, str]:
    """What is asked for, as part of a link of the page, where something can be."""
    if model.state not in ("draft", "failed", "ready"):
        return {}
    use_labels = session.kept("use_labels", st.query_params.get("use_labels", "true"))
    off = {"use_labels": "false"} if str(use_labels).lower() == "false" else {}
    return {"effort": session.on_screen("effort", DEFAULT_EFFORT), **off}


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


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


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
