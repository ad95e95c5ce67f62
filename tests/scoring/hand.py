"""Samples, snapshots and an encoder in two dimensions, small enough to draw on paper."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.fitting.fit import EncoderIdentity, Trained, TraitSamples, fit
from traitbench.scoring.certainty import Certainty, Levels
from traitbench.scoring.snapshot import Quartiles, Snapshot, TierBreaks, TraitAxis

PLANE = EncoderIdentity(id="plane-1", dimension=2, digest="0" * 64)

WARM, COLD = Quartiles(60, 70, 80), Quartiles(20, 30, 40)
TIERS = TierBreaks(40, 60, 80)
AS_QUARTILES = Certainty(Levels((50, 50), (50, 50)), Levels((50, 50), (50, 50)))
"""The held-out scores prove each side, so the quartiles alone decide how sure a score is."""

_COMPASS = {"east": (1.0, 0.0), "north": (0.0, 1.0), "west": (-1.0, 0.0), "south": (0.0, -1.0)}


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """The sum of the winds in a text, at length one; zeros without a wind."""
    sums = [
        np.sum([_COMPASS.get(word.strip(".").lower(), (0.0, 0.0)) for word in text.split()] or [(0, 0)], 0)
        for text in texts
    ]
    return np.array([total / (np.linalg.norm(total) or 1) for total in sums], np.float32).reshape(-1, 2)


def directions(*degrees: float) -> NDArray[np.float32]:
    """Unit vectors at these angles in degrees."""
    angles = [math.radians(degree) for degree in degrees]
    return np.array([(math.cos(angle), math.sin(angle)) for angle in angles], np.float32).reshape(-1, 2)


def cloud(n: int, d: int, *, apart: float = 0.6) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Two clouds on the unit sphere, the second half positive."""
    rng = np.random.default_rng(7)
    y = (np.arange(n) >= n // 2).astype(np.float64)
    X = rng.normal(size=(n, d)) / d**0.5
    X[:, 0] += apart * y
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), y


def samples(
    X: NDArray[np.float32],
    y: Sequence[float] | NDArray[np.float64],
    *,
    key: str = "warmth",
    groups: Sequence[object] | None = None,
) -> TraitSamples:
    return TraitSamples(
        key=key,
        name=key.title(),
        positive_label="warm",
        negative_label="cold",
        aggregation="mean",
        X=X,
        y=np.array(y, np.float64),
        groups=range(len(X)) if groups is None else groups,
    )


def fitted(*traits: TraitSamples, effort: str = "high", **more: Any) -> Trained:
    encoder = EncoderIdentity("plane-1", traits[0].X.shape[1], "0" * 64)
    return fit(traits, encoder=encoder, scoring_method="balanced_cosine", effort=effort, **{"max_depth": 1, **more})


def axis(
    key: str = "warmth",
    *,
    vector: Sequence[float] = (2.0, 0.0),
    offset: float = 0.0,
    aggregation: str = "mean",
    positive: Quartiles | None = WARM,
    negative: Quartiles | None = COLD,
    breaks: TierBreaks = TIERS,
    certainty: Certainty = AS_QUARTILES,
) -> TraitAxis:
    return TraitAxis(
        key=key,
        name=key.title(),
        positive_label="warm",
        negative_label="cold",
        aggregation=aggregation,
        vector=np.array(vector, np.float32),
        offset=offset,
        positive=positive,
        negative=negative,
        breaks=breaks,
        certainty=certainty,
    )


def snapshot(*traits: TraitAxis, max_depth: int = 1) -> Snapshot:
    return Snapshot(PLANE, "balanced_cosine", max_depth, traits or (axis(),))
