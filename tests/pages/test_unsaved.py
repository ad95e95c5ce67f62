"""Edits of the samples table that are not saved yet: no page, reload, training or other person makes them vanish."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, Service
from tests.pages.drive import Workbench, edit, hold_busy, texts, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench_app.workspace import changes
from traitbench_app.workspace.changes import Changes, save

_PAGES = Path(__file__).parents[2] / "pages"


def visit(at: AppTest, page: str) -> AppTest:
    return at.switch_page(str(_PAGES / f"{page}.py")).run()


def elsewhere(client: Traitbench, handle: str, *, text: str) -> None:
    """Another person changes the newest sample: its text is replaced."""
    newest = list(client.samples.list(handle))[-1]
    client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=newest.quality)])
    client.samples.delete(handle, newest.id)


def test_edits_survive_other_pages_filters_and_pages_of_the_table(workbench: Workbench, draft: str) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}}, gone=(1,))
    at = visit(visit(at, "traits"), "samples")
    assert at.button(key="samples.save").label == "Save 2 changes"
    assert at.dataframe[0].value["text"].iloc[0] == "Changed."
    assert len(at.dataframe[0].value) == 19
    at.selectbox(key="pole").set_value("positive").run()
    at = edit(at, rows={2: {"text": "Changed too."}})
    at = visit(visit(at, "train"), "samples")
    assert at.button(key="samples.save").label == "Save 3 changes"


def test_edits_survive_a_reload(workbench: Workbench, client: Traitbench, draft: str) -> None:
    edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}})
    at = workbench.open("samples", model=draft)
    assert at.dataframe[0].value["text"].iloc[0] == "Changed."
    at.button(key="samples.save").click().run()
    assert texts(client, draft)[-1] == ("Changed.", 0.0)
    assert workbench.open("samples", model=draft).button(key="samples.save").disabled


def test_under_zero_retention_no_edit_is_written_to_disk_and_the_page_says_so(
    workbench: Workbench, service: Service, client: Traitbench, draft: str
) -> None:
    client.models.update(draft, zero_data_retention=True)
    client.samples.add(draft, [SampleInput(trait="warmth", text=text, quality=0.0) for text in COLD])
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "A secret change."}})
    assert "end with this tab" in words(at)
    kept = service.settings.home / "unsaved"
    assert not [file for file in kept.glob("*") if "A secret change." in file.read_text()]
    assert workbench.open("samples", model=draft).button(key="samples.save").disabled


def test_zero_retention_forgets_what_was_discarded_too(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "A secret change."}})
    at.button(key="samples.discard").click().run()
    assert "discarded" in words(at)
    at.query_params["part"] = "What is kept"
    at = visit(at, "model")
    at.button(key="model.zero_on").click().run()
    at.text_input(key="model.purge_name").set_value(draft).run()
    at.button(key="model.purge.yes").click().run()
    assert client.models.get(draft).zero_data_retention
    assert "discarded" not in words(visit(at, "samples"))


# ---- two browsers on one draft -----------------------------------------------------------------------------------


def test_an_edit_of_a_sample_that_somebody_else_changed_is_shown_with_both_texts(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": f"{COLD[-1]} Mine."}})
    elsewhere(client, draft, text=f"{COLD[-1]} Theirs.")
    at.run()
    said = words(at)
    assert "was changed or deleted by someone else" in said
    assert "Mine" in said
    assert "Theirs" in said
    assert at.button(key="samples.save").disabled
    at.button(key="samples.conflict.mine:0").click().run()
    assert at.button(key="samples.save").label == "Save 1 change"
    at.button(key="samples.save").click().run()
    left = [text for text, _ in texts(client, draft)]
    assert f"{COLD[-1]} Mine." in left
    assert f"{COLD[-1]} Theirs." not in left


@pytest.mark.parametrize(("choice", "kept"), [("theirs", {"Theirs."}), ("both", {"Theirs.", "Mine."})])
def test_of_two_versions_of_a_text_theirs_or_both_can_stay(
    workbench: Workbench, client: Traitbench, draft: str, choice: str, kept: set[str]
) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": f"{COLD[-1]} Mine."}})
    elsewhere(client, draft, text=f"{COLD[-1]} Theirs.")
    at.run()
    at.button(key=f"samples.conflict.{choice}:0").click().run()
    assert not at.exception
    assert "someone else" not in words(at)
    assert {text.removeprefix(f"{COLD[-1]} ") for text, _ in texts(client, draft)} >= kept
    assert len(texts(client, draft)) == 19 + len(kept)


def test_a_sample_that_goes_while_an_edit_is_saved_is_not_called_saved(
    monkeypatch: pytest.MonkeyPatch, workbench: Workbench, client: Traitbench, draft: str
) -> None:
    """Another person's edit arrives between the first and the second request of the save."""
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Mine."}, 1: {"text": "Mine too."}})
    delete = changes._delete

    def late(handle: str, ids: Sequence[int]) -> set[int]:
        client.samples.delete(handle, list(client.samples.list(handle))[19].id)
        return delete(handle, ids)

    monkeypatch.setattr(changes, "_delete", late)
    at.button(key="samples.save").click().run()
    assert "1 edited" in words(at)
    assert "2 edited" not in words(at)
    assert "was changed or deleted by someone else" in words(at)
    assert "Mine\\." in words(at)
    assert "Mine." not in [text for text, _ in texts(client, draft)]


def test_what_was_deleted_already_is_not_counted_and_not_brought_back(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    first, second = list(client.samples.list(draft))[:2]
    samples = list(client.samples.list(draft))
    client.samples.delete(draft, first.id)
    done = save(draft, samples, Changes(deletions=frozenset({first.id, second.id})), progress=lambda _a, _b: None)
    assert done.what == "1 deleted"
    assert [each.text for each in done.gone] == [second.text]


# ---- a training begins -------------------------------------------------------------------------------------------


def test_an_edit_that_a_training_overtook_is_shown_and_goes_into_the_next_draft(
    workbench: Workbench, service: Service, client: Traitbench, draft: str
) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}}, gone=(1,))
    at = visit(at, "train")
    assert "2 unsaved changes in the samples table are not part of this training" in words(at)
    client.models.train(draft, effort="low")
    assert client.models.wait(draft).state == "ready"
    at = visit(at, "samples")
    assert "2 changes were not saved" in words(at)
    assert "Changed\\." in words(at)
    fork = client.models.fork(draft, f"{draft}-next").handle
    at = workbench.open("samples", model=fork)
    assert "2 unsaved changes" in words(at)
    at.button(key="samples.unsaved.bring").click().run()
    at.button(key="samples.save").click().run()
    left = [text for text, _ in texts(client, fork)]
    assert "Changed." in left
    assert len(left) == 19
    assert "were not saved" not in words(workbench.open("samples", model=draft))


def test_edits_wait_while_the_model_is_busy(workbench: Workbench, service: Service, draft: str) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}})
    hold_busy(service.context, draft, None)
    at.run()
    assert not at.exception
    assert "1 change was not saved" in words(at)
