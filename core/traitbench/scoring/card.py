"""Make the score card of a text from a snapshot, by the rules of core/docs/contract.md, section 8.

Scores and quartiles are rounded half up to integers first; label, confidence, band, headroom and composite follow from
those integers. A trait's number never depends on which other traits or texts are scored with it.
"""

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import repeat
from typing import Any, Literal, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from traitbench.as_read import as_read
from traitbench.scoring.certainty import WEAKEST_FIRST, Certainty, Confidence, Reason
from traitbench.scoring.segments import Encode, embed_as_is, parts
from traitbench.scoring.snapshot import FULL, EncoderMismatch, ModeAxis, Quartiles, Snapshot, TierBreaks, TraitAxis

Tier = Literal["Strong", "Solid", "Developing", "Weak"]
Floats = NDArray[np.float64]
_At = tuple[int, Tier | None, Confidence, Reason | None, tuple[int, int], int | None, TierBreaks]

_MIDDLE = 50
_PRODUCTS = 2**16  # at once: what fits a processor's cache
_PARTS = 1_024  # encoded at once, so that a long text never has all its vectors in memory
# The reciprocals of 1 to 100 as whole numbers over a common denominator, so that sums of them are exact.
_COMMON = math.lcm(*range(1, 101))
_SHARES = [0, *(_COMMON // points for points in range(1, 101))]
# The index of each trait by its keys and names, by snapshot.
_INDICES: WeakKeyDictionary[Snapshot, Mapping[str, int]] = WeakKeyDictionary()
# A cache by snapshot, trait, score and what its confidence follows from: equal ones give equal fields.
_READERS: WeakKeyDictionary[Snapshot, list[Callable[..., _At]]] = WeakKeyDictionary()
_MOST_READ = 2**14
_COMBINE: Mapping[str, Callable[[Floats], Floats]] = {
    "mean": lambda scores: scores.mean(axis=0),
    "max": lambda scores: scores.max(axis=0),
    "min": lambda scores: scores.min(axis=0),
}


class UnknownTrait(KeyError):
    """The snapshot has no trait of that key or name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"The version has no trait {self.name!r}."


class RawScore(NamedTuple):
    """The score of a text on one trait; `polarity` is the score before rounding, on -1..1.

    `confidence_reason` says why the confidence is not high.
    """

    score: int
    label: Tier | None
    confidence: Confidence
    confidence_reason: Reason | None
    band: tuple[int, int]
    headroom: int | None
    breaks: TierBreaks
    polarity: float


class Placed(NamedTuple):
    """A text's positions in 0..1 on all traits of a snapshot, and whether it resembles none of the samples.

    The confidence is read at the logit times `shrinkage`, below 1 for a text longer than the samples. It also follows
    from the positions on the label axes (`names`; None if no trait has one) and from `same`, the chance in percent that
    the text is from the source of the samples.
    """

    positions: Sequence[float]
    unlike: bool = False
    shrinkage: float = 1.0
    names: Sequence[float] | None = None
    same: int = 100


@dataclass(frozen=True)
class RawCard:
    """The scores of a text on the requested traits."""

    traits: Mapping[str, RawScore]

    def to_wire(self) -> dict[str, Any]:
        """The keys `scores`, `composite`, `confidence`, `headroom` and `detail` of the contract."""
        return {
            "scores": {key: trait.score for key, trait in self.traits.items()},
            "composite": self.composite,
            "confidence": self.confidence,
            "headroom": self.headroom,
            "detail": {key: _detail(trait) for key, trait in self.traits.items()},
        }

    @property
    def composite(self) -> int:
        """The harmonic mean of the trait scores above 0."""
        return composite([trait.score for trait in self.traits.values()])

    @property
    def confidence(self) -> Confidence:
        """The lowest confidence among the traits."""
        return min([trait.confidence for trait in self.traits.values()], key=WEAKEST_FIRST.index)

    @property
    def headroom(self) -> int | None:
        """The largest headroom among the traits; None if no trait has one."""
        return max([trait.headroom for trait in self.traits.values() if trait.headroom is not None], default=None)


def score(snapshot: Snapshot, encode: Encode, text: str, *, traits: Sequence[str] | None = None) -> RawCard:
    """The card of one text; `traits` are keys or names, all when None."""
    return score_many(snapshot, encode, [text], traits=traits)[0]


def score_many(
    snapshot: Snapshot,
    encode: Encode,
    texts: Sequence[str],
    traits: Sequence[str] | None = None,
    mode: str = FULL,
) -> list[RawCard]:
    """The cards of many texts, each the same as it would be alone; in a mode `encode` gives vectors of that mode."""
    snapshot = snapshot.in_mode(mode)
    chosen = choose(snapshot, traits)
    return [read(snapshot, chosen, placed) for placed in project(snapshot, encode, texts)]


def read(snapshot: Snapshot, chosen: Sequence[int], placed: Placed) -> RawCard:
    """The card of a text on the chosen traits."""
    readers = _READERS.get(snapshot)
    if readers is None:
        readers = _READERS[snapshot] = [lru_cache(_MOST_READ)(partial(_at, trait)) for trait in snapshot.traits]
    scores = {}
    for i in chosen:
        position, names = placed.positions[i], 0.5 if placed.names is None else placed.names[i]
        at, names_at = half_up(100 * position), half_up(100 * names)
        sure = (at, names_at)
        if placed.shrinkage != 1:
            position_there, names_there = (_shrunk(each, placed.shrinkage) for each in (position, names))
            sure = (half_up(100 * position_there), half_up(100 * names_there))
        fields = readers[i](at, names_at, sure, placed.same, placed.unlike)
        scores[snapshot.traits[i].key] = RawScore(*fields, polarity=2 * position - 1)
    return RawCard(scores)


def project(snapshot: Snapshot, encode: Encode, texts: Sequence[str]) -> list[Placed]:
    """Where each text is on the traits, and whether it resembles the samples."""
    texts = [as_read(text, snapshot.reading).text for text in texts]
    vectors = _embed(snapshot, encode, texts)
    whole, names = _of_vectors(snapshot, vectors)
    return _placed(snapshot, texts, vectors, _combined(snapshot, encode, texts, whole), names)


def project_whole(snapshot: Snapshot, texts: Sequence[str], vectors: NDArray[np.float32]) -> list[Placed]:
    """The same for texts as they are read, scored as a whole, by their vectors."""
    return _placed(snapshot, texts, vectors, *_of_vectors(snapshot, vectors))


def _placed(
    snapshot: Snapshot,
    texts: Sequence[str],
    vectors: NDArray[np.float32],
    positions: Floats,
    names: Floats | None,
) -> list[Placed]:
    rows = positions.tolist()
    by_names = repeat(None, len(rows)) if names is None else names.tolist()
    if snapshot.resemblance is None:
        return [Placed(row, names=own) for row, own in zip(rows, by_names, strict=True)]
    known = snapshot.resemblance
    unlike, same = known.unlike(texts, vectors).tolist(), known.same(vectors).tolist()
    # The parts of a text are about as long as the samples.
    shrinkages = map(snapshot.resemblance.shrinkage, texts) if is_scored_whole(snapshot) else repeat(1.0, len(texts))
    return [Placed(*each) for each in zip(rows, unlike, shrinkages, by_names, same, strict=True)]


def _shrunk(position: float, shrinkage: float) -> float:
    """The position with its logit times the shrinkage."""
    return 1 / (1 + ((1 - position) / position) ** shrinkage) if 0 < position < 1 else position


def _combined(snapshot: Snapshot, encode: Encode, texts: Sequence[str], whole: Floats) -> Floats:
    """The positions of whole texts, with those of traits that combine the scores of parts replaced in place."""
    deep = [i for i, trait in enumerate(snapshot.traits) if trait.aggregation != "none"]
    if snapshot.max_depth == 1 or not deep:
        return whole
    pieces = [[text[part.start : part.end] for part in parts(text, snapshot.max_depth)] for text in texts]
    every, has_token = _of_parts(snapshot, encode, [piece for own in pieces for piece in own])
    first = 0
    for row, own in enumerate(pieces):
        mine = slice(first, first + len(own))
        first += len(own)
        if (scores := every[mine][has_token[mine]]).size:
            for i in deep:
                whole[row, i] = _COMBINE[snapshot.traits[i].aggregation](scores[:, i])
    return whole


def _of_parts(snapshot: Snapshot, encode: Encode, parts: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
    """(n_parts, n_traits) scores, and which of the parts have a token."""
    scores = np.empty((len(parts), len(snapshot.traits)))
    has_token = np.empty(len(parts), np.bool_)
    for first in range(0, len(parts), _PARTS):
        some = slice(first, first + _PARTS)
        vectors = _embed(snapshot, encode, parts[some])
        scores[some], has_token[some] = of_vectors(snapshot, vectors), vectors.any(axis=1)
    return scores, has_token


def of_vectors(snapshot: Snapshot, vectors: NDArray[np.float32]) -> Floats:
    """(n, n_traits): scores in 0..1 of texts by their vectors, each text as a whole."""
    return _of_vectors(snapshot, vectors)[0]


def _of_vectors(snapshot: Snapshot, vectors: NDArray[np.float32]) -> tuple[Floats, Floats | None]:
    """The same, and the positions on the label axes; None if no trait has one.

    Each row is summed by itself: a matrix product would round differently for other numbers of rows.
    """
    axes, offsets = snapshot.projection
    rows, count = vectors.astype(np.float64), len(snapshot.traits)
    sums = np.empty((len(rows), len(axes)))
    some = max(1, _PRODUCTS // axes.size)
    for first in range(0, len(rows), some):
        sums[first : first + some] = (rows[first : first + some, np.newaxis] * axes).sum(axis=2)
    scores: Floats = expit(sums + offsets)
    scores[~vectors.any(axis=1)] = 0.5
    return scores[:, :count], scores[:, count:] if len(axes) > count else None


def positions(snapshot: Snapshot, encode: Encode, texts: Sequence[str], vectors: NDArray[np.float32]) -> Floats:
    """(n, n_traits): the positions in 0..1 of texts with known vectors (n, d), as `score` gives them."""
    texts = [as_read(text, snapshot.reading).text for text in texts]
    return _combined(snapshot, encode, texts, of_vectors(snapshot, vectors))


def is_scored_whole(snapshot: Snapshot) -> bool:
    """Whether a text's vector alone gives its scores, because no trait combines the scores of its parts."""
    return snapshot.max_depth == 1 or all(trait.aggregation == "none" for trait in snapshot.traits)


def in_points(positions: Floats) -> NDArray[np.int64]:
    """Positions in 0..1 as whole points, rounded as scores are."""
    return np.floor(100 * positions + 0.5).astype(np.int64)


def choose(snapshot: Snapshot, names: Sequence[str] | None) -> Sequence[int]:
    """The traits of these keys or names, in the snapshot's order; the key wins. All when None."""
    if names is None:
        return range(len(snapshot.traits))
    indices = _indices(snapshot)
    for name in names:
        if _index_of(indices, name) is None:
            raise UnknownTrait(name)
    return sorted({index for name in names if (index := _index_of(indices, name)) is not None})


def unknown(snapshot: Snapshot, names: Sequence[str]) -> list[int]:
    """The positions in `names` of those that are neither a key nor a name of a trait."""
    indices = _indices(snapshot) if names else {}
    return [i for i, name in enumerate(names) if _index_of(indices, name) is None]


def _indices(snapshot: Snapshot) -> Mapping[str, int]:
    """The traits by key and name, as spelled and in NFC; a key wins over a name, and an exact match over NFC."""
    if snapshot not in _INDICES:
        indices: dict[str, int] = {}
        for spelled in (partial(unicodedata.normalize, "NFC"), str):
            indices |= {spelled(trait.name): i for i, trait in enumerate(snapshot.traits)}
            indices |= {spelled(trait.key): i for i, trait in enumerate(snapshot.traits)}
        _INDICES[snapshot] = indices
    return _INDICES[snapshot]


def _index_of(indices: Mapping[str, int], name: str) -> int | None:
    index = indices.get(name)
    return indices.get(unicodedata.normalize("NFC", name)) if index is None else index


def trait_score(trait: TraitAxis, position: float) -> RawScore:
    """A position in 0..1 on a trait, read by the trait's breaks, quartiles and certainty."""
    at = half_up(100 * position)
    return RawScore(*_at(trait, at, _MIDDLE, (at, _MIDDLE)), polarity=2 * position - 1)


def _at(
    trait: TraitAxis, points: int, names: int, sure_at: tuple[int, int], same: int = 100, unlike: bool = False
) -> _At:
    """The fields of a trait's score, but for the polarity.

    The confidence is that of the score and the place on the label axis `sure_at`, which are nearer to the middle for a
    text longer than the samples. If that changes the confidence, the reason is that the samples are unlike the text.
    """
    sure, reason = ("low", "unlike_samples") if unlike else confidence(trait, sure_at[0], sure_at[1], same)
    if sure_at != (points, names) and sure != confidence(trait, points, names, same)[0]:
        reason = "unlike_samples"
    label = None if sure == "low" else tier(points, trait.breaks)
    ahead = None if sure == "low" else headroom(points, trait.breaks)
    return points, label, sure, reason, band(points, trait.positive, trait.negative), ahead, trait.breaks


def half_up(value: float) -> int:
    """The nearest integer; halves are rounded up."""
    return math.floor(value + 0.5)


def quartiles(scores: Floats) -> Quartiles | None:
    """The quartiles of calibration scores in 0..1, by linear interpolation; None for fewer than two."""
    if len(scores) < 2:
        return None
    return Quartiles(*(half_up(float(value)) for value in np.percentile(100 * scores, [25, 50, 75])))


def breaks(positive: Quartiles | None, negative: Quartiles | None) -> TierBreaks:
    """The scores at which the tiers begin; 50 for all of them if a pole could not be measured."""
    if positive is None or negative is None:
        return TierBreaks(50, 50, 50)
    developing = negative.p75
    solid = max(positive.p25, developing)
    return TierBreaks(developing, solid, max(positive.p75, solid))


def tier(points: int, breaks: TierBreaks) -> Tier:
    """The highest tier whose break is reached."""
    if points >= breaks.strong:
        return "Strong"
    if points >= breaks.solid:
        return "Solid"
    return "Developing" if points >= breaks.developing else "Weak"


def confidence(
    trait: TraitAxis | ModeAxis, points: int, names: int = 50, same: int = 100
) -> tuple[Confidence, Reason | None]:
    """How sure it is that the score is on the right side, and why it is not high, see `Certainty.at`.

    In versions of earlier releases, the quartiles set the most that it can be.
    """
    most = ceiling(points, trait.breaks, trait.positive, trait.negative)
    return trait.certainty.at(points, most, names, same)


def ceiling(points: int, breaks: TierBreaks, positive: Quartiles | None, negative: Quartiles | None) -> Confidence:
    """The most confidence that the clusters of held-out scores allow; low without clusters.

    With separate clusters it is moderate between them and high elsewhere. With overlapping clusters it is low in the
    overlap and high elsewhere.
    """
    if positive is None or negative is None:
        return "low"
    if positive.p25 > negative.p75:
        return "moderate" if breaks.developing <= points < breaks.solid else "high"
    return "low" if positive.p25 <= points <= negative.p75 else "high"


def band(points: int, positive: Quartiles | None, negative: Quartiles | None) -> tuple[int, int]:
    """The interquartile range of the nearer cluster, by distance to its range, then to its median; 0-100 without
    clusters.
    """
    if positive is None or negative is None:
        return 0, 100
    nearer = min(positive, negative, key=lambda cluster: (_outside(points, cluster), abs(points - cluster.p50)))
    return nearer.p25, nearer.p75


def headroom(points: int, breaks: TierBreaks) -> int:
    """Points to the next break; 0 at Strong."""
    return next((at - points for at in (breaks.developing, breaks.solid, breaks.strong) if at > points), 0)


def composite(scores: Sequence[int]) -> int:
    """The harmonic mean of the scores above 0, to the nearest integer; 0 when there is none."""
    above = [points for points in scores if points > 0]
    total = sum([_SHARES[points] for points in above])
    return (2 * len(above) * _COMMON + total) // (2 * total) if above else 0


def _outside(points: int, cluster: Quartiles) -> int:
    return max(cluster.p25 - points, points - cluster.p75, 0)


def _embed(snapshot: Snapshot, encode: Encode, texts: Sequence[str]) -> NDArray[np.float32]:
    vectors = embed_as_is(encode, texts)
    if vectors.shape[1] != snapshot.encoder.dimension:
        raise EncoderMismatch(
            f"The version was trained with the encoder {snapshot.encoder.id} of dimension {snapshot.encoder.dimension},"
            f" but vectors here have {vectors.shape[1]} numbers. Choose that encoder with TRAITBENCH_ENCODER, or"
            " train again."
        )
    return vectors


def _detail(trait: RawScore) -> dict[str, Any]:
    return {
        "score": trait.score,
        "label": trait.label,
        "confidence": trait.confidence,
        "confidence_reason": trait.confidence_reason,
        "band": list(trait.band),
        "headroom": trait.headroom,
        "breaks": vars(trait.breaks),
        "native": {"polarity": trait.polarity},
    }


class Scored(Protocol):
    """The fields of a trait's score that decide it."""

    @property
    def score(self) -> int:
        """The score, 0-100."""
        ...

    @property
    def confidence(self) -> str:
        """How sure its side is."""
        ...

    @property
    def confidence_reason(self) -> str | None:
        """Why the confidence is not high."""
        ...


def certain(snapshot: Snapshot, a: Mapping[str, Scored], b: Mapping[str, Scored]) -> dict[str, bool]:
    """By the key of each trait on both cards: whether the texts surely differ.

    Texts surely differ if they are on opposite sides, both for sure. Otherwise a text that is unlike the samples surely
    differs from none.
    """
    return {
        trait.key: _certain(trait.certainty, a[trait.key], b[trait.key])
        for trait in snapshot.traits
        if trait.key in a and trait.key in b
    }


def _certain(certainty: Certainty, a: Scored, b: Scored) -> bool:
    both = certainty.chance is not None and "low" not in (a.confidence, b.confidence)
    if both and (a.score > _MIDDLE) != (b.score > _MIDDLE):
        return True
    resemble = "unlike_samples" not in (a.confidence_reason, b.confidence_reason)
    return resemble and certainty.differ(a.score, b.score)
