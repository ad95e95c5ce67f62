"""How long a score takes while strangers ask for what answers without a session or a key.

    python -m tests.benchmarks.anonymous [--quick] [--out FILE]

The real command with a sign-in at an OpenID provider, a trained model of one trait, and one kept-alive connection that
scores texts of twenty words. Beside it, 16 connections ask for one open route without a pause, from a process of their
own. They change their addresses, so that limits by address do not spare the service. Idle and loaded moments alternate.
"""

import http.client
import json
import multiprocessing
import secrets
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.synchronize import Semaphore
from pathlib import Path

import numpy as np

from tests.app.openid_provider import providing
from tests.app.processes import Started, serving
from tests.benchmarks.material import endless
from tests.benchmarks.page import Measured, Table, run
from tests.conftest import make_draft, train

MODEL = "local.tone"
CONNECTIONS, REQUESTS_OF_ADDRESS = 16, 50
WARM_UP = 20
MOST = 3.0

Headers = Mapping[str, str]

ROUTES: Mapping[str, tuple[str, str, Headers]] = {
    "health": ("GET", "/v1/health", {}),
    "description": ("GET", "/v1/openapi.json", {}),
    "no such path": ("GET", "/v1/nothing", {}),
    "a long path": ("GET", "/v1/models/" + "a" * 16_000, {}),
    "another host": ("GET", "/v1/models", {"Host": "evil.example"}),
    "no key": ("GET", "/v1/models", {}),
    "a wrong key": ("GET", "/v1/models", {"Authorization": "Bearer tba_wrong"}),
    "sign-in": ("GET", "/sign-in", {}),
    "sign-in, wrong link": ("GET", "/sign-in?token=wrong", {}),
    "sign-in, escaped cookie": ("GET", "/sign-in", {"Cookie": 'a="' + "\\" * 30_000 + '"'}),
    "too large a header": ("GET", "/sign-in", {"Cookie": "a" * 100_000}),
    "start at the provider": ("GET", "/sign-in/start", {}),
    "back from the provider": ("GET", "/sign-in/callback?state=guess&code=guess", {}),
    "a page": ("GET", "/score", {"Accept": "text/html"}),
}


def measure(*, calls: int) -> Measured:
    """So many scores beside the strangers on each route, and as many idle."""
    with (
        providing() as provider,
        tempfile.TemporaryDirectory() as home,
        serving(Path(home) / "home", **provider.environment) as started,
    ):
        with started.client() as client:
            make_draft(client, MODEL)
            train(client, MODEL)
        p50 = {name: _p50(started, calls, name) for name in ROUTES}
    ratios = {name: loaded / idle for name, (idle, loaded) in p50.items()}
    rows = [(name, *(f"{each:.1f}" for each in p50[name]), f"{ratio:.1f}") for name, ratio in ratios.items()]
    over = [name for name, ratio in ratios.items() if ratio > MOST]
    note = f"More than {MOST:g} times idle: {', '.join(over) or 'none'}."
    title = f"One score beside {CONNECTIONS} strangers, p50 of {calls} calls, milliseconds"
    return Measured([Table(title, ("they ask for", "idle", "beside them", "times"), rows, note)], {"times": ratios})


def _p50(started: Started, calls: int, name: str) -> tuple[float, float]:
    """The p50 in milliseconds before strangers ask for a route and while they do."""
    idle = score_times(started, calls)
    with _strangers(started.port, name):
        return float(np.median(idle)), float(np.median(score_times(started, calls)))


def score_times(started: Started, calls: int) -> list[float]:
    """How many milliseconds each of so many scores takes, one after the other on one connection."""
    texts = endless(secrets.randbelow(10**9))
    key = (started.home / "first.key").read_text("utf-8").strip()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", started.port)
    times = []
    for _ in range(WARM_UP + calls):
        began = time.perf_counter()
        connection.request("POST", f"/v1/models/{MODEL}/score", json.dumps({"content": next(texts)}), headers)
        answer = connection.getresponse()
        answer.read()
        times.append(time.perf_counter() - began)
        assert answer.status == 200
    connection.close()
    return [each * 1_000 for each in times[WARM_UP:]]


@contextmanager
def _strangers(port: int, name: str) -> Iterator[None]:
    spawn = multiprocessing.get_context("spawn")
    answered = spawn.Semaphore(0)
    process = spawn.Process(target=_ask, args=(port, name, answered), daemon=True)
    process.start()
    try:
        for _ in range(CONNECTIONS):
            assert answered.acquire(timeout=60)
        yield
    finally:
        process.kill()
        process.join()


def _ask(port: int, name: str, answered: Semaphore) -> None:
    threads = [threading.Thread(target=_stranger, args=(port, name, answered)) for _ in range(CONNECTIONS)]
    for each in threads:
        each.start()


def _stranger(port: int, name: str, answered: Semaphore) -> None:
    method, path, headers = ROUTES[name]
    while True:
        own = ".".join(str(1 + secrets.randbelow(250)) for _ in range(3))
        connection = http.client.HTTPConnection("127.0.0.1", port, source_address=(f"127.{own}", 0))
        with suppress(OSError, http.client.HTTPException):
            for _ in range(REQUESTS_OF_ADDRESS):
                connection.request(method, path, headers=headers)
                connection.getresponse().read()
                answered.release()
        connection.close()


if __name__ == "__main__":
    run("anonymous", measure, quick={"calls": 100}, whole={"calls": 500})
