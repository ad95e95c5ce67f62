"""The Train page: what will happen, how far it is, what it gave, and what another version would bring."""

import json
import re
from html import unescape
from time import monotonic

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import Service, Trained, train
from tests.pages.drive import (
    Workbench,
    buttons,
    charts,
    copied_link,
    end_badly,
    frame,
    hold_busy,
    links,
    plain,
    press,
    words,
)
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench
from traitbench.contract.bundles import Bundle, digest
from traitbench.contract.models import Progress
from traitbench.contract.rounding import in_decimals
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import Trait, TraitInput
from traitbench.display.quality import by_trait, evidence_on
from traitbench.errors import InsufficientSamples
from traitbench.sample_data import demo_models
from traitbench_app.parts import runs

# ---- before ----------------------------------------------------------------------------------------------------------


def discovered(client: Traitbench, handle: str) -> list[Trait]:
    """The traits of a model after a discovery in texts without labels."""
    headlines = next(model for model in demo_models() if model.handle == "demo.headlines")
    client.traits.discover(handle, effort="low", texts=[str(each["text"]) for each in headlines.samples[:100]])
    client.models.wait(handle)
    return client.traits.list(handle)


def test_suggestions_without_samples_cannot_be_trained(workbench: Workbench, client: Traitbench, new: str) -> None:
    assert discovered(client, new)
    at = workbench.open("train", model=new)
    assert "The model has no samples." in words(at)
    assert at.button(key="train.start").disabled


def test_training_leaves_out_what_was_not_kept(workbench: Workbench, client: Traitbench, draft: str) -> None:
    first, *others = (each for each in discovered(client, draft) if each.kind == "intrinsic")
    assert others
    client.traits.update(draft, first.key, suggestion=False)
    at = workbench.open("train", model=draft, effort="Quick")
    left_out = f"{len(others)} suggestion{'s are' if len(others) > 1 else ' is'} not kept and"
    assert left_out in words(at)
    assert "Decide first" in links(at)
    assert "Learn from 20 samples" in words(at)
    press(at, "train.start")
    assert client.models.wait(draft).state == "ready"
    assert [each.key for each in client.traits.list(draft)] == ["warmth", first.key]


