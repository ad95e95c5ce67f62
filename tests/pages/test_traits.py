"""The Traits page: add, edit and delete traits, see their balance; discover traits and decide about them."""

from html import escape

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, Service, Trained, not_none
from tests.pages.drive import (
    Workbench,
    buttons,
    components,
    end_badly,
    ending,
    hold_busy,
    html,
    leave_few_figures,
    link_query,
    links,
    listed,
    next_step,
    plain,
    press,
    words,
)
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput, text_hash
from traitbench.contract.traits import Trait, TraitInput
from traitbench.sample_data import demo_models
from traitbench_app.traits.editing import changes_of


def write(at: AppTest, **fields: str) -> AppTest:
    """Type into the fields of the open editor; each is saved when it is left."""
    for field, value in fields.items():
        kind = at.text_area if field in ("negative", "positive", "rest") else at.text_input
        ending(kind, field).set_value(value).run()
    return at


def say(at: AppTest, negative: str, positive: str) -> AppTest:
    """Type the two words of a new trait."""
    at.text_input(key="traits.left_word").set_value(negative)
    return at.text_input(key="traits.right_word").set_value(positive).run()


def remove(at: AppTest) -> AppTest:
    """Ask to remove the trait."""
    return press(press(at, "traits.edit.warmth"), "traits.delete.warmth")


def names(client: Traitbench, handle: str) -> list[str]:
    return [trait.name for trait in client.traits.list(handle)]


# ---- adding and editing ----------------------------------------------------------------------------------------------


def test_an_empty_model_begins_with_the_sentence(workbench: Workbench, client: Traitbench, new: str) -> None:
    at = workbench.open("traits", model=new)
    assert "A text is" in words(at)
    assert at.button(key="traits.add").disabled
    say(at, "jargon", "plain")
    assert "Not tested: the names alone decide." in words(at)
    press(at, "traits.add")
    (trait,) = client.traits.list(new)
    assert (trait.key, trait.name) == ("jargon_or_plain", "jargon or plain")
    assert (trait.negative_label, trait.positive_label) == ("jargon", "plain")
    assert "Trait added" in at.toast[0].value
    write(at, name="Plain words", positive="No terms of art")
    trait = client.traits.get(new, "jargon_or_plain")
    assert (trait.name, trait.description) == ("Plain words", "Plain: No terms of art.")


@pytest.mark.parametrize(
    ("warm", "cold", "lack", "add", "pole"),
    [
        (0, 0, "Needs 10 cold and 10 warm texts.", "Add texts", "both"),
        (10, 4, "Needs 6 more cold texts.", "Add cold texts", "negative"),
        (70, 11, "Few cold texts (11 of 81).", "Add cold texts", "negative"),
    ],
)
def test_a_trait_says_what_it_lacks_and_leads_there(
    workbench: Workbench, client: Traitbench, empty: str, warm: int, cold: int, lack: str, add: str, pole: str
) -> None:
    given = ((warm, 1.0), (cold, 0.0))
    texts = [SampleInput(trait="warmth", text=f"{side} {n}", quality=side) for each, side in given for n in range(each)]
    if texts:
        client.samples.add(empty, texts)
    at = workbench.open("traits", model=empty)
    assert lack in words(at)
    assert link_query(at, add) == {"task": "Add by hand", "trait": "Warmth", "pole": pole}


