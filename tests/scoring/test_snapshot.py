import copy
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.scoring.hand import PLANE, axis, snapshot
from traitbench.as_read import FIRST, READING
from traitbench.scoring.certainty import Certainty, Chance, Levels, PoleRegression
from traitbench.scoring.resemblance import Direction, Resemblance
from traitbench.scoring.snapshot import (
    EncoderIdentity,
    EncoderMismatch,
    LabelValues,
    Quartiles,
    Snapshot,
    SnapshotInvalid,
    TierBreaks,
    canonical_bytes,
    param_hash,
)

# Written by hand: (1, 0) and (-0.5, 2) as little-endian float32 in base64. Change its hash only on purpose.
BY_HAND: dict[str, Any] = {
    "format": 1,
    "scoring_method": "balanced_cosine",
    "max_depth": 2,
    "encoder": {"id": "plane-1", "dimension": 2, "digest": "0" * 64},
    "traits": [
        {
            "key": "warmth",
            "name": "Wärme",
            "positive_label": "warm",
            "negative_label": "kühl",
            "aggregation": "mean",
            "vector": "AACAPwAAAAA=",
            "offset": 0.25,
            "quartiles": {"positive": [60, 70, 80], "negative": [20, 30, 40]},
            "breaks": {"developing": 40, "solid": 60, "strong": 80},
            "certainty": {
                "proven": {"high": [20, 80], "moderate": [35, 65]},
                "likely": {"high": [30, 70], "moderate": [40, 60]},
                "limit": None,
                "difference": 2.5,
            },
        },
        {
            "key": "depth",
            "name": "Depth",
            "positive_label": "deep",
            "negative_label": "flat",
            "aggregation": "none",
            "vector": "AAAAvwAAAEA=",
            "offset": -1.5,
            "quartiles": {"positive": None, "negative": None},
            "breaks": {"developing": 50, "solid": 50, "strong": 50},
            "certainty": {
                "proven": {"high": [-1, 101], "moderate": [-1, 101]},
                "likely": {"high": [-1, 101], "moderate": [-1, 101]},
                "limit": "few_samples",
                "difference": None,
            },
        },
    ],
}
LEVELS = Levels(high=(20, 80), moderate=(35, 65))
HASH = "sha256:06c6fdda2e4e97bb7d90ce2d2d9b9e3d275be24cefba433a47ef0ee6dc0b20e4"


def test_a_snapshot_written_by_hand_is_read_and_written_back() -> None:
    result = Snapshot.from_json(BY_HAND)
    np.testing.assert_array_equal(result.matrix, [[1, 0], [-0.5, 2]])
    assert result.to_json() == BY_HAND


POINTS = st.lists(st.integers(0, 100), min_size=3, max_size=3).map(sorted)


@given(POINTS, POINTS, st.integers(1, 3))
@example([0, 0, 0], [0, 0, 0], 1)
@example([100, 100, 100], [100, 100, 100], 3)
def test_any_whole_score_may_be_a_break_or_a_quartile(breaks: list[int], quartiles: list[int], depth: int) -> None:
    drawn = snapshot(axis(breaks=TierBreaks(*breaks), positive=Quartiles(*quartiles)), max_depth=depth)
    assert Snapshot.from_json(drawn.to_json()).to_json() == drawn.to_json()


def test_its_hash_is_that_of_its_json_however_it_was_written() -> None:
    assert param_hash(Snapshot.from_json(BY_HAND)) == HASH
    other = json.loads(json.dumps(dict(reversed(BY_HAND.items())), indent=4))
    assert param_hash(Snapshot.from_json(other)) == HASH
    assert json.loads(canonical_bytes(Snapshot.from_json(BY_HAND))) == BY_HAND


EAST = np.array([1, 0], np.float32)
SAMES = (None, (7.0, -2.0), (7.0, -2.5))
FLAT = PoleRegression((1.0, 0.5, 0.0), ((0.25, 0.0, 0.0), (0.0, 0.25, 0.0), (0.0, 0.0, 0.25)))
STEEP = PoleRegression((2.0, 0.5, 0.0), FLAT.covariance)
CHANCES = (Chance(FLAT, FLAT, 1.0, 2.0), Chance(STEEP, FLAT, 1.0, 2.0), Chance(FLAT, FLAT, 1.5, 2.0))


def test_a_snapshot_says_how_it_reads_texts_unless_it_is_from_before() -> None:
    before = Snapshot.from_json(BY_HAND)
    assert before.reading == FIRST
    after = replace(before, reading=READING)
    assert after.to_json() == BY_HAND | {"reading": READING}
    assert Snapshot.from_json(after.to_json()).reading == READING
    assert param_hash(after) != param_hash(before)


