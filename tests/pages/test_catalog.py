"""The Catalog page: what there is, how good it is, filters in the address; a model begins and ends here."""

from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import Service, Trained, make_draft
from tests.pages.drive import Workbench, copied_link, words
from traitbench.client import Traitbench
from traitbench.contract.bundles import digest
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.display.standing import standing


@pytest.fixture
def own_workbench(monkeypatch: pytest.MonkeyPatch, service: Service, namespace: str) -> Workbench:
    """Of somebody who sees nothing but her own namespace."""
    return Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)))


def opened(at: AppTest) -> set[str]:
    """The handles of the models on the page."""
    rows = (str(button.key) for button in at.button)
    restorable = {row.removeprefix("catalog.restore.") for row in rows if row.startswith("catalog.restore.")}
    return restorable | {model for model, _ in open_links(at)}


def open_links(at: AppTest) -> set[tuple[str, str]]:
    """The models that can be opened, and on which page."""
    result = set()
    for link in at.get("page_link"):
        query = dict(parse_qsl(link.proto.query_string))
        if "model" in query:
            result.add((query["model"], link.proto.page))
    return result


def create(at: AppTest, name: str, description: str = "") -> AppTest:
    at.button(key="catalog.new_button").click().run()
    at.text_input(key="catalog.new_model:0.name").set_value(name)
    at.text_area(key="catalog.new_model:0.description").set_value(description)
    return at.button(key="catalog.create").click().run()


