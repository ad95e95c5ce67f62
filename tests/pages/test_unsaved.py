"""Edits of the samples table that are not saved yet: no page, reload, training or other person makes them vanish."""

import os
import time
from collections.abc import Sequence

import pytest

from tests.conftest import COLD, Service, train
from tests.pages.drive import Workbench, edit, hold_busy, press, texts, visit, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.settings import read_settings
from traitbench_app.workspace import changes, kept_texts

MINE, THEIRS = f"{COLD[-1]} Mine.", f"{COLD[-1]} Theirs."
OVERTAKEN = "was changed or deleted by someone else"


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
    press(at, "samples.save")
    assert texts(client, draft)[-1] == ("Changed.", 0.0)
    assert workbench.open("samples", model=draft).button(key="samples.save").disabled


def test_edits_of_a_clock_that_ran_ahead_stay_and_become_old(
    workbench: Workbench, service: Service, draft: str
) -> None:
    before = set((service.settings.home / "unsaved").glob("*"))
    edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}})
    [file] = set((service.settings.home / "unsaved").glob("*")) - before
    ahead = time.time() + 1e9
    os.utime(file, (ahead, ahead))
    assert workbench.open("samples", model=draft).dataframe[0].value["text"].iloc[0] == "Changed."
    assert file.stat().st_mtime <= time.time()


def test_zero_retention_writes_no_edit(workbench: Workbench, service: Service, client: Traitbench, draft: str) -> None:
    client.models.update(draft, zero_data_retention=True)
    client.samples.add(draft, [SampleInput(trait="warmth", text=text, quality=0.0) for text in COLD])
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "A secret change."}})
    assert "end with this tab" in words(at)
    kept = service.settings.home / "unsaved"
    assert not [file for file in kept.glob("*") if "A secret change." in file.read_text()]
    assert workbench.open("samples", model=draft).button(key="samples.save").disabled


def test_zero_retention_that_a_program_switched_on_removes_edits_when_the_model_is_opened(
    workbench: Workbench, service: Service, client: Traitbench, draft: str
) -> None:
    edit(workbench.open("samples", model=draft), rows={0: {"text": "A secret change."}})
    client.models.update(draft, zero_data_retention=True)
    assert draft in kept_texts.remote(read_settings())()
    workbench.open("score", model=draft)
    kept = service.settings.home / "unsaved"
    assert not [file for file in kept.glob("*") if "A secret change." in file.read_text()]


def test_zero_retention_forgets_what_was_discarded_too(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "A secret change."}})
    assert "discarded" in words(press(at, "samples.discard"))
    at.query_params["part"] = "What is kept"
    at = press(visit(at, "model"), "model.zero_on")
    at.text_input(key="model.purge_name").set_value(draft).run()
    press(at, "model.purge.yes")
    assert client.models.get(draft).zero_data_retention
    assert "discarded" not in words(visit(at, "samples"))


# ---- two browsers on one draft -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "kept"),
    [("mine", {MINE}), ("theirs", {THEIRS}), ("both", {MINE, THEIRS})],
    ids=["mine", "theirs", "both"],
)
def test_of_two_edits_of_a_sample_either_or_both_can_stay(
    workbench: Workbench, client: Traitbench, draft: str, choice: str, kept: set[str]
) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": MINE}})
    newest = list(client.samples.list(draft))[-1]
    client.samples.add(draft, [SampleInput(trait="warmth", text=THEIRS, quality=newest.quality)])
    client.samples.delete(draft, newest.id)
    said = words(at.run())
    assert [OVERTAKEN in said, "Mine" in said, "Theirs" in said] == [True] * 3
    assert at.button(key="samples.save").disabled
    press(at, f"samples.conflict.{choice}:0")
    assert "someone else" not in words(at)
    if choice == "mine":
        press(at, "samples.save")
    assert {MINE, THEIRS} & {text for text, _ in texts(client, draft)} == kept
    assert len(texts(client, draft)) == 19 + len(kept)


def test_a_sample_that_goes_during_a_save_is_not_called_saved(
    monkeypatch: pytest.MonkeyPatch, workbench: Workbench, client: Traitbench, draft: str
) -> None:
    """Another person's edit arrives between the first and the second request of the save."""
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Mine."}, 1: {"text": "Mine too."}})
    delete = changes._delete

    def late(handle: str, ids: Sequence[int]) -> set[int]:
        client.samples.delete(handle, list(client.samples.list(handle))[19].id)
        return delete(handle, ids)

    monkeypatch.setattr(changes, "_delete", late)
    said = words(press(at, "samples.save"))
    assert ["1 edited" in said, "2 edited" in said, OVERTAKEN in said, "Mine\\." in said] == [True, False, True, True]
    assert "Mine." not in [text for text, _ in texts(client, draft)]


# ---- a training begins -------------------------------------------------------------------------------------------


def test_an_edit_a_training_overtook_goes_into_a_draft(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}}, gone=(1,))
    at = visit(at, "train")
    assert "2 unsaved changes in the samples table are not part of this training" in words(at)
    train(client, draft)
    at = visit(at, "samples")
    assert "2 changes were not saved" in words(at)
    assert "Changed\\." in words(at)
    fork = client.models.fork(draft, f"{draft}-next").handle
    at = workbench.open("samples", model=fork)
    assert "2 unsaved changes" in words(at)
    press(press(at, "samples.unsaved.bring"), "samples.save")
    left = [text for text, _ in texts(client, fork)]
    assert "Changed." in left
    assert len(left) == 19
    assert "were not saved" not in words(workbench.open("samples", model=draft))


def test_edits_wait_while_the_model_is_busy(workbench: Workbench, service: Service, draft: str) -> None:
    at = edit(workbench.open("samples", model=draft), rows={0: {"text": "Changed."}})
    hold_busy(service.context, draft)
    at.run()
    assert "1 change was not saved" in words(at)
