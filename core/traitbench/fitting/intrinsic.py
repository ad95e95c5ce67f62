"""Calibrate an axis that discovery found, by how the texts of the model spread along it.

These texts have no labels for the trait, so the target of a text is the share of texts below it. A score of 80 means
farther towards the positive pole than about four in five. The outer third at either end is the cluster of that pole.
The scores that set the breaks come from calibrations that have not seen the text. The axis itself has seen it, because
discovery derived the axis from these texts.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.fitting.calibrate import calibrate, smoothed
from traitbench.fitting.evaluate import measured, unmeasured
from traitbench.fitting.search import SearchResult, TrainingSamples, evidence
from traitbench.scoring.inputs import Floats

_FOLDS = 10
_FEWEST = 6


def pool(
    X: NDArray[np.float32],
    groups: Sequence[object],
    synthesized: NDArray[np.bool_],
    axis: NDArray[np.float32],
    names: Sequence[str | None] | None = None,
) -> TrainingSamples:
    """The real texts, or the synthesized ones if there are no others; quality 1 or 0 in the outer thirds."""
    among = np.ones(len(X), bool) if synthesized.all() else ~synthesized
    texts = _evidence(X, np.full(len(X), 0.5), groups, names, np.flatnonzero(among))
    projections: Floats = texts.X.astype(np.float64) @ axis
    low, high = np.quantile(projections, [1 / 3, 2 / 3]) if len(projections) else (0.0, 0.0)
    differ = len(projections) >= _FEWEST and low < high
    thirds = np.where(projections >= high, 1.0, np.where(projections <= low, 0.0, 0.5)) if differ else texts.y
    return replace(texts, y=thirds)


def _evidence(
    X: NDArray[np.float32],
    y: Floats,
    groups: Sequence[object],
    names: Sequence[str | None] | None,
    rows: NDArray[np.intp],
) -> TrainingSamples:
    own = None if names is None else [names[i] for i in rows.tolist()]
    return evidence(X[rows], y[rows], [groups[i] for i in rows.tolist()], names=own)


def calibrate_axis(texts: TrainingSamples, axis: NDArray[np.float32]) -> SearchResult:
    """Calibrate the axis. Every text scores 50 if there are too few texts, or if they do not differ on the axis."""
    if (texts.y == 0.5).all():
        return SearchResult(np.zeros(len(axis)), 0.0, None, None, {"slope": 1.0, "offset": 0.0}, {})
    projections: Floats = texts.X.astype(np.float64) @ axis
    slope, offset = _calibrated(projections)
    _, group_of = np.unique(texts.groups, return_inverse=True)
    folds = group_of % min(_FOLDS, int(group_of.max()) + 1)
    held_out = np.empty(len(projections))
    for fold in range(int(folds.max()) + 1):
        out = folds == fold
        gain, shift = _calibrated(projections[~out])
        held_out[out] = gain * projections[out] + shift
    parameters = {"slope": slope, "offset": offset}
    return SearchResult(slope * axis.astype(np.float64), offset, held_out, int(folds.max()) + 1, parameters, {})


def figures_of_labels(
    X: NDArray[np.float32],
    y: Floats,
    groups: Sequence[object],
    synthesized: NDArray[np.bool_],
    result: SearchResult,
    names: Sequence[str | None] | None = None,
) -> dict[str, Any]:
    """The figures of a discovered axis on texts that were labelled after the discovery; null without such texts."""
    with_label = np.flatnonzero(~np.isnan(y) & ~synthesized)
    labelled = _evidence(X, y, groups, names, with_label)
    if result.held_out is None or labelled.smaller_pole < 2:
        return unmeasured(
            "unlabelled", "no text has a label for this trait; the trait has the figures of its discovery"
        )
    logits: Floats = labelled.X.astype(np.float64) @ result.vector + result.offset
    on = f"{len(labelled.y)} distinct labelled samples, for an axis found without labels"
    together = labelled.groups if labelled.is_grouped else None
    return {**measured(logits, labelled.y, together), "measured_on": on, "folds": None}


def _calibrated(projections: Floats) -> tuple[float, float]:
    """Slope and offset of sigmoid(slope * place + offset), fitted to the share of texts below each place."""
    below = np.sort(projections)
    rank = (below.searchsorted(projections, "left") + below.searchsorted(projections, "right")) / 2
    middle = float(np.median(projections))
    spread = float(np.sqrt(np.square(projections - middle).mean())) or 1.0
    values = ((projections - middle) / spread)[:, None]
    calibration = calibrate(values, smoothed(rank / len(projections), len(projections)), np.ones(len(projections)))
    slope = float(calibration.slopes[0]) / spread
    return slope, float(calibration.offsets[0]) - slope * middle
