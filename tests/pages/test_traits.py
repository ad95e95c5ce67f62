"""The Traits page: add, edit and delete traits, see their balance; discover traits and decide about them."""

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
    link_query,
    links,
    next_step,
    plain,
    press,
    words,
)
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput, text_hash
from traitbench.contract.traits import Trait, TraitInput
from traitbench.sample_data import demo_models
from traitbench_app.traits.trait_form import changed


def fill(at: AppTest, form: str, **fields: str) -> AppTest:
    """Fill in the form, also the poles that are empty, and save."""
    for pole in ("negative", "positive"):
        if not at.text_input(key=f"{form}.{pole}").value:
            fields = {pole: f"a {pole} word"} | fields
    for name, value in fields.items():
        key = f"{form}.{name}"
        (at.text_area if name == "description" else at.text_input)(key=key).set_value(value)
    return press(at, "traits.save")


def form_of(handle: str, trait: str = "") -> str:
    return f"traits.form.{handle}.{trait}:0"


def names(client: Traitbench, handle: str) -> list[str]:
    return [trait.name for trait in client.traits.list(handle)]


# ---- adding and editing ----------------------------------------------------------------------------------------------


def test_an_empty_model_asks_what_it_should_measure(workbench: Workbench, client: Traitbench, new: str) -> None:
    at = workbench.open("traits", model=new)
    assert "What should this model measure?" in words(at)
    press(at, "traits.first")
    given = {"name": "Plain words", "negative": "jargon", "positive": "plain", "description": "No terms of art."}
    fill(at, form_of(new), **given)
    (trait,) = client.traits.list(new)
    assert (trait.key, trait.name) == ("plain_words", "Plain words")
    assert (trait.negative_label, trait.positive_label, trait.description) == ("jargon", "plain", "No terms of art.")
    assert "Trait added" in at.toast[0].value
    assert "Plain words" in words(at)


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
    assert list(samples.dataframe[0].value["text"]) == list(COLD)[::-1]


