import logging
from threading import Event

import pytest

from tests.contexts import ON_SQLITE
from tests.patience import PATIENCE_S
from traitbench.runs.schedules import Schedule, run_once, start_all

pytestmark = ON_SQLITE


def test_a_task_has_its_turn_again_and_again_even_if_one_fails() -> None:
    calls, enough, never = list[int](), Event(), Event()

    def task() -> None:
        calls.append(len(calls))
        if len(calls) == 3:
            enough.set()
            never.wait()
        raise RuntimeError

    start_all([Schedule("tests", 0.01, task)])
    assert enough.wait(PATIENCE_S)


def test_what_went_wrong_is_said_without_what_the_error_says(caplog: pytest.LogCaptureFixture) -> None:
    result = "a very private text"

    def task() -> None:
        raise RuntimeError(result)

    with caplog.at_level(logging.WARNING):
        run_once(Schedule("tests", 1.0, task))
    assert "tests failed with RuntimeError" in caplog.text
    assert "private" not in caplog.text
