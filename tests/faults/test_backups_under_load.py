"""Backups of a service under writes, each restored elsewhere: everything acknowledged before the backup is in it."""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contexts import ON_BOTH, fresh_settings, opened, until
from tests.contract.world import served
from tests.faults.clients import Client, Log, at_work
from tests.faults.history import Event, judge
from traitbench.operations import keys
from traitbench.operations.backups import backup, restore
from traitbench.service.app import create_app
from traitbench.settings import Settings

BACKUPS = {"sqlite": 6, "postgresql": 3}
CLIENTS = 3


def _until_then(events: Sequence[Event], began: float, ended: float) -> list[Event]:
    """What a service knows that was restored from a backup: a call that overlaps the backup may be in it or not."""
    return [
        event if event.ended < began else replace(event, how="unknown", answer={})
        for event in events
        if event.began < ended
    ]


# A backup of a service that is not written to is in `tests/cli/test_backups.py`, which always runs.
@pytest.mark.soak
@ON_BOTH
def test_what_was_acknowledged_before_a_backup_is_in_it(settings: Settings, tmp_path: Path, database: str) -> None:
    log, stop, backups = Log(), threading.Event(), list[tuple[Path, float, float]]()
    with opened(settings, runs=True) as context:
        secret = keys.create(context.engine, scope="authoring", namespaces=("local",)).secret
        # The load takes a whole processor, which the worker needs to start.
        until(context.healthy, what="the worker to be up")
        with served(create_app(context)) as base_url:
            people = [Client(base_url, secret, log, seed=number, stop=stop) for number in range(CLIENTS)]
            with at_work(people, stop):
                for number in range(BACKUPS[database]):
                    trained = log.count("train")
                    until(lambda least=trained: log.count("train") > least + 2, what="more load")  # type: ignore[misc]
                    began, path = time.monotonic(), tmp_path / f"{number}.backup"
                    backup(settings, path)
                    backups.append((path, began, time.monotonic()))
    for path, began, ended in backups:
        with fresh_settings(tmp_path / f"{path.name}-home", blank=True) as other:
            restore(other, path)
            after = Log()
            after.events = _until_then(log.events, began, ended)
            with opened(other, runs=True) as restored, served(create_app(restored)) as base_url:
                client = Client(base_url, secret, after, seed=99, stop=threading.Event())
                for handle in sorted({event.handle for event in after.events if event.op == "create"}):
                    client.look_at_all(handle)
                client.close()
            assert (after.faults, judge(after.events)) == ([], [])
