"""Discover intrinsic traits: axes along which texts differ, that words explain and that other texts confirm.

Candidates are the principal axes of the vectors, after the directions of existing traits were projected out. Each is
evaluated on texts that it was not made from, by three figures. Stability is how similar the axes of two halves of the
texts are. Discrimination is how well words alone separate the outer thirds of one fifth of the texts, with the axis
from the other four fifths. Explained variance is the share of the variance of one half along the axis of the other.

An axis that words do not explain, or that does not appear in both halves, is dropped.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from traitbench.fitting.auroc import auroc
from traitbench.fitting.axis import centroid_difference
from traitbench.fitting.phrases import Terms, is_function_word, kernel, words
from traitbench.fitting.tones import KINDS, Kind, Tones
from traitbench.fitting.work import one_thread
from traitbench.scoring.inputs import Floats
from traitbench.scoring.words import beginning
from traitbench.scoring.words import words as spans

FEWEST_TEXTS = 20
MOST_TEXTS = 2_000
"""The most texts that are analysed; of more, those with the lowest hashes are chosen."""

# A part of the texts orders its axes differently, so a match may come after as many axes as were asked for.
_SPARE = 4
# What an axis must pass: core/docs/scoring.md, section 10.
_FOLDS = 5
_RIDGE = 1.0
_SAME_AXIS = 0.7
_STABLE = 0.5
_MIN_DISCRIMINATION = 0.6
_NEAR_DUPLICATE = 0.98
_ANCHORS, _ANCHORS_AMONG, _EVIDENCE = 5, 15, 2.0
_PHRASES = 3
_LONGEST_LABEL, _LONGEST_PHRASE = 40, 24
_TYPICAL = 12
_ON_ITS_SIDE = 0.5
_AMONG_EXTREME = 0.08
_BINS, _SPREAD = 20, 3.0
_MIN_QUALITY_CORRELATION = 0.1


@dataclass(frozen=True)
class DiscoveryEffort:
    """How many axes to consider, how many to show at most, and how often to split the texts into halves."""

    candidates: int
    shown: int
    splits: int


EFFORTS: Mapping[str, DiscoveryEffort] = {
    "low": DiscoveryEffort(4, 3, 1),
    "medium": DiscoveryEffort(8, 4, 3),
    "high": DiscoveryEffort(16, 5, 5),
    "xhigh": DiscoveryEffort(32, 6, 10),
    "max": DiscoveryEffort(64, 8, 20),
}


class InsufficientTexts(ValueError):
    """There are too few different texts for discovery; near duplicates count once."""

    def __init__(self, distinct: int) -> None:
        super().__init__(f"Discovery needs {FEWEST_TEXTS} different texts; the model has {distinct}. Add samples.")
        self.distinct, self.needed = distinct, FEWEST_TEXTS


@dataclass(frozen=True, eq=False)
class DiscoveredTrait:
    """A discovered axis with its labels and measurements.

    `axis` (d,) has length one; `x @ axis + offset` is the value of x, 0 in the middle of the texts. `discrimination` is
    an AUROC, 0.5 by chance. `anchor_positive` and `anchor_negative` are ids of the most typical texts; the phrases are
    those that texts near one end affirm and texts near the other do not. `histogram` counts the texts in equal steps
    from 3 standard deviations below the middle to 3 above; the outer steps include what lies beyond. `overlaps` (m,)
    are the correlations with the known directions.
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
    phrases_positive: tuple[str, ...]
    phrases_negative: tuple[str, ...]
    histogram: tuple[int, ...]
    overlaps: tuple[float, ...]
    texts: int


@dataclass(frozen=True)
class Rejected:
    """How many candidates there were, and how many were dropped for each reason.

    `unstable`: not found again in both halves of the texts. `unexplained`: held-out words do not predict the side.
    `repeated`: nearly the same scores as an existing trait or a better candidate.
    """

    candidates: int = 0
    unstable: int = 0
    unexplained: int = 0
    repeated: int = 0


