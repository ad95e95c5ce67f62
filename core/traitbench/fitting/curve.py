"""Learning curve and forecast: how much more samples would improve a trait, and at which pole.

The curve is measured: the chosen configuration is refitted on halves, quarters and so on of both poles, nested in one
another, and evaluated on the rest. The forecast assumes what learning curves have in common: with every doubling of the
samples, the logit of the AUROC grows by about the same amount. The growth measured here is noisy, so the forecast
shrinks it towards the usual growth, in proportion to its uncertainty.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from traitbench.fitting.auroc import out_of_fold_interval
from traitbench.fitting.resampling import PairCounts, Resampler, part
from traitbench.fitting.search import Recipe, TrainingSamples
from traitbench.scoring.inputs import Floats

MORE = 20
"""How many samples the forecast adds."""

_FEWEST_TO_LEARN = 2
_FEWEST_TO_FORECAST = 8
# Few samples give noisy points and cheap fits, so they get more repeats.
_SOLVES, _FEWEST_REPEATS, _MOST_REPEATS = 800, 3, 12
# A power law through the points of one trait needs no such prior, but four noisy points say little about how the curve
# goes on. The price: from 128 samples per pole on, the forecast only says that nothing changes.
_USUAL_GAIN, _GAIN_SPREAD = 0.25, 0.12
# A trait at chance has nothing to gain from: the usual gain is at most this part of its logit.
_FROM_CHANCE = 0.4
_NOISE_OF_GAIN = 0.8
_MATTERS = 2.0
# An AUROC of 1 has no finite logit.
_NEAREST = 0.002
_Z = 1.96


@dataclass(frozen=True)
class Point:
    """A point of the curve: the AUROC of a fit to this many samples, its interval, and in how many groups the samples
    are, 0 if none belong together.
    """

    samples: int
    area: float
    span: tuple[float, float]
    groups: int = 0

    def to_json(self) -> dict[str, Any]:
        """The point as stored in metrics."""
        groups = {"groups": self.groups} if self.groups else {}
        return {"samples": self.samples, "auroc": self.area, "interval": list(self.span), **groups}


def prospects(samples: TrainingSamples, recipe: Recipe, now: Point, counts: tuple[float, float]) -> dict[str, Any]:
    """`curve`, `forecast` and `feed` of a trait; `now` is the point for all samples, and `counts` are of independent
    samples at each pole.
    """
    points = [*_parts(samples, recipe, counts), now]
    return {
        "curve": [point.to_json() for point in points] if len(points) > 1 else [],
        "forecast": _forecast(points, min(map(len, _groups(samples))), recipe.label_share),
        "feed": _feed(samples),
    }


def no_prospects() -> dict[str, Any]:
    """The keys of `prospects` when nothing was measured."""
    return {"curve": [], "forecast": None, "feed": None}


# ---- the curve -------------------------------------------------------------------------------------------------------


def _parts(samples: TrainingSamples, recipe: Recipe, counts: tuple[float, float]) -> list[Point]:
    """The points of ever larger subsets, each measured on the rest."""
    resampler = Resampler(part(samples), recipe)
    groups = _drawn(resampler.samples)
    sizes = _sizes([len(pole) for pole in groups])
    tallies, fitted, grouped = [PairCounts() for _ in sizes], np.zeros(len(sizes)), np.zeros(len(sizes))
    repeats = max(_FEWEST_REPEATS, min(_MOST_REPEATS, _SOLVES // max(1, len(resampler.samples.y))))
    for repeat in range(repeats):
        rng = np.random.default_rng(repeat)
        order = [rng.permutation(pole) for pole in groups]
        for at, size in enumerate(sizes):
            rows, rest = _divided(resampler.samples, np.concatenate([o[:n] for o, n in zip(order, size, strict=True)]))
            tallies[at] += resampler.tally(resampler.fit_and_score(rows, rest), rest)
            own = resampler.samples.is_evaluated[rows]
            fitted[at] += own.sum() / repeats
            if resampler.samples.is_grouped:
                grouped[at] += len(np.unique(resampler.samples.groups[rows][own])) / repeats
    return [
        Point(round(float(n)), tally.auroc, out_of_fold_interval(tally.auroc, *counts), round(float(groups)))
        for n, tally, groups in zip(fitted, tallies, grouped, strict=True)
    ]


def _groups(samples: TrainingSamples) -> list[NDArray[np.int64]]:
    """The groups at the positive and at the negative pole."""
    return [np.unique(samples.groups[samples.is_evaluated & pole]) for pole in (samples.y > 0.5, samples.y < 0.5)]


def _drawn(samples: TrainingSamples) -> list[NDArray[np.int64]]:
    """The groups to draw from: those of each pole, and apart those of both poles where samples belong together."""
    return samples.strata if samples.is_grouped else _groups(samples)


def _sizes(counts: Sequence[int]) -> list[tuple[int, ...]]:
    """Numbers of groups of each kind to fit to, ascending up to one half."""
    sizes, share = [], 2
    *both, positive, negative = counts
    while sum(both) // share + min(positive, negative) // share >= _FEWEST_TO_LEARN:
        sizes.append(tuple(count // share for count in counts))
        share *= 2
    return sizes[::-1]


def _divided(samples: TrainingSamples, groups: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows to fit to, and the rows to measure on. Samples that are not evaluated are always fitted to."""
    chosen = np.isin(samples.groups, groups)
    rest = samples.is_evaluated & ~chosen
    # A variation of a text that is measured would give it away.
    free = ~samples.is_evaluated & ~np.isin(samples.groups, samples.groups[rest])
    return np.flatnonzero(chosen | free), np.flatnonzero(rest)


