"""Which point of the path: not one, but all of them, each weighing as much as held-out evidence gives it.

Every sample gets a value from a fit that has not seen it (folds, or leave-one-out in closed form where that is fair),
every shrinkage its own calibration on those values, and the calibrated logits are averaged by likelihood. All of it is
linear, so what comes out is one vector and one number. A second round of calibrations, each blind to a part of the
samples, gives the scores that figures and breaks are taken from: none has been fitted on what it is measured on.

Synthesised samples teach, all of a pole together as much as four real ones at most, and nothing is judged by them
unless a pole has fewer than two real texts. A variation of a real text stands in the fold of that text.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from core.scoring.axis import Floats, Path, centroid_difference, path, path_and_left_out, pole_weights
from core.scoring.calibrate import Calibration, calibrate, smoothed

_CENTRE = 0.75
_WHOLE_PATH = tuple(np.arange(-1, 3.25, 0.5).tolist())
_LEAVE_ONE_OUT_FROM = 64
_LEAVE_ONE_OUT_POLE = 16
_SYNTHESISED_MASS = 4.0
_WIDEST = 10.0
_UNSEARCHED = {"log10_shrinkage": _WHOLE_PATH[-1], "slope": 1.0, "offset": 0.0}


@dataclass(frozen=True)
class Effort:
    """How wide to search: the shrinkages tried, as powers of ten, and the folds used where there are folds."""

    shrinkages: tuple[float, ...]
    folds: int
    says: str


_AVERAGED = Effort(
    shrinkages=_WHOLE_PATH,
    folds=10,
    says="nine directions, averaged by held-out likelihood; medium, high and max are the same search",
)
EFFORTS: Mapping[str, Effort] = {
    "low": Effort(shrinkages=(_CENTRE,), folds=5, says="one direction of fixed shrinkage"),
    "medium": _AVERAGED,
    "high": _AVERAGED,
    "max": _AVERAGED,
}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a trait can be learnt from: distinct vectors (n, d) in an order of their own, quality and kin of each.

    Samples with one vector are one, with the mean of their qualities. Kin, those of one group and those that share a
    text, never stand on both sides of a fold. `mass` is how much a sample teaches, 1 for a real one; `judged` says
    whether it is one that the trait is judged by.
    """

    X: NDArray[np.float32]
    y: Floats
    kin: NDArray[np.int64]
    synthesized: NDArray[np.bool_]
    mass: Floats
    judged: NDArray[np.bool_]

    @property
    def smaller_pole(self) -> int:
        """Kinships at the pole that has fewer, among what it is judged by."""
        return min(_kinships(self.kin, self.judged & (self.y > 0.5)), _kinships(self.kin, self.judged & (self.y < 0.5)))


@dataclass(frozen=True, eq=False)
class Found:
    """The trait in numbers: `sigmoid(x @ vector + offset)`.

    `held_out` are logits of fits and calibrations that did not see the sample, for the samples it is judged by, None
    where a pole has one text or none; `folds` is None for leave-one-out. `shares` are what the search chose: how much
    each shrinkage, by its power of ten, counts in the average; empty where there was nothing to choose.
    """

    vector: Floats
    offset: float
    held_out: Floats | None
    folds: int | None
    parameters: Mapping[str, float]
    shares: Mapping[float, float]


def evidence(
    X: NDArray[np.float32], y: Floats, groups: Sequence[object], synthesized: NDArray[np.bool_] | None = None
) -> Evidence:
    """Distinct samples in an order that depends on nothing but themselves; texts without a token tell nothing.

    Where a real and a synthesised sample share a vector, the real one speaks.
    """
    told = np.flatnonzero(np.any(X != 0, axis=1))
    made = np.zeros(len(told), bool) if synthesized is None else synthesized[told]
    marks = np.array([hashlib.sha256(np.ascontiguousarray(row, "<f4").tobytes()).hexdigest() for row in X[told]])
    distinct, first, which = np.unique(marks, return_index=True, return_inverse=True)
    kin = _kinship(which, np.array([str(groups[int(i)]) for i in told]), len(distinct))
    real = np.bincount(which, weights=~made, minlength=len(distinct)) > 0
    speaks = ~(made & real[which])
    order = np.lexsort((y[told], which))
    totals = np.bincount(which[order], weights=(y[told] * speaks)[order], minlength=len(distinct))
    counts = np.bincount(which, weights=speaks, minlength=len(distinct))
    return _weighed(X[told][first], totals / np.maximum(counts, 1), kin, ~real)


