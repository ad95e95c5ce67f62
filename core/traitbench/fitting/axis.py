"""The path of directions from the centroid difference to the shrunk linear discriminant, with equal weight for both
poles.

The weights sum to one half at each pole. With m the weighted mean, S the weighted covariance and c the weighted
covariance of vectors and qualities, the direction at shrinkage L is (S + L s I)^-1 c, where s is the mean variance
(ridge-regularised linear discriminant analysis). A large L gives the difference of the two centroids, a small L the
discriminant. One eigendecomposition serves the whole path.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from traitbench.scoring.inputs import Floats

# Vectors are float32. Only so many rows at a time become doubles, which bounds the memory.
_ROWS_AT_ONCE = 4_096
# From this many samples on, use single precision: it takes half the time and moves a direction by less than 0.001
# radian.
_MANY = 4_096


@dataclass(frozen=True, eq=False)
class Path:
    """Directions (n_shrinkages, d) and offsets (n_shrinkages,): the value of x is `x @ direction + offset`.

    `middle` is the mean quality on -1..1, which every offset includes; 0 unless there are qualities between the poles.
    """

    directions: Floats
    offsets: Floats
    middle: float = 0.0

    def values(self, X: NDArray[np.floating]) -> Floats:
        """(n_samples, n_shrinkages); 1 is the positive pole, -1 the negative one."""
        values: Floats = X.astype(np.float64) @ self.directions.T + self.offsets
        return values


def pole_weights(y: Floats, sample_weight: Floats | None = None) -> Floats:
    """(n_samples,): weights that add up to one half on each side of 0.5, in proportion to `sample_weight`.

    A sample at 0.5 counts half on each side.
    """
    positive = np.where(y > 0.5, 1.0, np.where(y < 0.5, 0.0, 0.5))
    negative = 1 - positive
    if sample_weight is not None:
        positive, negative = sample_weight * positive, sample_weight * negative
    weights: Floats = 0.5 * positive / positive.sum() + 0.5 * negative / negative.sum()
    return weights


def path(X: NDArray[np.floating], y: Floats, shrinkages: Sequence[float], sample_weight: Floats | None = None) -> Path:
    """The path for vectors (n_samples, d) and qualities (n_samples,) of both poles.

    `sample_weight` (n_samples,) are the sample weights within a pole, by default equal.
    """
    return _decompose(X, y, shrinkages, pole_weights(y, sample_weight), leave_out=False)[0]


def path_and_left_out(X: NDArray[np.floating], y: Floats, shrinkages: Sequence[float]) -> tuple[Path, Floats]:
    """The path, and each sample's value (n_samples, n_shrinkages) from a fit without it, in closed form."""
    return _decompose(X, y, shrinkages, pole_weights(y), leave_out=True)


def centroid_difference(X: NDArray[np.floating], y: Floats, sample_weight: Floats | None = None) -> Path:
    """The end of the path at large shrinkage, scaled so that its values have mean square one.

    With one sample per pole, nothing else can be fitted.
    """
    weights = pole_weights(y, sample_weight)
    centre, target, middle = _centre(X, y, weights)
    direction = (weights * (target - middle)) @ (X.astype(np.float64) - centre)
    difference = Path(direction[None], np.array([middle - centre @ direction]), middle)
    scale = np.sqrt(weights @ np.square(difference.values(X)[:, 0]))
    return Path(difference.directions / scale, difference.offsets / scale, middle) if scale > 0 else difference


def _decompose(
    X: NDArray[np.floating], y: Floats, shrinkages: Sequence[float], weights: Floats, *, leave_out: bool
) -> tuple[Path, Floats]:
    n, d = X.shape
    centre, target, middle = _centre(X, y, weights)
    solve = _by_samples if n <= d else _by_features
    directions, leverage = solve(X, centre, weights, target - middle, np.array(shrinkages), leave_out)
    fitted = Path(directions, middle - directions @ centre, middle)
    if not leave_out:
        return fitted, np.empty((0, 0))
    values = _in_blocks(X, fitted.values)
    return fitted, _left_out(values, leverage, weights, target) - _moved(target, weights)[:, None]


def _centre(X: NDArray[np.floating], y: Floats, weights: Floats) -> tuple[Floats, Floats, float]:
    """The weighted mean of the vectors, the qualities on -1..1, and their weighted mean."""
    centre = sum((weights[rows] @ X[rows].astype(np.float64) for rows in _blocks(len(X))), np.zeros(X.shape[1]))
    target = 2 * y - 1
    return centre, target, float(weights @ target)


