"""Axes that nobody defined: along which texts differ most, in a way that words explain and that repeats itself.

Candidates are the principal axes of the vectors, once the directions of the traits that are there have been taken out.
Each is judged by what has not made it. Stability: is it found again in either half of the texts? Discrimination: with
the axis found anew in four fifths of the texts, do words alone tell the outer third at one end from that at the other
in the last fifth? Explained variance: what share of the spread of one half lies along the axis found in the other?
An axis that words do not explain, or that the halves do not agree on, is not shown.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from threadpoolctl import threadpool_limits

from traitbench.scoring.axis import Floats, centroid_difference
from traitbench.scoring.evaluate import auroc
from traitbench.scoring.terms import kernel, telling

FEWEST_TEXTS = 20
MOST_TEXTS = 2_000
"""Of more texts, that many are looked at, chosen by their hash."""

_SPARE = 4
_FOLDS = 5
_RIDGE = 1.0
_SAME_AXIS = 0.7
_STABLE = 0.5
_WORTH_SHOWING = 0.6
_DEVIATIONS = 3.0
_NEAR_DUPLICATE = 0.98
_ANCHORS = 5
_TELLING_QUALITY = 0.1


@dataclass(frozen=True)
class Effort:
    """How many axes to consider, how many to show at most, and how often to split the texts in halves."""

    candidates: int
    shown: int
    splits: int


EFFORTS: Mapping[str, Effort] = {
    "low": Effort(4, 3, 1),
    "medium": Effort(8, 4, 3),
    "high": Effort(16, 5, 5),
    "xhigh": Effort(32, 6, 10),
    "max": Effort(64, 8, 20),
}


class InsufficientTexts(ValueError):
    """Too few different texts to find an axis in; those that are nearly the same count as one."""

    def __init__(self, distinct: int) -> None:
        super().__init__(f"Discovery needs {FEWEST_TEXTS} different texts; the model has {distinct}. Add samples.")
        self.distinct, self.needed = distinct, FEWEST_TEXTS


@dataclass(frozen=True, eq=False)
class DiscoveredTrait:
    """An axis, and what can be said of it.

    `axis` (d,) has length one; `x @ axis + offset` is the place of x, 0 in the middle of the texts. `discrimination` is
    an AUROC, 0.5 by chance. `anchor_positive` and `anchor_negative` are ids of the most typical texts.
    """

    name: str
    positive_label: str
    negative_label: str
    description: str
    axis: NDArray[np.float32]
    offset: float
    discrimination: float
    explained_variance: float
    stability: float
    anchor_positive: tuple[int, ...]
    anchor_negative: tuple[int, ...]


def discover(
    X: NDArray[np.float32],
    texts: Sequence[str],
    *,
    ids: Sequence[int],
    quality: NDArray[np.float64],
    known: NDArray[np.floating],
    effort: str,
    taken: Sequence[str] = (),
    words: bool = True,
) -> tuple[DiscoveredTrait, ...]:
    """The axes of vectors (n, d) and their texts, the most promising first; none when nothing is found.

    `quality` (n,) turns an axis so that better samples lie at its positive end, NaN for no quality; `known` (m, d) are
    directions already named, see `pole_difference`; names in `taken` are avoided; without `words` nothing is named
    after the words of the texts. Raises `InsufficientTexts`. The order of the texts changes nothing.
    """
    with threadpool_limits(limits=1):
        pool = _pool(X, texts, ids, quality)
        if (distinct := len(np.unique(pool.kin))) < FEWEST_TEXTS:
            raise InsufficientTexts(distinct)
        judged = _judged(pool, _directions(known, X.shape[1]), EFFORTS[effort])
    return tuple(_named(pool, judged, set(taken), words))


def pole_difference(X: NDArray[np.float32], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """(d,): the direction of a trait with labels, from its negative to its positive pole; zeros without two poles."""
    told = np.any(X != 0, axis=1)
    X, y = X[told], y[told].astype(np.float64)
    both = (y > 0.5).any() and (y < 0.5).any()
    return centroid_difference(X, y).directions[0] if both else np.zeros(X.shape[1])


@dataclass(frozen=True, eq=False)
class _Pool:
    """Different texts in an order of their own; kin (n,) is equal for those that are nearly the same."""

    X: Floats
    texts: tuple[str, ...]
    ids: NDArray[np.int64]
    quality: Floats
    kin: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Judged:
    """A candidate; `agrees` (n,) says whether words, held out, put the text on the side where the axis puts it."""

    axis: Floats
    scores: Floats
    stability: float
    discrimination: float
    explained_variance: float
    agrees: NDArray[np.bool_]

    @property
    def rank(self) -> float:
        """How much it promises."""
        return float((2 * self.discrimination - 1) * self.stability * np.sqrt(self.explained_variance))


def _pool(X: NDArray[np.float32], texts: Sequence[str], ids: Sequence[int], quality: Floats) -> _Pool:
    own: dict[str, list[int]] = {}
    for i, text in enumerate(texts):
        if X[i].any():
            own.setdefault(hashlib.sha256(text.encode()).hexdigest(), []).append(i)
    groups = [own[mark] for mark in sorted(own)[:MOST_TEXTS]]
    first = [group[0] for group in groups]
    vectors = X[first].astype(np.float64).reshape(len(first), X.shape[1])
    return _Pool(
        X=vectors,
        texts=tuple(texts[i] for i in first),
        ids=np.array([min(ids[i] for i in group) for group in groups], np.int64),
        quality=np.array([_mean(quality[group]) for group in groups], np.float64),
        kin=_kin(vectors),
    )


def _mean(values: Floats) -> float:
    told = values[np.isfinite(values)]
    return float(np.sort(told).mean()) if len(told) else float("nan")


def _kin(X: Floats) -> NDArray[np.int64]:
    lengths = np.maximum(np.sqrt(np.square(X).sum(axis=1, keepdims=True)), 1e-12)
    near = (X / lengths) @ (X / lengths).T > _NEAR_DUPLICATE
    return connected_components(coo_array(near), directed=False)[1].astype(np.int64)


def _directions(known: NDArray[np.floating], d: int) -> Floats:
    """(m, d): an orthonormal basis of what is already named."""
    directions: Floats = known.astype(np.float64).reshape(-1, d)
    lengths = np.sqrt(np.square(directions).sum(axis=1))
    directions = directions[lengths > 0] / lengths[lengths > 0, None]
    if not len(directions):
        return directions
    _, weights, rows = np.linalg.svd(directions, full_matrices=False)
    basis: Floats = rows[weights > 1e-6]
    return basis


def _judged(pool: _Pool, known: Floats, effort: Effort) -> list[_Judged]:
    """Candidates that stand up to judgement, the best first, none of them another one again."""
    rest = pool.X - (pool.X @ known.T) @ known
    axes = _principal(rest, min(effort.candidates, max(2, len(rest) // 10)))
    stability, variance = _found_again(pool, rest, axes, effort.splits)
    steady = stability >= _STABLE
    explained = _explained_by_words(pool, rest, axes[steady], among=len(axes))
    told = zip(axes[steady], stability[steady], variance[steady], explained, strict=True)
    candidates = [
        _Judged(axis, pool.X @ axis, float(stable), area, float(share), agrees)
        for axis, stable, share, (area, certain, agrees) in told
        if certain and area >= _WORTH_SHOWING
    ]
    seen = [pool.X @ direction for direction in known]
    kept: list[_Judged] = []
    for each in sorted(candidates, key=lambda each: -each.rank):
        if all(abs(_correlation(each.scores, other)) < _SAME_AXIS for other in seen):
            kept.append(each)
            seen.append(each.scores)
    return kept[: effort.shown]


def _principal(X: Floats, count: int) -> Floats:
    """(at most count, d): unit axes of the greatest variance, the greatest first, their largest number positive."""
    centred = X - X.mean(axis=0)
    n, d = centred.shape
    size = min(n, d)
    square = centred @ centred.T if n <= d else centred.T @ centred
    top = (max(0, size - count), size - 1)
    values, vectors = scipy.linalg.eigh(square, subset_by_index=top, check_finite=False)
    vectors = vectors[:, values > 1e-9 * np.square(X).sum()][:, ::-1]
    axes = (vectors.T @ centred) if n <= d else vectors.T
    axes = axes / np.sqrt(np.square(axes).sum(axis=1, keepdims=True))
    largest = axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)]
    turned: Floats = axes * np.where(largest < 0, -1.0, 1.0)[:, None]
    return turned


def _found_again(pool: _Pool, rest: Floats, axes: Floats, splits: int) -> tuple[Floats, Floats]:
    """Stability and explained variance (n_axes,) each, averaged over several ways to halve the texts."""
    stability, variance = np.zeros(len(axes)), np.zeros(len(axes))
    for split in range(splits):
        halves = _spread(pool.kin, 2, seed=split)
        alike = []
        for half in (halves == 0, halves == 1):
            again, likeness = _matched(rest, axes, half, among=len(axes))
            alike.append(likeness)
            other = pool.X[~half]
            variance += (other @ again.T).var(axis=0) / max(other.var(axis=0).sum(), 1e-12) / (2 * splits)
        stability += np.minimum(*alike) / splits
    return stability, variance


def _matched(rest: Floats, axes: Floats, part: NDArray[np.bool_], *, among: int) -> tuple[Floats, Floats]:
    """For each axis the most similar one, turned its way, that a part of the texts gives; and how similar it is."""
    again = _principal(rest[part], among + _SPARE)
    if not len(again):
        return np.zeros_like(axes), np.zeros(len(axes))
    likeness = _correlations(rest @ axes.T, rest @ again.T)
    best = np.abs(likeness).argmax(axis=1)
    found = likeness[np.arange(len(axes)), best]
    return again[best] * np.where(found < 0, -1.0, 1.0)[:, None], np.abs(found)


def _explained_by_words(
    pool: _Pool, rest: Floats, axes: Floats, *, among: int
) -> Iterator[tuple[float, bool, NDArray[np.bool_]]]:
    """For each axis: held-out AUROC, whether it is above chance for certain, and where words agree with the axis."""
    folds, alike = _spread(pool.kin, _FOLDS, seed=-1), kernel(pool.texts)
    n = len(pool.texts)
    places, sides, told = np.zeros((3, len(axes), n))
    for fold in range(_FOLDS):
        out = folds == fold
        again, _ = _matched(rest, axes, ~out, among=among)
        for i, place in enumerate(again @ rest.T):
            low, high = np.quantile(place[~out], [1 / 3, 2 / 3])
            side = np.where(place >= high, 1.0, np.where(place <= low, -1.0, 0.0))
            learn = np.flatnonzero(~out & (side != 0))
            ridge = alike[np.ix_(learn, learn)] + _RIDGE * np.eye(len(learn))
            told[i, out] = alike[np.ix_(out, learn)] @ scipy.linalg.solve(ridge, side[learn], assume_a="pos")
            places[i, out], sides[i, out] = place[out], side[out]
    for place, side, said in zip(places, sides, told, strict=True):
        positive, negative = int((side > 0).sum()), int((side < 0).sum())
        outer = side != 0
        area = auroc(said[outer], (side[outer] + 1) / 2) if positive and negative else 0.5
        certain = area - 0.5 > _DEVIATIONS * _chance(positive, negative)
        yield area, certain, np.sign(said) == np.sign(place - place.mean())


def _chance(positive: int, negative: int) -> float:
    """The deviation of an AUROC that knows nothing: three of them, since many candidates try their luck."""
    return float(np.sqrt((positive + negative + 1) / (12 * max(1, positive * negative))))


def _spread(kin: NDArray[np.int64], parts: int, *, seed: int) -> NDArray[np.int64]:
    """(n,): a part for each text, kin in one, by chance but the same for equal texts."""
    order = np.random.default_rng(seed + 1).permutation(int(kin.max()) + 1)
    chosen: NDArray[np.int64] = (order % parts)[kin].astype(np.int64)
    return chosen


def _correlations(one: Floats, other: Floats) -> Floats:
    """(k, m) of the columns of (n, k) and (n, m); 0 where a column does not vary."""
    one, other = one - one.mean(axis=0), other - other.mean(axis=0)
    lengths = np.outer(np.sqrt(np.square(one).sum(axis=0)), np.sqrt(np.square(other).sum(axis=0)))
    correlations: Floats = np.where(lengths > 1e-12, one.T @ other / np.maximum(lengths, 1e-12), 0.0)
    return correlations


def _correlation(one: Floats, other: Floats) -> float:
    return float(_correlations(one[:, None], other[:, None])[0, 0])


def _named(pool: _Pool, judged: Sequence[_Judged], taken: set[str], words: bool) -> Iterator[DiscoveredTrait]:
    for number, each in enumerate(judged, start=1):
        turn = _turn(pool, each)
        scores, agrees = turn * each.scores, each.agrees
        name, positive, negative, description = _words_for(pool, scores, number, words)
        name = _free(name, taken)
        taken.add(name)
        axis = (turn * each.axis).astype(np.float32)
        yield DiscoveredTrait(
            name=name,
            positive_label=positive,
            negative_label=negative,
            description=description,
            axis=axis,
            offset=-float(scores.mean()),
            discrimination=each.discrimination,
            explained_variance=each.explained_variance,
            stability=each.stability,
            anchor_positive=_anchors(pool, scores, agrees),
            anchor_negative=_anchors(pool, -scores, agrees),
        )


def _turn(pool: _Pool, each: _Judged) -> float:
    """Positive is where better samples lie; if quality does not tell, where the longer tail is."""
    told = np.isfinite(pool.quality)
    better = _correlation(each.scores[told], pool.quality[told]) if told.any() else 0.0
    centred = each.scores - each.scores.mean()
    sign = better if abs(better) >= _TELLING_QUALITY else float(np.power(centred, 3).mean())
    return -1.0 if sign < 0 else 1.0


def _words_for(pool: _Pool, scores: Floats, number: int, words: bool) -> tuple[str, str, str, str]:
    """Name, labels and description, by the words that the outer quarters do not share."""
    low, high = np.quantile(scores, [0.25, 0.75])
    above, below = telling(pool.texts, scores >= high, scores <= low) if words else ([], [])
    found = f"Found by discovery in {len(pool.texts):,} texts; rename it when you have read the texts at its ends."
    if not above or not below:
        return f"Axis {number}", "high end", "low end", found
    positive, negative = ", ".join(_apart(above, 2)), ", ".join(_apart(below, 2))
    typical = f"Typical of one end: {', '.join(_apart(above, 6))}. Of the other: {', '.join(_apart(below, 6))}."
    return f"{positive} vs {negative}", positive, negative, f"{found} {typical}"


def _apart(ranked: Sequence[str], count: int) -> list[str]:
    """The first words, none of them the beginning of another."""
    chosen: list[str] = []
    for word in ranked:
        if len(chosen) < count and not any(word.startswith(other) or other.startswith(word) for other in chosen):
            chosen.append(word)
    return chosen


def _free(name: str, taken: set[str]) -> str:
    candidates = (name if i == 1 else f"{name} ({i})" for i in range(1, len(taken) + 2))
    return next(each for each in candidates if each not in taken)


def _anchors(pool: _Pool, scores: Floats, agrees: NDArray[np.bool_]) -> tuple[int, ...]:
    """The most extreme texts of the positive end, those that words place there too first, and no two alike."""
    extreme = np.flatnonzero(scores >= np.quantile(scores, 0.9))
    ranked = sorted(extreme, key=lambda i: (not agrees[i], -scores[i], pool.ids[i]))
    kin = {int(pool.kin[i]): int(pool.ids[i]) for i in reversed(ranked)}
    first = dict.fromkeys(int(pool.kin[i]) for i in ranked)
    return tuple(kin[own] for own in list(first)[:_ANCHORS])
