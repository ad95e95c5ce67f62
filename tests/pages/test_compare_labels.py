"""Compare labels on the Samples page: raters with each other and with you, what a model would lose, samples of both."""

import csv
import io
from collections.abc import Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, WARM, Trained, not_none
from tests.pages.drive import Workbench, buttons, ending, labeller, press, upload, words
from tests.patience import PATIENCE_S
from tests.tables.in_process import read
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput, text_hash
from traitbench.local.labeller import Action, LabelAnswer, decide
from traitbench.tables.rating_files import labelled_file, read_ratings
from traitbench.tables.sample_files import FileLayout, LabelColumn
from traitbench_app.samples.blind import GIVEN

TEXTS = dict.fromkeys(WARM, 1) | dict.fromkeys(COLD, 0)
LAYOUT = FileLayout("text", (LabelColumn("gpt", "warmth", {"warm": 1.0, "cold": 0.0}),))
WORD = {1: "warm", 0: "cold"}


def file(**labels: Mapping[str, object]) -> bytes:
    """A CSV with a column of texts and one of each rater's labels by text."""
    place = io.StringIO(newline="")
    writer = csv.writer(place)
    writer.writerow(["text", *labels])
    for text in dict.fromkeys(text for each in labels.values() for text in each):
        writer.writerow([text, *(each.get(text, "") for each in labels.values())])
    return place.getvalue().encode()


def of_gpt(*wrong: str) -> dict[str, object]:
    """The labels of a rater that is right but for these texts."""
    return {text: WORD[1 - side if text in wrong else side] for text, side in TEXTS.items()}


def compare(workbench: Workbench, handle: str, content: bytes) -> AppTest:
    return upload(workbench.open("samples", model=handle, task="Compare labels"), "labels.csv", content)


def text_of(at: AppTest) -> str | None:
    """The text to be labelled."""
    return next((item["text"] for item in labeller(at).get("items", ())), None)


def give(at: AppTest, handle: str, action: Action, item: str = "", quality: float | None = None) -> AppTest:
    """Answer about an item, by default the one on screen."""
    key, answered = f"{GIVEN}:{handle}", LabelAnswer(1, item or labeller(at)["items"][0]["id"], action, quality)
    before = at.session_state.get(key, {})
    after = decide({f"{text}:{trait}": each for (trait, text), each in before.items()}, [answered])
    at.session_state[key] = {(item.rpartition(":")[2], item.rpartition(":")[0]): each for item, each in after.items()}
    return at.run()


def label(at: AppTest, handle: str, number: int) -> AppTest:
    """Label so many texts as they are."""
    for _ in range(number):
        text = not_none(text_of(at))
        give(at, handle, "label", quality=float(TEXTS[text]))
    return at


def labelled(at: AppTest, handle: str) -> AppTest:
    """What a session holds after all texts were labelled as they are."""
    at.session_state[f"{GIVEN}:{handle}"] = {("warmth", text_hash(text)): float(side) for text, side in TEXTS.items()}
    return at.run()


def progress(at: AppTest) -> tuple[int, int]:
    """How many texts are done, and of how many."""
    return labeller(at)["done"], labeller(at)["total"]


def cells(at: AppTest, column: str) -> list[str]:
    """The cells of a column in the tables that have it."""
    tables = [table.value for table in at.dataframe]
    return [str(cell) for table in tables if column in table for cell in table[column]]


# ---- raters with each other ------------------------------------------------------------------------------------------


def test_without_a_file_it_says_what_the_file_needs(workbench: Workbench, empty: str) -> None:
    at = workbench.open("samples", model=empty, task="Compare labels")
    assert "a column of labels for each rater" in words(at)
    assert at.file_uploader[0].proto.max_upload_size_mb == 50


def test_raters_are_compared_before_anything_else(workbench: Workbench, empty: str) -> None:
    at = compare(workbench, empty, file(gpt=of_gpt(WARM[0]), anna=of_gpt(), ben=of_gpt(*WARM)))
    assert "Lowest agreement: the labels in **gpt** agree with those in **ben** on 11 of 20 texts (55 %)" in words(at)
    assert cells(at, "Raters") == ["gpt, anna", "gpt, ben", "anna, ben"]
    assert cells(at, "Kappa") == ["0.90", "0.00", "0.00"]
    assert cells(at, "Texts") == ["20", "20", "20"]
    assert "All 3 raters on Warmth: Krippendorff" in words(at)


def test_a_row_for_each_text_and_person_is_compared_by_person(workbench: Workbench, empty: str) -> None:
    texts = [f"The answer number {at} was long and kind." for at in range(6)]
    given = {"1": "110010", "2": "110010", "ana": "100011"}
    rows = [
        f"{text},{who},{'pos' if labels[at] == '1' else 'neg'}"
        for at, text in enumerate(texts)
        for who, labels in given.items()
    ]
    at = compare(workbench, empty, "\n".join(["text,annotator,label", *rows]).encode())
    assert "3 people labelled 6 texts" in words(at)
    assert cells(at, "Raters") == ["annotator 1, annotator 2", "annotator 1, ana", "annotator 2, ana"]


