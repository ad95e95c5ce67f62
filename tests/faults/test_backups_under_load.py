"""Backups of a service under writes, each restored elsewhere: everything acknowledged before the backup is in it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from tests.contexts import COLD, WARM, fresh_settings, opened, until
from tests.contract.world import served
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.operations import keys
from traitbench.operations.backups import backup, restore
from traitbench.operations.context import Context
from traitbench.service.app import create_app
from traitbench.settings import Settings

BACKUPS = {"sqlite": 10, "postgresql": 5}
WRITERS = 3
TEXT = "how kind of you"


@dataclass
class Acknowledged:
    """What the service has acknowledged: texts by model, and versions with the score of a text."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    versions: dict[str, tuple[str, object]] = field(default_factory=dict)

    def copy(self) -> "Acknowledged":
        """A copy of the current state."""
        return Acknowledged({name: list(texts) for name, texts in self.texts.items()}, dict(self.versions))


@contextmanager
def _load(base_url: str, secret: str, acknowledged: Acknowledged) -> Iterator[None]:
    """Clients that add samples one by one, and one that trains model after model."""
    stop, failures = threading.Event(), list[BaseException]()

    def repeat(act: Callable[[Traitbench, int], None]) -> None:
        try:
            with Traitbench(base_url, secret) as client:
                for number in count():
                    if stop.is_set():
                        return
                    act(client, number)
        except BaseException as error:
            failures.append(error)

    def add(handle: str) -> Callable[[Traitbench, int], None]:
        def act(client: Traitbench, number: int) -> None:
            if number == 0:
                _draft(client, handle)
                acknowledged.texts[handle] = []
            text = f"text {number} of {handle}"
            client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=number % 2)])
            acknowledged.texts[handle].append(text)

        return act

    def train(client: Traitbench, number: int) -> None:
        handle = f"local.trained-{number}"
        _draft(client, handle)
        poles = [(text, 1.0) for text in WARM] + [(text, 0.0) for text in COLD]
        client.samples.add(
            handle, [SampleInput(trait="warmth", text=f"{text} {number}", quality=pole) for text, pole in poles]
        )
        client.models.train(handle, effort="low")
        client.models.wait(handle)
        version = client.versions.get(handle, "v1")
        acknowledged.versions[handle] = version.param_hash, client.scores.score(handle, TEXT).scores

    acts = [*(add(f"local.written-{number}") for number in range(WRITERS)), train]
    threads = [threading.Thread(target=repeat, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        assert failures == []


def _draft(client: Traitbench, handle: str) -> None:
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth")])


def _check(context: Context, before: Acknowledged, after: Acknowledged) -> None:
    secret = keys.create(context.engine, scope="authoring", namespaces=("local",)).secret
    with served(create_app(context)) as base_url, Traitbench(base_url, secret) as client:
        for handle, texts in before.texts.items():
            kept = [sample.text for sample in client.samples.list(handle)]
            # One client adds them one after another, so later ones must form a sequence without a gap.
            assert kept[: len(texts)] == texts
            assert kept == [f"text {number} of {handle}" for number in range(len(kept))]
            assert len(kept) <= len(after.texts[handle]) + 1
        for handle, (param_hash, scored) in before.versions.items():
            assert client.versions.get(handle, "v1").param_hash == param_hash
            assert client.scores.score(handle, TEXT).scores == scored
        for model in client.models.list(namespace="local"):
            # A model that was being trained gets its version, with the same result as in the source.
            if model.state == "busy":
                assert client.models.wait(model.handle).state == "ready"
                assert client.versions.get(model.handle, "v1").param_hash == after.versions[model.handle][0]
        client.models.train("local.written-0", effort="low")
        assert client.models.wait("local.written-0").state == "ready"


# A backup of a service that is not written to is in `tests/cli/test_backups.py`, which always runs.
@pytest.mark.soak
def test_what_was_acknowledged_before_a_backup_is_in_it(settings: Settings, tmp_path: Path, database: str) -> None:
    with opened(settings, runs=True) as context:
        secret = keys.create(context.engine, scope="authoring", namespaces=("local",)).secret
        acknowledged = Acknowledged()
        # The load takes a whole processor, which the worker needs to start.
        until(context.healthy, what="the worker to be up")
        backups = list[tuple[Path, Acknowledged]]()
        with served(create_app(context)) as base_url, _load(base_url, secret, acknowledged):
            until(
                lambda: acknowledged.versions and len(acknowledged.texts) == WRITERS,
                what="the load to begin",
            )
            for number in range(BACKUPS[database]):
                trained = len(acknowledged.versions)
                until(lambda least=trained: len(acknowledged.versions) > least, what="more load")  # type: ignore[misc]
                before, path = acknowledged.copy(), tmp_path / f"{number}.backup"
                backup(settings, path)
                backups.append((path, before))
    for path, before in backups:
        with fresh_settings(tmp_path / f"{path.name}-home", blank=True) as other:
            restore(other, path)
            with opened(other, runs=True) as restored:
                _check(restored, before, acknowledged)
