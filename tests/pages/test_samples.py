"""The Samples page: add by hand, edit in the table with undo, filter, download; import a file whole or not at all."""

import io

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, WARM, Service, Trained, make_draft
from tests.pages.drive import Workbench, copied_link, links, words
from tests.pages.mute_proxy import muted
from traitbench.app.files import importing
from traitbench.app.files.importing import Choice
from traitbench.app.samples.sample_changes import Changes, save
from traitbench.app.samples.sample_table import A_PAGE
from traitbench.app.widgets.samples.label_meanings import LEAVE_OUT
from traitbench.client import Traitbench
from traitbench.contract.bundles import digest
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.errors import NotFound, Unreachable

CSV = "message;kind\nThank you, dear.;warm\nGo away.;cold\n"


@pytest.fixture
def empty(client: Traitbench, namespace: str) -> str:
    """A draft with one trait and no sample."""
    client.models.create(f"{namespace}.empty")
    client.traits.add(f"{namespace}.empty", [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    return f"{namespace}.empty"


def texts(client: Traitbench, handle: str) -> list[tuple[str, float]]:
    return [(sample.text, sample.quality) for sample in client.samples.list(handle)]


def edit(at: AppTest, *, rows: dict[int, dict[str, object]] | None = None, gone: tuple[int, ...] = ()) -> AppTest:
    """What the browser sends after edits in the table; row 0 is the newest sample."""
    at.session_state[str(at.dataframe[0].key)] = {"edited_rows": rows or {}, "deleted_rows": [*gone], "added_rows": []}
    return at.run()


# ---- nothing there -----------------------------------------------------------------------------------------------


def test_without_traits_it_says_what_comes_first(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    client.models.create(f"{namespace}.new")
    at = workbench.open("samples", model=f"{namespace}.new")
    assert "Add a trait first" in words(at)
    assert "Add traits" in links(at)


def test_without_samples_it_offers_both_ways_to_bring_some(workbench: Workbench, empty: str) -> None:
    at = workbench.open("samples", model=empty)
    assert "No samples yet" in words(at)
    assert at.button(key="samples.first_import").click().run().file_uploader
    at = workbench.open("samples", model=empty)
    assert at.button(key="samples.first_add").click().run().text_area


# ---- by hand -----------------------------------------------------------------------------------------------------


def add(at: AppTest, text: str, pole: str = "positive") -> AppTest:
    at.segmented_control(key="samples.add_pole").set_value(pole).run()
    at.text_area[0].set_value(text).run()
    return at.button(key="samples.add_button").click().run()


def test_every_line_becomes_a_sample_at_the_chosen_pole(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand")
    add(at, "  Thank you, dear.\n\nHow kind!  \n")
    add(at, "Go away.", "negative")
    assert texts(client, empty) == [("Thank you, dear.", 1.0), ("How kind!", 1.0), ("Go away.", 0.0)]
    assert at.text_area[0].value == ""


def test_the_first_samples_of_both_poles_are_added_at_once(
    workbench: Workbench, client: Traitbench, empty: str
) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand")
    cold, warm = at.text_area
    cold.set_value("Go away.").run()
    warm.set_value("Thank you, dear.\nHow kind!").run()
    assert at.button(key="samples.add_button").label == "Add 3 samples"
    at.button(key="samples.add_button").click().run()
    assert texts(client, empty) == [("Go away.", 0.0), ("Thank you, dear.", 1.0), ("How kind!", 1.0)]


def test_a_text_of_many_lines_can_be_one_sample_in_between(
    workbench: Workbench, client: Traitbench, empty: str
) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand")
    at.toggle(key="samples.by_line").set_value(False).run()
    at.segmented_control(key="samples.add_pole").set_value("between").run()
    at.slider(key="samples.add_quality").set_value(0.7).run()
    at.text_area[0].set_value("One.\nTwo.").run()
    at.button(key="samples.add_button").click().run()
    assert texts(client, empty) == [("One.\nTwo.", 0.7)]


def test_a_link_opens_the_form_at_a_trait_and_a_pole_once(workbench: Workbench, empty: str) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand", trait="Warmth", pole="negative")
    assert at.segmented_control(key="samples.add_pole").value == "negative"
    assert copied_link(at) == {"model": empty, "task": "Add by hand", "trait": "Warmth", "pole": "negative"}
    at.segmented_control(key="samples.add_pole").set_value("positive").run()
    assert at.segmented_control(key="samples.add_pole").value == "positive"


def test_nothing_typed_is_said_below_the_field(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand")
    at.button(key="samples.add_button").click().run()
    assert "Type or paste a text first" in words(at)
    assert not texts(client, empty)


def test_a_text_that_is_too_long_is_refused_and_stays_in_its_field(
    workbench: Workbench, client: Traitbench, empty: str
) -> None:
    long = "x" * 50_001
    at = add(workbench.open("samples", model=empty, task="Add by hand"), f"fine\n{long}")
    assert "At most 50,000 characters" in words(at)
    assert at.text_area[0].value == f"fine\n{long}"
    assert not texts(client, empty)


def test_what_is_there_already_is_remarked(workbench: Workbench, draft: str) -> None:
    at = workbench.open("samples", model=draft, task="Add by hand")
    at.text_area[0].set_value(f"{COLD[0]}\nNew.\nNew.").run()
    assert "1 repeated line, 1 already in this trait, 1 of them at the other pole" in words(at)


# ---- the table ---------------------------------------------------------------------------------------------------


def test_filters_come_from_the_link_and_go_into_the_copied_one(workbench: Workbench, draft: str) -> None:
    at = workbench.open("samples", model=draft, pole="negative", find="the", trait="Warmth")
    expected = [text for text in COLD if "the" in text.casefold()]
    assert list(at.dataframe[0].value["text"]) == expected[::-1]
    assert f"{len(expected)} of 20 samples" in words(at)
    assert copied_link(at) == {"model": draft, "pole": "negative", "find": "the", "trait": "Warmth"}


def test_filters_that_match_nothing_can_be_cleared(workbench: Workbench, draft: str) -> None:
    at = workbench.open("samples", model=draft, find="nothing has this in it")
    assert "No samples match" in words(at)
    at.button(key="samples.clear").click().run()
    assert len(at.dataframe[0].value) == 20


def test_edits_and_deletions_wait_until_they_are_saved(workbench: Workbench, client: Traitbench, draft: str) -> None:
    before = texts(client, draft)
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed.", "quality": 0.25}}, gone=(1,))
    assert at.button(key="samples.save").label == "Save 2 changes"
    assert texts(client, draft) == before
    at.button(key="samples.save").click().run()
    assert texts(client, draft) == [*before[:-2], ("Changed.", 0.25)]
    assert at.button(key="samples.save").disabled


def test_a_saved_change_can_be_undone(workbench: Workbench, client: Traitbench, draft: str) -> None:
    before = texts(client, draft)
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}}, gone=(1, 2))
    at.button(key="samples.save").click().run()
    assert "1 edited and 2 deleted" in words(at)
    at.button(key="samples.undo_button").click().run()
    assert sorted(texts(client, draft)) == sorted(before)
    assert "samples.undo_button" not in [button.key for button in at.button]


def test_several_changes_are_undone_one_after_another(workbench: Workbench, client: Traitbench, draft: str) -> None:
    """An undo gives samples new ids, and the changes before it still find them."""
    before = texts(client, draft)
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}})
    at.button(key="samples.save").click().run()
    at = edit(at, gone=(0,))
    at.button(key="samples.save").click().run()
    assert len(texts(client, draft)) == 19
    at.button(key="samples.undo_button").click().run()
    assert "Changed." in [text for text, _ in texts(client, draft)]
    at.button(key="samples.undo_button").click().run()
    assert sorted(texts(client, draft)) == sorted(before)


