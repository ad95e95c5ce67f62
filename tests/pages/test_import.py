"""Import on the Samples page: good rows go in, the others can be corrected; files of every kind, and what they lack."""

import io

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests import wild
from tests.conftest import Trained
from tests.pages.drive import (
    Workbench,
    bars,
    components,
    copied_link,
    ending,
    html,
    links,
    listed,
    plain,
    press,
    texts,
    upload,
    words,
)
from tests.size import sized
from tests.tables.in_process import read
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.tables import sample_files
from traitbench.tables.sample_files import FileLayout, LabelColumn
from traitbench_app.samples.importing import LEAVE_OUT

# More than one request takes, and more than a page shows.
MANY = sized(600, 1_200)
CSV = "message;kind\nThank you, dear.;warm\nGo away.;cold\n"
IMPORTED = [("Thank you, dear.", 1.0), ("Go away.", 0.0)]


@pytest.fixture
def at(workbench: Workbench, empty: str) -> AppTest:
    """The import on a draft without samples."""
    return workbench.open("samples", model=empty, task="Import a file")


def test_a_file_is_previewed_and_then_imported(at: AppTest, client: Traitbench, empty: str) -> None:
    upload(at, "a.csv", CSV)
    assert "Preview: 2 samples" in words(at)
    assert list(at.dataframe[0].value["Label"]) == ["▲ warm", "▼ cold"]
    assert list(at.dataframe[0].value["Text"]) == ["Thank you, dear.", "Go away."]
    assert not texts(client, empty)
    press(at, "samples.import_button")
    assert texts(client, empty) == IMPORTED
    assert len(listed(at)) == 2


