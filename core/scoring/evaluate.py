"""Honest figures of a trait, from what was held out only.

AUROC compares samples above 0.5 with samples below, those of one fold with each other, over several divisions into
folds, see `again`; where both poles have many the values of all folds are compared, which comes to the same. Its
interval is `area.sure`. Brier, calibration error (ten bins) and cross-entropy compare the score
with the quality. Both poles weigh the same, and so does every kinship of a pole: near duplicates are one voice, in the
figures and in the counts of the interval. The confusion reads the held-out scores by the breaks, which are quartiles of
these very scores: it shows how the poles lie to the tiers, and is no test of them. What nobody wrote judges nothing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from traitbench.scoring.again import MOST_PER_POLE, Again, Tally, folds_of, part
from traitbench.scoring.area import auroc, interval, sure
from traitbench.scoring.axis import Floats, pole_weights
from traitbench.scoring.card import half_up, tier
from traitbench.scoring.curve import Point, no_prospects, prospects
from traitbench.scoring.search import Evidence, Found, Recipe
from traitbench.scoring.snapshot import Breaks

__all__ = ["auroc", "figures", "interval", "judged", "measured", "unmeasured"]

_BINS = 10
_FOLDS = 10
_FEW = 64
_MANY = MOST_PER_POLE
_TURNS = 3
_COMPARED, _FEWEST_REPEATS, _MOST_REPEATS = 1_000, 3, 20
_NAMES = ("auroc", "auroc_interval", "brier", "calibration_error", "cross_entropy")
_TIERS = ("Weak", "Developing", "Solid", "Strong")


def figures(
    samples: Evidence, found: Found, *, breaks: Breaks | None = None, again: Callable[[int], Found] | None = None
) -> dict[str, Any]:
    """The figures and what they were measured on; all null, with the reason, when nothing could be held out.

    `breaks` are where the trait's tiers begin. `again` searches once more with the folds of another turn: where samples
    are few, figures other than AUROC are means over several turns.
    """
    told = judged(samples, found, again=again)
    if found.held_out is None or told["auroc"] is None:
        return told
    y = samples.y[samples.judged]
    now = Point(len(y), told["auroc"], (told["auroc_interval"][0], told["auroc_interval"][1]))
    tiers = None if breaks is None else confusion(found.held_out, y, breaks)
    ahead = no_prospects() if found.recipe is None else prospects(samples, found.recipe, now)
    return {**told, "confusion": tiers, **ahead}


def judged(samples: Evidence, found: Found, *, again: Callable[[int], Found] | None = None) -> dict[str, Any]:
    """The figures of now, without a look at the tiers and ahead."""
    if found.held_out is None or samples.synthesized[samples.judged].any():
        return unmeasured(_why_not(samples))
    y, kin = samples.y[samples.judged], samples.kin[samples.judged]
    told, repeats = _mean([measured(logits, y, kin) for logits in _turns(found, len(y), again)]), 0
    if found.recipe is not None and samples.smaller_pole < _MANY:
        area, repeats = _compared(part(samples), found.recipe)
        told |= area
    on = _measured_on(samples, found, repeats)
    return {**told, "measured_on": on, "folds": found.folds, "repeats": repeats or None}


def measured(logits: Floats, y: Floats, kin: NDArray[np.int64] | None = None) -> dict[str, Any]:
    """The figures of logits (n,) that have not seen the qualities (n,), both poles being there; kin count as one."""
    kin = np.arange(len(y)) if kin is None else kin
    votes = _votes(y, kin)
    scores, weights = expit(logits), pole_weights(y, votes)
    return {
        **_area(auroc(logits, y, votes), y, kin),
        "brier": float(weights @ np.square(scores - y)),
        "calibration_error": _calibration_error(scores, y, weights),
        "cross_entropy": float(weights @ (np.logaddexp(0, logits) - y * logits)),
    }


def unmeasured(reason: str) -> dict[str, Any]:
    """No figure, and why."""
    told = {"measured_on": f"not measured: {reason}", "folds": None, "repeats": None, "confusion": None}
    return {**dict.fromkeys(_NAMES), **told, **no_prospects()}


def confusion(logits: Floats, y: Floats, breaks: Breaks) -> dict[str, dict[str, int]]:
    """How many samples of either pole each tier has."""
    tier_at = np.array([tier(points, breaks) for points in range(101)])
    tiers = tier_at[[half_up(100 * score) for score in expit(logits).tolist()]]
    return {
        side: {name: int((tiers[pole] == name).sum()) for name in _TIERS}
        for side, pole in (("positive", y > 0.5), ("negative", y < 0.5))
    }


def _turns(found: Found, n: int, again: Callable[[int], Found] | None) -> list[Floats]:
    """Held-out logits of one turn, or of several where that is cheap and one turn says little."""
    more = range(1, _TURNS) if again is not None and found.folds is not None and n < _FEW else range(0)
    turns = [found, *(again(turn) for turn in more if again is not None)]
    return [turn.held_out for turn in turns if turn.held_out is not None]


def _mean(turns: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: np.mean([turn[name] for turn in turns], axis=0).tolist() for name in _NAMES}


def _compared(samples: Evidence, recipe: Recipe) -> tuple[dict[str, Any], int]:
    """AUROC of all comparisons within folds, and of how many divisions into folds."""
    repeats = max(_FEWEST_REPEATS, min(_MOST_REPEATS, _COMPARED // len(samples.y)))
    again, count = Again(samples, recipe), min(_FOLDS, samples.smaller_pole)
    tallies = [again.tally_of_folds(folds_of(samples, count, turn)) for turn in range(repeats)]
    judged = samples.judged
    return _area(sum(tallies, Tally()).area, samples.y[judged], samples.kin[judged]), repeats


def _area(area: float, y: Floats, kin: NDArray[np.int64]) -> dict[str, Any]:
    counts = [len(np.unique(kin[pole])) for pole in (y > 0.5, y < 0.5)]
    return {"auroc": area, "auroc_interval": list(sure(area, counts[0], counts[1]))}


def _votes(y: Floats, kin: NDArray[np.int64]) -> Floats:
    """(n,): one vote for all of a kinship at a pole."""
    votes = np.empty(len(y))
    for pole in (y > 0.5, y < 0.5, y == 0.5):
        _, own, counts = np.unique(kin[pole], return_inverse=True, return_counts=True)
        votes[pole] = 1 / counts[own]
    return votes


def _calibration_error(scores: Floats, y: Floats, weights: Floats) -> float:
    bins = np.minimum((scores * _BINS).astype(int), _BINS - 1)
    return float(np.abs(np.bincount(bins, weights=weights * (scores - y), minlength=_BINS)).sum())


def _measured_on(samples: Evidence, found: Found, repeats: int) -> str:
    how = "leave-one-out" if found.folds is None else f"out-of-fold, {found.folds} folds"
    n, kinships = int(samples.judged.sum()), len(np.unique(samples.kin[samples.judged]))
    alike = "" if kinships == n else f", {n - kinships} of them nearly the same as another"
    areas = f"; AUROC within folds, {repeats} divisions" if repeats else ""
    return f"{how}, {n} distinct samples{alike}{areas}"


def _why_not(samples: Evidence) -> str:
    real = ~samples.synthesized
    if not real.any() and len(real):
        return "only synthesised samples"
    positive, negative = (len(np.unique(samples.kin[real & pole])) for pole in (samples.y > 0.5, samples.y < 0.5))
    side = "positive" if positive <= negative else "negative"
    how_many = "no distinct text" if min(positive, negative) == 0 else "one distinct text"
    beside = ", synthesised samples aside" if samples.synthesized.any() else ""
    return f"{how_many} at the {side} pole{beside}, two are needed to hold one out"