def test_all_samples_deleted_can_be_undone(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = edit(workbench.open("samples", model=draft), gone=tuple(range(20)))
    at.button(key="samples.save").click().run()
    assert "No samples yet" in words(at)
    at.button(key="samples.undo_button").click().run()
    assert len(texts(client, draft)) == 20


def test_discard_forgets_what_waits(workbench: Workbench, client: Traitbench, draft: str) -> None:
    before = texts(client, draft)
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}})
    at.button(key="samples.discard").click().run()
    assert at.button(key="samples.save").disabled
    assert at.dataframe[0].value["text"].iloc[0] == before[-1][0]


def test_edits_wait_while_filters_change_and_other_samples_come(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}})
    client.samples.add(draft, [SampleInput(trait="warmth", text="From elsewhere.", quality=1.0)])
    at.selectbox(key="pole").set_value("positive").run()
    assert at.button(key="samples.save").label == "Save 1 change"
    assert at.dataframe[0].value["text"].iloc[0] == "From elsewhere."
    at.selectbox(key="pole").set_value(None).run()
    assert list(at.dataframe[0].value["text"])[:2] == ["From elsewhere.", "Changed."]
    at.button(key="samples.save").click().run()
    after = [text for text, _ in texts(client, draft)]
    assert after[-2:] == ["From elsewhere.", "Changed."]
    assert COLD[-1] not in after
    assert len(after) == 21


