"""Home: a text that is scored between two words, ways to a model, and the models with how good they are."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import Service, Trained, make_draft, not_none
from tests.pages.drive import (
    Workbench,
    bars,
    buttons,
    copied_link,
    ending,
    html,
    plain,
    press,
    visit,
    words,
)
from traitbench.client import Traitbench
from traitbench.contract.bundles import Bundle, digest
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.display.quality import by_trait, evidence_on

WAYS = ("Drop a file", "Paste texts", "Label texts")


def opened(at: AppTest) -> set[str]:
    """The handles of the models on the page."""
    restorable = {key.removeprefix("catalog.restore.") for key in buttons(at, "catalog.restore.")}
    return restorable | {model for model, _ in open_links(at)}


def open_links(at: AppTest) -> set[tuple[str, str]]:
    """The models that can be opened, and on which page."""
    return {*drawn_links(at)}


def drawn_links(at: AppTest) -> list[tuple[str, str]]:
    """The same in the order of the page, without the model that scores the text."""
    pages = [(dict(parse_qsl(link.proto.query_string)), link.proto.page) for link in at.get("page_link")]
    return [(query["model"], page) for query, page in pages if "model" in query and page != "score"]


def create(at: AppTest, name: str, description: str = "") -> AppTest:
    at.button(key="catalog.new_button").click().run()
    at.text_input(key="catalog.new_model:0.name").set_value(name)
    at.text_area(key="catalog.new_model:0.description").set_value(description)
    return at.button(key="catalog.create").click().run()


# ---- the text that is scored already ---------------------------------------------------------------------------------


@pytest.fixture
def demo(service: Service, trained: Trained, namespace: str) -> Iterator[str]:
    """A demo model that everyone can read and score with; nobody here owns it."""
    handle = f"demo.{namespace}"
    with Traitbench(service.base_url, service.issue(namespaces=("demo",))) as owner:
        owner.models.import_(trained.client.models.export(trained.handle), handle=handle)
        owner.models.update(handle, demo_texts=["How lovely to see you.", "Your request is denied."])
        yield handle
        owner.models.delete(handle)


def test_a_text_is_scored_already_and_again_when_it_changes(own_workbench: Workbench, demo: str) -> None:
    at = own_workbench.open("catalog")
    assert (at.text_input(key="either").value, at.text_input(key="or").value) == ("cold", "warm")
    field = at.text_area(key="home.text")
    assert field.value == "How lovely to see you."
    (first,) = bars(at)
    assert "tb-why" in html(at), "its words are lit"
    press(at, "home.try.1")
    assert at.text_area(key="home.text").value == "Your request is denied."
    (second,) = bars(at)
    assert second[0]["score"] < first[0]["score"]
    visit(at, "score")
    at.selectbox(key="model").set_value(demo).run()
    assert at.text_area(key="score.text").value == "Your request is denied.", "it goes along"
    at = visit(at, "catalog")
    at.text_area(key="home.text").set_value("").run()
    assert not bars(at)
    assert {*at.query_params} <= {"model", "either", "or"}, "the text stays out of the address"


def test_swapped_words_mirror_the_score(workbench: Workbench, demo: str) -> None:
    at = workbench.open("catalog")
    (before,) = bars(at)
    press(at, "door.swap")
    (after,) = bars(at)
    assert (after[0]["negative"], after[0]["positive"]) == ("warm", "cold")
    assert after[0]["score"] == 100 - before[0]["score"]
    assert after[0]["words"] == before[0]["words"]
    assert after[0]["sign"] != before[0]["sign"]


def test_a_better_model_replaces_no_text_that_is_typed(
    request: pytest.FixtureRequest, own_workbench: Workbench, ready: str
) -> None:
    at = own_workbench.open("catalog")
    own = at.text_area(key="home.text").value
    assert bars(at), "without a demo model, one's own scores it"
    # The browser sends what is typed only after a pause, so the page must not wait to hear of it.
    request.getfixturevalue("demo")
    assert at.run().text_area(key="home.text").value == own
    assert at.text_area(key="home.text").set_value("Typed here.").run().text_area[0].value == "Typed here."


def test_a_scoring_key_sees_the_same_bars(scorer: Workbench, demo: str) -> None:
    at = scorer.open("catalog")
    assert not at.error
    assert bars(at)
    at.text_input(key="or").set_value("urgent").run()
    assert bars(at)[0][0]["chip"] == "not tested"
    assert at.button(key="home.file").disabled
    assert "authoring" in at.button(key="home.file").help


# ---- two words without a model ---------------------------------------------------------------------------------------


def test_two_words_of_ones_own_answer_and_are_lit_but_not_tested(own_workbench: Workbench, draft: str) -> None:
    at = own_workbench.open("catalog", either="relaxed", **{"or": "urgent"})
    at.text_area(key="home.text").set_value("Please send someone now!").run()
    [[row]] = bars(at)
    assert (row["negative"], row["positive"], row["chip"]) == ("relaxed", "urgent", "not tested")
    assert "everyday sentences. How often that is right is not known yet." in row["note"]
    assert "tb-why" in html(at)
    assert "pull" in words(at)


@pytest.mark.parametrize("pole", ["not ironic", "other", "none"])
def test_a_word_that_is_a_negation_is_asked_for_its_opposite(own_workbench: Workbench, pole: str) -> None:
    at = own_workbench.open("catalog", either=pole, **{"or": "ironic"})
    assert "only says what a text is not" in words(at)
    assert not bars(at)
    assert not buttons(at, "home.file")


def test_without_two_different_words_nothing_is_claimed(own_workbench: Workbench) -> None:
    at = own_workbench.open("catalog", either="rude", **{"or": "Rude"})
    assert "Both sides have the same name" in words(at)
    at.text_input(key="or").set_value(" ").run()
    assert "Name both sides" in words(at)
    assert not bars(at)


@pytest.mark.parametrize(
    "poles", [("🥶", "🔥"), ("冷たい", "温かい"), ("بارد", "دافئ"), ("<b>x</b>", "*_$`"), ("a" * 80, "b" * 80)]
)
def test_words_of_any_kind_are_shown_as_they_are(own_workbench: Workbench, poles: tuple[str, str]) -> None:
    at = own_workbench.open("catalog", either=poles[0], **{"or": poles[1]})
    assert not at.exception
    drawn = bars(at)
    assert not drawn or (drawn[0][0]["negative"], drawn[0][0]["positive"]) == poles
    assert drawn or "Use other words" in words(at)


def test_for_words_in_another_language_the_page_says_what_they_need(own_workbench: Workbench) -> None:
    """The encoder of these tests knows English only."""
    at = own_workbench.open("catalog", either="unhöflich", **{"or": "höflich"})
    at.text_area(key="home.text").set_value("Würden Sie mir bitte kurz mit dem Koffer helfen?").run()
    assert "These words are German, and the encoder here knows English only" in words(at)
    at.text_area(key="home.text").set_value("Would you kindly help me with the suitcase?").run()
    assert "knows English only" not in words(at)


def test_pasted_texts_become_a_draft_between_the_two_words(
    own_workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    at = own_workbench.open("catalog", either="rude", **{"or": "polite"})
    press(at, "home.add")
    assert [ending(at.text_input, side).value for side in ("negative", "positive")] == ["rude", "polite"]
    press(at, "home.paste_create")
    assert "Paste at least one text" in words(at)
    ending(at.text_area, "negative_texts").set_value("Shut up.\n\n Go away. \nShut up.")
    ending(at.text_area, "positive_texts").set_value("Would you mind?\x00")
    press(at, "home.paste_create")
    assert "a character that no text has" in words(at)
    ending(at.text_area, "positive_texts").set_value("Would you mind?")
    press(at, "home.paste_create")
    handle = f"{namespace}.rude-or-polite"
    assert [model.handle for model in client.models.list(namespace=namespace)] == [handle]
    assert client.models.get(handle).state == "draft"
    assert {(each.text, each.quality) for each in client.samples.list(handle)} == {
        ("Shut up.", 0.0), ("Go away.", 0.0), ("Would you mind?", 1.0)
    }  # fmt: skip
    assert [title.value for title in at.title] == ["Samples"]


# ---- the list --------------------------------------------------------------------------------------------------------


def test_a_trained_model_says_how_often_it_is_right_in_words_and_leads_on(
    workbench: Workbench, trained: Trained
) -> None:
    at = workbench.open("catalog")
    evidence = not_none(evidence_on(by_trait(trained.client.versions.get(trained.handle).metrics)))
    assert evidence.in_short in words(at).lower()
    assert "AUROC" not in words(at)
    assert "v1 in use" in words(at)
    assert "Held-out scores from 0, cold, to 100, warm" in html(at)
    assert {(trained.handle, "batch"), (trained.handle, "model")} <= open_links(at)


def test_a_draft_with_samples_is_not_said_to_be_good(own_workbench: Workbench, draft: str) -> None:
    at = own_workbench.open("catalog")
    assert draft in opened(at)
    assert "10 + 10 samples." in words(at)
    assert " in 10 right" not in words(at)


def test_a_description_with_markup_is_shown_as_it_is(workbench: Workbench, client: Traitbench, new: str) -> None:
    client.models.update(new, description="**bold** :red[red] $x$ <b>b</b>")
    assert r"\*\*bold\*\* \:red\[red\] \$x\$ \<b\>b\</b\>" in words(workbench.open("catalog"))


def test_little_evidence_never_comes_before_much(
    own_workbench: Workbench, client: Traitbench, bundle: Bundle, namespace: str
) -> None:
    for name, samples in (("few", 10), ("many", 400)):
        right = {"high": {"samples": samples, "right": samples * 9 // 10 + (samples < 20), "share": 0.9}}
        tested = {"auroc": 0.93, "auroc_interval": [0.8, 0.99], "confidence": right}
        figures = bundle.versions[0].metrics["traits"]["warmth"] | tested
        metrics = bundle.versions[0].metrics | {"traits": {"warmth": figures}}
        changed = bundle.model_copy(update={"versions": [bundle.versions[0].model_copy(update={"metrics": metrics})]})
        client.models.import_(changed.model_copy(update={"sha256": digest(changed)}), handle=f"{namespace}.{name}")
    client.models.create(f"{namespace}.a-draft")
    at = own_workbench.open("catalog", sort="Quality")
    assert [model for model, page in drawn_links(at) if page == "model"] == [
        f"{namespace}.{name}" for name in ("many", "few", "a-draft")
    ]


def test_a_card_counts_the_languages_of_the_samples(
    own_workbench: Workbench, client: Traitbench, bundle: Bundle, namespace: str
) -> None:
    counted = {"en": 92, "de": 31, "ja": 7, "<b>": 5}
    for name, languages in (("some", {"texts": counted, "unclear": 4}), ("older", None)):
        metrics = bundle.versions[0].metrics | {"languages": languages}
        changed = bundle.model_copy(update={"versions": [bundle.versions[0].model_copy(update={"metrics": metrics})]})
        client.models.import_(changed.model_copy(update={"sha256": digest(changed)}), handle=f"{namespace}.{name}")
    said = [each for each in plain(own_workbench.open("catalog")).splitlines() if "Samples: " in each]
    assert len(said) == 1
    assert "Samples: English (92), German (31), Japanese (7), 5 in other languages, 4 not clear" in said[0]


def test_filters_are_read_from_links(
    workbench: Workbench, client: Traitbench, trained: Trained, namespace: str
) -> None:
    client.models.create(f"{namespace}.one", description="About apples.")
    client.models.create(f"{namespace}.two", description="About pears.")
    at = workbench.open("catalog", q="apples")
    assert opened(at) == {f"{namespace}.one"}
    assert copied_link(at) == {"q": "apples"}
    at.text_input(key="q").set_value("")
    at.selectbox(key="namespace").set_value("trained")
    at.selectbox(key="state").set_value("ready").run()
    assert trained.handle in opened(at)
    assert copied_link(at) == {"state": "In use", "namespace": "trained"}
    at.selectbox(key="state").set_value(None)
    at.selectbox(key="namespace").set_value(namespace).run()
    assert opened(at) == {f"{namespace}.one", f"{namespace}.two"}
    at.text_input(key="q").set_value("nothing has this in it").run()
    assert "No models match" in words(at)
    at.button(key="catalog.clear").click().run()
    assert trained.handle in opened(at)


def test_many_models_are_shown_a_page_at_a_time(own_workbench: Workbench, client: Traitbench, namespace: str) -> None:
    for number in range(27):
        client.models.create(f"{namespace}.m{number:02}")
    at = own_workbench.open("catalog")
    assert len(opened(at)) == 12
    assert at.title[0].value == "27 models wait for you"
    assert {"q", "state", "namespace", "sort"} <= {str(each.key) for each in (*at.text_input, *at.selectbox)}


# ---- a new model -----------------------------------------------------------------------------------------------------


def test_three_ways_lead_to_a_model_also_after_the_first_one(
    own_workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    at = own_workbench.open("catalog")
    assert all(way in words(at) for way in WAYS)
    assert {field.key for field in at.text_input} == {"either", "or"}, "there is nothing to filter"
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
    assert all(way in words(own_workbench.open("catalog")) for way in WAYS)


def test_a_model_with_poles_leads_to_its_samples(own_workbench: Workbench, client: Traitbench, namespace: str) -> None:
    at = own_workbench.open("catalog")
    at.button(key="catalog.new_button").click().run()
    for field, typed in (("name", "greetings"), ("negative_label", "cold"), ("positive_label", "warm")):
        at.text_input(key=f"catalog.new_model:0.{field}").set_value(typed)
    at.button(key="catalog.create").click().run()
    assert [trait.name for trait in client.traits.list(f"{namespace}.greetings")] == ["warm or cold"]
    assert [field.label for field in at.text_area] == ["cold", "warm"]


@pytest.mark.parametrize(
    ("typed", "name"),
    [("Customer Mood!", "customer-mood"), ("-Größe_2.", "grosse_2"), ("x" * 65, "x" * 64), ("tone-", "tone-")],
    ids=["spaces", "umlauts", "too long", "hyphen"],
)
def test_a_created_model_is_named_after_what_is_typed_and_opened_on_its_traits(
    own_workbench: Workbench, client: Traitbench, namespace: str, typed: str, name: str
) -> None:
    at = create(own_workbench.open("catalog"), typed, "How it sounds.")
    [model] = client.models.list(namespace=namespace)
    assert (model.handle, model.description) == (f"{namespace}.{name}", "How it sounds.")
    assert [title.value for title in at.title] == ["Traits"]
    assert at.selectbox(key="model").value == model.handle
    assert "was created" in at.toast[0].value


def test_what_is_typed_waits_in_a_dialog_that_was_closed(own_workbench: Workbench) -> None:
    at = own_workbench.open("catalog")
    at.button(key="catalog.new_button").click().run()
    at.text_input(key="catalog.new_model:0.name").set_value("Customer mood").run()
    at.session_state["catalog.new"] = None  # what the browser's click outside does
    at.run()
    at.button(key="catalog.new_button").click().run()
    assert at.text_input(key="catalog.new_model:0.name").value == "Customer mood"


@pytest.mark.parametrize(
    ("name", "description", "says"),
    [
        ("", "What I typed.", "Use lowercase letters"),
        ("!?", "What I typed.", "Use lowercase letters"),
        ("温", "What I typed.", "Use lowercase letters"),
        ("new", "What I typed.", "perhaps an archived one"),
        ("tone", "x" * 2_001, "At most 2,000 characters; this has 2,001"),
    ],
    ids=["no name", "signs", "another script", "taken", "long description"],
)
def test_what_is_refused_is_said_below_its_field_and_can_be_changed(
    own_workbench: Workbench, client: Traitbench, new: str, namespace: str, name: str, description: str, says: str
) -> None:
    at = create(own_workbench.open("catalog"), name, description)
    assert says in plain(at)
    assert at.text_area(key="catalog.new_model:0.description").value == description
    assert [model.handle for model in client.models.list(namespace=namespace)] == [new]
    at.text_input(key="catalog.new_model:0.name").set_value("tone-2")
    at.text_area(key="catalog.new_model:0.description").set_value("Better.")
    at.button(key="catalog.create").click().run()
    assert client.models.get(f"{namespace}.tone-2").description == "Better."


# ---- archive ---------------------------------------------------------------------------------------------------------


def archive(at: AppTest, handle: str) -> AppTest:
    """Ask for it in the menu of a model."""
    menu: Any = next(each for each in at.get("menu_button") if str(each.key).endswith(handle))
    return menu.click_index(0).run()  # type: ignore[no-any-return]


def test_a_model_is_archived_on_a_yes_and_restored(own_workbench: Workbench, client: Traitbench, new: str) -> None:
    at = archive(own_workbench.open("catalog"), new)
    assert client.models.get(new).state == "draft"
    at.button(key="catalog.archive.no").click().run()
    assert client.models.get(new).state == "draft"
    archive(at, new).button(key="catalog.archive.yes").click().run()
    assert client.models.get(new).state == "archived"
    assert not opened(at)
    at.button(key="catalog.archived").click().run()
    # Public models that other tests have archived are listed too.
    assert {each for each in opened(at) if not each.startswith("demo.")} == {new}
    at.button(key=f"catalog.restore.{new}").click().run()
    assert client.models.get(new).state == "draft"


def test_archiving_can_be_undone_at_once(own_workbench: Workbench, client: Traitbench, new: str) -> None:
    at = archive(own_workbench.open("catalog"), new).button(key="catalog.archive.yes").click().run()
    at.button(key="archive.undo_yes").click().run()
    assert client.models.get(new).state == "draft"
    assert opened(at) == {new}
    assert not buttons(at, "archive.undo_yes")


# ---- copies, imports -------------------------------------------------------------------------------------------------


def test_a_copy_has_all_traits_and_samples(
    workbench: Workbench, client: Traitbench, trained: Trained, namespace: str
) -> None:
    at = workbench.open("traits", model=trained.handle)
    at.button(key="shell.copy").click().run()
    at.selectbox(key="catalog.new_namespace").set_value(namespace)
    at.text_input(key=f"catalog.new_model.{trained.handle}:0.name").set_value("copy")
    at.button(key="catalog.create").click().run()
    copy, original = client.models.get(f"{namespace}.copy"), trained.client.models.get(trained.handle)
    assert (copy.state, copy.description) == ("draft", original.description)
    assert inputs_of(client, copy.handle) == inputs_of(trained.client, trained.handle)
    assert at.selectbox(key="model").value == copy.handle


def inputs_of(client: Traitbench, handle: str) -> tuple[list[TraitInput], list[SampleInput]]:
    traits, samples = client.traits.list(handle), client.samples.list(handle)
    return (
        [TraitInput(**trait.model_dump(include=set(TraitInput.model_fields))) for trait in traits],
        [SampleInput(trait=each.trait, text=each.text, quality=each.quality) for each in samples],
    )


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


def bring_in(at: AppTest, file: str) -> AppTest:
    at.button(key="catalog.import_button").click().run()
    at.file_uploader[-1].upload("model.json", file.encode())
    return at.run()


def send(at: AppTest, namespace: str, name: str) -> AppTest:
    at.selectbox(key="catalog.new_namespace").set_value(namespace)
    ending(at.text_input, "name").set_value(name)
    return press(at, "catalog.import_send")


def test_an_exported_model_comes_in_under_a_free_name(
    workbench: Workbench, client: Traitbench, trained: Trained, bundle: Bundle, new: str, namespace: str
) -> None:
    at = bring_in(workbench.open("catalog"), bundle.model_dump_json())
    assert "1 trait, 20 samples, 1 version" in words(at)
    assert "perhaps an archived one" in words(send(at, namespace, "new")), "the name is taken"
    send(at, namespace, "copy")
    model = client.models.get(f"{namespace}.copy")
    assert (model.state, model.version_no) == ("ready", 1)
    text = "How lovely to see you."
    assert client.scores.score(model.handle, text).scores == trained.client.scores.score(trained.handle, text).scores
    assert [title.value for title in at.title] == ["Model"]
    assert at.selectbox(key="model").value == model.handle


def test_a_changed_file_is_refused(workbench: Workbench, client: Traitbench, bundle: Bundle, namespace: str) -> None:
    tampered = bundle.model_dump_json().replace("Thank you so much", "Thanks a lot")
    at = send(bring_in(workbench.open("catalog"), tampered), namespace, "copy")
    assert "changed since it was exported" in at.error[0].value
    assert not list(client.models.list(namespace=namespace))


@pytest.mark.parametrize(
    ("file", "reason"), [("no json", "not valid JSON"), ("{}", "not an exported model"), ("", "not valid JSON")]
)
def test_a_file_that_holds_no_model_is_said(own_workbench: Workbench, file: str, reason: str) -> None:
    at = bring_in(own_workbench.open("catalog"), file)
    assert reason in at.error[0].value
    assert not buttons(at, "catalog.import_send")