def test_every_page_shows_what_people_paste(
    workbench: Workbench, at: AppTest, client: Traitbench, empty: str, trained: Trained
) -> None:
    pasted = wild.texts(sized(28, 400))
    file = io.BytesIO()
    pd.DataFrame({"text": pasted, "label": ["warm", "cold"] * (len(pasted) // 2)}).to_parquet(file)
    upload(at, "a.parquet", file.getvalue())
    assert not [toggle for toggle in at.toggle if str(toggle.key).endswith(".header")], "Parquet names its columns"
    press(at, "samples.import_button")
    assert [text for text, _ in texts(client, empty)] == pasted
    for page in ("samples", "label", "train"):
        workbench.open(page, model=empty)
    at = workbench.open("score", model=trained.handle, text="\n\n".join(pasted[:14]), against=pasted[15])
    assert bars(at)


def test_of_a_file_with_bad_rows_the_good_ones_go_in(at: AppTest, client: Traitbench, empty: str) -> None:
    upload(at, "a.csv", CSV + ";warm\nHm.;purple\n")
    assert "2 rows have errors" in at.error[0].value
    assert at.dataframe[0].value[["Line", "Column"]].values.tolist() == [[4, "message"], [5, "kind"]]
    assert at.button(key="samples.import_button").label == "Import 2, leave out 2"
    press(at, "samples.import_button")
    assert texts(client, empty) == IMPORTED
    assert "2 samples imported into Warmth, 2 left out." in plain(at)
    assert "data-top=" in html(at), "the page goes to its top"
    assert "samples.left_out_file" in [str(each.key) for each in at.get("download_button")]
    press(at, "samples.undo_button")
    assert "samples.left_out_file" not in [str(each.key) for each in at.get("download_button")]


def test_the_file_of_bad_rows_says_where_each_was_and_what_is_wrong(client: Traitbench, empty: str) -> None:
    file = read("a.csv", (CSV + ";warm\nHm.;purple\n").encode())
    layout = FileLayout("message", (LabelColumn("kind", "warmth", {"warm": 1.0, "cold": 0.0}),))
    header, rows = sample_files.to_mend(file, sample_files.check(file, layout, client.traits.list(empty)).problems)
    assert header == ["message", "kind", "line", "error"]
    assert [row[:3] for row in rows] == [["", "warm", "4"], ["Hm.", "purple", "5"]]


def test_an_unknown_word_can_be_left_out_or_given_a_meaning(at: AppTest, client: Traitbench, empty: str) -> None:
    upload(at, "a.csv", CSV + "Hm.;purple\nOh.;\n")
    ending(at.selectbox, "word.purple").set_value(LEAVE_OUT)
    ending(at.selectbox, "default_quality.True").set_value(LEAVE_OUT).run()
    assert "2 rows left out" in words(at)
    assert at.button(key="samples.import_button").label == "Import 2 samples"
    ending(at.selectbox, "word.purple").set_value(0.5).run()
    press(at, "samples.import_button")
    assert texts(client, empty)[-1] == ("Hm.", 0.5)


def test_columns_named_like_traits_hold_their_labels(workbench: Workbench, client: Traitbench, empty: str) -> None:
    client.traits.add(empty, [TraitInput(name="Clarity", positive_label="clear", negative_label="muddled")])
    at = workbench.open("samples", model=empty, task="Import a file")
    upload(at, "a.csv", "message,WARMTH,Clarity\nThank you.,warm,1\nGo.,cold,\nWell,,muddled\n")
    press(at, "samples.import_button")
    assert [(each.trait, each.text, each.quality) for each in client.samples.list(empty)] == [
        ("warmth", "Thank you.", 1.0),
        ("clarity", "Thank you.", 1.0),
        ("warmth", "Go.", 0.0),
        ("clarity", "Well", 0.0),
    ]


def test_columns_can_be_chosen_otherwise(at: AppTest, client: Traitbench, empty: str) -> None:
    upload(at, "a.csv", "a,b\nShort,Much longer.\n")
    assert "Choose the column with the labels" in words(at)
    ending(at.selectbox, "text").set_value("a")
    ending(at.selectbox, "default_quality.False").set_value(0.0).run()
    press(at, "samples.import_button")
    assert texts(client, empty) == [("Short", 0.0)]


@pytest.mark.parametrize(
    ("choice", "after"),
    [
        ("skip", [("A", 1.0), ("B", 1.0), ("C", 0.0)]),
        ("keep", [("A", 1.0), ("A", 1.0), ("A", 1.0), ("B", 0.0), ("B", 1.0), ("C", 0.0)]),
        ("replace", [("A", 1.0), ("B", 0.0), ("C", 0.0)]),
    ],
)
def test_texts_that_are_there_are_counted_and_skipped_kept_or_replaced(
    workbench: Workbench, client: Traitbench, empty: str, choice: str, after: list[tuple[str, float]]
) -> None:
    client.samples.add(empty, [SampleInput(trait="warmth", text=text, quality=1.0) for text in "AB"])
    at = workbench.open("samples", model=empty, task="Import a file")
    upload(at, "a.csv", "text,label\nA,1\nA,1\nB,0\nC,0\n")
    radio = ending(at.radio, "repeated")
    assert "2 texts with the same label and 1 text with another label" in radio.label
    radio.set_value(choice).run()
    press(at, "samples.import_button")
    assert sorted(texts(client, empty)) == after
    press(at, "samples.undo_button")
    assert sorted(texts(client, empty)) == [("A", 1.0), ("B", 1.0)]


def test_texts_without_labels_go_to_the_label_page(at: AppTest, client: Traitbench, empty: str) -> None:
    upload(at, "pool.csv", "message,note\nThank you for all of it.,x\nGo away now and stay away.,y\n")
    press(at, "samples.label_button")
    assert "2 texts added to the Label page" in words(at)
    assert "Start labelling" in links(at)
    assert not texts(client, empty)


def test_what_is_remarkable_about_a_file_is_said(at: AppTest) -> None:
    assert "JSON object" in upload(at, "a.jsonl", "no json").error[0].value
    upload(at, "a.csv", "text,label\nGrüße,warm\n".encode("cp1252"))
    assert "Windows" in at.warning[0].value
    assert list(at.dataframe[0].value["Text"]) == ["Grüße"]


def test_a_model_that_was_archived_meanwhile_takes_no_row(at: AppTest, client: Traitbench, empty: str) -> None:
    upload(at, "a.csv", CSV)
    client.models.delete(empty)
    press(at, "samples.import_button")
    assert not texts(client, empty)


def conversations(every: int = 4) -> str:
    """Four turns of each of twelve conversations; the label changes after `every` turns."""
    return "".join(f"conv {row // 4},Turn {row} says.,{row // every % 2}\n" for row in range(48))


@pytest.mark.parametrize(
    ("column", "every", "says"),
    [("ref", 4, "For 12 of them all rows have one label"), ("conversation", 1, "Rows with the same value belong")],
    ids=["by the labels", "by the name"],
)
def test_rows_of_a_column_that_repeats_and_predicts_the_label_are_kept_together(
    at: AppTest, client: Traitbench, empty: str, column: str, every: int, says: str
) -> None:
    upload(at, "a.csv", f"{column},text,label\n{conversations(every)}")
    assert says in at.info[0].value
    assert list(at.dataframe[0].value["Group"])[:5] == [*["conv 0"] * 4, "conv 1"]
    press(at, "samples.import_button")
    assert [each.group for each in client.samples.list(empty)][3:5] == ["conv 0", "conv 1"]


def test_that_rows_do_not_belong_together_is_a_persons_word(at: AppTest, client: Traitbench, empty: str) -> None:
    upload(at, "a.csv", f"conversation,text,label\n{conversations()}")
    ending(at.selectbox, "group.conversation").set_value("").run()
    assert not at.info
    press(at, "samples.import_button")
    assert {each.group for each in client.samples.list(empty, limit=100)} == {None}


def test_a_large_file_goes_in_whole(workbench: Workbench, at: AppTest, client: Traitbench, empty: str) -> None:
    rows = "".join(f"Text number {number},{number % 2}\n" for number in range(MANY))
    press(upload(at, "a.csv", f"text,quality\n{rows}"), "samples.import_button")
    assert client.traits.get(empty, "warmth").sample_count == MANY
    assert listed(at) == [f"Text number {MANY - 1 - row}" for row in range(50)]
    linked = workbench.open("samples", model=empty, find="number 77")
    assert copied_link(linked) == {"model": empty, "find": "number 77"}
    found = sum("77" in str(number) for number in range(MANY))
    assert components(linked, "samples")[0]["foot"]["said"].startswith(f"{min(found, 50)} ")
    press(at, "samples.undo_button")
    assert client.traits.get(empty, "warmth").sample_count == 0