def test_suggestions_are_back_if_the_training_is_refused(
    workbench: Workbench, client: Traitbench, draft: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = discovered(client, draft)
    at = workbench.open("train", model=draft)

    def refuse(*_arguments: object) -> None:
        raise InsufficientSamples("No sample is left.")

    monkeypatch.setattr("traitbench.operations.training._check_samples", refuse)
    press(at, "train.start")
    assert "No sample is left" in at.error[0].value
    assert client.traits.list(draft) == before


def test_it_says_what_will_happen_and_what_each_effort_tries(workbench: Workbench, draft: str) -> None:
    at = workbench.open("train", model=draft)
    assert "Learn from 20 samples. Nothing that is in use changes." in words(at)
    assert any("10 cold and 10 warm samples" in html.proto.body for html in at.get("html"))
    effort = at.radio(key="effort")
    assert effort.value == "high"
    assert effort.options == ["Quick", "Normal", "Thorough"]
    assert list(effort.proto.captions) == ["Up to 2 settings.", "Up to 45 settings.", "Up to 135 settings."]


def test_the_start_is_primary_only_if_training_is_what_the_header_asks_for(
    workbench: Workbench, client: Traitbench, new: str, draft: str
) -> None:
    assert workbench.open("train", model=draft).button(key="train.start").proto.type == "primary"
    client.traits.add(new, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    samples = [SampleInput(trait="Warmth", text=f"Text {each}.", quality=float(each % 2)) for each in range(4)]
    client.samples.add(new, samples)
    at = workbench.open("train", model=new)
    assert at.button(key="train.start").proto.type == "secondary"
    assert at.button(key="head.step").proto.type == "primary"


def test_effort_and_labels_stand_in_the_link(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = workbench.open("train", model=draft, effort="Quick", use_labels="false")
    assert (at.radio(key="effort").value, at.toggle(key="use_labels").value) == ("low", False)
    assert copied_link(at) == {"model": draft, "effort": "Quick", "use_labels": "false"}
    press(at, "train.start")
    assert client.models.wait(draft).state == "ready"
    metrics = client.versions.get(draft).metrics
    assert (metrics.effort, metrics.use_labels) == ("low", False)
    at.session_state["figures"] = True
    at.run()
    assert "v1 gets" in words(at)
    assert "20 samples, effort low" in words(at)
    at = workbench.open("train", model=draft, refit="true", effort="Quick", use_labels="false")
    assert "Training again would change nothing now" in at.info[0].value
    assert at.button(key="train.retune.start").disabled
    at.toggle(key="use_labels").set_value(True).run()
    assert not at.info, "the labels are something to search with"
    assert not at.button(key="train.retune.start").disabled


def test_what_changed_is_seen_before_anything_starts(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = workbench.open("train", model=draft, effort="Quick")
    for sample in list(client.samples.list(draft)):
        client.samples.delete(draft, sample.id)
    press(at, "train.start")
    assert at.button(key="train.start").disabled
    assert client.models.get(draft).state == "draft"
    assert at.radio(key="effort").value == "low"


# ---- meanwhile -------------------------------------------------------------------------------------------------------


def test_a_running_training_shows_share_and_time_left(
    workbench: Workbench, service: Service, draft: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = Progress(phase="encoding", done=1280, total=5300, fraction=0.23, elapsed_s=7.2, eta_s=104.4)
    run_id = hold_busy(service.context, draft, progress)
    for visit in ("first", "after a reload"):
        at = workbench.open("train", model=draft)
        assert at.header[0].value == "Learning from 20 samples", visit
        assert "About 1 min 44 s left. You can leave this page; the run continues." in words(at)
        assert "Training: about 1 min 44 s left." in words(at), "the header line"
        assert at.progress[0].value == 23
        assert at.progress[0].proto.text == "Reading texts: 1,280 of 5,300 · 23%"
        assert "**Warmth**  \n:gray[waits]" in words(at)
        assert run_id in next(each.help for each in at.caption if "so far" in each.value)
    for passed, says in ((40, "About 64 s left."), (120, "Taking longer than expected.")):
        monkeypatch.setattr(runs, "monotonic", lambda passed=passed: monotonic() + passed)
        assert says in words(at.run()), "the time goes on while the run reports nothing"


def test_a_running_training_shows_how_far_each_trait_is(
    workbench: Workbench, client: Traitbench, service: Service, draft: str
) -> None:
    client.traits.add(draft, [TraitInput(name=f"Form {n}", positive_label="a", negative_label="b") for n in "12"])
    hold_busy(
        service.context, draft, Progress(phase="learning", done=1, total=3, fraction=0.5, elapsed_s=8.0, eta_s=8.0)
    )
    at = workbench.open("train", model=draft)
    assert at.progress[0].proto.text == "1 of 3 traits done · 50%"
    states = {"Warmth": "done", "Form 1": "trying settings", "Form 2": "waits"}
    assert all(f"**{name}**  \n:gray[{state}]" in words(at) for name, state in states.items())
    at.session_state["train.started"] = (draft, "high")
    assert "8 s so far. Thorough: up to 135 settings for each trait." in words(at.run())


def test_a_training_of_a_moment_has_no_more_than_its_title(workbench: Workbench, service: Service, draft: str) -> None:
    hold_busy(
        service.context, draft, Progress(phase="learning", done=0, total=1, fraction=0.5, elapsed_s=1.0, eta_s=1.0)
    )
    at = workbench.open("train", model=draft)
    assert at.header[0].value == "Learning from 20 samples"
    assert not at.progress


def test_a_training_waits_fails_with_a_reason_and_is_started_again(
    workbench: Workbench, service: Service, client: Traitbench, draft: str
) -> None:
    run_id = hold_busy(service.context, draft)
    at = workbench.open("train", model=draft)
    assert "Waiting in the queue. You can leave this page" in words(at)
    end_badly(service.context, run_id, "The disk is full.")
    at.run()
    assert "failed.** The disk is full\\." in at.error[0].value
    assert "Your samples are safe" in at.error[0].value
    press(at, "train.start")
    assert client.models.wait(draft).state == "ready"


def test_during_a_refit_the_old_version_scores(workbench: Workbench, service: Service, ready: str) -> None:
    run_id = hold_busy(service.context, ready, kind="retune")
    at = workbench.open("train", model=ready)
    assert "Training again: waiting in the queue." in words(at)
    assert "v1 keeps scoring until the run has ended" in words(at)
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
    assert at.header[0].value == evidence.says("v1", [])
    assert f"{right} of 20 samples fall on the side of their label" in words(at)
    assert evidence.doubt in plain(at)
    assert "Add texts on both sides first: 10 of each are too few" in words(at)
    assert "Label more texts" in links(at)
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


def test_a_ready_model_shows_what_was_tried(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("train", model=trained.handle, figures="true")
    known = trained.client.versions.get(trained.handle).metrics.traits["warmth"].model_dump()
    row = frame(at, "Tried").iloc[0].to_dict()
    search = known["search"]
    assert (row["Trait"], row["Tried"], row["Gained"]) == ("Warmth", search["tried"], search["gained"])
    assert (row["Label weight"], row["Why"]) == (known["labels"]["share"], known["labels"]["why"])


WRONG = tuple(
    f"{text}{end}"
    for text in ("Thank you so much, you have been a wonderful help to us", "How lovely to hear from you, dear friend")
    for end in (".", " again.", "!")
)


@pytest.fixture
def mislabelled(client: Traitbench, draft: str) -> str:
    """A trained model with kind texts that are labelled as cold."""
    client.samples.add(draft, [SampleInput(trait="warmth", text=text, quality=0.0) for text in WRONG])
    train(client, draft)
    return draft


def test_the_first_mistakes_are_decided_by_keys_and_go_into_a_draft(
    workbench: Workbench, client: Traitbench, mislabelled: str
) -> None:
    at = workbench.open("train", model=mislabelled)
    first = mistakes(at)
    assert len(first) == 5
    assert [each.proto.shortcut.upper() for each in at.button if str(each.key).startswith("train.mistake.")][:2] == [
        "K",
        "X",
    ]
    assert not buttons(at, "train.apply")
    press(at, "train.mistake.keep")
    assert mistakes(at)[0] == first[1], "the next one moves up"
    assert "these labels are right" in words(at)
    press(press(at, "train.mistake.flip"), "train.mistake.undo")
    assert mistakes(at)[0] == first[1]
    press(at, "train.mistake.flip")
    assert "1 kept, 1 changed" in words(at)
    changed = {each.text: 1 - each.quality for each in client.samples.list(mislabelled) if each.text == first[1]}
    press(at, "train.apply")
    assert not at.error
    fork = client.models.get(f"{mislabelled}-next").handle
    assert {each.text: each.quality for each in client.samples.list(fork) if each.text in changed} == changed
    assert at.selectbox(key="model").value == fork
    assert at.button(key="train.start").label == "Train and compare"


def test_all_mistakes_are_one_key_away(workbench: Workbench, client: Traitbench, mislabelled: str) -> None:
    at = workbench.open("train", model=mislabelled)
    total = int(at.button(key="train.to_mistakes").label.removeprefix("Review all "))
    press(at, "train.to_mistakes")
    assert copied_link(at) == {"model": mislabelled, "show": "Mistakes"}
    assert len(mistakes(at)) == total > 5
    press(at, "train.mistake.delete")
    assert len(mistakes(at)) == total - 1
    press(at, "train.apply")
    assert client.traits.list(f"{mislabelled}-next")[0].sample_count == 25


def of_before(client: Traitbench, handle: str, **changed: float) -> str:
    """A copy of a model as an earlier release exported it, with its first sample changed."""
    content = json.loads(client.models.export(handle).model_dump_json())
    del content["versions"][0]["positions"]
    content["samples"][0] |= changed
    bundle = Bundle.model_validate(content)
    bundle = bundle.model_copy(update={"sha256": digest(bundle)})
    return client.models.import_(bundle, handle=f"{handle}-before").handle


def test_the_mistakes_of_an_earlier_release_are_worked_out_once(
    workbench: Workbench, client: Traitbench, mislabelled: str
) -> None:
    first = mistakes(workbench.open("train", model=mislabelled))
    at = workbench.open("train", model=of_before(client, mislabelled))
    end = monotonic() + PATIENCE_S
    while not mistakes(at) and monotonic() < end:
        assert "is worked out now" in at.info[0].value
        at.run()
    assert mistakes(at) == first


def test_where_samples_have_changed_the_page_says_that_there_are_no_mistakes_to_show(
    workbench: Workbench, client: Traitbench, mislabelled: str
) -> None:
    at = workbench.open("train", model=of_before(client, mislabelled, quality=0.7))
    end = monotonic() + PATIENCE_S
    while "is worked out now" in at.info[0].value and monotonic() < end:
        at.run()
    assert "its samples or traits have changed since" in at.info[0].value
    assert not mistakes(at)


def mistakes(at: AppTest) -> list[str]:
    """The texts of the mistakes on the page, in their order."""
    bodies = [html.proto.body for html in at.get("html")]
    return [unescape(each[1]) for body in bodies if (each := re.search(r'class="text" dir="auto">(.*?)</div>', body))]


# ---- another version -------------------------------------------------------------------------------------------------


def test_a_ready_model_says_why_training_again_does_nothing(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("train", model=trained.handle, change="true")
    assert "The samples of v1 stay as they are" in words(at)
    assert not buttons(at, "train.start")


def test_a_refit_is_compared_with_the_version_before(workbench: Workbench, client: Traitbench, ready: str) -> None:
    at = workbench.open("train", model=ready, refit="true", effort="Quick")
    assert "Training again would change nothing now" in at.info[0].value
    at.toggle(key="use_labels").set_value(False).run()
    assert not at.info
    assert "The result becomes **v2** and is in use at once" in words(at)
    press(at, "train.retune.start")
    assert client.models.wait(ready).version_no == 2
    assert client.versions.get(ready).triggered_by == "retune"
    at.run()
    assert "v2 gets" in words(at)
    assert "**Not known whether v2 is better than v1.** There are no test samples" in plain(at)
    assert "Compare v1 with v2" in links(at)
    press(at, "train.back")
    assert client.models.get(ready).version_no == 1


def test_a_refit_of_the_same_samples_says_so(workbench: Workbench, client: Traitbench, ready: str) -> None:
    train(client, ready, reoptimize_params=True)
    assert "Both versions have the same parameters" in words(workbench.open("train", model=ready))


def test_depth_and_feedback_are_something_to_refit_for(workbench: Workbench, client: Traitbench, ready: str) -> None:
    client.models.update(ready, max_depth=2)
    at = workbench.open("train", model=ready, refit="true", effort="Quick")
    assert not at.info
    assert "depth (2)" in words(at)
    client.models.update(ready, max_depth=1)
    client.scores.score(ready, "Go away.", feedback={"warmth": 0})
    at = workbench.open("train", model=ready, refit="true", effort="Quick")
    assert at.progress[0].proto.text == "1 correction of 10"
    assert "Learn from 21 samples again, 1 of them corrections that wait." in words(at)
    assert not at.info
