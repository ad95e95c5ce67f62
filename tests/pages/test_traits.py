"""The Traits page: add, edit and delete traits, see their balance; a trained model can be looked at and copied."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import Service, Trained, make_draft
from tests.pages.drive import Workbench, end_badly, hold_busy, links, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput, text_hash
from traitbench.contract.traits import TraitInput
from traitbench.sample_data import demo_models


@pytest.fixture
def handle(client: Traitbench, namespace: str) -> str:
    """An empty draft."""
    return client.models.create(f"{namespace}.tone").handle


def fill(at: AppTest, form: str, **fields: str) -> AppTest:
    for pole in ("negative", "positive"):
        if not at.text_input(key=f"{form}.{pole}").value:
            fields = {pole: f"a {pole} word"} | fields
    for name, value in fields.items():
        key = f"{form}.{name}"
        (at.text_area if name == "description" else at.text_input)(key=key).set_value(value)
    return at.button(key="traits.save").click().run()


def drawn(at: AppTest) -> str:
    return "\n".join(element.proto.body for element in at.get("html"))


def test_an_empty_model_asks_what_it_should_measure(workbench: Workbench, client: Traitbench, handle: str) -> None:
    at = workbench.open("traits", model=handle)
    assert "What should this model measure?" in words(at)
    at.button(key="traits.first").click().run()
    fill(
        at,
        f"traits.form.{handle}.:0",
        name="Plain words",
        negative="jargon",
        positive="plain",
        description="No terms of art.",
    )
    assert client.traits.list(handle)[0].model_dump(include={"key", "name", "negative_label", "positive_label"}) == {
        "key": "plain_words",
        "name": "Plain words",
        "negative_label": "jargon",
        "positive_label": "plain",
    }
    assert "Trait added" in at.toast[0].value
    assert "Plain words" in words(at)


def test_what_is_missing_to_train_is_said_by_trait(workbench: Workbench, client: Traitbench, handle: str) -> None:
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    client.samples.add(handle, [SampleInput(trait="warmth", text="Thank you!", quality=1.0)])
    at = workbench.open("traits", model=handle)
    assert "needs at least one sample that is *cold*" in words(at)
    assert "1 at warm" in drawn(at)
    assert "0 at cold" in drawn(at)


def test_balance_is_drawn_with_counts(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    make_draft(client, f"{namespace}.full")
    client.samples.add(f"{namespace}.full", [SampleInput(trait="warmth", text="Hm.", quality=0.5)])
    at = workbench.open("traits", model=f"{namespace}.full")
    assert "Samples: 10 at cold, 10 at warm, 1 in between" in drawn(at)
    assert "needs" not in words(at)
    assert "Train this model" in links(at)


def test_labels_cannot_smuggle_markup_into_the_drawing(workbench: Workbench, client: Traitbench, handle: str) -> None:
    client.traits.add(handle, [TraitInput(name="A", positive_label="<img src=x>", negative_label='"><b>')])
    assert "<img" not in drawn(workbench.open("traits", model=handle))
    assert "<b>" not in drawn(workbench.open("traits", model=handle))


def test_an_edit_changes_the_trait_and_keeps_its_key(workbench: Workbench, client: Traitbench, handle: str) -> None:
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    at = workbench.open("traits", model=handle)
    at.button(key="traits.edit.warmth").click().run()
    assert at.text_input(key=f"traits.form.{handle}.warmth:0.positive").value == "warm"
    fill(at, f"traits.form.{handle}.warmth:0", name="Friendliness", description="")
    trait = client.traits.get(handle, "warmth")
    assert (trait.name, trait.positive_label, trait.aggregation) == ("Friendliness", "warm", "mean")


def test_what_the_service_refuses_stands_below_its_field_and_nothing_typed_is_lost(
    workbench: Workbench, client: Traitbench, handle: str
) -> None:
    at = workbench.open("traits", model=handle)
    at.button(key="traits.first").click().run()
    form = f"traits.form.{handle}.:0"
    fill(at, form, name="", negative="x" * 201, positive="warm")
    assert "This field is required" in words(at)
    assert "At most 200 characters" in words(at)
    assert at.text_input(key=f"{form}.positive").value == "warm"
    fill(at, form, name="Warmth", negative="cold")
    assert client.traits.get(handle, "warmth").positive_label == "warm"


def test_poles_need_two_different_names(workbench: Workbench, client: Traitbench, handle: str) -> None:
    at = workbench.open("traits", model=handle)
    at.button(key="traits.first").click().run()
    form = f"traits.form.{handle}.:0"
    fill(at, form, name="Warmth", negative="", positive=" ")
    assert words(at).count("Name this pole") == 2
    fill(at, form, negative="warm", positive=" Warm")
    assert "Both poles have this name" in words(at)
    assert not client.traits.list(handle)
    fill(at, form, negative="cold")
    assert client.traits.get(handle, "warmth").negative_label == "cold"


def test_what_was_typed_is_there_again_after_cancel(workbench: Workbench, handle: str) -> None:
    at = workbench.open("traits", model=handle)
    at.button(key="traits.first").click().run()
    form = f"traits.form.{handle}.:0"
    at.text_input(key=f"{form}.name").set_value("Warmth")
    at.button(key="traits.cancel").click().run()
    assert not at.text_input
    at.button(key="traits.first").click().run()
    assert at.text_input(key=f"{form}.name").value == "Warmth"


def test_a_name_that_another_trait_has_is_said_below_the_field(
    workbench: Workbench, client: Traitbench, handle: str
) -> None:
    client.traits.add(handle, [TraitInput(name="Warmth"), TraitInput(name="Clarity")])
    at = workbench.open("traits", model=handle)
    at.button(key="traits.new").click().run()
    fill(at, f"traits.form.{handle}.:0", name="Warmth")
    assert "already has a trait with this name" in words(at)
    at = workbench.open("traits", model=handle)
    at.button(key="traits.edit.clarity").click().run()
    fill(at, f"traits.form.{handle}.clarity:0", name="Warmth")
    assert 'The trait "warmth" already has this name' in words(at)
    assert [trait.name for trait in client.traits.list(handle)] == ["Warmth", "Clarity"]


def test_a_new_trait_whose_name_gives_a_taken_key_is_offered_a_free_one(
    workbench: Workbench, client: Traitbench, handle: str
) -> None:
    """Also after a rename: the renamed trait still has the key that the new name would give."""
    client.traits.add(handle, [TraitInput(name="C++"), TraitInput(name="Warmth")])
    client.traits.update(handle, "warmth", name="Friendliness")
    for place, (name, key, free, owner) in enumerate(
        [("C#", "c", "c_2", "C++"), ("Warmth", "warmth", "warmth_2", "Friendliness")]
    ):
        at = workbench.open("traits", model=handle)
        at.button(key="traits.new").click().run()
        form = f"traits.form.{handle}.:0"
        fill(at, form, name=name)
        assert f'The trait "{owner}" already has the key "{key}"'.replace("+", "\\+") in words(at).replace("\\_", "_")
        assert at.text_input(key=f"{form}.key").value == free
        assert len(client.traits.list(handle)) == 2 + place
        at.button(key="traits.save").click().run()
        assert client.traits.get(handle, free).name == name
    assert [trait.name for trait in client.traits.list(handle)][:2] == ["C++", "Friendliness"]


def test_a_key_that_is_typed_never_changes_another_trait(workbench: Workbench, client: Traitbench, handle: str) -> None:
    client.traits.add(handle, [TraitInput(name="C++")])
    at = workbench.open("traits", model=handle)
    at.button(key="traits.new").click().run()
    form = f"traits.form.{handle}.:0"
    fill(at, form, name="Rust", key="c")
    assert "Another trait has this key" in words(at)
    fill(at, form, key="not a key")
    assert "letters or digits of any script" in words(at)
    assert [trait.name for trait in client.traits.list(handle)] == ["C++"]
    fill(at, form, key="rust")
    assert [trait.key for trait in client.traits.list(handle)] == ["c", "rust"]


def test_a_trait_goes_only_after_the_question_which_names_its_samples(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    make_draft(client, f"{namespace}.full")
    at = workbench.open("traits", model=f"{namespace}.full")
    at.button(key="traits.delete.warmth").click().run()
    assert "20 samples" in words(at)
    assert len(client.traits.list(f"{namespace}.full")) == 1
    at.button(key="traits.delete.yes").click().run()
    assert not client.traits.list(f"{namespace}.full")
    assert "and its 20 samples" in at.toast[0].value


def test_a_deleted_trait_comes_back_with_its_samples(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    make_draft(client, f"{namespace}.full")
    before = client.traits.get(f"{namespace}.full", "warmth")
    client.samples.update(f"{namespace}.full", [client.samples.list(f"{namespace}.full").items[0].id], held_out=True)
    texts = [(each.text, each.quality, each.held_out) for each in client.samples.list(f"{namespace}.full")]
    at = workbench.open("traits", model=f"{namespace}.full")
    at.button(key="traits.delete.warmth").click().run()
    at.button(key="traits.delete.yes").click().run()
    at.button(key="samples.undo_button").click().run()
    after = client.traits.get(f"{namespace}.full", "warmth")
    assert (after.name, after.positive_label, after.sample_count) == (before.name, before.positive_label, 19)
    assert [(each.text, each.quality, each.held_out) for each in client.samples.list(f"{namespace}.full")] == texts


def test_a_trained_model_is_read_only_with_the_reason_and_the_way_out(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("traits", model=trained.handle)
    assert "frozen in v1" in words(at)
    assert at.button(key="traits.copy")
    assert not [button for button in at.button if str(button.key).startswith(("traits.edit", "traits.delete"))]


def test_a_busy_model_is_read_only_for_the_moment(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    make_draft(client, f"{namespace}.full")
    hold_busy(service.context, f"{namespace}.full", None)
    at = workbench.open("traits", model=f"{namespace}.full")
    assert "Read only for now" in words(at)
    assert "Training" in words(at)


def test_a_model_that_became_busy_meanwhile_refuses_with_the_way_out(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.full"
    make_draft(client, handle)
    at = workbench.open("traits", model=handle)
    at.button(key="traits.delete.warmth").click().run()
    at.button(key="traits.delete.yes").click()
    hold_busy(service.context, handle, None)
    at.run()
    assert not at.exception
    assert len(client.traits.list(handle)) == 1


# ---- discovery ---------------------------------------------------------------------------------------------------


@pytest.fixture
def replies(client: Traitbench, namespace: str) -> str:
    """A draft with one trait and 120 texts, in which there is more to be found."""
    handle = client.models.create(f"{namespace}.replies").handle
    demo = next(model for model in demo_models() if model.handle == "demo.support-tone")
    trait = demo.samples[0]["trait"]
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold", key="warmth")])
    texts = {each["text"]: each["quality"] for each in demo.samples if each["trait"] == trait}
    client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=texts[text]) for text in texts])
    return handle


def discover(at: AppTest, effort: str = "low") -> AppTest:
    at.button(key="traits.discover_button").click().run()
    at.radio(key="discover.effort").set_value(effort).run()
    return at.button(key="traits.discover_send").click().run()


def test_discovery_says_what_it_needs_when_there_are_too_few_texts(
    workbench: Workbench, client: Traitbench, handle: str
) -> None:
    client.traits.add(handle, [TraitInput(name="Warmth")])
    client.samples.add(handle, [SampleInput(trait="warmth", text="Thank you!", quality=1.0)])
    at = workbench.open("traits", model=handle)
    at.button(key="traits.discover_button").click().run()
    assert "**20 different texts**; there are 1" in at.warning[0].value
    assert "traits.discover_send" not in [button.key for button in at.button]


def test_a_model_without_traits_discovers_them_in_texts_without_labels(
    workbench: Workbench, client: Traitbench, handle: str
) -> None:
    demo = next(model for model in demo_models() if model.handle == "demo.support-tone")
    texts = list(dict.fromkeys(sample["text"] for sample in demo.samples))[:150]
    at = workbench.open("traits", model=handle)
    at.button(key="traits.discover_button").click().run()
    at.segmented_control(key="label.bring.from").set_value("Pasted lines").run()
    at.text_area[0].set_value("\n".join(texts)).run()
    at.button(key="label.bring.add").click().run()
    assert "Reads 150 texts. The service forgets texts without labels afterwards." in words(at)
    assert "Takes about" in words(at)
    at.radio(key="discover.effort").set_value("low").run()
    at.button(key="traits.discover_send").click().run()
    assert client.models.wait(handle).last_operation is not None
    found = client.traits.list(handle)
    assert found
    assert client.samples.list(handle).items == []

    at = workbench.open("traits", model=handle)
    assert found[0].discovered is not None
    typical = {text_hash(text): text for text in texts}[found[0].discovered.typical.positive[0]]
    assert typical.split(",")[0][:40] in words(at).replace("\\", "")
    at.button(key=f"traits.own.{found[0].key}").click().run()
    own = client.traits.list(handle)[-1]
    assert (own.kind, own.positive_samples, own.negative_samples) == ("extrinsic", 5, 5)


def test_what_is_discovered_is_shown_with_its_figures_and_typical_texts_edited_and_copied(
    workbench: Workbench, client: Traitbench, replies: str
) -> None:
    at = discover(workbench.open("traits", model=replies))
    assert "Discovering traits" in words(at)
    assert client.models.wait(replies).state == "draft"
    at.run()
    results = [trait for trait in client.traits.list(replies) if trait.kind == "intrinsic"]
    assert results
    result = words(at)
    assert f"{len(results)} discovered trait" in result
    assert "Keep what you want to measure" in result
    for trait in results:
        assert trait.discrimination is not None
        assert f"**Discrimination {trait.discrimination:.2f}:**" in result
        assert "on held-out texts" in result
    texts = {sample.id: sample.text for sample in client.samples.list(replies)}
    anchors = results[0].anchor_sample_ids
    assert anchors is not None
    assert texts[anchors.positive[0]].split(",")[0][:40] in result.replace("\\", "")
    assert "needs at least one sample" not in result

    discover(at)
    assert "already ran on these texts with this effort" in at.info[-1].value
    assert at.radio(key="discover.effort").value == "low"

    at = workbench.open("traits", model=replies)
    at.button(key=f"traits.edit.{results[0].key}").click().run()
    fill(at, f"traits.form.{replies}.{results[0].key}:0", name="Money matters")
    at.button(key=f"traits.dismiss.{results[1].key}").click().run()
    left = {trait.key: trait.name for trait in client.traits.list(replies)}
    assert left[results[0].key] == "Money matters"
    assert results[1].key not in left

    client.models.delete(replies)
    at = workbench.open("traits", model=replies)
    at.button(key="traits.copy").click().run()
    at.text_input(key=f"catalog.new_model.{replies}:0.name").set_value("copy")
    at.button(key="catalog.create").click().run()
    copied = client.traits.list(f"{replies.split('.')[0]}.copy")
    assert {trait.key: trait.name for trait in copied} == left
    assert [trait.kind for trait in copied].count("intrinsic") == len(results) - 1


def test_suggestions_are_flipped_dismissed_kept_and_turned_into_a_trait_and_each_step_is_undone(
    workbench: Workbench, client: Traitbench, replies: str
) -> None:
    client.traits.discover(replies, effort="low")
    client.models.wait(replies)
    before = client.traits.list(replies)
    first, second = (trait for trait in before if trait.kind == "intrinsic")

    at = workbench.open("traits", model=replies)
    at.button(key=f"traits.flip.{first.key}").click().run()
    assert client.traits.get(replies, first.key).positive_label == first.negative_label
    at.button(key="samples.undo_button").click().run()
    assert client.traits.list(replies) == before

    at.checkbox(key=f"traits.pick.{first.key}").check().run()
    at.button(key="traits.dismiss_many").click().run()
    assert [trait.key for trait in client.traits.list(replies)] == ["warmth", second.key]
    at.button(key="samples.undo_button").click().run()
    assert client.traits.list(replies) == before

    at.button(key=f"traits.keep.{first.key}").click().run()
    assert not suggested(client, replies, first.key)
    at.button(key="samples.undo_button").click().run()
    assert suggested(client, replies, first.key)

    at.button(key=f"traits.own.{first.key}").click().run()
    own = client.traits.list(replies)[-1]
    assert (own.kind, own.name, own.positive_label) == ("extrinsic", first.name, first.positive_label)
    assert first.discovered is not None
    samples = client.samples.list(replies, trait=own.key)
    assert [each.content_sha256 for each in samples if each.quality == 1] == first.discovered.typical.positive
    assert (own.positive_samples, own.negative_samples) == (5, 5)
    at.button(key="traits.cancel").click().run()
    at.button(key="samples.undo_button").click().run()
    assert client.traits.list(replies) == before


def suggested(client: Traitbench, handle: str, key: str) -> bool:
    found = client.traits.get(handle, key).discovered
    assert found is not None
    return found.suggestion


def test_a_discovery_that_failed_says_why(
    workbench: Workbench, service: Service, client: Traitbench, replies: str
) -> None:
    run_id = hold_busy(service.context, replies, None, kind="discover")
    end_badly(service.context, run_id, "The encoder went away.")
    at = workbench.open("traits", model=replies)
    assert "The discovery that started" in at.error[0].value
    assert "The encoder went away" in at.error[0].value
    assert at.button(key="traits.discover_button")
