"""Scale vectors to length one."""

import numpy as np
from numpy.typing import NDArray


def unit(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Each row (along the last axis) at length one, in double precision; zeros stay zeros."""
    exact = vectors.astype(np.float64, copy=False)
    lengths = np.sqrt(np.square(exact).sum(axis=-1, keepdims=True))
    lengths[lengths == 0] = 1.0
    rows: NDArray[np.float64] = exact / lengths
    return rows
