"""What the health check logs: one line per failure and one per recovery. And that closing leaves nothing open."""

import logging
import os
import signal
from pathlib import Path

import pytest

from tests.contexts import ON_SQLITE, draft, fresh_settings, opened, until
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


@ON_SQLITE
def test_a_closed_context_leaves_no_file_open(tmp_path: Path) -> None:
    """Otherwise a backup that is restored in the same process would go on reading the file that it replaced."""

    def open_files() -> list[str]:
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        return [
            file for link in links if os.path.lexists(link) and (file := os.readlink(link)).startswith(str(tmp_path))
        ]

    with fresh_settings(tmp_path) as settings, opened(settings, runs=False) as context:
        draft(context)
        assert context.cached("a question", lambda: "an answer") == "an answer"
        assert open_files()
    assert open_files() == []