def search(samples: Evidence, effort: Effort, shares: Mapping[float, float] | None = None) -> Found:
    """The averaged axis; with `shares` of an earlier search, the average that it chose."""
    if samples.smaller_pole == 0:
        return _nothing(samples.X.shape[1])
    if samples.smaller_pole == 1:
        return _one_sample(samples)
    chosen = shares or dict.fromkeys(effort.shrinkages)
    shrinkages = [10.0**power for power in chosen]
    folds = _folds(samples, effort.folds)
    if _leave_one_out_is_fair(samples):
        found, values = path_and_left_out(samples.X, samples.y, shrinkages)
        return _averaged(samples, chosen, found, values, folds, by_folds=False)
    found = path(samples.X, samples.y, shrinkages, samples.mass)
    return _averaged(samples, chosen, found, _held_out(samples, shrinkages, folds), folds, by_folds=True)


def chosen_before(figures: object) -> dict[float, float]:
    """The shares that a trait's metrics name, to be given to `search` again; empty when there is none to go by.

    Metrics may come from elsewhere: whatever is not a choice that a search can have made counts as none.
    """
    told = figures if isinstance(figures, Mapping) else {}
    shares = told.get("shares")
    if shares is None and isinstance(parameters := told.get("parameters"), Mapping):
        power = parameters.get("log10_shrinkage")
        shares = {} if power == _WHOLE_PATH[-1] else {power: 1.0}
    try:
        read = {float(power): float(share) for power, share in (shares or {}).items()}
    except (TypeError, ValueError, AttributeError):
        return {}
    sound = all(abs(power) <= _WIDEST and share >= 0 for power, share in read.items())
    return read if sound and abs(sum(read.values()) - 1) < 1e-6 else {}


def _weighed(X: NDArray[np.float32], y: Floats, kin: NDArray[np.int64], synthesized: NDArray[np.bool_]) -> Evidence:
    """The evidence with what each sample teaches, and whether the trait is judged by it."""
    mass, judged = np.ones(len(y)), ~synthesized
    for pole in (y > 0.5, y < 0.5, y == 0.5):
        made = pole & synthesized
        mass[made] = min(1.0, _SYNTHESISED_MASS / max(1, made.sum()))
        if _kinships(kin, pole & ~synthesized) < 2:
            judged = judged | made
    return Evidence(X, y, kin, synthesized, mass, judged)


def _averaged(
    samples: Evidence,
    chosen: Mapping[float, float | None],
    found: Path,
    values: Floats,
    folds: NDArray[np.int64],
    *,
    by_folds: bool,
) -> Found:
    judged = samples.judged
    y, values, folds = samples.y[judged], values[judged], folds[judged]
    balance = pole_weights(y, samples.mass[judged])
    powers = np.array(list(chosen))
    scale, calibration, likely = _calibrated(y, values, balance, powers)
    share = likely if None in chosen.values() else np.array(list(chosen.values()), np.float64)
    gains = share * calibration.slopes / scale
    return Found(
        vector=gains @ found.directions,
        offset=float(gains @ found.offsets + share @ calibration.offsets),
        held_out=_blind(y, values, balance, powers, folds, calibration),
        folds=int(folds.max()) + 1 if by_folds else None,
        parameters={
            "log10_shrinkage": float(share @ powers),
            "slope": float(np.exp(share @ calibration.log_slopes)),
            "offset": float(share @ calibration.offsets),
        },
        shares=dict(zip(powers.tolist(), share.tolist(), strict=True)),
    )