def test_the_counts_of_a_trait_lead_to_its_samples(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.samples.add(draft, [SampleInput(trait="warmth", text="Hm.", quality=0.5)])
    at = workbench.open("traits", model=draft)
    assert "1 in between" in words(at)
    assert "Needs" not in words(at)
    assert next_step(at) == "Train"
    assert link_query(at, "warm 10") == {"trait": "Warmth", "pole": "warm"}
    samples = workbench.open("samples", model=draft, **link_query(at, "10 cold"))
    assert listed(samples) == list(COLD)[::-1]


def test_a_trained_trait_has_its_strip_and_the_way_to_what_is_wrong(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("traits", model=twice.handle)
    assert "fall on the side of their label. A dot is a sample, a ring is on the wrong side." in words(at)
    assert components(at, "cells")


def test_a_version_of_an_older_release_says_why_there_are_no_dots(
    workbench: Workbench, service: Service, ready: str
) -> None:
    leave_few_figures(service.context, ready)
    said = words(workbench.open("traits", model=ready))
    assert "1 trait, not measured" in said
    assert "v1 is of an older release" in said


def test_a_trait_that_came_after_the_training_says_so(workbench: Workbench, client: Traitbench, ready: str) -> None:
    draft = client.models.fork(ready, f"{ready}-next").handle
    client.traits.add(draft, [TraitInput(name="Clarity", negative_label="vague", positive_label="clear")])
    said = words(workbench.open("traits", model=draft))
    assert "2 traits: about 9 in 10 right, 1 is not trained" in said
    assert "Not part of v1. After training, its samples are dots here." in said
    assert "Needs 10 vague and 10 clear texts." in said


def test_under_zero_retention_the_dots_stay_and_lead_nowhere(
    workbench: Workbench, client: Traitbench, ready: str
) -> None:
    client.models.update(ready, zero_data_retention=True)
    at = workbench.open("traits", model=ready)
    assert "**18 of 20** right" in words(at)
    assert "10 cold and 10 warm samples" in html(at)
    assert "Needs" not in words(at)
    assert not components(at, "cells")
    assert not [label for label in links(at) if "wrong side" in label]


def test_labels_cannot_smuggle_markup_into_the_drawing(workbench: Workbench, client: Traitbench, new: str) -> None:
    client.traits.add(new, [TraitInput(name="A", positive_label="<img src=x>", negative_label='"><b>')])
    drawn = html(workbench.open("traits", model=new))
    assert "<img" not in drawn
    assert "<b>" not in drawn


def test_an_edit_is_saved_as_it_is_made_and_can_be_undone(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = press(workbench.open("traits", model=empty), "traits.edit.warmth")
    assert ending(at.text_input, "positive_label").value == "warm"
    write(at, name="Friendliness")
    trait = client.traits.get(empty, "warmth")
    assert (trait.name, trait.positive_label, trait.aggregation) == ("Friendliness", "warm", "mean")
    assert "Friendliness is being changed" in words(at)
    assert "Saved." in words(at)
    press(at, "samples.undo_button")
    assert client.traits.get(empty, "warmth").name == "Warmth"
    assert ending(at.text_input, "name").value == "Warmth"
    assert "traits.edit.warmth" in buttons(press(at, "traits.done"))


def test_traits_are_moved_and_moved_back(workbench: Workbench, client: Traitbench, empty: str) -> None:
    client.traits.add(empty, [TraitInput(name="Clarity"), TraitInput(name="Haste")])
    at = workbench.open("traits", model=empty)
    assert [at.button(key=f"traits.up.{key}").disabled for key in ("warmth", "clarity")] == [True, False]
    press(press(at, "traits.down.warmth"), "traits.down.warmth")
    assert [each.key for each in client.traits.list(empty)] == ["clarity", "haste", "warmth"]
    assert at.button(key="traits.down.warmth").disabled
    press(at, "samples.undo_button")
    assert [each.key for each in client.traits.list(empty)] == ["clarity", "warmth", "haste"]


def test_the_first_edit_of_a_version_in_use_opens_a_draft(workbench: Workbench, client: Traitbench, ready: str) -> None:
    at = press(workbench.open("traits", model=ready), "traits.edit.warmth")
    assert "v1 scores as before until you train." in words(at)
    write(at, positive_label="kind")
    assert client.traits.get(ready, "warmth").positive_label == "warm"
    draft = f"{ready}-next"
    assert client.traits.get(draft, "warmth").positive_label == "kind"
    assert at.selectbox(key="model").value == draft
    said = words(at)
    assert ["is being changed, in your draft" in said, "v1 in use" in said, "your draft" in said] == [True] * 3
    write(at, negative="Curt.")
    assert client.traits.get(draft, "warmth").description == "Cold: Curt."
    assert [each.handle for each in client.models.list(forked_from=ready)] == [draft]
    at = press(press(workbench.open("traits", model=ready), "traits.new"), "traits.not_now")
    say(press(at, "traits.new"), "relaxed", "urgent")
    press(at, "traits.add")
    assert [each.name for each in client.traits.list(draft)] == ["Warmth", "relaxed or urgent"]
    assert len(client.traits.list(ready)) == 1


def test_a_draft_keeps_the_picture_of_the_version_it_was_made_from(
    workbench: Workbench, client: Traitbench, ready: str
) -> None:
    draft = client.models.fork(ready, f"{ready}-next").handle
    at = workbench.open("traits", model=draft)
    assert "**18 of 20** right" in words(at)
    assert "v1 scores as before until you train." in words(at)
    assert "Held-out scores from 0, cold, to 100, warm" in html(at)


def test_the_sides_are_exchanged_with_their_samples_and_back(
    workbench: Workbench, client: Traitbench, ready: str
) -> None:
    at = press(press(workbench.open("traits", model=ready), "traits.edit.warmth"), "traits.flip.warmth")
    draft = f"{ready}-next"
    trait = client.traits.get(draft, "warmth")
    assert (trait.negative_label, trait.positive_label) == ("warm", "cold")
    before = {each.text: each.quality for each in client.samples.list(ready)}
    assert {each.text: 1 - each.quality for each in client.samples.list(draft)} == before
    assert "**18 of 20** right" in words(press(at, "traits.done")), "the picture is turned round too"
    press(at, "samples.undo_button")
    assert client.traits.get(draft, "warmth").negative_label == "cold"
    assert {each.text: each.quality for each in client.samples.list(draft)} == before


def test_a_save_sends_only_fields_that_were_drawn_and_changed() -> None:
    before = Trait.model_construct(
        name="Warmth", description="Warm: kind.", aggregation="max", negative_label="cold", positive_label="warm"
    )
    assert changes_of(before, "name", "Tone") == {"name": "Tone"}
    assert changes_of(before, "name", "Warmth") == {}
    assert changes_of(before, "negative", "curt") == {"description": "Cold: curt. Warm: kind."}
    assert changes_of(before, "positive_label", "kind") == {"positive_label": "kind", "description": "Kind: kind."}


def test_what_is_refused_is_said_and_nothing_is_lost(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = press(workbench.open("traits", model=empty), "traits.edit.warmth")
    write(at, name="")
    assert "This field is required" in words(at)
    write(at, negative_label="x" * 201)
    assert "At most 200 characters" in words(at)
    assert ending(at.text_input, "negative_label").value == "x" * 201
    write(at, negative_label=" ")
    assert "Name this pole" in words(at)
    write(at, negative_label=" Warm")
    assert "Both poles have this name" in words(at)
    assert client.traits.get(empty, "warmth").negative_label == "cold"
    write(at, negative_label="chilly")
    assert client.traits.get(empty, "warmth").negative_label == "chilly"


def test_two_words_that_are_no_opposites_are_said_to_be_none(
    workbench: Workbench, client: Traitbench, new: str
) -> None:
    at = workbench.open("traits", model=new)
    assert "opposites?" in words(say(at, "warm", "Warm"))
    assert "only says what a text is not" in words(say(at, "not warm", "warm"))
    assert at.button(key="traits.add").disabled
    assert not client.traits.list(new)


def test_a_name_of_another_trait_is_said_below_the_field(workbench: Workbench, client: Traitbench, new: str) -> None:
    client.traits.add(new, [TraitInput(name="Warmth"), TraitInput(name="Clarity")])
    at = say(press(workbench.open("traits", model=new), "traits.new"), "vague", "clear")
    at.text_input(key="traits.new_name").set_value("Warmth")
    assert "already has a trait with this name" in words(press(at, "traits.add"))
    at = press(workbench.open("traits", model=new), "traits.edit.clarity")
    assert 'The trait "warmth" already has this name' in plain(write(at, name="Warmth"))
    assert names(client, new) == ["Warmth", "Clarity"]


@pytest.mark.parametrize(
    ("name", "free"), [("C#", "c_2"), ("Warmth", "warmth_2"), ("🙂", "trait")], ids=["letters", "renamed", "no letter"]
)
def test_a_trait_whose_key_is_taken_gets_another(
    workbench: Workbench, client: Traitbench, new: str, name: str, free: str
) -> None:
    """A renamed trait still has the key that the new name would give."""
    client.traits.add(new, [TraitInput(name="C++"), TraitInput(name="Warmth")])
    client.traits.update(new, "warmth", name="Friendliness")
    at = say(press(workbench.open("traits", model=new), "traits.new"), "slow", "fast")
    at.text_input(key="traits.new_name").set_value(name).run()
    assert at.text_input(key="traits.new_key").placeholder == free
    press(at, "traits.add")
    assert client.traits.get(new, free).name == name
    assert names(client, new)[:2] == ["C++", "Friendliness"]


def test_a_key_that_is_typed_never_changes_another_trait(workbench: Workbench, client: Traitbench, new: str) -> None:
    client.traits.add(new, [TraitInput(name="C++")])
    at = say(press(workbench.open("traits", model=new), "traits.new"), "slow", "fast")
    at.text_input(key="traits.new_key").set_value("c")
    assert "Another trait has this name in files" in words(press(at, "traits.add"))
    at.text_input(key="traits.new_key").set_value("not a key")
    assert "letters or digits of any script" in words(press(at, "traits.add"))
    assert names(client, new) == ["C++"]
    at.text_input(key="traits.new_key").set_value("rust")
    press(at, "traits.add")
    assert [trait.key for trait in client.traits.list(new)] == ["c", "rust"]


def test_many_traits_are_a_list_whose_rows_open_as_cards(workbench: Workbench, client: Traitbench, new: str) -> None:
    wild = ["<img src=x onerror=alert(1)>", "**b** $x$", "مرحبا", "👩‍👩‍👧‍👦", "日本語", "| a | b |"]
    client.traits.add(new, [TraitInput(name=name, key=f"t{n}", positive_label=name) for n, name in enumerate(wild)])
    at = workbench.open("traits", model=new)
    assert "6 traits, not trained yet" in words(at)
    [rows] = components(at, "trait_list")
    assert "<img" not in rows["html"]
    assert all(escape(name) in rows["html"] for name in wild)
    assert not [key for key in buttons(at) if key.startswith("traits.edit.")]
    at.session_state["traits.listed"] = "t3"
    assert "traits.edit.t3" in buttons(at.run())
    at.text_input(key="traits.find").set_value("日本").run()
    assert 'data-trait="t4"' in components(at, "trait_list")[0]["html"]
    assert 'data-trait="t3"' not in components(at, "trait_list")[0]["html"]


# ---- deleting --------------------------------------------------------------------------------------------------------


def test_a_deleted_trait_comes_back_with_its_samples(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.samples.update(draft, [client.samples.list(draft).items[0].id], held_out=True)
    before = client.traits.get(draft, "warmth")
    texts = [(each.text, each.quality, each.held_out) for each in client.samples.list(draft)]
    at = remove(workbench.open("traits", model=draft))
    assert "20 samples" in words(at)
    assert len(client.traits.list(draft)) == 1
    press(at, "traits.delete.yes")
    assert not client.traits.list(draft)
    assert "and its 20 samples" in at.toast[0].value
    press(at, "samples.undo_button")
    after = client.traits.get(draft, "warmth")
    assert (after.name, after.positive_label, after.sample_count) == (before.name, before.positive_label, 19)
    assert [(each.text, each.quality, each.held_out) for each in client.samples.list(draft)] == texts


def test_two_tabs_edit_a_trait_and_neither_undoes_the_other(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    at = press(workbench.open("traits", model=draft), "traits.edit.warmth")
    client.traits.update(draft, "warmth", description="How kind it is.", positive_label="kind")
    write(at, name="Kindness")
    now = client.traits.get(draft, "warmth")
    assert (now.name, now.description, now.positive_label) == ("Kindness", "How kind it is.", "kind")


def test_a_field_that_another_tab_changed_is_replaced_only_knowingly(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    at = press(workbench.open("traits", model=draft), "traits.edit.warmth")
    client.traits.update(draft, "warmth", name="Kindness", description="How kind it is.")
    write(at, name="Warm or cold")
    assert "Meanwhile this was changed to “Kindness”" in plain(at)
    assert client.traits.get(draft, "warmth").name == "Kindness"
    press(at, "traits.mine.name")
    now = client.traits.get(draft, "warmth")
    assert (now.name, now.description) == ("Warm or cold", "How kind it is.")


def test_what_another_tab_changed_is_not_deleted_unread(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = remove(workbench.open("traits", model=draft))
    sample = SampleInput(text="Come in, the kettle is on.", trait="warmth", quality=1.0)
    client.samples.add(draft, [sample])
    press(at, "traits.delete.yes")
    assert client.traits.list(draft)
    assert "This has changed meanwhile" in words(at)
    assert "21 samples" in words(at)
    press(at, "traits.delete.yes")
    assert not client.traits.list(draft)


def test_a_model_that_is_busy_refuses(workbench: Workbench, service: Service, client: Traitbench, draft: str) -> None:
    at = remove(workbench.open("traits", model=draft))
    at.button(key="traits.delete.yes").click()
    hold_busy(service.context, draft)
    at.run()
    assert len(client.traits.list(draft)) == 1


# ---- discovery -------------------------------------------------------------------------------------------------------

SUPPORT = next(model for model in demo_models() if model.handle == "demo.support-tone")


@pytest.fixture
def replies(client: Traitbench, empty: str) -> str:
    """A draft with one trait and 200 texts, in which there is more to be found."""
    texts = enumerate(list(dict.fromkeys(sample["text"] for sample in SUPPORT.samples))[:200])
    client.samples.add(empty, [SampleInput(trait="warmth", text=text, quality=float(n % 2)) for n, text in texts])
    return empty


def discover(at: AppTest) -> AppTest:
    press(at, "traits.discover_button")
    at.radio(key="discover.effort").set_value("low").run()
    return press(at, "traits.discover_send")


def test_discovery_says_how_many_texts_it_needs(workbench: Workbench, client: Traitbench, empty: str) -> None:
    client.samples.add(empty, [SampleInput(trait="warmth", text="Thank you!", quality=1.0)])
    at = press(workbench.open("traits", model=empty), "traits.discover_button")
    assert "**20 different texts**; there are 1" in at.warning[0].value
    assert not buttons(at, "traits.discover_send")


def test_traits_are_discovered_in_texts_without_labels(workbench: Workbench, client: Traitbench, new: str) -> None:
    texts = list(dict.fromkeys(sample["text"] for sample in SUPPORT.samples))[:150]
    at = press(workbench.open("traits", model=new), "traits.discover_button")
    at.segmented_control(key="label.bring.from").set_value("Pasted lines").run()
    at.text_area[0].set_value("\n".join(texts)).run()
    press(at, "label.bring.add")
    assert "Reads 150 texts. The service forgets texts without labels afterwards." in words(at)
    effort = at.radio(key="discover.effort")
    assert effort.options == ["Quick", "Normal", "Thorough"]
    effort.set_value("low").run()
    press(at, "traits.discover_send")
    assert client.models.wait(new).last_operation is not None
    found = client.traits.list(new)
    assert found
    assert client.samples.list(new).items == []

    at = workbench.open("traits", model=new)
    typical = {text_hash(text): text for text in texts}[not_none(found[0].discovered).typical.positive[0]]
    assert typical.split(",")[0][:40] in plain(at)
    press(at, f"traits.own.{found[0].key}")
    own = client.traits.list(new)[-1]
    assert (own.kind, own.positive_samples, own.negative_samples) == ("extrinsic", 5, 5)


def test_discovered_traits_can_be_edited(
    workbench: Workbench, client: Traitbench, replies: str, namespace: str
) -> None:
    at = discover(workbench.open("traits", model=replies))
    assert "Discovering traits" in words(at)
    assert client.models.wait(replies).state == "draft"
    at.run()
    results = [trait for trait in client.traits.list(replies) if trait.kind == "intrinsic"]
    assert len(results) > 1
    assert f"{len(results)} discovered trait" in words(at)
    assert f"Decide {len(results)}" in links(workbench.open("model", model=replies))
    assert "Only what you keep becomes a trait." in words(at)
    for trait in results:
        assert f"**Discrimination {not_none(trait.discrimination):.2f}:**" in words(at)
    assert "on held-out texts" in words(at)
    texts = {sample.id: sample.text for sample in client.samples.list(replies)}
    anchors = not_none(results[0].anchor_sample_ids)
    assert texts[anchors.positive[0]].split(",")[0][:40] in plain(at)
    assert "Needs" not in words(at)

    discover(at)
    assert "already ran on these texts with this effort" in at.info[-1].value
    assert at.radio(key="discover.effort").value == "low"

    at = press(workbench.open("traits", model=replies), f"traits.edit.{results[0].key}")
    write(at, name="Money matters")
    press(at, f"traits.dismiss.{results[1].key}")
    left = {trait.key: trait.name for trait in client.traits.list(replies)}
    assert left[results[0].key] == "Money matters"
    assert results[1].key not in left

    client.models.delete(replies)
    at = press(workbench.open("traits", model=replies), "traits.copy")
    at.text_input(key=f"catalog.new_model.{replies}:0.name").set_value("copy")
    press(at, "catalog.create")
    copied = client.traits.list(f"{namespace}.copy")
    assert {trait.key: trait.name for trait in copied} == left
    assert [trait.kind for trait in copied].count("intrinsic") == len(results) - 1


def test_each_decision_about_a_suggestion_can_be_undone(workbench: Workbench, client: Traitbench, replies: str) -> None:
    client.traits.discover(replies, effort="low")
    client.models.wait(replies)
    before = client.traits.list(replies)
    first, *others = (trait for trait in before if trait.kind == "intrinsic")
    at = workbench.open("traits", model=replies)

    press(at, f"traits.flip.{first.key}")
    assert client.traits.get(replies, first.key).positive_label == first.negative_label
    press(at, "samples.undo_button")
    assert client.traits.list(replies) == before

    at.checkbox(key=f"traits.pick.{first.key}").check().run()
    press(at, "traits.dismiss_many")
    assert [trait.key for trait in client.traits.list(replies)] == ["warmth", *(each.key for each in others)]
    press(at, "samples.undo_button")
    assert client.traits.list(replies) == before

    press(at, f"traits.keep.{first.key}")
    assert not suggested(client, replies, first.key)
    press(at, "samples.undo_button")
    assert suggested(client, replies, first.key)

    press(at, f"traits.own.{first.key}")
    own = client.traits.list(replies)[-1]
    assert (own.kind, own.name, own.positive_label) == ("extrinsic", first.name, first.positive_label)
    samples = client.samples.list(replies, trait=own.key)
    assert [each.content_sha256 for each in samples if each.quality == 1] == not_none(first.discovered).typical.positive
    assert (own.positive_samples, own.negative_samples) == (5, 5)
    press(press(at, "traits.done"), "samples.undo_button")
    assert client.traits.list(replies) == before


def suggested(client: Traitbench, handle: str, key: str) -> bool:
    found = not_none(client.traits.get(handle, key).discovered)
    return found.suggestion


def test_a_discovery_that_failed_says_why(workbench: Workbench, service: Service, replies: str) -> None:
    end_badly(service.context, hold_busy(service.context, replies, kind="discover"), "The encoder went away.")
    at = workbench.open("traits", model=replies)
    assert "The discovery that started" in at.error[0].value
    assert "The encoder went away" in at.error[0].value
    assert buttons(at, "traits.discover_button")
