"""Import on the Samples page: good rows go in, the others can be corrected; files of every kind, and what they lack."""

import io

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests import wild
from tests.conftest import Trained
from tests.pages.drive import Workbench, bars, copied_link, links, texts, words
from tests.size import sized
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.tables import sample_files
from traitbench.tables.sample_files import Choice
from traitbench_app.samples.label_meanings import LEAVE_OUT
from traitbench_app.workspace.sample_table import A_PAGE

# More than one request takes, and more than a page shows.
MANY = sized(600, 1_200)
CSV = "message;kind\nThank you, dear.;warm\nGo away.;cold\n"


def upload(at: AppTest, name: str, content: str | bytes) -> AppTest:
    data = content if isinstance(content, bytes) else content.encode()
    at.file_uploader[0].upload(name, data)
    return at.run()


def test_a_parquet_file_is_imported_like_the_others(workbench: Workbench, client: Traitbench, empty: str) -> None:
    file = io.BytesIO()
    pd.DataFrame({"message": ["Thank you, dear.", "Go away."], "kind": ["warm", "cold"]}).to_parquet(file)
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.parquet", file.getvalue())
    assert not [toggle for toggle in at.toggle if str(toggle.key).endswith(".header")]
    at.button(key="samples.import_button").click().run()
    assert texts(client, empty) == [("Thank you, dear.", 1.0), ("Go away.", 0.0)]


