"""Vectors with labels, and scores with labels, drawn at random."""

import numpy as np
from numpy.typing import NDArray


def clouds(
    n: int, *, apart: float = 3.0, d: int = 70, seed: int = 1
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Two clouds, one sample of each pole after another."""
    rng = np.random.default_rng(seed)
    y = np.tile([1.0, 0.0], n)
    X = rng.normal(size=(2 * n, d)) * 0.5
    X[:, 0] += apart * (2 * y - 1)
    X[:, 1] += 2
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), y


def population(share: float, apart: float, *, seed: int = 1, size: int = 2_000) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels of texts; with `apart` 0 the scores say nothing."""
    lot = np.random.default_rng(seed)
    labels = (lot.random(size) < share).astype(np.float64)
    return 1 / (1 + np.exp(-(lot.normal(size=size) + apart * (labels - 0.5)))), labels
