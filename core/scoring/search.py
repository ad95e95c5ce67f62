"""Which point of the path: not one, but all of them, each weighing as much as held-out evidence gives it.

Every sample gets a value from a fit that has not seen it (folds, or leave-one-out in closed form where that is fair),
every candidate its own calibration on those values, and the calibrated logits are averaged by likelihood. All of it is
linear, so what comes out is one vector and one number. A second round of calibrations, each blind to a part of the
samples, gives the scores that figures and breaks are taken from: none has been fitted on what it is measured on.

An effort is a row of levels, each searching more than the one before. Its answer is taken only when its blind scores
have the lower cross-entropy: who searches more never has less.

Synthesised samples teach, all of a pole together as much as four real ones at most, and nothing is judged by them
unless a pole has fewer than two real texts. A variation of a real text stands in the fold of that text.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from traitbench.scoring.axis import Floats, centroid_difference, pole_weights
from traitbench.scoring.candidates import (
    LABEL_SLOPES,
    Candidate,
    Slate,
    Told,
    Weighed,
    blind,
    cross_entropy,
    label_slope,
    pruned,
    weigh,
)
from traitbench.scoring.duplicates import joined
from traitbench.scoring.ground import Ground, Lesson, columns, survey

_CENTRE = 0.75
_WHOLE_PATH = tuple(np.arange(-1, 3.25, 0.5).tolist())
_WIDE_PATH = tuple(np.arange(-2, 4.25, 0.5).tolist())
_FOLDS = 10
_BLIND_FOLDS = 5
_LEAVE_ONE_OUT_FROM = 64
_LEAVE_ONE_OUT_POLE = 16
_LABELS_UP_TO = 2_000
_BLOCKS_UP_TO = 600
_SYNTHESISED_MASS = 4.0
_ROUNDING = 1e-9
_UNSEARCHED = {"log10_shrinkage": _WHOLE_PATH[-1], "slope": 1.0, "offset": 0.0}


@dataclass(frozen=True)
class Level:
    """What is tried: shrinkages as powers of ten, slopes of the labels' axis, and one block at a time at a factor."""

    name: str
    shrinkages: tuple[float, ...]
    labels: tuple[float, ...]
    factors: tuple[float, ...] = ()
    factor_shrinkages: tuple[float, ...] = ()

    def candidates(self, *, blocks: int, labels: bool) -> list[Candidate]:
        """All of them; `labels` says whether the labels have an axis."""
        slopes = self.labels if labels else (0.0,)
        scaled = [_scaled(block, factor, blocks) for block in range(blocks) for factor in self.factors]
        plain = product(self.shrinkages, slopes, [()])
        return [Candidate(*each) for each in (*plain, *product(self.factor_shrinkages, slopes, scaled))]


@dataclass(frozen=True)
class Effort:
    """How wide to search."""

    levels: tuple[Level, ...]
    says: str


_LOW = Level("low", (_CENTRE,), (0.0, 1.0))
_MEDIUM = Level("medium", _WHOLE_PATH, LABEL_SLOPES)
_HIGH = Level("high", _WHOLE_PATH, LABEL_SLOPES, (0.5, 2.0), (-0.5, 0.5, 1.5))
_MAX = Level("max", _WIDE_PATH, LABEL_SLOPES, (0.25, 0.5, 0.7, 1.4, 2.0, 4.0), (-1.0, 0.0, 0.5, 1.0, 2.0))

