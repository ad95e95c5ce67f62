"""A batch of the workbench runs beside its page, ends one way or another, is kept for a while and then forgotten."""

import csv
import io
import json

import pytest
from pyarrow import parquet

from tests.app.processes import eventually
from tests.conftest import COLD, WARM, Trained
from traitbench.batch.outcomes import Shape, jsonl_line, outcomes, probe
from traitbench.contract.batches import BatchSettings
from traitbench.display.scored_rows import poles_of
from traitbench.tables.source import opened
from traitbench_app.batch.columns import (
    COMPOSITE,
    MOST_GROUPS,
    Filter,
    arranged,
    as_csv,
    as_jsonl,
    as_parquet,
    frame_of,
    grouped,
    histogram,
    matching,
    other,
    score_of,
    why_of,
)
from traitbench_app.workspace import background, batches
from traitbench_app.workspace.batches import Batch

pytestmark = pytest.mark.usefixtures("nothing_left")

LINES = [
    {"id": "=1+1", "text": f"={WARM[0]}"},
    "no json",
    {"id": "b", "text": COLD[0]},
    {"id": "c", "text": "  "},
    {"id": "d", "text": "half \ud83d of a pair"},
    {"id": "e", "text": WARM[1]},
]


CONTENT = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in LINES)


def a_batch(trained: Trained, lines: list[object]) -> Batch:
    content = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    source = opened("a.jsonl", io.BytesIO(content.encode()))
    settings = BatchSettings(trained.handle)
    card = probe(trained.client, settings)
    keys = tuple(card.scores)
    return Batch(trained.client, settings.of_version("v1"), source, "text", name="a.jsonl", keys=keys)


def ended(batch: Batch) -> Batch:
    assert eventually(lambda: batch.state != "running")
    return batch


@pytest.fixture
def scored(trained: Trained) -> Batch:
    batch = a_batch(trained, [*LINES])
    batch.start()
    return ended(batch)


def test_every_row_has_its_figures_or_a_reason(scored: Batch, trained: Trained) -> None:
    assert (scored.state, scored.done, scored.failed, scored.version) == ("done", 6, 3, "v1")
    frame = frame_of(scored)
    assert frame["line"].tolist() == [1, 2, 3, 4, 5, 6]
    assert frame["error"].astype(bool).tolist() == [False, True, False, True, True, False]
    card = trained.client.scores.score(trained.handle, WARM[1])
    last = frame.iloc[5]
    assert (last[score_of("warmth")], last[COMPOSITE]) == (card.scores["warmth"], card.composite)
    assert last["confidence"] == card.confidence
    assert last["tier of warmth"] == (card.detail["warmth"].label or "uncertain")
    assert frame["text"].iloc[4] == "half \\ud83d of a pair"


def test_rows_are_arranged_filtered_and_counted(scored: Batch) -> None:
    frame = frame_of(scored)
    low = arranged(frame, order="Lowest first", by=COMPOSITE)
    high = arranged(frame, order="Highest first", by=score_of("warmth"))
    assert low[COMPOSITE].dropna().is_monotonic_increasing
    assert high[score_of("warmth")].dropna().is_monotonic_decreasing
    assert low["line"].tolist()[3:] == high["line"].tolist()[3:] == [2, 4, 5]
    assert matching(frame, Filter("warmth", "failed"))["line"].tolist() == [2, 4, 5]
    open_rows = matching(frame, Filter("warmth", "open"))
    assert set(open_rows["confidence of warmth"]) <= {"low"}
    sides = [len(matching(frame, Filter("warmth", show))) for show in ("negative", "open", "positive")]
    bars = histogram(frame, "warmth", negative="cold", positive="warm")
    assert [sum(bars.counts[side]) for side in (-1, 0, 1)] == sides
    assert sum(sides) == 3


def test_groups_have_an_interval_and_the_largest_are_drawn(trained: Trained) -> None:
    lines: list[object] = [{"text": text, "kind": str(number % 14)} for number, text in enumerate([*WARM, *COLD])]
    batch = a_batch(trained, [*lines, {"text": WARM[0], "kind": "alone"}])
    batch.start()
    table = grouped(frame_of(ended(batch)), "kind", "warmth")
    assert len(table) == MOST_GROUPS
    assert table["rows"].tolist().count(2) == 6, "the larger ones are there"
    assert table["mean"].is_monotonic_decreasing
    several = table[table["rows"] > 1]
    assert ((several["low"] <= several["mean"]) & (several["mean"] <= several["high"])).all()
    assert set(table["standing"]) == {"few"}


def test_files_hold_what_came_in_and_what_came_out(scored: Batch) -> None:
    frame = frame_of(scored)
    ours = ["row", "warmth_score", "warmth_side", "warmth_confidence", "warmth_reason", "version", "error"]
    table = list(csv.DictReader(io.StringIO(as_csv(frame, scored).decode("utf-8-sig"), newline="")))
    assert list(table[0]) == ["id", "text", *ours]
    assert (table[0]["id"], table[0]["text"]) == ("'=1+1", f"'={WARM[0]}")
    assert (table[1]["id"], table[1]["warmth_score"], bool(table[1]["error"])) == ("", "", True)
    exact = [json.loads(line) for line in as_jsonl(frame, scored).splitlines()]
    first, second = exact[:2]
    assert (first["id"], first["warmth_score"], second["warmth_score"]) == ("=1+1", int(table[0]["warmth_score"]), None)
    assert parquet.read_table(io.BytesIO(as_parquet(frame, scored))).to_pylist() == exact


