"""Labelled vectors to a snapshot and its honest figures.

Equal inputs give equal bytes, in whatever order the samples come and however many threads there are.

A trait learns by a search over its samples, or with what the search of an earlier version chose. An intrinsic trait has
its axis already and only learns what is much and what is little on it, see `intrinsic`.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

from core.scoring.card import breaks, quartiles
from core.scoring.evaluate import figures
from core.scoring.intrinsic import figures_of_labels, place, pool
from core.scoring.search import EFFORTS, Effort, Evidence, Found, chosen_before, evidence, search
from core.scoring.snapshot import EncoderIdentity, Quartiles, Snapshot, TraitAxis, float32

__all__ = ["SCORING_METHODS", "EncoderIdentity", "Trained", "TraitSamples", "fit", "ignore"]

SCORING_METHODS = ("balanced_cosine",)

_AS_BEFORE = "no search: the directions that the version before had chosen, learnt again"


@dataclass(frozen=True, eq=False)
class TraitSamples:
    """A trait and what it is learnt from: vectors (n, d), qualities (n,), and groups (n,), equal for equal texts.

    A variation of a text is in that text's group. `synthesized` (n,) marks samples that nobody wrote, none when None:
    they teach little and judge nothing. With an `intrinsic_axis` (d,) of length one that axis stays, and the samples
    are the pool of all texts of the model, of quality NaN but for those that were labelled for this trait.
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
    on_progress: Callable[[int, int], None] = ignore,
) -> Trained:
    """Learn every trait; `on_progress` hears how many of them are done.

    `fixed` is what the metrics of an earlier version say of its traits, `metrics["traits"]`: a trait that it knows is
    learnt with the parameters chosen then. With the samples of then too, the snapshot comes out the same, byte by byte.
    """
    if scoring_method not in SCORING_METHODS:
        raise ValueError(f"The scoring method {scoring_method!r} is none of {SCORING_METHODS}.")
    learnt = []
    # One thread: sums over several would round by how the work was shared, and `param_hash` must not.
    with threadpool_limits(limits=1):
        for done, trait in enumerate(traits):
            on_progress(done, len(traits))
            shares = chosen_before((fixed or {}).get(trait.key))
            learnt.append(_learn(trait, encoder.dimension, EFFORTS[effort], shares))
    on_progress(len(traits), len(traits))
    snapshot = Snapshot(encoder, scoring_method, max_depth, tuple(axis for axis, _ in learnt))
    measured = {axis.key: found for axis, found in learnt}
    says = EFFORTS[effort].says if fixed is None else _AS_BEFORE
    return Trained(snapshot, _metrics(measured, encoder, scoring_method, effort, says))


def _learn(
    trait: TraitSamples, dimension: int, effort: Effort, shares: Mapping[float, float]
) -> tuple[TraitAxis, dict[str, Any]]:
    _check(trait, dimension)
    samples, found, told = _found(trait, effort, shares)
    told |= {
        "counts": _counts(trait, samples),
        "parameters": dict(found.parameters),
        "shares": {str(power): share for power, share in found.shares.items()},
    }
    return _axis(trait, found, *_clusters(samples, found)), told


def _found(
    trait: TraitSamples, effort: Effort, shares: Mapping[float, float]
) -> tuple[Evidence, Found, dict[str, Any]]:
    """What the trait was learnt from, what came out, and its figures."""
    y, groups = trait.y.astype(np.float64), list(trait.groups)
    if trait.intrinsic_axis is None:
        samples = evidence(trait.X, y, groups, trait.made)
        found = search(samples, effort, shares)
        return samples, found, figures(samples, found)
    samples = pool(trait.X, groups, trait.made, trait.intrinsic_axis)
    found = place(samples, trait.intrinsic_axis)
    return samples, found, figures_of_labels(trait.X, y, groups, trait.made, found)


def _axis(trait: TraitSamples, found: Found, positive: Quartiles | None, negative: Quartiles | None) -> TraitAxis:
    return TraitAxis(
        key=trait.key,
        name=trait.name,
        positive_label=trait.positive_label,
        negative_label=trait.negative_label,
        aggregation=trait.aggregation,
        vector=found.vector.astype(np.float32),
        offset=float32(found.offset),
        positive=positive,
        negative=negative,
        breaks=breaks(positive, negative),
    )


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
    if trait.intrinsic_axis is not None and trait.intrinsic_axis.shape != (dimension,):
        raise ValueError(f"Trait {trait.key}: its axis needs {dimension} numbers, not {trait.intrinsic_axis.shape}.")


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
