"""The Samples page: its list, edits that are saved as they are made, their undo, and the draft of a model in use."""

import os

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, WARM, Service, Trained
from tests.pages.drive import (
    Workbench,
    away,
    buttons,
    components,
    copied_link,
    ending,
    listed,
    next_step,
    panel_text,
    pick,
    plain,
    press,
    retype,
    texts,
    visit,
    words,
)
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput


def test_without_samples_it_offers_the_ways_to_bring_some(workbench: Workbench, empty: str) -> None:
    at = workbench.open("samples", model=empty)
    assert "No samples yet: 10 cold and 10 warm ones are enough to start" in words(at)
    assert at.button(key="samples.first_import").click().run().file_uploader
    assert len(press(workbench.open("samples", model=empty), "samples.first_paste").text_area) == 2
    assert press(workbench.open("samples", model=empty), "samples.first_label").title[0].value == "Label"


# ---- paste -----------------------------------------------------------------------------------------------------------


def test_pasted_texts_are_counted_added_and_taken_back(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand")
    cold, warm = at.text_area
    cold.set_value("Go away.\nGo away.").run()
    warm.set_value("  Thank you, dear.\n\nHow kind!  \n").run()
    assert "1 cold and 2 warm texts, 1 left out" in words(at)
    assert at.button(key="samples.add_button").label == "Add 3 samples"
    press(at, "samples.add_button")
    assert texts(client, empty) == [("Go away.", 0.0), ("Thank you, dear.", 1.0), ("How kind!", 1.0)]
    assert "3 texts added to Warmth." in words(at)
    assert listed(at) == ["How kind!", "Thank you, dear.", "Go away."]
    press(at, "samples.undo_button")
    assert not texts(client, empty)
    assert "No samples yet" in words(at)


def test_each_side_keeps_ten_before_some_are_set_aside(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand")
    at.text_area[0].set_value("\n".join(COLD)).run()
    assert "None is set aside for testing" in words(at)
    at.text_area[1].set_value("\n".join(f"{text} {number}" for number in (1, 2) for text in WARM)).run()
    assert "Set 4 texts aside for testing" in [each.label for each in at.toggle]
    press(at, "samples.add_button")
    tests = [each.quality for each in client.samples.list(empty, limit=500) if each.held_out]
    assert tests == [1.0] * 4


def test_after_adding_the_header_says_what_is_next(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = workbench.open("samples", model=draft, task="Add by hand")
    at.text_area[0].set_value("One more.").run()
    press(at, "samples.add_button")
    assert "Saved." in words(at)
    assert next_step(at) == "Train"


def test_a_text_of_many_lines_can_be_one_sample_of_a_group(
    workbench: Workbench, client: Traitbench, empty: str
) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand")
    at.segmented_control(key="samples.by_line").set_value("Blank line between").run()
    at.text_area[0].set_value("One.\nTwo.\n\nThree.").run()
    ending(at.text_input, "group").set_value("conversation 7").run()
    press(at, "samples.add_button")
    assert [(each.text, each.group) for each in client.samples.list(empty)] == [
        ("One.\nTwo.", "conversation 7"),
        ("Three.", "conversation 7"),
    ]


def test_a_link_opens_the_form_at_a_trait(workbench: Workbench, client: Traitbench, empty: str) -> None:
    client.traits.add(empty, [TraitInput(name="Clarity", positive_label="clear", negative_label="muddled")])
    at = workbench.open("samples", model=empty, task="Add by hand", trait="Clarity", pole="negative")
    assert "0 muddled and 0 clear texts" in words(at)
    assert copied_link(at) == {"model": empty, "task": "Add by hand", "trait": "Clarity"}


@pytest.mark.parametrize(
    ("typed", "says"),
    [("", "Type or paste a text first"), (f"fine\n{'x' * 50_001}", "At most 50,000 characters")],
    ids=["nothing", "too long"],
)
def test_what_cannot_be_added_stays_in_its_field(
    workbench: Workbench, client: Traitbench, empty: str, typed: str, says: str
) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand")
    at.text_area[0].set_value(typed).run()
    assert says in words(press(at, "samples.add_button"))
    assert at.text_area[0].value == typed
    assert not texts(client, empty)


def test_sides_can_be_swapped(workbench: Workbench, empty: str) -> None:
    at = workbench.open("samples", model=empty, task="Add by hand")
    at.text_area[0].set_value("Lovely.").run()
    press(at, "samples.swap")
    assert [each.value for each in at.text_area] == ["", "Lovely."]


# ---- the list --------------------------------------------------------------------------------------------------------


def test_a_draft_lists_the_newest_first_and_a_link_narrows_it(workbench: Workbench, draft: str) -> None:
    at = workbench.open("samples", model=draft, pole="negative", find="the", trait="Warmth")
    expected = [text for text in COLD if "the" in text.casefold()]
    assert listed(at) == expected[::-1]
    assert copied_link(at) == {"model": draft, "pole": "cold", "find": "the", "trait": "Warmth"}
    assert {"samples.csv", "samples.jsonl"} <= {str(each.key) for each in at.get("download_button")}
    at.text_input(key="find").set_value("nothing has this in it").run()
    assert "No samples match" in words(at)
    assert len(listed(press(at, "samples.show_all"))) == 20


def test_fifty_rows_are_shown_and_fifty_more_on_request(workbench: Workbench, client: Traitbench, empty: str) -> None:
    client.samples.add(empty, [SampleInput(trait="warmth", text=f"Text {n}", quality=n % 2) for n in range(120)])
    at = workbench.open("samples", model=empty)
    assert (len(listed(at)), components(at, "samples")[0]["foot"]["more"]) == (50, "Show 50 more")
    at.session_state["samples.rows_shown"] = 100
    assert (len(listed(at.run())), components(at, "samples")[0]["foot"]["more"]) == (100, "Show 20 more")


def test_a_model_in_use_lists_those_first_that_are_farthest_from_their_label(
    workbench: Workbench, trained: Trained
) -> None:
    at = workbench.open("samples", model=trained.handle)
    listed = components(at, "samples")[0]["rows"]
    far = [100 - row["score"] if row["label"]["side"] == "right" else row["score"] for row in listed]
    assert far == sorted(far, reverse=True)
    assert len(listed) == 20
    assert "Each is scored by a model that had not seen it." in words(at)
    assert "on the wrong side" in words(at)
    assert not at.text_area[0].disabled


# ---- edits -----------------------------------------------------------------------------------------------------------


def test_an_edit_is_saved_as_it_is_made_and_can_be_undone(workbench: Workbench, client: Traitbench, draft: str) -> None:
    before = list(client.samples.list(draft))
    at = retype(pick(workbench.open("samples", model=draft), client, draft, COLD[-1]), "Changed.")
    after = list(client.samples.list(draft))
    assert [each.id for each in after] == [each.id for each in before]
    assert (after[-1].text, after[-1].quality) == ("Changed.", 0.0)
    assert "“Changed.” has a new text." in plain(at)
    press(at, "samples.label.2")
    assert client.samples.list(draft).items[-1].quality == 1.0
    assert "“Changed.” is warm now." in plain(at)
    press(press(at, "samples.undo_button"), "samples.undo_button")
    assert texts(client, draft) == [(each.text, each.quality) for each in before]
    assert panel_text(at).value == COLD[-1]
    assert not buttons(at, "samples.undo_button")


def test_what_a_sample_is_for_its_group_its_note_and_its_trait_are_saved_at_once(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    client.traits.add(draft, [TraitInput(name="Clarity", positive_label="clear", negative_label="muddled")])
    at = pick(workbench.open("samples", model=draft), client, draft, COLD[0])
    use = next(each for each in at.segmented_control if str(each.key).startswith("samples.for:"))
    use.set_value("Only testing").run()
    next(each for each in at.toggle if each.label == "Never get wrong").set_value(True).run()
    next(each for each in at.text_input if str(each.key).startswith("samples.group:")).set_value(" Case 7 ").run()
    next(each for each in at.text_input if str(each.key).startswith("samples.note:")).set_value(" Kühl. ").run()
    assert "has a note." in plain(at)
    next(each for each in at.selectbox if str(each.key).startswith("samples.trait:")).set_value("clarity").run()
    own = next(each for each in client.samples.list(draft) if each.text == COLD[0])
    assert (own.held_out, own.must_pass, own.group, own.note) == (True, True, "Case 7", "Kühl.")
    assert own.trait == "clarity"
    assert "is about Clarity now." in plain(at)


def test_a_deleted_sample_comes_back_with_its_id(workbench: Workbench, client: Traitbench, draft: str) -> None:
    before = list(client.samples.list(draft))
    at = pick(workbench.open("samples", model=draft), client, draft, COLD[3])
    press(at, "samples.delete")
    assert len(list(client.samples.list(draft))) == 19
    assert COLD[3] not in listed(at)
    press(at, "samples.undo_button")
    assert [each.id for each in client.samples.list(draft)] == [each.id for each in before]


def test_a_text_of_nothing_is_not_saved(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = retype(pick(workbench.open("samples", model=draft), client, draft, COLD[0]), "  ")
    assert "A sample needs a text" in " ".join(each.value for each in at.toast)
    assert COLD[0] in [text for text, _ in texts(client, draft)]


def test_an_edit_that_is_not_saved_stays_in_its_field(
    monkeypatch: pytest.MonkeyPatch, workbench: Workbench, service: Service, client: Traitbench, draft: str
) -> None:
    at = pick(workbench.open("samples", model=draft), client, draft, COLD[0])
    with monkeypatch.context() as patch:
        away(patch, service, os.environ["TRAITBENCH_API_KEY"])
        panel_text(at).set_value("Changed.").run()
    at.run()
    assert "Not saved: the service does not answer. Your text is still here." in plain(at)
    assert panel_text(at).value == "Changed."
    press(at, "samples.try_again")
    assert "Changed." in [text for text, _ in texts(client, draft)]


def test_the_history_says_who_changed_what(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = pick(workbench.open("samples", model=draft), client, draft, COLD[0])
    press(at, "samples.label.2")
    drawn = "\n".join(str(each.proto.body) for each in at.get("html"))
    assert 'You changed <span class="left">cold</span> to <span class="right">warm</span>' in drawn
    rows = {row["text"]: row["by"] for row in components(at, "samples")[0]["rows"]}
    assert rows[COLD[0]].startswith("you, "), "the last change of each sample"
    assert not rows[COLD[1]].startswith("you, "), "another key added it"


def test_a_text_that_no_model_knew_is_scored_as_it_is(own_workbench: Workbench, client: Traitbench, ready: str) -> None:
    at = retype(own_workbench.open("samples", model=ready), "Thank you so much, dear.")
    drawn = "\n".join(str(each.proto.body) for each in at.get("html"))
    assert "As it is now, by v1:" in drawn
    assert "Scored unseen:" not in drawn


def test_a_label_can_be_a_grade(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = pick(workbench.open("samples", model=draft), client, draft, COLD[0])
    next(each for each in at.slider if str(each.key).startswith("samples.grade:")).set_value(0.3).run()
    assert (COLD[0], 0.3) in texts(client, draft)
    assert "is mostly cold now." in plain(at)


# ---- two people ------------------------------------------------------------------------------------------------------


def test_what_somebody_else_changes_arrives_by_itself(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = workbench.open("samples", model=draft)
    own = client.samples.list(draft, limit=1).items[0]
    client.samples.change(draft, own.id, text="Theirs now.")
    assert "Theirs now." in listed(at.run())


def overtaken(workbench: Workbench, client: Traitbench, draft: str) -> AppTest:
    """A session whose edit of a text came after another person's edit of it."""
    at = pick(workbench.open("samples", model=draft), client, draft, COLD[0])
    own = next(each for each in client.samples.list(draft) if each.text == COLD[0])
    client.samples.change(draft, own.id, text="Theirs now.")
    return retype(at, "Mine now.")


def test_an_edit_that_somebody_overtook_is_shown_beside_theirs(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    at = overtaken(workbench, client, draft)
    assert "the same sample just now" in words(at)
    assert not buttons(at, "samples.label."), "the keys belong to the two versions"
    drawn = "\n".join(str(each.proto.body) for each in at.get("html"))
    assert "<u>Mine now.</u>" in drawn
    assert "<u>Theirs now.</u>" in drawn
    assert "Theirs now." in [text for text, _ in texts(client, draft)]
    press(at, "samples.keep_mine")
    assert "Mine now." in [text for text, _ in texts(client, draft)]
    press(at, "samples.undo_button")
    assert "Theirs now." in [text for text, _ in texts(client, draft)]


def test_theirs_can_be_taken_and_a_deleted_one_added_again(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    at = overtaken(workbench, client, draft)
    press(at, "samples.take_theirs")
    assert "Theirs now." in [text for text, _ in texts(client, draft)]
    assert "the same sample" not in words(at)
    own = next(each for each in client.samples.list(draft) if each.text == COLD[1])
    pick(at, client, draft, COLD[1])
    client.samples.delete(draft, own.id)
    retype(at, "Mine again.")
    assert "deleted the same sample just now" in words(at)
    press(at, "samples.keep_mine")
    assert "Mine again." in [text for text, _ in texts(client, draft)]


def test_several_overtaken_edits_are_asked_about_one_after_the_other(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    def script(handle: str, ids: list[int]) -> None:
        import streamlit as st

        from traitbench_app.samples.editing import apply
        from traitbench_app.shell.service import client

        seen = {each.id: each for each in client().samples.list(handle)}
        for each in ids[:3]:
            client().samples.change(handle, each, text=f"Theirs {each}.")
        client().samples.delete(handle, ids[5])
        updates = {each: {"quality": 1.0} for each in ids[:4]}
        model = client().models.get(handle)
        st.session_state["said"] = apply(
            model, "{} changed, {} deleted".format, seen, updates=updates, deletes=ids[4:6]
        )

    ids = [each.id for each in client.samples.list(draft, pole="negative")][:6]
    before = AppTest.from_function(script, args=(draft, ids), default_timeout=PATIENCE_S).run()
    assert before.session_state["said"] == "1 changed, 1 deleted", "what nobody else changed is saved"
    at = workbench.open("samples", model=draft)
    at.session_state["samples.conflicts"] = before.session_state["samples.conflicts"]
    assert "1 of 3. Yours is not saved yet." in words(at.run())
    assert "3 changes of yours are not saved." in words(at)
    press(at, "samples.keep_mine")
    assert "2 of 3. Yours is not saved yet." in words(at)
    press(at, "samples.take_theirs")
    assert "One change of yours is not saved." in words(at)
    press(at, "samples.keep_mine")
    assert "not saved" not in words(at)
    now = {each.id: (each.text, each.quality) for each in client.samples.list(draft)}
    first, second, third, unmoved, *gone = ids
    assert [now[each] for each in (first, second, third)] == [
        *((f"Theirs {first}.", 1.0), (f"Theirs {second}.", 0.0), (f"Theirs {third}.", 1.0)),
    ]
    assert now[unmoved][1] == 1.0
    assert now.keys().isdisjoint(gone)


# ---- a model in use --------------------------------------------------------------------------------------------------


def test_the_first_edit_of_a_model_in_use_opens_a_draft(
    own_workbench: Workbench, client: Traitbench, ready: str
) -> None:
    before = texts(client, ready)
    at = own_workbench.open("samples", model=ready)
    first = panel_text(at).value
    press(at, "samples.label.3")
    draft = f"{ready}-next"
    assert at.selectbox(key="model").value == draft
    assert texts(client, ready) == before
    assert [text for text, quality in texts(client, draft) if quality == 0.5] == [first]
    said = plain(at)
    assert "is neither now, in your draft. v1 scores as before until you train." in said
    assert "v1 in use" in said
    assert "your draft, 1 change" in said
    assert panel_text(at).value == first
    assert components(at, "samples")[0]["rows"][0]["score"] is not None
    press(at, "samples.undo_button")
    assert sorted(texts(client, draft)) == sorted(before)
    assert "your draft, 0 changes" in plain(at)
    assert visit(at, "traits").selectbox(key="model").value == draft


def test_texts_are_pasted_into_the_draft_of_a_model_in_use(
    own_workbench: Workbench, client: Traitbench, ready: str
) -> None:
    at = own_workbench.open("samples", model=ready, task="Add by hand")
    at.text_area[1].set_value("You are so kind.").run()
    press(at, "samples.add_button")
    assert len(texts(client, ready)) == 20
    assert ("You are so kind.", 1.0) in texts(client, f"{ready}-next")
    file = own_workbench.open("samples", model=ready, task="Import a file")
    assert press(file, "samples.open_draft").selectbox(key="model").value == f"{ready}-next"
    assert file.file_uploader


def test_a_model_that_keeps_no_samples_says_so(own_workbench: Workbench, client: Traitbench, ready: str) -> None:
    client.models.update(ready, zero_data_retention=True)
    at = own_workbench.open("samples", model=ready)
    assert "Samples are not kept" in words(at)
    assert not {"samples.first_import", "samples.first_synthesize"} & {*buttons(at)}
    assert {"samples.first_paste", "samples.first_label"} <= {*buttons(at)}
