"""Filter texts that were made for a trait, by whatever generator, before they become samples.

A made text must not repeat what is there, must lie on its own side, and must not betray its pole by anything but its
meaning. A pole whose texts are longer, or all end in "!", teaches length or marks instead of the trait. Each rejected
text has one reason, the first that applies. "invalid" and "strayed" (a variation that says something else than its
seed) are for the generators. Pure: equal inputs give equal results.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from traitbench.fitting.duplicates import NEAR, plain
from traitbench.scoring.inputs import unit
from traitbench.scoring.segments import Encode, Vectors, embed
from traitbench.scoring.words import first_words, words
from traitbench.synthesis import Exemplar, Reject

Booleans = NDArray[np.bool_]
Reason = Literal["invalid", "copy", "near_duplicate", "wrong_side", "strayed", "repetitive", "form", "length"]

MOST_LONGER = 1.25
"""How much longer the texts of one pole may be than those of the other, on average."""

MOST_DIFFERENCE = 0.5
"""How much the poles may differ in the share of texts with a mark such as "!"."""

NEAR_DUPLICATE = 0.95
"""Texts whose vectors have a greater cosine are near duplicates."""

NEAR_SEED = 0.7
"""A variation whose cosine to its seed is lower says something else."""

_BETWEEN = 0.25
_OPENING_WORDS, _FEWEST_OPENINGS, _OPENING_SHARE = 3, 3, 1 / 8
_FEWEST_PER_POLE = 6
_FEWEST_SEEDS = 8


def examine(
    texts: Sequence[str],
    quality: NDArray[np.float64],
    X: Vectors,
    *,
    known_texts: Collection[str] = (),
    known: Vectors | None = None,
    axis: NDArray[np.float64] | None = None,
    seeds: Vectors | None = None,
    pairs: Sequence[int] | None = None,
) -> list[Reason | None]:
    """Return for each text why it is rejected, None if it is accepted.

    `X` (n, d) are the unit vectors of the texts, `known` (m, d) those of texts that the trait has. `axis` (d,) points
    to the positive pole. `seeds` (n, d) are the vectors of the texts that these vary: they set length, form and side.
    Texts with an equal number in `pairs` are accepted or rejected together.
    """
    result: list[Reason | None] = [None] * len(texts)
    if not len(texts):
        return result
    steps: list[tuple[Reason, Callable[[Booleans], Booleans]]] = [
        ("copy", lambda _: _copies(texts, known_texts)),
        ("near_duplicate", lambda open_: _near(X, known, open_)),
    ]
    if seeds is not None:
        # Variations have the length and the form of their seeds, so only the side is examined. The price of all these
        # checks: offline, most variations of a single short sentence are rejected.
        steps += [("wrong_side", lambda _: _drifted(X, seeds, quality, axis))]
    else:
        steps += [
            ("wrong_side", lambda open_: _beyond(X, quality, axis, open_)),
            ("repetitive", lambda open_: _repetitive(texts, quality, open_)),
            ("form", lambda open_: _uneven_form(texts, quality, open_)),
            ("length", lambda open_: _uneven_length(texts, quality, open_)),
        ]
    for reason, step in steps:
        is_open = np.array([each is None for each in result])
        _reject(result, np.flatnonzero(step(is_open) & is_open), reason, pairs)
    return result


def _reject(result: list[Reason | None], rows: NDArray[np.intp], reason: Reason, pairs: Sequence[int] | None) -> None:
    # If one text of a pair stayed alone, its sentence frame would reveal the pole.
    groups = {pairs[row] for row in rows.tolist()} if pairs is not None else set()
    for row in range(len(result)) if groups else rows.tolist():
        if result[row] is None and (pairs is None or pairs[row] in groups):
            result[row] = reason


# ---- what is there already -------------------------------------------------------------------------------------------


def _copies(texts: Sequence[str], known_texts: Collection[str]) -> Booleans:
    seen = {plain(text) for text in known_texts}
    rejected = np.zeros(len(texts), bool)
    for row, text in enumerate(map(plain, texts)):
        rejected[row] = text in seen
        seen.add(text)
    return rejected


def _near(X: Vectors, known: Vectors | None, is_open: Booleans) -> Booleans:
    """Whether a row is near a known row, or near an earlier row that is kept."""
    rejected = np.zeros(len(X), bool)
    if known is not None and len(known):
        rejected |= (X @ known.T >= NEAR).any(axis=1)
    similar = X @ X.T >= NEAR
    accepted = np.zeros(len(X), bool)
    for row in range(len(X)):
        rejected[row] |= bool(similar[row, :row][accepted[:row]].any())
        accepted[row] = is_open[row] and not rejected[row]
    return rejected


# ---- the side --------------------------------------------------------------------------------------------------------


def _poles(quality: NDArray[np.float64], is_open: Booleans) -> tuple[Booleans, Booleans]:
    """The open texts at each pole, positive first; a quality from 0.25 to 0.75 is in between."""
    return is_open & (quality > 1 - _BETWEEN), is_open & (quality < _BETWEEN)


def _beyond(X: Vectors, quality: NDArray[np.float64], axis: NDArray[np.float64] | None, is_open: Booleans) -> Booleans:
    """Whether a text of a pole is more than one standard deviation of its pole beyond the middle of the axis."""
    rejected = np.zeros(len(X), bool)
    poles = _poles(quality, is_open)
    if axis is None or not all(pole.any() for pole in poles):
        return rejected
    projection = X.astype(np.float64) @ axis
    middle = sum(projection[pole].mean() for pole in poles) / 2
    for pole, sign in zip(poles, (1, -1), strict=True):
        # A whole deviation, because the axis is itself uncertain, and texts between the poles are worth having.
        rejected |= pole & (sign * (projection - middle) < -projection[pole].std())
    return rejected


def _drifted(X: Vectors, seeds: Vectors, quality: NDArray[np.float64], axis: NDArray[np.float64] | None) -> Booleans:
    """Whether a text moved from its seed to the other pole by more than one standard deviation of all seeds."""
    projections = np.unique((seeds.astype(np.float64) @ axis).round(9)) if axis is not None else np.zeros(0)
    if axis is None or len(projections) < _FEWEST_SEEDS:
        return np.zeros(len(X), bool)
    moved = (X.astype(np.float64) - seeds) @ axis
    drifted: Booleans = np.sign(quality - 0.5) * moved < -projections.std()
    return drifted


# ---- variety, form and length ----------------------------------------------------------------------------------------


def _repetitive(texts: Sequence[str], quality: NDArray[np.float64], is_open: Booleans) -> Booleans:
    """Whether a text begins like too many earlier texts of its pole."""
    positive, negative = _poles(quality, is_open)
    rejected = np.zeros(len(texts), bool)
    for pole in (positive, negative, is_open & ~positive & ~negative):
        most = max(_FEWEST_OPENINGS, math.ceil(pole.sum() * _OPENING_SHARE))
        counts = Counter[str]()
        for row in np.flatnonzero(pole).tolist():
            opening = first_words(plain(texts[row]), _OPENING_WORDS)
            counts[opening] += 1
            rejected[row] = counts[opening] > most
    return rejected


_MARKS: Mapping[str, Callable[[str], bool]] = {
    "exclamation": lambda text: "!" in text,
    "question": lambda text: "?" in text,
    "digit": lambda text: any(each.isdigit() for each in text),
    "quote": lambda text: any(each in text for each in '"“”«»'),
    "lines": lambda text: "\n" in text.strip(),
    "capitals": lambda text: any(len(word) > 2 and word.isupper() for word in text.split()),
    "symbol": lambda text: any(unicodedata.category(each) == "So" for each in text),
    "small beginning": lambda text: text[:1].islower(),
}


def _uneven_form(texts: Sequence[str], quality: NDArray[np.float64], is_open: Booleans) -> Booleans:
    """The texts to drop so that no mark is much more frequent at one pole than at the other."""
    rejected = np.zeros(len(texts), bool)
    for has_mark in _MARKS.values():
        marked = np.array([has_mark(text) for text in texts])
        poles = _poles(quality, is_open & ~rejected)
        if min(pole.sum() for pole in poles) < _FEWEST_PER_POLE:
            break
        shares = [marked[pole].mean() for pole in poles]
        more, allowed = int(shares[1] > shares[0]), min(shares) + MOST_DIFFERENCE
        rows = np.flatnonzero(poles[more] & marked)
        plain_texts = int((poles[more] & ~marked).sum())
        # As many marked texts may stay as make up the allowed share together with those without the mark.
        stay = math.floor(allowed * plain_texts / (1 - allowed)) if allowed < 1 else len(rows)
        rejected[rows[max(stay, len(rows) - int(poles[more].sum()) // 2) :]] = True
    return rejected


def _uneven_length(texts: Sequence[str], quality: NDArray[np.float64], is_open: Booleans) -> Booleans:
    """The texts to drop so that the poles are about equally long: the longest of one, the shortest of the other.

    At most half of a pole is dropped.
    """
    counts = np.array([len(words(text)) for text in texts], float)
    rejected = np.zeros(len(texts), bool)
    for row in _trimmed(counts, [np.flatnonzero(pole) for pole in _poles(quality, is_open)]):
        rejected[row] = True
    return rejected


def _trimmed(words: NDArray[np.float64], poles: Sequence[NDArray[np.intp]]) -> Iterator[int]:
    remaining = [sorted(pole.tolist(), key=lambda row: (words[row], row)) for pole in poles]
    least = [max(_FEWEST_PER_POLE, math.ceil(len(pole) / 2)) for pole in remaining]
    while all(remaining):
        means = [words[pole].mean() for pole in remaining]
        longer = int(means[1] > means[0])
        if means[longer] <= MOST_LONGER * means[1 - longer]:
            return
        # Drop where more may be dropped.
        if len(remaining[longer]) - least[longer] >= max(1, len(remaining[1 - longer]) - least[1 - longer]):
            yield remaining[longer].pop()
        elif len(remaining[1 - longer]) > least[1 - longer]:
            yield remaining[1 - longer].pop(0)
        else:
            return


# ---- admission of texts ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Admission:
    """The accepted texts and the rejected ones, in their order."""

    accepted: Sequence[Exemplar]
    rejects: Sequence[Reject]

    @classmethod
    def of(cls, made: Sequence[Exemplar], reasons: Sequence[Reason | None]) -> "Admission":
        """The texts by the reason of each; None is accepted."""
        accepted = [each for each, reason in zip(made, reasons, strict=True) if reason is None]
        return cls(accepted, [Reject(each, reason) for each, reason in zip(made, reasons, strict=True) if reason])


@dataclass(frozen=True, eq=False)
class Present:
    """The texts that a trait has, with their unit vectors (n, d)."""

    texts: Sequence[str]
    X: Vectors

    @classmethod
    def of(cls, texts: Sequence[str], encode: Encode) -> "Present":
        """The texts of a trait, encoded."""
        return cls(texts, at_length_one(embed(encode, texts)) if texts else np.zeros((0, 0), np.float32))


def admit_new(
    made: Sequence[Exemplar],
    present: Present,
    *,
    encode: Encode,
    axis: NDArray[np.floating] | None,
    pairs: Sequence[int] | None = None,
) -> Admission:
    """Examine texts that were written from the words of a trait."""
    texts, quality = [each.text for each in made], np.array([each.quality for each in made], float)
    reasons = examine(
        texts,
        quality,
        at_length_one(embed(encode, texts)) if texts else np.zeros((0, 0), np.float32),
        known_texts=present.texts,
        known=present.X,
        axis=None if axis is None else np.asarray(axis, np.float64),
        pairs=pairs,
    )
    return Admission.of(made, reasons)


def admit_varied(
    made: Sequence[Exemplar],
    seeds: Sequence[str],
    present: Present,
    *,
    encode: Encode,
    poles: Sequence[float],
    free: bool = False,
) -> Admission:
    """Examine variations; `seeds` (one per variation) are the varied texts and `poles` their qualities.

    A `free` variation has the voice of its seed only, so its content may be far from it.
    """
    if not made:
        return Admission([], [])
    distinct = list(dict.fromkeys(seeds))
    rows = [distinct.index(seed) for seed in seeds]
    X, originals = (at_length_one(embed(encode, texts)) for texts in ([each.text for each in made], distinct))
    quality = np.array(poles, float)
    reasons = examine(
        [each.text for each in made],
        quality,
        X,
        known_texts=present.texts,
        known=present.X,
        axis=_between(originals[rows], quality),
        seeds=originals[rows],
    )
    strayed = np.zeros(len(made), bool) if free else ~(np.einsum("ij,ij->i", X, originals[rows]) >= NEAR_SEED)
    final: list[Reason | None] = [
        "strayed" if reason is None and far else reason for reason, far in zip(reasons, strayed.tolist(), strict=True)
    ]
    return Admission.of(made, final)


def _between(seeds: Vectors, quality: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The direction (d,) from the negative seeds to the positive ones; None if a pole has none."""
    positive, negative = quality > 0.5, quality < 0.5
    if not positive.any() or not negative.any():
        return None
    return unit(seeds[positive].astype(np.float64).mean(axis=0) - seeds[negative].astype(np.float64).mean(axis=0))


def at_length_one(X: Vectors) -> Vectors:
    """The rows at length one; a row of zeros stays as it is."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return (X / np.where(lengths > 0, lengths, 1)).astype(np.float32)


# ---- before a pair is written ----------------------------------------------------------------------------------------


def distinct(vectors: Vectors) -> NDArray[np.bool_]:
    """(n,): whether to keep a row: it is not a near duplicate of an earlier row that was kept. Rows have length one."""
    similar = vectors @ vectors.T > NEAR_DUPLICATE
    accepted = np.zeros(len(vectors), bool)
    for i in range(len(vectors)):
        accepted[i] = not similar[i, :i][accepted[:i]].any()
    return accepted


def on_side(positive: Vectors, negative: Vectors, axis: NDArray[np.float64]) -> tuple[NDArray[np.bool_], ...]:
    """For each pole (n,): whether a text lies on the side of its pole.

    It may lie up to one standard deviation of its pole beyond the middle.
    """
    one, other = (vectors.astype(np.float64) @ axis for vectors in (positive, negative))
    middle = (one.mean() + other.mean()) / 2
    return one >= middle - one.std(), other <= middle + other.std()
