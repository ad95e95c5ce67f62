"""Search: fit many candidate configurations of a trait and average them by held-out likelihood.

Every sample gets a value from a fit that has not seen it: by folds, or by leave-one-out in closed form where that is
fair. Each candidate is calibrated on those values, and the calibrated logits are averaged with weights from their
likelihood. Every step is linear, so the result is one vector and one offset. Nested cross-validation then repeats the
calibration without each fold. Figures and tier breaks come from these scores, so no sample is measured by a fit that
saw it.

An effort is a list of levels, each wider than the one before. A wider level is used only if its out-of-fold
cross-entropy is lower, so a higher effort never does worse than a lower one by that measure.

Synthesized samples count in a fit, but all those of a pole together at most as much as four real ones. They are used
for evaluation only where a pole has fewer than two real texts. A variation shares the fold of its seed.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from traitbench.fitting.axis import centroid_difference, pole_weights
from traitbench.fitting.candidate_fits import CandidateFits, TrainingSet, columns, fit_candidates, ignore
from traitbench.fitting.candidates import (
    LABEL_SLOPES,
    Candidate,
    CandidateSet,
    HeldOut,
    ModelAverage,
    average_candidates,
    cross_entropy,
    label_slope,
    nested_out_of_fold,
    pruned,
)
from traitbench.fitting.duplicates import joined, together
from traitbench.scoring.inputs import Floats

# The shrinkage that the prior of the candidates favours.
_CENTRE = 0.75
_WHOLE_PATH = tuple(np.arange(-1, 3.25, 0.5).tolist())
_WIDE_PATH = tuple(np.arange(-2, 4.25, 0.5).tolist())
_FOLDS = 10
_NESTED_FOLDS = 5
# Leave-one-out in closed form needs this many samples, and at each pole (core/docs/scoring.md, section 3).
_LEAVE_ONE_OUT_FROM = 64
_LEAVE_ONE_OUT_POLE = 16
_LABELS_UP_TO = 2_000
_BLOCKS_UP_TO = 600
# As many real samples as all made ones of a pole count for (core/docs/scoring.md, section 6).
_SYNTHESIZED_WEIGHT = 4.0
# A wider level that is equal but for rounding does not replace the narrower one.
_ROUNDING = 1e-9
# Of unit vectors at a cosine of 0.9. Nearer poles say little about where other texts lie: a slope that told two nearly
# equal texts apart would give all others 0 or 100.
_LEAST_GAP = 0.45
_UNSEARCHED = {"log10_shrinkage": _WHOLE_PATH[-1], "slope": 1.0, "offset": 0.0}


@dataclass(frozen=True)
class Level:
    """The candidates of one level: shrinkages as powers of ten, slopes of the label axis, and factors that scale one
    block of features at a time.
    """

    name: str
    shrinkages: tuple[float, ...]
    labels: tuple[float, ...]
    factors: tuple[float, ...] = ()
    factor_shrinkages: tuple[float, ...] = ()

    def candidates(self, *, blocks: int, labels: bool) -> list[Candidate]:
        """All candidates of the level; `labels` says whether there is a label axis."""
        slopes = self.labels if labels else (0.0,)
        scaled = [_scaled(block, factor, blocks) for block in range(blocks) for factor in self.factors]
        plain = product(self.shrinkages, slopes, [()])
        return [Candidate(*each) for each in (*plain, *product(self.factor_shrinkages, slopes, scaled))]


@dataclass(frozen=True)
class SearchEffort:
    """How many candidates to try: the levels in order, and a description for people."""

    levels: tuple[Level, ...]
    says: str


_LOW = Level("low", (_CENTRE,), (0.0, 1.0))
_MEDIUM = Level("medium", _WHOLE_PATH, LABEL_SLOPES)
_HIGH = Level("high", _WHOLE_PATH, LABEL_SLOPES, (0.5, 2.0), (-0.5, 0.5, 1.5))
_MAX = Level("max", _WIDE_PATH, LABEL_SLOPES, (0.25, 0.5, 0.7, 1.4, 2.0, 4.0), (-1.0, 0.0, 0.5, 1.0, 2.0))

# Each effort includes the levels below: with few samples, a wider search finds settings that look better only by
# chance. Beyond `high` there is hardly any gain. Repeating the folds gained less than 0.0006 AUROC, so no effort does.
EFFORTS: Mapping[str, SearchEffort] = {
    "low": SearchEffort((_LOW,), "2 settings: one shrinkage, with and without the label axis"),
    "medium": SearchEffort(
        (_LOW, _MEDIUM),
        "45 settings: nine shrinkages by five weights of the label axis, averaged by held-out likelihood",
    ),
    "high": SearchEffort(
        (_LOW, _MEDIUM, _HIGH), "as medium, and with each block of features at half and at twice its weight"
    ),
    "max": SearchEffort(
        (_LOW, _MEDIUM, _HIGH, _MAX), "as high, but with thirteen shrinkages and six weights for each block"
    ),
}


@dataclass(frozen=True, eq=False)
class TrainingSamples:
    """The samples that a trait is trained from: distinct vectors (n, d) in a reproducible order, with quality and group
    of each.

    Samples with the same vector are one sample, with the mean of their qualities. Samples of one group, and samples
    that share a text, are never on both sides of a fold. `texts` are equal for texts that count once, the groups if no
    sample belongs to anything else. `sample_weight` counts in a fit, by default 1 for a real sample.
    `is_evaluated` says whether the sample is used for evaluation.
    """

    X: NDArray[np.float32]
    y: Floats
    groups: NDArray[np.int64]
    synthesized: NDArray[np.bool_]
    sample_weight: Floats
    is_evaluated: NDArray[np.bool_]
    texts: NDArray[np.int64] | None = None

    @cached_property
    def is_grouped(self) -> bool:
        """Whether several texts belong together."""
        return self.texts is not None and len(np.unique(self.texts)) > len(np.unique(self.groups))

    @cached_property
    def strata(self) -> list[NDArray[np.int64]]:
        """The evaluated groups of both poles, of the positive and of the negative one."""
        positive, negative = (np.unique(self.groups[self.is_evaluated & pole]) for pole in (self.y > 0.5, self.y < 0.5))
        return [np.intersect1d(positive, negative), np.setdiff1d(positive, negative), np.setdiff1d(negative, positive)]

    @cached_property
    def smaller_pole(self) -> int:
        """The number of evaluated groups at the pole that has fewer.

        A group with samples of both poles counts for neither: held out, it could leave a fit without a pole. Where
        samples belong together, such groups are spread over the folds and count for both.
        """
        positive, negative = (np.unique(self.groups[self.is_evaluated & pole]) for pole in (self.y > 0.5, self.y < 0.5))
        if self.is_grouped:
            return min(len(positive), len(negative))
        both = len(np.intersect1d(positive, negative, assume_unique=True))
        one_sided = min(len(positive), len(negative)) - both
        return one_sided if one_sided > 1 else min(1, len(positive), len(negative))


@dataclass(frozen=True, eq=False)
class Recipe:
    """The means of the parameters that a search chose: enough to refit on a subset of the samples.

    The mean shrinkage as a power of ten, the share (0..1) of the label axis in the total slope, the label axis (d,),
    and the mean factors (d,) of the columns. The last two are None if the search did not use them.
    """

    power: float
    label_share: float
    label_axis: Floats | None
    weights: Floats | None


@dataclass(frozen=True)
class Tried:
    """One level of the search: its number of candidates, and the cross-entropy of its out-of-fold scores."""

    level: str
    candidates: int
    cross_entropy: float


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The fitted trait: a text x scores `sigmoid(x @ vector + offset)`.

    `held_out` are logits of the evaluated samples, from fits and calibrations that did not see the sample. It is None
    if a pole has fewer than two texts. `folds` is None for leave-one-out. `shares` are the weights of the candidates in
    the average, empty if there was nothing to choose. `tried` are the levels searched, and `level` is the one that was
    used. `label_gain` is how much the label axis lowered the held-out cross-entropy, None if that was not measured.
    `labels_unmeasured` is true if labels were used although their share could not be measured.
    """

    vector: Floats
    offset: float
    held_out: Floats | None
    folds: int | None
    parameters: Mapping[str, float]
    shares: Mapping[Candidate, float]
    recipe: Recipe | None = None
    tried: tuple[Tried, ...] = ()
    level: str | None = None
    label_gain: float | None = None
    labels_unmeasured: bool = False