EFFORTS: Mapping[str, Effort] = {
    "low": Effort((_LOW,), "one direction, with and without what the labels say"),
    "medium": Effort((_LOW, _MEDIUM), "nine directions by five weights of the labels, averaged by held-out likelihood"),
    "high": Effort((_LOW, _MEDIUM, _HIGH), "as medium, and each block of features at half and at twice its weight"),
    "max": Effort((_LOW, _MEDIUM, _HIGH, _MAX), "as high, with thirteen directions and six weights of each block"),
}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a trait can be learnt from: distinct vectors (n, d) in an order of their own, quality and kin of each.

    Samples with one vector are one, with the mean of their qualities. Kin, those of one group and those that share a
    text, never stand on both sides of a fold. `mass` is how much a sample teaches, 1 for a real one; `judged` says
    whether it is one that the trait is judged by.
    """

    X: NDArray[np.float32]
    y: Floats
    kin: NDArray[np.int64]
    synthesized: NDArray[np.bool_]
    mass: Floats
    judged: NDArray[np.bool_]

    @cached_property
    def smaller_pole(self) -> int:
        """Kinships at the pole that has fewer, among what it is judged by."""
        return min(_kinships(self.kin, self.judged & (self.y > 0.5)), _kinships(self.kin, self.judged & (self.y < 0.5)))


@dataclass(frozen=True, eq=False)
class Recipe:
    """What a search chose, in few numbers: enough to learn again from a part of the samples.

    The mean power of ten of the shrinkage, the labels' part (0..1) of the whole slope, their axis (d,) and the mean
    factors (d,) of the columns, None where there are none.
    """

    power: float
    label_share: float
    label_axis: Floats | None
    weights: Floats | None


@dataclass(frozen=True)
class Tried:
    """A level of the search: how many candidates it had, and the cross-entropy of its blind scores."""

    level: str
    candidates: int
    cross_entropy: float


@dataclass(frozen=True, eq=False)
class Found:
    """The trait in numbers: `sigmoid(x @ vector + offset)`.

    `held_out` are logits of fits and calibrations that did not see the sample, for the samples it is judged by, None
    where a pole has one text or none; `folds` is None for leave-one-out. `shares` are what the search chose: how much
    each candidate counts in the average; empty where there was nothing to choose. `tried` are the levels searched, and
    `level` the one whose answer was taken. `label_gain` is the cross-entropy won by listening to the labels, None
    where nobody could tell.
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


def evidence(
    X: NDArray[np.float32], y: Floats, groups: Sequence[object], synthesized: NDArray[np.bool_] | None = None
) -> Evidence:
    """Distinct samples in an order that depends on nothing but themselves; texts without a token tell nothing.

    Where a real and a synthesised sample share a vector, the real one speaks.
    """
    told = np.flatnonzero(X.any(axis=1))
    made = np.zeros(len(told), bool) if synthesized is None else synthesized[told]
    marks = np.array([hashlib.sha256(row).digest() for row in np.ascontiguousarray(X[told], "<f4")], "S32")
    distinct, first, which = np.unique(marks, return_index=True, return_inverse=True)
    _, one = np.unique(np.array([str(groups[int(i)]) for i in told]), return_inverse=True)
    kin = joined(which, one)[first]
    real = np.bincount(which, weights=~made, minlength=len(distinct)) > 0
    speaks = ~(made & real[which])
    order = np.lexsort((y[told], which))
    totals = np.bincount(which[order], weights=(y[told] * speaks)[order], minlength=len(distinct))
    counts = np.bincount(which, weights=speaks, minlength=len(distinct))
    return _weighed(X[told][first], totals / np.maximum(counts, 1), kin, ~real)


def search(
    samples: Evidence,
    effort: Effort,
    *,
    label_axis: NDArray[np.floating] | None = None,
    shares: Mapping[Candidate, float] | None = None,
    blocks: Sequence[slice] = (),
    turn: int = 0,
) -> Found:
    """The averaged axis; with `shares` of an earlier search, the average that it chose.

    `label_axis` (d,) is an axis that has seen no sample; `blocks` are columns that a search may weigh by themselves;
    another `turn` is another assignment to folds.
    """
    axis = None if label_axis is None else label_axis.astype(np.float64)
    if samples.smaller_pole == 0:
        return _nothing(samples.X.shape[1])
    if samples.smaller_pole == 1:
        return _one_sample(samples, axis)
    alone = _leave_one_out_is_fair(samples)
    folds = _folds(samples, _BLIND_FOLDS if alone else _FOLDS, turn)
    lesson = Lesson(samples.X, samples.y, samples.mass, samples.judged, folds, alone)
    if chosen := _possible(shares or {}, labels=axis is not None, blocks=len(blocks)):
        return _as_chosen(lesson, chosen, blocks, axis)
    many = len(samples.y)
    return _searched(lesson, effort, blocks if blocks_searched(many) else (), axis if labels_heard(many) else None)


def labels_heard(samples: int) -> bool:
    """Whether the labels could still add to what so many samples say."""
    return samples <= _LABELS_UP_TO


def blocks_searched(samples: int) -> bool:
    """Whether blocks are weighed by themselves; so many more samples tell by themselves what counts."""
    return samples <= _BLOCKS_UP_TO


