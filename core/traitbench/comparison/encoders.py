"""Compare encoders on the same labelled texts, out of fold.

Each encoder is fitted as in a training: the same search, on its own vectors and label axis. All encoders share the
texts, the groups and the folds, so that a difference comes from the vectors alone. Near duplicates are those of the
first encoder, with which the others are compared. AUROC and its interval are those of a training (`evaluate`).

The interval of a difference combines the intervals of the two AUROCs and their correlation (MOVER: Zou and Donner,
Statistics in Medicine 27, 2008, 1693-1702). The correlation is that of DeLong et al. (Biometrics 44, 1988, 837-845)
with the contributions of a group added up (Obuchowski, Biometrics 53, 1997, 567-578). A correlation from few groups is
unreliable, so it is shrunk towards 0, which widens the interval.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np
from threadpoolctl import threadpool_limits

from traitbench.fitting.auroc import out_of_fold_interval
from traitbench.fitting.duplicates import alike, joined
from traitbench.fitting.evaluate import divisions, group_weights, judged
from traitbench.fitting.fit import TraitSamples, feature_blocks
from traitbench.fitting.resampling import MOST_PER_POLE, Resampler, among, part
from traitbench.fitting.search import EFFORTS, Effort, Recipe, TrainingSamples, evidence, search
from traitbench.scoring.inputs import Floats

Verdict = Literal["better", "worse", "no proven difference"]

_SHRINK_GROUPS = 4.0
_INTRINSIC = "not compared: its axis was discovered with one encoder and is not fitted to samples"


@dataclass(frozen=True, eq=False)
class Contender:
    """An encoder's vectors of the samples, trait by trait. Traits and rows are in the same order for all contenders."""

    name: str
    traits: Sequence[TraitSamples]
    modes: Mapping[str, slice]


@dataclass(frozen=True)
class Difference:
    """AUROC minus that of the first encoder, its 95 % interval, and what the interval proves."""

    value: float
    interval: tuple[float, float]

    @property
    def verdict(self) -> Verdict:
        """Better or worse only if the interval excludes 0."""
        low, high = self.interval
        return "better" if low > 0 else "worse" if high < 0 else "no proven difference"


@dataclass(frozen=True)
class Figure:
    """The out-of-fold AUROC of one encoder with its 95 % interval; the difference is None for the first encoder."""

    auroc: float
    interval: tuple[float, float]
    difference: Difference | None


@dataclass(frozen=True)
class TraitComparison:
    """The figures of a trait by encoder, empty if it was not compared, with the reason in `why_not`.

    `samples` counts distinct texts, `groups` those that are not near duplicates of one another.
    """

    key: str
    name: str
    samples: int
    groups: int
    figures: Mapping[str, Figure]
    why_not: str | None = None


def _ignore(done: int, total: int) -> None:
    """Ignores progress."""


def compare(
    contenders: Sequence[Contender], *, effort: str, on_progress: Callable[[int, int], object] = _ignore
) -> list[TraitComparison]:
    """Compare encoders with the first one; `on_progress(done, total)` counts the fits of a trait with an encoder.

    The result depends neither on the order of the samples nor on the number of threads. Raise ValueError if the
    contenders do not have the same samples.
    """
    traits = list(zip(*(contender.traits for contender in contenders), strict=True))
    result: list[TraitComparison] = []
    total = len(traits) * len(contenders)
    # One thread: with several, rounding depends on how the work is split.
    with threadpool_limits(limits=1):
        for at, of_trait in enumerate(traits):
            report = partial(_report, on_progress, at * len(contenders), total)
            result.append(_compared(contenders, of_trait, EFFORTS[effort], report))
    on_progress(total, total)
    return result


def _report(on_progress: Callable[[int, int], object], before: int, total: int, done: int) -> None:
    on_progress(before + done, total)


def _compared(
    contenders: Sequence[Contender],
    of_trait: Sequence[TraitSamples],
    effort: Effort,
    on_progress: Callable[[int], object],
) -> TraitComparison:
    trait = of_trait[0]
    if any(each.intrinsic_axis is not None for each in of_trait):
        return TraitComparison(trait.key, trait.name, len(trait.y), 0, {}, _INTRINSIC)
    tallies: list[_Tally] = []
    for done, (contender, own, samples) in enumerate(zip(contenders, of_trait, _aligned(of_trait), strict=True)):
        on_progress(done)
        blocks = list(feature_blocks(contender.modes, own.X.shape[1]).values())
        result = search(samples, effort, label_axis=own.label_axis, blocks=blocks)
        evaluated = samples.is_evaluated
        counts = (int(evaluated.sum()), len(np.unique(samples.groups[evaluated])))
        if result.held_out is None or result.recipe is None or samples.synthesized[evaluated].any():
            why_not: str = judged(samples, result)["measured_on"]
            return TraitComparison(trait.key, trait.name, *counts, {}, why_not)
        many = samples.smaller_pole >= MOST_PER_POLE
        tallies.append(_pooled(samples, result.held_out) if many else _within_folds(part(samples), result.recipe))
    figures = {
        contender.name: Figure(tally.auroc, tally.interval, _difference(tally, tallies[0]) if at else None)
        for at, (contender, tally) in enumerate(zip(contenders, tallies, strict=True))
    }
    return TraitComparison(trait.key, trait.name, *counts, figures)