def evidence(
    X: NDArray[np.float32],
    y: Floats,
    groups: Sequence[object],
    synthesized: NDArray[np.bool_] | None = None,
    names: Sequence[str | None] | None = None,
    sample_weight: Floats | None = None,
) -> TrainingSamples:
    """Merge samples with equal vectors and sort them by content; drop texts without a token.

    `names` (n,) are of what samples belong to. Where a real and a synthesized sample share a vector, only the real one
    counts. Equal vectors count once: their quality is the mean by `sample_weight` (n,), their weight the plain mean.
    """
    non_empty = np.flatnonzero(X.any(axis=1))
    synthetic = np.zeros(len(non_empty), bool) if synthesized is None else synthesized[non_empty]
    # Little-endian bytes, so that the order is the same on every machine.
    digests = np.array([hashlib.sha256(row).digest() for row in np.ascontiguousarray(X[non_empty], "<f4")], "S32")
    distinct, first, row_of = np.unique(digests, return_index=True, return_inverse=True)
    _, group_of = np.unique(np.array([str(groups[int(i)]) for i in non_empty]), return_inverse=True)
    texts = joined(row_of, group_of)
    joined_groups = texts if names is None else together(texts, [names[int(i)] for i in non_empty])
    has_real = np.bincount(row_of, weights=~synthetic, minlength=len(distinct)) > 0
    counted = ~(synthetic & has_real[row_of])
    weights = counted * (1.0 if sample_weight is None else sample_weight[non_empty])
    # A sum rounds by its order, so the qualities of equal vectors are added from low to high.
    order = np.lexsort((weights, y[non_empty], row_of))
    totals, heavy = (
        np.bincount(row_of[order], weights=each[order], minlength=len(distinct))
        for each in (y[non_empty] * weights, weights)
    )
    counts = np.bincount(row_of, weights=counted, minlength=len(distinct))
    return _with_weights(
        X[non_empty][first], totals / heavy, joined_groups[first], ~has_real, texts[first], heavy / counts
    )


