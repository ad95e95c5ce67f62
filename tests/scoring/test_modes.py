"""The faster modes of an encoder: every trait has an axis for each."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.scoring.hand import directions, encode, fitted, samples
from traitbench.scoring.card import score_many
from traitbench.scoring.snapshot import FULL, ModeNotTrained, Snapshot, SnapshotInvalid, canonical_bytes, param_hash

MODES = {"left": slice(0, 2), "right": slice(2, 4)}


def both(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """The plane twice: the left and right blocks of a text are equal."""
    return np.asarray(np.hstack([X, X]) / np.sqrt(2), np.float32)


COMPASS = samples(both(directions(*range(-40, 45, 10), *range(140, 225, 10))), [1.0] * 9 + [0.0] * 9)


def test_a_mode_scores_with_its_own_vectors() -> None:
    snapshot = fitted(COMPASS, modes=MODES).snapshot
    east, west = (
        card.to_wire()["scores"]["warmth"] for card in score_many(snapshot, encode, ["east", "west"], mode="left")
    )
    assert east > 80
    assert west < 20
    assert snapshot.modes == ("left", "right")
    assert snapshot.in_mode("right").encoder.dimension == 2
    assert snapshot.in_mode(FULL) is snapshot


def test_metrics_hold_the_figures_of_each_mode() -> None:
    figures = fitted(COMPASS, modes=MODES).metrics["traits"]["warmth"]["modes"]
    assert set(figures) == {"left", "right"}
    assert figures["left"]["auroc"] == 1.0
    assert figures["left"]["brier"] < 0.1
    assert "18" in figures["left"]["measured_on"]


def test_modes_do_not_change_the_full_fit() -> None:
    plain, with_modes = fitted(COMPASS), fitted(COMPASS, modes={"all": slice(0, 4)})
    np.testing.assert_array_equal(plain.snapshot.traits[0].vector, with_modes.snapshot.traits[0].vector)


def test_modes_survive_json_and_are_omitted_if_there_are_none() -> None:
    snapshot, plain = fitted(COMPASS, modes=MODES).snapshot, fitted(COMPASS).snapshot
    again = Snapshot.from_json(json.loads(json.dumps(snapshot.to_json())))
    assert canonical_bytes(again) == canonical_bytes(snapshot)
    np.testing.assert_array_equal(again.in_mode("left").traits[0].vector, snapshot.in_mode("left").traits[0].vector)
    assert "modes" not in plain.to_json()["traits"][0]
    assert param_hash(plain) != param_hash(snapshot)


def test_a_mode_without_training_is_refused_with_a_remedy() -> None:
    plain = fitted(COMPASS).snapshot
    with pytest.raises(ModeNotTrained, match=r"Use full\."):
        plain.in_mode("left")
    with pytest.raises(ModeNotTrained, match=r"mode 'static'\. Use full, left, "):
        score_many(fitted(COMPASS, modes=MODES).snapshot, encode, ["east"], mode="static")


def test_traits_with_different_modes_are_a_damaged_snapshot() -> None:
    values = fitted(COMPASS, modes=MODES).snapshot.to_json()
    other = {**values["traits"][0], "key": "other", "modes": {}}
    with pytest.raises(SnapshotInvalid, match="modes"):
        Snapshot.from_json({**values, "traits": [values["traits"][0], other]})


def test_an_intrinsic_axis_has_modes_too() -> None:
    axis = np.array([1, 0, 1, 0], np.float32) / np.float32(np.sqrt(2))
    trait = replace(COMPASS, y=np.full(18, np.nan), intrinsic_axis=axis)
    snapshot = fitted(trait, modes=MODES).snapshot
    vector: Sequence[float] = snapshot.in_mode("left").traits[0].vector.tolist()
    assert vector[0] > 0
    assert vector[1] == pytest.approx(0, abs=1e-6)
