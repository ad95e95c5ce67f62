"""The Batch page: nothing there, texts in, a batch that runs, what came of it, and the ways in which it goes wrong."""

import io
import json
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.processes import eventually
from tests.conftest import COLD, WARM, Trained, free_port, not_none, train
from tests.foreign_files.cases import drawn
from tests.foreign_files.hostile import HOSTILE
from tests.foreign_files.sheets import Sheet, workbook
from tests.pages.drive import Workbench, charts, copied_link, html, labelled, plain, press, upload, visit, words
from traitbench.client import Traitbench
from traitbench.contract.batches import BatchSettings, ScoredLine
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.tables.source import opened
from traitbench_app.workspace import background, batches, stored_batches
from traitbench_app.workspace.batches import MOST_ROWS, Batch

STARS = (5, 4, 5, 4, 1, 2, 1, 2)
LINES = f"{WARM[0]}\n\n{COLD[0]}\n{WARM[1]}"


@pytest.fixture
def at(workbench: Workbench, trained: Trained) -> AppTest:
    """The page on a trained model."""
    return workbench.open("batch", model=trained.handle)


def pasted(at: AppTest, lines: str) -> AppTest:
    at.segmented_control(key="batch.from").set_value("Pasted lines").run()
    return at.text_area(key="batch.pasted").set_value(lines).run()


def scored(at: AppTest) -> AppTest:
    """Start, and wait for the end."""
    at.button(key="batch.start").click().run()
    assert eventually(lambda: all(batch.state != "running" for batch in map(batches.find, background.ids()) if batch))
    return at.run()


def ids() -> Batch:
    """The one batch in memory."""
    [batch_id] = background.ids()
    batch = not_none(batches.find(batch_id))
    return batch


def table(at: AppTest) -> list[dict[Hashable, Any]]:
    assert at.dataframe, words(at)
    return at.dataframe[-1].value.to_dict("records")


def chips(at: AppTest) -> Any:
    """The choice of a side."""
    return at.pills(key="batch.show")


# ---- texts in --------------------------------------------------------------------------------------------------------


def test_without_texts_it_says_what_it_takes_and_the_button_waits(at: AppTest) -> None:
    assert at.button(key="batch.start").disabled
    assert "Up to 50 MB and 100,000 rows" in words(at)
    assert "home folder" in words(at)
    at.segmented_control(key="batch.from").set_value("Pasted lines").run()
    at.button(key="batch.start").click().run()
    assert "Paste a text first." in words(at)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", b"", "The file is empty"),
        ("a.csv", b"text\n", "has a header but no rows"),
        ("a.csv", b"text\n\x81\x8d", "neither UTF-8 nor Windows-1252"),
        ("a.parquet", b"nothing", "not a valid Parquet file"),
        ("a.csv", b"text\n" + b"a\n" * (MOST_ROWS + 1), "this page takes up to 100,000"),
    ],
    ids=["empty", "no rows", "encoding", "damaged", "too many rows"],
)
def test_a_file_that_cannot_be_taken_says_why(at: AppTest, name: str, content: bytes, sentence: str) -> None:
    upload(at, name, content)
    assert sentence in plain(at)
    assert at.button(key="batch.start").disabled


@pytest.mark.parametrize("name", ["a cell far away", "a sheet in another folder", "a count of strings that lies"])
def test_a_file_that_would_end_the_process_is_refused_on_the_page(at: AppTest, name: str) -> None:
    upload(at, "a.xlsx", drawn(HOSTILE.small[name], name, 0).bytes())
    assert [error.icon for error in at.error] == [":material/error:"]
    assert at.button(key="batch.start").disabled
    assert "Hello" in words(upload(at, "a.csv", b"text\nHello\n"))


def test_a_sheet_is_chosen_and_what_was_remarkable_is_said(at: AppTest) -> None:
    sheets = (Sheet([["text"], ["Hello."]], "S1"), Sheet([["text"], ["Good bye."], ["So long."]], "S2"))
    upload(at, "a.xlsx", workbook(*sheets))
    assert "First text: Hello\\." in words(at)
    labelled(at.selectbox, "Sheet").set_value("S2").run()
    assert "First text: Good bye\\." in words(at)
    assert '2 rows of the sheet "S2"' in words(at)
    assert at.button(key="batch.start").label == "Score 2 texts"