def _aligned(of_trait: Sequence[TraitSamples]) -> list[TrainingSamples]:
    """The training samples of each contender: the same texts in the same order, with the same groups and folds."""
    trait = of_trait[0]
    if any(len(each.X) != len(trait.y) or not np.array_equal(each.y, trait.y) for each in of_trait):
        raise ValueError(f"Trait {trait.key}: the encoders were given different samples.")
    groups = joined(np.array([str(group) for group in trait.groups]), alike(trait.X)).tolist()
    rows = np.hstack([each.X for each in of_trait])
    together = _in_order(evidence(rows, trait.y.astype(np.float64), groups, trait.made), trait.X.shape[1])
    ends = np.cumsum([each.X.shape[1] for each in of_trait]).tolist()
    return [replace(together, X=together.X[:, first:end]) for first, end in pairwise([0, *ends])]


def _in_order(samples: TrainingSamples, width: int) -> TrainingSamples:
    """The samples in the order of the first encoder's vectors, as in a training with it, and so with the same folds."""
    rows = np.ascontiguousarray(samples.X[:, :width], "<f4")
    order = np.argsort(np.array([hashlib.sha256(row).digest() for row in rows], "S32"), kind="stable")
    ordered = among(samples, order)
    _, first, group_of = np.unique(ordered.groups, return_index=True, return_inverse=True)
    return replace(ordered, groups=np.argsort(np.argsort(first))[group_of].astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Tally:
    """The weight of the comparisons that each sample (n,) is part of, and of those that the positive sample won.

    A sample is compared with all evaluated samples of the other pole or, if they are few, with those of its fold.
    """

    samples: TrainingSamples
    won: Floats
    compared: Floats

    @property
    def auroc(self) -> float:
        """The share of comparisons that the positive sample won."""
        positive = self.samples.y > 0.5
        return float(self.won[positive].sum() / self.compared[positive].sum())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the AUROC."""
        evaluated = self.samples.is_evaluated
        poles = (evaluated & (self.samples.y > 0.5), evaluated & (self.samples.y < 0.5))
        positive, negative = (len(np.unique(self.samples.groups[pole])) for pole in poles)
        return out_of_fold_interval(self.auroc, positive, negative)

    @property
    def influence(self) -> Floats:
        """(n_groups,): how much each group moves the AUROC, up to a factor; adds up to 0."""
        return np.bincount(self.samples.groups, weights=self.won - self.auroc * self.compared).astype(np.float64)


def _within_folds(samples: TrainingSamples, recipe: Recipe) -> _Tally:
    """Compare samples of a fold, over several divisions into folds."""
    resampler, n = Resampler(samples, recipe), len(samples.y)
    tally = _Tally(samples, np.zeros(n), np.zeros(n))
    for folds in divisions(samples):
        values = resampler.out_of_fold(folds)
        for fold in range(int(folds.max()) + 1):
            own = folds == fold
            above, below = (np.flatnonzero(own & pole) for pole in (samples.y > 0.5, samples.y < 0.5))
            wins = (np.sign(values[above, None] - values[below]) + 1) / 2
            one, other = resampler.pair_weights[above], resampler.pair_weights[below]
            tally.won[above] += one * (wins @ other)
            tally.won[below] += other * (one @ wins)
            tally.compared[above] += one * other.sum()
            tally.compared[below] += other * one.sum()
    return tally


def _pooled(samples: TrainingSamples, held_out: Floats) -> _Tally:
    """Compare all samples, by values (n_evaluated,) of all folds."""
    evaluated = np.flatnonzero(samples.is_evaluated)
    y, weights = samples.y[evaluated], group_weights(samples.y[evaluated], samples.groups[evaluated])
    tally = _Tally(samples, np.zeros(len(samples.y)), np.zeros(len(samples.y)))
    above, below = y > 0.5, y < 0.5
    for own, others, values in ((above, below, held_out), (below, above, -held_out)):
        tally.won[evaluated[own]] = weights[own] * _beaten(values[own], values[others], weights[others])
        tally.compared[evaluated[own]] = weights[own] * weights[others].sum()
    return tally


def _beaten(values: Floats, others: Floats, weights: Floats) -> Floats:
    """(n_values,): the weight of the others that are lower, ties counting half."""
    order = np.argsort(others, kind="stable")
    heights = np.concatenate([[0.0], np.cumsum(weights[order])])
    ranked = others[order]
    beaten: Floats = (heights[ranked.searchsorted(values, "left")] + heights[ranked.searchsorted(values, "right")]) / 2
    return beaten


def _difference(tally: _Tally, first: _Tally) -> Difference:
    """The difference to the first encoder, with the MOVER interval."""
    value = tally.auroc - first.auroc
    down, up = (abs(tally.auroc - end) for end in tally.interval)
    down_first, up_first = (abs(first.auroc - end) for end in first.interval)
    correlation = _correlation(tally, first)
    low = value - _combined(down, up_first, correlation)
    high = value + _combined(up, down_first, correlation)
    return Difference(value, (max(low, -1.0), min(high, 1.0)))


def _combined(one: float, other: float, correlation: float) -> float:
    return float(np.sqrt(max(0.0, one**2 + other**2 - 2 * correlation * one * other)))


def _correlation(tally: _Tally, first: _Tally) -> float:
    """The correlation of both AUROCs over the choice of groups; 0 where one of them has no variance."""
    one, other = tally.influence, first.influence
    scale = float(np.sqrt((one @ one) * (other @ other)))
    groups = int(((one != 0) | (other != 0)).sum())
    return float(one @ other) / scale * groups / (groups + _SHRINK_GROUPS) if scale > 1e-12 else 0.0
