"""A frame in, a frame out: pandas, polars and Arrow, with bad rows named; and answers as frames."""

import builtins
import doctest
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import traitbench as tb
from tests.conftest import Trained
from tests.estimators.conftest import TEXTS
from traitbench.analysis import corpus

Make = Callable[[dict[str, Sequence[Any]]], Any]
KINDS: tuple[Make, ...] = (pd.DataFrame, pl.DataFrame, pa.table)
ADDED = ["row", "warmth_score", "warmth_side", "warmth_confidence", "warmth_reason", "error"]


def columns(frame: Any) -> dict[str, list[Any]]:
    """The cells by column, with None for every kind of null."""
    table = pa.Table.from_pandas(frame, preserve_index=False) if isinstance(frame, pd.DataFrame) else frame
    result: dict[str, list[Any]] = (
        table.to_dict(as_series=False) if isinstance(table, pl.DataFrame) else table.to_pydict()
    )
    return result


@pytest.mark.parametrize("make", KINDS)
def test_a_frame_keeps_its_kind_and_gains_scores(fitted: tb.Scorer, make: Make) -> None:
    frame = make({"id": [7, 8, 9], "text": [TEXTS[0], TEXTS[9], TEXTS[0]]})
    scored = tb.score(frame, "text", scorer=fitted)
    assert type(scored) is type(frame)
    cells = columns(scored)
    assert list(cells) == ["id", "text", *ADDED]
    assert cells["warmth_score"] == fitted.score_texts([TEXTS[0], TEXTS[9], TEXTS[0]]).tolist()
    cards = fitted.cards([TEXTS[0], TEXTS[9], TEXTS[0]])
    assert cells["warmth_confidence"] == [card.confidence for card in cards]
    assert cells["warmth_reason"] == [card.detail["warmth"].confidence_reason for card in cards]
    assert (cells["row"], cells["error"]) == ([1, 2, 3], [None] * 3)
    assert {*cells["warmth_side"]} <= {"warm", "cold", None}


@pytest.mark.parametrize("make", KINDS)
def test_a_bad_row_is_null_with_its_reason(fitted: tb.Scorer, make: Make) -> None:
    scored = columns(tb.score(make({"text": [TEXTS[0], None, " ", TEXTS[9]]}), "text", scorer=fitted))
    assert [cell is None for cell in scored["warmth_score"]] == [False, True, True, False]
    assert scored["error"] == [None, "The text is missing.", "The text is blank. Leave the row out.", None]
    assert all(scored[name][1] is None for name in ADDED[1:-1])
    nothing = columns(tb.score(make({"text": [" ", ""]}), "text", scorer=fitted))
    assert nothing["warmth_score"] == [None, None]