@dataclass(frozen=True, eq=False)
class Discovery:
    """The axes that passed, those with the most variance first, and how many others there were."""

    traits: tuple[DiscoveredTrait, ...]
    rejected: Rejected


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
    contrasts: NDArray[np.floating] | None = None,
) -> Discovery:
    """The axes of vectors (n, d) and their texts.

    `quality` (n,) orients an axis so that better samples are at its positive end, NaN for no quality. `known` (m, d)
    are directions of existing traits, see `pole_difference`. Names in `taken` are avoided. Without `words`, names do
    not use words from the texts. `contrasts` are directions that names may use, see `tones.contrasts`. The order of the
    texts does not matter. Raise `InsufficientTexts`.
    """
    with one_thread():
        pool = _pool(X, texts, ids, quality)
        if (distinct := len(np.unique(pool.groups))) < FEWEST_TEXTS:
            raise InsufficientTexts(distinct)
        candidates, rejected = _candidates(pool, _directions(known, X.shape[1]), EFFORTS[effort])
        directions = np.zeros((0, X.shape[1])) if contrasts is None else contrasts.astype(np.float64)
        tones = Tones(pool.texts, pool.X, directions) if words else None
        named = tuple(_named(pool, candidates, known.reshape(-1, X.shape[1]), set(taken), tones))
    return Discovery(named, rejected)


