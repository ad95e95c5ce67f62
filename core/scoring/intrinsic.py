"""What is much and what is little on an axis that discovery has found: places among the texts of the model.

Nobody has labelled them, so a text stands where it stands among the others: its target is the share of texts below it,
and a score of 80 means farther towards the positive pole than about four in five. The outer third at either end is that
pole's cluster. The scores that breaks are taken from come from calibrations that have not seen the text; the axis has,
it was found in these texts.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.scoring.axis import Floats
from traitbench.scoring.calibrate import calibrate, smoothed
from traitbench.scoring.evaluate import measured, unmeasured
from traitbench.scoring.search import Evidence, Found, evidence

_FOLDS = 10
_FEWEST = 6


def pool(
    X: NDArray[np.float32], groups: Sequence[object], synthesized: NDArray[np.bool_], axis: NDArray[np.float32]
) -> Evidence:
    """The real texts, or the synthesised ones where there is no real one; quality 1 or 0 in the outer thirds."""
    among = np.ones(len(X), bool) if synthesized.all() else ~synthesized
    texts = evidence(X[among], np.full(among.sum(), 0.5), [groups[i] for i in np.flatnonzero(among).tolist()])
    places: Floats = texts.X.astype(np.float64) @ axis
    low, high = np.quantile(places, [1 / 3, 2 / 3]) if len(places) else (0.0, 0.0)
    apart = len(places) >= _FEWEST and low < high
    thirds = np.where(places >= high, 1.0, np.where(places <= low, 0.0, 0.5)) if apart else texts.y
    return Evidence(texts.X, thirds, texts.kin, texts.synthesized, texts.mass, texts.judged)


def place(texts: Evidence, axis: NDArray[np.float32]) -> Found:
    """The axis with its calibration; every text in the middle when there are too few or they do not differ on it."""
    if (texts.y == 0.5).all():
        return Found(np.zeros(len(axis)), 0.0, None, None, {"slope": 1.0, "offset": 0.0}, {})
    places: Floats = texts.X.astype(np.float64) @ axis
    slope, offset = _calibrated(places)
    _, own = np.unique(texts.kin, return_inverse=True)
    folds = own % min(_FOLDS, int(own.max()) + 1)
    held_out = np.empty(len(places))
    for fold in range(int(folds.max()) + 1):
        out = folds == fold
        gain, shift = _calibrated(places[~out])
        held_out[out] = gain * places[out] + shift
    parameters = {"slope": slope, "offset": offset}
    return Found(slope * axis.astype(np.float64), offset, held_out, int(folds.max()) + 1, parameters, {})


def figures_of_labels(
    X: NDArray[np.float32], y: Floats, groups: Sequence[object], synthesized: NDArray[np.bool_], found: Found
) -> dict[str, Any]:
    """How well the axis, found without labels, orders the texts that were labelled for it since; null without any."""
    told = np.flatnonzero(~np.isnan(y) & ~synthesized)
    labelled = evidence(X[told], y[told], [groups[i] for i in told.tolist()])
    if found.held_out is None or labelled.smaller_pole < 2:
        return unmeasured("nobody labelled these texts; what discovery measured of the axis stands at the trait")
    logits: Floats = labelled.X.astype(np.float64) @ found.vector + found.offset
    on = f"{len(labelled.y)} distinct labelled samples, of an axis found without labels"
    return {**measured(logits, labelled.y), "measured_on": on, "folds": None}


def _calibrated(places: Floats) -> tuple[float, float]:
    """Slope and offset of sigmoid(slope * place + offset), nearest to the share of texts below each place."""
    below = np.sort(places)
    rank = (below.searchsorted(places, "left") + below.searchsorted(places, "right")) / 2
    middle = float(np.median(places))
    spread = float(np.sqrt(np.square(places - middle).mean())) or 1.0
    values = ((places - middle) / spread)[:, None]
    found = calibrate(values, smoothed(rank / len(places), len(places)), np.ones(len(places)))
    slope = float(found.slopes[0]) / spread
    return slope, float(found.offsets[0]) - slope * middle
