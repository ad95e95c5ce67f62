"""Join blocks of features to unit vectors, row by row: a row never depends on the other rows."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders import Vectors
from traitbench.scoring.unit import unit

_AT_ONCE = 256


def join(weights: Sequence[float], blocks: Sequence[NDArray[np.floating]]) -> Vectors:
    """The blocks (n, d_i) side by side, each multiplied by its weight, each row at length one."""
    weighted = [weight * block for weight, block in zip(weights, blocks, strict=True)]
    return unit(np.concatenate(weighted, axis=-1)).astype(np.float32)


def in_slices(texts: Sequence[str], encode: Callable[[Sequence[str]], Vectors], width: int) -> Vectors:
    """(n_texts, width): encode a few texts at a time, so that intermediate results stay small."""
    rows = np.empty((len(texts), width), np.float32)
    for first in range(0, len(texts), _AT_ONCE):
        some = texts[first : first + _AT_ONCE]
        rows[first : first + len(some)] = encode(some)
    return rows