def test_every_page_shows_what_people_paste(
    workbench: Workbench, client: Traitbench, empty: str, trained: Trained
) -> None:
    pasted = wild.texts(sized(28, 400))
    file = io.BytesIO()
    pd.DataFrame({"text": pasted, "label": ["warm", "cold"] * (len(pasted) // 2)}).to_parquet(file)
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.parquet", file.getvalue())
    at.button(key="samples.import_button").click().run()
    assert [text for text, _ in texts(client, empty)] == pasted
    for page in ("samples", "label", "train"):
        assert not workbench.open(page, model=empty).exception
    at = workbench.open("score", model=trained.handle, text="\n\n".join(pasted[:14]), against=pasted[15])
    assert not at.exception
    assert bars(at)


def test_a_file_is_previewed_and_then_imported(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.csv", CSV)
    assert "Preview: 2 samples" in words(at)
    assert list(at.dataframe[0].value["Text"]) == ["Thank you, dear.", "Go away."]
    assert not texts(client, empty)
    at.button(key="samples.import_button").click().run()
    assert texts(client, empty) == [("Thank you, dear.", 1.0), ("Go away.", 0.0)]
    assert len(at.dataframe[0].value) == 2


def test_of_a_file_with_bad_rows_the_good_ones_go_in_and_the_others_can_be_corrected(
    workbench: Workbench, client: Traitbench, empty: str
) -> None:
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.csv", CSV + ";warm\nHm.;purple\n")
    assert "2 rows have errors" in at.error[0].value
    assert at.dataframe[0].value[["Line", "Column"]].values.tolist() == [[4, "message"], [5, "kind"]]
    assert at.button(key="samples.import_button").label == "Import 2, leave out 2"
    file = sample_files.read("a.csv", (CSV + ";warm\nHm.;purple\n").encode())
    choice = Choice("message", None, "warmth", "kind", None, {"warm": 1.0, "cold": 0.0})
    header, rows = sample_files.to_mend(file, sample_files.check(file, choice, client.traits.list(empty)))
    assert header == ["message", "kind", "line", "error"]
    assert [row[:3] for row in rows] == [["", "warm", "4"], ["Hm.", "purple", "5"]]
    at.button(key="samples.import_button").click().run()
    assert texts(client, empty) == [("Thank you, dear.", 1.0), ("Go away.", 0.0)]


def test_a_label_and_blanks_can_be_left_out(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.csv", CSV + "Hm.;purple\nOh.;\n")
    next(box for box in at.selectbox if str(box.key).endswith(".word.purple")).set_value(LEAVE_OUT)
    next(box for box in at.selectbox if str(box.key).endswith(".default_quality.True")).set_value(LEAVE_OUT).run()
    assert "2 rows left out" in words(at)
    assert at.button(key="samples.import_button").label == "Import 2 samples"


def test_columns_named_like_traits_hold_their_labels(workbench: Workbench, client: Traitbench, empty: str) -> None:
    client.traits.add(empty, [TraitInput(name="Clarity", positive_label="clear", negative_label="muddled")])
    content = "message,WARMTH,Clarity\nThank you.,warm,1\nGo.,cold,\nWell,,muddled\n"
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.csv", content)
    at.button(key="samples.import_button").click().run()
    assert [(each.trait, each.text, each.quality) for each in client.samples.list(empty)] == [
        ("warmth", "Thank you.", 1.0),
        ("clarity", "Thank you.", 1.0),
        ("warmth", "Go.", 0.0),
        ("clarity", "Well", 0.0),
    ]


@pytest.mark.parametrize(
    ("choice", "after"),
    [
        ("skip", {"A": [1.0], "B": [1.0], "C": [0.0]}),
        ("keep", {"A": [1.0, 1.0, 1.0], "B": [0.0, 1.0], "C": [0.0]}),
        ("replace", {"A": [1.0], "B": [0.0], "C": [0.0]}),
    ],
)
def test_texts_that_are_there_are_counted_and_skipped_kept_or_replaced(
    workbench: Workbench, client: Traitbench, empty: str, choice: str, after: dict[str, list[float]]
) -> None:
    client.samples.add(empty, [SampleInput(trait="warmth", text=text, quality=1.0) for text in "AB"])
    at = upload(
        workbench.open("samples", model=empty, task="Import a file"), "a.csv", "text,label\nA,1\nA,1\nB,0\nC,0\n"
    )
    radio = next(each for each in at.radio if str(each.key).endswith(".repeated"))
    assert "2 texts with the same label and 1 text with another label" in radio.label
    radio.set_value(choice).run()
    at.button(key="samples.import_button").click().run()
    there: dict[str, list[float]] = {}
    for text, quality in sorted(texts(client, empty)):
        there.setdefault(text, []).append(quality)
    assert there == after
    at.button(key="samples.undo_button").click().run()
    assert sorted(texts(client, empty)) == [("A", 1.0), ("B", 1.0)]


def test_texts_without_labels_go_to_the_label_page(workbench: Workbench, client: Traitbench, empty: str) -> None:
    content = "message,note\nThank you for all of it.,x\nGo away now and stay away.,y\n"
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "heap.csv", content)
    at.button(key="samples.label_button").click().run()
    assert "2 texts added to the Label page" in words(at)
    assert "Start labelling" in links(at)
    assert not texts(client, empty)


def test_an_unknown_word_can_be_given_a_meaning(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.csv", CSV + "Hm.;purple\n")
    word = next(box for box in at.selectbox if str(box.key).endswith(".word.purple"))
    word.set_value(0.5).run()
    at.button(key="samples.import_button").click().run()
    assert texts(client, empty)[-1] == ("Hm.", 0.5)


def test_columns_can_be_chosen_otherwise(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.csv", "a,b\nShort,Much longer.\n")
    assert "Choose the column with the pole" in words(at)
    form = next(str(box.key).removesuffix(".text") for box in at.selectbox if str(box.key).endswith(".text"))
    at.selectbox(key=f"{form}.text").set_value("a")
    at.selectbox(key=f"{form}.default_quality.False").set_value(0.0).run()
    at.button(key="samples.import_button").click().run()
    assert texts(client, empty) == [("Short", 0.0)]


def test_a_file_that_is_no_table_is_said(workbench: Workbench, empty: str) -> None:
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.jsonl", "no json")
    assert "JSON object" in at.error[0].value


def test_another_encoding_is_read_and_said(workbench: Workbench, empty: str) -> None:
    content = "text,label\nGrüße,warm\n".encode("cp1252")
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.csv", content)
    assert "Windows" in at.warning[0].value
    assert list(at.dataframe[0].value["Text"]) == ["Grüße"]


def test_a_model_that_was_archived_meanwhile_takes_no_row(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.csv", CSV)
    client.models.delete(empty)
    at.button(key="samples.import_button").click().run()
    assert not at.exception
    assert not texts(client, empty)


def test_a_large_file_goes_in_whole(workbench: Workbench, client: Traitbench, empty: str) -> None:
    rows = "".join(f"Text number {number},{number % 2}\n" for number in range(MANY))
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.csv", f"text,quality\n{rows}")
    at.button(key="samples.import_button").click().run()
    assert client.traits.get(empty, "warmth").sample_count == MANY
    assert len(at.dataframe[0].value) == A_PAGE
    linked = workbench.open("samples", model=empty, page="2")
    assert linked.dataframe[0].value["text"].iloc[0] == f"Text number {MANY - A_PAGE - 1}"
    assert copied_link(linked) == {"model": empty, "page": "2"}
    linked.text_input(key="find").set_value("number 77").run()
    found = sum("77" in str(number) for number in range(MANY))
    assert f"{found} of {MANY:,} samples" in words(linked)
    assert len(linked.dataframe[0].value) == found
    at.button(key="samples.undo_button").click().run()
    assert client.traits.get(empty, "warmth").sample_count == 0
