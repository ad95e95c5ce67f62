"""A comparison of two versions text by text: it runs beside its page; kinds of change, filters, counts and files."""

import csv
import io
import json
from collections.abc import Sequence

import pytest

from tests.app.processes import eventually
from tests.conftest import COLD, WARM, Trained
from traitbench.tables.rows import Row, Table
from traitbench.tables.sample_files import FileLayout, LabelColumn, known_words
from traitbench_app.versions import text_comparison
from traitbench_app.versions.text_comparison import (
    CHUNK,
    DELTA,
    ERROR,
    KIND,
    MUST_PASS,
    SCORE_A,
    SCORE_B,
    TEXT,
    ComparedInput,
    Show,
    SideColumn,
    TextComparison,
    TextLabel,
    as_csv,
    as_jsonl,
    frame_of,
    of_samples,
    of_table,
    shown,
    summary,
)
from traitbench_app.workspace import background
from traitbench_app.workspace.batches import CONFIDENCES, NONE, TIERS

pytestmark = pytest.mark.usefixtures("nothing_left")


def a_job(trained: Trained, texts: Sequence[ComparedInput]) -> TextComparison:
    pinned = f"{trained.handle}@v1"
    return TextComparison(trained.client, pinned, pinned, texts, keys=["warmth"], name="texts")


def ended(comparison: TextComparison) -> TextComparison:
    assert eventually(lambda: comparison.state != "running")
    return comparison


def test_every_text_is_scored_by_both_versions_or_has_a_reason(trained: Trained) -> None:
    comparison = a_job(
        trained,
        [
            ComparedInput(WARM[0], {"warmth": TextLabel(1.0, must_pass=True)}),
            ComparedInput("  "),
            ComparedInput(COLD[0]),
        ],
    )
    comparison.start()
    assert (ended(comparison).state, comparison.done, comparison.failed) == ("done", 3, 1)
    frame = frame_of(comparison, "warmth").set_index(TEXT)
    for text in (WARM[0], COLD[0]):
        card = trained.client.scores.score(trained.handle, text)
        assert tuple(frame.loc[text, [SCORE_A, SCORE_B, DELTA]]) == (*[card.scores["warmth"]] * 2, 0)
        assert frame.loc[text, "tier_a"] == (card.detail["warmth"].label or "uncertain")
        assert frame.loc[text, "confidence_b"] == card.detail["warmth"].confidence
    assert frame.loc["  ", ERROR]
    assert frame.loc[WARM[0], MUST_PASS] == "passed"
    assert summary(frame.reset_index()).endswith("1 text could not be scored.")


def test_one_that_is_stopped_keeps_what_is_done_and_goes_on(trained: Trained) -> None:
    texts = [ComparedInput(f"{WARM[0]} And number {number}.") for number in range(2 * CHUNK)]
    comparison = a_job(trained, texts)
    comparison.start()
    comparison.stop()
    assert (ended(comparison).state, comparison.done) == ("stopped", CHUNK)
    comparison.start()
    assert (ended(comparison).state, comparison.done) == ("done", 2 * CHUNK)
    assert frame_of(comparison, "warmth")[TEXT].is_unique


def test_one_is_found_by_its_owner_until_all_of_its_model_are_discarded(trained: Trained) -> None:
    comparison = a_job(trained, [ComparedInput(WARM[0])])
    background.start(comparison)
    assert text_comparison.find(comparison.id) is comparison
    assert text_comparison.find(comparison.id, owner="another") is None
    background.discard_of(trained.handle)
    assert text_comparison.find(comparison.id) is None


def test_the_texts_of_samples_are_distinct_and_have_the_labels_of_all_traits(trained: Trained) -> None:
    samples = list(trained.client.samples.list(trained.handle))
    again = [samples[0].model_copy(update={"trait": "clarity", "quality": 0.25, "must_pass": True})]
    texts = of_samples([*samples, *again])
    assert [each.text for each in texts] == [*WARM, *COLD]
    assert texts[0].labels == {"warmth": TextLabel(1.0), "clarity": TextLabel(0.25, must_pass=True)}


def test_a_file_may_say_what_each_text_should_score(trained: Trained) -> None:
    labelled = (("a", "0.9", "Warmth"), ("b", "cold", "warmth"))
    cells = (*labelled, ("c", "maybe", "warmth"), ("d", "?", ""), ("e", "", "x"))
    columns = ("text", "label", "trait")
    rows = tuple(Row(number, dict(zip(columns, each, strict=True))) for number, each in enumerate(cells, 1))
    table = Table(columns, rows, ())
    traits = trained.client.traits.list(trained.handle)
    for trait in (None, "trait"):
        labels = LabelColumn("label", None if trait else "warmth", known_words(table, "label", traits))
        texts = of_table(table, FileLayout("text", (labels,), trait), traits)
        assert [each.text for each in texts] == ["a", "b", "c", "d", "e"]
        assert [each.labels for each in texts] == [{"warmth": TextLabel(0.9)}, {"warmth": TextLabel(0.0)}, {}, {}, {}]
    assert not of_table(table, FileLayout("text", ()), traits)[0].labels
    stars = Table(("text", "label"), tuple(Row(each, {"text": "a", "label": str(each)}) for each in range(1, 6)), ())
    labels = LabelColumn("label", "warmth", {})
    assert not any(each.labels for each in of_table(stars, FileLayout("text", (labels,)), traits)), "1 star is no pole"


