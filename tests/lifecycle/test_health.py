"""What the health check logs: one line when a part fails, and one when all parts are healthy again."""

import logging
import os
import signal

import pytest

from tests.contexts import until
from traitbench.lifecycle.context import Context
from traitbench.lifecycle.health import Health


def test_a_change_is_logged_once_and_what_has_never_been_well_is_not(
    context: Context, working: Context, caplog: pytest.LogCaptureFixture
) -> None:
    def logged() -> list[str]:
        return [record.message for record in caplog.records if record.message in ("unhealthy", "healthy_again")]

    with caplog.at_level(logging.WARNING, "traitbench.service"):
        starting = Health(context.engine, context.runs, context.settings.home)
        assert starting.state().wrong == ["worker"]
        assert logged() == []

        health = Health(working.engine, working.runs, working.settings.home)
        until(lambda: not health.state().wrong, what="a service that is well")
        os.kill(working.runs.worker.pid, signal.SIGKILL)  # type: ignore[attr-defined]
        until(lambda: health.state().wrong == ["worker"], what="the worker to be missed")
        until(lambda: not health.state().wrong, what="another worker")
    assert logged() == ["unhealthy", "healthy_again"]
    starting.close()
    health.close()