def test_a_refused_edit_changes_nothing_and_keeps_waiting(workbench: Workbench, client: Traitbench, draft: str) -> None:
    before = texts(client, draft)
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "  "}, 1: {"text": "Fine."}}, gone=(2,))
    at.button(key="samples.save").click().run()
    assert at.error
    assert texts(client, draft) == before
    assert at.button(key="samples.save").label == "Save 3 changes"


def test_samples_deleted_elsewhere_leave_the_table(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = workbench.open("samples", model=draft)
    oldest = client.samples.list(draft).items[0]
    client.samples.delete(draft, oldest.id)
    at.run()
    assert len(at.dataframe[0].value) == 19
    assert WARM[0] not in list(at.dataframe[0].value["text"])


def test_an_edit_that_fails_halfway_leaves_no_text_out_and_none_twice(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, namespace: str, draft: str
) -> None:
    """The second original cannot be deleted, because its model is archived in between."""
    Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)))
    samples = list(client.samples.list(draft))
    edits = {
        each.id: SampleInput(trait="warmth", text=f"New {number}", quality=1.0)
        for number, each in enumerate(samples[:3])
    }

    def archive_after_one(done: int, _of: int) -> None:
        if done == 1:
            client.models.delete(draft)

    with pytest.raises(Exception, match="is archived"):
        save(draft, samples, Changes(edits), progress=archive_after_one)
    left = [sample.text for sample in client.samples.list(draft)]
    assert {sample.text for sample in samples[1:]} <= set(left)
    assert "New 0" in left


def test_an_edit_whose_answer_is_lost_loses_no_text(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, namespace: str, draft: str
) -> None:
    """The service deletes the second original, but its response never arrives: the new text must stay."""
    samples = list(client.samples.list(draft))
    edits = {
        each.id: SampleInput(trait="warmth", text=f"New {number}", quality=1.0)
        for number, each in enumerate(samples[:3])
    }
    deletions: list[str] = []

    def mute(method: str, path: str) -> bool:
        deletions.extend([path] if method == "DELETE" else [])
        return method == "DELETE" and len(deletions) == 2

    with muted(service.base_url, mute) as base_url:
        Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)), base_url=base_url)
        with pytest.raises(Unreachable):
            save(draft, samples, Changes(edits), progress=lambda _done, _of: None)
    left = {sample.text for sample in client.samples.list(draft)}
    assert {"New 0", "New 1"} <= left
    assert "New 2" not in left
    assert {sample.text for sample in samples[2:]} <= left


# ---- downloads ---------------------------------------------------------------------------------------------------


def test_downloads_hold_what_is_on_screen(workbench: Workbench, client: Traitbench, empty: str) -> None:
    client.samples.add(
        empty,
        [
            SampleInput(trait="warmth", text="=1+1", quality=1.0),
            SampleInput(trait="warmth", text="Other.", quality=0.0),
        ],
    )
    at = workbench.open("samples", model=empty, pole="positive")
    names = {str(each.key): each.proto.label for each in at.get("download_button")}
    assert {"samples.csv", "samples.jsonl"} <= set(names)


# ---- import ------------------------------------------------------------------------------------------------------


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
    file = importing.read("a.csv", (CSV + ";warm\nHm.;purple\n").encode())
    choice = Choice("message", None, "warmth", "kind", None, {"warm": 1.0, "cold": 0.0})
    header, rows = importing.to_mend(file, importing.check(file, choice, client.traits.list(empty)))
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
    assert "Windows-1252" in at.warning[0].value
    assert list(at.dataframe[0].value["Text"]) == ["Grüße"]


