"""The Batch page: nothing there, texts in, a batch that runs, what came of it, and the ways in which it goes wrong."""

import io
from collections.abc import Hashable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.processes import eventually
from tests.conftest import COLD, WARM, Trained, free_port, make_draft
from tests.foreign_files.cases import drawn
from tests.foreign_files.hostile import HOSTILE
from tests.foreign_files.sheets import Sheet, workbook
from tests.pages.drive import Workbench, charts, copied_link, links, words
from traitbench.client import Traitbench
from traitbench.contract.asked import Asked
from traitbench.contract.batches import ScoredLine
from traitbench.tables.source import opened
from traitbench_app.shell.navigation import PageName, entry
from traitbench_app.workspace import background, batches
from traitbench_app.workspace.batches import MOST_ROWS, Job

STARS = (5, 4, 5, 4, 1, 2, 1, 2)
LINES = f"{WARM[0]}\n\n{COLD[0]}\n{WARM[1]}"


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield
    for job_id in background.held():
        background.discard(job_id)


def pasted(at: AppTest, lines: str) -> AppTest:
    at.segmented_control(key="batch.from").set_value("Pasted lines").run()
    return at.text_area(key="batch.pasted").set_value(lines).run()


def uploaded(at: AppTest, name: str, content: bytes) -> AppTest:
    at.file_uploader[0].upload(name, content)
    return at.run()


def scored(at: AppTest) -> AppTest:
    """Start, and wait for the end."""
    at.button(key="batch.start").click().run()
    assert eventually(lambda: all(job.state != "running" for job in map(batches.find, background.held()) if job))
    return at.run()


def table(at: AppTest) -> list[dict[Hashable, Any]]:
    assert at.dataframe, words(at)
    return at.dataframe[-1].value.to_dict("records")


