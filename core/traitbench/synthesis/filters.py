"""Filter generated texts: drop near duplicates, and texts that are not on the side of their own pole."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

NEAR_DUPLICATE = 0.95
"""Texts whose vectors have a greater cosine are near duplicates."""


def distinct(vectors: Vectors) -> NDArray[np.bool_]:
    """(n,): whether to keep a row: it is not a near duplicate of an earlier row that was kept. Rows have length one."""
    alike = vectors @ vectors.T > NEAR_DUPLICATE
    kept = np.zeros(len(vectors), bool)
    for i in range(len(vectors)):
        kept[i] = not alike[i, :i][kept[:i]].any()
    return kept


def on_side(positive: Vectors, negative: Vectors, axis: NDArray[np.float64]) -> tuple[NDArray[np.bool_], ...]:
    """For each pole (n,): whether a text lies on the side of its pole.

    It may lie up to one standard deviation of its pole beyond the middle.
    """
    one, other = (vectors.astype(np.float64) @ axis for vectors in (positive, negative))
    middle = (one.mean() + other.mean()) / 2
    return one >= middle - one.std(), other <= middle + other.std()


def agreeing(vectors: Vectors, seeds: Sequence[int], seed_vectors: Vectors, *, least: float) -> NDArray[np.bool_]:
    """(n,): whether a variation is still similar to its seed."""
    similarity = np.einsum("ij,ij->i", vectors, seed_vectors[list(seeds)])
    near: NDArray[np.bool_] = similarity >= least
    return near