def test_a_model_that_was_archived_meanwhile_takes_no_row(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.csv", CSV)
    client.models.delete(empty)
    at.button(key="samples.import_button").click().run()
    assert not at.exception
    assert not texts(client, empty)


def test_a_large_file_goes_in_whole(workbench: Workbench, client: Traitbench, empty: str) -> None:
    rows = "".join(f"Text number {number},{number % 2}\n" for number in range(1_200))
    at = upload(workbench.open("samples", model=empty, task="Import a file"), "a.csv", f"text,quality\n{rows}")
    at.button(key="samples.import_button").click().run()
    assert client.traits.get(empty, "warmth").sample_count == 1_200
    assert len(at.dataframe[0].value) == A_PAGE
    linked = workbench.open("samples", model=empty, page="2")
    assert linked.dataframe[0].value["text"].iloc[0] == f"Text number {1_200 - A_PAGE - 1}"
    assert copied_link(linked) == {"model": empty, "page": "2"}
    linked.text_input(key="find").set_value("number 77").run()
    found = sum("77" in str(number) for number in range(1_200))
    assert f"{found} of 1,200 samples" in words(linked)
    assert len(linked.dataframe[0].value) == found
    at.button(key="samples.undo_button").click().run()
    assert client.traits.get(empty, "warmth").sample_count == 0


# ---- synthesis ---------------------------------------------------------------------------------------------------


def synthesize(at: AppTest, *, kind: str = "from_traits") -> AppTest:
    at.radio(key="synthesize.type").set_value(kind)
    at.radio(key="synthesize.effort").set_value("low").run()
    return at.button(key="synthesize.send").click().run()


@pytest.fixture
def synthesized(client: Traitbench, empty: str) -> str:
    """A draft with one sample that somebody wrote and ten that were made."""
    client.samples.add(
        empty,
        [SampleInput(trait="warmth", text=text, quality=1.0) for text in ("Thank you, dear.", *WARM)],
    )
    written = client.models.export(empty)
    samples = [each.model_copy(update={"provenance": "synthesized"}) for each in written.samples or ()]
    samples[0] = samples[0].model_copy(update={"provenance": "authored"})
    made = written.model_copy(update={"samples": samples})
    bundle = made.model_copy(update={"sha256": digest(made)})
    return client.models.import_(bundle, handle=f"{empty}-2").handle


def made(client: Traitbench, handle: str) -> list[str]:
    return [sample.text for sample in client.samples.list(handle) if sample.provenance == "synthesized"]


def read_by_keys(client: Traitbench, at: AppTest, handle: str) -> None:
    """Keep the first text, edit the second, delete the third, and go back once."""
    there = made(client, handle)
    assert f"1 of {len(there)}." in words(at)
    assert f"{len(there)} accepted" in words(at)
    at.button(key="samples.review.keep").click().run()
    at.button(key="samples.review.edit").click().run()
    at.text_area[0].set_value("I wrote this myself, dear.").run()
    at.button(key="samples.review.use").click().run()
    at.button(key="samples.review.delete").click().run()
    at.button(key="samples.review.delete").click().run()
    at.button(key="samples.review.undo").click().run()
    assert f"4 of {len(there)}." in words(at)
    at.button(key="samples.save").click().run()
    after = {sample.text: sample.provenance for sample in client.samples.list(handle)}
    assert after["I wrote this myself, dear."] == "authored"
    assert [text in after for text in there[:4]] == [True, False, False, True]


def test_samples_are_synthesized_with_honest_words_and_marked_as_such(
    workbench: Workbench, client: Traitbench, empty: str
) -> None:
    at = workbench.open("samples", model=empty)
    at.button(key="samples.first_synthesize").click().run()
    assert "A few texts of your own are worth more" in words(at)
    assert "Nothing is sent anywhere" in words(at)
    assert "never used for evaluation" in words(at)
    synthesize(at)
    assert "Synthesizing samples" in words(at)
    assert client.models.wait(empty).state == "draft"
    at.run()
    assert f"{len(made(client, empty))} synthesized samples. Read some before you train" in at.info[0].value
    assert set(at.dataframe[0].value["provenance"]) == {"synthesized"}
    read_by_keys(client, at, empty)

    at.button(key="samples.delete_synthesized").click().run()
    at.button(key="samples.save").click().run()
    assert not made(client, empty)
    (own,) = client.samples.list(empty)
    client.samples.delete(empty, own.id)
    at = synthesize(workbench.open("samples", model=empty, task="Synthesize"))
    assert "Synthesizing samples" in words(at)
    assert client.models.wait(empty).state == "draft"
    assert made(client, empty)


def test_a_rejected_text_that_is_good_all_the_same_becomes_a_sample_of_the_person(
    workbench: Workbench, client: Traitbench, empty: str
) -> None:
    letters = {
        "Thank you so much. I will not forget it. It is lovely to hear from you.": 1.0,
        "The office is shut. It does not open until 8. Do not call again.": 0.0,
    }
    client.samples.add(empty, [SampleInput(trait="warmth", text=text, quality=at) for text, at in letters.items()])
    client.samples.synthesize(empty, synth_type="diversify", effort="low")
    assert client.models.wait(empty).state == "draft"
    rejected = client.samples.rejected(empty)
    at = workbench.open("samples", model=empty)
    grid = next(each for each in at.dataframe if "Rejected because" in each.value)
    assert list(grid.value["Text"]) == [each.text for each in rejected]
    assert at.button(key="samples.rejects.add").disabled
    at.session_state[f"samples.rejects:{len(rejected)}"] = {"selection": {"rows": [1], "columns": [], "cells": []}}
    at.run()
    at.button(key="samples.rejects.add").click().run()
    added = next(each for each in client.samples.list(empty) if each.text == rejected[1].text)
    assert (added.provenance, added.quality) == ("authored", rejected[1].quality)
    grid = next(each for each in at.dataframe if "Rejected because" in each.value)
    assert rejected[1].text not in list(grid.value["Text"])
    at.button(key="samples.undo_button").click().run()
    assert rejected[1].text not in [each.text for each in client.samples.list(empty)]


def test_texts_can_only_be_varied_when_there_are_some(workbench: Workbench, empty: str, draft: str) -> None:
    at = workbench.open("samples", model=empty, task="Synthesize")
    at.radio(key="synthesize.type").set_value("diversify").run()
    assert at.button(key="synthesize.send").disabled
    at = workbench.open("samples", model=draft, task="Synthesize")
    at.radio(key="synthesize.type").set_value("diversify").run()
    assert not at.button(key="synthesize.send").disabled


def test_the_table_shows_and_filters_where_samples_come_from(
    workbench: Workbench, client: Traitbench, synthesized: str
) -> None:
    at = workbench.open("samples", model=synthesized, origin="Authored")
    assert list(at.dataframe[0].value["text"]) == ["Thank you, dear."]
    assert copied_link(at)["origin"] == "Authored"
    at.selectbox(key="origin").set_value("synthesized").run()
    assert set(at.dataframe[0].value["text"]) == set(made(client, synthesized))


def test_all_synthesized_go_in_one_go_and_not_before_it_is_saved(
    workbench: Workbench, client: Traitbench, synthesized: str
) -> None:
    there = made(client, synthesized)
    at = workbench.open("samples", model=synthesized)
    at.button(key="samples.delete_synthesized").click().run()
    assert list(at.dataframe[0].value["text"]) == ["Thank you, dear."]
    assert f"Saving permanently deletes {len(there)} synthesized samples" in words(at)
    at.button(key="samples.keep_synthesized").click().run()
    assert len(at.dataframe[0].value) == len(there) + 1
    assert at.button(key="samples.save").disabled
    at.button(key="samples.delete_synthesized").click().run()
    at.button(key="samples.save").click().run()
    assert texts(client, synthesized) == [("Thank you, dear.", 1.0)]


def test_an_undo_never_makes_a_synthesized_text_pass_for_one_that_somebody_wrote(
    workbench: Workbench, client: Traitbench, synthesized: str
) -> None:
    at = edit(workbench.open("samples", model=synthesized), gone=(0,))
    at.button(key="samples.save").click().run()
    assert "samples.undo_button" not in [button.key for button in at.button]
    at = edit(at, gone=tuple(range(len(at.dataframe[0].value))))
    at.button(key="samples.save").click().run()
    at.button(key="samples.undo_button").click().run()
    back = list(client.samples.list(synthesized))
    assert [(sample.text, sample.provenance) for sample in back] == [("Thank you, dear.", "authored")]


# ---- models that are not drafts ----------------------------------------------------------------------------------


def test_a_trained_model_is_read_only_with_the_reason_and_the_way_out(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("samples", model=trained.handle)
    assert "frozen in v1" in words(at)
    assert at.button(key="samples.copy")
    assert len(at.dataframe[0].value) == 20
    assert not [button for button in at.button if button.key == "samples.save"]


def test_a_scoring_key_sees_no_samples_and_is_told_why(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, namespace: str
) -> None:
    make_draft(client, f"{namespace}.tone")
    at = Workbench(monkeypatch, service, service.issue("scoring", (namespace,))).open(
        "samples", model=f"{namespace}.tone"
    )
    assert not at.exception
    assert "authoring" in words(at)


def test_what_is_gone_cannot_be_read_again(client: Traitbench, draft: str) -> None:
    """The page's list relies on it: ids are never given out twice."""
    first = client.samples.list(draft).items[0].id
    client.samples.delete(draft, first)
    with pytest.raises(NotFound):
        client.samples.delete(draft, first)
    new = client.samples.add(draft, [SampleInput(trait="warmth", text="New.", quality=1.0)])
    assert new[0] > max(sample.id for sample in list(client.samples.list(draft))[:-1])