def search(
    samples: TrainingSamples,
    effort: SearchEffort,
    *,
    label_axis: NDArray[np.floating] | None = None,
    shares: Mapping[Candidate, float] | None = None,
    blocks: Sequence[slice] = (),
    repeat: int = 0,
    on_fit: Callable[[int, int], None] = ignore,
) -> SearchResult:
    """Fit the trait and return the averaged axis; with `shares` of an earlier search, reuse its choice.

    `label_axis` (d,) is an axis made without any sample. `blocks` are the columns that a search may scale separately.
    Each `repeat` assigns the samples to other folds. `on_fit(done, total)` counts the fits of directions.
    """
    axis = None if label_axis is None else label_axis.astype(np.float64)
    if samples.smaller_pole == 0:
        return _nothing(samples.X.shape[1])
    if samples.smaller_pole == 1:
        return _one_sample(samples, axis)
    leave_one_out = _leave_one_out_is_fair(samples)
    folds = _folds(samples, _NESTED_FOLDS if leave_one_out else _FOLDS, repeat)
    training_set = TrainingSet(samples.X, samples.y, samples.sample_weight, samples.is_evaluated, folds, leave_one_out)
    if chosen := _applicable(shares or {}, labels=axis is not None, blocks=len(blocks)):
        return _as_chosen(training_set, chosen, blocks, axis, on_fit)
    count = len(samples.y)
    return _searched(
        training_set, effort, blocks if blocks_searched(count) else (), axis if uses_labels(count) else None, on_fit
    )


