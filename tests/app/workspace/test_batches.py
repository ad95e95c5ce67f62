"""A batch of the workbench runs beside its page, ends one way or another, is kept for a while and then forgotten."""

import csv
import io
import json
from collections.abc import Iterator

import pytest
from pyarrow import parquet

from tests.app.processes import eventually
from tests.conftest import COLD, WARM, Trained, free_port
from traitbench.batch.outcomes import probe
from traitbench.client import Traitbench
from traitbench.contract.asked import Asked
from traitbench.tables.source import opened
from traitbench_app.batch.columns import (
    COMPOSITE,
    Filter,
    arranged,
    as_csv,
    as_jsonl,
    as_parquet,
    frame_of,
    histograms,
    matching,
    score_of,
    why_of,
)
from traitbench_app.workspace import background, batches
from traitbench_app.workspace.batches import Job

LINES = [
    {"id": "=1+1", "text": f"={WARM[0]}"},
    "no json",
    {"id": "b", "text": COLD[0]},
    {"id": "c", "text": "  "},
    {"id": "d", "text": "half \ud83d of a pair"},
    {"id": "e", "text": WARM[1]},
]


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield
    for job_id in background.held():
        background.discard(job_id)


def a_job(trained: Trained, lines: list[object], client: Traitbench | None = None) -> Job:
    content = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    source = opened("a.jsonl", io.BytesIO(content.encode()))
    asked = Asked(trained.handle)
    card = probe(trained.client, asked)
    keys = tuple(card.scores)
    return Job(client or trained.client, batches.pinned(asked, card), source, "text", name="a.jsonl", keys=keys)


def ended(job: Job) -> Job:
    assert eventually(lambda: job.state != "running")
    return job


@pytest.fixture
def scored(trained: Trained) -> Job:
    job = a_job(trained, [*LINES])
    job.start()
    return ended(job)


def test_every_row_has_its_figures_or_a_reason(scored: Job, trained: Trained) -> None:
    assert (scored.state, scored.done, scored.failed, scored.version) == ("done", 6, 3, "v1")
    frame = frame_of(scored)
    assert frame["line"].tolist() == [1, 2, 3, 4, 5, 6]
    assert frame["error"].astype(bool).tolist() == [False, True, False, True, True, False]
    card = trained.client.scores.score(trained.handle, WARM[1])
    last = frame.iloc[5]
    assert (last[score_of("warmth")], last[COMPOSITE], last["confidence"]) == (
        card.scores["warmth"],
        card.composite,
        card.confidence,
    )
    assert last["tier of warmth"] == (card.detail["warmth"].label or "uncertain")
    assert frame["text"].iloc[4] == "half \\ud83d of a pair"


def test_rows_are_arranged_and_what_has_no_figure_comes_last(scored: Job) -> None:
    frame = frame_of(scored)
    low = arranged(frame, order="Lowest first", by=COMPOSITE)
    high = arranged(frame, order="Highest first", by=score_of("warmth"))
    assert low[COMPOSITE].dropna().is_monotonic_increasing
    assert high[score_of("warmth")].dropna().is_monotonic_decreasing
    assert low["line"].tolist()[3:] == high["line"].tolist()[3:] == [2, 4, 5]
    assert matching(frame, Filter(show="Not scored"))["line"].tolist() == [2, 4, 5]
    sure = matching(frame, Filter(show="Low confidence"))
    assert set(sure["confidence"]) <= {"low"}


def test_files_hold_what_came_in_and_what_came_out(scored: Job) -> None:
    frame = frame_of(scored)
    names = [
        "id",
        "text",
        "line",
        "warmth",
        "warmth tier",
        "warmth confidence",
        "warmth confidence reason",
        "composite",
        "confidence",
        "confidence_reason",
    ]
    table = list(csv.DictReader(io.StringIO(as_csv(frame, scored).decode("utf-8-sig"), newline="")))
    assert list(table[0]) == [*names, "version", "error"]
    assert (table[0]["id"], table[0]["text"]) == ("'=1+1", f"'={WARM[0]}")
    assert (table[1]["id"], table[1]["warmth"], bool(table[1]["error"])) == ("", "", True)
    exact = [json.loads(line) for line in as_jsonl(frame, scored).splitlines()]
    assert (exact[0]["id"], exact[0]["warmth"], exact[1]["warmth"]) == ("=1+1", int(table[0]["warmth"]), None)
    rows = parquet.read_table(io.BytesIO(as_parquet(frame, scored))).to_pylist()
    assert [row["warmth"] for row in rows] == [row["warmth"] for row in exact]