def test_a_column_is_guessed_questioned_or_asked_for(at: AppTest) -> None:
    upload(at, "a.csv", b"text,other\n,a\n,b\n")
    assert "have no text in this column" in words(at)
    upload(at, "b.csv", b"id,stars\n1,5\n2,4\n")
    assert "No column looks like texts" in words(at)
    assert at.button(key="batch.start").disabled
    labelled(at.selectbox, "Column with the texts").set_value("stars").run()
    assert not at.button(key="batch.start").disabled


FORM = """When,What do you like about it?,What should we change first?
2026-11-03,The parcel came a day early and was whole.,
2026-11-04,A real person answered my call at once.,Nobody picks up the phone on Mondays.
2026-11-05,Setting it up took me five minutes.,The handle broke off on the second day.
"""


def test_of_two_columns_of_texts_one_is_used_or_both_one_after_the_other(at: AppTest) -> None:
    upload(at, "form.csv", FORM)
    assert "“What should we change first?” has texts too." in plain(at)
    assert at.button(key="batch.start").label == "Score 3 texts"
    labelled(at.toggle, "Use the texts of all 2 columns, one after the other").set_value(True).run()
    assert at.button(key="batch.start").label == "Score 5 texts"
    [row, *_] = scored(at).dataframe[-1].value.to_dict("records")
    assert row["in question"] == "What do you like about it?"


def test_what_texts_are_like_is_said_and_cleaned_on_a_persons_word(at: AppTest) -> None:
    upload(at, "odd.csv", "text\n<p>Thank&nbsp;you</p>\ndonâ€™t\nn/a\n")
    assert "1 of 3 texts has HTML." in plain(at)
    assert "such as “donâ€™t” for “don’t”" in plain(at)
    assert "1 of 3 texts says nothing" in plain(at)
    labelled(at.toggle, "Read HTML as text").set_value(True).run()
    labelled(at.toggle, "Repair texts that were decoded twice").set_value(True).run()
    assert "First text: Thank you" in words(at)
    assert [row["text"] for row in table(scored(at))] == ["Thank you", "don’t", "n/a"]


def test_texts_that_say_nothing_are_named_and_left_out_of_shares_means_and_audits(at: AppTest) -> None:
    nothing = ("n/a", "nothing", "-", "k.A.", "なし", "n/a")
    rows = [(text, "ab"[at % 2]) for at, text in enumerate((*WARM[:4], *COLD[:4], *nothing))]
    scored(upload(at, "answers.csv", "\n".join(f'"{text}",{region}' for text, region in [("text", "region"), *rows])))
    assert "6 of 14 texts say nothing, such as “n/a” or “no comment”." in plain(at)
    assert "Of 8 texts in answers.csv" in plain(at)
    assert [row["side of warmth"] for row in table(at)][-6:] == ["says nothing"] * 6
    at.toggle(key="batch.nothing").set_value(True).run()
    assert "Of 14 texts in answers.csv" in plain(at)
    assert "says nothing" not in {row["side of warmth"] for row in table(at)}
    at.toggle(key="batch.nothing").set_value(False).run()
    at.segmented_control(key="view").set_value("What share?").run()
    assert "What share of these 8 texts" in at.header[-1].value
    assert "6 texts left out, because they say nothing" in plain(at)


def test_a_download_for_spreadsheets_says_which_texts_they_cut(at: AppTest) -> None:
    rows = [json.dumps({"text": text}) for text in ("It was kind. " * 2_600, "It was kind.")]
    assert "1 text has more than 32,767 characters" in words(scored(upload(at, "long.jsonl", "\n".join(rows))))


def test_whose_words_of_a_conversation_are_the_text_is_asked(at: AppTest) -> None:
    turns = [{"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": "On its way."}]
    upload(at, "chats.jsonl", json.dumps({"messages": turns}))
    assert "First text: Where is it?" in plain(at)
    labelled(at.segmented_control, "Whose words are the text").set_value("assistant").run()
    assert "First text: On its way." in plain(at)


# ---- a batch that runs -----------------------------------------------------------------------------------------------


