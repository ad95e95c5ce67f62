"""The work behind label mode: it says why it stopped, and it ends when its page is gone."""

import threading

import pytest

from tests.app.processes import eventually
from traitbench.contract.models import Model
from traitbench.local import assistant
from traitbench.local.assistant import Wanted, assistant_of


def working() -> int:
    return sum(thread.name == "label-assistant" for thread in threading.enumerate())


def test_without_an_encoder_it_says_so_and_ends_when_it_is_dismissed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAITBENCH_ENCODER", "no-such-encoder")
    helper = assistant_of("service", "local.tone", "owner")
    helper.ask([], Wanted(Model.model_construct(handle="local.tone"), (), ()))
    assert eventually(lambda: "There is no encoder here" in helper.problem)
    assert working() == 1
    assistant.dismiss("service", "local.tone")
    assert eventually(lambda: working() == 0)