def test_each_confidence_has_its_reason_in_one_byte_and_unlike_texts_are_counted(trained: Trained) -> None:
    job = a_job(trained, [{"text": WARM[1]}, {"text": "qwpo xzzk vbnm lkjh asdf 48151"}, {"text": " "}])
    job.start()
    frame = frame_of(ended(job))
    cards = [trained.client.scores.score(trained.handle, text).detail["warmth"] for text in job.texts[:2]]
    assert frame[why_of("warmth")].astype("object").where(frame[why_of("warmth")].notna(), None).tolist() == [
        *(card.confidence_reason for card in cards),
        None,
    ]
    assert cards[1].confidence_reason == "unlike_samples"
    assert job.unlike == 1
    assert job.traits["warmth"].reasons.itemsize == 1
    assert matching(frame, Filter(show="Unlike the samples"))["line"].tolist() == [2]
    rows = parquet.read_table(io.BytesIO(as_parquet(frame, job))).to_pylist()
    assert [row["warmth confidence reason"] for row in rows] == [*(card.confidence_reason for card in cards), None]
    assert [row["confidence_reason"] for row in rows] == [*(card.confidence_reason or "" for card in cards), ""]
    bars = histograms(frame, job, {})
    assert sum(bars["warmth"].counts["unlike_samples"]) == sum(bars[""].counts["unlike_samples"]) == 1
    assert sum(bars["warmth"].totals) == sum(bars[""].totals) == 2


def test_scores_are_counted_by_tier(scored: Job) -> None:
    result = histograms(frame_of(scored), scored, {"warmth": "Warmth"})
    assert {name: each.scored for name, each in result.items()} == {"": 3, "warmth": 3}
    assert result["warmth"].name == "Warmth"
    assert result["warmth"].breaks is not None


def test_one_that_is_stopped_keeps_what_is_done_and_goes_on(trained: Trained) -> None:
    job = a_job(trained, [{"text": f"{WARM[0]} And number {number}."} for number in range(200)])
    job.start()
    job.stop()
    before = ended(job).done
    assert (job.state, 0 < before < 200) == ("stopped", True)
    job.start()
    assert ended(job).state == "done"
    assert list(job.lines) == list(range(1, 201))
    assert len(set(job.texts)) == 200


def test_one_that_the_service_leaves_says_so(trained: Trained) -> None:
    with Traitbench(f"http://127.0.0.1:{free_port()}", "key") as nobody:
        job = a_job(trained, [*LINES], nobody)
        job.start()
        assert ended(job).state == "failed"
        assert "does not answer" in str(job.error)


def test_a_batch_is_found_by_its_id_until_it_is_discarded(trained: Trained) -> None:
    job = a_job(trained, [*LINES])
    background.start(job)
    assert batches.find(job.id) is job
    assert batches.find("another") is None
    background.discard(job.id)
    assert batches.find(job.id) is None


def test_all_of_a_model_are_forgotten_at_once(trained: Trained) -> None:
    for _ in range(2):
        background.start(a_job(trained, [*LINES]))
    background.discard_of("another.model")
    assert len(background.held()) == 2
    background.discard_of(trained.handle)
    assert background.held() == ()


def test_one_that_nobody_looks_at_is_forgotten(trained: Trained) -> None:
    job = a_job(trained, [*LINES])
    background.start(job, forget_after=0.05)
    assert eventually(lambda: not background.held())


def test_only_a_few_run_and_only_a_few_are_held(trained: Trained) -> None:
    jobs = [a_job(trained, [*LINES]) for _ in range(background.MOST_JOBS + 1)]
    for job in jobs:
        background.start(job)
        ended(job)
    assert background.held() == tuple(job.id for job in jobs[1:])
    long = [{"text": f"{COLD[0]} And number {number}."} for number in range(600)]
    running = [a_job(trained, [*long]) for _ in range(background.MOST_RUNNING + 1)]
    for job in running[:-1]:
        background.start(job)
    with pytest.raises(background.Full, match="Wait for one to end"):
        background.start(running[-1])
