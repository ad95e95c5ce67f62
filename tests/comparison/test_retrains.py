"""What holds a retrain: figures on test samples, or else out of fold."""

import numpy as np
import pytest

from tests.scoring.hand import axis, snapshot
from traitbench.comparison.retrains import Change, reason_to_hold
from traitbench.comparison.versions import PairScore, TestSample, TestSet, compare_traits
from traitbench.contract.comparisons import TraitDifference
from traitbench.scoring.card import Placed

WORSE = {"warmth": Change(0.9, 0.7, 20)}


def both_on_tests(apart: int, copies: int) -> dict[str, TraitDifference]:
    """A version after that turns around what the one before has right, on texts and near duplicates of each pole."""
    version = snapshot(axis("warmth"))
    qualities = np.repeat([1.0, 0.0], apart * copies)
    near = np.repeat(np.eye(128, dtype=np.float32)[: 2 * apart], copies, axis=0)
    scored = [PairScore(Placed([q]), Placed([1 - q]), each) for q, each in zip(qualities.tolist(), near, strict=True)]
    samples = [TestSample("warmth", at, q) for at, q in enumerate(qualities.tolist())]
    return compare_traits(version, version, ["warmth"], TestSet(samples), scored)


@pytest.mark.parametrize(
    ("apart", "copies", "measured_on", "samples"),
    [(5, 1, "held_out", 10), (4, 1, "out_of_fold", 20), (4, 3, "out_of_fold", 20)],
)
def test_near_duplicates_of_test_samples_count_once(apart: int, copies: int, measured_on: str, samples: int) -> None:
    held = reason_to_hold(["warmth"], both_on_tests(apart, copies), lambda: WORSE, compared_with=3)
    assert held is not None
    assert (held["measured_on"], held["traits"]["warmth"]["samples"]) == (measured_on, samples)
    assert held["compared_with"] == 3


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({"warmth": Change(0.9, 0.891, 20)}, None),
        ({"warmth": Change(0.9, 0.885, 20)}, "The AUROC of warmth out of fold fell from 0.900 to 0.885."),
        ({"warmth": Change(0.9, 0.885, 20), "haste": Change(0.9, 0.9, 20)}, None),
        (
            {"warmth": Change(0.9, 0.885, 20), "haste": Change(0.9, 0.889, 20)},
            "The mean AUROC out of fold fell from 0.900 to 0.887.",
        ),
        (
            {"warmth": Change(0.9, 0.87, 20), "haste": Change(0.9, 0.92, 20)},
            "The AUROC of warmth out of fold fell from 0.900 to 0.870.",
        ),
        ({}, None),
    ],
)
def test_a_small_fall_is_no_reason(changes: dict[str, Change], because: str | None) -> None:
    held = reason_to_hold([*changes], {}, lambda: changes, compared_with=1)
    assert (held and held["because"]) == because
