"""A running service whose disk is full, whose worker hangs and whose home is deleted, on its own file system."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.app.processes import Started, eventually, running
from tests.conftest import make_draft, train
from tests.contexts import ON_SQLITE
from tests.patience import PATIENCE_S

pytestmark = ON_SQLITE  # this is about the file, the disk and the worker

LONG = "How kind of you to write. " * 1_900  # nearly as long as a sample may be


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A small disk; only root can mount one."""
    folder = tmp_path_factory.mktemp("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder], capture_output=True).returncode != 0:
        pytest.skip("only root may mount a disk of its own")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture(scope="module")
def started(disk: Path) -> Iterator[Started]:
    with running(disk / "home", "serve", TRAITBENCH_ENCODER="ngrams", TRAITBENCH_PUBLIC_NAMESPACES="none") as process:
        yield process


@contextmanager
def _full(disk: Path) -> Iterator[None]:
    fill = disk / "fill"
    try:
        with fill.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4_096)
    except OSError:
        pass
    try:
        yield
    finally:
        fill.unlink()


def _ask(started: Started, method: str, path: str, **body: object) -> httpx.Response:
    key = (started.home / "first.key").read_text().strip() if started.home.exists() else "gone"
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.request(
        method,
        f"{started.base_url}/v1{path}",
        headers=headers,
        json=body or None,
        timeout=PATIENCE_S,
        trust_env=False,
    )


def _health(started: Started) -> tuple[int, list[str]]:
    answer = _ask(started, "GET", "/health")
    return answer.status_code, answer.json().get("error", {}).get("details", {}).get("wrong", [])


def _error(answer: httpx.Response) -> str:
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.json()["error"]["code"] == "unavailable"
    return str(answer.json()["error"]["message"])


def test_on_a_full_disk_nothing_is_acknowledged_that_is_not_stored_and_runs_wait(started: Started, disk: Path) -> None:
    with started.client() as client:
        make_draft(client, "local.full")
        make_draft(client, "local.purged")
        before = client.samples.list("local.full", limit=250).items
        many = [{"trait": "warmth", "text": f"{number} {LONG}"[:49_000], "quality": 1.0} for number in range(100)]
        with _full(disk):
            refused = _ask(started, "POST", "/models/local.full/samples", samples=many)
            assert "disk of the database is full" in _error(refused)
            purge = _ask(started, "PATCH", "/models/local.purged", zero_data_retention=True)
            assert "Nothing was stored." in _error(purge)
            assert eventually(lambda: _health(started) == (503, ["disk"]))
            # Small writes still fit into the existing log; what is acknowledged stays.
            trained = _ask(started, "POST", "/models/local.full/train", effort="low")
        assert client.samples.list("local.full", limit=250).items == before
        assert not client.models.get("local.purged").zero_data_retention
        assert len(client.samples.list("local.purged", limit=250).items) == len(before)
        if trained.status_code == 503:
            client.models.train("local.full", effort="low")
        assert client.models.wait("local.full", timeout=PATIENCE_S).state == "ready"
        assert eventually(lambda: _health(started) == (200, []))
        assert _ask(started, "PATCH", "/models/local.purged", zero_data_retention=True).status_code == 200


def test_health_says_what_it_measured_and_names_nothing(started: Started) -> None:
    assert eventually(lambda: _ask(started, "GET", "/health").json().get("encoder") == "loaded")
    seen = _ask(started, "GET", "/health").json()
    assert set(seen) == {
        "status",
        "worker_heartbeat_age_s",
        "encoder",
        "oldest_queued_s",
        "free_disk_bytes",
        "database",
    }
    assert (seen["status"], seen["database"], seen["oldest_queued_s"]) == ("ok", "ok", None)
    assert 0 <= seen["worker_heartbeat_age_s"] < 30
    assert seen["free_disk_bytes"] > 0
    assert str(started.home) not in str(seen)


def test_a_worker_that_is_killed_is_named_until_the_next_one_is_up(started: Started) -> None:
    [worker] = started.children()
    os.kill(worker, signal.SIGKILL)
    assert eventually(lambda: _health(started) == (503, ["worker"]))
    assert eventually(lambda: _health(started) == (200, []))


def test_a_run_that_is_cancelled_leaves_no_traceback(started: Started) -> None:
    with started.client() as client:
        make_draft(client, "local.cancelled")
        client.models.train("local.cancelled", effort="max")
        client.models.delete("local.cancelled")
        make_draft(client, "local.after")
        train(client, "local.after")
    # The output of the processes is read by the last test, when they have ended.


def test_a_home_that_is_deleted_takes_no_more_writes(started: Started) -> None:
    key = (started.home / "first.key").read_text().strip()
    shutil.rmtree(started.home)
    headers = {"Authorization": f"Bearer {key}"}
    for _ in range(2):
        answer = httpx.post(
            f"{started.base_url}/v1/models", json={"handle": "local.lost"}, headers=headers, trust_env=False
        )
        assert "removed or replaced while Traitbench was running. Nothing was stored." in _error(answer)
    assert eventually(lambda: _health(started) == (503, ["database"]))
    assert not started.home.exists()
    code, _, err = started.stop()
    assert code == 0
    assert "Traceback" not in err
    assert 'File "' not in err