def _by_samples(
    X: NDArray[np.floating], centre: Floats, weights: Floats, pull: Floats, shrinkages: Floats, leave_out: bool
) -> tuple[Floats, Floats]:
    """Solve by the Gram matrix, for no more samples than features."""
    root = np.sqrt(weights)
    A = root[:, None] * (X.astype(np.float64) - centre)
    # n centred samples span at most n - 1 directions, so the mean variance is over these and not over d.
    variances, U = _eigen(A @ A.T)
    denominators = variances + _penalties(shrinkages, variances.sum() / max(1, len(X) - 1))
    directions = (U @ ((U.T @ (root * pull)) / denominators).T).T @ A
    leverage = np.square(U) @ (variances / denominators).T if leave_out else np.empty((0, 0))
    return directions, leverage


def _by_features(
    X: NDArray[np.floating], centre: Floats, weights: Floats, pull: Floats, shrinkages: Floats, leave_out: bool
) -> tuple[Floats, Floats]:
    """Solve by the covariance matrix, for more samples than features; in single precision for very many."""
    d = X.shape[1]
    S, c = np.zeros((d, d)), np.zeros(d)
    exact = len(X) < _MANY
    precision: type[np.floating] = np.float64 if exact else np.float32
    near = centre.astype(precision)
    for rows in _blocks(len(X)):
        centred = X[rows].astype(precision) - near
        root = np.sqrt(weights[rows]).astype(precision)[:, None] * centred
        S += root.T @ root
        c += (weights[rows] * pull[rows]).astype(precision) @ centred
    variances, Q = _eigen(((S + S.T) / 2).astype(precision))
    denominators = variances + _penalties(shrinkages, variances.sum() / d)
    directions = (Q @ ((Q.T @ c) / denominators).T).T
    if not leave_out:
        return directions, np.empty((0, 0))

    if not exact:
        # With very many samples the leverages hardly differ, so their mean is close enough and costs nothing.
        return directions, weights[:, None] * (variances / denominators).sum(axis=1)
    shrunk = (1 / denominators).T

    def leverage(rows: NDArray[np.floating]) -> Floats:
        along: Floats = np.square((rows.astype(np.float64) - centre) @ Q) @ shrunk
        return along

    return directions, weights[:, None] * _in_blocks(X, leverage)


def _eigen(symmetric: NDArray[np.floating]) -> tuple[Floats, Floats]:
    values, vectors = scipy.linalg.eigh(symmetric, check_finite=False, driver="evd")
    # A covariance has no negative eigenvalue; rounding makes tiny ones.
    return np.maximum(values, 0.0).astype(np.float64), vectors.astype(np.float64)


def _penalties(shrinkages: Floats, variance: float) -> Floats:
    """(n_shrinkages, 1); identical samples have no variance, and then any penalty gives a zero direction."""
    return shrinkages[:, None] * (variance if variance > 0 else 1.0)


def _left_out(values: Floats, leverage: Floats, weights: Floats, target: Floats) -> Floats:
    """The value of each sample on the path fitted without it.

    The closed form removes the sample's weight and keeps the other weights, so its pole would count less and the middle
    would shift. The second term restores the weight of one half to the rest of the pole.
    """
    own = weights[:, None]
    residual = target[:, None] - values
    side = np.sign(target)[:, None]
    gap = 2 * (side * own * residual).sum(axis=0)
    left_out_values: Floats = target[:, None] - residual / np.maximum(1 - leverage - own, 1e-9)
    left_out_values += side * own / (1 - own) * gap / 2
    return left_out_values


def _moved(target: Floats, weights: Floats) -> Floats:
    """(n,): how far the mean quality moves when a sample is left out.

    It moves away from the sample. At large shrinkage directions are short, so this shift would dominate and make the
    axis look as if it ranked every quality in reverse.
    """
    moved = np.zeros(len(target))
    for side in (target > 0, target < 0):
        share, mean = 2 * weights[side], 2 * weights[side] @ target[side]
        moved[side] = share / (1 - share) * (mean - target[side]) / 2
    return moved


def _blocks(n: int) -> list[slice]:
    return [slice(first, first + _ROWS_AT_ONCE) for first in range(0, n, _ROWS_AT_ONCE)]


def _in_blocks(X: NDArray[np.floating], of: Callable[[NDArray[np.floating]], Floats]) -> Floats:
    return np.vstack([of(X[rows]) for rows in _blocks(len(X))])
