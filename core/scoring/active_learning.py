"""Active learning: in which order to label texts, so that few labels teach much.

Labels are believed by a Gaussian process on the cosines between texts: the labelled texts around a text say on which
side it is (its mean) and how much is known there (its variance). The prior mean is the position on the label axis, so
there is an order before the first label. Everything is deterministic. A decision costs one product of the heap with one
vector, because the cosines to earlier labels are kept.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Order = Literal["random", "informative", "top", "bottom"]
ORDERS: tuple[Order, ...] = get_args(Order)

MOST_LABELS = 400
"""The most labelled texts that count; the newest."""

_NOISE = 0.5
_PRIOR = 0.5
_TAKEN = 300
_LEAST = 1e-6

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Belief:
    """What labels say about each text: its side, from -1 to 1 or beyond, and the variance, 1 where nothing is known."""

    mean: Floats
    variance: Floats

    @property
    def doubt(self) -> Floats:
        """How uncertain the side is: 0 where nothing speaks for either, ever lower where something does."""
        return -np.abs(self.mean) / np.sqrt(self.variance)


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
        self._rows: dict[Hashable, Vectors] = {}
        self.belief = Belief(self._prior, np.ones(len(X)))

    def learn(self, ids: Sequence[Hashable], X: Vectors, y: Floats, prior: Floats | None = None) -> None:
        """Set the labelled texts: vectors (l, d), qualities (l,) from 0 to 1, and positions on the label axis (l,).

        `ids` (l,) name the texts, the oldest first: cosines of ids that were there before are not computed again.
        """
        ids, X, y = ids[-MOST_LABELS:], X[-MOST_LABELS:], y[-MOST_LABELS:]
        raw = np.zeros(len(X)) if prior is None else np.asarray(prior, np.float64)[-MOST_LABELS:]
        rows = self._centred(X)
        self._rows = dict(zip(ids, rows, strict=True))
        new = [place for place, name in enumerate(ids) if name not in self._columns]
        made = self._X @ rows[new].T
        made_by_id = {ids[place]: made[:, column] for column, place in enumerate(new)}
        self._columns = {name: self._columns.get(name, made_by_id.get(name, made)) for name in ids}
        self.belief = self._believed(rows, 2 * np.asarray(y, np.float64) - 1, (raw - self._middle) * self._scale)

    def first(self, order: Order, count: int, *, free: Mask, seed: int = 0) -> NDArray[np.intp]:
        """Return the texts to label next, at most `count` of those that are `free` (n,), the first one first."""
        if order == "random":
            return _first_of(np.random.default_rng(seed).random(len(self._X)), free, count)
        if order == "informative":
            return self._informative(free, count)
        return _first_of(self.belief.mean if order == "top" else -self.belief.mean, free, count)

    def _informative(self, free: Mask, count: int) -> NDArray[np.intp]:
        """The most uncertain texts one after another, each as if those before it were labelled as expected."""
        some = _first_of(self.belief.doubt, free, max(_TAKEN, count))
        if not len(some):
            return some
        chosen = list[int]()
        left = np.ones(len(some), bool)
        covariance = self._covariance(some)
        mean = np.abs(self.belief.mean[some])
        while len(chosen) < min(count, len(some)):
            doubt = np.where(left, -mean / np.sqrt(np.maximum(covariance.diagonal(), _LEAST)), -np.inf)
            best = int(np.argmax(doubt))
            left[best] = False
            chosen.append(best)
            column = covariance[:, best].copy()
            covariance -= np.outer(column, column) / (column[best] + _NOISE)
        return some[chosen]

    def _covariance(self, some: NDArray[np.intp]) -> Floats:
        """(s, s): what the labels leave unknown about these texts."""
        own = (self._X[some] @ self._X[some].T).astype(np.float64)
        if not self._columns:
            return own
        K = np.stack([column[some] for column in self._columns.values()], axis=1).astype(np.float64)
        return own - K @ np.linalg.solve(self._among(), K.T)

    def _among(self) -> Floats:
        rows = np.array(list(self._rows.values()), np.float64)
        result: Floats = rows @ rows.T + _NOISE * np.eye(len(rows))
        return result

    def _believed(self, rows: Vectors, y: Floats, prior: Floats) -> Belief:
        if not len(rows):
            return Belief(self._prior, np.ones(len(self._X)))
        K = np.stack(list(self._columns.values()), axis=1)
        inverse = np.linalg.inv(self._among())
        mean = self._prior + K @ (inverse @ (y - prior))
        known = np.einsum("ij,ij->i", K @ inverse.astype(np.float32), K)
        return Belief(mean, np.maximum(1 - known.astype(np.float64), _LEAST))

    def _centred(self, X: Vectors) -> Vectors:
        """Rows at length one from the centre of the heap: vectors of texts have much in common, which says nothing."""
        away = X - self._centre
        lengths = np.linalg.norm(away, axis=1, keepdims=True)
        result: Vectors = (away / np.where(lengths > 0, lengths, 1)).astype(np.float32)
        return result


def _first_of(values: Floats, free: Mask, count: int) -> NDArray[np.intp]:
    """The free places with the highest values, the highest first; of equal ones, the first place."""
    places = np.flatnonzero(free)
    if 0 < count < len(places):
        places = np.sort(places[np.argpartition(-values[places], count - 1)[:count]])
    return places[np.argsort(-values[places], kind="stable")][:count]
