"""Unbiased figures of a trait, measured on held-out values only, and the entries about its search in the metrics.

AUROC compares samples above 0.5 with samples below, within one fold and over several divisions into folds, see
`resampling`. If both poles have many samples, the values of all folds are compared with one another, which gives nearly
the same. Its interval is `out_of_fold_interval`. Brier score (as scikit-learn's `brier_score_loss`), expected
calibration error (ten bins) and cross-entropy compare the score with the quality. Both poles have equal weight, and so
has every group of a pole: near duplicates count once, and so do samples that belong together, in the figures and in the
interval.

The confusion table assigns held-out scores to tiers. The breaks are quartiles of these same scores, so it shows how the
poles spread over the tiers and is not a test of them. Synthesized samples are not evaluated.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from traitbench.fitting.auroc import auroc, group_weights, independent, out_of_fold_interval
from traitbench.fitting.axis import pole_weights
from traitbench.fitting.candidates import Candidate
from traitbench.fitting.curve import Point, no_prospects, prospects
from traitbench.fitting.resampling import MOST_PER_POLE, PairCounts, Resampler, divided, part
from traitbench.fitting.search import EFFORTS, Recipe, SearchResult, TrainingSamples
from traitbench.scoring.card import half_up, tier
from traitbench.scoring.inputs import Floats
from traitbench.scoring.snapshot import TierBreaks

_BINS = 10
_FOLDS = 10
_FEW = 64
_MANY = MOST_PER_POLE
_REPEATS = 3
# Many divisions of few samples, few of many: about as many held-out values in all.
_COMPARED, _FEWEST_REPEATS, _MOST_REPEATS = 1_000, 3, 20
NotMeasured = Literal["too_few", "only_synthesized", "unlabelled"]

_NAMES = ("auroc", "auroc_interval", "brier", "calibration_error", "cross_entropy")
_TIERS = ("Weak", "Developing", "Solid", "Strong")


def figures(
    samples: TrainingSamples,
    result: SearchResult,
    *,
    breaks: TierBreaks | None = None,
    refit: Callable[[int], SearchResult] | None = None,
) -> dict[str, Any]:
    """The figures and what they were measured on; all null, with the reason, if nothing could be held out.

    `breaks` are the scores at which the trait's tiers begin. `refit` searches with another division into folds: with
    few samples, figures other than AUROC are means over several divisions.
    """
    metrics = judged(samples, result, refit=refit)
    if result.held_out is None or metrics["auroc"] is None:
        return metrics
    y = samples.y[samples.is_evaluated]
    groups = len(np.unique(samples.groups[samples.is_evaluated])) if samples.is_grouped else 0
    now = Point(len(y), metrics["auroc"], (metrics["auroc_interval"][0], metrics["auroc_interval"][1]), groups)
    counts_by_pole = independent_of(samples, result.held_out)
    tiers = None if breaks is None else confusion(result.held_out, y, breaks)
    counts = score_counts(result.held_out, y)
    outlook = no_prospects() if result.recipe is None else prospects(samples, result.recipe, now, counts_by_pole)
    return {**metrics, "confusion": tiers, "score_counts": counts, **outlook}


def judged(
    samples: TrainingSamples, result: SearchResult, *, refit: Callable[[int], SearchResult] | None = None
) -> dict[str, Any]:
    """The metrics of `figures`, without the counts of scores, the confusion table and the forecast."""
    if result.held_out is None or samples.synthesized[samples.is_evaluated].any():
        return unmeasured(*_why_not(samples))
    y, groups = samples.y[samples.is_evaluated], samples.groups[samples.is_evaluated]
    texts = None if samples.texts is None else samples.texts[samples.is_evaluated]
    metrics, repeats = _mean([measured(logits, y, groups, texts) for logits in _repeated(result, len(y), refit)]), 0
    # Compared over all folds at once, small sets looked 0.02 to 0.06 worse than they are, and the intervals held the
    # truth only 80 to 89 times in 100. The price is many refits.
    if result.recipe is not None and samples.smaller_pole < _MANY:
        few = part(samples)
        counts = independent_of(samples, result.held_out) if samples.is_grouped else None
        compared, repeats = _compared(few, result.recipe, counts or groups_by_pole(few))
        metrics |= compared
    measured_on = _measured_on(samples, result, repeats)
    return {**metrics, "measured_on": measured_on, "folds": result.folds, "repeats": repeats or None}


def independent_of(samples: TrainingSamples, logits: Floats) -> tuple[float, float]:
    """How many independent samples each pole has, by the held-out logits of the evaluated ones."""
    own = samples.is_evaluated
    texts = None if samples.texts is None else samples.texts[own]
    return independent(logits, samples.y[own], samples.groups[own], texts)


def groups_by_pole(samples: TrainingSamples) -> tuple[float, float]:
    """The number of evaluated groups at the positive and at the negative pole."""
    own = [samples.is_evaluated & pole for pole in (samples.y > 0.5, samples.y < 0.5)]
    positive, negative = (len(np.unique(samples.groups[pole])) for pole in own)
    return float(positive), float(negative)


def measured(
    logits: Floats, y: Floats, groups: NDArray[np.int64] | None = None, texts: NDArray[np.int64] | None = None
) -> dict[str, Any]:
    """The figures of out-of-fold logits (n,) for qualities (n,) of both poles; samples of one group count once.

    `texts` (n,) are equal for texts that count once, by default the groups.
    """
    groups = np.arange(len(y)) if groups is None else groups
    sample_weight = group_weights(y, groups)
    scores, weights = expit(logits), pole_weights(y, sample_weight)
    return {
        **_area(auroc(logits, y, sample_weight), independent(logits, y, groups, texts)),
        "brier": float(weights @ np.square(scores - y)),
        "calibration_error": _calibration_error(scores, y, weights),
        "cross_entropy": float(weights @ (np.logaddexp(0, logits) - y * logits)),
    }


def unmeasured(reason: NotMeasured, sentence: str) -> dict[str, Any]:
    """Null for every figure, with the reason as a value for programs and as a sentence for people."""
    reasons = {"not_measured": reason, "measured_on": f"not measured: {sentence}"}
    return {**dict.fromkeys((*_NAMES, "folds", "repeats", "confusion", "score_counts")), **reasons, **no_prospects()}


def score_counts(logits: Floats, y: Floats) -> dict[str, list[int]]:
    """By pole of the samples: how many of their scores are 0, 1, ..., 100, (101,) each."""
    points = np.array([half_up(100 * score) for score in expit(logits).tolist()], np.int64)
    return {side: np.bincount(points[pole], minlength=101).tolist() for side, pole in _poles(y).items()}


def confusion(logits: Floats, y: Floats, breaks: TierBreaks) -> dict[str, dict[str, int]]:
    """The number of samples of each pole in each tier."""
    counts = {name: dict.fromkeys(_TIERS, 0) for name in _poles(y)}
    for side, by_score in score_counts(logits, y).items():
        for points, samples in enumerate(by_score):
            counts[side][tier(points, breaks)] += samples
    return counts


def _poles(y: Floats) -> dict[str, NDArray[np.bool_]]:
    return {"positive": y > 0.5, "negative": y < 0.5}


def divisions(samples: TrainingSamples) -> list[NDArray[np.int64]]:
    """The divisions into folds (n,) over which AUROC is measured if a pole has few samples."""
    repeats = max(_FEWEST_REPEATS, min(_MOST_REPEATS, _COMPARED // len(samples.y)))
    return divided(samples, min(_FOLDS, samples.smaller_pole), range(repeats))


def _repeated(result: SearchResult, n: int, refit: Callable[[int], SearchResult] | None) -> list[Floats]:
    """Held-out logits of one division into folds or, if there are few samples, of several: one says little then, and
    more are cheap.
    """
    more = range(1, _REPEATS) if refit is not None and result.folds is not None and n < _FEW else range(0)
    repeats = [result, *(refit(repeat) for repeat in more if refit is not None)]
    return [repeat.held_out for repeat in repeats if repeat.held_out is not None]


def _mean(repeats: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: np.mean([repeat[name] for repeat in repeats], axis=0).tolist() for name in _NAMES}


def _compared(samples: TrainingSamples, recipe: Recipe, counts: tuple[float, float]) -> tuple[dict[str, Any], int]:
    """AUROC from all comparisons within folds, with and without the label axis, and the number of divisions; `counts`
    are of independent samples at each pole.
    """
    resampler, folds = Resampler(samples, recipe), divisions(samples)

    def area(fits: Resampler) -> float:
        values = zip(folds, fits.out_of_folds(folds), strict=True)
        return sum((resampler.within_fold_pairs(*each) for each in values), PairCounts()).auroc

    without = None if recipe.label_axis is None else area(resampler.without_labels())
    return {**_area(area(resampler), counts), "auroc_without_labels": without}, len(folds)


def _area(area: float, counts: tuple[float, float]) -> dict[str, Any]:
    return {"auroc": area, "auroc_interval": list(out_of_fold_interval(area, *counts))}


def _calibration_error(scores: Floats, y: Floats, weights: Floats) -> float:
    bins = np.minimum((scores * _BINS).astype(int), _BINS - 1)
    return float(np.abs(np.bincount(bins, weights=weights * (scores - y), minlength=_BINS)).sum())


def _measured_on(samples: TrainingSamples, result: SearchResult, repeats: int) -> str:
    how = "leave-one-out" if result.folds is None else f"out-of-fold, {result.folds} folds"
    evaluated = samples.is_evaluated
    n, texts = (
        int(evaluated.sum()),
        len(np.unique((samples.groups if samples.texts is None else samples.texts)[evaluated])),
    )
    near_duplicates = "" if texts == n else f", {n - texts} of them nearly the same as another"
    groups = (
        f", in {len(np.unique(samples.groups[evaluated])):,} groups that no fold divides" if samples.is_grouped else ""
    )
    repeated = f"; AUROC within folds, {repeats} repeats" if repeats else ""
    return f"{how}, {n} distinct samples{near_duplicates}{groups}{repeated}"


def _why_not(samples: TrainingSamples) -> tuple[NotMeasured, str]:
    real = ~samples.synthesized
    if not real.any() and len(real):
        return "only_synthesized", "only synthesized samples"
    positive, negative = (len(np.unique(samples.groups[real & pole])) for pole in (samples.y > 0.5, samples.y < 0.5))
    if samples.is_grouped:
        return (
            "too_few",
            f"all samples of the {_rarer(positive, negative)} pole belong to one group, but holding one out needs two",
        )
    if min(positive, negative) > 1:
        return "too_few", "too many texts are nearly the same as one of the other pole"
    side = _rarer(positive, negative)
    how_many = "no distinct text" if min(positive, negative) == 0 else "one distinct text"
    excluded = " (synthesized samples do not count)" if samples.synthesized.any() else ""
    return "too_few", f"{how_many} at the {side} pole{excluded}, but holding one out needs two"


def _rarer(positive: int, negative: int) -> str:
    return "positive" if positive <= negative else "negative"


_FIXED = "no search: settings of the previous version"
_NOTHING = "nothing to search: a pole has fewer than two texts"
_INTRINSIC = "nothing to search: discovery fixed the axis"
_MANY_SAMPLES = "there are so many samples that labels would add nothing"


def search_entry(result: SearchResult, *, blocks: Sequence[str], fixed: bool) -> dict[str, Any]:
    """The `search` entry of a trait's metrics: a summary, what was tried, what was chosen, and what it gained."""
    levels = [
        {
            "level": each.level,
            "tried": each.candidates,
            "cross_entropy": each.cross_entropy,
            "chosen": each.level == result.level,
        }
        for each in result.tried
    ]
    return {
        "says": _says(result, fixed),
        "tried": result.tried[-1].candidates if result.tried else 0,
        "levels": levels,
        "chosen": _chosen(result.shares, blocks),
        "gained": _gained(result),
    }