# ---- pure functions of the results -----------------------------------------------------------------------------------


def filled(trained: Trained, *rows: tuple[str, float | None, int, int], must: Sequence[str] = ()) -> TextComparison:
    """A comparison with given texts, qualities and scores; -1 stands for a text that was not scored."""
    texts = [
        ComparedInput(text, {} if quality is None else {"warmth": TextLabel(quality, text in must)})
        for text, quality, _, _ in rows
    ]
    comparison = a_job(trained, texts)
    for _, _, *scores in rows:
        for column, score in zip((comparison.traits["warmth"].a, comparison.traits["warmth"].b), scores, strict=True):
            add(column, score)
        if NONE in scores:
            comparison.errors[comparison.done] = "too long"
        comparison.done += 1
    return comparison


def add(column: SideColumn, score: int) -> None:
    column.scores.append(score)
    column.tiers.append(NONE if score == NONE else TIERS.index("Weak" if score < 50 else "Strong"))
    column.confidences.append(NONE if score == NONE else CONFIDENCES.index("high"))


WORSE = ("=large regression", "small regression", "to the middle")


@pytest.fixture
def mixed(trained: Trained) -> TextComparison:
    return filled(
        trained,
        ("steady", 1.0, 80, 81),
        ("small regression", 1.0, 55, 45),
        ("fixed", 0.0, 70, 20),
        ("unlabelled", None, 40, 60),
        ("=large regression", 0.0, 10, 90),
        ("to the middle", 1.0, 52, 50),
        ("never right", 0.0, 60, 55),
        ("in between", 0.5, 40, 60),
        ("not scored", 1.0, NONE, NONE),
        must=("steady", "small regression", "not scored"),
    )


def test_regressions_come_first_by_size_then_changed_sides_then_the_biggest_changes(mixed: TextComparison) -> None:
    frame = frame_of(mixed, "warmth")
    assert list(zip(frame[TEXT], frame[KIND], strict=True)) == [
        ("=large regression", "regression"),
        ("small regression", "regression"),
        ("to the middle", "regression"),
        ("unlabelled", "side changed"),
        ("in between", "side changed"),
        ("fixed", "fixed"),
        ("never right", ""),
        ("steady", ""),
        ("not scored", ""),
    ]
    assert frame[MUST_PASS].fillna("").tolist() == ["", "failed", "", "", "", "", "", "passed", ""]


def test_a_comparison_on_samples_shows_those_of_the_trait(mixed: TextComparison) -> None:
    mixed.of_samples = True
    assert "unlabelled" not in set(frame_of(mixed, "warmth")[TEXT])
    assert summary(frame_of(mixed, "warmth")).startswith("5 of 7 texts changed sides")


@pytest.mark.parametrize(
    ("show", "texts"),
    [
        ("Moved", {*WORSE, "unlabelled", "in between", "fixed", "never right", "not scored"}),
        ("Regressions", {*WORSE}),
        ("Fixed", {"fixed"}),
        ("Side changed", {*WORSE, "unlabelled", "in between", "fixed"}),
        ("Must pass failed", {"small regression"}),
    ],
)
def test_a_filter_shows_its_rows(mixed: TextComparison, show: Show, texts: set[str]) -> None:
    assert set(shown(frame_of(mixed, "warmth"), show)[TEXT]) == texts


def test_the_counts_are_said_in_one_sentence(mixed: TextComparison, trained: Trained) -> None:
    assert summary(frame_of(mixed, "warmth")) == (
        "6 of 8 texts changed sides: 3 worse, 1 better, 2 other. "
        "1 of 2 texts that should never be wrong is wrong. 1 text could not be scored."
    )
    assert summary(frame_of(filled(trained, ("same", 1.0, 80, 80)), "warmth")) == "0 of 1 text changed sides."


def test_files_have_the_rows_that_are_shown(mixed: TextComparison) -> None:
    rows = shown(frame_of(mixed, "warmth"), "Regressions")
    table = list(csv.DictReader(io.StringIO(as_csv(rows, mixed).decode("utf-8-sig"), newline="")))
    assert [row["text"] for row in table] == [f"'{WORSE[0]}", *WORSE[1:]]
    assert [table[0][name] for name in ("score_a", "score_b", "delta", "kind")] == ["10", "90", "80", "regression"]
    exact = [json.loads(line) for line in as_jsonl(frame_of(mixed, "warmth"), mixed).splitlines()]
    assert (exact[0]["text"], exact[0]["delta"], exact[0]["must_pass"]) == ("=large regression", 80, None)
    assert (exact[-1]["text"], exact[-1]["score_a"], exact[-1]["error"]) == ("not scored", None, "too long")
    assert (exact[0]["trait"], exact[0]["a"]) == ("warmth", mixed.a)