def test_unknown_labels_need_a_meaning_first(workbench: Workbench, empty: str) -> None:
    labels = {text: "jolly" if side else "grim" for text, side in TEXTS.items()}
    at = compare(workbench, empty, file(gpt=of_gpt(), anna=labels))
    at.multiselect[0].set_value(["gpt", "anna"]).run()
    assert "Choose the meaning of every label in anna" in words(at)
    assert text_of(at) is None
    for word, quality in (("jolly", 1.0), ("grim", 0.0)):
        ending(at.selectbox, f"word.anna.{word}").set_value(quality).run()
    assert cells(at, "Kappa") == ["1.00"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "The file is empty"),
        (b"text,note\nHello there.,well\n", "Choose at least one column with labels"),
        (b"text,label\nHello there.,\nAnd you.,\n", "The chosen columns have no labels"),
        (
            b"text,trait,gpt\nGood.,warmth,warm\nFine.,warmth,warm\nBad.,taste,cold\n",
            "1 row has errors.** Nothing is compared",
        ),
    ],
    ids=["empty", "no column", "no labels", "unknown trait"],
)
def test_a_file_that_cannot_be_compared_says_why(workbench: Workbench, empty: str, content: bytes, says: str) -> None:
    at = compare(workbench, empty, content)
    assert says in words(at)
    assert text_of(at) is None
    assert b"taste" not in content or "Traits of this model" in words(at)


def test_contradictory_labels_are_named_and_left_out(workbench: Workbench, empty: str) -> None:
    at = compare(workbench, empty, file(gpt=of_gpt()) + f'"{WARM[0]}",cold\n'.encode())
    assert "**gpt** labels 1 text in two ways" in words(at)
    assert "with labels for 19 texts" in words(at)


# ---- you -------------------------------------------------------------------------------------------------------------


def test_labels_are_given_blind_one_by_one_with_a_way_back(workbench: Workbench, empty: str) -> None:
    at = compare(workbench, empty, file(gpt=of_gpt(WARM[0], COLD[0])))
    assert "The file has one rater, **gpt**, with labels for 20 texts" in words(at)
    assert (progress(at), labeller(at)["last"]) == ((0, 10), None)
    assert labeller(at)["blind"]
    assert labeller(at)["middle"]
    assert not any("hint" in item or "highlights" in item for item in labeller(at)["items"])
    first = labeller(at)["items"][0]
    label(at, empty, 1)
    assert (progress(at), labeller(at)["last"]) == ((1, 10), first["id"])
    assert text_of(give(at, empty, "undo", first["id"])) == first["text"]


def test_answers_of_the_labeller_are_your_labels() -> None:
    def script() -> None:
        from types import SimpleNamespace

        import streamlit as st

        from traitbench.local.labeller import LabelAnswer
        from traitbench_app.samples.blind import GIVEN, Sheet, take, your_labels

        sheet = Sheet("lab.tone", "warmth", {("warmth", text): 1.0 for text in "abcd"}, {("warmth", "d"): 0.0})
        ratings: Any = SimpleNamespace(texts={text: text for text in "abcd"})
        trait: Any = SimpleNamespace(key="warmth")
        given: Any = (
            ("a", "label", 1.0),
            ("b", "skip", None),
            ("c", "label", 0.5),
            ("a", "undo", None),
            ("x", "skip", None),
        )
        answers = [LabelAnswer(n, f"{text}:warmth", action, quality) for n, (text, action, quality) in enumerate(given)]
        st.session_state[sheet.key] = 4
        take(sheet, trait, ratings, answers)
        st.session_state["result"] = (st.session_state[f"{GIVEN}:lab.tone"], your_labels(sheet))

    at = AppTest.from_function(script, default_timeout=PATIENCE_S).run()
    kept, labels = at.session_state["result"]
    assert kept == {("warmth", "b"): None, ("warmth", "c"): 0.5}
    assert labels == {("warmth", "c"): 0.5, ("warmth", "d"): 0.0}


def test_skipped_texts_can_be_shown_again(workbench: Workbench, empty: str) -> None:
    at = compare(workbench, empty, file(gpt=of_gpt()))
    skipped = text_of(at)
    label(give(at, empty, "skip"), empty, 9)
    assert (labeller(at)["items"], labeller(at)["empty"]) == ([], "All 10 texts are done.")
    assert text_of(press(at, "samples.blind.again")) == skipped


def test_more_texts_can_be_asked_for_and_no_label_is_lost(workbench: Workbench, empty: str) -> None:
    at = label(compare(workbench, empty, file(gpt=of_gpt())), empty, 3)
    at.number_input[0].set_value(15).run()
    assert progress(at) == (3, 15)
    press(at, "samples.back")
    at.session_state["task"] = "Compare labels"
    at.run()
    assert progress(upload(at, "again.csv", file(gpt=of_gpt()))) == (3, 15)