def test_pasted_lines_become_a_table_with_histograms_in_the_order_asked_for(at: AppTest, trained: Trained) -> None:
    scored(pasted(at, LINES))
    rows = table(at)
    assert [(row["line"], row["text"]) for row in rows] == [(1, WARM[0]), (3, COLD[0]), (4, WARM[1])]
    assert rows[1]["score of warmth"] == trained.client.scores.score(trained.handle, COLD[0]).scores["warmth"]
    assert rows[1]["side of warmth"] != rows[0]["side of warmth"]
    assert len(charts(at)) == 1
    assert "3 rows scored with v1" in words(at)
    at.selectbox(key="order").set_value("Lowest first").run()
    results = [row["score of warmth"] for row in table(at)]
    assert results == sorted(results)
    link = {"model": trained.handle, "version": "v1", "mode": "full"}
    assert copied_link(at) == link | {"order": "Lowest first", "view": "Texts"}


def test_the_shares_of_the_sides_are_the_title_and_a_bar(at: AppTest, trained: Trained) -> None:
    scored(pasted(at, LINES))
    details = [trained.client.scores.score(trained.handle, text).detail["warmth"] for text in (*WARM[:2], COLD[0])]
    sure = [each.score for each in details if each.confidence != "low"]
    warm, cold = sum(score > 50 for score in sure), sum(score < 50 for score in sure)
    parts = (f"{100 * number / 3:.0f} %" for number in (warm, cold, 3 - warm - cold))
    assert at.header[0].value == "{} :orange[warm], {} :blue[cold], {} no clear side".format(*parts)
    assert "Of 3 texts in pasted lines. Scores can be wrong" in words(at)
    assert f"{cold} cold, {3 - warm - cold} no clear side, {warm} warm" in html(at)


def test_the_chips_of_the_sides_filter_the_table_and_count_what_the_title_says(at: AppTest, trained: Trained) -> None:
    scored(pasted(at, "\n".join((*WARM[:5], *COLD[:3]))))
    title = at.header[0].value
    sides = {"warm": "positive", "cold": "negative", "no clear side": "open"}
    offered = [(option, side) for option in chips(at).options for side in sides if side in option]
    assert len(offered) > 1
    for option, side in offered:
        show = sides[side]
        chips(at).set_value(show).run()
        rows = table(at)
        assert {row["side of warmth"].removeprefix("clearly ").removeprefix("probably ") for row in rows} == {side}
        assert option.endswith(f" {len(rows)}")
        assert f"{100 * len(rows) / 8:.0f} %" in title
    assert all(str(row["bar of warmth"]).startswith("data:image/svg+xml") for row in rows)


def test_arrow_keys_walk_through_the_rows_of_the_table(at: AppTest) -> None:
    scored(pasted(at, LINES))
    assert "Select a row" in words(at)
    # As a click on a cell of the first row, which the testing tool has not.
    at.session_state["batch.row.at"] = (f"batch.table:{ids().id}:0:warmth:{hash((0, 1, 2))}", 0)
    at.run()
    assert "(1 of 3)" in words(at)
    assert at.button(key="batch.row.Up").disabled
    at.button(key="batch.row.Down").click().run()
    assert "**Line 3** (2 of 3)" in words(at), "the second line that was pasted is empty"
    at.selectbox(key="order").set_value("Lowest first").run()
    assert "Select a row" in words(at), "in another order another row is at this place"


