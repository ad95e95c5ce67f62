"""The Model page: its card, what is said of it, how it is called, what is kept of it, and how it ends."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import Service, Trained, make_draft
from tests.pages.drive import Workbench, add_version, copied_link, hold_busy, links, words
from traitbench.client import Traitbench
from traitbench.contract.models import VersionRetentionPolicy
from traitbench.display.quality import by_trait, evidence_on
from traitbench_app.model.foreign_markdown import shown


@pytest.fixture
def ready(client: Traitbench, trained: Trained, namespace: str) -> str:
    """A trained model of this test's own: one trait, twenty samples, v1."""
    return client.models.import_(trained.client.models.export(trained.handle), handle=f"{namespace}.tone").handle


@pytest.fixture
def draft(client: Traitbench, namespace: str) -> str:
    """A draft with one trait and twenty samples."""
    make_draft(client, f"{namespace}.draft")
    return f"{namespace}.draft"


def key_of(elements: object, name: str) -> str:
    """The key of the widget whose key ends so; forms count their rounds in it."""
    return next(str(each.key) for each in elements if str(each.key).endswith(f".{name}"))  # type: ignore[attr-defined]


def type_in(at: AppTest, name: str, text: str) -> AppTest:
    return at.text_area(key=key_of(at.text_area, name)).set_value(text).run()


# ---- card --------------------------------------------------------------------------------------------------------