def test_after_ten_labels_it_says_how_far_each_rater_agrees_with_you(workbench: Workbench, empty: str) -> None:
    at = label(compare(workbench, empty, file(gpt=of_gpt(*WARM[:5]), anna=of_gpt())), empty, 9)
    assert "After 10 labels" in words(at)
    assert "agree with yours" not in words(at)
    label(at, empty, 1)
    assert "The labels in **anna** agree with yours on 10 of 10 texts (100 %); kappa 1.00, 95 % interv" in words(at)
    assert "The labels in **gpt** agree with yours on" in words(at)
    assert "gpt, you" in cells(at, "Raters")


def test_your_labels_come_back_as_a_column(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = label(compare(workbench, empty, file(gpt=of_gpt())), empty, 4)
    chosen = [text for text in TEXTS if text != text_of(at)]
    ratings = read_ratings(read("labels.csv", file(gpt=of_gpt())), LAYOUT, client.traits.list(empty))
    content = labelled_file(ratings, at.session_state[f"{GIVEN}:{empty}"])
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    own = {row["text"]: float(row["your_label"]) for row in rows if row["your_label"]}
    assert (len(rows), len(own)) == (20, 4)
    assert all(TEXTS[text] == side and text in chosen for text, side in own.items())
    at = compare(workbench, empty, content)
    assert at.multiselect[0].value == ["gpt", "your_label"]
    assert at.selectbox(key="samples.raters.trusted.your_label").value == "your_label"
    assert progress(at) == (4, 10), "one goes on where one was"
    assert text_of(at) not in own


# ---- what a model loses ----------------------------------------------------------------------------------------------


def test_what_a_model_would_lose_is_measured_on_your_labels(workbench: Workbench, empty: str) -> None:
    at = compare(workbench, empty, file(gpt=of_gpt(WARM[0]), anna=dict.fromkeys(TEXTS, WORD[1])))
    press(labelled(at, empty), "samples.raters.measure")
    assert "A model of the labels in **gpt** is on your side on" in words(at)
    assert "**anna** was not measured. The labels of anna for other texts have 10 at the positive and 0 at" in words(at)
    assert cells(at, "Trained on") == ["10"]
    assert "it needs 10 at each pole" in words(at)
    assert not buttons(at, "samples.raters.measure")
    for word, quality in (("warm", 0.0), ("cold", 1.0)):
        ending(at.selectbox, f"word.gpt.{word}").set_value(quality).run()
    assert buttons(at, "samples.raters.measure"), "other labels, another measurement"


def test_with_enough_labels_a_model_of_your_own_is_measured_too(workbench: Workbench, empty: str) -> None:
    at = compare(workbench, empty, file(gpt=of_gpt(), mine=TEXTS))
    at.selectbox(key="samples.raters.trusted.").set_value("mine").run()
    at.number_input[0].set_value(20).run()
    press(at, "samples.raters.measure")
    assert "**gpt** was not measured" in words(at), "no text is left to train with"
    assert cells(at, "Rater") == ["you, out of fold"]
    assert cells(at, "Trained on") == ["20"]
    at.number_input[0].set_value(10).run()
    assert buttons(at, "samples.raters.measure"), "other labels, another measurement"


# ---- samples ---------------------------------------------------------------------------------------------------------


def test_their_labels_train_and_yours_are_test_samples(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = labelled(compare(workbench, empty, file(gpt=of_gpt(*TEXTS))), empty)
    assert "10 labels of **gpt** to train with, and 10 labels of yours as test samples" in words(at)
    press(at, "samples.raters.add")
    samples = list(client.samples.list(empty))
    assert {sample.text for sample in samples} == set(TEXTS)
    assert all(sample.held_out == (sample.quality == TEXTS[sample.text]) for sample in samples), "gpt is always wrong"
    assert sum(sample.held_out for sample in samples) == 10
    press(at, "samples.undo_button")
    assert not list(client.samples.list(empty))


def test_a_text_to_train_with_is_not_made_a_test_sample(workbench: Workbench, client: Traitbench, empty: str) -> None:
    client.samples.add(empty, [SampleInput(trait="warmth", text=text, quality=side) for text, side in TEXTS.items()])
    at = labelled(compare(workbench, empty, file(gpt=of_gpt())), empty)
    assert "10 texts of yours cannot be used as a test" in words(at)
    assert at.button(key="samples.raters.add").disabled


def test_labels_are_added_whole_or_not_at_all(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = labelled(compare(workbench, empty, file(gpt=of_gpt())), empty)
    client.models.delete(empty)
    assert "cannot be changed now" in words(press(at, "samples.raters.add"))


def test_labels_are_compared_for_a_trained_model_whose_samples_are_left_out(
    workbench: Workbench, trained: Trained
) -> None:
    at = compare(workbench, trained.handle, file(gpt=of_gpt(), anna=of_gpt(WARM[1])))
    assert cells(at, "Kappa") == ["0.90"]
    assert "20 labels left out: these texts are samples of the trait already." in words(at)
    assert at.button(key="samples.raters.add").disabled
