"""The overview of a scored frame counts what is in it, names why the rest has no side, and shows texts as they are."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import traitbench as tb
from tests.display.answers import EVIL

ROWS: list[tuple[str | None, int | None, str | None, str | None, str | None, str | None]] = [
    ("Go away.", 0, "cold", "high", None, None),
    ("Denied.", 4, "cold", "moderate", "overlap", None),
    ("Denied.", 4, "cold", "moderate", "overlap", None),
    (EVIL, 49, None, "low", "overlap", None),
    ("شكرا جزيلا", 55, None, "low", "unlike_samples", None),
    ("Well.", 50, None, "high", None, None),
    ("Thank you!", 100, "warm", "high", None, None),
    (None, None, None, None, None, "The text is missing."),
]
NAMES = ("text", "warmth_score", "warmth_side", "warmth_confidence", "warmth_reason", "error")
COLUMNS = {name: [row[at] for row in ROWS] for at, name in enumerate(NAMES)}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_scored_frame_of_any_kind_is_counted(make: Any) -> None:
    seen = tb.overview(make(COLUMNS))
    [trait] = seen.traits
    assert (seen.texts, seen.errors, trait.poles) == (8, {"The text is missing.": 1}, ("cold", "warm"))
    assert (trait.negative, trait.positive, trait.unclear) == (3, 1, 3)
    assert {at: number for at, number in enumerate(trait.bins) if number} == {0: 3, 9: 1, 10: 1, 11: 1, 19: 1}
    assert [(each.text, each.score) for each in trait.lowest] == [("Go away.", 0), ("Denied.", 4)]
    assert [each.text for each in trait.highest] == ["Thank you!"]
    assert {each.why: (each.texts, each.examples[0].text) for each in trait.unsided} == {
        "both kinds get this score": (1, EVIL),
        "unlike the samples": (1, "شكرا جزيلا"),
        "exactly in the middle": (1, "Well."),
    }
    assert str(seen) == "8 texts, 1 without a score\nwarmth: 14 % warm, 43 % cold, 43 % no clear side"
    assert seen.to_frame()["no_side"].tolist() == [3]


def test_it_is_a_page_that_loads_nothing(tmp_path: Path) -> None:
    tb.overview(pl.DataFrame(COLUMNS)).write_html(tmp_path / "overview.html")
    page = (tmp_path / "overview.html").read_text()
    assert "&lt;script" in page
    assert not re.search(r"<script|<link|<img|(src|href)\s*=\s*[\"']|url\(|@import", page)


@pytest.mark.parametrize(
    ("columns", "given", "message"),
    [
        ({"text": ["a"], "warmth": [1]}, None, "The frame has no scores with sides. Score it: tb.overview(tb.score("),
        ({**COLUMNS, "other": ["a"] * 8}, "no", "Name the column of the texts. The frame has: text, warmth_score"),
        ({"a": ["a"] * 8, "b": ["b"] * 8, **{name: COLUMNS[name] for name in NAMES[1:]}}, None, "Name the column"),
    ],
)
def test_a_frame_without_scores_or_with_several_columns_of_texts_is_refused(
    columns: dict[str, Any], given: str | None, message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        tb.overview(pl.DataFrame(columns), given)


def test_the_only_other_column_of_texts_needs_no_name_and_traits_name_the_poles() -> None:
    frame = pl.DataFrame({"id": range(8), **COLUMNS}).rename({"text": "answer"})
    trait = tb.Trait.model_construct(key="warmth", negative_label="cold", positive_label="hot")
    [seen] = tb.overview(frame.head(3), traits=[trait]).traits
    assert (seen.poles, seen.negative, seen.positive) == (("cold", "hot"), 3, 0)
