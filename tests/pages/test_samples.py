"""The Samples page: add by hand, edit in the table with undo, filter, download; import a file whole or not at all."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, WARM, Service, Trained, make_draft
from tests.pages.drive import Workbench, copied_link, edit, links, texts, words
from tests.pages.mute_proxy import muted
from traitbench.client import Traitbench
from traitbench.contract.samples import MOST_SAMPLES, Sample, SampleInput
from traitbench.errors import NotFound, Unreachable
from traitbench_app.workspace.changes import Changes, save

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


def test_what_was_discarded_comes_back_until_a_save(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}, 1: {"text": "Changed too."}})
    at.button(key="samples.discard").click().run()
    assert "2 unsaved changes discarded" in words(at)
    edit(at, rows={1: {"text": "Changed again."}})
    bring_back = f"samples.unsaved.bring_back:{draft}"
    at.button(key=bring_back).click().run()
    assert "discarded" not in words(at)
    assert list(at.dataframe[0].value["text"])[:2] == ["Changed.", "Changed again."]
    at.button(key="samples.discard").click().run()
    edit(at, rows={2: {"text": "Another."}})
    at.button(key="samples.save").click().run()
    assert not [button for button in at.button if button.key == bring_back]
    assert not {"Changed.", "Changed again."} & {text for text, _ in texts(client, draft)}


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
    """The second request to delete originals is refused, because the model is archived in between."""
    Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)))
    samples, edits = many_edits(client, draft)

    def archive_after_one(done: int, _of: int) -> None:
        if done:
            client.models.delete(draft)

    with pytest.raises(Exception, match="is archived"):
        save(draft, samples, Changes(edits), progress=archive_after_one)
    left = {sample.text for sample in client.samples.list(draft, limit=MOST_SAMPLES)}
    assert {sample.text for sample in samples[MOST_SAMPLES:]} <= left
    assert not {sample.text for sample in samples[:MOST_SAMPLES]} & left
    assert {f"New {number}" for number in range(MOST_SAMPLES)} <= left


def test_an_edit_whose_answer_is_lost_loses_no_text(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, namespace: str, draft: str
) -> None:
    """The service deletes the last originals, but its response never arrives: the new texts must stay."""
    samples, edits = many_edits(client, draft)
    deletions: list[str] = []

    def mute(method: str, path: str) -> bool:
        deletions.extend([path] if path.endswith("/samples/delete") else [])
        return path.endswith("/samples/delete") and len(deletions) == 2

    with muted(service.base_url, mute) as base_url:
        Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)), base_url=base_url)
        with pytest.raises(Unreachable):
            save(draft, samples, Changes(edits), progress=lambda _done, _of: None)
    left = {sample.text for sample in client.samples.list(draft, limit=MOST_SAMPLES)}
    assert {sample.text for sample in edits.values()} <= left
    assert {sample.text for sample in samples[len(edits) :]} <= left


def test_an_edit_of_a_sample_that_is_gone_is_not_saved_and_the_others_are(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, namespace: str, draft: str
) -> None:
    Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)))
    samples = list(client.samples.list(draft))
    gone, edited, deleted = samples[:3]
    client.samples.delete(draft, gone.id)
    edits = {each.id: SampleInput(trait="warmth", text=f"New {each.id}", quality=1.0) for each in (gone, edited)}
    undo = save(draft, samples, Changes(edits, frozenset({deleted.id})), progress=lambda _done, _of: None)
    assert undo.missing == {gone.id}
    assert undo.what == "1 edited and 1 deleted"
    left = {sample.text for sample in client.samples.list(draft)}
    assert f"New {edited.id}" in left
    assert not {f"New {gone.id}", edited.text, deleted.text} & left


def many_edits(client: Traitbench, draft: str) -> tuple[list[Sample], dict[int, SampleInput]]:
    """The samples of a draft, and edits of so many of them that two requests are needed to delete the originals."""
    more = [SampleInput(trait="warmth", text=f"Old {number}", quality=1.0) for number in range(MOST_SAMPLES)]
    client.samples.add(draft, more)
    samples = list(client.samples.list(draft, limit=MOST_SAMPLES))
    return samples, {
        each.id: SampleInput(trait="warmth", text=f"New {number}", quality=1.0)
        for number, each in enumerate(samples[: MOST_SAMPLES + 3])
    }


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