def uses_labels(samples: int) -> bool:
    """Whether the label axis could still improve a trait with this many samples."""
    return samples <= _LABELS_UP_TO


def blocks_searched(samples: int) -> bool:
    """Whether to try scaling the blocks; with more samples the fit itself finds which features matter."""
    return samples <= _BLOCKS_UP_TO


def chosen_before(figures: object) -> dict[Candidate, float]:
    """The candidate weights in a trait's metrics, for use as `shares` of `search`; empty if there are none.

    Metrics may come from another installation: weights that no search could have produced are ignored.
    """
    metrics = figures if isinstance(figures, Mapping) else {}
    shares = metrics.get("shares")
    # Older metrics have only the mean shrinkage. At the end of the path, nothing was searched.
    if shares is None and isinstance(parameters := metrics.get("parameters"), Mapping):
        power = parameters.get("log10_shrinkage")
        shares = {} if power == _WHOLE_PATH[-1] else {power: 1.0}
    try:
        parsed = {Candidate.read(name): float(share) for name, share in (shares or {}).items()}
    except (TypeError, ValueError, AttributeError):
        return {}
    is_valid = all(share >= 0 for share in parsed.values()) and abs(sum(parsed.values()) - 1) < 1e-6
    return parsed if is_valid else {}


def _scaled(block: int, factor: float, blocks: int) -> tuple[float, ...]:
    return tuple(factor if index == block else 1.0 for index in range(blocks))


def _applicable(shares: Mapping[Candidate, float], *, labels: bool, blocks: int) -> dict[Candidate, float]:
    """The candidates of an earlier search that can be fitted here.

    If there is no label axis now, they are used without it.
    """
    result: dict[Candidate, float] = {}
    for candidate, share in shares.items():
        if len(candidate.blocks) in (0, blocks):
            candidate_here = candidate if labels else candidate.direction
            result[candidate_here] = result.get(candidate_here, 0.0) + share
    total = sum(result.values())
    if result == shares or total <= 0:
        return result if total > 0 else {}
    return {candidate: share / total for candidate, share in result.items()}


def _as_chosen(
    training_set: TrainingSet,
    chosen: Mapping[Candidate, float],
    blocks: Sequence[slice],
    axis: Floats | None,
    on_fit: Callable[[int, int], None],
) -> SearchResult:
    fits = _fit_candidates(training_set, list(chosen), blocks, axis, on_fit)
    candidates = CandidateSet(list(chosen))
    held_out = fits.held_out.for_candidates(candidates)
    average = average_candidates(held_out, candidates, fixed=np.array(list(chosen.values())))
    logits = nested_out_of_fold(held_out, average)
    return _result(training_set, fits, average, logits, blocks)


def _searched(
    training_set: TrainingSet,
    effort: SearchEffort,
    blocks: Sequence[slice],
    axis: Floats | None,
    on_fit: Callable[[int, int], None],
) -> SearchResult:
    levels = {each.name: each.candidates(blocks=len(blocks), labels=axis is not None) for each in effort.levels}
    tried_candidates = [candidate for level in levels.values() for candidate in level]
    fits = _fit_candidates(training_set, tried_candidates, blocks, axis, on_fit)
    tried, best = [], None
    for name, candidates in levels.items():
        answer = _answer(fits.held_out, name, candidates)
        tried.append(Tried(name, len(candidates), answer.cross_entropy))
        best = answer if best is None or answer.cross_entropy < best.cross_entropy - _ROUNDING else best
    assert best is not None
    gain = _label_gain(fits.held_out, CandidateSet(levels[best.level])) if axis is not None else None
    result = _result(training_set, fits, best.average, best.held_out, blocks)
    return replace(result, tried=tuple(tried), level=best.level, label_gain=gain)