def chosen_before(figures: object) -> dict[Candidate, float]:
    """The shares that a trait's metrics name, to be given to `search` again; empty when there is none to go by.

    Metrics may come from elsewhere: whatever is not a choice that a search can have made counts as none.
    """
    told = figures if isinstance(figures, Mapping) else {}
    shares = told.get("shares")
    if shares is None and isinstance(parameters := told.get("parameters"), Mapping):
        power = parameters.get("log10_shrinkage")
        shares = {} if power == _WHOLE_PATH[-1] else {power: 1.0}
    try:
        read = {Candidate.read(name): float(share) for name, share in (shares or {}).items()}
    except (TypeError, ValueError, AttributeError):
        return {}
    sound = all(share >= 0 for share in read.values()) and abs(sum(read.values()) - 1) < 1e-6
    return read if sound else {}


def _scaled(block: int, factor: float, blocks: int) -> tuple[float, ...]:
    return tuple(factor if place == block else 1.0 for place in range(blocks))


def _possible(shares: Mapping[Candidate, float], *, labels: bool, blocks: int) -> dict[Candidate, float]:
    """What of an earlier choice can be learnt here: without the labels' axis the same directions without it."""
    found: dict[Candidate, float] = {}
    for candidate, share in shares.items():
        if len(candidate.blocks) in (0, blocks):
            here = candidate if labels else candidate.direction
            found[here] = found.get(here, 0.0) + share
    total = sum(found.values())
    if found == shares or total <= 0:
        return found if total > 0 else {}
    return {candidate: share / total for candidate, share in found.items()}


def _as_chosen(
    lesson: Lesson, chosen: Mapping[Candidate, float], blocks: Sequence[slice], axis: Floats | None
) -> Found:
    ground = _survey(lesson, list(chosen), blocks, axis)
    slate = Slate(list(chosen))
    told = ground.told.of(slate)
    weighed = weigh(told, slate, fixed=np.array(list(chosen.values())))
    held_out = blind(told, weighed)
    return _found(lesson, ground, weighed, held_out, blocks)


def _searched(lesson: Lesson, effort: Effort, blocks: Sequence[slice], axis: Floats | None) -> Found:
    levels = {each.name: each.candidates(blocks=len(blocks), labels=axis is not None) for each in effort.levels}
    ground = _survey(lesson, [candidate for level in levels.values() for candidate in level], blocks, axis)
    tried, best = [], None
    for name, candidates in levels.items():
        answer = _answer(ground.told, name, candidates)
        tried.append(Tried(name, len(candidates), answer.cross_entropy))
        best = answer if best is None or answer.cross_entropy < best.cross_entropy - _ROUNDING else best
    assert best is not None
    gain = _label_gain(ground.told, Slate(levels[best.level])) if axis is not None else None
    found = _found(lesson, ground, best.weighed, best.held_out, blocks)
    return replace(found, tried=tuple(tried), level=best.level, label_gain=gain)


@dataclass(frozen=True, eq=False)
class _Answer:
    level: str
    weighed: Weighed
    held_out: Floats
    cross_entropy: float


def _answer(told: Told, level: str, candidates: Sequence[Candidate]) -> _Answer:
    slate = Slate(candidates)
    weighed = pruned(weigh(told.of(slate), slate))
    told = told.of(weighed.slate)
    held_out = blind(told, weighed)
    return _Answer(level, weighed, held_out, cross_entropy(told, held_out))


def _label_gain(told: Told, slate: Slate) -> float:
    """The cross-entropy won by listening to the labels, of held-out values with and without their axis."""
    deaf = slate.only(np.flatnonzero(slate.labels == 0))
    without, heard = ((told.of(each), weigh(told.of(each), each)) for each in (deaf, slate))
    return cross_entropy(told, without[1].logits(without[0])) - cross_entropy(told, heard[1].logits(heard[0]))


def _survey(lesson: Lesson, candidates: Sequence[Candidate], blocks: Sequence[slice], axis: Floats | None) -> Ground:
    directions = list(dict.fromkeys(candidate.direction for candidate in candidates))
    return survey(lesson, directions, blocks=blocks, label_axis=axis)