def pole_difference(X: NDArray[np.float32], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """(d,): the direction of a labelled trait from its negative to its positive pole; zeros if a pole has no sample."""
    non_empty = np.any(X != 0, axis=1)
    X, y = X[non_empty], y[non_empty].astype(np.float64)
    both = (y > 0.5).any() and (y < 0.5).any()
    return centroid_difference(X, y).directions[0] if both else np.zeros(X.shape[1])


@dataclass(frozen=True, eq=False)
class _Pool:
    """Different texts in a reproducible order; `groups` (n,) is equal for near duplicates."""

    X: Floats
    texts: tuple[str, ...]
    ids: NDArray[np.int64]
    quality: Floats
    groups: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A candidate axis; `agrees` (n,) says whether held-out words put the text on the same side as the axis."""

    axis: Floats
    scores: Floats
    stability: float
    discrimination: float
    explained_variance: float
    agrees: NDArray[np.bool_]


def _pool(X: NDArray[np.float32], texts: Sequence[str], ids: Sequence[int], quality: Floats) -> _Pool:
    by_digest: dict[str, list[int]] = {}
    for i, text in enumerate(texts):
        if X[i].any():
            by_digest.setdefault(hashlib.sha256(text.encode()).hexdigest(), []).append(i)
    # By hash: the same texts in the same order, whatever the order of the samples.
    groups = [by_digest[mark] for mark in sorted(by_digest)[:MOST_TEXTS]]
    first = [group[0] for group in groups]
    vectors = X[first].astype(np.float64).reshape(len(first), X.shape[1])
    return _Pool(
        X=vectors,
        texts=tuple(texts[i] for i in first),
        ids=np.array([min(ids[i] for i in group) for group in groups], np.int64),
        quality=np.array([_mean(quality[group]) for group in groups], np.float64),
        groups=_groups_of(vectors),
    )


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    # A sum rounds by its order, and the order of the samples must change nothing.
    return float(np.sort(finite).mean()) if len(finite) else float("nan")


def _groups_of(X: Floats) -> NDArray[np.int64]:
    lengths = np.maximum(np.sqrt(np.square(X).sum(axis=1, keepdims=True)), 1e-12)
    near = (X / lengths) @ (X / lengths).T > _NEAR_DUPLICATE
    return connected_components(coo_array(near), directed=False)[1].astype(np.int64)


def _directions(known: NDArray[np.floating], d: int) -> Floats:
    """(m, d): an orthonormal basis of the existing traits."""
    directions: Floats = known.astype(np.float64).reshape(-1, d)
    lengths = np.sqrt(np.square(directions).sum(axis=1))
    directions = directions[lengths > 0] / lengths[lengths > 0, None]
    if not len(directions):
        return directions
    _, weights, rows = np.linalg.svd(directions, full_matrices=False)
    basis: Floats = rows[weights > 1e-6]
    return basis


def _candidates(pool: _Pool, known: Floats, effort: DiscoveryEffort) -> tuple[list[_Candidate], Rejected]:
    """The candidates that pass all checks, those with the most variance first; and the others, counted."""
    rest = pool.X - (pool.X @ known.T) @ known
    axes = _principal(rest, min(effort.candidates, max(2, len(rest) // 10)))
    stability, variance = _repeatability(pool, rest, axes, effort.splits)
    steady = stability >= _STABLE
    explained = _explained_by_words(pool, rest, axes[steady], among=len(axes))
    measured = zip(axes[steady], stability[steady], variance[steady], explained, strict=True)
    candidates = [
        _Candidate(axis, pool.X @ axis, float(stable), area, float(share), agrees)
        for axis, stable, share, (area, agrees) in measured
        if area >= _MIN_DISCRIMINATION
    ]
    seen = [pool.X @ direction for direction in known]
    chosen: list[_Candidate] = []
    for each in candidates:
        if all(abs(_correlation(each.scores, other)) < _SAME_AXIS for other in seen):
            chosen.append(each)
            seen.append(each.scores)
    rejected = Rejected(
        candidates=len(axes),
        unstable=int((~steady).sum()),
        unexplained=int(steady.sum()) - len(candidates),
        repeated=len(candidates) - len(chosen),
    )
    return chosen[: effort.shown], rejected


def _principal(X: Floats, count: int) -> Floats:
    """(at most count, d): unit principal axes, largest variance first, each with its largest component positive."""
    centred = X - X.mean(axis=0)
    n, d = centred.shape
    size = min(n, d)
    square = centred @ centred.T if n <= d else centred.T @ centred
    top = (max(0, size - count), size - 1)
    values, vectors = scipy.linalg.eigh(square, subset_by_index=top, check_finite=False)
    # Rounding gives directions without any variance a tiny one.
    vectors = vectors[:, values > 1e-9 * np.square(X).sum()][:, ::-1]
    axes = (vectors.T @ centred) if n <= d else vectors.T
    # Without a rule the sign of an eigenvector is arbitrary.
    largest = axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)]
    unit: Floats = axes * (np.sign(largest) / np.sqrt(np.square(axes).sum(axis=1)))[:, None]
    return unit


def _repeatability(pool: _Pool, rest: Floats, axes: Floats, splits: int) -> tuple[Floats, Floats]:
    """Stability and explained variance (n_axes,), averaged over several ways to halve the texts."""
    stability, variance = np.zeros(len(axes)), np.zeros(len(axes))
    for split in range(splits):
        halves = _spread(pool.groups, 2, seed=split + 1)
        similarities = []
        for half in (halves == 0, halves == 1):
            matched, similarity = _matched(rest, axes, half, among=len(axes))
            similarities.append(similarity)
            other = pool.X[~half]
            variance += (other @ matched.T).var(axis=0) / max(other.var(axis=0).sum(), 1e-12) / (2 * splits)
        stability += np.minimum(*similarities) / splits
    return stability, variance


def _matched(rest: Floats, axes: Floats, part: NDArray[np.bool_], *, among: int) -> tuple[Floats, Floats]:
    """For each axis, the most similar axis of a part of the texts, with the same orientation, and their similarity."""
    refound = _principal(rest[part], among + _SPARE)
    if not len(refound):
        return np.zeros_like(axes), np.zeros(len(axes))
    similarity = _correlations(rest @ axes.T, rest @ refound.T)
    best = np.abs(similarity).argmax(axis=1)
    matches = similarity[np.arange(len(axes)), best]
    return refound[best] * np.where(matches < 0, -1.0, 1.0)[:, None], np.abs(matches)


def _explained_by_words(
    pool: _Pool, rest: Floats, axes: Floats, *, among: int
) -> Iterator[tuple[float, NDArray[np.bool_]]]:
    """For each axis: held-out AUROC, and where words agree with the axis."""
    folds, similarity = _spread(pool.groups, _FOLDS, seed=0), kernel(pool.texts)
    n = len(pool.texts)
    projections, sides, predicted = np.zeros((3, len(axes), n))
    for fold in range(_FOLDS):
        out = folds == fold
        refound, _ = _matched(rest, axes, ~out, among=among)
        for i, projection in enumerate(refound @ rest.T):
            low, high = np.quantile(projection[~out], [1 / 3, 2 / 3])
            side = np.where(projection >= high, 1.0, np.where(projection <= low, -1.0, 0.0))
            training = np.flatnonzero(~out & (side != 0))
            ridge = similarity[np.ix_(training, training)] + _RIDGE * np.eye(len(training))
            target = side[training] - side[training].mean()
            weights = scipy.linalg.solve(ridge, target, assume_a="pos")
            predicted[i, out] = similarity[np.ix_(out, training)] @ weights
            projections[i, out], sides[i, out] = projection[out], side[out]
    # Rounded, so that words that say nothing give equal predictions.
    for projection, side, prediction in zip(projections, sides, predicted.round(9), strict=True):
        outer = side != 0
        area = auroc(prediction[outer], (side[outer] + 1) / 2) if np.ptp(side) == 2 else 0.5
        yield area, np.sign(prediction) == np.sign(projection - projection.mean())


def _spread(groups: NDArray[np.int64], parts: int, *, seed: int) -> NDArray[np.int64]:
    """(n,): a random part for each text; the texts of a group share a part."""
    order = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
    chosen: NDArray[np.int64] = (order % parts)[groups].astype(np.int64)
    return chosen


def _correlations(one: Floats, other: Floats) -> Floats:
    """(k, m): correlations of the columns of (n, k) and (n, m); 0 where a column does not vary."""
    one, other = one - one.mean(axis=0), other - other.mean(axis=0)
    lengths = np.outer(np.sqrt(np.square(one).sum(axis=0)), np.sqrt(np.square(other).sum(axis=0)))
    correlations: Floats = np.where(lengths > 1e-12, one.T @ other / np.maximum(lengths, 1e-12), 0.0)
    return correlations


def _correlation(one: Floats, other: Floats) -> float:
    return float(_correlations(one[:, None], other[:, None])[0, 0])


def _named(
    pool: _Pool, candidates: Sequence[_Candidate], known: NDArray[np.floating], taken: set[str], tones: Tones | None
) -> Iterator[DiscoveredTrait]:
    terms = Terms.of(pool.texts)
    for number, each in enumerate(candidates, start=1):
        kinds = tones.kind(each.scores) if tones else None
        sign = _orientation(pool, each, kinds)
        scores, agrees = sign * each.scores, each.agrees
        above, below = _typical_terms(terms, scores)
        anchors = [
            _anchors(pool, scores, agrees, terms, above, below),
            _anchors(pool, -scores, agrees, terms, below, above),
        ]
        if tones is None:
            name, positive, negative = f"Axis {number}", "high end", "low end"
        else:
            kinds = (kinds if sign > 0 else kinds[::-1]) if kinds else ("", "")
            first = [pool.texts[own[0]] for own in anchors]
            positive, negative = map(_label, kinds, (above, below), first)
            name = f"{negative} – {positive}"
        name = _free(name, taken)
        taken.add(name)
        axis = (sign * each.axis).astype(np.float32)
        overlaps = _correlations(pool.X @ known.T.astype(np.float64), scores[:, None])[:, 0]
        yield DiscoveredTrait(
            name=name,
            positive_label=positive,
            negative_label=negative,
            description=f"Found by discovery in {len(pool.texts):,} texts.",
            axis=axis,
            offset=-float(scores.mean()),
            discrimination=each.discrimination,
            explained_variance=each.explained_variance,
            stability=each.stability,
            anchor_positive=tuple(int(pool.ids[i]) for i in anchors[0]),
            anchor_negative=tuple(int(pool.ids[i]) for i in anchors[1]),
            phrases_positive=tuple(above[:_PHRASES]) if tones else (),
            phrases_negative=tuple(below[:_PHRASES]) if tones else (),
            histogram=_histogram(scores),
            overlaps=tuple(overlaps.tolist()),
            texts=len(pool.texts),
        )


def _orientation(pool: _Pool, each: _Candidate, kinds: Kind | None) -> float:
    """The sign that puts better samples at the positive end, else the first of the kinds, else the longer tail."""
    has_quality = np.isfinite(pool.quality)
    better = _correlation(each.scores[has_quality], pool.quality[has_quality]) if has_quality.any() else 0.0
    if abs(better) >= _MIN_QUALITY_CORRELATION:
        return -1.0 if better < 0 else 1.0
    if kinds is not None:
        return 1.0 if kinds in KINDS else -1.0
    return -1.0 if np.power(each.scores - each.scores.mean(), 3).mean() < 0 else 1.0


def _typical_terms(terms: Terms, scores: Floats) -> tuple[list[str], list[str]]:
    """The terms that distinguish the texts of the outer quarters, for the upper and the lower end."""
    low, high = np.quantile(scores, [0.25, 0.75])
    above, below = terms.distinctive(scores >= high, scores <= low)
    standard = (scores - scores.mean()) / max(float(scores.std()), 1e-12)
    return _about(terms, above, standard), _about(terms, below, -standard)


def _about(terms: Terms, ranked: Sequence[str], standard: Floats) -> list[str]:
    """The first terms whose texts are clearly on that side; those of several of the most extreme texts come first.

    Terms that begin like a term chosen before are left out.
    """
    extreme = standard >= np.quantile(standard, 0.9)
    several = _AMONG_EXTREME * float(extreme.sum())
    among = {term: int(extreme[terms.texts_with(term)].sum()) for term in ranked}
    clear = [term for term in ranked if among[term] >= 2 and standard[terms.texts_with(term)].mean() >= _ON_ITS_SIDE]
    return _apart(sorted(clear, key=lambda term: (is_function_word(term), among[term] < several)), _TYPICAL)


def _label(kind: str, phrases: Sequence[str], typical: str) -> str:
    """What texts at an end are: their kind and their first phrase, or else the beginning of a typical one."""
    phrase = next((_cut(phrase) for phrase in phrases if not is_function_word(phrase)), "")
    if not phrase:
        return kind or f"texts such as “{_cut(' '.join(typical.split()))}”"
    joined = ", " if " with" in kind else " with "
    label = f"{kind or 'texts'}{joined}“{phrase}”"
    return label if len(label) <= _LONGEST_LABEL or not kind else kind


def _cut(text: str) -> str:
    """The beginning of a text, up to the end of a word if one ends there."""
    if len(text) <= _LONGEST_PHRASE:
        return text
    end = max((end for _, end in spans(text) if end < _LONGEST_PHRASE), default=0)
    return (text[:end] or beginning(text, _LONGEST_PHRASE - 1)) + "…"


def _evidence(terms: Terms, own: Sequence[str], other: Sequence[str]) -> Floats:
    """(n,): how many terms of a pole the text affirms, minus those of the other pole."""
    evidence = np.zeros(terms.present.shape[0])
    for weight, chosen in ((1.0, own), (-1.0, other)):
        for term in chosen:
            evidence[terms.texts_with(term)] += weight
    return evidence


def _histogram(scores: Floats) -> tuple[int, ...]:
    standard = (scores - scores.mean()) / max(float(scores.std()), 1e-12)
    inside = np.clip(standard, -_SPREAD, _SPREAD)
    return tuple(np.histogram(inside, bins=_BINS, range=(-_SPREAD, _SPREAD))[0].tolist())


def _apart(ranked: Iterable[str], count: int) -> list[str]:
    """The first terms, without those with a word that begins like a word of a term that was already chosen."""
    chosen: list[str] = []
    for term in ranked:
        if len(chosen) == count:
            break
        before = [word for other in chosen for word in words(other) if not is_function_word(word)]
        own = [word for word in words(term) if not is_function_word(word)] or [term]
        if not any(word.startswith(other) or other.startswith(word) for word in own for other in before):
            chosen.append(term)
    return chosen


def _free(name: str, taken: set[str]) -> str:
    candidates = (name if i == 1 else f"{name} ({i})" for i in range(1, len(taken) + 2))
    return next(each for each in candidates if each not in taken)


def _anchors(
    pool: _Pool, scores: Floats, agrees: NDArray[np.bool_], terms: Terms, own: Sequence[str], other: Sequence[str]
) -> list[int]:
    """The places of extreme texts at the positive end, one per group.

    Texts that words also put there come first, and among them those that affirm a term of the pole. Then they are
    picked so that each of the first terms is in one of them, if possible.
    """
    evidence = _evidence(terms, own, other)
    extreme = np.flatnonzero(scores >= np.quantile(scores, 0.9))
    ranked = sorted(
        extreme, key=lambda i: (not agrees[i], -min(float(evidence[i]), _EVIDENCE), -scores[i], pool.ids[i])
    )
    first_of_group = {int(pool.groups[i]): int(i) for i in reversed(ranked)}
    left = [first_of_group[group] for group in dict.fromkeys(int(pool.groups[i]) for i in ranked)][:_ANCHORS_AMONG]
    missing = {term: set(terms.texts_with(term).tolist()) for term in own[:_PHRASES]}
    chosen: list[int] = []
    while left and len(chosen) < _ANCHORS:
        best = next((i for i in left if any(i in texts for texts in missing.values())), left[0])
        left.remove(best)
        chosen.append(best)
        missing = {term: texts for term, texts in missing.items() if best not in texts}
    return chosen
