"""Carry fixed thresholds over from the values that another service recorded to ours.

A program that acted from a value of .8 on needs the value of ours from which it acts on the same texts. The recorded
values are regressed on ours by the isotonic regression of least squares (Barlow, Bartholomew, Bremner and Brunk,
Statistical Inference under Order Restrictions, 1972): a map that never falls. The new threshold for an old one is the
least value of ours that the map takes to it. As a mean, the map reaches extreme values seldom where both services
disagree, so the threshold from which as many texts are held as before stands beside it.

No figure is measured on what it was fitted on: texts are divided into folds, and those of a fold are decided by the
thresholds of the others. Equal texts, and rows that belong together, are in one fold and count once in intervals. The
interval of a share is Wilson's. That of Spearman's rank correlation has the standard error of Bonett and Wright
(Psychometrika 65, 2000, 23-28) on Fisher's scale.

Pure.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traitbench.analysis.estimates import Interval, wilson
from traitbench.fitting.duplicates import plain, together
from traitbench.scoring.inputs import Floats

Truths = NDArray[np.bool_]

USUAL = (0.5, 0.6, 0.7, 0.8, 0.9)
"""The thresholds that programs use."""

FEWEST = 20
"""The fewest different texts that a map is fitted to."""

FEWEST_ON_A_SIDE = 8
"""The fewest different texts that must have a recorded value from a threshold on, and that must have a lower one."""

DECIMALS = 3
"""To how many decimals new thresholds are rounded. All counts are of the rounded ones."""

_FOLDS, _SEED = 10, 58
_Z = 1.959963984540054
_NEARLY_ONE = 1 - 1e-9


@dataclass(frozen=True)
class CarriedThreshold:
    """A threshold on our scale, and what it decides otherwise than the old one.

    Of held-out texts, `above` have our value at the threshold or more, `added` of them had a lower recorded value than
    the old threshold, and `dropped` had that much and are below now. `same` is the share that is decided as before.
    """

    threshold: float
    above: int
    added: int
    dropped: int
    same: float
    interval: Interval


@dataclass(frozen=True)
class OldThreshold:
    """A threshold on the recorded values. `before` texts have a value of at least `old`, `unsure` of them are unsure.

    `by_value` is where the map reaches `old`; None if it does not. `as_many` holds as many texts as before. Both are
    None with a reason in `why_not` if that cannot be said. `unchanged` is the old threshold, used on our values.
    """

    old: float
    before: int
    unsure: int
    by_value: CarriedThreshold | None
    as_many: CarriedThreshold | None
    unchanged: CarriedThreshold
    why_not: str = ""


@dataclass(frozen=True)
class CarriedOver:
    """What became of the thresholds of one attribute.

    `texts` were measured, `units` of them are different or do not belong together, and `unsure` have low confidence.
    `correlation` is Spearman's, with its 95 % interval. Without it or without thresholds, `why_not` says why.
    """

    texts: int
    units: int
    unsure: int
    correlation: float | None
    interval: Interval | None
    thresholds: Sequence[OldThreshold]
    why_not: str = ""


def carry_over(
    ours: Sequence[float] | Floats,
    recorded: Sequence[float] | Floats,
    unsure: Sequence[bool] | Truths,
    units: NDArray[np.integer],
    *,
    thresholds: Sequence[float] = USUAL,
) -> CarriedOver:
    """Return the threshold on `ours` for each threshold on `recorded`, and how many texts it decides otherwise.

    `ours` and `recorded` (n,) are values from 0 to 1 of the same texts, which the model did not learn. `unsure` (n,)
    marks those with low confidence, and `units` (n,) are equal for texts that count once (`units_of`).
    """
    ours, recorded = np.asarray(ours, np.float64), np.asarray(recorded, np.float64)
    unsure = np.asarray(unsure, np.bool_)
    n, number = len(ours), len(np.unique(units))

    def result(why_not: str, r: float | None = None, around: Interval | None = None) -> CarriedOver:
        return CarriedOver(n, number, int(unsure.sum()), r, around, (), why_not)

    if number < FEWEST:
        return result(f"{number} different texts are too few: a map needs {FEWEST}")
    for values, whose in ((recorded, "recorded value"), (ours, "score")):
        if np.ptp(values) == 0:
            return result(f"all texts have the same {whose}, so there is nothing to compare")
    r, around = _rank_correlation(ours, recorded, number)
    if around[1] < 0:
        return result("high scores go with low recorded values, so the poles may be the wrong way round", r, around)
    if around[0] <= 0:
        return result("the scores do not rank the texts as the recorded values do", r, around)
    folds = _folds(units)
    return CarriedOver(
        n,
        number,
        int(unsure.sum()),
        r,
        around,
        [_carried(each, ours, recorded, unsure, units, folds) for each in thresholds],
    )


def units_of(texts: Sequence[str], names: Sequence[str | None]) -> NDArray[np.int64]:
    """(n,): equal for texts that are equal but for case and punctuation, and for rows with the same name.

    `names` (n,) say what each row belongs to, such as its author; None or an empty text stands for nothing.
    """
    known: dict[str, int] = {}
    equal = np.array([known.setdefault(plain(text), len(known)) for text in texts], np.int64)
    return together(equal, names)


def learned(texts: Sequence[str], samples: Collection[str]) -> list[bool]:
    """Whether each text is a sample, but for case and punctuation: its score then says nothing about other texts."""
    known = {*map(plain, samples)}
    return [plain(text) in known for text in texts]


def _carried(
    old: float, ours: Floats, recorded: Floats, unsure: Truths, units: NDArray[np.integer], folds: NDArray[np.int64]
) -> OldThreshold:
    before = recorded >= old
    sides = [(before, f"{old:g} or more"), (~before, f"less than {old:g}")]
    few = [(number, words) for side, words in sides if (number := len(np.unique(units[side]))) < FEWEST_ON_A_SIDE]
    counts = (old, int(before.sum()), int((before & unsure).sum()))
    unchanged = _compared(old, ours >= old, before, units)
    if few:
        number, words = few[0]
        texts = "text has" if number == 1 else "different texts have"
        return OldThreshold(*counts, None, None, unchanged, f"{number} {texts} {words}; {FEWEST_ON_A_SIDE} are needed")
    by_value, as_many = (_decided(old, ours, recorded, units, folds, find) for find in (_where_mapped, _where_as_many))
    missing = "" if by_value else f"fewer than {FEWEST_ON_A_SIDE} texts have a score that stands for {old:g} on average"
    return OldThreshold(*counts, by_value, as_many, unchanged, missing)


Find = Callable[[float, Floats, Floats], float | None]
"""Finds the threshold on ours (n,) for one on recorded values (n,); None if there is none."""


def _decided(
    old: float,
    ours: Floats,
    recorded: Floats,
    units: NDArray[np.integer],
    folds: NDArray[np.int64],
    find: Find,
) -> CarriedThreshold | None:
    """Return the threshold from all texts, and what those from other folds decide."""
    threshold = find(old, ours, recorded)
    if threshold is None:
        return None
    above = np.zeros(len(ours), np.bool_)
    for fold in np.unique(folds):
        out = folds == fold
        of_others = find(old, ours[~out], recorded[~out])
        above[out] = of_others is not None and ours[out] >= of_others
    return _compared(threshold, above, recorded >= old, units)


def _compared(threshold: float, above: Truths, before: Truths, units: NDArray[np.integer]) -> CarriedThreshold:
    same = float((above == before).mean())
    return CarriedThreshold(
        threshold,
        int(above.sum()),
        int((above & ~before).sum()),
        int((before & ~above).sum()),
        same,
        wilson(same, len(np.unique(units)), _Z),
    )


def _where_mapped(old: float, ours: Floats, recorded: Floats) -> float | None:
    """The least value of ours that the isotonic map takes to the old threshold, if enough texts have it or more."""
    from scipy.optimize import isotonic_regression  # takes a second to import, and nothing else here needs it

    values, of, counts = np.unique(ours, return_inverse=True, return_counts=True)
    means = np.bincount(of, weights=recorded) / counts
    reached = np.flatnonzero(isotonic_regression(means, weights=counts).x >= old)
    # The highest step of an isotonic map follows a few texts wherever they are.
    if not reached.size or counts[reached].sum() < FEWEST_ON_A_SIDE:
        return None
    return _below(values, int(reached[0]))


def _where_as_many(old: float, ours: Floats, recorded: Floats) -> float | None:
    """The value of ours that about as many texts reach as the old threshold; of two, the one that fewer reach."""
    values, counts = np.unique(ours, return_counts=True)
    reach = counts[::-1].cumsum()
    position = int(np.abs(reach - (recorded >= old).sum()).argmin())
    return _below(values, len(values) - 1 - position)


def _below(values: Floats, position: int) -> float:
    """A rounded threshold in the middle between an ascending value and the one before it."""
    middle = values[[max(position - 1, 0), position]].mean()
    return round(float(middle), DECIMALS)


def _folds(units: NDArray[np.integer]) -> NDArray[np.int64]:
    """(n,): the fold of each text, equal within a unit."""
    names, of = np.unique(units, return_inverse=True)
    return (np.random.default_rng(_SEED).permutation(len(names)) % _FOLDS)[of]


def _rank_correlation(one: Floats, other: Floats, size: int) -> tuple[float, Interval]:
    """Spearman's rank correlation with its 95 % interval for `size` independent texts."""
    from scipy.stats import spearmanr  # all of its distributions would add a second to every start

    r = float(spearmanr(one, other).statistic)
    middle, half = np.arctanh(np.clip(r, -_NEARLY_ONE, _NEARLY_ONE)), _Z * np.sqrt((1 + r * r / 2) / (size - 3))
    low, high = np.tanh([middle - half, middle + half]).tolist()
    return r, (min(low, r), max(high, r))
