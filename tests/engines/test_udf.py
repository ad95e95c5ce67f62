"""A UDF answers with the numbers of the service, byte for byte, in every shape of columns and in every mode."""

import pickle
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import traitbench as tb
from tests.engines.conftest import TEXTS, Exported, figures, of_the_service
from traitbench.local import version
from traitbench.scoring.snapshot import ModeNotTrained, Snapshot

ODD = [None, "", " \n", "a\x00b"]


@pytest.mark.parametrize("mode", ["full", "layer6", "static"])
def test_every_mode_gives_the_figures_of_the_service(
    exported: Exported, mode: Literal["full", "layer6", "static"]
) -> None:
    rows = tb.UDF(exported.path, mode)(TEXTS)
    assert [*map(figures, rows)] == [*map(of_the_service, exported.answers[mode])]
    assert all(row["error"] is None for row in rows)


def test_every_shape_gives_the_same_rows(exported: Exported) -> None:
    udf = tb.UDF(exported.path, "static")
    texts = [*TEXTS, *ODD]
    rows = udf(texts)
    table = pa.table({"id": range(len(texts)), "text": texts})
    [batch] = table.to_batches()
    expected = [{"id": place, "text": text, **row} for place, (text, row) in enumerate(zip(texts, rows, strict=True))]
    for whole in (table, batch, table.cast(pa.schema([("id", pa.int64()), ("text", pa.large_string())]))):
        answer = udf(whole)
        assert type(answer) is type(whole)
        assert answer.to_pylist() == expected
    for column in (pa.array(texts), pa.chunked_array([texts[:3], texts[3:]]), pa.array(texts).dictionary_encode()):
        assert udf(column).type == udf.type
        assert udf(column).to_pylist() == rows
    for sent in (pl.DataFrame(table), pd.DataFrame({"id": table["id"], "text": texts}), table.to_reader()):
        answer = udf(sent)
        assert type(answer) is pa.Table
        assert answer.to_pylist() == expected
    assert udf(pl.DataFrame(table[:0])).num_rows == 0
    assert udf(pl.Series(texts)).to_pylist() == rows
    series = pd.Series(texts, index=range(100, 100 + len(texts)))
    frame = udf(series)
    assert (frame.columns.tolist(), frame.index.tolist()) == (udf.schema.names, series.index.tolist())
    assert pa.Table.from_pandas(frame, udf.schema, preserve_index=False).to_pylist() == rows
    assert udf(table.slice(0, 0)).num_rows == len(udf([])) == len(udf(series[:0])) == 0


def test_a_row_without_scores_says_why(exported: Exported) -> None:
    rows = tb.UDF(exported.path, "static")([*ODD, "word " * 20_001])
    assert [row["error"].partition(".")[0] for row in rows] == [
        "The text is missing",
        "The text is blank",
        "The text is blank",
        "The text has the character U+0000",
        "The text has 20,001 words; at most 20,000 are scored at once",
    ]
    assert {value for row in rows for name, value in row.items() if name != "error"} == {None}


def test_an_address_is_a_text(exported: Exported) -> None:
    [address, text] = tb.UDF(exported.path, "static")(["https://example.org/letter", "https example org letter"])
    assert (address["error"], address.keys()) == (None, text.keys())
    assert isinstance(address["warmth_score"], int)


def test_a_process_loads_once_even_in_many_threads(exported: Exported, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tb.UDF] = []
    snapshot = tb.UDF._snapshot

    def counted(udf: tb.UDF) -> Snapshot:
        read.append(udf)
        return snapshot(udf)

    monkeypatch.setattr(tb.UDF, "_snapshot", counted)
    monkeypatch.setattr(version, "_loaded", {})
    content = pickle.dumps(tb.UDF(exported.path, "static", traits=["Warmth"]))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: pickle.loads(content)(TEXTS), range(16)))
    assert len(read) == 1
    assert all(answer == answers[0] for answer in answers)
    of_warmth = ("warmth_score", "warmth_side", "warmth_confidence", "warmth_reason", "warmth_tier")
    assert [*answers[0][0]] == [*of_warmth, "composite", "version", "error"]
    assert {row["version"] for row in answers[0]} == {"v1"}
    assert "length_score" not in answers[0][0]


def test_another_process_scores_the_same_and_refuses_a_changed_file(exported: Exported, tmp_path: Path) -> None:
    copy = tmp_path / "tone.tb"
    copy.write_bytes(exported.path.read_bytes())
    plain, portable = tb.UDF(copy, "static"), tb.UDF(copy, "static", portable=True)
    assert not any(text.encode() in pickle.dumps(portable) for text in TEXTS[-6:])
    assert len(pickle.dumps(plain)) < 1_000
    assert elsewhere(plain, TEXTS) == (plain(TEXTS), set()), "and it loads neither Arrow nor pandas"
    copy.write_text(copy.read_text().replace("warm", "mild"))
    assert "was changed since this UDF was created" in elsewhere(plain, TEXTS)
    copy.unlink()
    assert "cannot be read on this machine" in elsewhere(plain, TEXTS)
    assert elsewhere(portable, TEXTS) == (plain(TEXTS), set())


LOAD_AND_SCORE = """
import pickle, sys
udf, texts = pickle.load(sys.stdin.buffer)
rows = udf(texts)
print(repr((rows, {"pyarrow", "pandas", "polars"} & {*sys.modules})))
"""


def elsewhere(udf: tb.UDF, texts: Sequence[str]) -> Any:
    """The answer of a pickled UDF in a new process with the data libraries it loaded, or the error that it prints."""
    done = subprocess.run([sys.executable, "-c", LOAD_AND_SCORE], input=pickle.dumps((udf, texts)), capture_output=True)
    return eval(done.stdout) if done.returncode == 0 else done.stderr.decode()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mode": "layer4"}, "Use full, layer6, static"),
        ({"traits": ["cold"]}, "has no trait 'cold'"),
        ({"version": "v9"}, "has no version v9"),
        ({"path": "no.tb"}, "is not a model exported from Traitbench"),
    ],
)
def test_what_cannot_work_is_an_error_where_the_udf_is_created(
    exported: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("no.tb").write_text("{}")
    with pytest.raises((ModeNotTrained, KeyError, ValueError), match=message):
        tb.UDF(**{"path": exported.path, **given})


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (pa.table({"body": ["a"]}), "There is no column 'text'"),
        (pa.table({"text": [1]}), "The column holds int64, not texts"),
        (pa.table({"text": ["a"], "composite": [1]}), "There is already a column 'composite'"),
        ("a text", "not str"),
    ],
    ids=["no column", "numbers", "taken", "one text"],
)
def test_a_batch_without_texts_is_refused(exported: Exported, batch: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tb.UDF(exported.path, "static")(batch)
