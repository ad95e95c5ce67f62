"""The columns of scored rows: their names, those of the input beside them, and whether a table has them."""

import pytest

from tests.display.answers import card, trait_score
from traitbench.display.scored_rows import ScoredColumns, cells_of, input_names, is_scored, scored_keys

WARMTH = ["warmth_score", "warmth_side", "warmth_confidence", "warmth_reason"]
PACE = [name.replace("warmth", "pace") for name in WARMTH]


def test_the_columns_have_one_order() -> None:
    assert ScoredColumns(["warmth", "pace"]).names == ["row", *WARMTH, *PACE, "version", "error"]
    everything = ScoredColumns(["warmth"], ("composite", "tier")).names
    assert everything == ["row", *WARMTH, "warmth_tier", "composite", "version", "error"]
    assert ScoredColumns(["warmth"], numbered=False, versioned=False).names == [*WARMTH, "error"]
    assert ScoredColumns(["warmth"], details=False).names == ["warmth_score", "error"]
    assert not any(" " in name for name in everything)


def test_a_side_is_the_name_of_the_pole_that_the_score_claims() -> None:
    detail = {
        "warm": trait_score(80, "high", polarity=0.6),
        "cold": trait_score(30, polarity=-0.4),
        "open": trait_score(90, "low", polarity=0.8),
        "unnamed": trait_score(20, "high", polarity=-0.6),
    }
    poles = dict.fromkeys(("warm", "cold", "open"), ("kühl", "wärmer"))
    sides = {key: cells.side for key, cells in cells_of(card(detail), poles).items()}
    assert sides == {"warm": "wärmer", "cold": "kühl", "open": None, "unnamed": "negative"}


@pytest.mark.parametrize(
    ("columns", "come_out"),
    [
        (["text", "score"], ["text", "score"]),
        (["row", "text", "error"], ["row_input", "text", "error_input"]),
        (["row", "row_input"], ["row_input_input", "row_input"]),
        (["warmth_score", "Row", "tier"], ["warmth_score_input", "Row", "tier"]),
    ],
)
def test_a_column_of_the_input_with_a_name_of_ours_is_marked(columns: list[str], come_out: list[str]) -> None:
    assert input_names(columns, ScoredColumns(["warmth"]).names) == come_out


@pytest.mark.parametrize(
    ("columns", "keys"),
    [
        (["text", "row", *WARMTH, *PACE, "version", "error"], ["warmth", "pace"]),
        (["text", *WARMTH, "error_input", "row", *PACE, "error"], ["pace"]),
        (["row", *WARMTH, "error", "text", *PACE], ["warmth"]),
        (["error", *WARMTH, "row", "text"], ["warmth"]),
        (["text", *WARMTH], ["warmth"]),
        (["text", "warmth_score", "row", "error"], []),
        (["text", "line", "warmth", "composite"], []),
    ],
    ids=["ours", "scored again", "a bad row came first", "in another order", "of an engine", "a score alone", "old"],
)
def test_the_traits_of_the_last_scoring_are_seen(columns: list[str], keys: list[str]) -> None:
    assert scored_keys(columns) == keys


def test_a_file_of_ours_is_known_by_its_columns() -> None:
    assert is_scored(["text", "row", *WARMTH, "version", "error"])
    assert is_scored(["text", "line", "warmth", "composite", "confidence", "version", "error"])
    assert not is_scored(["text", "row", "error", "warmth_score"])
