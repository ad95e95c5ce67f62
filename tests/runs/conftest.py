from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine
from ulid import ULID

from tests.contexts import database as database
from tests.contexts import fresh_settings, new_handle, until
from traitbench.contract.models import LastOperation
from traitbench.runs.engine import Runs
from traitbench.settings import Settings
from traitbench.store import models, runs
from traitbench.store.database import reading, writing
from traitbench.store.migrate import open_store

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Yard:
    """A database with the run engine's tables, the service's side of the engine, and a log that workers write to."""

    settings: Settings
    engine: Engine
    service: Runs
    log: Path

    def model(self) -> int:
        """A new model that is busy."""
        with writing(self.engine) as connection:
            model_id = models.add(
                connection,
                handle=new_handle(),
                namespace="local",
                now=datetime.now(UTC),
                description="",
                kind="scoring",
                scoring_method="balanced_cosine",
                max_depth=1,
            )
            assert model_id is not None
            model = models.hold_by_id(connection, model_id)
            assert model is not None
            models.move(connection, model, "busy", now=datetime.now(UTC))
        return model_id

    def record(self, model_id: int) -> str:
        """A new run in our record, not queued."""
        with writing(self.engine) as connection:
            return self.add(connection, model_id)

    def add(self, connection: Connection, model_id: int) -> str:
        """A new run in our record, within a transaction."""
        run_id = f"run_{ULID()}"
        runs.add(connection, run_id, model_id=model_id, kind="train", effort="low", now=datetime.now(UTC))
        return run_id

    def queue(self, model_id: int, *, times: int = 1, automatic: bool = False) -> str:
        """A new run, recorded and queued in one transaction."""
        with writing(self.engine) as connection:
            run_id = self.add(connection, model_id)
            for _ in range(times):
                self.service.enqueue(connection, run_id, "train", model_id, automatic=automatic)
        return run_id

    def run(self, run_id: str) -> runs.RunRow:
        """A run from our record."""
        with reading(self.engine) as connection:
            result = runs.read(connection, run_id)
        assert result is not None
        return result

    def state(self, model_id: int) -> str:
        """The state of a model."""
        with reading(self.engine) as connection:
            result = models.find_by_id(connection, model_id)
        assert result is not None
        return result.state

    def operation(self, model_id: int) -> LastOperation:
        """The last operation of a model."""
        with reading(self.engine) as connection:
            operation = models.read(connection, model_id).last_operation
        assert operation is not None
        return operation

    def wait(self, run_id: str, status: str = "succeeded") -> None:
        """Wait until a run has a status."""
        until(lambda: self.run(run_id).status == status, what=f"{run_id} to be {status}")

    def log_lines(self, *words: str) -> list[str]:
        """The lines of the log that contain all these words."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if set(words) <= set(line.split())]


StartWorker = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    with fresh_settings(tmp_path) as settings:
        engine = open_store(settings)
        service = Runs(settings.database_url, module="tests.runs.process", greeting={})
        yield Yard(settings, engine, service, tmp_path / "log")
        service.close()
        engine.dispose()


@pytest.fixture
def start_worker(yard: Yard) -> Iterator[StartWorker]:
    """Starts worker processes; those that are left are ended after the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(
        executor_id: str, *, steps: int = 2, expiry_s: float = 30.0, keep_s: float = 3600.0
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, "-m", "tests.runs.process"], cwd=ROOT, stdin=subprocess.PIPE)
        started.append(process)
        fields: dict[str, object] = {"executor_id": executor_id, "steps": steps, "expiry_s": expiry_s, "keep_s": keep_s}
        fields |= {"url": yard.settings.database_url, "log": str(yard.log)}
        assert process.stdin is not None
        process.stdin.write(json.dumps(fields).encode() + b"\n")
        process.stdin.flush()
        until(lambda: yard.log_lines(executor_id, "ready"), what=f"{executor_id} to be ready")
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()