def labels_entry(result: SearchResult, *, asked: bool, intrinsic: bool, without: float | None = None) -> dict[str, Any]:
    """Whether the label axis was used, its share of the total slope, its gain in cross-entropy, the AUROC `without` it,
    and why.
    """
    why = _why(result, asked, intrinsic)
    if result.labels_unmeasured:
        return {"used": True, "share": None, "gain": None, "auroc_without": None, "why": why}
    share = _label_share(result)
    return {"used": share > 0, "share": share, "gain": result.label_gain, "auroc_without": without, "why": why}


def _says(result: SearchResult, fixed: bool) -> str:
    if result.level is not None:
        return EFFORTS[result.level].says
    if not result.shares:
        return _INTRINSIC if result.held_out is not None else _NOTHING
    return _FIXED if fixed else _NOTHING


def _gained(result: SearchResult) -> float:
    """The cross-entropy gained over the level below the chosen one; 0 for the lowest level."""
    best = None
    for each in result.tried:
        if each.level == result.level:
            return 0.0 if best is None else best - each.cross_entropy
        best = each.cross_entropy if best is None else min(best, each.cross_entropy)
    return 0.0


def _chosen(shares: Mapping[Candidate, float], blocks: Sequence[str]) -> dict[str, float]:
    """Weighted means of the chosen parameters."""
    if not shares:
        return {}
    weights = np.array(list(shares.values()))
    means = {
        "shrinkage, power of ten": float(weights @ [each.power for each in shares]),
        "slope of the labels": float(weights @ [each.labels for each in shares]),
    }
    if any(each.blocks for each in shares):
        for position, name in enumerate(blocks):
            logs = [np.log(each.blocks[position]) if each.blocks else 0.0 for each in shares]
            means[f"weight of {name}"] = float(np.exp(weights @ logs))
    return means


def _label_share(result: SearchResult) -> float:
    recipe = result.recipe
    return 0.0 if recipe is None or recipe.label_axis is None else recipe.label_share


def _why(result: SearchResult, asked: bool, intrinsic: bool) -> str:
    if intrinsic:
        return "a discovered axis does not use labels"
    if not asked:
        return "this training did not use labels"
    if result.labels_unmeasured:
        return "there are too few samples to measure what labels add, so the labels are used too"
    if result.recipe is None:
        return "there are too few samples to measure what labels add, so they are not used"
    if result.recipe.label_axis is None:
        return _MANY_SAMPLES
    if result.label_gain is None:
        return "as in the previous version"
    share = _label_share(result)
    if result.label_gain > 0:
        gain = f"at a share of {share:.0%}, cross-entropy is {result.label_gain:.3f} lower"
        return f"the labels improve held-out scores: {gain}"
    return f"the labels do not improve held-out scores, so their share is only {share:.0%}"
