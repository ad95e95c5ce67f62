"""Whatever people write or paste comes out as it went in, row for row, on every way that texts take.

The ways are given the same texts (`wild`). None may fail, change a text, or lose a row.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from pyarrow import parquet

import traitbench as tb
from tests import wild
from tests.app.processes import eventually
from tests.cli.asking import Ask, asking
from tests.conftest import Service, Trained
from tests.contexts import AUTHOR, draft, export_of, fresh_settings, home_in_environment, opened
from tests.scoring.hand import axis, encode, snapshot
from tests.size import sized
from traitbench.client import Traitbench
from traitbench.contract.asked import Asked
from traitbench.contract.batches import FailedLine, ScoredLine
from traitbench.contract.samples import LONGEST_TEXT, SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput
from traitbench.formulas import as_written
from traitbench.operations import samples
from traitbench.operations.backups import backup, restore
from traitbench.scoring.explain import explain
from traitbench.tables.sample_files import Choice, check, read
from traitbench.tables.source import opened as table
from traitbench_app.batch.columns import as_csv, as_jsonl, as_parquet, frame_of
from traitbench_app.workspace import background, batches
from traitbench_app.workspace.heap_file import HeapFile, Place

TEXTS = list(dict.fromkeys([*wild.texts(sized(100, 5_000)), *wild.ODD]))
FEW = TEXTS[: sized(28, 600)]
"""For what takes a request or a fit for each text."""


@pytest.fixture(scope="module")
def authoring(service: Service) -> Iterator[Traitbench]:
    with Traitbench(service.base_url, service.issue(namespaces=("wild", "trained"))) as client:
        yield client


@pytest.fixture(scope="module")
def ask(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return asking(service, tmp_path_factory.mktemp("cli") / "home", "wild", "trained")


def filled(client: Traitbench, handle: str) -> str:
    """A draft with the texts as samples."""
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    client.samples.add(handle, labelled(TEXTS))
    return handle


def labelled(texts: Sequence[str]) -> list[SampleInput]:
    """Samples of both poles."""
    return [SampleInput(trait="warmth", text=text, quality=float(at % 2)) for at, text in enumerate(texts)]


def as_sent(kind: str) -> list[str]:
    """The texts that a file of this kind can have: a CSV from elsewhere may not look guarded against formulas."""
    return [text for text in TEXTS if kind != "csv" or as_written(text) == text]


def as_table(texts: Sequence[str], kind: str) -> bytes:
    """A file as another program writes it correctly."""
    if kind == "jsonl":
        return "".join(json.dumps({"id": at, "text": text}) + "\n" for at, text in enumerate(texts)).encode()
    if kind == "parquet":
        place = io.BytesIO()
        parquet.write_table(pa.table({"id": [*map(str, range(len(texts)))], "text": texts}), place)
        return place.getvalue()
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, quoting=csv.QUOTE_ALL)
    writer.writerows([("id", "text"), *((str(at), text) for at, text in enumerate(texts))])
    return lines.getvalue().encode()


# ---- the service -----------------------------------------------------------------------------------------------------


def test_a_batch_has_a_line_for_each_text_and_a_score_has_a_card(trained: Trained) -> None:
    lines = list(trained.client.scores.batch(trained.handle, TEXTS))
    assert [line.index for line in lines] == list(range(len(TEXTS)))
    assert [TEXTS[line.index] for line in lines if not isinstance(line, ScoredLine)] == []
    for text, line in zip(FEW, lines, strict=False):
        card = trained.client.scores.score(trained.handle, text, explain=True)
        assert isinstance(line, ScoredLine)
        assert (card.scores, card.detail) == (line.scores, line.detail)
        assert card.explanation is not None
        parts = card.explanation["warmth"].parts
        assert [text[part.start : part.end] for part in parts] == [part.text for part in parts]
        assert trained.client.scores.compare(trained.handle, text, text).per_trait["warmth"].delta == 0


def test_words_of_a_megabyte_are_scored_or_refused_with_a_reason(trained: Trained) -> None:
    first, *others = trained.client.scores.batch(trained.handle, wild.LONG)
    assert isinstance(first, ScoredLine)
    assert [other.error.code for other in others if isinstance(other, FailedLine)] == ["body_too_large"] * 2


def test_samples_go_through_search_training_bundle_and_zero_retention(authoring: Traitbench) -> None:
    handle = filled(authoring, "wild.draft")
    assert [sample.text for sample in authoring.samples.list(handle)] == TEXTS
    for text in FEW:
        found = authoring.samples.list(handle, text=text.split()[0][:200])
        assert text in [sample.text for sample in found]
    bundle = authoring.models.export(handle)
    authoring.models.import_(tb.Bundle.model_validate_json(bundle.model_dump_json()), handle="wild.copy")
    assert [sample.text for sample in authoring.samples.list("wild.copy")] == TEXTS
    authoring.models.train(handle, effort="low")
    assert authoring.models.wait(handle).state == "ready"
    authoring.models.update(handle, zero_data_retention=True)
    assert list(authoring.samples.list(handle)) == []
    assert [line.index for line in authoring.scores.batch(handle, FEW) if isinstance(line, ScoredLine)] == list(
        range(len(FEW))
    )


def test_a_backup_brings_every_text_back(tmp_path: Path) -> None:
    with fresh_settings(tmp_path / "one") as settings, opened(settings, runs=False) as context:
        handle = draft(context)
        for first in range(0, len(TEXTS), 500):
            samples.add(context, AUTHOR, handle, SamplesCreate(samples=labelled(TEXTS[first : first + 500])))
        backup(settings, tmp_path / "all.backup")
    with fresh_settings(tmp_path / "other") as settings:
        restore(settings, tmp_path / "all.backup")
        with opened(settings, runs=False) as context:
            assert [sample.text for sample in export_of(context, AUTHOR, handle).samples or ()] == TEXTS


# ---- the command line and the pages ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_the_command_line_scores_every_row_of_a_file(ask: Ask, trained: Trained, tmp_path: Path, kind: str) -> None:
    file, out = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    file.write_bytes(as_table(as_sent(kind), kind))
    code, _, err = ask("score", trained.handle, "--batch", str(file), "--output", str(out))
    assert (code, err.count("Traceback")) == (0, 0)
    rows = read(out.name, out.read_bytes()).rows
    texts = [row.cells["text"] if kind != "jsonl" else (row.record or {})["row"]["text"] for row in rows]
    assert texts == as_sent(kind)


def test_the_command_line_lists_what_it_imported(ask: Ask, authoring: Traitbench, tmp_path: Path) -> None:
    filled(authoring, "wild.listed")
    code, out, _ = ask("samples", "list", "wild.listed", "--json")
    assert code == 0
    (tmp_path / "again.jsonl").write_text(out)
    authoring.models.create("wild.again")
    authoring.traits.add("wild.again", [TraitInput(name="Warmth")])
    code, _, err = ask("samples", "import", "wild.again", str(tmp_path / "again.jsonl"))
    assert (code, err.count("\n")) == (0, 2)
    assert [sample.text for sample in authoring.samples.list("wild.again")] == TEXTS


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_page_imports_every_row_as_a_sample_and_onto_a_heap(authoring: Traitbench, kind: str) -> None:
    texts = as_sent(kind)
    content = read(f"a.{kind}", as_table(texts, kind))
    choice = Choice("text", None, "warmth", None, 1.0, {})
    checked = check(content, choice, authoring.traits.list("trained.tone"))
    assert [sample.text for sample in checked.samples] == texts
    assert checked.problems == ()
    heap, place = HeapFile(None), Place("service", "model", "owner")
    assert heap.add(place, [row.cells["text"] for row in content.rows], "a file") == len(texts)
    assert [each.text for each in heap.texts(place)] == texts


def test_a_batch_of_the_page_downloads_every_row(trained: Trained) -> None:
    source = table("a.jsonl", io.BytesIO(as_table(TEXTS, "jsonl")))
    job = batches.Job(trained.client, Asked(trained.handle), source, "text", name="a.jsonl", keys=("warmth",))
    job.start()
    try:
        assert eventually(lambda: job.state != "running")
        assert (job.state, job.done, job.failed) == ("done", len(TEXTS), 0)
        frame = frame_of(job)
        files = {"a.csv": as_csv, "a.jsonl": as_jsonl, "a.parquet": as_parquet}
        for name, written in files.items():
            assert [row.cells["text"] for row in read(name, written(frame, job)).rows] == TEXTS, name
    finally:
        background.discard(job.id)


# ---- without the service ---------------------------------------------------------------------------------------------


def test_estimators_frames_and_engines_keep_every_row(tmp_path: Path) -> None:
    labels = ["warm" if at % 2 else "cold" for at in range(len(TEXTS))]
    with home_in_environment(tmp_path / "home"):
        scorer = tb.Scorer("warmth", poles=("cold", "warm"), encoder=sized("static", None), effort="low")
        scorer.fit(TEXTS, labels)
        assert len(scorer.check(TEXTS, labels)) >= 0
        scores = scorer.score_texts(TEXTS).tolist()
        for make in (pd.DataFrame, pl.DataFrame, pa.table):
            scored = pa.table(tb.score(make({"text": TEXTS}), "text", scorer=scorer))
            assert scored["text"].to_pylist() == TEXTS
            assert scored["warmth"].to_pylist() == scores
        scorer.save(tmp_path / "wild.tb", handle="local.wild")
        udf = tb.UDF(tmp_path / "wild.tb")
        assert [row["warmth_score"] for row in udf(TEXTS)] == scores
        assert udf(pa.table({"text": TEXTS}))["text"].to_pylist() == TEXTS


MODEL = snapshot(axis("warmth", vector=(2.0, 0.5), offset=0.1, aggregation="mean"), max_depth=3)


@settings(max_examples=sized(60, 3_000))
@given(wild.TEXTS)
def test_the_parts_of_an_explanation_are_places_of_the_text_in_order(text: str) -> None:
    parts = explain(MODEL, encode, text).traits["warmth"].parts
    places = [place for part in parts for place in (part.start, part.end)]
    assert places == sorted(places)
    assert "".join("".join(text[part.start : part.end] for part in parts).split()) == "".join(text.split())


def test_the_texts_are_of_every_kind_and_each_fits_into_a_sample() -> None:
    assert len(set(TEXTS)) == len(TEXTS) >= sized(100, 5_000) + 20
    assert max(map(len, TEXTS)) < LONGEST_TEXT
    assert wild.texts(50) == TEXTS[:50]
    assert len(wild.SCRIPTS) >= 40
