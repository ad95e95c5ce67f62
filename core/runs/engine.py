"""The service's side of the run engine: queues runs in the caller's transaction, and keeps the worker alive."""

import json
import os
import socket
import sys
from collections.abc import Mapping
from typing import Any

from dbos import DBOS
from sqlalchemy import URL
from ulid import ULID

from core.runs.names import engine_url
from core.runs.queue import EngineQueue
from core.runs.supervisor import Supervisor
from core.store.engine import sqlite_file

LOCAL = "local"


class Runs(EngineQueue):
    """The run engine of a service: `module` is what the worker process runs, `greeting` what it is told."""

    def __init__(self, url: str | URL, *, module: str, greeting: Mapping[str, Any]) -> None:
        DBOS.migrate(engine_url(url))
        super().__init__(url)
        told = {**greeting, "executor_id": _executor_id(url), "parent": os.getpid()}
        # -P: a folder named core where the service was started must not be taken for ours.
        self.worker = Supervisor([sys.executable, "-P", "-m", module], json.dumps(told, default=str).encode())

    def start(self) -> None:
        """Start the worker, unless it was started."""
        self.worker.start()

    def stop(self) -> None:
        """End the worker."""
        self.worker.stop()

    def close(self) -> None:
        """End the worker and let go of the database."""
        self.stop()
        super().close()

    def healthy(self) -> bool:
        """Whether the worker executes runs."""
        return self.worker.ready()


def _executor_id(url: str | URL) -> str:
    """Who executes: on SQLite there is one worker, kept single by a lock; elsewhere every service has its own."""
    return LOCAL if sqlite_file(url) else f"{socket.gethostname()}-{ULID()}"