def test_a_text_that_the_service_refuses_for_its_size_is_refused_everywhere(
    fitted: tb.Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAITBENCH_MAX_TEXT_WORDS", "100")
    largest, larger = " ".join(["tea", "milk"] * 50), " ".join(["tea", "milk"] * 50 + ["sugar"])
    problem = "the text has 101 words; at most 100 are scored at once. Split it into shorter texts."
    scored = columns(tb.score(pd.DataFrame({"text": [largest, larger]}), "text", scorer=fitted))
    assert [cell is None for cell in scored["warmth_score"]] == [False, True]
    assert scored["error"] == [None, f"T{problem[1:]}"]
    assert len(fitted.cards([largest])) == 1
    ways: list[Callable[[list[str]], object]] = [
        *(fitted.cards, fitted.predict, fitted.score_texts, fitted.decision_function, fitted.label),
        *(lambda texts: tb.diff(fitted, fitted, texts), lambda texts: tb.share(texts, {0: "warm"}, scorer=fitted)),
    ]
    for way in ways:
        with pytest.raises(ValueError, match=re.escape(f"Row 1: {problem}")):
            way([largest, larger])
    with pytest.raises(ValueError, match=re.escape(problem)):
        fitted.explain(larger)


def test_an_index_is_kept(fitted: tb.Scorer) -> None:
    frame = pd.DataFrame({"text": [TEXTS[0], pd.NA, TEXTS[1]]}, index=pd.Index(["b", "a", "b"], name="key"))
    scored = tb.score(frame, "text", scorer=fitted, details=False)
    pd.testing.assert_index_equal(scored.index, frame.index)
    assert scored["warmth_score"].dtype == "Int64"
    assert list(scored.columns) == ["text", "warmth_score", "error"]
    assert list(frame.columns) == ["text"]


def test_a_saved_score_card_scores_all_its_traits(fitted_card: tb.ScoreCard, tmp_path: Path) -> None:
    fitted_card.save(tmp_path / "card.json")
    frame = pd.DataFrame({"text": TEXTS})
    scored = tb.score(frame, "text", scorer=tmp_path / "card.json", details=False, prefix="tb ", progress=True)
    assert scored[["tb warmth_score", "tb length_score"]].to_numpy().tolist() == fitted_card.score_texts(TEXTS).tolist()


@pytest.mark.parametrize(
    "ours",
    [
        {"row": 1, "tone_score": 5, "tone_side": "", "tone_confidence": "low", "tone_reason": "", "error": ""},
        {"line": 2, "tone": 5, "composite": 5, "confidence": "low", "version": "v1"},
    ],
    ids=["of this release", "of an earlier one"],
)
def test_a_downloaded_batch_is_scored_without_the_apostrophes_of_spreadsheets(
    fitted: tb.Scorer, ours: dict[str, Any]
) -> None:
    texts = ["=Thank you", "@dear friend", "'quoted'"]
    guarded = pd.DataFrame([{"text": text if text[0] == "'" else f"'{text}", **ours} for text in texts])
    scored = tb.score(guarded, "text", scorer=fitted, prefix="new_")
    assert scored["new_warmth_score"].tolist() == fitted.score_texts(texts).tolist()


@pytest.mark.parametrize(
    ("frame", "column", "message"),
    [
        (pd.DataFrame({"a": ["x"]}), "b", "The frame has no column 'b'. It has: a."),
        (pd.DataFrame({"text": ["x"], "error": [1]}), "text", "The frame has a column 'error' already."),
        ([{"text": "x"}], "text", "takes a pandas, polars or Arrow frame, not list"),
        (pl.LazyFrame({"text": ["x"]}), "text", "Call collect() on a lazy one"),
    ],
)
def test_what_cannot_be_scored_is_said(fitted: tb.Scorer, frame: Any, column: str, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        tb.score(frame, column, scorer=fitted)


def test_a_missing_library_is_named(fitted: tb.Scorer, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *others: Any) -> Any:
        if name.startswith("narwhals"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install .*\[notebook\]'"):
        tb.score(pd.DataFrame({"text": TEXTS}), "text", scorer=fitted)


# ---- answers -----------------------------------------------------------------------------------------------------


def test_answers_of_a_service_become_frames(trained: Trained) -> None:
    client, handle = trained.client, trained.handle
    card = client.scores.score(handle, TEXTS[0], explain=True)
    assert card.to_frame()[["trait", "score"]].to_numpy().tolist() == [["warmth", card.scores["warmth"]]]
    assert card.explanation is not None
    parts = card.explanation["warmth"].to_frame("polars")
    assert parts["contribution"].sum() == pytest.approx(card.explanation["warmth"].position)
    compared = client.scores.compare(handle, TEXTS[0], TEXTS[9]).to_frame("pyarrow").to_pylist()
    assert [row["delta"] for row in compared] == [compared[0]["b"] - compared[0]["a"]]
    version = client.versions.get(handle, "v1")
    assert version.to_frame()["auroc"].tolist() == [version.metrics.traits["warmth"].auroc]
    lines = tb.frames.frame(client.scores.batch(handle, [" ", TEXTS[0]]), traits=client.traits.list(handle))
    assert list(lines.columns) == [*ADDED[:-1], "version", "error"]
    assert (lines["row"].tolist(), lines["version"].tolist()[1]) == ([1, 2], "v1")
    assert (str(lines["warmth_score"].dtype), lines["warmth_score"][1]) == ("Int64", card.scores["warmth"])
    assert isinstance(lines["error"].tolist()[0], str)
    [both] = tb.frames.frame([card], "pyarrow", also=("tier", "composite")).to_pylist()
    assert (both["composite"], both["warmth_tier"]) == (card.composite, card.detail["warmth"].label)
    own = client.versions.compare(handle, handle)
    assert own.to_frame()["trait"].tolist() == list(own.traits)


def test_listings_of_a_service_become_frames(trained: Trained) -> None:
    client, handle = trained.client, trained.handle
    samples = client.samples.list(handle).to_frame()
    assert samples["trait"].tolist() == ["warmth"] * 20
    assert {"id", "text", "quality", "pending"} <= set(samples.columns)
    versions = client.versions.list(handle).to_frame()
    assert versions["version_no"].tolist() == [1]
    models = client.models.list(namespace="trained").to_frame()
    assert handle in models["handle"].tolist()
    assert client.traits.list(handle).to_frame("polars")["key"].to_list() == ["warmth"]


def test_the_answer_of_a_corpus_becomes_a_frame() -> None:
    answer = corpus.answer([float(score % 100) for score in range(400)], {row: row % 2 for row in range(0, 400, 4)})
    frame = answer.to_frame()
    assert frame["figure"].tolist()[:2] == ["share", "mean"]
    assert len(frame) == len(answer.rows())


@pytest.mark.parametrize(
    "module",
    [
        *("estimators.scorer", "estimators.score_card", "estimators.functions", "estimators.diff"),
        *("display.frames", "display.overview"),
    ],
)
def test_the_examples_of_the_docs_run(module: str) -> None:
    results = doctest.testmod(import_module(f"traitbench.{module}"))
    assert results.attempted
    assert not results.failed


def test_the_column_that_a_read_table_has_its_texts_in_needs_no_name(fitted: tb.Scorer, tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("id,answer\n" + "".join(f'{at},"{text}"\n' for at, text in enumerate(TEXTS[:3])))
    frame = tb.read_table(file)
    assert tb.score(frame, scorer=fitted)["warmth_score"].tolist() == fitted.score_texts(TEXTS[:3]).tolist()
    with pytest.raises(ValueError, match="The frame has: id, answer"):
        tb.score(pd.DataFrame(frame.to_dict()), scorer=fitted)
