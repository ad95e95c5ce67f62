"""Waiting feedback on Samples: shown with its score, withdrawn, sent again, trained with now; and activations."""

import pytest

from tests.pages.drive import Workbench, words
from tests.pages.test_feedback import KIND, UNKIND, taught
from traitbench.client import Traitbench


@pytest.fixture
def handle(client: Traitbench, namespace: str) -> str:
    """A model with one version and two lines of feedback."""
    handle = taught(client, f"{namespace}.tone")
    for text, quality in ((KIND, 1.0), (UNKIND, 0.0)):
        client.scores.score(handle, text, feedback={"warmth": quality})
    return handle


def test_feedback_is_shown_withdrawn_and_trained_with_now(
    workbench: Workbench, client: Traitbench, handle: str
) -> None:
    first, second = client.samples.list(handle, pending=True)
    at = workbench.open("samples", model=handle)
    assert "Waiting feedback (2)" in words(at)
    assert f"Warmth: scored {first.score_then}, should be 100." in words(at)
    at.button(key=f"samples.feedback.withdraw:{second.id}").click().run()
    assert [sample.id for sample in client.samples.list(handle, pending=True)] == [first.id]
    assert "Waiting feedback (1)" in words(at)
    at.button(key="samples.feedback.undo").click().run()
    assert sorted((each.text, each.quality) for each in client.samples.list(handle, pending=True)) == sorted(
        [(KIND, 1.0), (UNKIND, 0.0)]
    )
    assert "Waiting feedback (2)" in words(at)
    assert "samples.feedback.undo" not in [button.key for button in at.button]
    at.toggle[0].set_value(True).run()
    assert client.models.get(handle).hold_if_worse
    at.toggle[0].set_value(False).run()
    assert not client.models.get(handle).hold_if_worse
    at.button(key="samples.feedback.retrain").click().run()
    assert client.models.wait(handle).version_no == 2
    assert "Waiting feedback" not in words(workbench.open("samples", model=handle))


def test_a_return_is_one_click_and_so_is_its_undo(workbench: Workbench, client: Traitbench, handle: str) -> None:
    client.models.retrain(handle)
    assert client.models.wait(handle).version_no == 2
    at = workbench.open("versions", model=handle, record="true")
    assert "retrained from feedback by" in words(at)
    at.button(key="versions.timeline_return").click().run()
    assert client.models.get(handle).version_no == 1
    assert at.button(key="versions.timeline_return").label == "Undo: back to v2"
    at.button(key="versions.timeline_return").click().run()
    assert client.models.get(handle).version_no == 2
    assert [each.cause for each in client.versions.activations(handle)] == ["activate", "activate", "retrain", "train"]
