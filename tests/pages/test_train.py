"""The Train page: what will happen, how far it is, what it gave, and what another version would bring."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import Service, Trained
from tests.pages.drive import (
    Workbench,
    buttons,
    charts,
    copied_link,
    end_badly,
    frame,
    hold_busy,
    links,
    press,
    words,
)
from traitbench.client import Traitbench
from traitbench.contract.models import Progress
from traitbench.contract.rounding import in_decimals
from traitbench.contract.samples import SampleInput
from traitbench.display.quality import by_trait, evidence_on
from traitbench.errors import InsufficientSamples
from traitbench.fitting.search import EFFORTS
from traitbench.sample_data import demo_models

# ---- before ----------------------------------------------------------------------------------------------------------


def test_suggestions_without_samples_cannot_be_trained(workbench: Workbench, client: Traitbench, new: str) -> None:
    headlines = next(model for model in demo_models() if model.handle == "demo.headlines")
    client.traits.discover(new, effort="low", texts=[str(each["text"]) for each in headlines.samples[:100]])
    assert client.models.wait(new).traits
    at = workbench.open("train", model=new)
    assert "The model has no samples." in words(at)
    assert at.button(key="train.start").disabled


def test_training_leaves_out_what_was_not_kept(workbench: Workbench, client: Traitbench, draft: str) -> None:
    headlines = next(model for model in demo_models() if model.handle == "demo.headlines")
    client.traits.discover(draft, effort="low", texts=[str(each["text"]) for each in headlines.samples[:100]])
    client.models.wait(draft)
    first, *others = (each for each in client.traits.list(draft) if each.kind == "intrinsic")
    assert others
    client.traits.update(draft, first.key, suggestion=False)
    at = workbench.open("train", model=draft, effort="low")
    left_out = f"{len(others)} suggestion{'s are' if len(others) > 1 else ' is'} not kept and"
    assert left_out in words(at)
    assert "Decide first" in links(at)
    assert "Training fits 2 traits to 20 samples" in words(at)
    press(at, "train.start")
    assert client.models.wait(draft).state == "ready"
    assert [each.key for each in client.traits.list(draft)] == ["warmth", first.key]


def test_suggestions_are_back_if_the_training_is_refused(
    workbench: Workbench, client: Traitbench, draft: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    headlines = next(model for model in demo_models() if model.handle == "demo.headlines")
    client.traits.discover(draft, effort="low", texts=[str(each["text"]) for each in headlines.samples[:100]])
    client.models.wait(draft)
    before = client.traits.list(draft)
    at = workbench.open("train", model=draft)

    def refuse(*_arguments: object) -> None:
        raise InsufficientSamples("No sample is left.")

    monkeypatch.setattr("traitbench.operations.training._check_samples", refuse)
    press(at, "train.start")
    assert "No sample is left" in at.error[0].value
    assert client.traits.list(draft) == before


def test_it_says_what_will_happen_and_what_each_effort_costs(workbench: Workbench, draft: str) -> None:
    at = workbench.open("train", model=draft)
    assert "Training fits 1 trait to 20 samples" in words(at)
    assert "version **v1**" in words(at)
    row = at.dataframe[0].value.iloc[0].to_dict()
    assert (row["Trait"], row["▲ Positive"], row["▼ Negative"], row["Ready"]) == ("Warmth", 10, 10, "yes")
    effort = at.radio(key="effort")
    assert effort.value == "high"
    captions = list(effort.proto.captions)
    tried = ("tries 2 settings.", "tries up to 45 settings.", "tries up to 135 settings.", "tries up to 515 settings.")
    assert all(words in caption for words, caption in zip(tried, captions, strict=True))
    assert all(f"{name}: {each.says}" in effort.help for name, each in EFFORTS.items())
    assert all(caption.endswith((" s.", "min.", "second.")) for caption in captions)
    assert "to read 20 texts" in words(at)
    assert "to fit 1 trait" in words(at)


def test_effort_and_labels_stand_in_the_link(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = workbench.open("train", model=draft, effort="low", use_labels="false")
    assert (at.radio(key="effort").value, at.toggle(key="use_labels").value) == ("low", False)
    assert copied_link(at) == {"model": draft, "effort": "low", "use_labels": "false"}
    press(at, "train.start")
    assert client.models.wait(draft).state == "ready"
    metrics = client.versions.get(draft).metrics
    assert (metrics.effort, metrics.use_labels) == ("low", False)
    at.session_state["figures"] = True
    at.run()
    assert "v1 gets" in words(at)
    assert "20 samples, effort low" in words(at)
    at = workbench.open("train", model=draft, refit="true", effort="low", use_labels="false")
    assert "A refit would change nothing now" in at.info[0].value
    assert at.button(key="train.retune.start").disabled
    at.toggle(key="use_labels").set_value(True).run()
    assert not at.info, "the labels are something to search with"
    assert not at.button(key="train.retune.start").disabled


def test_what_changed_is_seen_before_anything_starts(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = workbench.open("train", model=draft, effort="low")
    for sample in list(client.samples.list(draft)):
        client.samples.delete(draft, sample.id)
    press(at, "train.start")
    assert at.button(key="train.start").disabled
    assert client.models.get(draft).state == "draft"
    assert at.radio(key="effort").value == "low"


# ---- meanwhile -------------------------------------------------------------------------------------------------------


def test_a_running_training_shows_phase_share_and_time_left(workbench: Workbench, service: Service, draft: str) -> None:
    progress = Progress(phase="encoding", done=1280, total=5300, fraction=0.23, elapsed_s=7.2, eta_s=104.0)
    run_id = hold_busy(service.context, draft, progress)
    for visit in ("first", "after a reload"):
        at = workbench.open("train", model=draft)
        assert at.progress[0].value == 23, visit
        assert at.progress[0].proto.text == "Encoding, 1,280 of 5,300"
        assert "7 s so far, about 1 min 44 s left" in words(at)
        assert run_id in at.subheader[0].proto.help


def test_a_training_waits_fails_with_a_reason_and_is_started_again(
    workbench: Workbench, service: Service, client: Traitbench, draft: str
) -> None:
    run_id = hold_busy(service.context, draft)
    at = workbench.open("train", model=draft)
    assert at.progress[0].proto.text == "Waiting in the queue"
    end_badly(service.context, run_id, "The disk is full.")
    at.run()
    assert not at.progress
    assert "failed.** The disk is full\\." in at.error[0].value
    assert "Traits and samples did not change" in at.error[0].value
    press(at, "train.start")
    assert client.models.wait(draft).state == "ready"


def test_during_a_refit_the_old_version_scores(workbench: Workbench, service: Service, ready: str) -> None:
    run_id = hold_busy(service.context, ready, kind="retune")
    at = workbench.open("train", model=ready)
    assert "Refitting" in words(at)
    assert "v1 keeps scoring meanwhile" in words(at)
    assert "Score a text with v1" in links(at)
    end_badly(service.context, run_id, "The disk is full.")
    at.run()
    assert "The disk is full\\. v1 did not change and keeps scoring." in " ".join(at.error[0].value.split())
    assert "v1 gets" in words(at)


# ---- the result ------------------------------------------------------------------------------------------------------


def test_the_result_is_one_sentence_and_all_statistics_are_folded(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("train", model=trained.handle)
    metrics = trained.client.versions.get(trained.handle).metrics
    confidence, evidence = metrics.traits["warmth"].confidence, evidence_on(by_trait(metrics))
    assert confidence
    assert evidence is not None
    right = sum(each.right for each in confidence.values())
    assert f"{right} of 20 samples are on the side of their label" in words(at)
    assert "right on texts it has not seen" in words(at)
    assert evidence.doubt in words(at)
    assert {"Score a text", "View versions"} <= set(links(at))
    assert not charts(at)
    assert not at.dataframe


def test_a_ready_model_shows_each_figure_and_what_it_was_measured_on(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("train", model=trained.handle, figures="true")
    assert copied_link(at) == {"model": trained.handle, "figures": "true"}
    figures = trained.client.versions.get(trained.handle).metrics.traits["warmth"].model_dump()
    low, high = figures["auroc_interval"]
    assert f"{in_decimals(figures['auroc'])} ({in_decimals(low)} to {in_decimals(high)})" in charts(at)[0]
    assert f"Measured on: {figures['measured_on'].replace('-', chr(92) + '-')} (Warmth)." in words(at)


def test_a_ready_model_shows_the_search_and_its_forecast(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("train", model=trained.handle, search="true")
    known = trained.client.versions.get(trained.handle).metrics.traits["warmth"].model_dump()
    row = frame(at, "Tried").iloc[0].to_dict()
    search = known["search"]
    assert (row["Trait"], row["Tried"], row["Gained"]) == ("Warmth", search["tried"], search["gained"])
    assert (row["Label weight"], row["Why"]) == (known["labels"]["share"], known["labels"]["why"])
    assert f"20 more samples: AUROC {in_decimals(known['forecast']['auroc'])} (between" in words(at)
    assert "Learning curves, calibration and tiers" in links(at)


def test_mistakes_are_decided_by_keys_and_go_into_a_draft(workbench: Workbench, client: Traitbench, draft: str) -> None:
    wrong = "Thank you so much, you have been a wonderful help to us."
    client.samples.add(draft, [SampleInput(trait="warmth", text=wrong, quality=0.0)])
    client.models.train(draft, effort="low")
    client.models.wait(draft)
    at = workbench.open("train", model=draft, show="Mistakes")
    assert copied_link(at) == {"model": draft, "show": "Mistakes"}
    mistakes = at.dataframe[0].value["Text"].tolist()
    assert wrong in mistakes
    for _ in mistakes:
        if shown(at) != wrong:
            press(at, "train.mistake.skip")
    assert "Labelled **▼ cold**" in words(at)
    assert at.button(key="train.mistake.flip").label == "Flip to ▲ warm"
    assert at.button(key="train.apply").disabled
    press(press(at, "train.mistake.delete"), "train.mistake.undo")
    assert shown(at) == wrong, "the text is back"
    press(at, "train.mistake.flip")
    assert at.dataframe[0].value.set_index("Text")["Decision"][wrong] == "flipped"
    press(at, "train.apply")
    assert not at.error
    fork = client.models.get(f"{draft}-next").handle
    assert [each.quality for each in client.samples.list(fork) if each.text == wrong] == [1.0]
    assert [each.quality for each in client.samples.list(draft) if each.text == wrong] == [0.0], "frozen"
    assert at.selectbox(key="model").value == fork
    assert at.button(key="train.start").label == "Train and compare"


def shown(at: AppTest) -> str:
    """The text that is to be decided."""
    body = next(html.proto.body for html in at.get("html") if 'class="tb-why"' in html.proto.body)
    return re.sub(r"<style>.*?</style>|<[^>]+>", "", body, flags=re.DOTALL).strip()


# ---- another version -------------------------------------------------------------------------------------------------


def test_a_ready_model_says_why_training_again_does_nothing(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("train", model=trained.handle, change="true")
    assert "Training freezes traits and samples" in words(at)
    assert not buttons(at, "train.start")


def test_a_refit_is_compared_with_the_version_before(workbench: Workbench, client: Traitbench, ready: str) -> None:
    at = workbench.open("train", model=ready, refit="true", effort="low")
    assert "A refit would change nothing now" in at.info[0].value
    at.toggle(key="use_labels").set_value(False).run()
    assert not at.info
    assert "The result becomes **v2**" in words(at)
    press(at, "train.retune.start")
    assert client.models.wait(ready).version_no == 2
    assert client.versions.get(ready).triggered_by == "retune"
    at.run()
    assert "v2 gets" in words(at)
    assert "**Compared with v1.** Not known" in words(at)
    assert "Compare v1 with v2" in links(at)
    press(at, "train.back")
    assert client.models.get(ready).version_no == 1


def test_a_refit_of_the_same_samples_says_so(workbench: Workbench, client: Traitbench, ready: str) -> None:
    client.models.train(ready, effort="low", reoptimize_params=True)
    client.models.wait(ready)
    assert "Both versions have the same parameters" in words(workbench.open("train", model=ready))


def test_depth_and_feedback_are_something_to_refit_for(workbench: Workbench, client: Traitbench, ready: str) -> None:
    client.models.update(ready, max_depth=2)
    at = workbench.open("train", model=ready, refit="true", effort="low")
    assert not at.info
    assert "depth (2)" in words(at)
    client.models.update(ready, max_depth=1)
    client.scores.score(ready, "Go away.", feedback={"warmth": 0})
    at = workbench.open("train", model=ready, refit="true", effort="low")
    assert at.progress[0].proto.text == "1 sample of feedback; 10 start a retraining"
    assert "fitted again from scratch (21 samples, 1 of them pending feedback)" in words(at)
    assert not at.info