def test_a_trained_trait_has_its_strip(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("traits", model=trained.handle)
    assert "Dots are samples, each checked by a model that had not seen it" in words(at)
    assert components(at, "cells")


def test_labels_cannot_smuggle_markup_into_the_drawing(workbench: Workbench, client: Traitbench, new: str) -> None:
    client.traits.add(new, [TraitInput(name="A", positive_label="<img src=x>", negative_label='"><b>')])
    drawn = html(workbench.open("traits", model=new))
    assert "<img" not in drawn
    assert "<b>" not in drawn


def test_an_edit_changes_the_trait_and_keeps_its_key(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = press(workbench.open("traits", model=empty), "traits.edit.warmth")
    assert at.text_input(key=f"{form_of(empty, 'warmth')}.positive").value == "warm"
    fill(at, form_of(empty, "warmth"), name="Friendliness", description="")
    trait = client.traits.get(empty, "warmth")
    assert (trait.name, trait.positive_label, trait.aggregation) == ("Friendliness", "warm", "mean")


def test_a_save_sends_only_fields_that_were_drawn_and_changed() -> None:
    before = Trait.model_construct(name="Warmth", description="Kind.", aggregation="max", positive_label="warm")
    drawn = TraitInput.model_construct(name="Tone", description="Kind.", key="other")
    assert changed(drawn, before) == {"name": "Tone"}


def test_what_is_refused_is_said_and_nothing_is_lost(workbench: Workbench, client: Traitbench, new: str) -> None:
    at, form = press(workbench.open("traits", model=new), "traits.first"), form_of(new)
    fill(at, form, name="", negative="x" * 201, positive="warm")
    assert "This field is required" in words(at)
    assert "At most 200 characters" in words(at)
    assert at.text_input(key=f"{form}.positive").value == "warm"
    fill(at, form, name="Warmth", negative="", positive=" ")
    assert words(at).count("Name this pole") == 2
    fill(at, form, negative="warm", positive=" Warm")
    assert "Both poles have this name" in words(at)
    assert not client.traits.list(new)
    fill(at, form, negative="cold")
    assert client.traits.get(new, "warmth").negative_label == "cold"


def test_what_was_typed_is_there_again_after_cancel(workbench: Workbench, new: str) -> None:
    at, name = press(workbench.open("traits", model=new), "traits.first"), f"{form_of(new)}.name"
    at.text_input(key=name).set_value("Warmth")
    assert not press(at, "traits.cancel").text_input
    assert press(at, "traits.first").text_input(key=name).value == "Warmth"


def test_a_name_of_another_trait_is_said_below_the_field(workbench: Workbench, client: Traitbench, new: str) -> None:
    client.traits.add(new, [TraitInput(name="Warmth"), TraitInput(name="Clarity")])
    at = fill(press(workbench.open("traits", model=new), "traits.new"), form_of(new), name="Warmth")
    assert "already has a trait with this name" in words(at)
    at = press(workbench.open("traits", model=new), "traits.edit.clarity")
    fill(at, form_of(new, "clarity"), name="Warmth")
    assert 'The trait "warmth" already has this name' in words(at)
    assert names(client, new) == ["Warmth", "Clarity"]


@pytest.mark.parametrize(
    ("name", "key", "free", "owner"),
    [("C#", "c", "c_2", "C++"), ("Warmth", "warmth", "warmth_2", "Friendliness")],
    ids=["same letters", "after a rename"],
)
def test_a_trait_whose_key_is_taken_is_offered_another(
    workbench: Workbench, client: Traitbench, new: str, name: str, key: str, free: str, owner: str
) -> None:
    """A renamed trait still has the key that the new name would give."""
    client.traits.add(new, [TraitInput(name="C++"), TraitInput(name="Warmth")])
    client.traits.update(new, "warmth", name="Friendliness")
    at = fill(press(workbench.open("traits", model=new), "traits.new"), form_of(new), name=name)
    assert f'The trait "{owner}" already has the key "{key}"' in plain(at)
    assert at.text_input(key=f"{form_of(new)}.key").value == free
    assert names(client, new) == ["C++", "Friendliness"]
    press(at, "traits.save")
    assert client.traits.get(new, free).name == name
    assert names(client, new)[:2] == ["C++", "Friendliness"]


def test_a_key_that_is_typed_never_changes_another_trait(workbench: Workbench, client: Traitbench, new: str) -> None:
    client.traits.add(new, [TraitInput(name="C++")])
    at, form = press(workbench.open("traits", model=new), "traits.new"), form_of(new)
    assert "Another trait has this key" in words(fill(at, form, name="Rust", key="c"))
    assert "letters or digits of any script" in words(fill(at, form, key="not a key"))
    assert names(client, new) == ["C++"]
    fill(at, form, key="rust")
    assert [trait.key for trait in client.traits.list(new)] == ["c", "rust"]


# ---- deleting --------------------------------------------------------------------------------------------------------


def test_a_deleted_trait_comes_back_with_its_samples(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.samples.update(draft, [client.samples.list(draft).items[0].id], held_out=True)
    before = client.traits.get(draft, "warmth")
    texts = [(each.text, each.quality, each.held_out) for each in client.samples.list(draft)]
    at = press(workbench.open("traits", model=draft), "traits.delete.warmth")
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
    ending(at.text_input, "name").set_value("Kindness")
    press(at, "traits.save")
    now = client.traits.get(draft, "warmth")
    assert (now.name, now.description, now.positive_label) == ("Kindness", "How kind it is.", "kind")


def test_a_field_that_another_tab_changed_is_replaced_only_knowingly(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    at = press(workbench.open("traits", model=draft), "traits.edit.warmth")
    client.traits.update(draft, "warmth", name="Kindness", description="How kind it is.")
    ending(at.text_input, "name").set_value("Warm or cold")
    press(at, "traits.save")
    assert "Meanwhile this was changed to “Kindness”" in plain(at)
    assert client.traits.get(draft, "warmth").name == "Kindness"
    press(at, "traits.save")
    now = client.traits.get(draft, "warmth")
    assert (now.name, now.description) == ("Warm or cold", "How kind it is.")


def test_what_another_tab_changed_is_not_deleted_unread(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = press(workbench.open("traits", model=draft), "traits.delete.warmth")
    sample = SampleInput(text="Come in, the kettle is on.", trait="warmth", quality=1.0)
    client.samples.add(draft, [sample])
    press(at, "traits.delete.yes")
    assert client.traits.list(draft)
    assert "This has changed meanwhile" in words(at)
    assert "21 samples" in words(at)
    press(at, "traits.delete.yes")
    assert not client.traits.list(draft)


def test_a_model_that_is_busy_refuses(workbench: Workbench, service: Service, client: Traitbench, draft: str) -> None:
    at = press(workbench.open("traits", model=draft), "traits.delete.warmth")
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
    fill(at, form_of(replies, results[0].key), name="Money matters")
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
    press(press(at, "traits.cancel"), "samples.undo_button")
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
