"""Labelled vectors to a snapshot and its honest figures.

Equal inputs give equal bytes, in whatever order the samples come and however many threads there are.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

from core.scoring.card import breaks, quartiles
from core.scoring.evaluate import figures
from core.scoring.search import EFFORTS, Effort, Evidence, Found, evidence, search
from core.scoring.snapshot import EncoderIdentity, Quartiles, Snapshot, TraitAxis, float32

__all__ = ["SCORING_METHODS", "EncoderIdentity", "Trained", "TraitSamples", "fit", "ignore"]

SCORING_METHODS = ("balanced_cosine",)


@dataclass(frozen=True, eq=False)
class TraitSamples:
    """A trait and what it is learnt from: vectors (n, d), qualities (n,), and groups (n,), equal for equal texts."""

    key: str
    name: str
    positive_label: str
    negative_label: str
    aggregation: str
    X: NDArray[np.float32]
    y: NDArray[np.float64]
    groups: Sequence[Hashable] | NDArray[Any]


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
    on_progress: Callable[[int, int], None] = ignore,
) -> Trained:
    """Learn every trait; `on_progress` hears how many of them are done."""
    if scoring_method not in SCORING_METHODS:
        raise ValueError(f"The scoring method {scoring_method!r} is none of {SCORING_METHODS}.")
    learnt = []
    # One thread: sums over several would round by how the work was shared, and `param_hash` must not.
    with threadpool_limits(limits=1):
        for done, trait in enumerate(traits):
            on_progress(done, len(traits))
            learnt.append(_learn(trait, encoder.dimension, EFFORTS[effort]))
    on_progress(len(traits), len(traits))
    snapshot = Snapshot(encoder, scoring_method, max_depth, tuple(axis for axis, _ in learnt))
    measured = {axis.key: found for axis, found in learnt}
    return Trained(snapshot, _metrics(measured, encoder, scoring_method, effort))


def _learn(trait: TraitSamples, dimension: int, effort: Effort) -> tuple[TraitAxis, dict[str, Any]]:
    _check(trait, dimension)
    samples = evidence(trait.X, trait.y.astype(np.float64), list(trait.groups))
    found = search(samples, effort)
    positive, negative = _clusters(samples, found)
    axis = TraitAxis(
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
    return axis, {**figures(samples, found), "counts": _counts(trait, samples), "parameters": dict(found.parameters)}


def _check(trait: TraitSamples, dimension: int) -> None:
    if trait.X.shape != (len(trait.y), dimension) or len(trait.groups) != len(trait.y):
        raise ValueError(
            f"Trait {trait.key}: {len(trait.y)} qualities and {len(trait.groups)} groups need vectors of shape"
            f" ({len(trait.y)}, {dimension}), not {trait.X.shape}."
        )
    if not np.isfinite(trait.X).all() or not ((trait.y >= 0) & (trait.y <= 1)).all():
        raise ValueError(f"Trait {trait.key}: vectors must be finite and qualities lie in 0..1.")


def _clusters(samples: Evidence, found: Found) -> tuple[Quartiles | None, Quartiles | None]:
    """Quartiles of the held-out scores of either pole."""
    if found.held_out is None:
        return None, None
    scores = expit(found.held_out)
    return quartiles(scores[samples.y > 0.5]), quartiles(scores[samples.y < 0.5])


def _counts(trait: TraitSamples, samples: Evidence) -> dict[str, int]:
    return {
        "positive": int((trait.y > 0.5).sum()),
        "negative": int((trait.y < 0.5).sum()),
        "neutral": int((trait.y == 0.5).sum()),
        "distinct": len(samples.y),
    }


def _metrics(
    traits: dict[str, dict[str, Any]], encoder: EncoderIdentity, scoring_method: str, effort: str
) -> dict[str, Any]:
    areas = [trait["auroc"] for trait in traits.values() if trait["auroc"] is not None]
    return {
        "scoring_method": scoring_method,
        "effort": effort,
        "search": EFFORTS[effort].says,
        "encoder": {"id": encoder.id, "dimension": encoder.dimension},
        "auroc": float(np.mean(areas)) if areas else None,
        "traits": traits,
    }