@dataclass(frozen=True, eq=False)
class _Answer:
    level: str
    average: ModelAverage
    held_out: Floats
    cross_entropy: float


def _answer(held_out: HeldOut, level: str, candidates: Sequence[Candidate]) -> _Answer:
    candidate_set = CandidateSet(candidates)
    average = pruned(average_candidates(held_out.for_candidates(candidate_set), candidate_set))
    held_out = held_out.for_candidates(average.candidates)
    logits = nested_out_of_fold(held_out, average)
    return _Answer(level, average, logits, cross_entropy(held_out, logits))


def _label_gain(held_out: HeldOut, candidates: CandidateSet) -> float:
    """How much the label axis lowers the cross-entropy of held-out values."""

    def loss(some: CandidateSet, labels: Floats | None) -> float:
        values = replace(held_out.for_candidates(some), labels=labels)
        return cross_entropy(held_out, average_candidates(values, some).logits(values))

    without_labels = candidates.subset(np.flatnonzero(candidates.labels == 0))
    return loss(without_labels, None) - loss(candidates, held_out.labels)


def _fit_candidates(
    training_set: TrainingSet,
    candidates: Sequence[Candidate],
    blocks: Sequence[slice],
    axis: Floats | None,
    on_fit: Callable[[int, int], None],
) -> CandidateFits:
    directions = list(dict.fromkeys(candidate.direction for candidate in candidates))
    return fit_candidates(training_set, directions, blocks=blocks, label_axis=axis, on_fit=on_fit)


def _result(
    training_set: TrainingSet, fits: CandidateFits, average: ModelAverage, held_out: Floats, blocks: Sequence[slice]
) -> SearchResult:
    vector, offset = fits.averaged(average)
    weights, calibration = average.weights, average.calibration
    with_labels = fits.label_axis is not None
    return SearchResult(
        vector=vector,
        offset=offset,
        held_out=held_out,
        folds=None if training_set.leave_one_out else int(fits.held_out.folds.max()) + 1,
        parameters={
            "log10_shrinkage": float(weights @ average.candidates.powers),
            "slope": float(np.exp(weights @ calibration.log_slopes)),
            "offset": float(weights @ calibration.offsets),
            **({"label_slope": average.label_slope} if with_labels else {}),
        },
        shares=dict(zip(average.candidates.candidates, weights.tolist(), strict=True)),
        recipe=_recipe(fits, average, blocks),
    )


def _recipe(fits: CandidateFits, average: ModelAverage, blocks: Sequence[slice]) -> Recipe:
    power = float(average.weights @ average.candidates.powers)
    d = fits.vectors.shape[1]
    scales = [columns(candidate.blocks, blocks, d) for candidate in average.candidates.candidates]
    weights = None
    if any(scale is not None for scale in scales):
        logs = [np.zeros(d) if scale is None else np.log(scale) for scale in scales]
        weights = np.exp(average.weights @ np.array(logs))
    return Recipe(power, average.label_share, fits.label_axis, weights)


def _with_weights(
    X: NDArray[np.float32],
    y: Floats,
    groups: NDArray[np.int64],
    synthesized: NDArray[np.bool_],
    texts: NDArray[np.int64],
    weights: Floats,
) -> TrainingSamples:
    """The samples with their weights in a fit, and whether each is used for evaluation."""
    is_evaluated = ~synthesized
    for pole in (y > 0.5, y < 0.5, y == 0.5):
        made = pole & synthesized
        weights[made] *= min(1.0, _SYNTHESIZED_WEIGHT / max(1, made.sum()))
        if _group_count(groups, pole & ~synthesized) < 2:
            is_evaluated = is_evaluated | made
    return TrainingSamples(X, y, groups, synthesized, weights, is_evaluated, texts)