def test_a_row_opens_on_the_trait_that_the_page_is_about(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.traits.add(draft, [TraitInput(name="Haste", positive_label="hasty", negative_label="calm")])
    texts = {"Hurry up, now!": 1.0, "Quick, no time!": 1.0, "Take your time.": 0.0, "There is no rush.": 0.0}
    client.samples.add(draft, [SampleInput(trait="haste", text=text, quality=texts[text]) for text in texts])
    train(client, draft)
    at = scored(pasted(workbench.open("batch", model=draft, by="haste"), LINES))
    at.session_state["batch.row.at"] = (f"batch.table:{ids().id}:0:haste:{hash((0, 1, 2))}", 0)
    at.session_state["batch.row.why"] = True
    at.run()
    assert "The parts add up to the score of **Haste**" in words(at)


def test_a_link_reopens_the_view_and_not_the_texts(workbench: Workbench, trained: Trained) -> None:
    query = {"model": trained.handle, "version": "v1", "mode": "full", "traits": "warmth", "order": "Highest first"}
    at = workbench.open("batch", **query)
    assert at.selectbox(key="version").value == "v1"
    assert at.multiselect(key="batch.traits").value == ["warmth"]
    assert copied_link(at).items() >= query.items()


def test_one_that_the_service_left_says_so_and_can_be_gone_on_with(workbench: Workbench, trained: Trained) -> None:
    source = opened("a.csv", io.BytesIO(f'text\n"{WARM[0]}"\n'.encode()))
    with Traitbench(f"http://127.0.0.1:{free_port()}", "key") as nobody:
        batch = Batch(nobody, BatchSettings(f"{trained.handle}@v1"), source, "text", name="a.csv", keys=["warmth"])
        background.start(batch)
        assert eventually(lambda: batch.state == "failed")
    at = workbench.open("batch", model=trained.handle, batch=batch.id)
    assert "failed after 0 of 1 rows" in words(at)
    assert "Nothing answers at" in words(at)
    assert "Resume when the service runs again" in words(at)
    assert "No rows are scored yet" in words(at)
    assert at.button(key="batch.go_on").proto.type == "primary"


# ---- what came of it -------------------------------------------------------------------------------------------------


def test_texts_that_are_unlike_the_samples_are_counted_and_can_be_shown_alone(at: AppTest) -> None:
    scored(pasted(at, f"{WARM[0]}\nqwpo xzzk vbnm lkjh asdf\n48151 62342 00012\n{COLD[0]}"))
    assert "**2 of 4 texts are unlike the samples**, so their sides are less sure." in at.warning[0].value
    assert "unlike the samples 2" in chips(at).options
    chips(at).set_value("unlike").run()
    assert [row["line"] for row in table(at)] == [2, 3]
    assert {row["confidence reason of warmth"] for row in table(at)} == {"unlike the samples"}
    assert copied_link(at)["show"] == "unlike"


def test_a_file_says_which_rows_could_not_be_scored(at: AppTest) -> None:
    upload(at, "letters.jsonl", f'{{"id": 1, "message": "{WARM[0]}"}}\nno json\n{{"id": 2, "message": "  "}}\n')
    assert labelled(at.selectbox, "Column with the texts").value == "message"
    assert chips(scored(at)).options[-1] == "2 rows have no text"
    chips(at).set_value("failed").run()
    assert [(row["line"], bool(row["error"])) for row in table(at)] == [(2, True), (3, True)]


def test_all_that_failed_is_a_table_of_reasons(at: AppTest) -> None:
    scored(upload(at, "a.csv", b"id,text\n1,\n2,\n"))
    assert not charts(at)
    assert [bool(row["error"]) for row in table(at)] == [True, True]
    assert list(table(at)[0]) == ["line", "error", "in id"], "empty columns are left out"


def test_rows_are_filtered_and_grouped_and_the_link_says_so(at: AppTest) -> None:
    rows = zip((*WARM[:4], *COLD[:4]), STARS, strict=True)
    scored(upload(at, "a.csv", "text,stars\n" + "".join(f'"{text}",{stars}\n' for text, stars in rows)))
    first_word = WARM[0].split()[0]
    at.text_input(key="words").set_value(first_word).run()
    assert all(first_word.lower() in row["text"].lower() for row in table(at))
    assert "rows**" in words(at)
    at.text_input(key="words").set_value("").run()
    at.selectbox(key="column").set_value("stars").run()
    at.multiselect(key="batch.values").set_value(["1"]).run()
    assert {row["in stars"] for row in table(at)} == {"1"}
    at.number_input(key="most").set_value(49).run()
    assert table(at)
    assert all(row["score of warmth"] <= 49 for row in table(at))
    assert len(charts(at)) == 2
    assert "No group has the 8 rows that a comparison needs." in words(at)
    assert copied_link(at).items() >= {"column": "stars", "values": "1", "most": "49", "group": "stars"}.items()
    labelled(at.button, "Clear filters").click().run()
    assert len(table(at)) == len(STARS)


def test_a_corpus_is_asked_with_labels_that_stay(workbench: Workbench, at: AppTest, trained: Trained) -> None:
    lines = [f"{text} This is number {number}." for number in range(6) for text in (*WARM[:5], *COLD[:5])]
    scored(pasted(at, "\n".join(lines)))
    at.segmented_control(key="view").set_value("What share?").run()
    assert "What share of these 60 texts" in words(at)
    assert at.select_slider(key="batch.ask.size").options == ["50", "60"]
    press(at, "batch.ask.draw")
    assert at.button(key="batch.ask.now").disabled
    batch = ids()
    audit = batch.audits["warmth"]
    assert len(audit.rows) == 50
    labels = {row: float(any(batch.texts[row].startswith(text) for text in WARM)) for row in audit.rows[:40]}
    batch.audits["warmth"] = replace(audit, labels=labels)
    stored_batches.keep_audits(batch)
    background.discard(batch.id)
    at = press(workbench.open("batch", model=trained.handle, batch=batch.id, view="What share?"), "batch.ask.now")
    answer = at.code[-1].value
    assert "of the 60 texts are" in answer
    assert "on 40 texts that were drawn at random" in answer
    assert "Label the other 10" in [button.label for button in at.button]
    assert not list(trained.client.samples.list(trained.handle, pending=True))


def test_a_row_is_fixed_and_scored_again(workbench: Workbench, at: AppTest, trained: Trained) -> None:
    scored(pasted(at, LINES))
    [line] = trained.client.scores.batch(trained.handle, [WARM[2]])
    assert isinstance(line, ScoredLine)
    stored_batches.correct(ids(), 1, WARM[2], line)
    batch_id = ids().id
    background.discard(batch_id)
    rows = table(workbench.open("batch", model=trained.handle, batch=batch_id))
    assert (rows[1]["text"], rows[1]["score of warmth"]) == (WARM[2], line.scores["warmth"])


# ---- how long it is there --------------------------------------------------------------------------------------------


def test_results_outlive_pages_and_reloads(workbench: Workbench, at: AppTest, trained: Trained, twice: Trained) -> None:
    scored(pasted(at, LINES))
    assert len(table(visit(visit(at, "score"), "batch"))) == 3
    batch_id = ids().id
    other = workbench.open("batch", model=twice.handle, batch=batch_id)
    assert WARM[0] not in str([frame.value for frame in other.dataframe])
    background.discard(batch_id)
    assert len(table(workbench.open("batch", model=trained.handle, batch=batch_id))) == 3
    assert "were discarded" in words(workbench.open("batch", model=trained.handle, batch="gone"))


def test_discarding_forgets_the_texts(workbench: Workbench, at: AppTest, trained: Trained) -> None:
    scored(pasted(at, LINES))
    batch_id = ids().id
    at.button(key="batch.discard").click().run()
    assert background.ids() == ()
    assert not charts(at)
    assert not at.info
    assert "were discarded" in words(workbench.open("batch", model=trained.handle, batch=batch_id))


def test_under_zero_retention_nothing_is_written(workbench: Workbench, client: Traitbench, ready: str) -> None:
    client.models.update(ready, zero_data_retention=True)
    scored(pasted(workbench.open("batch", model=ready), LINES))
    batch = ids()
    assert batch.parts is None
    background.discard(batch.id)
    assert "were discarded" in words(workbench.open("batch", model=ready, batch=batch.id))


def test_an_address_in_a_file_is_scored_as_it_stands(at: AppTest) -> None:
    at = scored(upload(at, "a.csv", b"text\nhttp://127.0.0.1:9/letter\nThank you\n"))
    assert ids().failed == 0
    at.session_state["batch.row.at"] = (f"batch.table:{ids().id}:0:warmth:{hash((0, 1))}", 0)
    at.run()
    assert not at.exception
    assert not at.error
    assert "The address was scored as it stands. Its page was not fetched." in words(at)


def test_groups_called_like_nothing_and_long_ids_are_on_the_page_as_in_the_file(at: AppTest) -> None:
    regions, first = ("NA", "null", "None"), 1912345678901234501
    lines = [f'{first + at},{regions[at % 3]},"{text}"' for at, text in enumerate((*WARM, *COLD)[:12])]
    at = scored(upload(at, "a.csv", "\n".join(["id,region,text", *lines]).encode()))
    at.selectbox(key="group").set_value("region").run()
    assert all(region in str(json.loads(charts(at)[-1])["layout"]["yaxis"]["ticktext"]) for region in regions)
    assert [row["in id"] for row in table(at)] == [str(first + at) for at in range(12)]
    at.selectbox(key="column").set_value("region").run()
    at.multiselect(key="batch.values").set_value(["NA"]).run()
    assert [row["in region"] for row in table(at)] == ["NA"] * 4