# ---- twenty more -----------------------------------------------------------------------------------------------------


def _forecast(points: Sequence[Point], smaller_pole: int, label_share: float) -> dict[str, Any] | None:
    now = points[-1]
    if len(points) < 2 or smaller_pole < _FEWEST_TO_FORECAST:
        return None
    doublings = float(np.log2((now.samples + MORE) / now.samples))
    gain, doubt = _gain(points, label_share)
    here, low, high = (_logit_of(area) for area in (now.area, *now.span))
    there = here + gain * doublings
    wider = _Z * doubt * doublings
    area = min(1.0, now.area + float(expit(there) - expit(here)))
    span = (
        float(expit(there - np.hypot(here - low, wider))),
        # The logit is clipped, so it could put the upper end below the present one.
        1.0 if now.span[1] >= 1 else float(expit(there + np.hypot(high - here, wider))),
    )
    return {
        "more": MORE,
        "samples": now.samples + MORE,
        "auroc": area,
        "interval": [min(span[0], area), max(span[1], area)],
    }


def _gain(points: Sequence[Point], label_share: float) -> tuple[float, float]:
    """The gain in the logit per doubling, and its uncertainty: the usual gain, moved towards the measured one.

    The label axis is known from the start: the more a trait relies on it, the less new samples add.
    """
    first, now = points[max(0, len(points) - 3)], points[-1]
    here, low, high = (_logit_of(area) for area in (now.area, *now.span))
    usual = min(_USUAL_GAIN * (1 - label_share) ** 1.5, _FROM_CHANCE * max(here, 0.0))
    seen = (here - _logit_of(first.area)) / float(np.log2(now.samples / first.samples))
    noise = _NOISE_OF_GAIN * (high - low) / (2 * _Z)
    trust = _GAIN_SPREAD**2 / (_GAIN_SPREAD**2 + noise**2)
    return max(0.0, usual + trust * (seen - usual)), _GAIN_SPREAD * float(np.sqrt(1 - trust))


def _logit_of(area: float) -> float:
    """The logit of an AUROC, clipped away from 0 and 1."""
    return float(logit(np.clip(area, _NEAREST, 1 - _NEAREST)))


# ---- where -----------------------------------------------------------------------------------------------------------


def _feed(samples: TrainingSamples) -> dict[str, str] | None:
    """The pole whose centroid would gain most from twenty more texts, if it gains twice as much as the other."""
    counts = [len(np.unique(samples.groups[pole])) for pole in _real_at_poles(samples)]
    if min(counts) < 2:
        return None
    subset = part(samples)
    spreads = [_spread(subset.X[pole]) for pole in _real_at_poles(subset)]
    worth = [spread / (n * (n + MORE)) for spread, n in zip(spreads, counts, strict=True)]
    chosen = int(np.argmax(worth))
    if worth[chosen] < _MATTERS * worth[1 - chosen] or worth[chosen] == 0:
        return None
    names = ("positive", "negative")
    why = f"it has {counts[chosen]} distinct samples and the other pole {counts[1 - chosen]}"
    if spreads[chosen] > _MATTERS * spreads[1 - chosen]:
        why += ", and its texts differ more from one another"
    return {"pole": names[chosen], "why": f"Each new text helps more at the {names[chosen]} pole: {why}."}


def _real_at_poles(samples: TrainingSamples) -> list[NDArray[np.bool_]]:
    """The evaluated real samples at the positive and at the negative pole."""
    real = samples.is_evaluated & ~samples.synthesized
    return [real & (samples.y > 0.5), real & (samples.y < 0.5)]


def _spread(X: NDArray[np.float32]) -> float:
    """The total variance within a pole."""
    centred: Floats = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)
    return float(np.square(centred).sum()) / max(1, len(X) - 1)