def test_the_button_waits_for_pasted_texts_and_says_so(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("batch", model=trained.handle)
    at.segmented_control(key="batch.from").set_value("Pasted lines").run()
    at.button(key="batch.start").click().run()
    assert "Paste a text first." in words(at)


def test_without_texts_it_says_what_it_takes(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("batch", model=trained.handle)
    assert at.button(key="batch.start").disabled
    assert "Up to 50 MB and 100,000 rows" in words(at)
    assert "home folder" in words(at)


def test_a_draft_and_a_deleted_model_have_no_batch(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.draft"
    make_draft(client, handle)
    at = workbench.open("batch", model=handle)
    assert "Not trained yet" in words(at)
    assert "Train this model" in links(at)
    client.models.delete(handle)
    assert "no longer scores" in words(workbench.open("batch", model=handle))


def test_pasted_lines_become_a_table_with_histograms(workbench: Workbench, trained: Trained) -> None:
    at = scored(pasted(workbench.open("batch", model=trained.handle), LINES))
    assert not at.exception
    rows = table(at)
    assert [(row["line"], row["text"]) for row in rows] == [(1, WARM[0]), (3, COLD[0]), (4, WARM[1])]
    card = trained.client.scores.score(trained.handle, COLD[0])
    assert rows[1]["score of warmth"] == card.scores["warmth"]
    assert rows[1]["side of warmth"] != rows[0]["side of warmth"]
    assert len(charts(at)) == 1
    assert "3 rows scored with v1" in words(at)


def test_texts_that_are_unlike_the_samples_are_counted_and_can_be_shown_alone(
    workbench: Workbench, trained: Trained
) -> None:
    lines = f"{WARM[0]}\nqwpo xzzk vbnm lkjh asdf\n48151 62342 00012\n{COLD[0]}"
    at = scored(pasted(workbench.open("batch", model=trained.handle), lines))
    assert "**2 of 4 texts are unlike the samples.**" in at.warning[0].value
    at.segmented_control(key="show").set_value("Unlike the samples").run()
    assert [row["line"] for row in table(at)] == [2, 3]
    assert {row["confidence reason of warmth"] for row in table(at)} == {"unlike the samples"}
    assert "the table says why" in words(at)


def test_a_file_says_which_rows_could_not_be_scored(workbench: Workbench, trained: Trained) -> None:
    content = f'{{"id": 1, "message": "{WARM[0]}"}}\nno json\n{{"id": 2, "message": "  "}}\n'.encode()
    at = uploaded(workbench.open("batch", model=trained.handle), "letters.jsonl", content)
    assert next(box for box in at.selectbox if box.label == "Text column").value == "message"
    at = scored(at)
    assert "2 rows of 3 could not be scored" in words(at)
    at.segmented_control(key="show").set_value("Not scored").run()
    assert [(row["line"], bool(row["error"])) for row in table(at)] == [(2, True), (3, True)]


def test_rows_are_put_in_order(workbench: Workbench, trained: Trained) -> None:
    at = scored(pasted(workbench.open("batch", model=trained.handle), LINES))
    at.selectbox(key="order").set_value("Lowest first").run()
    results = [row["score of warmth"] for row in table(at)]
    assert results == sorted(results)
    assert copied_link(at) == {
        "model": trained.handle,
        "version": "v1",
        "mode": "full",
        "order": "Lowest first",
        "show": "All",
        "view": "Texts",
    }


def test_a_link_reopens_the_view_and_not_the_texts(workbench: Workbench, trained: Trained) -> None:
    query = {"model": trained.handle, "version": "v1", "mode": "static", "traits": "warmth", "order": "Highest first"}
    at = workbench.open("batch", **query)
    assert (at.selectbox(key="version").value, at.radio(key="batch.mode").value) == ("v1", "static")
    assert at.multiselect(key="batch.traits").value == ["warmth"]
    assert copied_link(at).items() >= query.items()


def test_each_mode_says_what_it_costs(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("batch", model=trained.handle)
    full, *faster = at.radio(key="batch.mode").proto.captions
    assert "the same scores as the Score page" in full
    assert len(faster) == 2
    assert all("times as fast" in caption for caption in faster)


def test_what_is_done_is_there_after_another_page_and_after_a_reload(workbench: Workbench, trained: Trained) -> None:
    at = scored(pasted(workbench.open("batch", model=trained.handle), LINES))
    [job_id] = background.held()
    at = at.switch_page(page_file("score")).run().switch_page(page_file("batch")).run()
    assert len(table(at)) == 3
    assert len(table(workbench.open("batch", model=trained.handle, batch=job_id))) == 3
    for each in background.held():
        background.discard(each)
    assert len(table(workbench.open("batch", model=trained.handle, batch=job_id))) == 3
    assert "were discarded" in words(workbench.open("batch", model=trained.handle, batch="gone"))


def test_discarding_forgets_the_texts(workbench: Workbench, trained: Trained) -> None:
    at = scored(pasted(workbench.open("batch", model=trained.handle), LINES))
    [job_id] = background.held()
    at.button(key="batch.discard").click().run()
    assert background.held() == ()
    assert not charts(at)
    assert not at.info
    assert "were discarded" in words(workbench.open("batch", model=trained.handle, batch=job_id))


def test_rows_are_filtered_and_grouped_and_the_link_says_so(workbench: Workbench, trained: Trained) -> None:
    content = "text,stars\n" + "".join(
        f'"{text}",{stars}\n' for text, stars in zip((*WARM[:4], *COLD[:4]), STARS, strict=True)
    )
    at = scored(uploaded(workbench.open("batch", model=trained.handle), "a.csv", content.encode()))
    at.text_input(key="words").set_value(WARM[0].split()[0]).run()
    assert all(WARM[0].split()[0].lower() in row["text"].lower() for row in table(at))
    assert "rows**" in words(at)
    at.text_input(key="words").set_value("").run()
    at.selectbox(key="column").set_value("stars").run()
    at.multiselect(key="batch.values").set_value(["1"]).run()
    assert {row["in stars"] for row in table(at)} == {"1"}
    at.number_input(key="most").set_value(49).run()
    assert table(at)
    assert all(row["score of warmth"] <= 49 for row in table(at))
    before = len(charts(at))
    at.selectbox(key="group").set_value("stars").run()
    assert len(charts(at)) >= before
    assert "No group has the 8 rows that a comparison needs." in words(at)
    assert copied_link(at).items() >= {"column": "stars", "values": "1", "most": "49", "group": "stars"}.items()
    next(button for button in at.button if button.label == "Clear filters").click().run()
    assert not at.exception
    assert len(table(at)) == len(STARS)
    assert len(charts(at)) == before + 1


def test_a_corpus_is_asked_with_labels_that_stay_with_the_batch(workbench: Workbench, trained: Trained) -> None:
    lines = "\n".join(f"{text} This is number {number}." for number in range(6) for text in (*WARM[:5], *COLD[:5]))
    at = scored(pasted(workbench.open("batch", model=trained.handle), lines))
    [job_id] = background.held()
    at.segmented_control(key="view").set_value("What share?").run()
    assert "What share of these 60 texts" in words(at)
    assert at.select_slider(key="batch.ask.size").options == ["50", "60"]
    at.button(key="batch.ask.draw").click().run()
    assert not at.exception
    assert at.button(key="batch.ask.now").disabled
    job = batches.find(job_id)
    assert job is not None
    audit = job.audits["warmth"]
    assert len(audit.rows) == 50
    for row in audit.rows[:40]:
        audit = audit.decide(row, float(any(job.texts[row].startswith(text) for text in WARM)))
    job.audits["warmth"] = audit
    assert job.on_end is not None
    job.on_end()
    background.discard(job_id)
    at = workbench.open("batch", model=trained.handle, batch=job_id, view="What share?")
    at.button(key="batch.ask.now").click().run()
    assert not at.exception
    answer = at.code[-1].value
    assert "of the 60 texts are" in answer
    assert "on 40 texts that were drawn at random" in answer
    assert "Label the other 10" in [button.label for button in at.button]
    assert not list(trained.client.samples.list(trained.handle, pending=True))


def test_a_row_is_fixed_and_scored_again(workbench: Workbench, trained: Trained) -> None:
    scored(pasted(workbench.open("batch", model=trained.handle), LINES))
    [job_id] = background.held()
    job = batches.find(job_id)
    assert job is not None
    [line] = trained.client.scores.batch(trained.handle, [WARM[2]])
    assert isinstance(line, ScoredLine)
    job.replace(1, WARM[2], line)
    rows = table(workbench.open("batch", model=trained.handle, batch=job_id))
    assert (rows[1]["text"], rows[1]["score of warmth"]) == (WARM[2], line.scores["warmth"])


def test_it_runs_beside_the_page_and_is_stopped_and_gone_on_with(workbench: Workbench, trained: Trained) -> None:
    lines = "\n".join(f"{WARM[0]} This is number {number}." for number in range(400))
    at = pasted(workbench.open("batch", model=trained.handle), lines)
    at.button(key="batch.start").click().run()
    assert "of 400 rows" in str(at.get("progress")[0].proto.text)
    at.button(key="batch.stop").click().run()
    assert "Stopped after" in words(at)
    at.button(key="batch.go_on").click().run()
    assert eventually(lambda: all(job.state == "done" for job in map(batches.find, background.held()) if job))
    assert "400 rows scored with v1" in words(at.run())


def test_one_that_the_service_left_says_so_and_can_be_gone_on_with(workbench: Workbench, trained: Trained) -> None:
    source = opened("a.csv", io.BytesIO(f'text\n"{WARM[0]}"\n'.encode()))
    with Traitbench(f"http://127.0.0.1:{free_port()}", "key") as nobody:
        job = Job(nobody, Asked(f"{trained.handle}@v1"), source, "text", name="a.csv", keys=["warmth"])
        background.start(job)
        assert eventually(lambda: job.state == "failed")
    at = workbench.open("batch", model=trained.handle, batch=job.id)
    assert not at.exception
    assert "failed after 0 of 1 rows" in words(at)
    assert "Nothing answers at" in words(at)
    assert "Resume when the service runs again" in words(at)
    assert at.button(key="batch.go_on").proto.type == "primary"
    assert "No rows are scored yet" in words(at)


def test_all_that_failed_is_a_table_of_reasons(workbench: Workbench, trained: Trained) -> None:
    at = scored(uploaded(workbench.open("batch", model=trained.handle), "a.csv", b"id,text\n1,\n2,\n"))
    assert not at.exception
    assert not charts(at)
    assert [bool(row["error"]) for row in table(at)] == [True, True]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", b"", "The file is empty"),
        ("a.csv", b"text\n", "has a header but no rows"),
        ("a.csv", b"text\n\x81\x8d", "neither UTF-8 nor Windows-1252"),
        ("a.parquet", b"nothing", "not a valid Parquet file"),
        ("a.csv", b"text\n" + b"a\n" * (MOST_ROWS + 1), "this page takes up to 100,000"),
    ],
)
def test_a_file_that_cannot_be_taken_says_why(
    workbench: Workbench, trained: Trained, name: str, content: bytes, sentence: str
) -> None:
    at = uploaded(workbench.open("batch", model=trained.handle), name, content)
    assert not at.exception
    assert sentence in words(at).replace("\\", "")
    assert at.button(key="batch.start").disabled


def test_a_column_without_texts_is_questioned(workbench: Workbench, trained: Trained) -> None:
    at = uploaded(workbench.open("batch", model=trained.handle), "a.csv", b"text,other\n,a\n,b\n")
    assert "have no text in this column" in words(at)


def test_another_model_does_not_show_it(
    workbench: Workbench, client: Traitbench, trained: Trained, namespace: str
) -> None:
    handle = f"{namespace}.other"
    make_draft(client, handle)
    scored(pasted(workbench.open("batch", model=trained.handle), LINES))
    [job_id] = background.held()
    at = workbench.open("batch", model=handle, batch=job_id)
    assert WARM[0] not in str([frame.value for frame in at.dataframe])


def test_under_zero_retention_it_says_what_is_kept_and_how_long(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.secret"
    make_draft(client, handle)
    client.models.train(handle)
    client.models.wait(handle)
    client.models.update(handle, zero_data_retention=True)
    at = workbench.open("batch", model=handle)
    assert "stay only in this workbench's memory" in words(at)
    assert "15 minutes after you last viewed them" in words(at)


def test_under_zero_retention_nothing_is_written(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.hush"
    make_draft(client, handle)
    client.models.train(handle)
    client.models.wait(handle)
    client.models.update(handle, zero_data_retention=True)
    scored(pasted(workbench.open("batch", model=handle), LINES))
    [job_id] = background.held()
    job = batches.find(job_id)
    assert job is not None
    assert job.on_end is None
    background.discard(job_id)
    assert "were discarded" in words(workbench.open("batch", model=handle, batch=job_id))


def page_file(name: PageName) -> str:
    return str(entry(name).file)


@pytest.mark.parametrize("name", ["a cell far away", "a sheet in another folder", "a count of strings that lies"])
def test_a_file_that_would_end_the_process_is_refused_on_the_page(
    workbench: Workbench, trained: Trained, name: str
) -> None:
    content = drawn(HOSTILE.small[name], name, 0).bytes()
    at = uploaded(workbench.open("batch", model=trained.handle), "a.xlsx", content)
    assert [error.icon for error in at.error] == [":material/error:"]
    assert at.button(key="batch.start").disabled
    assert "Hello" in words(uploaded(at, "a.csv", b"text\nHello\n"))


def test_a_sheet_is_chosen_and_what_was_remarkable_is_said(workbench: Workbench, trained: Trained) -> None:
    content = workbook(Sheet([("text",), ("Hello.",)], "S1"), Sheet([("text",), ("Good bye.",), ("So long.",)], "S2"))
    at = uploaded(workbench.open("batch", model=trained.handle), "a.xlsx", content)
    assert "First text: Hello\\." in words(at)
    [sheet] = [box for box in at.selectbox if box.label == "Sheet"]
    at = sheet.set_value("S2").run()
    assert "First text: Good bye\\." in words(at)
    assert '2 rows of the sheet "S2"' in words(at)
    assert at.button(key="batch.start").label == "Score 2 texts"


def test_a_file_without_texts_asks_for_the_column(workbench: Workbench, trained: Trained) -> None:
    at = uploaded(workbench.open("batch", model=trained.handle), "a.csv", b"id,stars\n1,5\n2,4\n")
    assert "No column looks like texts" in words(at)
    assert at.button(key="batch.start").disabled
    [column] = [box for box in at.selectbox if box.label == "Text column"]
    assert not column.set_value("stars").run().button(key="batch.start").disabled
