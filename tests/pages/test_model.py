"""The Model page: its dashboard and card, what is said of it, how it is called, what is kept of it, and how it ends."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import Service, Trained, not_none
from tests.pages.drive import (
    Workbench,
    add_version,
    buttons,
    copied_link,
    end_badly,
    ending,
    hold_busy,
    html,
    leave_few_figures,
    links,
    plain,
    press,
    words,
)
from traitbench.client import Traitbench
from traitbench.contract.models import VersionRetentionPolicy
from traitbench.contract.traits import TraitInput
from traitbench.display.pictures import tenth_in_words, tenth_of
from traitbench.display.quality import by_trait, evidence_on
from traitbench_app.model import cards
from traitbench_app.model.foreign_markdown import shown

# ---- dashboard -------------------------------------------------------------------------------------------------------

QUESTIONS = [
    "Does it tell the sides apart?",
    "Is it getting better?",
    "What has it learned from?",
    "What are its texts like?",
    "What waits?",
]


def verdict(at: AppTest) -> str:
    """The title of the dashboard."""
    return str(at.header[0].value)


def test_the_verdict_is_the_title_and_each_question_has_its_picture(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("model", model=trained.handle)
    metrics = trained.client.versions.get(trained.handle).metrics
    evidence, sides = evidence_on(by_trait(metrics)), metrics.traits["warmth"].sides
    assert evidence is not None
    assert sides is not None
    assert verdict(at) == evidence.title
    assert (
        f"{evidence.right} of 20 samples fall on the side of their label. Always guessing one side would get 10."
        in (plain(at))
    )
    assert [each.value for each in at.header][1:] == QUESTIONS
    for side, colour, label in ((sides["positive"], "orange", "warm"), (sides["negative"], "blue", "cold")):
        assert f"**{side.right} of 10** :{colour}[{label}] right" in plain(at)
        assert f"{side.right} of 10 {label}" in html(at)
    assert "10 cold and 10 warm samples" in html(at)
    assert "Right in 10: v1" in html(at)
    assert re.search(r"Half have \d+ words or more; the longest has \d+\.", html(at))
    assert {"Open its samples", "All versions", "All figures"} <= set(links(at))
    assert "AUROC" not in words(at) + html(at)
    assert not at.expander
    assert copied_link(at) == {"model": trained.handle, "part": "Overview"}


@pytest.mark.parametrize("page", ["model", "traits"])
def test_dots_of_a_strip_open_their_texts(workbench: Workbench, trained: Trained, page: str) -> None:
    counts = not_none(trained.client.versions.get(trained.handle).metrics.traits["warmth"].score_counts)
    tenth = next(tenth_of(score) for score, samples in enumerate(counts["positive"]) if samples)
    at = workbench.open(page, model=trained.handle)
    at.session_state["strip.warmth.open"] = f"positive.{tenth}"
    at.run()
    samples = sum(number for score, number in enumerate(counts["positive"]) if tenth_of(score) == tenth)
    assert f"**▲ warm, {tenth_in_words(tenth)}**" in [each.value for each in at.markdown]
    opened = at.dataframe[0].value
    assert len(opened) == samples
    assert all(tenth_of(score) == tenth for score in opened["Score"])


def test_mistakes_and_corrections_wait_where_they_are_done(
    workbench: Workbench, client: Traitbench, ready: str
) -> None:
    client.scores.score(ready, "How lovely to see you again.", feedback={"warmth": "warm"})
    at = workbench.open("model", model=ready)
    sides = not_none(client.versions.get(ready).metrics.traits["warmth"].sides)
    wrong = 20 - sum(side.right for side in sides.values())
    assert "Open 1" in links(at)
    assert (f"Review {wrong}" in links(at)) == (wrong > 0)
    assert "Corrections of scores</span>" in html(at)


@pytest.mark.parametrize("fixture", ["new", "empty", "draft"])
def test_without_a_version_it_says_what_is_enough_to_start(
    workbench: Workbench, request: pytest.FixtureRequest, fixture: str
) -> None:
    at = workbench.open("model", model=request.getfixturevalue(fixture))
    assert verdict(at) == "Not trained yet"
    assert {
        "new": "This model has no traits yet.",
        "empty": "10 warm and 10 cold texts are enough to start.",
        "draft": "There are enough texts for each side to start.",
    }[fixture] in plain(at)
    assert ("**0 of 10** :orange[warm]" in plain(at)) == (fixture == "empty")
    assert ("Warmth, from cold to warm: no picture yet" in html(at)) == (fixture != "new")
    assert "All figures" not in links(at)


def test_a_run_is_shown_and_a_failed_one_says_why(
    workbench: Workbench, service: Service, client: Traitbench, draft: str
) -> None:
    run_id = hold_busy(service.context, draft)
    at = workbench.open("model", model=draft)
    assert verdict(at) == "Learning from its samples"
    assert "Watch 1" in links(at)
    end_badly(service.context, run_id, "The disk is full.")
    at.run()
    assert verdict(at) == "The first training failed"
    assert "The last run failed.** The disk is full. Its samples are safe." in plain(at)


def test_a_model_in_use_keeps_its_dashboard_during_a_run(workbench: Workbench, service: Service, ready: str) -> None:
    run_id = hold_busy(service.context, ready, kind="retune")
    at = workbench.open("model", model=ready)
    assert "v1 keeps scoring during the run." in plain(at)
    assert QUESTIONS[0] in [each.value for each in at.header]
    end_badly(service.context, run_id, "The disk is full.")
    assert "The disk is full. v1 did not change." in plain(at.run())


def test_an_archived_model_keeps_its_figures_and_does_not_score(
    workbench: Workbench, client: Traitbench, ready: str
) -> None:
    client.models.delete(ready)
    at = workbench.open("model", model=ready)
    assert "does not score. It can be restored for 30 more days." in plain(at)
    assert "of 10** :orange[warm] right" in plain(at)
    assert not any(label.startswith("Review") for label in links(at))


def test_a_scoring_key_sees_figures_and_no_texts(scorer: Workbench, trained: Trained) -> None:
    at = scorer.open("model", model=trained.handle)
    assert "**Read only.**" in plain(at)
    assert "Only people who may change the model can read its texts." in plain(at)
    assert "of 10** :orange[warm] right" in plain(at)
    assert "Open its samples" not in links(at)
    assert not any(label.startswith("Review") for label in links(at))


def test_zero_retention_leaves_pictures_of_what_was_learned(
    workbench: Workbench, client: Traitbench, ready: str
) -> None:
    client.models.update(ready, zero_data_retention=True)
    at = workbench.open("model", model=ready)
    assert "Its samples were removed after training." in plain(at)
    assert "It keeps no texts." in plain(at)
    assert "10 cold and 10 warm samples" in html(at)


def test_an_older_version_says_how_to_get_its_picture(workbench: Workbench, service: Service, ready: str) -> None:
    leave_few_figures(service.context, ready)
    at = workbench.open("model", model=ready)
    assert verdict(at) == "How often it is right is not known"
    assert "**Warmth**  \nTrain again to see this." in plain(at)
    assert "Train again to see this" in links(at)


def test_many_traits_begin_with_the_weakest_few(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = client.models.create(f"{namespace}.many").handle
    names = [f"Trait {number}" for number in range(9)]
    client.traits.add(handle, [TraitInput(name=name, positive_label="b<i>g", negative_label="small") for name in names])
    at = workbench.open("model", model=handle)
    assert html(at).count('no picture yet" title') == 6
    assert at.button(key="model.traits.more").label == "Show 3 more"
    press(at, "model.traits.more")
    assert html(at).count('no picture yet" title') == 9
    assert not buttons(at, "model.traits.more")
    assert "<i>g" not in html(at)


def test_versions_of_different_texts_are_not_joined(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("model", model=twice.handle)
    assert re.search(r"Right in 10: v1 .*, v2 ", html(at))
    assert 'class="line"' not in html(at)
    assert "Versions without a line between them were measured on different texts." in plain(at)
    assert "Compare v1 with v2" in links(at)


def test_of_many_samples_the_newest_are_read(workbench: Workbench, draft: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "MOST_LOADED", 10)
    monkeypatch.setattr(cards, "_NEWEST", 5)
    at = workbench.open("model", model=draft)
    assert "5 newest texts" in plain(at)
    assert re.search(r"Written or imported</span><span[^>]*>20<", html(at))


# ---- card ------------------------------------------------------------------------------------------------------------


def test_the_card_is_the_one_of_the_api_and_can_be_downloaded(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("model", model=trained.handle, part="Model card")
    assert shown(trained.client.models.card(trained.handle)).rstrip() in words(at)
    assert [button.proto.label for button in at.get("download_button")] == ["Download card (Markdown)"]
    assert copied_link(at) == {"model": trained.handle, "part": "Model card"}


def test_an_image_in_the_readme_is_not_loaded(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.models.update(draft, readme_markdown="# Hello\n\n![pixel](https://example.org/pixel.png)")
    at = workbench.open("model", model=draft, part="Model card")
    assert "pixel" in words(at)
    assert "![" not in words(at)


# ---- describe --------------------------------------------------------------------------------------------------------


@pytest.fixture
def about(workbench: Workbench, draft: str) -> AppTest:
    """The form that describes a draft."""
    return workbench.open("model", model=draft, part="Describe")


def value_of(at: AppTest, field: str) -> str:
    return str(ending(at.text_area, field).value)


def type_in(at: AppTest, field: str, text: str) -> AppTest:
    return ending(at.text_area, field).set_value(text).run()  # type: ignore[no-any-return]


def edit_table(
    at: AppTest, table: str, *, rows: dict[int, dict[str, str]] | None = None, added: list[dict[str, str]]
) -> AppTest:
    """What the browser sends after edits in a table."""
    changed = {"edited_rows": rows or {}, "added_rows": added, "deleted_rows": []}
    at.session_state[str(ending(at.dataframe, table).key)] = changed
    return at.run()


def test_what_is_changed_is_saved_and_nothing_else(about: AppTest, client: Traitbench, draft: str) -> None:
    assert about.button(key="model.save").disabled
    type_in(about, "description", "Warm or cold.")
    type_in(about, "additional_terms", "Not for decisions about people.")
    ending(about.radio, "max_depth").set_value(3).run()
    client.models.update(draft, readme_markdown="Written by somebody else meanwhile.")
    assert about.button(key="model.save").label == "Save 3 changes"
    press(about, "model.save")
    model = client.models.get(draft)
    assert (model.description, model.max_depth) == ("Warm or cold.", 3)
    assert model.additional_terms == "Not for decisions about people."
    assert model.readme_markdown == "Written by somebody else meanwhile."
    assert value_of(about, "readme_markdown") == model.readme_markdown


def test_fields_follow_the_model_until_two_people_change_one(about: AppTest, client: Traitbench, draft: str) -> None:
    client.models.update(draft, description="New.")
    about.run()
    assert value_of(about, "description") == "New."
    assert about.button(key="model.save").disabled
    type_in(about, "description", "Mine.")
    client.models.update(draft, description="Theirs.")
    about.run()
    assert "Someone else changed these fields: Description" in about.warning[0].value
    assert value_of(press(about, "model.discard"), "description") == "Theirs."


def test_what_is_refused_is_said_and_nothing_is_lost(about: AppTest, client: Traitbench, draft: str) -> None:
    type_in(about, "description", "x" * 2_001)
    type_in(about, "readme_markdown", "What I typed.")
    press(about, "model.save")
    assert "At most 2,000 characters; this has 2,001" in plain(about)
    assert value_of(about, "readme_markdown") == "What I typed."
    assert client.models.get(draft).readme_markdown is None
    about.button(key="model.save").click()
    client.models.delete(draft)
    about.run()
    assert "archived" in words(about)


def test_what_is_typed_outlives_a_visit_of_another_part(about: AppTest) -> None:
    type_in(about, "description", "Mine.")
    edit_table(about, "upstream_sources", added=[{"name": "Letters"}])
    about.segmented_control(key="part").set_value("card").run()
    about.segmented_control(key="part").set_value("about").run()
    assert value_of(about, "description") == "Mine."
    assert about.button(key="model.save").label == "Save 2 changes"


def test_sources_are_edited_and_keep_what_is_no_text(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.models.update(draft, upstream_sources=[{"name": "Reviews", "year": 2020}])
    at = workbench.open("model", model=draft, part="Describe")
    letters = {"name": "Letters", "url": "https://example.org"}
    edit_table(at, "upstream_sources", rows={0: {"license": "MIT"}}, added=[letters])
    press(at, "model.save")
    assert client.models.get(draft).upstream_sources == [{"name": "Reviews", "license": "MIT", "year": 2020}, letters]
    assert at.button(key="model.save").disabled


def test_the_main_trait_and_demo_texts_are_chosen_here(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.models.update(draft, demo_texts=["How kind!"])
    at = workbench.open("model", model=draft, part="Describe")
    ending(at.selectbox, "main_trait").set_value("warmth").run()
    edit_table(at, "demo_texts", added=[{"Text": "Be gone."}, {"Text": "  "}])
    assert at.button(key="model.save").label == "Save 2 changes"
    press(at, "model.save")
    model = client.models.get(draft)
    assert (model.main_trait, model.demo_texts) == ("warmth", ["How kind!", "Be gone."])
    client.models.update(draft, zero_data_retention=True)
    at.run()
    assert "keeps no demo texts" in words(at)


# ---- call it ---------------------------------------------------------------------------------------------------------


def test_the_snippets_name_the_model_and_the_version_that_was_picked(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("model", model=trained.handle, part="Call it")
    assert len(at.code) == 7
    assert all(trained.handle in code.value and f"{trained.handle}@" not in code.value for code in at.code)
    at.selectbox(key=f"model.call_version.{trained.handle}").set_value("v1").run()
    assert len(at.code) == 7
    assert all(f"{trained.handle}@v1" in code.value for code in at.code)
    assert [button.proto.label for button in at.get("download_button")] == ["Open in a notebook"]


def test_before_the_first_training_it_says_that_calls_are_refused(workbench: Workbench, draft: str) -> None:
    assert "Train the model first" in words(workbench.open("model", model=draft, part="Call it"))


# ---- attributes ------------------------------------------------------------------------------------------------------


def attributes(workbench: Workbench, handle: str) -> AppTest:
    return workbench.open("model", model=handle, part="Call it", attributes="true")


def test_an_alias_is_set_moved_to_a_version_and_its_removal_is_undone(
    workbench: Workbench, client: Traitbench, ready: str
) -> None:
    namespace = ready.partition(".")[0]
    at = attributes(workbench, ready)
    assert "No alias leads to this model." in words(at)
    ending(at.text_input, "name").set_value("severe toxicity")
    press(at, "FormSubmitter:model.alias")
    assert "`SEVERE_TOXICITY` means **Warmth** of the version in use." in words(at)
    at.selectbox(key=f"model.call_version.{ready}").set_value("v1").run()
    ending(at.text_input, "name").set_value("SEVERE_TOXICITY")
    press(at, "FormSubmitter:model.alias")
    alias = client.attributes.get(namespace, "SEVERE_TOXICITY")
    assert (alias.handle, alias.trait) == (f"{ready}@v1", "warmth")
    assert "Before, it meant warmth" in str(at.toast[0].value)
    press(at, "model.unset:SEVERE_TOXICITY")
    assert client.attributes.list(namespace).items == []
    press(at, "model.alias_undo")
    assert client.attributes.get(namespace, "SEVERE_TOXICITY").handle == f"{ready}@v1"
    ending(at.text_input, "name").set_value("1A")
    press(at, "FormSubmitter:model.alias")
    assert "use A-Z, 0-9 and _" in plain(at)


# ---- what is kept ----------------------------------------------------------------------------------------------------


def kept(workbench: Workbench, handle: str) -> AppTest:
    return workbench.open("model", model=handle, part="What is kept")


def purge(at: AppTest, handle: str) -> AppTest:
    """Give the name that the question asks for, and answer yes."""
    at.text_input(key="model.purge_name").set_value(handle).run()
    return press(at, "model.purge.yes")


def test_a_policy_says_what_it_removes(workbench: Workbench, service: Service, client: Traitbench, ready: str) -> None:
    for _ in range(2):
        add_version(service.context, ready, client)
    at = kept(workbench, ready)
    assert "**20 samples**" in words(at)
    assert [button.proto.label for button in at.get("download_button")] == ["Export model"]
    assert "3 versions now. This rule removes none of them" in words(at)
    ending(at.number_input, "keep_unnamed").set_value(1).run()
    assert "removes **1 version** at once: v2" in at.warning[0].value
    press(at, "model.policy_save")
    assert len(list(client.versions.list(ready))) == 3
    press(at, "model.prune.no")
    assert client.models.get(ready).version_retention_policy is None
    press(press(at, "model.policy_save"), "model.prune.yes")
    assert [each.version_no for each in client.versions.list(ready)] == [3, 1]
    assert client.models.get(ready).version_retention_policy == VersionRetentionPolicy(keep_unnamed=1)
    assert "1 version removed" in at.toast[0].value


def test_a_policy_that_removes_nothing_is_saved_at_once(workbench: Workbench, client: Traitbench, ready: str) -> None:
    at = kept(workbench, ready)
    assert at.button(key="model.policy_reset").disabled
    ending(at.toggle, "keep_first_of_month").set_value(False).run()
    press(at, "model.policy_save")
    assert client.models.get(ready).version_retention_policy == VersionRetentionPolicy(keep_first_of_month=False)
    press(at, "model.policy_reset")
    assert client.models.get(ready).version_retention_policy is None
    assert ending(at.toggle, "keep_first_of_month").value


def test_zero_retention_says_what_goes_and_asks_first(workbench: Workbench, client: Traitbench, ready: str) -> None:
    client.scores.score(ready, "How lovely to see you again.", feedback={"warmth": "warm"})
    at = press(kept(workbench, ready), "model.zero_on")
    assert "**21 samples** (20 of yours, 1 from feedback)" in words(at)
    assert "**1 sample of feedback** that no version was trained with yet" in words(at)
    purge(at, "another")
    assert "This is not the model's name" in plain(at)
    assert not client.models.get(ready).zero_data_retention
    purge(at, ready)
    assert client.models.get(ready).zero_data_retention
    assert not list(client.samples.list(ready))
    assert "It is on" in words(at)
    assert "Zero retention" in words(at)
    assert "Feedback is refused" in words(at)


def test_zero_retention_covers_archived_forks_only(workbench: Workbench, client: Traitbench, ready: str) -> None:
    left, living = f"{ready}-left", f"{ready}-living"
    for fork in (left, living):
        client.models.fork(ready, fork)
    client.models.delete(left)
    at = kept(workbench, ready)
    assert f"[{left}](/model?model={left}&part=What+is+kept): archived, switched on with this model" in plain(at)
    assert f"[{living}](/model?model={living}&part=What+is+kept): draft, has its own switch" in plain(at)
    press(at, "model.zero_on")
    assert f"the samples of **1 archived fork**: [{left}]" in plain(at)
    assert f"These forks keep their samples. Turn it on there too: [{living}]" in plain(at)
    purge(at, ready)
    assert [len(client.samples.list(each).items) for each in (ready, left, living)] == [0, 0, 20]
    assert f"[{left}](/model?model={left}&part=What+is+kept): archived, zero data retention is on" in plain(at)


def test_zero_retention_stops_a_run(workbench: Workbench, service: Service, client: Traitbench, draft: str) -> None:
    hold_busy(service.context, draft)
    at = press(kept(workbench, draft), "model.zero_on")
    assert "the current run" in words(at)
    purge(at, draft)
    model = client.models.get(draft)
    assert (model.state, model.zero_data_retention) != ("busy", False)


def test_zero_retention_can_be_kept_or_turned_off(workbench: Workbench, client: Traitbench, new: str) -> None:
    at = kept(workbench, new)
    press(press(at, "model.zero_on"), "model.purge.no")
    assert not client.models.get(new).zero_data_retention
    client.models.update(new, zero_data_retention=True)
    at.run()
    assert "not restored" in words(press(at, "model.zero_off"))
    press(at, "model.retention_again.yes")
    assert not client.models.get(new).zero_data_retention


def test_zero_retention_can_allow_the_language_model(workbench: Workbench, client: Traitbench, new: str) -> None:
    client.models.update(new, zero_data_retention=True)
    at = kept(workbench, new)
    at.toggle(key=f"model.language_model:{new}:False").set_value(True).run()
    assert client.models.get(new).language_model_allowed
    assert at.toggle(key=f"model.language_model:{new}:True").value


def test_the_model_is_archived_only_after_the_question(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = press(kept(workbench, draft), "shell.archive")
    assert client.models.get(draft).state == "draft"
    press(at, "catalog.archive.yes")
    assert client.models.get(draft).state == "archived"
    assert "This model was archived" in words(at)
    assert not buttons(at, "model.zero_on")
    press(at, "shell.restore")
    assert client.models.get(draft).state == "draft"
