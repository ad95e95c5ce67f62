"""The faster modes of an encoder: every trait has an axis for each."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fitting.test_axis import cloud
from tests.scoring.hand import directions, samples
from tests.scoring.hand import encode as winds
from traitbench.fitting.fit import EncoderIdentity, Trained, TraitSamples, fit
from traitbench.scoring.card import score_many
from traitbench.scoring.snapshot import FULL, ModeNotTrained, Snapshot, SnapshotInvalid, canonical_bytes, param_hash

MODES = {"left": slice(0, 2), "right": slice(2, 4)}
FOUR = EncoderIdentity("four-1", 4, "0" * 64)


def both(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """The plane twice: the left and right blocks of a text are equal."""
    return np.asarray(np.hstack([X, X]) / np.sqrt(2), np.float32)


def fitted(trait: TraitSamples, **more: Any) -> Trained:
    encoder = replace(FOUR, dimension=trait.X.shape[1])
    return fit([trait], encoder=encoder, scoring_method="balanced_cosine", max_depth=1, effort="high", **more)


COMPASS = samples(both(directions(*range(-40, 45, 10), *range(140, 225, 10))), [1.0] * 9 + [0.0] * 9)


def test_a_mode_scores_with_its_own_vectors() -> None:
    snapshot = fitted(COMPASS, modes=MODES).snapshot
    east, west = (
        card.to_wire()["scores"]["warmth"] for card in score_many(snapshot, winds, ["east", "west"], mode="left")
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
    snapshot = fitted(COMPASS, modes=MODES).snapshot
    again = Snapshot.from_json(json.loads(json.dumps(snapshot.to_json())))
    assert canonical_bytes(again) == canonical_bytes(snapshot)
    np.testing.assert_array_equal(again.in_mode("left").traits[0].vector, snapshot.in_mode("left").traits[0].vector)
    plain = fitted(COMPASS).snapshot
    assert "modes" not in plain.to_json()["traits"][0]
    assert param_hash(plain) != param_hash(snapshot)


def test_a_mode_without_training_is_refused_with_a_remedy() -> None:
    plain = fitted(COMPASS).snapshot
    with pytest.raises(ModeNotTrained, match="Train again"):
        plain.in_mode("left")
    with pytest.raises(ModeNotTrained, match="'static'"):
        score_many(fitted(COMPASS, modes=MODES).snapshot, winds, ["east"], mode="static")


def test_traits_with_different_modes_are_a_damaged_snapshot() -> None:
    values = fitted(COMPASS, modes=MODES).snapshot.to_json()
    other = {**values["traits"][0], "key": "other", "modes": {}}
    with pytest.raises(SnapshotInvalid, match="modes"):
        Snapshot.from_json({**values, "traits": [values["traits"][0], other]})


@pytest.mark.parametrize("n", [12, 40, 100])
def test_a_refit_with_the_previous_parameters_reproduces_the_modes(n: int) -> None:
    X, y = cloud(n, 12)
    trait = replace(samples(X, y), label_axis=X[0])
    modes = {"one": slice(0, 5), "two": slice(5, 12)}
    before = fitted(trait, modes=modes)
    kept = json.loads(json.dumps(before.metrics))["traits"]
    assert param_hash(fitted(trait, modes=modes, fixed=kept).snapshot) == param_hash(before.snapshot)


def test_an_intrinsic_axis_has_modes_too() -> None:
    axis = np.array([1, 0, 1, 0], np.float32) / np.float32(np.sqrt(2))
    trait = replace(COMPASS, y=np.full(18, np.nan), intrinsic_axis=axis)
    snapshot = fitted(trait, modes=MODES).snapshot
    vector: Sequence[float] = snapshot.in_mode("left").traits[0].vector.tolist()
    assert vector[0] > 0
    assert vector[1] == pytest.approx(0, abs=1e-6)
