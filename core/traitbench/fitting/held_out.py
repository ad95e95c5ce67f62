"""Measure a version on test samples, which it was not trained with.

Scores are those of a score call, as whole points. A test sample counts only if it is real and unlike every training
sample of its trait: a version has learned a near duplicate or a variation of it. The poles have equal weight in AUROC
and Brier score, and so has every group of near duplicates at a pole.

The AUROC interval is that of `auroc.interval` with all samples: unlike out of fold, all of them were scored by the same
fit.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from traitbench.fitting.auroc import auroc, interval
from traitbench.fitting.axis import pole_weights
from traitbench.fitting.collect import HashedSample, Vector, text_groups
from traitbench.fitting.duplicates import alike, counterparts, joined
from traitbench.fitting.evaluate import group_weights
from traitbench.scoring.inputs import Floats

Points = NDArray[np.int64]
Marks = NDArray[np.bool_]

_NOTHING: Mapping[str, Any] = {"auroc": None, "auroc_interval": None, "brier": None, "error": None}


class HeldOutSample(HashedSample, Protocol):
    """A test sample."""

    @property
    def must_pass(self) -> bool:
        """Whether its score has to be on its pole's side."""
        ...


@dataclass(frozen=True, eq=False)
class _Tests:
    """The test samples of a trait (n,); `is_trained` if training had the text, a near duplicate or a variation."""

    y: Floats
    groups: NDArray[np.int64]
    synthesized: Marks
    must_pass: Marks
    is_trained: Marks

    @property
    def counted(self) -> Marks:
        """(n,): whether the figures count the sample."""
        return ~self.synthesized & ~self.is_trained


def measure(
    tests: Sequence[HeldOutSample],
    points: Mapping[str, Points],
    trained: Sequence[HashedSample],
    vectors: Mapping[str, Vector],
) -> dict[str, dict[str, Any]]:
    """The figures by trait key, for every trait with test samples.

    `points` (n_tests,) are the scores of all tests by trait key. `trained` are the training samples of the model, and
    `vectors` (d,) those of all texts by `content_sha256`.
    """
    groups = text_groups(sorted([*tests, *trained], key=lambda sample: sample.id))
    measured = {}
    for key in dict.fromkeys(sample.trait for sample in tests):
        if key not in points:
            continue
        rows = [row for row, sample in enumerate(tests) if sample.trait == key]
        own, others = [tests[row] for row in rows], [sample for sample in trained if sample.trait == key]
        described, resembling = _described(own, others, groups, vectors)
        figures = _figures(described, points[key][rows])
        counted = [sample for sample, counts in zip(own, described.counted.tolist(), strict=True) if counts]
        measured[key] = {**figures, "resembling": resembling, "test_set": digest(counted)}
    return measured


def digest(samples: Iterable[HashedSample]) -> str | None:
    """A digest that is equal for figures on the same texts with the same qualities; None without samples."""
    lines = sorted(f"{sample.content_sha256} {sample.quality!r}" for sample in samples)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest() if lines else None


def wrong_side(points: Points, y: Floats) -> Marks:
    """(n,): whether a score is not on its pole's side of the middle; a quality of 0.5 has no side."""
    return ((y > 0.5) & (points <= 50)) | ((y < 0.5) & (points >= 50))


def _described(
    own: Sequence[HeldOutSample],
    trained: Sequence[HashedSample],
    groups: Mapping[int, str],
    vectors: Mapping[str, Vector],
) -> tuple[_Tests, int]:
    """The test samples of a trait, and how many of its training samples resemble one of them."""
    X, others = (_stacked(samples, vectors) for samples in (own, trained))
    twins, their_twins = counterparts(X, others)
    mine, theirs = ([groups[sample.id] for sample in samples] for samples in (own, trained))
    shared = set(mine) & set(theirs)
    is_trained = (twins >= 0) | np.array([group in shared for group in mine], bool)
    resembling = (their_twins >= 0) | np.array([group in shared for group in theirs], bool)
    tests = _Tests(
        y=np.array([sample.quality for sample in own], np.float64),
        groups=joined(np.unique(mine, return_inverse=True)[1], alike(X)),
        synthesized=np.array([sample.provenance == "synthesized" for sample in own], bool),
        must_pass=np.array([sample.must_pass for sample in own], bool),
        is_trained=is_trained,
    )
    return tests, int(resembling.sum())


def _stacked(samples: Sequence[HashedSample], vectors: Mapping[str, Vector]) -> NDArray[np.float32]:
    rows = np.array([vectors[sample.content_sha256] for sample in samples], np.float32)
    return rows if len(samples) else rows.reshape(0, len(next(iter(vectors.values()), ())))


def _figures(tests: _Tests, points: Points) -> dict[str, Any]:
    counted = tests.counted
    y, own, groups = tests.y[counted], points[counted], tests.groups[counted]
    poles = [y > 0.5, y < 0.5]
    positive, negative = (int(pole.sum()) for pole in poles)
    wrong = wrong_side(points, tests.y)
    figures = dict(_NOTHING) if min(positive, negative) == 0 else _measured(own, y, groups)
    if positive + negative:
        figures["error"] = float(wrong[counted].sum() / (positive + negative))
    return {
        **figures,
        "positive": positive,
        "negative": negative,
        "left_out": int((~counted).sum()),
        "must_pass": int(tests.must_pass.sum()),
        "must_pass_failed": int((wrong & tests.must_pass).sum()),
        "measured_on": _measured_on(tests, positive, negative),
    }


def _measured(points: Points, y: Floats, groups: NDArray[np.int64]) -> dict[str, Any]:
    """The figures of samples at both poles."""
    weights = group_weights(y, groups)
    area = auroc(points.astype(np.float64), y, weights)
    sizes = [len(np.unique(groups[pole])) for pole in (y > 0.5, y < 0.5)]
    return {
        "auroc": area,
        "auroc_interval": list(interval(area, *map(float, sizes))),
        "brier": float(pole_weights(y, weights) @ np.square(points / 100 - y)),
    }


def _measured_on(tests: _Tests, positive: int, negative: int) -> str:
    counted = int(tests.counted.sum())
    made, trained = int(tests.synthesized.sum()), int((tests.is_trained & ~tests.synthesized).sum())
    left_out = [f"{trained} left out because training has nearly the same text"] * (trained > 0)
    left_out += [f"{made} left out because synthesized"] * (made > 0)
    if not counted:
        return "; ".join(["not measured", *left_out])
    side = "positive" if positive == 0 else "negative"
    one_sided = [f"no AUROC without a sample at the {side} pole"] * (min(positive, negative) == 0)
    repeated = counted - len(np.unique(tests.groups[tests.counted]))
    nearly = f", {repeated} of them nearly the same as another" if repeated else ""
    return "; ".join([f"{counted} test sample{'s' * (counted != 1)}{nearly}", *left_out, *one_sided])
