"""The faster modes of an encoder: every trait has an axis among the vectors of each."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.scoring.hand import directions, samples
from tests.scoring.hand import encode as winds
from tests.scoring.test_axis import cloud
from traitbench.scoring.card import score_many
from traitbench.scoring.fit import EncoderIdentity, Trained, TraitSamples, fit
from traitbench.scoring.snapshot import FULL, ModeNotLearnt, Snapshot, SnapshotInvalid, canonical_bytes, param_hash

MODES = {"left": slice(0, 2), "right": slice(2, 4)}
FOUR = EncoderIdentity("four-1", 4, "0" * 64)


def both(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """The plane twice: what a text is to the left it is to the right."""
    return (np.hstack([X, X]) / np.sqrt(2)).astype(np.float32)


def learnt(trait: TraitSamples, **more: Any) -> Trained:
    encoder = replace(FOUR, dimension=trait.X.shape[1])
    return fit([trait], encoder=encoder, scoring_method="balanced_cosine", max_depth=1, effort="high", **more)


COMPASS = samples(both(directions(*range(-40, 45, 10), *range(140, 225, 10))), [1.0] * 9 + [0.0] * 9)


def test_a_mode_scores_with_its_own_vectors() -> None:
    snapshot = learnt(COMPASS, modes=MODES).snapshot
    east, west = (
        card.to_wire()["scores"]["warmth"] for card in score_many(snapshot, winds, ["east", "west"], mode="left")
    )
    assert east > 80
    assert west < 20
    assert snapshot.modes == ("left", "right")
    assert snapshot.in_mode("right").encoder.dimension == 2
    assert snapshot.in_mode(FULL) is snapshot


def test_what_a_mode_is_worth_stands_in_the_metrics() -> None:
    told = learnt(COMPASS, modes=MODES).metrics["traits"]["warmth"]["modes"]
    assert set(told) == {"left", "right"}
    assert told["left"]["auroc"] == 1.0
    assert told["left"]["brier"] < 0.1
    assert "18" in told["left"]["measured_on"]


def test_the_whole_is_learnt_as_without_modes_but_for_its_blocks() -> None:
    plain, told = learnt(COMPASS), learnt(COMPASS, modes={"all": slice(0, 4)})
    np.testing.assert_array_equal(plain.snapshot.traits[0].vector, told.snapshot.traits[0].vector)


def test_modes_go_through_json_and_a_snapshot_without_them_is_written_as_ever() -> None:
    snapshot = learnt(COMPASS, modes=MODES).snapshot
    again = Snapshot.from_json(json.loads(json.dumps(snapshot.to_json())))
    assert canonical_bytes(again) == canonical_bytes(snapshot)
    np.testing.assert_array_equal(again.in_mode("left").traits[0].vector, snapshot.in_mode("left").traits[0].vector)
    plain = learnt(COMPASS).snapshot
    assert "modes" not in plain.to_json()["traits"][0]
    assert param_hash(plain) != param_hash(snapshot)


def test_a_mode_that_was_not_learnt_is_refused_with_a_way_out() -> None:
    plain = learnt(COMPASS).snapshot
    with pytest.raises(ModeNotLearnt, match="train again"):
        plain.in_mode("left")
    with pytest.raises(ModeNotLearnt, match="'static'"):
        score_many(learnt(COMPASS, modes=MODES).snapshot, winds, ["east"], mode="static")


def test_traits_that_know_different_modes_are_a_damaged_snapshot() -> None:
    told = learnt(COMPASS, modes=MODES).snapshot.to_json()
    other = {**told["traits"][0], "key": "other", "modes": {}}
    with pytest.raises(SnapshotInvalid, match="modes"):
        Snapshot.from_json({**told, "traits": [told["traits"][0], other]})


@pytest.mark.parametrize("n", [12, 40, 100])
def test_with_the_parameters_of_before_the_modes_come_out_the_same_too(n: int) -> None:
    X, y = cloud(n, 12)
    trait = replace(samples(X, y), label_axis=X[0])
    modes = {"one": slice(0, 5), "two": slice(5, 12)}
    before = learnt(trait, modes=modes)
    kept = json.loads(json.dumps(before.metrics))["traits"]
    assert param_hash(learnt(trait, modes=modes, fixed=kept).snapshot) == param_hash(before.snapshot)


def test_an_axis_found_without_labels_has_modes_too() -> None:
    axis = np.array([1, 0, 1, 0], np.float32) / np.float32(np.sqrt(2))
    trait = replace(COMPASS, y=np.full(18, np.nan), intrinsic_axis=axis)
    snapshot = learnt(trait, modes=MODES).snapshot
    vector: Sequence[float] = snapshot.in_mode("left").traits[0].vector.tolist()
    assert vector[0] > 0
    assert vector[1] == pytest.approx(0, abs=1e-6)
