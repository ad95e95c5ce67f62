"""The Train page: what will happen, how far it is, what it gave; with nothing there, and with the service away."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import Service, Trained, free_port, make_draft
from tests.pages.drive import Workbench, charts, copied_link, end_badly, hold_busy, links, words
from traitbench.client import Traitbench
from traitbench.contract.models import Progress
from traitbench.contract.rounding import in_decimals
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.fitting.search import EFFORTS
from traitbench.sample_data import demo_models


def test_without_traits_it_says_what_comes_first(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    client.models.create(f"{namespace}.new")
    at = workbench.open("train", model=f"{namespace}.new")
    assert "Add a trait first" in words(at)
    assert "Add traits" in links(at)
    assert not can_start(at)


def test_an_empty_pole_is_named_and_nothing_can_start(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.half"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    client.samples.add(handle, [SampleInput(trait="warmth", text="Thank you!", quality=1.0)])
    at = workbench.open("train", model=handle)
    assert "Warmth needs at least one sample that is *cold*." in words(at)
    assert "Add samples" in links(at)
    assert at.button(key="train.start").disabled


def test_suggestions_without_samples_cannot_be_trained_and_it_says_what_comes_first(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.heap"
    client.models.create(handle)
    headlines = next(model for model in demo_models() if model.handle == "demo.headlines")
    client.traits.discover(handle, effort="low", texts=[str(each["text"]) for each in headlines.samples[:100]])
    assert client.models.wait(handle).traits
    at = workbench.open("train", model=handle)
    assert "The model has no samples." in words(at)
    assert at.button(key="train.start").disabled


def test_it_says_what_will_happen_before_it_happens(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    make_draft(client, f"{namespace}.tone")
    at = workbench.open("train", model=f"{namespace}.tone")
    assert "Training fits 1 trait to 20 samples" in words(at)
    assert "version **v1**" in words(at)
    row = at.dataframe[0].value.iloc[0].to_dict()
    assert (row["Trait"], row["▲ Positive"], row["▼ Negative"], row["Ready"]) == ("Warmth", 10, 10, "yes")
    assert at.radio(key="effort").value == "high"


def test_the_effort_can_stand_in_the_link(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    make_draft(client, f"{namespace}.tone")
    assert workbench.open("train", model=f"{namespace}.tone", effort="max").radio(key="effort").value == "max"


def test_each_effort_says_what_it_tries_and_what_it_costs(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    make_draft(client, f"{namespace}.tone")
    at = workbench.open("train", model=f"{namespace}.tone")
    captions = list(at.radio(key="effort").proto.captions)
    tried = ("tries 2 settings.", "tries up to 45 settings.", "tries up to 135 settings.", "tries up to 515 settings.")
    assert all(words in caption for words, caption in zip(tried, captions, strict=True))
    assert all(f"{name}: {effort.says}" in at.radio(key="effort").help for name, effort in EFFORTS.items())
    assert all(caption.endswith((" s.", "min.", "second.")) for caption in captions)
    assert "to read 20 texts" in words(at)
    assert "to fit 1 trait" in words(at)


def test_the_labels_can_be_left_out_and_that_stands_in_the_link(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    at = workbench.open("train", model=handle, effort="low", use_labels="false")
    assert not at.toggle(key="use_labels").value
    assert copied_link(at) == {"model": handle, "effort": "low", "use_labels": "false"}
    at.button(key="train.start").click().run()
    client.models.wait(handle)
    assert client.versions.get(handle).metrics.use_labels is False
    at = workbench.open("train", model=handle, refit="true", effort="low", use_labels="false")
    assert "A refit would change nothing now" in at.info[0].value
    assert at.button(key="train.retune.start").disabled
    at.toggle(key="use_labels").set_value(True).run()
    assert not at.info, "the labels are something to search with"
    assert not at.button(key="train.retune.start").disabled


def test_a_started_training_ends_in_a_version_with_figures(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    at = workbench.open("train", model=handle)
    at.radio(key="effort").set_value("low").run()
    at.button(key="train.start").click().run()
    assert not at.exception
    assert client.models.wait(handle).state == "ready"
    assert client.versions.get(handle).metrics.effort == "low"
    at.session_state["figures"] = True
    at.run()
    assert "v1 gets" in words(at)
    assert "20 samples, effort low" in words(at)


def test_the_result_is_one_sentence_and_all_statistics_are_folded(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("train", model=trained.handle)
    figures = trained.client.versions.get(trained.handle).metrics.traits["warmth"]
    assert figures.confidence
    right = sum(each.right for each in figures.confidence.values())
    assert f"{right} of 20 samples are on the side of their label" in words(at)
    assert "right on texts it has not seen" in words(at)
    assert "This is little evidence: with 20 samples" in words(at)
    assert {"Score a text", "View versions"} <= set(links(at))
    assert not charts(at)
    assert not at.dataframe


def test_mistakes_are_decided_by_keys_and_go_into_a_draft(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle, wrong = f"{namespace}.tone", "Thank you so much, you have been a wonderful help to us."
    make_draft(client, handle)
    client.samples.add(handle, [SampleInput(trait="warmth", text=wrong, quality=0.0)])
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    at = workbench.open("train", model=handle, show="Mistakes")
    assert copied_link(at) == {"model": handle, "show": "Mistakes"}
    mistakes = at.dataframe[0].value["Text"].tolist()
    assert wrong in mistakes
    for _ in mistakes:
        if shown(at) != wrong:
            at.button(key="train.mistake.skip").click().run()
    assert "Labelled **▼ cold**" in words(at)
    assert at.button(key="train.mistake.flip").label == "Flip to ▲ warm"
    assert at.button(key="train.apply").disabled
    at.button(key="train.mistake.delete").click().run()
    at.button(key="train.mistake.undo").click().run()
    assert shown(at) == wrong, "the text is back"
    at.button(key="train.mistake.flip").click().run()
    assert at.dataframe[0].value.set_index("Text")["Decision"][wrong] == "flipped"
    at.button(key="train.apply").click().run()
    assert not at.error
    draft = client.models.get(f"{handle}-next")
    assert [each.quality for each in client.samples.list(draft.handle) if each.text == wrong] == [1.0]
    assert [each.quality for each in client.samples.list(handle) if each.text == wrong] == [0.0], "frozen"
    assert at.selectbox(key="model").value == draft.handle
    assert at.button(key="train.start").label == "Train and compare"


def test_a_ready_model_shows_each_figure_and_what_it_was_measured_on(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("train", model=trained.handle, figures="true")
    assert copied_link(at) == {"model": trained.handle, "figures": "true"}
    figures = trained.client.versions.get(trained.handle).metrics.traits["warmth"].model_dump()
    low, high = figures["auroc_interval"]
    assert f"{in_decimals(figures['auroc'])} ({in_decimals(low)} to {in_decimals(high)})" in charts(at)[0]
    assert f"Measured on: {figures['measured_on'].replace('-', chr(92) + '-')} (Warmth)." in words(at)
    assert {"Score a text", "View versions"} <= set(links(at))


def test_a_ready_model_shows_what_was_tried_and_gained_and_what_more_samples_would_bring(
    workbench: Workbench, trained: Trained
) -> None:
    at = workbench.open("train", model=trained.handle, search="true")
    document = trained.client.versions.get(trained.handle).metrics.traits["warmth"].model_dump()
    row = next(each.value for each in at.dataframe if "Tried" in each.value).iloc[0].to_dict()
    assert (row["Trait"], row["Tried"], row["Gained"]) == (
        "Warmth",
        document["search"]["tried"],
        document["search"]["gained"],
    )
    assert (row["Label weight"], row["Why"]) == (document["labels"]["share"], document["labels"]["why"])
    assert f"20 more samples: AUROC {in_decimals(document['forecast']['auroc'])} (between" in words(at)
    assert "Learning curves, calibration and tiers" in links(at)


def test_a_ready_model_says_why_training_again_does_nothing(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("train", model=trained.handle, change="true")
    assert "Training freezes traits and samples" in words(at)
    assert not can_start(at)


def test_a_fresh_search_gives_a_version_that_is_set_against_the_one_before(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = ready(client, f"{namespace}.tone")
    at = workbench.open("train", model=handle, refit="true")
    assert "A refit would change nothing now" in at.info[0].value
    at.radio(key="effort").set_value("low").run()
    at.toggle(key="use_labels").set_value(False).run()
    assert not at.info
    assert "The result becomes **v2**" in words(at)
    at.button(key="train.retune.start").click().run()
    assert client.models.wait(handle).version_no == 2
    assert client.versions.get(handle).triggered_by == "retune"
    at.run()
    assert "v2 gets" in words(at)
    assert "**Compared with v1.** Not known" in words(at)
    assert "Compare v1 with v2" in links(at)
    at.button(key="train.back").click().run()
    assert client.models.get(handle).version_no == 1


def test_a_fresh_search_in_the_same_samples_is_said_to_have_found_the_same(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = ready(client, f"{namespace}.tone")
    client.models.train(handle, reoptimize_params=True)
    client.models.wait(handle)
    assert "Both versions have the same parameters" in words(workbench.open("train", model=handle))


def test_a_new_depth_is_something_to_search_for(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = ready(client, f"{namespace}.tone")
    client.models.update(handle, max_depth=2)
    at = workbench.open("train", model=handle, refit="true")
    assert not at.info
    assert "depth (2)" in words(at)


def test_feedback_that_waits_is_shown_and_goes_into_a_fresh_search(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = ready(client, f"{namespace}.tone")
    client.scores.score(handle, "Go away.", feedback={"warmth": 0})
    at = workbench.open("train", model=handle, refit="true")
    assert at.progress[0].proto.text == "1 sample of feedback; 10 start a retraining"
    assert "fitted again from scratch (21 samples, 1 of them pending feedback)" in words(at)
    assert not at.info


def test_a_running_retraining_says_so_and_the_old_version_scores(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = ready(client, f"{namespace}.tone")
    run_id = hold_busy(service.context, handle, None, kind="retune")
    at = workbench.open("train", model=handle)
    assert "Refitting" in words(at)
    assert "v1 keeps scoring meanwhile" in words(at)
    assert "Score a text with v1" in links(at)
    end_badly(service.context, run_id, "The disk is full.")
    at.run()
    assert "The disk is full\\. v1 did not change and keeps scoring." in " ".join(at.error[0].value.split())
    assert "v1 gets" in words(at)


def test_under_zero_retention_there_is_nothing_to_search_in(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = ready(client, f"{namespace}.tone")
    client.models.update(handle, zero_data_retention=True)
    at = workbench.open("train", model=handle, refit="true")
    assert "the samples were removed after training" in words(at)
    assert not any(button.key == "train.retune.start" for button in at.button)


def test_with_a_scoring_key_nothing_can_be_started(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, trained: Trained, namespace: str
) -> None:
    make_draft(client, f"{namespace}.draft")
    scorer = Workbench(monkeypatch, service, service.issue("scoring", ("trained", namespace)))
    at = scorer.open("train", model=trained.handle, refit="true")
    assert "Use a key of scope `authoring`" in words(at)
    assert not any(button.key == "train.retune.start" for button in at.button)
    assert scorer.open("train", model=f"{namespace}.draft").button(key="train.start").disabled


def test_a_running_training_shows_phase_share_and_time_left(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    run_id = hold_busy(
        service.context,
        handle,
        Progress(phase="encoding", done=1280, total=5300, fraction=0.23, elapsed_s=7.2, eta_s=104.0),
    )
    for visit in ("first", "after a reload"):
        at = workbench.open("train", model=handle)
        assert at.progress[0].value == 23, visit
        assert at.progress[0].proto.text == "Encoding, 1,280 of 5,300"
        assert "7 s so far, about 1 min 44 s left" in words(at)
        assert run_id in at.subheader[0].proto.help


def test_a_queued_training_waits_for_its_turn(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    hold_busy(service.context, handle, None)
    assert workbench.open("train", model=handle).progress[0].proto.text == "Waiting in the queue"


def test_when_the_run_ends_the_page_shows_the_outcome(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    run_id = hold_busy(service.context, handle, None)
    at = workbench.open("train", model=handle)
    end_badly(service.context, run_id, "The disk is full.")
    at.run()
    assert not at.progress
    assert "failed.** The disk is full\\." in words(at)


def test_a_failed_training_says_why_and_can_be_started_again(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    end_badly(service.context, hold_busy(service.context, handle, None), "The worker was stopped three times.")
    at = workbench.open("train", model=handle)
    assert "The worker was stopped three times" in at.error[0].value
    assert "Traits and samples did not change" in at.error[0].value
    at.button(key="train.start").click().run()
    assert client.models.wait(handle).state == "ready"


def test_what_changed_meanwhile_is_seen_before_anything_starts(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    at = workbench.open("train", model=handle, effort="low")
    for sample in list(client.samples.list(handle)):
        client.samples.delete(handle, sample.id)
    at.button(key="train.start").click().run()
    assert at.button(key="train.start").disabled
    assert client.models.get(handle).state == "draft"
    assert at.radio(key="effort").value == "low"


def test_an_archived_model_cannot_be_trained(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    make_draft(client, f"{namespace}.old")
    client.models.delete(f"{namespace}.old")
    at = workbench.open("train", model=f"{namespace}.old")
    assert "was archived" in words(at)
    assert not can_start(at)


def test_without_a_service_it_says_so(monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    away = Workbench(monkeypatch, service, "no key", base_url=f"http://127.0.0.1:{free_port()}")
    at = away.open("train", model="local.tone")
    assert not at.exception
    assert "The service does not answer" in words(at)


def ready(client: Traitbench, handle: str) -> str:
    make_draft(client, handle)
    client.models.train(handle)
    client.models.wait(handle)
    return handle


def can_start(at: AppTest) -> bool:
    return any(button.key == "train.start" for button in at.button)


def shown(at: AppTest) -> str:
    """The text that is to be decided."""
    body = next(html.proto.body for html in at.get("html") if 'class="tb-why"' in html.proto.body)
    return re.sub(r"<style>.*?</style>|<[^>]+>", "", body, flags=re.DOTALL).strip()