def _folds(samples: TrainingSamples, most: int, repeat: int) -> NDArray[np.int64]:
    """(n,): the fold of each sample; a group shares a fold, and each pole is spread over all folds.

    -1 for a sample that is not evaluated and whose group has no evaluated sample: it is never held out.
    """
    # The samples are in the order of their hashes, so repeat 0 needs no shuffle.
    return divided(samples, min(most, samples.smaller_pole), [np.random.default_rng(repeat) if repeat else None])[0]


def divided(
    samples: TrainingSamples, count: int, shuffles: Iterable[np.random.Generator | None]
) -> list[NDArray[np.int64]]:
    """(n,) for each shuffle: the fold of each sample, see `_folds`."""
    groups, group_of = np.unique(samples.groups, return_inverse=True)
    divisions = []
    for shuffle in shuffles:
        folds = np.full(len(groups), -1)
        for members, start in _sides(samples, groups, group_of):
            shuffled = members if shuffle is None else shuffle.permutation(members)
            folds[shuffled] = (start + np.arange(len(members))) % count
        divisions.append(folds[group_of])
    return divisions


def _sides(
    samples: TrainingSamples, groups: NDArray[np.int64], group_of: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], int]]:
    """Positions of evaluated groups that are spread over the folds together, and the fold to begin with."""
    lean = np.sign(np.bincount(group_of, weights=(samples.y - 0.5) * samples.is_evaluated))
    rest = np.bincount(group_of, weights=samples.is_evaluated) > 0
    if samples.is_grouped:
        both, positive, negative = (np.searchsorted(groups, each) for each in samples.strata)
        rest[np.concatenate([both, positive, negative])] = False
        yield both, 0
        # Where groups of both poles end, those of one go on: then every fit has each pole, whatever is left out.
        yield positive, len(both)
        yield negative, len(both)
    for side in (-1, 0, 1):
        yield np.flatnonzero((lean == side) & rest), 0


def _leave_one_out_is_fair(samples: TrainingSamples) -> bool:
    """Whether leaving one out changes little: each pole has many samples, all weigh the same, and groups have one."""
    n = len(samples.y)
    equal = not samples.synthesized.any() and len(np.unique(samples.sample_weight)) <= 1
    independent = equal and len(np.unique(samples.groups)) == n
    return n >= _LEAVE_ONE_OUT_FROM and samples.smaller_pole >= _LEAVE_ONE_OUT_POLE and independent


def _group_count(groups: NDArray[np.int64], among: NDArray[np.bool_]) -> int:
    return len(np.unique(groups[among]))


def _one_sample(samples: TrainingSamples, axis: Floats | None) -> SearchResult:
    """The result if a pole has a single text: nothing can be held out, so the centroid difference, slope one at most.

    The label axis has not seen the samples, so even one sample per pole can decide how much the axis counts.
    """
    difference = centroid_difference(samples.X, samples.y, samples.sample_weight)
    slope = min(1.0, _gap(samples) / _LEAST_GAP)
    vector, offset = slope * difference.directions[0], slope * float(difference.offsets[0])
    if axis is None or not samples.is_evaluated.any():
        return SearchResult(vector, offset, None, None, _UNSEARCHED, {})
    evaluated = samples.is_evaluated
    gain, middle = label_slope(
        samples.y[evaluated],
        pole_weights(samples.y[evaluated], samples.sample_weight[evaluated]),
        samples.X[evaluated] @ axis,
    )
    vector, offset = vector + gain * axis, offset - gain * middle
    return SearchResult(vector, offset, None, None, _UNSEARCHED, {}, labels_unmeasured=True)


def _gap(samples: TrainingSamples) -> float:
    """The distance between the mean vectors of the poles."""
    positive, negative = (
        samples.X[pole].astype(np.float64).mean(axis=0) for pole in (samples.y > 0.5, samples.y < 0.5)
    )
    return float(np.linalg.norm(positive - negative))


def _nothing(d: int) -> SearchResult:
    """The result without two poles: every text scores 50."""
    return SearchResult(np.zeros(d), 0.0, None, None, _UNSEARCHED, {})
