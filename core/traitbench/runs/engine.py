"""The service's side of the run engine: queues runs in the caller's transaction, and keeps the worker alive."""

import os
import socket
import sys
from collections.abc import Mapping
from typing import Any

from dbos import DBOS
from sqlalchemy import URL
from ulid import ULID

from traitbench.runs.heartbeat import EncoderState
from traitbench.runs.queue import EngineQueue, engine_url
from traitbench.runs.supervisor import SILENCE_SECONDS, Supervisor
from traitbench.store.database import sqlite_file
from traitbench.store.errors import translated

LOCAL = "local"


class Runs(EngineQueue):
    """The run engine of a service: its worker process runs `module` and receives `greeting` as configuration."""

    def __init__(
        self, url: str | URL, *, module: str, greeting: Mapping[str, Any], silence_s: float = SILENCE_SECONDS
    ) -> None:
        with translated():
            DBOS.migrate(engine_url(url))
        super().__init__(url)
        configuration = {**greeting, "executor_id": _executor_id(url), "parent": os.getpid()}
        # -P: a folder named traitbench in the working directory must not be imported in place of the package.
        self.worker = Supervisor([sys.executable, "-P", "-m", module], configuration, silence_s=silence_s)

    def start(self) -> None:
        """Start the worker, unless it is started already."""
        self.worker.start()

    def stop(self) -> None:
        """End the worker."""
        self.worker.stop()

    def close(self) -> None:
        """End the worker and close the connection to the database."""
        self.stop()
        super().close()

    def healthy(self) -> bool:
        """Whether the worker executes runs."""
        return self.worker.ready()

    def silent_s(self) -> float | None:
        """Seconds since the worker's last sign of life; None if there is no worker."""
        return self.worker.silent_s()

    def encoder(self) -> EncoderState:
        """Whether the worker's encoder is loading, loaded or has failed to load."""
        return self.worker.encoder


def _executor_id(url: str | URL) -> str:
    """The name of the executor. On SQLite a lock admits one worker; elsewhere every service has its own."""
    return LOCAL if sqlite_file(url) else f"{socket.gethostname()}-{ULID()}"
