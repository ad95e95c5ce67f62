"""Near duplicates: texts whose vectors have a cosine of 0.95 or more, directly or by a chain of such pairs.

All pairs are checked, but most of them in few dimensions: along the directions that separate the texts best, plus the
length of the remainder. This product is never smaller than the cosine, so only pairs whose product is large are
compared in full. The choice of directions affects the time, never the result.
"""

import hashlib
import unicodedata
from collections.abc import Sequence

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from traitbench.as_read import FIRST, as_read

Vectors = NDArray[np.float32]
Labels = NDArray[np.int64]

NEAR = 0.95
"""The cosine from which two texts count as near duplicates."""

MOST_SAMPLES = 20_000
"""The time grows with the square of the rows: beyond this many, near duplicates are not searched."""

_FEWEST_FEATURES = 64
_MOST_NAMES = 2
# The next five decide about time and memory only, not about the result.
_DIRECTIONS = 64
_LOOKED_AT = 384
_ROWS = 1_024
_PAIRS = 16_384
_MANY = 8
# Products of single precision are rounded; with this margin the sketch misses no pair.
_ROUNDING = 1e-4
_LONGEST_WORD = 256


def near_duplicates(X: Vectors) -> Labels:
    """(n,): a label per row, equal for near duplicates; a row of zeros is never a duplicate.

    In fewer than 64 dimensions unrelated texts are close: then every row gets its own label. Beyond `MOST_SAMPLES` rows
    the check takes too long: then only equal rows, those of texts that are read the same, get one label.
    """
    own: Labels = np.arange(len(X), dtype=np.int64)
    if X.shape[1] < _FEWEST_FEATURES:
        return own
    if len(X) > MOST_SAMPLES:
        return np.where(X.any(axis=1), _of_equal(X), own)
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
    non_empty = np.flatnonzero(lengths > 0)
    if len(non_empty) > 1:
        unit = X if (np.abs(lengths - 1) < _ROUNDING / 10).all() else X[non_empty] / lengths[non_empty, None]
        own[non_empty] = non_empty[_first(_linked(unit.astype(np.float32, copy=False)))]
    return own


def counterparts(X: Vectors, others: Vectors) -> tuple[Labels, Labels]:
    """For every row of `X` (n, d) its near duplicate in `others` (m, d), and for every row of `others` that in `X`.

    Each is the index of the closest row with a cosine of at least `NEAR`, or -1. As in `near_duplicates`, there are
    none in fewer than 64 dimensions and beyond `MOST_SAMPLES` rows.
    """
    result: tuple[Labels, Labels] = (np.full(len(X), -1, np.int64), np.full(len(others), -1, np.int64))
    if not len(X) or not len(others) or X.shape[1] < _FEWEST_FEATURES or len(X) + len(others) > MOST_SAMPLES:
        return result
    left, right = (_at_length_one(rows) for rows in (X, others))
    best = np.full(len(others), NEAR, np.float32)
    for start in range(0, len(X), _ROWS):
        cosines = left[start : start + _ROWS] @ right.T
        nearest = cosines.argmax(axis=1)
        near = cosines[np.arange(len(cosines)), nearest] >= NEAR
        result[0][start : start + _ROWS] = np.where(near, nearest, -1)
        highest = cosines.max(axis=0)
        closer = (highest > best) | ((highest == best) & (result[1] < 0))
        result[1][closer] = start + cosines.argmax(axis=0)[closer]
        best[closer] = highest[closer]
    return result


def _of_equal(X: Vectors) -> Labels:
    """(n,): the index of the first equal row."""
    first: dict[bytes, int] = {}
    digests = (hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in X)
    return np.array([first.setdefault(digest, at) for at, digest in enumerate(digests)], np.int64)


def _at_length_one(X: Vectors) -> Vectors:
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
    return (X / np.where(lengths > 0, lengths, 1)[:, None]).astype(np.float32)


def joined(one: NDArray[np.integer], other: NDArray[np.integer]) -> Labels:
    """(n,): equal where a chain of equal labels, of either kind, connects two rows."""
    (names, left), (more, right) = (np.unique(each, return_inverse=True) for each in (one, other))
    size = len(names) + len(more)
    links = coo_array((np.ones(len(left)), (left, len(names) + right)), shape=(size, size))
    parts = connected_components(links, directed=False)[1]
    return parts[left].astype(np.int64)