def test_downloads_are_the_files_of_the_command(scored: Batch, trained: Trained) -> None:
    """Row by row, also of rows that are filtered and sorted."""
    poles = poles_of(trained.client.traits.list(trained.handle))
    shape = Shape(scored.columns, ["warmth"], poles)
    lines = opened("a.jsonl", io.BytesIO(CONTENT.encode())).lines()
    made = [jsonl_line(shape, each) for each in outcomes(trained.client, scored.settings, lines, "text")]
    expected = {row["row"]: row for row in map(json.loads, made)}
    frame, names = frame_of(scored), shape.ours.names
    highest = arranged(matching(frame, Filter("warmth", least=1)), order="Highest first", by=score_of("warmth"))
    for rows, number in ((frame, 6), (highest, 3)):
        downloaded = [json.loads(line) for line in as_jsonl(rows, scored, poles).splitlines()]
        assert len(downloaded) == number
        for row in downloaded:
            assert {name: row[name] for name in names} == {name: expected[row["row"]][name] for name in names}
    assert {row["warmth_side"] for row in expected.values()} == {"warm", "cold", None}


def test_ids_keep_their_digits_and_words_for_nothing_stay_words(trained: Trained) -> None:
    regions, first = ("NA", "null", "None"), 1912345678901234501
    lines: list[object] = [
        {"id": first + at, "owner": None if at else first, "code": f"{at:06}", "region": regions[at % 3], "text": text}
        for at, text in enumerate((*WARM, *COLD)[:12])
    ]
    batch = a_batch(trained, lines)
    batch.start()
    frame = frame_of(ended(batch))
    assert grouped(frame, "region", "warmth")[["region", "rows"]].sort_values("region").to_numpy().tolist() == [
        ["NA", 4],
        ["None", 4],
        ["null", 4],
    ]
    assert frame[other("id")].tolist() == [str(first + at) for at in range(12)]
    table = list(csv.DictReader(io.StringIO(as_csv(frame, batch).decode("utf-8-sig"), newline="")))
    exact = [json.loads(line) for line in as_jsonl(frame, batch).splitlines()]
    typed = parquet.read_table(io.BytesIO(as_parquet(frame, batch))).to_pylist()
    for rows in (table, exact, typed):
        assert [(str(row["id"]), row["code"], row["region"]) for row in rows] == [
            (str(first + at), f"{at:06}", regions[at % 3]) for at in range(12)
        ]
        assert [str(row["owner"] or "") for row in rows] == [str(first), *[""] * 11]


def test_each_confidence_has_its_reason_in_one_byte_and_unlike_texts_are_counted(trained: Trained) -> None:
    batch = a_batch(trained, [{"text": WARM[1]}, {"text": "qwpo xzzk vbnm lkjh asdf 48151"}, {"text": " "}])
    batch.start()
    frame = frame_of(ended(batch))
    cards = [trained.client.scores.score(trained.handle, text).detail["warmth"] for text in batch.texts[:2]]
    reasons, shown = [*(card.confidence_reason for card in cards), None], frame[why_of("warmth")]
    assert shown.astype("object").where(shown.notna(), None).tolist() == reasons
    assert cards[1].confidence_reason == "unlike_samples"
    assert batch.unlike("warmth") == 1
    assert batch.traits["warmth"].reasons.itemsize == 1
    assert matching(frame, Filter("warmth", "unlike"))["line"].tolist() == [2]
    rows = parquet.read_table(io.BytesIO(as_parquet(frame, batch))).to_pylist()
    assert [row["warmth_reason"] for row in rows] == reasons


def test_one_that_is_stopped_keeps_what_is_done_and_goes_on(trained: Trained) -> None:
    batch = a_batch(trained, [{"text": f"{WARM[0]} And number {number}."} for number in range(200)])
    batch.start()
    batch.stop()
    before = ended(batch).done
    assert (batch.state, 0 < before < 200) == ("stopped", True)
    batch.start()
    assert ended(batch).state == "done"
    assert list(batch.lines) == list(range(1, 201))
    assert len(set(batch.texts)) == 200


def test_a_batch_is_found_by_its_id_until_it_or_all_of_its_model_are_discarded(trained: Trained) -> None:
    started = [a_batch(trained, [*LINES]) for _ in range(2)]
    for batch in started:
        background.start(batch)
    assert batches.find(started[0].id) is started[0]
    assert batches.find("another") is None
    background.discard_of("another.model")
    background.discard(started[0].id)
    assert background.ids() == (started[1].id,)
    background.discard_of(trained.handle)
    assert background.ids() == ()


def test_one_that_nobody_looks_at_is_forgotten(trained: Trained) -> None:
    batch = a_batch(trained, [*LINES])
    background.start(batch, forget_after=0.05)
    assert eventually(lambda: not background.ids())


def test_only_a_few_run_and_only_a_few_are_held(trained: Trained) -> None:
    started = [a_batch(trained, [*LINES]) for _ in range(background.MOST_IN_MEMORY + 1)]
    for batch in started:
        background.start(batch)
        ended(batch)
    assert background.ids() == tuple(batch.id for batch in started[1:])
    long = [{"text": f"{COLD[0]} And number {number}."} for number in range(600)]
    running = [a_batch(trained, [*long]) for _ in range(background.MOST_RUNNING + 1)]
    for batch in running[:-1]:
        background.start(batch)
    with pytest.raises(background.Full, match="Wait for one to end"):
        background.start(running[-1])
