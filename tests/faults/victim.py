"""A real `traitbench serve` that is killed and restarted, with the same home, port and database."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import httpx

from tests.app.processes import gone
from tests.conftest import free_port, not_none
from tests.patience import PATIENCE_S
from traitbench.settings import Settings

COMMAND = Path(sys.executable).with_name("traitbench")
START_SECONDS = PATIENCE_S


class Victim:
    """The service and its worker. Its log goes to `victim.log` in the home folder."""

    def __init__(self, settings: Settings, environment: Mapping[str, str] | None = None) -> None:
        self.settings = settings
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.kills = {"service": 0, "worker": 0}
        self._environment = dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._http = httpx.Client(base_url=self.base_url, timeout=5, trust_env=False)

    def start(self, *, wait: bool = True) -> None:
        """Start the service; with `wait`, return once it answers."""
        given = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TRAITBENCH_")},
            "TRAITBENCH_HOME": str(self.settings.home),
            "TRAITBENCH_DATABASE_URL": self.settings.database_url,
            "TRAITBENCH_ENCODER": self.settings.encoder or "",
            "TRAITBENCH_PORT": str(self.port),
            # No demo models: their trainings would be all that the worker does.
            "TRAITBENCH_PUBLIC_NAMESPACES": "",
            **self._environment,
        }
        with (self.settings.home / "victim.log").open("ab") as log:
            self._process = subprocess.Popen([COMMAND, "serve"], env=given, stdout=log, stderr=log)
        end = time.monotonic() + START_SECONDS
        while wait and not self.answers():
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < end, self.log()
            time.sleep(0.05)

    def answers(self) -> bool:
        """Whether the service is healthy."""
        try:
            return self._http.get("/v1/health").status_code == 200
        except httpx.TransportError:
            return False

    def kill_service(self) -> None:
        """kill -9 the service, which ends its worker too, then start it again."""
        process, workers = self._running(), self.workers()
        process.kill()
        process.wait()
        self.kills["service"] += 1
        end = time.monotonic() + PATIENCE_S
        while not all(map(gone, workers)):
            assert time.monotonic() < end, "the worker has outlived its service"
            time.sleep(0.02)
        self.start()

    def kill_worker(self) -> bool:
        """kill -9 the worker; False if there is none at the moment."""
        for pid in self.workers():
            os.kill(pid, signal.SIGKILL)
            self.kills["worker"] += 1
            return True
        return False

    def workers(self) -> list[int]:
        """The worker processes."""
        try:
            tasks = [*Path(f"/proc/{self.pid}/task").glob("*/children")]
            return [int(pid) for task in tasks for pid in task.read_text().split()]
        except OSError:
            return []

    @property
    def pid(self) -> int:
        """The process id of the service."""
        return self._running().pid

    def log(self) -> str:
        """The log so far."""
        return (self.settings.home / "victim.log").read_text("utf-8", "replace")

    def stop(self) -> None:
        """End the service, whatever state it is in."""
        self._http.close()
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        return not_none(self._process)
