"""What more samples bring: how well parts of them teach the trait, what twenty more promise, and at which pole.

The curve is measured: halves, quarters and so on of either pole, one within the other, teach what the search chose, and
the rest is compared. The forecast leans on what learning curves have in common: with every doubling the logit of the
AUROC grows by about the same. How much it grew here says little against chance, so it counts as far as it is sure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from traitbench.scoring.again import Again, Tally, part
from traitbench.scoring.area import sure
from traitbench.scoring.axis import Floats
from traitbench.scoring.search import Evidence, Recipe

MORE = 20
"""How many samples the forecast adds."""

_FEWEST_TO_LEARN = 2
_FEWEST_TO_FORECAST = 8
_SOLVES, _FEWEST_REPEATS, _MOST_REPEATS = 800, 3, 12
_USUAL_GAIN, _GAIN_SPREAD = 0.25, 0.12
_FROM_CHANCE = 0.4
_NOISE_OF_GAIN = 0.8
_MATTERS = 2.0
_NEAREST = 0.002
_Z = 1.96


@dataclass(frozen=True)
class Point:
    """An area learnt from so many samples, and its interval."""

    samples: int
    area: float
    span: tuple[float, float]

    def to_json(self) -> dict[str, Any]:
        """As metrics have it."""
        return {"samples": self.samples, "auroc": self.area, "interval": list(self.span)}


def prospects(samples: Evidence, recipe: Recipe, now: Point) -> dict[str, Any]:
    """`curve`, `forecast` and `feed` of a trait whose area is that of `now`, learnt from all samples."""
    points = [*_parts(samples, recipe), now]
    return {
        "curve": [point.to_json() for point in points] if len(points) > 1 else [],
        "forecast": _forecast(points, min(map(len, _kinships(samples))), recipe.label_share),
        "feed": _feed(samples),
    }


def no_prospects() -> dict[str, Any]:
    """Nothing was measured, so nothing can be said."""
    return {"curve": [], "forecast": None, "feed": None}


# ---- the curve -------------------------------------------------------------------------------------------------------


def _parts(samples: Evidence, recipe: Recipe) -> list[Point]:
    """The areas of ever larger parts, each measured on the rest."""
    again = Again(part(samples), recipe)
    kin, all_kin = _kinships(again.samples), _kinships(samples)
    sizes = _sizes([len(pole) for pole in kin])
    found, learnt = [Tally() for _ in sizes], np.zeros(len(sizes))
    repeats = max(_FEWEST_REPEATS, min(_MOST_REPEATS, _SOLVES // max(1, len(again.samples.y))))
    for turn in range(repeats):
        rng = np.random.default_rng(turn)
        order = [rng.permutation(pole) for pole in kin]
        for at, size in enumerate(sizes):
            rows, rest = _divided(again.samples, np.concatenate([o[:n] for o, n in zip(order, size, strict=True)]))
            found[at] += again.tally(again.learnt(rows, rest), rest)
            learnt[at] += again.samples.judged[rows].sum() / repeats
    counts = [len(pole) for pole in all_kin]
    return [
        Point(round(float(n)), tally.area, sure(tally.area, counts[0], counts[1]))
        for n, tally in zip(learnt, found, strict=True)
    ]


def _kinships(samples: Evidence) -> list[NDArray[np.int64]]:
    """The kinships at the positive and at the negative pole."""
    return [np.unique(samples.kin[samples.judged & pole]) for pole in (samples.y > 0.5, samples.y < 0.5)]


def _sizes(counts: Sequence[int]) -> list[tuple[int, ...]]:
    """Kinships per pole to learn from, the fewest first, down from one half."""
    found, share = [], 2
    while min(counts) // share >= _FEWEST_TO_LEARN:
        found.append(tuple(count // share for count in counts))
        share *= 2
    return found[::-1]


def _divided(samples: Evidence, kin: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The samples of these kinships and what nobody judges by, and the judged rest."""
    chosen = np.isin(samples.kin, kin)
    rest = samples.judged & ~chosen
    free = ~samples.judged & ~np.isin(samples.kin, samples.kin[rest])
    return np.flatnonzero(chosen | free), np.flatnonzero(rest)