def together(units: Labels, names: Sequence[str | None]) -> Labels:
    """(n,): the units, joined where rows have one name, directly or by a chain; the units themselves without names.

    Units are texts that count once. One with more than two names, such as a greeting, is in none and joins nothing.
    """
    named = np.array([bool(name) for name in names], bool)
    if not named.any():
        return units
    known = {name: number for number, name in enumerate(dict.fromkeys(filter(None, names)))}
    of = np.array([known[name] if name else -1 for name in names], np.int64)
    pairs = np.unique(np.stack([units[named], of[named]]), axis=1)
    common, counts = np.unique(pairs[0], return_counts=True)
    is_own = named & ~np.isin(units, common[counts > _MOST_NAMES])
    _, own = np.unique(units, return_inverse=True)
    return joined(units, np.where(is_own, of, len(known) + own))


def _first(labels: Labels) -> NDArray[np.intp]:
    """(n,): the index of the first row with the same label."""
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    return first[which]


def _linked(X: Vectors) -> Labels:
    """Labels of unit rows: rows with a cosine of at least `NEAR` are in one component."""
    labels: Labels = np.arange(len(X), dtype=np.int64)
    sketch = _sketch(X) if len(X) > _ROWS else X
    for start in range(0, len(X), _ROWS):
        left, right = _pairs(sketch, start)
        if len(left) > _MANY * _ROWS:  # In this case the sketch would rule out too few pairs.
            left, right = _pairs(X, start, labels)
        while len(left):
            labels = _merged(X, labels, left[:_PAIRS], right[:_PAIRS])
            left, right = left[_PAIRS:], right[_PAIRS:]
            apart = labels[left] != labels[right]
            left, right = left[apart], right[apart]
    return labels


def _pairs(rows: Vectors, start: int, labels: Labels | None = None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of rows whose sketches are similar: the first row is in the block at `start`, the second comes after it."""
    block = slice(start, start + _ROWS)
    close = rows[block] @ rows[start:].T >= NEAR - _ROUNDING
    if labels is not None:
        close &= labels[block, None] != labels[None, start:]
    left, right = np.divmod(np.flatnonzero(close), close.shape[1])
    forward = left < right
    return left[forward] + start, right[forward] + start


def _merged(X: Vectors, labels: Labels, left: NDArray[np.intp], right: NDArray[np.intp]) -> Labels:
    """The labels, merged for the pairs whose full vectors are similar."""
    same = np.einsum("ij,ij->i", X[left], X[right], dtype=np.float64) >= NEAR
    ends = (labels[left[same]], labels[right[same]])
    links = coo_array((np.ones(same.sum()), ends), shape=(len(X), len(X)))
    parts = connected_components(links, directed=False)[1]
    return parts[labels].astype(np.int64)


def _sketch(X: Vectors) -> Vectors:
    """(n, few + 1): rows whose products are never below those of the full rows."""
    subset = X[:: max(1, len(X) // _LOOKED_AT)][:_LOOKED_AT].astype(np.float64)
    few = min(_DIRECTIONS, len(subset), X.shape[1])
    values, U = scipy.linalg.eigh(
        subset @ subset.T, subset_by_index=(len(subset) - few, len(subset) - 1), check_finite=False
    )
    sound = values > 1e-6 * values[-1]
    basis = scipy.linalg.qr(subset.T @ U[:, sound], mode="economic", check_finite=False)[0]
    along = X @ basis.astype(np.float32)
    rest = np.sqrt(np.maximum(1 - np.square(along).sum(axis=1), 0))
    return np.column_stack([along, rest]).astype(np.float32)


def plain(text: str) -> str:
    """The text as it is read, without case, punctuation and extra spaces; a text of only punctuation stays as it is.

    Characters that mean the same have one form (NFKC): an accent may follow its letter, and letters may be wide or not.
    """
    text = " ".join(map(_normal, as_read(text, FIRST).text.split()))
    return " ".join(text.casefold().translate(_PUNCTUATION).split()) or text


def _normal(word: str) -> str:
    # Long runs of marks take quadratic time to put in order, and are no words.
    return unicodedata.normalize("NFKC", word) if len(word) <= _LONGEST_WORD else word


class _Punctuation(dict[int, int | None]):
    """A translation table: punctuation is removed; symbols and emoji, which may carry meaning, stay."""

    def __missing__(self, character: int) -> int | None:
        replacement = None if unicodedata.category(chr(character)).startswith("P") else character
        self[character] = replacement
        return replacement


_PUNCTUATION = _Punctuation()