def test_a_newcomer_is_offered_three_ways_to_begin(
    own_workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    at = own_workbench.open("catalog")
    assert all(way in words(at) for way in ("Teach your own", "Import a file and label it"))
    assert not at.text_input, "there is nothing to filter"
    assert "0 models" not in words(at)
    at.button(key="catalog.first_label").click().run()
    at.text_input(key="catalog.new_model:0.name").set_value("Customer Mood!")
    at.text_input(key="catalog.new_model:0.negative_label").set_value("angry")
    at.button(key="catalog.create").click().run()
    assert "Name this side" in words(at)
    at.text_input(key="catalog.new_model:0.positive_label").set_value("calm")
    at.button(key="catalog.create").click().run()
    (trait,) = client.traits.list(f"{namespace}.customer-mood")
    assert (trait.positive_label, trait.negative_label) == ("calm", "angry")
    assert [title.value for title in at.title] == ["Label"]
    assert "Teach your own" not in words(own_workbench.open("catalog"))


def test_a_new_model_with_poles_goes_on_to_its_samples(
    own_workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    at = own_workbench.open("catalog")
    at.button(key="catalog.new_button").click().run()
    at.text_input(key="catalog.new_model:0.negative_label").set_value("cold")
    at.text_input(key="catalog.new_model:0.name").set_value("greetings")
    at.button(key="catalog.create").click().run()
    assert "Name this side" in words(at)
    at.text_input(key="catalog.new_model:0.positive_label").set_value("warm")
    at.button(key="catalog.create").click().run()
    assert [trait.name for trait in client.traits.list(f"{namespace}.greetings")] == ["warm or cold"]
    assert [field.label for field in at.text_area] == ["▼ cold", "▲ warm"]


def test_a_trained_model_shows_how_good_it_is_and_on_what(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("catalog")
    shown = standing(trained.client.versions.get(trained.handle), None)
    assert shown is not None
    assert f"**{shown.figure}** AUROC" in words(at)
    assert "20 samples" in words(at)
    figure = next(element for element in at.markdown if "AUROC" in element.value)
    measured = trained.client.versions.get(trained.handle).metrics.traits["warmth"].measured_on
    assert measured is not None
    assert measured.split(",")[0].replace("-", r"\-") in figure.proto.help
    assert "v1, trained" in words(at)


def test_a_created_model_is_there_chosen_and_opened_on_its_traits(
    own_workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    at = create(own_workbench.open("catalog"), "tone", "How it sounds.")
    assert client.models.get(f"{namespace}.tone").description == "How it sounds."
    assert [title.value for title in at.title] == ["Traits"]
    assert at.selectbox(key="model").value == f"{namespace}.tone"
    assert "was created" in at.toast[0].value


@pytest.mark.parametrize(
    ("typed", "name"),
    [("Customer Mood!", "customer-mood"), ("-Größe_2.", "grosse_2"), ("x" * 65, "x" * 64), ("tone-", "tone-")],
)
def test_a_name_is_made_from_what_is_typed(
    own_workbench: Workbench, client: Traitbench, namespace: str, typed: str, name: str
) -> None:
    create(own_workbench.open("catalog"), typed)
    assert [model.handle for model in client.models.list(namespace=namespace)] == [f"{namespace}.{name}"]


def test_what_is_typed_waits_in_a_dialog_that_was_closed(own_workbench: Workbench) -> None:
    at = own_workbench.open("catalog")
    at.button(key="catalog.new_button").click().run()
    at.text_input(key="catalog.new_model:0.name").set_value("Customer mood").run()
    at.session_state["catalog.new"] = None  # what the browser's click outside does
    at.run()
    at.button(key="catalog.new_button").click().run()
    assert at.text_input(key="catalog.new_model:0.name").value == "Customer mood"


@pytest.mark.parametrize("name", ["", "!?", "温"])
def test_a_name_against_the_grammar_is_said_below_the_field(
    own_workbench: Workbench, client: Traitbench, namespace: str, name: str
) -> None:
    at = create(own_workbench.open("catalog"), name, "What I typed.")
    assert "Use lowercase letters" in words(at).replace("\\", "")
    assert at.text_area(key="catalog.new_model:0.description").value == "What I typed."
    assert not list(client.models.list(namespace=namespace))


def test_a_name_that_is_taken_is_said_below_the_field_and_can_be_changed(
    own_workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    client.models.create(f"{namespace}.tone")
    at = create(own_workbench.open("catalog"), "tone", "What I typed.")
    assert "perhaps an archived one" in words(at)
    at.text_input(key="catalog.new_model:0.name").set_value("tone-2")
    at.button(key="catalog.create").click().run()
    assert client.models.get(f"{namespace}.tone-2").description == "What I typed."


def test_what_the_service_refuses_stands_below_its_field(own_workbench: Workbench) -> None:
    at = create(own_workbench.open("catalog"), "tone", "x" * 2_001)
    assert "At most 2,000 characters; this has 2,001" in words(at).replace("\\", "")
    assert len(at.text_area(key="catalog.new_model:0.description").value or "") == 2_001


def test_filters_come_from_the_link_and_go_into_the_copied_one(
    workbench: Workbench, client: Traitbench, trained: Trained, namespace: str
) -> None:
    client.models.create(f"{namespace}.one", description="About apples.")
    client.models.create(f"{namespace}.two", description="About pears.")
    at = workbench.open("catalog", q="apples")
    assert opened(at) == {f"{namespace}.one"}
    assert copied_link(at) == {"q": "apples"}
    at.text_input(key="q").set_value("")
    at.selectbox(key="state").set_value("ready").run()
    assert opened(at) == {trained.handle}
    assert copied_link(at) == {"state": "Ready"}
    at.selectbox(key="state").set_value(None)
    at.selectbox(key="namespace").set_value(namespace).run()
    assert opened(at) == {f"{namespace}.one", f"{namespace}.two"}


def test_filters_that_match_nothing_can_be_cleared(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("catalog", q="nothing has this in it")
    assert "No models match" in words(at)
    at.button(key="catalog.clear").click().run()
    assert trained.handle in opened(at)


def test_a_model_is_archived_only_after_the_question(
    own_workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    client.models.create(f"{namespace}.tone")
    at = own_workbench.open("catalog")
    archive(at, f"{namespace}.tone")
    assert client.models.get(f"{namespace}.tone").state == "draft"
    at.button(key="catalog.archive.no").click().run()
    assert client.models.get(f"{namespace}.tone").state == "draft"
    archive(at, f"{namespace}.tone").button(key="catalog.archive.yes").click().run()
    assert client.models.get(f"{namespace}.tone").state == "archived"
    assert not opened(at)
    at.selectbox(key="state").set_value("archived").run()
    # Public models that other tests have archived are listed too.
    assert {each for each in opened(at) if not each.startswith("demo.")} == {f"{namespace}.tone"}
    at.button(key=f"catalog.restore.{namespace}.tone").click().run()
    assert client.models.get(f"{namespace}.tone").state == "draft"


def archive(at: AppTest, handle: str) -> AppTest:
    """Ask for it in the menu of a model."""
    menu: Any = next(each for each in at.get("menu_button") if str(each.key).endswith(handle))
    return menu.click_index(0).run()  # type: ignore[no-any-return]


def test_archiving_can_be_undone_at_once(own_workbench: Workbench, client: Traitbench, namespace: str) -> None:
    client.models.create(f"{namespace}.tone")
    at = archive(own_workbench.open("catalog"), f"{namespace}.tone").button(key="catalog.archive.yes").click().run()
    at.button(key="archive.undo_yes").click().run()
    assert client.models.get(f"{namespace}.tone").state == "draft"
    assert opened(at) == {f"{namespace}.tone"}
    assert "archive.undo_yes" not in [button.key for button in at.button]


def test_little_evidence_never_comes_before_much(
    own_workbench: Workbench, client: Traitbench, trained: Trained, namespace: str
) -> None:
    bundle = trained.client.models.export(trained.handle)
    for name, auroc, interval in (("few", 0.98, [0.76, 1.0]), ("many", 0.93, [0.92, 0.94])):
        figures = bundle.versions[0].metrics["traits"]["warmth"] | {"auroc": auroc, "auroc_interval": interval}
        metrics = bundle.versions[0].metrics | {"traits": {"warmth": figures}}
        changed = bundle.model_copy(update={"versions": [bundle.versions[0].model_copy(update={"metrics": metrics})]})
        client.models.import_(changed.model_copy(update={"sha256": digest(changed)}), handle=f"{namespace}.{name}")
    at = own_workbench.open("catalog", sort="Quality")
    figures = [element.value for element in at.markdown if element.value.endswith("AUROC")]
    assert figures == ["**0.93** AUROC", "**0.76 to 1.00** AUROC"]


def test_open_leads_to_what_comes_next(workbench: Workbench, trained: Trained) -> None:
    assert (trained.handle, "score") in open_links(workbench.open("catalog"))


def test_a_scoring_key_can_look_but_not_create(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, namespace: str
) -> None:
    client.models.create(f"{namespace}.tone")
    at = Workbench(monkeypatch, service, service.issue("scoring", (namespace,))).open("catalog")
    assert opened(at) == {f"{namespace}.tone"}
    assert at.button(key="catalog.new_button").disabled
    assert "authoring" in at.button(key="catalog.new_button").help


def test_a_copy_is_a_draft_with_the_same_traits_and_samples(
    workbench: Workbench, client: Traitbench, trained: Trained, namespace: str
) -> None:
    at = workbench.open("traits", model=trained.handle)
    at.button(key="traits.copy").click().run()
    at.selectbox(key="catalog.new_namespace").set_value(namespace)
    at.text_input(key=f"catalog.new_model.{trained.handle}:0.name").set_value("copy")
    at.button(key="catalog.create").click().run()
    copy = f"{namespace}.copy"
    assert client.models.get(copy).state == "draft"
    assert client.models.get(copy).description == trained.client.models.get(trained.handle).description
    assert inputs_of(client, copy) == inputs_of(trained.client, trained.handle)
    assert at.selectbox(key="model").value == copy


def inputs_of(client: Traitbench, handle: str) -> tuple[list[TraitInput], list[SampleInput]]:
    traits = [
        TraitInput(**trait.model_dump(include=set(TraitInput.model_fields))) for trait in client.traits.list(handle)
    ]
    samples = [
        SampleInput(trait=each.trait, text=each.text, quality=each.quality) for each in client.samples.list(handle)
    ]
    return traits, samples


def test_many_models_are_shown_a_page_at_a_time(own_workbench: Workbench, client: Traitbench, namespace: str) -> None:
    for number in range(27):
        client.models.create(f"{namespace}.m{number:02}")
    at = own_workbench.open("catalog")
    assert len(opened(at)) == 25
    assert "27 models" in words(at)


def test_a_draft_with_samples_is_not_said_to_be_good(
    own_workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    make_draft(client, f"{namespace}.tone")
    at = own_workbench.open("catalog")
    assert "Not trained yet" in words(at)
    assert "AUROC" not in words(at)


# ---- export, import ----------------------------------------------------------------------------------------------


def bring_in(at: AppTest, file: str, *, namespace: str = "", name: str = "") -> AppTest:
    at.button(key="catalog.import_button").click().run()
    at.file_uploader[0].upload("model.json", file.encode())
    at.run()
    if name:
        at.selectbox(key="catalog.new_namespace").set_value(namespace)
        at.text_input(key=next(str(box.key) for box in at.text_input if str(box.key).endswith(".name"))).set_value(name)
        at.button(key="catalog.import_send").click().run()
    return at


def exported(trained: Trained) -> str:
    return trained.client.models.export(trained.handle).model_dump_json()


def test_an_exported_model_comes_in_under_another_name(
    workbench: Workbench, client: Traitbench, trained: Trained, namespace: str
) -> None:
    at = bring_in(workbench.open("catalog"), exported(trained))
    assert "1 trait, 20 samples, 1 version" in words(at)
    bring_in(at, exported(trained), namespace=namespace, name="copy")
    model = client.models.get(f"{namespace}.copy")
    assert (model.state, model.version_no) == ("ready", 1)
    text = "How lovely to see you."
    assert client.scores.score(model.handle, text).scores == trained.client.scores.score(trained.handle, text).scores
    assert [title.value for title in at.title] == ["Model"]
    assert at.selectbox(key="model").value == model.handle


def test_a_file_that_was_changed_is_refused_with_the_reason(
    workbench: Workbench, client: Traitbench, trained: Trained, namespace: str
) -> None:
    tampered = exported(trained).replace("Thank you so much", "Thanks a lot")
    at = bring_in(workbench.open("catalog"), tampered, namespace=namespace, name="copy")
    assert "changed since it was exported" in at.error[0].value
    assert not list(client.models.list(namespace=namespace))


@pytest.mark.parametrize(
    ("file", "reason"), [("no json", "not valid JSON"), ("{}", "not an exported model"), ("", "not valid JSON")]
)
def test_a_file_that_holds_no_model_is_said(own_workbench: Workbench, file: str, reason: str) -> None:
    at = bring_in(own_workbench.open("catalog"), file)
    assert reason in at.error[0].value
    assert "catalog.import_send" not in [button.key for button in at.button]


def test_a_name_that_is_taken_by_an_import_is_said_below_the_field(
    workbench: Workbench, client: Traitbench, trained: Trained, namespace: str
) -> None:
    client.models.create(f"{namespace}.tone")
    at = bring_in(workbench.open("catalog"), exported(trained), namespace=namespace, name="tone")
    assert "perhaps an archived one" in words(at)
    at.text_input(key=next(str(box.key) for box in at.text_input if str(box.key).endswith(".name"))).set_value("tone-2")
    at.button(key="catalog.import_send").click().run()
    assert client.models.get(f"{namespace}.tone-2").state == "ready"


# ---- zero retention, all about a model ---------------------------------------------------------------------------


def test_models_under_zero_retention_bear_a_badge(own_workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = client.models.create(f"{namespace}.tone").handle
    assert "Zero retention" not in words(own_workbench.open("catalog"))
    client.models.update(handle, zero_data_retention=True)
    assert "Zero retention" in words(own_workbench.open("catalog"))


def test_the_name_of_a_model_leads_to_all_about_it(workbench: Workbench, trained: Trained) -> None:
    assert (trained.handle, "model") in open_links(workbench.open("catalog"))


def test_a_copy_keeps_where_samples_came_from(own_workbench: Workbench, client: Traitbench, namespace: str) -> None:
    source = f"{namespace}.source"
    make_draft(client, f"{namespace}.first")
    written = client.models.export(f"{namespace}.first")
    samples = [each.model_copy(update={"provenance": "synthesized"}) for each in written.samples or ()]
    doctored = written.model_copy(update={"samples": samples})
    client.models.import_(doctored.model_copy(update={"sha256": digest(doctored)}), handle=source)
    client.models.delete(source)
    at = own_workbench.open("samples", model=source)
    at.button(key="samples.copy").click().run()
    at.text_input(key=f"catalog.new_model.{source}:0.name").set_value("copy")
    at.button(key="catalog.create").click().run()
    assert [each.provenance for each in client.samples.list(f"{namespace}.copy")] == ["synthesized"] * 20
    assert client.models.get(f"{namespace}.copy").state == "draft"