# ---- twenty more -----------------------------------------------------------------------------------------------------


def _forecast(points: Sequence[Point], smaller_pole: int, label_share: float) -> dict[str, Any] | None:
    now = points[-1]
    if len(points) < 2 or smaller_pole < _FEWEST_TO_FORECAST:
        return None
    doublings = float(np.log2((now.samples + MORE) / now.samples))
    gain, doubt = _gain(points, label_share)
    here, low, high = (_height(area) for area in (now.area, *now.span))
    there = here + gain * doublings
    wider = _Z * doubt * doublings
    area = min(1.0, now.area + float(expit(there) - expit(here)))
    span = (
        float(expit(there - np.hypot(here - low, wider))),
        1.0 if now.span[1] >= 1 else float(expit(there + np.hypot(high - here, wider))),
    )
    return {
        "more": MORE,
        "samples": now.samples + MORE,
        "auroc": area,
        "interval": [min(span[0], area), max(span[1], area)],
    }


def _gain(points: Sequence[Point], label_share: float) -> tuple[float, float]:
    """What a doubling adds to the logit, and the doubt: the usual gain, moved by the curve as far as that is sure.

    What the labels say is known already: the more the trait leans on them, the less new samples add.
    """
    first, now = points[max(0, len(points) - 3)], points[-1]
    here, low, high = (_height(area) for area in (now.area, *now.span))
    usual = min(_USUAL_GAIN * (1 - label_share) ** 1.5, _FROM_CHANCE * max(here, 0.0))
    seen = (here - _height(first.area)) / float(np.log2(now.samples / first.samples))
    noise = _NOISE_OF_GAIN * (high - low) / (2 * _Z)
    trust = _GAIN_SPREAD**2 / (_GAIN_SPREAD**2 + noise**2)
    return max(0.0, usual + trust * (seen - usual)), _GAIN_SPREAD * float(np.sqrt(1 - trust))


def _height(area: float) -> float:
    """The logit, of an area kept from both ends."""
    return float(logit(np.clip(area, _NEAREST, 1 - _NEAREST)))


# ---- where -----------------------------------------------------------------------------------------------------------


def _feed(samples: Evidence) -> dict[str, str] | None:
    """The pole whose middle twenty more texts would settle most, where that is twice as much as at the other pole."""
    counts = [len(np.unique(samples.kin[pole])) for pole in _written(samples)]
    if min(counts) < 2:
        return None
    some = part(samples)
    spreads = [_spread(some.X[pole]) for pole in _written(some)]
    worth = [spread / (n * (n + MORE)) for spread, n in zip(spreads, counts, strict=True)]
    hungry = int(np.argmax(worth))
    if worth[hungry] < _MATTERS * worth[1 - hungry] or worth[hungry] == 0:
        return None
    names = ("positive", "negative")
    why = f"it has {counts[hungry]} distinct samples and the other pole {counts[1 - hungry]}"
    if spreads[hungry] > _MATTERS * spreads[1 - hungry]:
        why += ", and its texts differ more from one another"
    return {"pole": names[hungry], "why": f"The {names[hungry]} pole teaches more with each new text: {why}."}


def _written(samples: Evidence) -> list[NDArray[np.bool_]]:
    """Which samples of either pole somebody wrote."""
    real = samples.judged & ~samples.synthesized
    return [real & (samples.y > 0.5), real & (samples.y < 0.5)]


def _spread(X: NDArray[np.float32]) -> float:
    """The inner variance of a pole."""
    centred: Floats = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)
    return float(np.square(centred).sum()) / max(1, len(X) - 1)
