"""The Samples page: add by hand, edit in the table with undo, filter, download."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, WARM, Service
from tests.pages.drive import Workbench, buttons, copied_link, edit, ending, press, texts, visit, words
from tests.pages.mute_proxy import nth_deletion, proxied
from traitbench.client import Traitbench
from traitbench.contract.samples import MOST_SAMPLES, Sample, SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.errors import TraitbenchError, Unreachable
from traitbench_app.workspace.changes import Changes, as_input, save


def label_options(at: AppTest) -> list[str]:
    """The choices of the label column, as they are shown."""
    column = json.loads(at.dataframe[0].proto.columns)["label"]
    return [option["label"] for option in column["type_config"]["options"]]


def ignore(_done: int, _of: int) -> None:
    """Ignores progress."""


# ---- by hand -----------------------------------------------------------------------------------------------------


def test_without_samples_it_offers_both_ways_to_bring_some(workbench: Workbench, empty: str) -> None:
    at = workbench.open("samples", model=empty)
    assert "No samples yet" in words(at)
    assert at.button(key="samples.first_import").click().run().file_uploader
    assert workbench.open("samples", model=empty).button(key="samples.first_add").click().run().text_area


def test_samples_are_added_to_both_poles_and_then_to_one(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand")
    cold, warm = at.text_area
    cold.set_value("Go away.").run()
    warm.set_value("  Thank you, dear.\n\nHow kind!  \n").run()
    assert at.button(key="samples.add_button").label == "Add 3 texts"
    press(at, "samples.add_button")
    first = [("Go away.", 0.0), ("Thank you, dear.", 1.0), ("How kind!", 1.0)]
    assert texts(client, empty) == first
    at.segmented_control(key="samples.add_pole").set_value("negative").run()
    at.text_area[0].set_value("Not now.").run()
    press(at, "samples.add_button")
    assert texts(client, empty) == [*first, ("Not now.", 0.0)]
    assert at.text_area[0].value == ""


def test_after_adding_the_page_says_what_there_is_and_what_is_next(
    workbench: Workbench, client: Traitbench, empty: str
) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand")
    at.text_area[1].set_value("\n".join(WARM)).run()
    said = words(press(at, "samples.add_button"))
    assert "Just now: 10 texts added to Warmth" in said
    assert "Warmth: 0 cold, 10 warm" in said
    assert "**Next**: No cold texts yet." in said
    assert press(at, "samples.now.step").segmented_control(key="samples.add_pole").value == "negative"
    at.text_area[0].set_value("\n".join(COLD)).run()
    assert "10 + 10 samples." in words(press(at, "samples.add_button"))
    assert press(at, "samples.now.step").title[0].value == "Train"
    press(visit(at, "samples"), "samples.undo_button")
    assert len(texts(client, empty)) == 10


def test_the_table_does_the_step_that_its_header_names(workbench: Workbench, client: Traitbench, empty: str) -> None:
    client.samples.add(empty, [SampleInput(trait="warmth", text=text, quality=0.0) for text in COLD])
    at = workbench.open("samples", model=empty)
    assert at.button(key="samples.now.step").label == "Add warm texts"
    assert press(at, "samples.now.step").segmented_control(key="samples.add_pole").value == "positive"
    assert not buttons(at, "samples.now")


def test_a_text_of_many_lines_can_be_one_sample(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand")
    at.toggle(key="samples.by_line").set_value(False).run()
    at.segmented_control(key="samples.add_pole").set_value("between").run()
    at.slider(key="samples.add_quality").set_value(0.7).run()
    at.text_area[0].set_value("One.\nTwo.").run()
    press(at, "samples.add_button")
    assert texts(client, empty) == [("One.\nTwo.", 0.7)]


def test_a_link_opens_the_form_at_a_trait_and_a_pole_once(workbench: Workbench, empty: str) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand", trait="Warmth", pole="negative")
    assert at.segmented_control(key="samples.add_pole").value == "negative"
    assert copied_link(at) == {"model": empty, "task": "Add by hand", "trait": "Warmth", "pole": "cold"}
    at.segmented_control(key="samples.add_pole").set_value("positive").run()
    assert at.segmented_control(key="samples.add_pole").value == "positive"


@pytest.mark.parametrize(
    ("typed", "says"),
    [("", "Type or paste a text first"), (f"fine\n{'x' * 50_001}", "At most 50,000 characters")],
    ids=["nothing", "too long"],
)
def test_what_cannot_be_added_stays_in_its_field(
    workbench: Workbench, client: Traitbench, empty: str, typed: str, says: str
) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand", trait="Warmth", pole="positive")
    at.text_area[0].set_value(typed).run()
    assert says in words(press(at, "samples.add_button"))
    assert at.text_area[0].value == typed
    assert not texts(client, empty)


def test_what_is_there_already_is_remarked(workbench: Workbench, draft: str) -> None:
    at = workbench.open("samples", model=draft, task="Add by hand")
    at.text_area[1].set_value(f"{COLD[0]}\nNew.\nNew.").run()
    assert "1 repeated line, 1 already in this trait, 1 of them at the other pole" in words(at)


# ---- the table ---------------------------------------------------------------------------------------------------


def test_filters_are_read_from_links(workbench: Workbench, draft: str) -> None:
    at = workbench.open("samples", model=draft, pole="negative", find="the", trait="Warmth")
    expected = [text for text in COLD if "the" in text.casefold()]
    assert list(at.dataframe[0].value["text"]) == expected[::-1]
    assert f"{len(expected)} of 20 samples" in words(at)
    assert copied_link(at) == {"model": draft, "pole": "cold", "find": "the", "trait": "Warmth"}
    assert {"samples.csv", "samples.jsonl"} <= {str(each.key) for each in at.get("download_button")}
    at.text_input(key="find").set_value("nothing has this in it").run()
    assert "No samples match" in words(at)
    assert len(press(at, "samples.clear").dataframe[0].value) == 20


def test_edits_wait_for_a_save_and_can_be_undone(workbench: Workbench, client: Traitbench, draft: str) -> None:
    before = texts(client, draft)
    at = edit(
        workbench.open("samples", model=draft), rows={0: {"text": "Changed.", "label": "warmth 0.25"}}, gone=(1, 2)
    )
    assert at.button(key="samples.save").label == "Save 3 changes"
    assert texts(client, draft) == before
    press(at, "samples.save")
    assert texts(client, draft) == [*before[:-3], ("Changed.", 0.25)]
    assert at.button(key="samples.save").disabled
    assert "1 edited and 2 deleted" in words(at)
    press(at, "samples.undo_button")
    assert sorted(texts(client, draft)) == sorted(before)
    assert not buttons(at, "samples.undo_button")


def test_a_label_is_the_word_of_a_pole_and_can_be_one_of_another_trait(
    workbench: Workbench, client: Traitbench, empty: str
) -> None:
    client.samples.add(empty, [SampleInput(trait="warmth", text="Thank you.", quality=1.0)])
    assert label_options(workbench.open("samples", model=empty))[:2] == ["▲ warm", "▼ cold"]
    client.traits.add(empty, [TraitInput(name="Clarity", positive_label="clear", negative_label="muddled")])
    at = workbench.open("samples", model=empty)
    assert {"▲ warm, Warmth", "▼ muddled, Clarity", "▲ rather clear (0.75), Clarity"} <= set(label_options(at))
    press(edit(at, rows={0: {"label": "clarity 0.0"}}), "samples.save")
    assert [(each.trait, each.quality) for each in client.samples.list(empty)] == [("clarity", 0.0)]


def test_several_changes_are_undone_one_after_another(workbench: Workbench, client: Traitbench, draft: str) -> None:
    """An undo gives samples new ids, and the changes before it still find them."""
    before = texts(client, draft)
    at = press(edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}}), "samples.save")
    press(edit(at, gone=(0,)), "samples.save")
    assert len(texts(client, draft)) == 19
    press(at, "samples.undo_button")
    assert "Changed." in [text for text, _ in texts(client, draft)]
    press(at, "samples.undo_button")
    assert sorted(texts(client, draft)) == sorted(before)


def test_all_samples_deleted_can_be_undone(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = press(edit(workbench.open("samples", model=draft), gone=tuple(range(20))), "samples.save")
    assert "No samples yet" in words(at)
    press(at, "samples.undo_button")
    assert len(texts(client, draft)) == 20


def test_what_was_discarded_comes_back_until_a_save(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}, 1: {"text": "Changed too."}})
    press(at, "samples.discard")
    assert "2 unsaved changes discarded" in words(at)
    assert at.button(key="samples.save").disabled
    assert at.dataframe[0].value["text"].iloc[0] == COLD[-1]
    edit(at, rows={1: {"text": "Changed again."}})
    bring_back = f"samples.unsaved.bring_back:{draft}"
    assert "discarded" not in words(press(at, bring_back))
    assert list(at.dataframe[0].value["text"])[:2] == ["Changed.", "Changed again."]
    press(at, "samples.discard")
    press(edit(at, rows={2: {"text": "Another."}}), "samples.save")
    assert not buttons(at, bring_back)
    assert not {"Changed.", "Changed again."} & {text for text, _ in texts(client, draft)}


def test_edits_wait_while_filters_and_samples_change(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}})
    client.samples.add(draft, [SampleInput(trait="warmth", text="From elsewhere.", quality=1.0)])
    client.samples.delete(draft, client.samples.list(draft).items[0].id)
    at.selectbox(key="pole").set_value("positive").run()
    assert at.button(key="samples.save").label == "Save 1 change"
    assert at.dataframe[0].value["text"].iloc[0] == "From elsewhere."
    assert WARM[0] not in list(at.dataframe[0].value["text"])
    at.selectbox(key="pole").set_value(None).run()
    assert list(at.dataframe[0].value["text"])[:2] == ["From elsewhere.", "Changed."]
    press(at, "samples.save")
    after = [text for text, _ in texts(client, draft)]
    assert after[-2:] == ["From elsewhere.", "Changed."]
    assert COLD[-1] not in after
    assert len(after) == 20


def test_a_refused_edit_changes_nothing_and_keeps_waiting(workbench: Workbench, client: Traitbench, draft: str) -> None:
    before = texts(client, draft)
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "  "}, 1: {"text": "Fine."}}, gone=(2,))
    assert press(at, "samples.save").error
    assert texts(client, draft) == before
    assert at.button(key="samples.save").label == "Save 3 changes"


def test_texts_that_belong_together_are_added_shown_and_edited(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    at = workbench.open("samples", model=draft, task="Add by hand")
    at.text_area[0].set_value("One more.\nAnd another.")
    ending(at.text_input, "group").set_value("conversation 7").run()
    press(at, "samples.add_button")
    added = [each for each in client.samples.list(draft) if each.group]
    assert [(each.text, each.group) for each in added] == [
        ("One more.", "conversation 7"),
        ("And another.", "conversation 7"),
    ]
    table = workbench.open("samples", model=draft)
    assert list(table.dataframe[0].value["group"])[:3] == ["conversation 7", "conversation 7", ""]
    edit(table, rows={0: {"text": "And one."}, 1: {"group": "conversation 8"}, 2: {"group": "conversation 8"}})
    press(table, "samples.save")
    after = [(each.text, each.group) for each in client.samples.list(draft) if each.group]
    assert after[0] == ("And one.", "conversation 7")
    assert [group for _, group in after[1:]] == ["conversation 8"] * 2


# ---- a save that fails halfway -----------------------------------------------------------------------------------


def many_edits(client: Traitbench, draft: str) -> tuple[list[Sample], dict[int, SampleInput]]:
    """The samples of a draft, and edits of so many of them that two requests are needed to delete the originals."""
    more = [SampleInput(trait="warmth", text=f"Old {number}", quality=1.0) for number in range(MOST_SAMPLES)]
    client.samples.add(draft, more)
    samples = list(client.samples.list(draft, limit=MOST_SAMPLES))
    edited = enumerate(samples[: MOST_SAMPLES + 3])
    return samples, {each.id: SampleInput(trait="warmth", text=f"New {n}", quality=1.0) for n, each in edited}


def test_an_edit_that_fails_halfway_loses_no_text(own_workbench: Workbench, client: Traitbench, draft: str) -> None:
    """The second request to delete originals is refused, because the model is archived in between."""
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
    with proxied(service.base_url, mute=nth_deletion(2)) as address:
        Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)), base_url=address)
        with pytest.raises(Unreachable):
            save(draft, samples, Changes(edits), progress=ignore)
    left = {sample.text for sample in client.samples.list(draft, limit=MOST_SAMPLES)}
    assert {sample.text for sample in edits.values()} <= left
    assert {sample.text for sample in samples[len(edits) :]} <= left


@pytest.mark.parametrize("refused", [1, 2])
def test_a_fix_that_fails_halfway_is_taken_back_whole(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, namespace: str, draft: str, refused: int
) -> None:
    """Labels are turned and samples deleted, by two requests; a gateway refuses one of them."""
    samples, _ = many_edits(client, draft)
    before = texts(client, draft)
    turned = {each.id: as_input(each).model_copy(update={"quality": 0.0}) for each in samples[:2]}
    changes = Changes(turned, frozenset(each.id for each in samples[2 : MOST_SAMPLES + 2]))
    with proxied(service.base_url, refuse=nth_deletion(refused)) as address:
        Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)), base_url=address)
        with pytest.raises(TraitbenchError):
            save(draft, samples, changes, progress=ignore, whole=True)
    assert sorted(texts(client, draft)) == sorted(before)


def test_only_what_is_there_is_saved_and_brought_back(own_workbench: Workbench, client: Traitbench, draft: str) -> None:
    samples = list(client.samples.list(draft))
    gone, edited, deleted, deleted_before = samples[:4]
    client.samples.delete(draft, gone.id)
    client.samples.delete(draft, deleted_before.id)
    edits = {each.id: SampleInput(trait="warmth", text=f"New {each.id}", quality=1.0) for each in (gone, edited)}
    deletions = frozenset({deleted.id, deleted_before.id})
    undo = save(draft, samples, Changes(edits, deletions), progress=ignore)
    assert undo.missing == {gone.id}
    assert undo.what == "1 edited and 1 deleted"
    assert deleted_before.text not in [each.text for each in undo.gone]
    left = {sample.text for sample in client.samples.list(draft)}
    assert f"New {edited.id}" in left
    assert not {f"New {gone.id}", edited.text, deleted.text} & left
