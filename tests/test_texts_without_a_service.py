"""Whatever people write or paste stays as it is in estimators, data frames, engines, files and what pages keep.

The texts are those of `test_texts_at_the_service`. Pools and files get every character of Unicode.
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import traitbench as tb
from tests import wild
from tests.app.processes import eventually
from tests.code_points import every_text, typical_texts
from tests.conftest import COLD, WARM, Trained
from tests.contexts import home_in_environment
from tests.size import sized
from tests.tables.in_process import read
from traitbench.as_read import as_read, is_blank
from traitbench.batch.audits import read_scored
from traitbench.contract.batches import BatchSettings
from traitbench.contract.samples import LONGEST_TEXT
from traitbench.tables.sample_files import FileLayout, LabelColumn, check
from traitbench.tables.source import opened
from traitbench.tables.writing import csv_file, jsonl_file, parquet_file
from traitbench_app.batch.columns import as_csv, as_jsonl, as_parquet, frame_of
from traitbench_app.workspace import background, batches

ODD, NO_TEXTS = list(wild.ODD), list(wild.NO_TEXTS)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [*wild.MANY, *typical_texts()]


def alternating(texts: list[str]) -> list[str]:
    """A label for each text."""
    return ["warm" if at % 2 else "cold" for at in range(len(texts))]


@pytest.fixture(scope="module")
def scorer(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tb.Scorer]:
    """A scorer that has learned from all of them."""
    with home_in_environment(tmp_path_factory.mktemp("local") / "home"):
        scorer = tb.Scorer("warmth", poles=("cold", "warm"), encoder=sized("static", None), effort="low")
        yield scorer.fit(texts, alternating(texts))


@pytest.fixture(scope="module")
def udf(scorer: tb.Scorer, tmp_path_factory: pytest.TempPathFactory) -> tb.UDF:
    """The same in an engine."""
    file = tmp_path_factory.mktemp("saved") / "texts.tb"
    scorer.save(file, handle="local.texts")
    return tb.UDF(file)


def test_estimators_frames_and_engines_keep_every_row(scorer: tb.Scorer, udf: tb.UDF, texts: list[str]) -> None:
    findings = scorer.check(texts, alternating(texts))
    assert str(findings)
    assert len(findings) == len([*findings])
    scores = scorer.score_texts(texts).tolist()
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        scored = pa.table(tb.score(make({"text": texts}), "text", scorer=scorer))
        assert scored["text"].to_pylist() == texts
        assert scored["warmth_score"].to_pylist() == scores
        assert scored["error"].null_count == len(texts)
    assert [row["warmth_score"] for row in udf(texts)] == scores
    assert udf(pa.table({"text": texts}))["text"].to_pylist() == texts
    for text in [*ODD, *texts[len(wild.MANY) :]]:
        shown = "".join(part.text or "" for part in scorer.explain(text).parts)
        assert as_read("".join(shown.split())).text == as_read("".join(text.split())).text


def test_values_that_are_no_texts_keep_their_rows_in_every_shape(scorer: tb.Scorer, udf: tb.UDF) -> None:
    values: list[Any] = ["ok", *NO_TEXTS, None, float("nan"), 3, True, b"x", pd.NA, ["a"], *ODD]
    lists = udf(values)
    series = udf(pd.Series(values, dtype=object))
    frame = tb.score(pd.DataFrame({"text": pd.Series(values, dtype=object)}), "text", scorer=scorer)
    refused = [at for at, row in enumerate(lists) if row["composite"] is None]
    assert refused == list(range(1, len(values) - len(ODD)))
    assert series["error"].isna().tolist() == frame["error"].isna().tolist() == [not row["error"] for row in lists]
    assert all(wild.is_sentence(row["error"]) for row in lists if row["error"])
    assert [row["warmth_score"] for row in udf(list(wild.LONG))] == tb.score(
        pl.DataFrame({"text": wild.LONG}), "text", scorer=scorer
    )["warmth_score"].to_list()


def strings() -> list[Any]:
    """Arrow's strings whose bytes are not UTF-8: Arrow does not look."""
    raw = pa.array([b"a \xff b", b"ok", None], pa.binary())
    plain = pa.StringArray.from_buffers(3, raw.buffers()[1], raw.buffers()[2], raw.buffers()[0])
    return [plain, pa.chunked_array([plain]), plain.cast(pa.large_string()), plain.dictionary_encode()]


@pytest.mark.parametrize("column", strings(), ids=lambda column: str(type(column).__name__))
def test_a_string_that_is_no_utf_8_is_an_error_of_its_row(scorer: tb.Scorer, udf: tb.UDF, column: Any) -> None:
    for scored in (udf(pa.table({"text": column})), tb.score(pa.table({"text": column}), "text", scorer=scorer)):
        first, second, third = scored["error"].to_pylist()
        assert ("surrogate" in first, second, "missing" in third) == (True, None, True)
    with pytest.raises(ValueError, match="Row 0: the text has half of a surrogate pair"):
        scorer.score_texts(column)


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "\udfff"])
def test_nothing_is_learned_from_what_is_no_character(text: str) -> None:
    with pytest.raises(ValueError, match=r"^Row 0: the text has (the character U\+0000|half of a surrogate pair)"):
        tb.Scorer("tone").fit([text, "b"], [0, 1])


