"""Labelled vectors to a snapshot and its honest figures.

Equal inputs give equal bytes, in whatever order the samples come and however many threads there are.

A trait learns by a search over its samples, beside an axis made of its labels where there is one, or with what the
search of an earlier version chose. An intrinsic trait has its axis already and only learns what is much and what is
little on it, see `intrinsic`. For the faster modes of an encoder every trait is learnt once more, on their columns,
with what was chosen for the whole.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

from traitbench.scoring.candidates import Candidate
from traitbench.scoring.card import breaks, quartiles
from traitbench.scoring.duplicates import alike, joined
from traitbench.scoring.evaluate import figures, judged
from traitbench.scoring.intrinsic import figures_of_labels, place, pool
from traitbench.scoring.report import labels_told, search_told
from traitbench.scoring.search import EFFORTS, Effort, Evidence, Found, chosen_before, evidence, search
from traitbench.scoring.snapshot import EncoderIdentity, ModeAxis, Quartiles, Snapshot, TraitAxis, float32
from traitbench.scoring.unit import unit

__all__ = ["SCORING_METHODS", "EncoderIdentity", "Trained", "TraitSamples", "fit", "ignore"]

SCORING_METHODS = ("balanced_cosine",)

NO_MODES: Mapping[str, slice] = MappingProxyType({})

_NEAR_DUPLICATES_UP_TO = 8_192
_AS_BEFORE = "no search: the directions that the version before had chosen, learnt again"
_MODE_FIGURES = ("auroc", "auroc_interval", "brier", "calibration_error", "cross_entropy", "measured_on")


@dataclass(frozen=True, eq=False)
class TraitSamples:
    """A trait and what it is learnt from: vectors (n, d), qualities (n,), and groups (n,), equal for equal texts.

    A variation of a text is in that text's group. `synthesized` (n,) marks samples that nobody wrote, none when None:
    they teach little and judge nothing. With an `intrinsic_axis` (d,) of length one that axis stays, and the samples
    are the pool of all texts of the model, of quality NaN but for those that were labelled for this trait.
    `label_axis` (d,) is what the words for the poles say, without a sample: a second opinion, which the samples judge.
    """

    key: str
    name: str
    positive_label: str
    negative_label: str
    aggregation: str
    X: NDArray[np.float32]
    y: NDArray[np.float64]
    groups: Sequence[Hashable] | NDArray[Any]
    synthesized: NDArray[np.bool_] | None = None
    intrinsic_axis: NDArray[np.float32] | None = None
    label_axis: NDArray[np.float32] | None = None

    @property
    def made(self) -> NDArray[np.bool_]:
        """(n,): whether nobody wrote the sample."""
        return np.zeros(len(self.y), bool) if self.synthesized is None else self.synthesized


@dataclass(frozen=True, eq=False)
class Trained:
    """What a training gives."""

    snapshot: Snapshot
    metrics: dict[str, Any]


def ignore(done: int, total: int) -> None:
    """Nobody watches."""


def fit(
    traits: Sequence[TraitSamples],
    *,
    encoder: EncoderIdentity,
    scoring_method: str,
    max_depth: int,
    effort: str,
    fixed: Mapping[str, Any] | None = None,
    modes: Mapping[str, slice] = NO_MODES,
    on_progress: Callable[[int, int], None] = ignore,
) -> Trained:
    """Learn every trait; `on_progress` hears how many of them are done.

    `fixed` is what the metrics of an earlier version say of its traits, `metrics["traits"]`: a trait that it knows is
    learnt with the parameters chosen then. With the samples of then too, the snapshot comes out the same, byte by byte.
    `modes` are the columns of the encoder's modes: every trait gets an axis among the vectors of each.
    """
    if scoring_method not in SCORING_METHODS:
        raise ValueError(f"The scoring method {scoring_method!r} is none of {SCORING_METHODS}.")
    plan = _Plan(EFFORTS[effort], modes, _blocks(modes, encoder.dimension))
    learnt = []
    # One thread: sums over several would round by how the work was shared, and `param_hash` must not.
    with threadpool_limits(limits=1):
        for done, trait in enumerate(traits):
            on_progress(done, len(traits))
            shares = chosen_before((fixed or {}).get(trait.key))
            learnt.append(_learn(trait, encoder.dimension, plan, shares))
    on_progress(len(traits), len(traits))
    snapshot = Snapshot(encoder, scoring_method, max_depth, tuple(axis for axis, _ in learnt))
    measured = {axis.key: found for axis, found in learnt}
    says = EFFORTS[effort].says if fixed is None else _AS_BEFORE
    return Trained(snapshot, _metrics(measured, encoder, scoring_method, effort, says))


@dataclass(frozen=True)
class _Plan:
    """How every trait is learnt: the effort, the columns of the modes, and blocks that may be weighed by themselves."""

    effort: Effort
    modes: Mapping[str, slice]
    blocks: Mapping[str, slice]

    @property
    def columns(self) -> list[slice]:
        """Of every block."""
        return list(self.blocks.values())


def _blocks(modes: Mapping[str, slice], dimension: int) -> dict[str, slice]:
    """The columns between the borders of modes, called as the mode that they are; none where there are no modes."""
    borders = sorted({0, dimension, *(end for mode in modes.values() for end in (mode.start, mode.stop))})
    names = {(mode.start, mode.stop): name for name, mode in modes.items()}
    stretches = [*pairwise(borders)] if modes else []
    rests = [stretch for stretch in stretches if stretch not in names]
    names |= {stretch: "the rest" if len(rests) == 1 else f"rest {at}" for at, stretch in enumerate(rests, start=1)}
    return {names[stretch]: slice(*stretch) for stretch in stretches}


def _learn(
    trait: TraitSamples, dimension: int, plan: _Plan, shares: Mapping[Candidate, float]
) -> tuple[TraitAxis, dict[str, Any]]:
    _check(trait, dimension)
    trait = _with_near_duplicates(trait)
    samples, found = _found(trait, plan, shares)
    told = _figures(trait, plan, samples, found)
    told |= {
        "counts": _counts(trait, samples),
        "parameters": dict(found.parameters),
        "shares": {str(candidate): share for candidate, share in found.shares.items()},
        "search": search_told(found, blocks=list(plan.blocks), fixed=bool(shares)),
        "labels": labels_told(found, asked=trait.label_axis is not None, intrinsic=trait.intrinsic_axis is not None),
    }
    modes = {}
    for name, columns in plan.modes.items():
        own = _in_mode(trait, columns)
        there, seen = _found_again(own, samples, columns, plan.effort, found)
        figures_there = _labelled(own, seen) if own.intrinsic_axis is not None else judged(there, seen)
        modes[name] = ModeAxis(**_numbers(seen, *_clusters(there, seen)))
        told.setdefault("modes", {})[name] = {figure: figures_there[figure] for figure in _MODE_FIGURES}
    axis = TraitAxis(
        key=trait.key,
        name=trait.name,
        positive_label=trait.positive_label,
        negative_label=trait.negative_label,
        aggregation=trait.aggregation,
        **_numbers(found, *_clusters(samples, found)),
        modes=modes,
    )
    return axis, told


def _with_near_duplicates(trait: TraitSamples) -> TraitSamples:
    """The trait, samples that are nearly the same in one group; among very many a pair on both sides tells nothing."""
    if len(trait.y) > _NEAR_DUPLICATES_UP_TO:
        return trait
    groups = np.array([str(group) for group in trait.groups])
    return replace(trait, groups=joined(groups, alike(trait.X)).tolist())


def _found(trait: TraitSamples, plan: _Plan, shares: Mapping[Candidate, float]) -> tuple[Evidence, Found]:
    """What the trait was learnt from, and what came out."""
    groups = list(trait.groups)
    if trait.intrinsic_axis is None:
        samples = evidence(trait.X, trait.y.astype(np.float64), groups, trait.made)
        return samples, search(samples, plan.effort, label_axis=trait.label_axis, shares=shares, blocks=plan.columns)
    samples = pool(trait.X, groups, trait.made, trait.intrinsic_axis)
    return samples, place(samples, trait.intrinsic_axis)


def _found_again(
    own: TraitSamples, samples: Evidence, columns: slice, effort: Effort, found: Found
) -> tuple[Evidence, Found]:
    """The trait among the vectors of a mode: the same samples and, where there was a choice, the same choice."""
    if own.intrinsic_axis is not None:
        return _found(own, _Plan(effort, {}, {}), {})
    there = replace(samples, X=unit(samples.X[:, columns]).astype(np.float32))
    return there, search(there, effort, label_axis=own.label_axis, shares=_without_blocks(found.shares))


def _figures(trait: TraitSamples, plan: _Plan, samples: Evidence, found: Found) -> dict[str, Any]:
    if trait.intrinsic_axis is not None:
        return _labelled(trait, found)

    def again(turn: int) -> Found:
        return search(
            samples, plan.effort, label_axis=trait.label_axis, shares=found.shares, blocks=plan.columns, turn=turn
        )

    return figures(samples, found, breaks=breaks(*_clusters(samples, found)), again=again)


def _labelled(trait: TraitSamples, found: Found) -> dict[str, Any]:
    return figures_of_labels(trait.X, trait.y.astype(np.float64), list(trait.groups), trait.made, found)


def _numbers(found: Found, positive: Quartiles | None, negative: Quartiles | None) -> dict[str, Any]:
    """What an axis is, whatever it is called."""
    return {
        "vector": found.vector.astype(np.float32),
        "offset": float32(found.offset),
        "positive": positive,
        "negative": negative,
        "breaks": breaks(positive, negative),
    }


def _in_mode(trait: TraitSamples, columns: slice) -> TraitSamples:
    """The trait among the vectors of a mode: the mode's columns, at length one."""
    # A sample's own vector is asked for only where nobody has made evidence of it yet.
    axis = trait.intrinsic_axis
    return replace(
        trait,
        X=trait.X[:, columns] if axis is None else unit(trait.X[:, columns]).astype(np.float32),
        intrinsic_axis=None if axis is None else unit(axis[columns]).astype(np.float32),
        label_axis=None if trait.label_axis is None else trait.label_axis[columns],
    )


