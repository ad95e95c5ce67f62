"""Blocks of features joined to one unit vector."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.encoders import Vectors


def unit(vector: NDArray[np.floating]) -> NDArray[np.float64]:
    """The vector at length one; zeros stay zeros."""
    exact = vector.astype(np.float64)
    length = np.sqrt(np.square(exact).sum())
    return exact / length if length > 0 else exact


def join(weights: Sequence[float], blocks: Sequence[NDArray[np.floating]]) -> Vectors:
    """The blocks side by side, each times its weight, at length one."""
    weighted = [weight * block for weight, block in zip(weights, blocks, strict=True)]
    return unit(np.concatenate(weighted)).astype(np.float32)