def test_any_number_in_use_changes_the_hash() -> None:
    measured, unmeasured = (Certainty(LEVELS, LEVELS, difference=difference) for difference in (2.5, None))
    versions = (
        snapshot(),
        snapshot(max_depth=2),
        snapshot(axis(offset=0.001)),
        snapshot(axis(vector=(2.0, 0.0001))),
        snapshot(axis(aggregation="max")),
        snapshot(axis(certainty=measured)),
        snapshot(axis(certainty=unmeasured)),
        *(snapshot(axis(certainty=Certainty(chance=chance))) for chance in CHANCES),
        snapshot(replace(axis(), labels=LabelValues(np.array([1, 0], np.float32), 0.0))),
        snapshot(replace(axis(), labels=LabelValues(np.array([1, 0], np.float32), 0.5))),
        *(replace(snapshot(), resemblance=Resemblance(Direction(EAST, 0.5, same=same), None, None)) for same in SAMES),
        snapshot(axis(), axis("other")),
        snapshot(axis("other"), axis()),
    )
    assert len({param_hash(each) for each in versions}) == len(versions)
    for each in versions:
        assert Snapshot.from_json(each.to_json()).to_json() == each.to_json()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_without_finite_numbers_there_is_no_hash(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        param_hash(snapshot(axis(offset=value)))


def test_differences_below_single_precision_do_not_change_the_hash() -> None:
    assert param_hash(snapshot(axis(offset=0.1))) == param_hash(snapshot(axis(offset=0.1 + 1e-12)))


def damaged(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    whole: Any = copy.deepcopy(BY_HAND)
    at = whole
    for step in path[:-1]:
        at = at[step]
    if value is None and path[-1] in at:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    assert isinstance(whole, dict)
    return whole


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("format",), 2, "format 2, but this release reads 1"),
        (("format",), None, "format"),
        (("reading",), 3, "reads texts in the way 3, but this release knows 2"),
        (("reading",), 0, "reading is not an integer"),
        (("max_depth",), 4, "max_depth"),
        (("max_depth",), True, "max_depth"),
        (("encoder",), [], "wrong type"),
        (("encoder", "id"), 5, "id is not a string"),
        (("encoder", "dimension"), 3, "8 bytes, not 12"),
        (("traits",), None, "traits"),
        (("traits", 0), "warmth", "wrong type"),
        (("traits", 0, "key"), "depth", "same key"),
        (("traits", 0, "vector"), "AACAPw==", "4 bytes, not 8"),
        (("traits", 0, "vector"), "no base64!", "not base64"),
        (("traits", 0, "vector"), "AADAfwAAAAA=", "not a finite number"),
        (("traits", 0, "offset"), float("inf"), "offset"),
        (("traits", 0, "offset"), "0", "offset"),
        (("traits", 0, "aggregation"), "median", "aggregation"),
        (("traits", 0, "breaks", "solid"), None, "solid"),
        (("traits", 0, "breaks", "solid"), 101, "solid"),
        (("traits", 0, "quartiles", "positive"), [1, 2], "3 quartiles"),
        (("traits", 0, "quartiles", "positive"), [1, 2, 3.5], "quartile"),
        (("traits", 0, "quartiles"), None, "quartiles"),
    ],
)
def test_damage_is_refused_with_its_place(path: tuple[str | int, ...], value: Any, says: str) -> None:
    with pytest.raises(SnapshotInvalid, match=says):
        Snapshot.from_json(damaged(path, value))


@pytest.mark.parametrize("path", [("format",), ("traits", 0, "aggregation"), ("traits", 0, "certainty", "limit")])
def test_a_long_value_is_not_repeated_whole(path: tuple[str | int, ...]) -> None:
    values = damaged(("traits", 0, "certainty"), {"proven": [], "likely": [], "limit": None, "difference": None})
    at: Any = values
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = "a" * 100_000
    with pytest.raises(SnapshotInvalid, match="aaaa") as error:
        Snapshot.from_json(values)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("values", [None, [], "snapshot", 1, {}])
def test_values_that_are_not_a_snapshot_are_refused(values: Any) -> None:
    with pytest.raises(SnapshotInvalid):
        Snapshot.from_json(values)


def test_it_belongs_to_one_encoder() -> None:
    result = snapshot()
    result.require(PLANE)
    for other in (
        EncoderIdentity("plane-2", 2, PLANE.digest),
        EncoderIdentity("plane-1", 3, PLANE.digest),
        EncoderIdentity("plane-1", 2, "1" * 64),
    ):
        with pytest.raises(EncoderMismatch, match=r"plane-1.*train again"):
            result.require(other)
