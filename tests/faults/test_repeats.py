"""The service is killed at random moments while a client writes and scores: everything is stored once, by the client
alone. Nothing here is repeated by the test.
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx

from tests.contexts import ON_BOTH_IN_SOAK, opened, trained_here
from tests.faults.victim import Victim
from tests.patience import PATIENCE_S
from tests.size import sized
from traitbench.client import Client
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.operations import keys
from traitbench.settings import Settings

KILLS = sized(1, 30)
MANY = sized(1_500, 4_000)


@dataclass
class Sent:
    """What a client was told is done, and what it sees in the end."""

    models: list[str] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    ids: dict[str, list[int]] = field(default_factory=dict)
    scored: int = 0
    lines: list[tuple[int, str]] = field(default_factory=list)
    stored: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def missing(self) -> int:
        """The samples that were sent and are not stored."""
        return sum(sum((Counter(texts) - self._texts_in(handle)).values()) for handle, texts in self.texts.items())

    def doubled(self) -> int:
        """The samples that are stored and were not sent, or not as often."""
        return sum(sum((self._texts_in(handle) - Counter(texts)).values()) for handle, texts in self.texts.items())

    def _texts_in(self, handle: str) -> Counter[str]:
        return Counter(text for _, text in self.stored[handle])


class Without(httpx.HTTPTransport):
    """Sends requests without one of their headers."""

    def __init__(self, header: str) -> None:
        super().__init__()
        self._header = header

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.headers.pop(self._header, None)
        return super().handle_request(request)


def killed_while_writing(settings: Settings, kills: int, *, without: str | None = None, seed: int = 1) -> Sent:
    """Write and score until the service was killed this often."""
    rng, sent, over = random.Random(seed), Sent(), threading.Event()
    with opened(settings, runs=False) as context:
        secret = keys.create(context.engine, scope="authoring", namespaces=["local"]).secret
        trained = trained_here(context)
    victim = Victim(settings, {"TRAITBENCH_RETRAIN_AFTER_SAMPLES": "3"})
    victim.start()
    transport = Without(without) if without else None
    try:
        with (
            Client(victim.base_url, secret, restart_timeout=PATIENCE_S, transport=transport) as client,
            ThreadPoolExecutor(2) as threads,
        ):
            assert client.me().namespaces == ["local"]
            work = [threads.submit(each, client, trained, sent, over) for each in (_write, _score)]
            for _ in range(kills):
                time.sleep(rng.uniform(0, 2.5))
                if any(each.done() for each in work):
                    break
                victim.kill_service()
            over.set()
            for each in work:
                each.result(PATIENCE_S)
            for handle in [trained, *sent.models]:
                listed = client.samples.list(handle, limit=500)
                mine = [each for each in listed if each.text.startswith("local.")]
                sent.stored[handle] = [(each.id, each.text) for each in mine]
    finally:
        over.set()
        victim.stop()
    return sent


def _write(client: Client, trained: str, sent: Sent, over: threading.Event) -> None:
    """Make one model after another with many samples, and correct scores in between."""
    while not over.is_set():
        handle = f"local.made-{len(sent.models)}"
        sent.models.append(client.models.create(handle).handle)
        client.traits.add(handle, [TraitInput(name="Warmth")])
        texts = [f"{handle} text {number}" for number in range(MANY)]
        samples = [SampleInput(trait="warmth", text=text, quality=number % 2) for number, text in enumerate(texts)]
        sent.texts[handle], sent.ids[handle] = texts, client.samples.add(handle, samples)
        for number in range(20):
            text = f"{handle} correction {number}"
            card = client.scores.score(trained, text, feedback={"warmth": 1})
            sent.texts.setdefault(trained, []).append(text)
            sent.ids.setdefault(trained, []).extend(card.metadata.sample_ids)


def _score(client: Client, trained: str, sent: Sent, over: threading.Event) -> None:
    """Score texts without an end in one batch."""

    def texts() -> Iterator[str]:
        while not over.is_set():
            sent.scored += 1
            yield f"text {sent.scored}"

    for line in client.scores.batch(trained, texts(), size=200):
        sent.lines.append((line.index, line.metadata.version_id))  # type: ignore[union-attr]


@ON_BOTH_IN_SOAK
def test_what_a_client_sends_while_the_service_is_killed_is_stored_once(settings: Settings) -> None:
    sent = killed_while_writing(settings, KILLS)
    assert sent.texts
    assert (sent.missing(), sent.doubled()) == (0, 0)
    for handle, ids in sent.ids.items():
        assert [each for each, _ in sent.stored[handle]] == ids
    assert [index for index, _ in sent.lines] == [*range(sent.scored)]
    assert {version for _, version in sent.lines} == {sent.lines[0][1]}, "although others were trained meanwhile"
