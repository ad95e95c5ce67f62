"""Whoever may not change a model, and a model that cannot be changed: each page says why, and offers nothing else."""

import pytest

from tests.conftest import Service, Trained
from tests.pages.drive import Workbench, buttons, hold_busy, links, listed, next_step, panel_text, plain, words
from traitbench.client import Traitbench

NEEDS_AUTHORING = "Use a key of scope `authoring`"
MAY_ONLY_SCORE = "may score but not change"
FOR_MINUTES = "until you discard them or 15 minutes after you last viewed them"

# ---- a key that may only score ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("link", "says", "absent"),
    [
        ("samples", MAY_ONLY_SCORE, "samples.label"),
        ("samples?task=Check", MAY_ONLY_SCORE, "doctor."),
        ("label", MAY_ONLY_SCORE, "label."),
        ("model?part=Describe", MAY_ONLY_SCORE, "model.save"),
        ("model?part=What+is+kept", MAY_ONLY_SCORE, "model.zero_on"),
        ("train?refit=true", NEEDS_AUTHORING, "train.retune.start"),
        ("versions?view=Details&figures=true&parameters=true", "To read snapshots", "versions.tag"),
        ("score", "", "shell.improve_button"),
        ("score?text=Thank+you", NEEDS_AUTHORING, "score.feedback"),
    ],
)
def test_with_a_scoring_key_a_page_says_why_it_is_closed(
    scorer: Workbench, trained: Trained, link: str, says: str, absent: str
) -> None:
    at = scorer.follow(link, model=trained.handle)
    assert not at.error
    assert says in words(at)
    assert not buttons(at, absent)


@pytest.mark.parametrize("page", ["traits", "samples", "train", "versions", "model"])
def test_no_page_leads_to_what_a_scoring_key_may_not_do(scorer: Workbench, new: str, page: str) -> None:
    at = scorer.open(page, model=new)
    assert not at.error
    assert "This model has no traits yet." in words(at)
    assert not next_step(at)
    assert "Create your own model" not in links(at)


def test_a_scoring_key_reads_figures_cards_and_calls(scorer: Workbench, trained: Trained) -> None:
    assert "Measured on:" in words(scorer.open("versions", model=trained.handle, view="Details", figures="true"))
    assert "Traits" in words(scorer.open("model", model=trained.handle, part="Model card"))
    calls = scorer.open("model", model=trained.handle, part="Call it", attributes="true")
    assert calls.code
    assert "No alias leads to this model." in words(calls)
    assert not calls.get("form")


def test_with_a_scoring_key_nothing_is_created_or_trained(scorer: Workbench, draft: str) -> None:
    at = scorer.open("catalog")
    assert at.button(key="catalog.import_button").disabled
    assert at.button(key="catalog.new_button").disabled
    assert "authoring" in at.button(key="catalog.new_button").help
    at = scorer.open("from_file")
    assert "You cannot create models here." in words(at)
    assert not at.file_uploader
    assert scorer.open("train", model=draft).button(key="train.start").disabled


# ---- a model of others -----------------------------------------------------------------------------------------------


def test_a_model_of_another_namespace_takes_no_feedback_and_compares_no_encoders(
    own_workbench: Workbench, service: Service, trained: Trained, namespace: str
) -> None:
    """A public model is readable, but its samples are not."""
    handle = f"demo.{namespace}"
    with Traitbench(service.base_url, service.issue(namespaces=("demo",))) as owner:
        owner.models.import_(trained.client.models.export(trained.handle), handle=handle)
        score = own_workbench.open("score", model=handle, text="Thank you.")
        versions = own_workbench.open("versions", model=handle, view="Encoders")
        owner.models.delete(handle)
    assert "does not own the namespace *demo*" in words(score)
    assert "can read its samples, on which encoders are compared" in plain(versions)
    assert "Compare encoders" not in [button.label for button in versions.button]


# ---- states of a model -----------------------------------------------------------------------------------------------


def test_the_samples_of_a_busy_model_are_listed_and_wait(workbench: Workbench, service: Service, draft: str) -> None:
    hold_busy(service.context, draft)
    at = workbench.open("samples", model=draft)
    assert "Read only for now" in words(at)
    assert len(listed(at)) == 20
    assert panel_text(at).disabled
    assert not buttons(at, "samples.delete")


def test_a_busy_model_is_read_only_for_the_moment(workbench: Workbench, service: Service, draft: str) -> None:
    hold_busy(service.context, draft)
    at = workbench.open("traits", model=draft)
    assert "Read only for now" in words(at)
    assert "Training" in words(at)


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("traits", "was archived"),
        ("train", "was archived"),
        ("label", "was archived"),
        ("score", "no longer scores"),
        ("batch", "no longer scores"),
        ("versions", "was in use when the model was archived"),
    ],
)
def test_an_archived_model_is_shown_as_such_and_starts_nothing(
    workbench: Workbench, client: Traitbench, ready: str, page: str, says: str
) -> None:
    client.models.delete(ready)
    at = workbench.open(page, model=ready)
    assert at.selectbox(key="model").value == ready
    assert says in words(at)
    assert "is in use" not in words(at)
    assert "Score a text" not in links(at)
    assert not next_step(at)
    assert not {"train.start", "batch.start"} & {*buttons(at)}


# ---- zero data retention ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("link", "says", "absent"),
    [
        ("score?text=Thank+you", "**No feedback possible.** Zero data retention is on", "score.feedback"),
        ("train?refit=true", "the samples were removed after training", "train.retune.start"),
        ("batch", f"stay only in this workbench's memory, {FOR_MINUTES}", "nothing"),
        ("versions?view=Encoders", "samples exist only for the training that uses them", "nothing"),
    ],
)
def test_under_zero_retention_a_page_says_what_is_kept_or_missing(
    workbench: Workbench, client: Traitbench, ready: str, link: str, says: str, absent: str
) -> None:
    client.models.update(ready, zero_data_retention=True)
    at = workbench.follow(link, model=ready)
    assert says in plain(at)
    assert not buttons(at, absent)
    assert "Compare encoders" not in [button.label for button in at.button]


def test_home_marks_models_under_zero_retention(workbench: Workbench, client: Traitbench, ready: str) -> None:
    assert "Zero retention" not in words(workbench.open("catalog", q=ready))
    client.models.update(ready, zero_data_retention=True)
    assert "Zero retention" in words(workbench.open("catalog", q=ready))