def _found(lesson: Lesson, ground: Ground, weighed: Weighed, held_out: Floats, blocks: Sequence[slice]) -> Found:
    vector, offset = ground.learnt(weighed)
    share, calibration = weighed.share, weighed.calibration
    heard = ground.label_axis is not None
    return Found(
        vector=vector,
        offset=offset,
        held_out=held_out,
        folds=None if lesson.alone else int(ground.told.folds.max()) + 1,
        parameters={
            "log10_shrinkage": float(share @ weighed.slate.powers),
            "slope": float(np.exp(share @ calibration.log_slopes)),
            "offset": float(share @ calibration.offsets),
            **({"label_slope": weighed.label_slope} if heard else {}),
        },
        shares=dict(zip(weighed.slate.candidates, share.tolist(), strict=True)),
        recipe=_recipe(ground, weighed, blocks),
    )


def _recipe(ground: Ground, weighed: Weighed, blocks: Sequence[slice]) -> Recipe:
    power = float(weighed.share @ weighed.slate.powers)
    d = ground.vectors.shape[1]
    scales = [columns(candidate.blocks, blocks, d) for candidate in weighed.slate.candidates]
    weights = None
    if any(scale is not None for scale in scales):
        logs = [np.zeros(d) if scale is None else np.log(scale) for scale in scales]
        weights = np.exp(weighed.share @ np.array(logs))
    return Recipe(power, weighed.label_share, ground.label_axis, weights)


def _weighed(X: NDArray[np.float32], y: Floats, kin: NDArray[np.int64], synthesized: NDArray[np.bool_]) -> Evidence:
    """The evidence with what each sample teaches, and whether the trait is judged by it."""
    mass, judged = np.ones(len(y)), ~synthesized
    for pole in (y > 0.5, y < 0.5, y == 0.5):
        made = pole & synthesized
        mass[made] = min(1.0, _SYNTHESISED_MASS / max(1, made.sum()))
        if _kinships(kin, pole & ~synthesized) < 2:
            judged = judged | made
    return Evidence(X, y, kin, synthesized, mass, judged)


def _folds(samples: Evidence, most: int, turn: int) -> NDArray[np.int64]:
    """(n,): the fold of each sample; kin share one, and each pole is spread over all.

    -1 for what the trait is not judged by and that has no kin among the rest: it is never left out.
    """
    kin, own = np.unique(samples.kin, return_inverse=True)
    lean = np.sign(np.bincount(own, weights=(samples.y - 0.5) * samples.judged))
    counts = np.bincount(own, weights=samples.judged) > 0
    count = min(most, samples.smaller_pole)
    folds = np.full(len(kin), -1)
    shuffle = np.random.default_rng(turn)
    for side in (-1, 0, 1):
        members = np.flatnonzero((lean == side) & counts)
        if turn:
            members = shuffle.permutation(members)
        folds[members] = np.arange(len(members)) % count
    chosen: NDArray[np.int64] = folds[own]
    return chosen


def _leave_one_out_is_fair(samples: Evidence) -> bool:
    """Enough samples at both poles that one less moves nothing, and nobody has kin."""
    n = len(samples.y)
    alone = not samples.synthesized.any() and len(np.unique(samples.kin)) == n
    return n >= _LEAVE_ONE_OUT_FROM and samples.smaller_pole >= _LEAVE_ONE_OUT_POLE and alone


def _kinships(kin: NDArray[np.int64], among: NDArray[np.bool_]) -> int:
    return len(np.unique(kin[among]))


def _one_sample(samples: Evidence, axis: Floats | None) -> Found:
    """A pole with a single text: nothing can be held out, so the centroid difference, its slope one, as it is.

    The labels' axis has seen none of the samples: they can judge that one, and so it may have its say beside.
    """
    found = centroid_difference(samples.X, samples.y, samples.mass)
    vector, offset = found.directions[0], float(found.offsets[0])
    if axis is None or not samples.judged.any():
        return Found(vector, offset, None, None, _UNSEARCHED, {})
    judged = samples.judged
    gain, middle = label_slope(
        samples.y[judged], pole_weights(samples.y[judged], samples.mass[judged]), samples.X[judged] @ axis
    )
    return Found(vector + gain * axis, offset - gain * middle, None, None, _UNSEARCHED, {})


def _nothing(d: int) -> Found:
    """No pole to tell from the other: every text stands in the middle."""
    return Found(np.zeros(d), 0.0, None, None, _UNSEARCHED, {})