def test_the_card_is_the_one_of_the_api_and_can_be_downloaded(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("model", model=trained.handle)
    assert shown(trained.client.models.card(trained.handle)) in words(at)
    assert [button.proto.label for button in at.get("download_button")] == ["Download card (Markdown)"]
    assert copied_link(at) == {"model": trained.handle, "part": "Overview"}


def test_the_overview_says_how_good_it_is_and_leads_on(workbench: Workbench, trained: Trained, draft: str) -> None:
    at = workbench.open("model", model=trained.handle)
    evidence = evidence_on(by_trait(trained.client.versions.get(trained.handle).metrics))
    assert evidence is not None
    said = words(at).replace("\\", "")
    assert f"v1 gets {evidence.in_words} right on texts it has not seen. {evidence.doubt}".rstrip() in said
    assert "Score a text" in links(at)
    at = workbench.open("model", model=draft)
    assert "This draft has 20 samples" in words(at)
    assert "Train this model" in links(at)


def test_an_image_in_the_readme_is_not_loaded(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.models.update(draft, readme_markdown="# Hello\n\n![pixel](https://example.org/pixel.png)")
    at = workbench.open("model", model=draft)
    assert "pixel" in words(at)
    assert "![" not in words(at)


# ---- describe ----------------------------------------------------------------------------------------------------


def test_what_is_changed_is_saved_and_nothing_else(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = workbench.open("model", model=draft, part="Describe")
    assert at.button(key="model.save").disabled
    type_in(at, "description", "Warm or cold.")
    type_in(at, "additional_terms", "Not for decisions about people.")
    at.radio(key=key_of(at.radio, "max_depth")).set_value(3).run()
    client.models.update(draft, readme_markdown="Written by somebody else meanwhile.")
    assert at.button(key="model.save").label == "Save 3 changes"
    at.button(key="model.save").click().run()
    model = client.models.get(draft)
    assert (model.description, model.additional_terms, model.max_depth) == (
        "Warm or cold.",
        "Not for decisions about people.",
        3,
    )
    assert model.readme_markdown == "Written by somebody else meanwhile."
    assert at.text_area(key=key_of(at.text_area, "readme_markdown")).value == model.readme_markdown


def test_fields_that_nobody_touched_follow_the_model(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = workbench.open("model", model=draft, part="Describe")
    client.models.update(draft, description="New.")
    at.run()
    assert at.text_area(key=key_of(at.text_area, "description")).value == "New."
    assert at.button(key="model.save").disabled


def test_two_people_in_one_field_are_told_of_each_other(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = type_in(workbench.open("model", model=draft, part="Describe"), "description", "Mine.")
    client.models.update(draft, description="Theirs.")
    at.run()
    assert "Someone else changed these fields: Description" in at.warning[0].value
    at.button(key="model.discard").click().run()
    assert at.text_area(key=key_of(at.text_area, "description")).value == "Theirs."


def test_what_is_refused_stands_below_its_field_and_nothing_typed_is_lost(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    at = type_in(workbench.open("model", model=draft, part="Describe"), "description", "x" * 2_001)
    type_in(at, "readme_markdown", "What I typed.")
    at.button(key="model.save").click().run()
    assert "At most 2,000 characters; this has 2,001" in words(at).replace("\\", "")
    assert at.text_area(key=key_of(at.text_area, "readme_markdown")).value == "What I typed."
    assert client.models.get(draft).readme_markdown is None


def test_what_is_typed_outlives_a_visit_of_another_part(workbench: Workbench, draft: str) -> None:
    at = type_in(workbench.open("model", model=draft, part="Describe"), "description", "Mine.")
    edit_sources(at, added=[{"name": "Letters"}])
    at.segmented_control(key="part").set_value("card").run()
    at.segmented_control(key="part").set_value("about").run()
    assert at.text_area(key=key_of(at.text_area, "description")).value == "Mine."
    assert at.button(key="model.save").label == "Save 2 changes"


def edit_sources(
    at: AppTest,
    *,
    rows: dict[int, dict[str, str]] | None = None,
    added: list[dict[str, str]] | None = None,
    table: str = "upstream_sources",
) -> AppTest:
    """What the browser sends after edits in a table."""
    changed = {"edited_rows": rows or {}, "added_rows": added or [], "deleted_rows": []}
    at.session_state[key_of(at.dataframe, table)] = changed
    return at.run()


def test_sources_are_edited_in_a_table_and_keep_what_is_no_text(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    client.models.update(draft, upstream_sources=[{"name": "Reviews", "year": 2020}])
    at = workbench.open("model", model=draft, part="Describe")
    edit_sources(at, rows={0: {"license": "MIT"}}, added=[{"name": "Letters", "url": "https://example.org"}])
    at.button(key="model.save").click().run()
    assert client.models.get(draft).upstream_sources == [
        {"name": "Reviews", "license": "MIT", "year": 2020},
        {"name": "Letters", "url": "https://example.org"},
    ]
    assert at.button(key="model.save").disabled


def test_the_main_trait_and_demo_texts_are_chosen_here(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.models.update(draft, demo_texts=["How kind!"])
    at = workbench.open("model", model=draft, part="Describe")
    at.selectbox(key=key_of(at.selectbox, "main_trait")).set_value("warmth").run()
    edit_sources(at, added=[{"Text": "Be gone."}, {"Text": "  "}], table="demo_texts")
    assert at.button(key="model.save").label == "Save 2 changes"
    at.button(key="model.save").click().run()
    model = client.models.get(draft)
    assert (model.main_trait, model.demo_texts) == ("warmth", ["How kind!", "Be gone."])
    client.models.update(draft, zero_data_retention=True)
    at.run()
    assert "keeps no demo texts" in words(at)


# ---- call it -----------------------------------------------------------------------------------------------------


def test_the_snippets_name_the_model_and_the_version_that_was_picked(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("model", model=trained.handle, part="Call it")
    assert len(at.code) == 4
    assert all(trained.handle in code.value and f"{trained.handle}@" not in code.value for code in at.code)
    at.selectbox(key=f"model.call_version.{trained.handle}").set_value("v1").run()
    assert len(at.code) == 4
    assert all(f"{trained.handle}@v1" in code.value for code in at.code)
    assert [button.proto.label for button in at.get("download_button")] == ["Open in a notebook"]


def test_before_the_first_training_it_says_that_calls_are_refused(workbench: Workbench, draft: str) -> None:
    assert "Train the model first" in words(workbench.open("model", model=draft, part="Call it"))


# ---- what is kept ------------------------------------------------------------------------------------------------


def kept(workbench: Workbench, handle: str) -> AppTest:
    return workbench.open("model", model=handle, part="What is kept")


def test_the_model_can_be_exported_with_what_is_in_it_said(workbench: Workbench, ready: str) -> None:
    at = kept(workbench, ready)
    assert "**20 samples**" in words(at)
    assert [button.proto.label for button in at.get("download_button")] == ["Export model"]


def test_a_policy_says_what_it_removes_before_it_does(
    workbench: Workbench, service: Service, client: Traitbench, ready: str
) -> None:
    for _ in range(2):
        add_version(service.context, ready, client)
    at = kept(workbench, ready)
    assert "3 versions now. This rule removes none of them" in words(at)
    at.number_input(key=key_of(at.number_input, "keep_unnamed")).set_value(1).run()
    assert "removes **1 version** at once: v2" in at.warning[0].value
    at.button(key="model.policy_save").click().run()
    assert len(list(client.versions.list(ready))) == 3
    at.button(key="model.prune.no").click().run()
    assert client.models.get(ready).version_retention_policy is None
    at.button(key="model.policy_save").click().run()
    at.button(key="model.prune.yes").click().run()
    assert [each.version_no for each in client.versions.list(ready)] == [3, 1]
    assert client.models.get(ready).version_retention_policy == VersionRetentionPolicy(keep_unnamed=1)
    assert "1 version removed" in at.toast[0].value


def test_a_policy_that_removes_nothing_is_saved_at_once_and_can_go_back_to_the_defaults(
    workbench: Workbench, client: Traitbench, ready: str
) -> None:
    at = kept(workbench, ready)
    assert at.button(key="model.policy_reset").disabled
    at.toggle(key=key_of(at.toggle, "keep_first_of_month")).set_value(False).run()
    at.button(key="model.policy_save").click().run()
    assert client.models.get(ready).version_retention_policy == VersionRetentionPolicy(keep_first_of_month=False)
    at.button(key="model.policy_reset").click().run()
    assert client.models.get(ready).version_retention_policy is None
    assert at.toggle(key=key_of(at.toggle, "keep_first_of_month")).value


def test_zero_retention_says_exactly_what_goes_and_asks_for_the_name(
    workbench: Workbench, client: Traitbench, ready: str
) -> None:
    client.scores.score(ready, "How lovely to see you again.", feedback={"warmth": "warm"})
    at = kept(workbench, ready)
    at.button(key="model.zero_on").click().run()
    assert "**21 samples** (20 of yours, 1 from feedback)" in words(at)
    assert "**1 sample of feedback** that no version was trained with yet" in words(at)
    at.text_input(key="model.purge_name").set_value("another").run()
    at.button(key="model.purge.yes").click().run()
    assert "This is not the model's name" in words(at).replace("\\", "")
    assert not client.models.get(ready).zero_data_retention
    at.text_input(key="model.purge_name").set_value(ready).run()
    at.button(key="model.purge.yes").click().run()
    assert client.models.get(ready).zero_data_retention
    assert not list(client.samples.list(ready))
    assert "It is on" in words(at)
    assert "Zero retention" in words(at)
    assert "Feedback is refused" in words(at)


def test_zero_retention_names_forks_and_covers_the_archived_ones(
    workbench: Workbench, client: Traitbench, ready: str
) -> None:
    left, living = f"{ready}-left", f"{ready}-living"
    for fork in (left, living):
        client.models.fork(ready, fork)
    client.models.delete(left)
    at = kept(workbench, ready)
    said = words(at).replace("\\", "")
    assert f"[{left}](/model?model={left}&part=What+is+kept): archived, switched on with this model" in said
    assert f"[{living}](/model?model={living}&part=What+is+kept): draft, has its own switch" in said
    at.button(key="model.zero_on").click().run()
    said = words(at).replace("\\", "")
    assert f"the samples of **1 archived fork**: [{left}]" in said
    assert f"These forks keep their samples. Turn it on there too: [{living}]" in said
    at.text_input(key="model.purge_name").set_value(ready).run()
    at.button(key="model.purge.yes").click().run()
    assert [len(client.samples.list(each).items) for each in (ready, left, living)] == [0, 0, 20]
    said = words(at).replace("\\", "")
    assert f"[{left}](/model?model={left}&part=What+is+kept): archived, zero data retention is on" in said


def test_zero_retention_stops_what_is_running_and_says_so(
    workbench: Workbench, service: Service, client: Traitbench, draft: str
) -> None:
    hold_busy(service.context, draft, None)
    at = kept(workbench, draft)
    at.button(key="model.zero_on").click().run()
    assert "the current run" in words(at)
    at.text_input(key="model.purge_name").set_value(draft).run()
    at.button(key="model.purge.yes").click().run()
    model = client.models.get(draft)
    assert (model.state, model.zero_data_retention) != ("busy", False)


def test_zero_retention_can_be_kept_off_and_turned_off_again(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = client.models.create(f"{namespace}.new").handle
    at = kept(workbench, handle)
    at.button(key="model.zero_on").click().run()
    at.button(key="model.purge.no").click().run()
    assert not client.models.get(handle).zero_data_retention
    client.models.update(handle, zero_data_retention=True)
    at.run()
    at.button(key="model.zero_off").click().run()
    assert "not restored" in words(at)
    at.button(key="model.retention_again.yes").click().run()
    assert not client.models.get(handle).zero_data_retention


def test_the_model_is_archived_only_after_the_question(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = kept(workbench, draft)
    at.button(key="model.archive").click().run()
    assert client.models.get(draft).state == "draft"
    at.button(key="catalog.archive.yes").click().run()
    assert client.models.get(draft).state == "archived"
    assert "This model was archived" in words(at)
    assert not [button for button in at.button if button.key == "model.zero_on"]
    at.button(key="shell.restore").click().run()
    assert client.models.get(draft).state == "draft"


# ---- those who may only look -------------------------------------------------------------------------------------


def test_a_scoring_key_sees_card_and_calls_and_is_told_why_there_is_no_more(
    monkeypatch: pytest.MonkeyPatch, service: Service, trained: Trained
) -> None:
    look = Workbench(monkeypatch, service, service.issue("scoring", ("trained",)))
    assert "Traits" in words(look.open("model", model=trained.handle))
    assert look.open("model", model=trained.handle, part="Call it").code
    for part in ("Describe", "What is kept"):
        at = look.open("model", model=trained.handle, part=part)
        assert not at.exception
        assert "may score but not change" in words(at)


def test_a_refusal_meanwhile_is_said_and_what_was_typed_stays(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    at = type_in(workbench.open("model", model=draft, part="Describe"), "description", "Mine.")
    at.button(key="model.save").click()
    client.models.delete(draft)
    at.run()
    assert not at.exception
    assert "archived" in words(at)


def test_under_zero_retention_the_language_model_can_be_allowed(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.retained"
    client.models.create(handle, zero_data_retention=True)
    at = kept(workbench, handle)
    at.toggle(key=f"model.language_model:{handle}:False").set_value(True).run()
    assert client.models.get(handle).language_model_allowed
    assert at.toggle(key=f"model.language_model:{handle}:True").value
