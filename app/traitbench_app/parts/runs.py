"""Parts of the Train page: the choice of effort, the readiness of each trait, and the progress of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from traitbench.contract.models import DEFAULT_EFFORT, Model, OperationKind, Progress, TrainEffort
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN
from traitbench.display.text import plain
from traitbench.local.pace import costs_of, most_settings, says
from traitbench_app.parts.cost import captions, draw_basis
from traitbench_app.parts.folded import is_open
from traitbench_app.parts.version_figures import names_of
from traitbench_app.shell import session
from traitbench_app.shell.service import client, guarded

_EFFORTS: Mapping[TrainEffort, str] = {
    "low": "Fast: tries {} settings.",
    "medium": "Balanced: tries up to {} settings.",
    "high": "Thorough: tries up to {} settings. The usual choice.",
    "max": "Exhaustive: tries up to {} settings.",
}

KINDS: Mapping[OperationKind, str] = {
    "train": "Training",
    "retune": "Refitting",
    "retrain": "Retraining from feedback",
    "discover": "Discovering traits",
    "synthesize": "Synthesizing samples",
}
"""What a run of each kind does, in words."""

_FEW = 8

MISTAKES = "Mistakes"
"""The view of the page that lists the mistakes of the active version."""

FOLDS = ("figures", "search", "change", "refit")
"""The keys of the folded parts of the page, which are in its link while they are open."""


@dataclass(frozen=True)
class SearchChoice:
    """The search settings of a training, and the time that it takes in words."""

    effort: TrainEffort
    use_labels: bool
    takes: str = ""


def pick_search(traits: Sequence[Trait], *, lengths: Sequence[int]) -> SearchChoice:
    """Draw the choice of effort and use of labels, both part of the link, and the cost.

    `lengths` are the numbers of characters of the texts to encode.
    """
    costs = costs_of(list(_EFFORTS), traits, lengths)
    tries = {effort: caption.format(most_settings(effort)) for effort, caption in _EFFORTS.items()}
    effort = (
        st.radio(
            "Search effort",
            list(_EFFORTS),
            index=list(_EFFORTS).index(DEFAULT_EFFORT),
            captions=captions(tries, costs),
            key="effort",
            bind="query-params",
            help="\n".join(f"- {effort}: {says(effort)}" for effort in _EFFORTS),
        )
        or DEFAULT_EFFORT
    )
    use_labels = st.toggle(
        "Also use the names of traits and poles",
        value=True,
        key="use_labels",
        bind="query-params",
        help="The names of a trait and its poles are a first estimate of its axis. They help most with few samples and "
        "plain names such as *angry* and *calm*. They can mislead if they name a style, or if you use a word in a "
        "special sense. Held-out samples decide how much the names count; with hundreds of samples they hardly count.",
    )
    draw_basis(costs[effort])
    return SearchChoice(effort, use_labels, costs[effort].in_short)


def in_link(model: Model, names: Mapping[str, str]) -> dict[str, str]:
    """The view as query parameters: what is open, the trait by name, and the choices of a training."""
    if model.state in ("draft", "failed"):
        return _choices()
    if model.state != "ready":
        return {}
    if session.on_screen("show", "") == MISTAKES:
        name = names.get(session.on_screen("trait", ""), session.on_screen("trait", ""))
        return {"show": MISTAKES, **({"trait": name} if name in names.values() else {})}
    opened = {key: "true" for key in FOLDS if is_open(key)}
    return opened | (_choices() if "refit" in opened else {})


def _choices() -> dict[str, str]:
    use_labels = session.get("use_labels", st.query_params.get("use_labels", "true"))
    off = {"use_labels": "false"} if str(use_labels).lower() == "false" else {}
    return {"effort": session.on_screen("effort", DEFAULT_EFFORT), **off}


def draw_readiness(traits: Sequence[Trait]) -> None:
    """Draw the samples per pole of each trait, and whether they are enough."""
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
        st.caption(f"One sample per pole is enough to train. Figures become reliable from about {_FEW} per pole.")


def draw_progress(model: Model) -> None:
    """Draw the run that keeps the model busy, and what the user can do meanwhile."""
    with st.container(border=True, key="train.progress"):
        draw_run(model)
    if model.version_no is not None:
        st.caption(f"v{model.version_no} keeps scoring meanwhile.")
    st.caption("The run continues in the service. You can leave this page or close the browser.")


def watch(model: Model) -> None:
    """Draw the progress and poll it once a second; rerun the whole page when the model is no longer busy."""

    @st.fragment(run_every=1.0)
    def look() -> None:
        with guarded():
            now = client().models.get(model.handle)
        if now.state != "busy":
            st.rerun()
        draw_progress(now)

    look()


def draw_run(model: Model) -> None:
    """Draw the kind of the run, its progress and the remaining time."""
    last = model.last_operation
    run = f"Run `{last.run_id}`" if last and last.run_id else None
    kind = KINDS[last.kind] if last else "Working"
    st.subheader(kind, icon=":material/progress_activity:", anchor=False, help=run)
    progress = last.progress if last else None
    if progress is None:
        st.progress(0.0, text="Waiting in the queue")
    else:
        of = f", {progress.done:,} of {progress.total:,}" if progress.total > 1 else ""
        st.progress(min(max(progress.fraction, 0.0), 1.0), text=f"{plain(progress.phase.capitalize())}{of}")
        st.caption(f"{_clock(progress.elapsed_s)} so far, {time_left(progress)}")


def _verdict(trait: Trait) -> str:
    if trait.kind == "intrinsic":
        return "yes, discovered"
    fewest = min(trait.positive_samples, trait.negative_samples)
    if not fewest:
        return "no, a pole has no samples"
    return "yes" if fewest >= _FEW else "yes, but few samples"


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 90 else f"{whole // 60} min {whole % 60} s"


def time_left(progress: Progress | None) -> str:
    """How long a run will take, in words: `about 4 s left`, `waiting in the queue`."""
    if progress is None:
        return "waiting in the queue"
    if progress.eta_s is None:
        return "time left unknown"
    return "nearly done" if progress.eta_s < 1 else f"about {_clock(progress.eta_s)} left"