def _without_blocks(shares: Mapping[Candidate, float]) -> dict[Candidate, float]:
    """Choices for the whole vector, as far as they hold for a part of it."""
    found: dict[Candidate, float] = {}
    for candidate, share in shares.items():
        plain = replace(candidate, blocks=())
        found[plain] = found.get(plain, 0.0) + share
    return found


def _check(trait: TraitSamples, dimension: int) -> None:
    if trait.X.shape != (len(trait.y), dimension) or len(trait.groups) != len(trait.y):
        raise ValueError(
            f"Trait {trait.key}: {len(trait.y)} qualities and {len(trait.groups)} groups need vectors of shape"
            f" ({len(trait.y)}, {dimension}), not {trait.X.shape}."
        )
    told = trait.y if trait.intrinsic_axis is None else trait.y[~np.isnan(trait.y)]
    if not np.isfinite(trait.X).all() or not ((told >= 0) & (told <= 1)).all():
        raise ValueError(f"Trait {trait.key}: vectors must be finite and qualities lie in 0..1.")
    if trait.made.shape != trait.y.shape:
        raise ValueError(f"Trait {trait.key}: {len(trait.made)} marks for {len(trait.y)} samples.")
    for axis in (trait.intrinsic_axis, trait.label_axis):
        if axis is not None and axis.shape != (dimension,):
            raise ValueError(f"Trait {trait.key}: its axis needs {dimension} numbers, not {axis.shape}.")


def _clusters(samples: Evidence, found: Found) -> tuple[Quartiles | None, Quartiles | None]:
    """Quartiles of the held-out scores of either pole."""
    if found.held_out is None:
        return None, None
    scores, y = expit(found.held_out), samples.y[samples.judged]
    return quartiles(scores[y > 0.5]), quartiles(scores[y < 0.5])


def _counts(trait: TraitSamples, samples: Evidence) -> dict[str, int]:
    return {
        "positive": int((trait.y > 0.5).sum()),
        "negative": int((trait.y < 0.5).sum()),
        "neutral": int((trait.y == 0.5).sum()),
        "distinct": len(samples.y),
        "synthesized": int(trait.made.sum()),
    }


def _metrics(
    traits: dict[str, dict[str, Any]], encoder: EncoderIdentity, scoring_method: str, effort: str, says: str
) -> dict[str, Any]:
    areas = [trait["auroc"] for trait in traits.values() if trait["auroc"] is not None]
    return {
        "scoring_method": scoring_method,
        "effort": effort,
        "search": says,
        "encoder": {"id": encoder.id, "dimension": encoder.dimension},
        "auroc": float(np.mean(areas)) if areas else None,
        "traits": traits,
    }
