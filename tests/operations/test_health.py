"""What the health check logs: one line per failure and one per recovery. And that closing leaves nothing open."""

import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from tests.contexts import ON_BOTH, ON_SQLITE, draft, fresh_settings, opened, until
from traitbench.operations.context import Context
from traitbench.operations.health import HealthCheck
from traitbench.runs.engine import Runs
from traitbench.runs.supervisor import Supervisor
from traitbench.store.database import clean

LIVES = "import sys; sys.stdin.readline(); print('ready', flush=True); sys.stdin.read()"
"""A worker that is ready and does nothing."""


@contextmanager
def _alone(home: Path) -> Iterator[Context]:
    """A context of its own."""
    with fresh_settings(home) as settings, opened(settings, runs=False) as context:
        yield context


def _says(context: Context) -> tuple[str, bool]:
    """What a new check says of the database, and whether it was quick."""
    health, begin = HealthCheck(context.engine, context.runs, context.settings.home), time.monotonic()
    try:
        return health.state().database, time.monotonic() - begin < 3
    finally:
        health.close()


@ON_SQLITE
def test_a_change_is_logged_once_and_what_has_never_been_well_is_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def logged() -> list[str]:
        return [record.message for record in caplog.records if record.message in ("unhealthy", "healthy_again")]

    with _alone(tmp_path) as context, caplog.at_level(logging.WARNING, "traitbench.service"):
        runs = Runs(context.settings.database_url, module="none", greeting={})
        runs.worker = Supervisor([sys.executable, "-c", LIVES], {})
        health = HealthCheck(context.engine, runs, context.settings.home)
        assert health.state().wrong == ["worker"]
        assert logged() == []

        runs.start()
        until(lambda: not health.state().wrong, what="a service that is well")
        assert runs.worker.pid is not None
        os.kill(runs.worker.pid, signal.SIGKILL)
        until(lambda: health.state().wrong == ["worker"], what="the worker to be missed")
        until(lambda: not health.state().wrong, what="another worker")
        assert logged() == ["unhealthy", "healthy_again"]
        health.close()
        runs.close()


@ON_BOTH
def test_a_database_in_which_nobody_else_can_write_is_unwell(context: Context) -> None:
    sqlite = context.engine.dialect.name == "sqlite"
    locker = create_engine(context.engine.url, isolation_level="AUTOCOMMIT")
    assert _says(context)[0] == "ok"
    with locker.connect() as other:
        other.execute(text("BEGIN IMMEDIATE" if sqlite else "BEGIN"))
        if not sqlite:
            other.execute(text("LOCK TABLE tb_models IN SHARE MODE"))
        said, quick = _says(context)
        assert "The database is locked by another process" in said
        assert quick
        other.execute(text("ROLLBACK"))
    locker.dispose()
    assert _says(context)[0] == "ok"


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_database_that_only_answers_reads_is_unwell(tmp_path: Path) -> None:
    with _alone(tmp_path) as context:
        with context.engine.connect() as connection:
            autocommit = connection.execution_options(isolation_level="AUTOCOMMIT")
            name = context.engine.url.database
            autocommit.execute(text(f"ALTER DATABASE {name} SET default_transaction_read_only = on"))
        context.engine.dispose()
        assert "The database is read-only" in _says(context)[0]


@ON_SQLITE
@pytest.mark.parametrize("damage", ["overwritten", "emptied"])
def test_a_file_that_is_damaged_is_noticed_by_the_next_check(tmp_path: Path, damage: str) -> None:
    with _alone(tmp_path) as context:
        draft(context)
        assert _says(context)[0] == "ok"
        assert clean(context.engine, patience_s=1)
        file = tmp_path / "traitbench.db"
        with file.open("r+b") as raw:
            raw.write(b"x" * file.stat().st_size) if damage == "overwritten" else raw.truncate(0)
        assert "The database" in _says(context)[0]


@ON_SQLITE
def test_a_closed_context_leaves_no_file_open(tmp_path: Path) -> None:
    """Otherwise a backup that is restored in the same process would go on reading the file that it replaced."""

    def open_files() -> list[str]:
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        return [
            file for link in links if os.path.lexists(link) and (file := os.readlink(link)).startswith(str(tmp_path))
        ]

    with _alone(tmp_path) as context:
        draft(context)
        assert context.cached("a question", lambda: "an answer") == "an answer"
        assert open_files()
    assert open_files() == []