@pytest.mark.parametrize("name", [*(name for name in NO_TEXTS if name not in wild.UNSEEN), "x" * 201])
def test_a_pole_that_cannot_be_named_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(ValueError, match="negative_label") as refused:
        tb.Scorer("warmth", poles=(name, "warm")).fit(["a", "b"], [0, 1])
    assert wild.is_sentence(str(refused.value))


def test_differences_shares_and_labelling_keep_the_texts(scorer: tb.Scorer, tmp_path: Path) -> None:
    other = tb.Scorer("warmth", poles=("cold", "warm"), encoder="static", effort="low").fit(
        [*WARM, *COLD], [1] * 10 + [0] * 10
    )
    difference = tb.diff(scorer, other, ODD)
    assert difference.texts == ODD
    assert difference.to_frame("pyarrow")["text"].to_pylist() == ODD
    difference.write_html(tmp_path / "difference.html")
    labels = {row: ("warm", "cold")[row % 2] for row in range(0, len(ODD))}
    groups = [wild.HALF, "=1", "\u202e"] * (len(ODD) // 3) + ["x"] * (len(ODD) % 3)
    share = tb.share(ODD, labels, scorer=scorer, groups=groups)
    share.write_html(tmp_path / "share.html")
    assert all((tmp_path / name).read_text("utf-8") for name in ("difference.html", "share.html"))
    widget = scorer.label(ODD, labels=[each % 2 for each in range(len(ODD))])
    assert [each["text"] for each in widget.samples] == ODD
    assert widget.wait()
    unlabelled = scorer.label(ODD)
    assert sorted(each["text"] for each in json.loads(json.dumps(unlabelled.data))["items"]) == sorted(ODD)
    assert unlabelled.wait()


# ---- files and pages -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_page_imports_every_row_as_a_sample_and_into_a_pool(trained: Trained, texts: list[str], kind: str) -> None:
    texts = wild.as_sent(texts, kind)
    content = read(f"a.{kind}", wild.as_table(texts, kind))
    checked = check(
        content,
        FileLayout("text", (LabelColumn(None, "warmth", {"": 1.0}),)),
        trained.client.traits.list(trained.handle),
    )
    assert [sample.text for sample in checked.samples] == texts
    assert checked.problems == ()
    trained.client.texts.add(trained.handle, [row.cells["text"] for row in content.rows])
    assert {each.text for each in trained.client.texts.list(trained.handle)} >= {*texts}


def test_a_batch_of_the_page_downloads_every_row(trained: Trained, texts: list[str]) -> None:
    source = opened("a.jsonl", io.BytesIO(wild.as_table(texts, "jsonl")))
    batch = batches.Batch(
        trained.client, BatchSettings(trained.handle), source, "text", name="a.jsonl", keys=("warmth",)
    )
    batch.start()
    try:
        assert eventually(lambda: batch.state != "running")
        assert (batch.state, batch.done, batch.failed) == ("done", len(texts), 0)
        frame = frame_of(batch)
        for name, written in {"a.csv": as_csv, "a.jsonl": as_jsonl, "a.parquet": as_parquet}.items():
            assert [row.cells["text"] for row in read(name, written(frame, batch)).rows] == texts, name
    finally:
        background.discard(batch.id)


def test_a_text_to_label_keeps_every_character(trained: Trained) -> None:
    texts = [text for text in every_text() if not is_blank(text)]
    trained.client.texts.add(trained.handle, texts)
    assert {each.text for each in trained.client.texts.list(trained.handle)} >= {*texts}


def test_a_download_keeps_every_character() -> None:
    columns, texts = ("text", "line", "tone", "composite"), every_text()
    rows = [(text, at, 50, 50) for at, text in enumerate(texts)]
    packed = io.BytesIO()
    parquet_file(packed, pd.DataFrame(rows, columns=columns))
    files = {"a.jsonl": jsonl_file(columns, rows), "a.csv": csv_file(columns, rows), "a.parquet": packed.getvalue()}
    for name, content in files.items():
        assert list(read_scored(read(name, content)).texts) == texts, name


def test_the_texts_are_of_every_kind_and_each_fits_into_a_sample(texts: list[str]) -> None:
    assert len(set(texts)) == len(texts) >= sized(120, 5_020)
    assert max(map(len, texts)) < LONGEST_TEXT
    assert wild.texts(50) == texts[:50]
    assert len(wild.SCRIPTS) >= 40
