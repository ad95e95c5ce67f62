"""Active learning: in which order to label texts, so that few labels teach much.

The first labels go to typical texts of different kinds, because a classifier that knows little asks badly (TypiClust:
Hacohen, Dekel and Weinshall 2022). Then they go to the texts whose side is least certain. What labels say is modelled
by a Gaussian process on the cosines between texts. The labelled texts around a text say on which side it is (its mean)
and how much is known there (its variance). So a text counts as uncertain if it is near the border or unlike everything
labelled. A constant is learned too: where one pole is rare, the border lies near its texts. The prior mean is the
position on the label axis, so there is an order before the first label.

Everything is deterministic. A decision costs one product of the pool with one vector: earlier cosines are kept.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Order = Literal["random", "informative", "top", "bottom"]
ORDERS: tuple[Order, ...] = get_args(Order)

# Asking about doubtful texts from the first label on was worse than random order on every set that was measured.
TYPICAL_FIRST = 16
"""How many labels go to typical texts of different kinds, and the number of kinds."""

MOST_LABELS = 400
"""The most labelled texts that count; the newest."""

# Without the bias, the queue missed the rare pole of the spam set. Its value was chosen on that set.
_NOISE, _PRIOR, _BIAS = 0.5, 0.5, 1.0
# Each choice changes the covariances of all candidates, so only the most uncertain texts are candidates.
_CANDIDATES = 200
_LEAST = 1e-6
# Clusters come from a part of a large pool: the same part for the same texts.
_SURVEYED, _NEIGHBOURS, _ROUNDS = 1_500, 10, 12

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Belief:
    """What labels say about each text: its side, from -1 to 1 or beyond, and the variance: low where much is known."""

    mean: Floats
    variance: Floats

    @property
    def doubt(self) -> Floats:
        """How uncertain the side is: 0 where nothing speaks for either, ever lower where something does."""
        return _doubt(self.mean, self.variance)


class LabelQueue:
    """Texts to label, as vectors (n, d). `prior` (n,) are their positions on the label axis, zeros if there is none."""

    def __init__(self, X: Vectors, prior: Floats | None = None) -> None:
        self._centre = X.mean(axis=0) if len(X) else np.zeros(X.shape[1], np.float32)
        self._X = self._centred(X)
        raw = np.zeros(len(X)) if prior is None else np.asarray(prior, np.float64)
        spread = float(raw.std()) if len(X) else 0.0
        self._middle, self._scale = (float(raw.mean()), _PRIOR / spread) if spread > 0 else (0.0, 0.0)
        self._prior = (raw - self._middle) * self._scale
        self._columns: dict[Hashable, Vectors] = {}
        self._rows: Vectors = self._X[:0]
        self.belief = Belief(self._prior, np.full(len(X), 1 + _BIAS))

    def learn(self, ids: Sequence[Hashable], X: Vectors, y: Floats, prior: Floats | None = None) -> None:
        """Set the labelled texts: vectors (l, d), qualities (l,) from 0 to 1, and positions on the label axis (l,).

        `ids` (l,) name the texts, each once, the oldest first: cosines of ids that were there before are kept.
        """
        ids, X, y = ids[-MOST_LABELS:], X[-MOST_LABELS:], y[-MOST_LABELS:]
        raw = np.zeros(len(X)) if prior is None else np.asarray(prior, np.float64)[-MOST_LABELS:]
        self._rows = self._centred(X)
        new = [index for index, name in enumerate(ids) if name not in self._columns]
        made = dict(zip([ids[index] for index in new], (self._X @ self._rows[new].T).T, strict=True))
        self._columns = {name: made[name] if name in made else self._columns[name] for name in ids}
        signs = 2 * np.asarray(y, np.float64) - 1
        self.belief = self._believed(signs - (raw - self._middle) * self._scale)

    def first(self, order: Order, count: int, *, free: Mask, seed: int = 0) -> Indices:
        """Return the texts to label next, at most `count` of those that are `free` (n,), the first one first."""
        if order == "random":
            return _first_of(np.random.default_rng(seed).random(len(self._X)), free, count)
        if order == "informative":
            typical = self._typical(free, min(count, TYPICAL_FIRST - len(self._rows)))
            rest = free.copy()
            rest[typical] = False
            return np.concatenate([typical, self._doubtful(rest, count - len(typical))])
        return _first_of(self.belief.mean if order == "top" else -self.belief.mean, free, count)

    # ---- typical texts -----------------------------------------------------------------------------------------------

    def _typical(self, free: Mask, count: int) -> Indices:
        """The most typical free text of the kind with the fewest labels, the larger kind first, and so on."""
        if count <= 0 or not free.any():
            return np.zeros(0, np.intp)
        kinds, typicality = self._kinds
        centres = np.array([self._X[kinds == kind].mean(axis=0) for kind in range(kinds.max() + 1)])
        sizes = np.bincount(kinds)
        labels = np.bincount(np.argmax(self._rows @ centres.T, axis=1), minlength=len(sizes)) if len(self._rows) else 0
        labels = labels + np.zeros(len(sizes), int)
        left, chosen = free.copy(), list[int]()
        while len(chosen) < count and left.any():
            open_kinds = np.bincount(kinds[left], minlength=len(sizes)) > 0
            kind = min(np.flatnonzero(open_kinds), key=lambda each: (labels[each], -sizes[each]))
            best = int(np.argmax(np.where(left & (kinds == kind), typicality, -np.inf)))
            left[best] = False
            labels[kind] += 1
            chosen.append(best)
        return np.array(chosen, np.intp)

    @cached_property
    def _kinds(self) -> tuple[Indices, Floats]:
        """(n,) the cluster of each text, and (n,) how typical it is: the mean cosine to its nearest neighbours."""
        some = np.random.default_rng(0).permutation(len(self._X))[:_SURVEYED]
        surveyed = self._X[some]
        kinds = np.argmax(self._X @ _centres(surveyed, min(TYPICAL_FIRST, len(some))).T, axis=1)
        _, dense = np.unique(kinds, return_inverse=True)
        nearest = min(_NEIGHBOURS + 1, len(some))
        typicality = np.concatenate(
            [
                np.partition(block @ surveyed.T, -nearest, axis=1)[:, -nearest:].mean(axis=1)
                # In blocks, because all cosines of a large pool at once may not fit into memory.
                for block in np.array_split(self._X, max(1, len(self._X) // 2_000))
            ]
        )
        return dense.astype(np.intp), typicality.astype(np.float64)

    # ---- doubtful texts ----------------------------------------------------------------------------------------------

    def _doubtful(self, free: Mask, count: int) -> Indices:
        """The most uncertain texts one after another, each as if those before it were labelled as expected."""
        if count <= 0:
            return np.zeros(0, np.intp)
        some = _first_of(self.belief.doubt, free, max(_CANDIDATES, count))
        covariance, mean = self._covariance(some), self.belief.mean[some]
        left, chosen = np.ones(len(some), bool), list[int]()
        while len(chosen) < min(count, len(some)):
            doubt = np.where(left, _doubt(mean, covariance.diagonal()), -np.inf)
            best = int(np.argmax(doubt))
            left[best] = False
            chosen.append(best)
            column = covariance[:, best].copy()
            # A Gaussian process learns from a label of the expected sign: the variance falls, the mean stays.
            covariance -= np.outer(column, column) / (column[best] + _NOISE)
        return some[chosen]

    def _covariance(self, some: Indices) -> Floats:
        """(s, s): what the labels leave unknown about these texts."""
        own: Floats = (self._X[some] @ self._X[some].T).astype(np.float64) + _BIAS
        if not self._columns:
            return own
        K = np.stack([column[some] for column in self._columns.values()], axis=1).astype(np.float64) + _BIAS
        result: Floats = own - K @ np.linalg.solve(self._among(), K.T)
        return result

    def _believed(self, residuals: Floats) -> Belief:
        if not len(self._rows):
            return Belief(self._prior, np.full(len(self._X), 1 + _BIAS))
        K = np.stack(list(self._columns.values()), axis=1) + np.float32(_BIAS)
        inverse = np.linalg.inv(self._among())
        known = np.einsum("ij,ij->i", K @ inverse.astype(np.float32), K)
        mean = self._prior + K @ (inverse @ residuals)
        return Belief(mean, np.maximum(1 + _BIAS - known.astype(np.float64), _LEAST))

    def _among(self) -> Floats:
        """(l, l): the cosines of the labelled texts, and the noise of labels."""
        rows = self._rows.astype(np.float64)
        result: Floats = rows @ rows.T + _BIAS + _NOISE * np.eye(len(rows))
        return result

    def _centred(self, X: Vectors) -> Vectors:
        """Rows at length one from the centre of the pool: what all texts have in common says nothing."""
        away = X - self._centre
        lengths = np.linalg.norm(away, axis=1, keepdims=True)
        result: Vectors = (away / np.where(lengths > 0, lengths, 1)).astype(np.float32)
        return result


def _doubt(mean: Floats, variance: Floats) -> Floats:
    return -np.abs(mean) / np.sqrt(np.maximum(variance, _LEAST))


def _first_of(values: Floats, free: Mask, count: int) -> Indices:
    """The free rows with the highest values, the highest first; of equal ones, the first row."""
    indices = np.flatnonzero(free)
    if 0 < count < len(indices):
        indices = np.sort(indices[np.argpartition(-values[indices], count - 1)[:count]])
    return indices[np.argsort(-values[indices], kind="stable")][: max(count, 0)]


def _centres(X: Vectors, count: int) -> Vectors:
    """(count, d): centres of spherical k-means, begun with k-means++."""
    rng = np.random.default_rng(0)
    indices = [int(rng.integers(len(X)))] if len(X) else []
    apart = np.full(len(X), np.inf)
    while len(indices) < count:
        apart = np.minimum(apart, np.maximum(1 - (X @ X[indices[-1]]).astype(np.float64), 0))
        total = apart.sum()
        indices.append(int(rng.choice(len(X), p=apart / total)) if total > 0 else len(indices) % len(X))
    centres: Vectors = X[indices]
    for _ in range(_ROUNDS):
        own = np.argmax(X @ centres.T, axis=1)
        sums = np.array([X[own == kind].sum(axis=0) for kind in range(count)])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1), centres).astype(np.float32)
    return centres