def _calibrated(
    y: Floats, values: Floats, balance: Floats, powers: Floats, start: Calibration | None = None
) -> tuple[Floats, Calibration, Floats]:
    """Root mean square of each column of values, its calibration, and its share in the average."""
    balance = balance / balance.sum()
    scale = np.sqrt(balance @ np.square(values))
    scale = np.where(scale > 1e-12, scale, 1.0)
    calibration = calibrate(values / scale, smoothed(y, len(y)), balance * len(y), start=start)
    evidence = -calibration.cross_entropies - np.square(powers - _CENTRE) / 2
    share = np.exp(evidence - evidence.max())
    return scale, calibration, share / share.sum()


def _blind(
    y: Floats, values: Floats, balance: Floats, powers: Floats, folds: NDArray[np.int64], start: Calibration
) -> Floats:
    """(n,): averaged logits of held-out values, through calibrations that did not see them either."""
    logits = np.empty(len(y))
    for fold in range(int(folds.max()) + 1):
        out = folds == fold
        scale, calibration, share = _calibrated(y[~out], values[~out], balance[~out], powers, start)
        logits[out] = calibration.logits(values[out] / scale) @ share
    return logits


def _held_out(samples: Evidence, shrinkages: Sequence[float], folds: NDArray[np.int64]) -> Floats:
    values = np.empty((len(samples.y), len(shrinkages)))
    for fold in range(int(folds.max()) + 1):
        out = folds == fold
        values[out] = path(samples.X[~out], samples.y[~out], shrinkages, samples.mass[~out]).values(samples.X[out])
    return values


def _folds(samples: Evidence, most: int) -> NDArray[np.int64]:
    """(n,): the fold of each sample; kin share one, and each pole is spread over all.

    -1 for what the trait is not judged by and that has no kin among the rest: it is never left out.
    """
    kin, own = np.unique(samples.kin, return_inverse=True)
    lean = np.sign(np.bincount(own, weights=(samples.y - 0.5) * samples.judged))
    counts = np.bincount(own, weights=samples.judged) > 0
    count = min(most, samples.smaller_pole)
    folds = np.full(len(kin), -1)
    for side in (-1, 0, 1):
        members = np.flatnonzero((lean == side) & counts)
        folds[members] = np.arange(len(members)) % count
    chosen: NDArray[np.int64] = folds[own]
    return chosen


def _leave_one_out_is_fair(samples: Evidence) -> bool:
    """Enough samples at both poles that one less moves nothing, and nobody has kin."""
    n = len(samples.y)
    alone = not samples.synthesized.any() and len(np.unique(samples.kin)) == n
    return n >= _LEAVE_ONE_OUT_FROM and samples.smaller_pole >= _LEAVE_ONE_OUT_POLE and alone


def _kinships(kin: NDArray[np.int64], among: NDArray[np.bool_]) -> int:
    return len(np.unique(kin[among]))


def _kinship(vectors: NDArray[np.intp], groups: NDArray[np.str_], n: int) -> NDArray[np.int64]:
    """(n,): a number per distinct vector, equal for those that a chain of shared vectors and groups connects."""
    names, group = np.unique(groups, return_inverse=True)
    size = n + len(names)
    links = coo_array((np.ones(len(vectors)), (vectors, n + group)), shape=(size, size))
    _, parts = connected_components(links, directed=False)
    return parts[:n].astype(np.int64)


def _one_sample(samples: Evidence) -> Found:
    """A pole with a single text: nothing can be held out, so the centroid difference, its slope one, as it is."""
    found = centroid_difference(samples.X, samples.y, samples.mass)
    return Found(found.directions[0], float(found.offsets[0]), None, None, _UNSEARCHED, {})


def _nothing(d: int) -> Found:
    """No pole to tell from the other: every text stands in the middle."""
    return Found(np.zeros(d), 0.0, None, None, _UNSEARCHED, {})
