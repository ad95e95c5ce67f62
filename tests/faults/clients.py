"""Clients of a service that keeps dying: they add samples, train, score, tag and edit, and log every call.

Each client owns its models, so what it sees next follows from what it did before. A call without an answer is
`unknown`; it is repeated only if it is safe to repeat. Nothing is judged here: `history.judge` does that.
"""

import hashlib
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle
from typing import Any

import httpx
from sqlalchemy import Engine

from tests.conftest import COLD, WARM
from tests.faults.history import Event, How
from tests.patience import PATIENCE_S
from traitbench.operations import keys

_PAUSE = 0.05

Json = dict[str, Any]


class Gone(Exception):
    """The clients were told to stop."""


class Log:
    """The events of all clients, and the durations of their calls."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.seconds: dict[str, list[tuple[float, float]]] = {}
        self.faults: list[str] = []
        self._lock = threading.Lock()

    def add(self, event: Event) -> None:
        """Add an event."""
        with self._lock:
            self.events.append(event)
            if event.how == "ok":
                self.seconds.setdefault(event.op, []).append((event.began, event.ended - event.began))

    def fault(self, what: str) -> None:
        """Record a response of 500, which is never right."""
        with self._lock:
            self.faults.append(what)

    def count(self, op: str, how: How = "ok") -> int:
        """How many calls of an operation had this outcome."""
        return sum(1 for event in [*self.events] if (event.op, event.how) == (op, how))


class Client:
    """One client, used by one thread."""

    def __init__(self, base_url: str, secret: str, log: Log, *, seed: int, stop: threading.Event) -> None:
        self.log = log
        self.random = random.Random(seed)
        self._name = f"c{seed}"
        self._number = 0
        self._stop = stop
        self._http = httpx.Client(
            base_url=f"{base_url}/v1",
            headers={"Authorization": f"Bearer {secret}"},
            timeout=PATIENCE_S,
            trust_env=False,
        )

    # ---- calls -------------------------------------------------------------------------------------------------------

    def call(
        self,
        op: str,
        handle: str,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        asked: Json | None = None,
        read: Callable[[Json], Json] = lambda answer: answer,
    ) -> Event:
        """Make one call and log it; `read` extracts from the response what is logged."""
        began, how, answer = time.monotonic(), "unknown", {}
        status = 0
        with suppress(httpx.TransportError):
            response = self._http.request(method, f"/models{path}", json=body)
            status = response.status_code
            if status < 300:
                how, answer = "ok", read(_json(response))
            elif status < 500:
                how, answer = "refused", {"status": status, "code": response.json()["error"]["code"]}
            elif status != 503:
                self.log.fault(f"{op} {response.text}")
        event = Event(op, handle, began, time.monotonic(), how, asked or {}, answer)  # type: ignore[arg-type]
        self.log.add(event)
        return event

    def insist(self, *arguments: Any, **named: Any) -> Event:
        """Make a call that is safe to repeat, until it is answered."""
        end = time.monotonic() + PATIENCE_S
        while (event := self.call(*arguments, **named)).how == "unknown":
            assert time.monotonic() < end, f"no answer to {arguments[:4]}"
            self._pause()
        return event

    # ---- what they do ------------------------------------------------------------------------------------------------

    def live(self) -> None:
        """Work on one model after another; raise `Gone` when told to stop."""
        while True:
            self.check_stop()
            handle = self.teach()
            self.train(handle)
            for _ in range(self.random.randint(2, 5)):
                self.check_stop()
                self.use(handle)
            if self.random.random() < 0.5:
                self.train(handle, again=True)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def teach(self) -> str:
        """Create a draft with samples at both poles; return its handle."""
        while True:
            self._number += 1
            handle = f"local.{self._name}-{self._number}"
            self.call("create", handle, "POST", "", {"handle": handle})
            if not self.get(handle).answer.get("missing"):
                break
        self.insist("add traits", handle, "POST", f"/{handle}/traits", {"traits": [{"name": "Warmth"}]})
        first = self.add(handle, [(text, 1.0) for text in WARM[:4]] + [(text, 0.0) for text in COLD[:4]])
        if self.random.random() < 0.5 and first:
            sample = first[0]
            self.call("remove sample", handle, "DELETE", f"/{handle}/samples/{sample}", asked={"id": sample})
        self.add(handle, [(self.text(), 1.0), (self.text(), 0.0)])
        while self._poles(handle) < 2:
            self.add(handle, [(self.text(), 1.0), (self.text(), 0.0)])
        return handle

    def add(self, handle: str, samples: list[tuple[str, float]]) -> list[int]:
        """Add samples once; return their ids if there was an answer."""
        body = {"samples": [{"trait": "warmth", "text": text, "quality": quality} for text, quality in samples]}
        texts = [text for text, _ in samples]
        event = self.call("add samples", handle, "POST", f"/{handle}/samples", body, asked={"texts": texts})
        return [int(each) for each in event.answer.get("ids", ())]

    def train(self, handle: str, *, again: bool = False) -> None:
        """Train, and follow the run to its end."""
        body = {"effort": "low", "reoptimize_params": again}
        started = self.insist("train", handle, "POST", f"/{handle}/train", body)
        if started.how == "ok" and started.answer.get("run_id"):
            self.settle(handle)

    def settle(self, handle: str) -> Event:
        """Wait until the model is no longer busy."""
        end = time.monotonic() + PATIENCE_S
        while (event := self.get(handle)).answer.get("state") == "busy":
            assert time.monotonic() < end, f"{handle} stays busy: {event.answer}"
            self._pause(0.15)
        return event

    def use(self, handle: str) -> None:
        """Do something that a trained model allows."""
        self.random.choice(
            (self.score, self.score, self.tag, self.describe, self.feedback, self.batch, self.get, self.versions)
        )(handle)

    def score(self, handle: str) -> None:
        """Score one of a few texts with the active version."""
        text = self.random.choice((*WARM, *COLD))
        self.call("score", handle, "POST", f"/{handle}/score", {"content": text}, asked={"text": text}, read=_card)

    def batch(self, handle: str) -> None:
        """Score several texts in one call; every line is logged as a score."""
        texts = self.random.sample((*WARM, *COLD), 5)
        self.call("batch", handle, "POST", f"/{handle}/score/batch", {"contents": texts})

    def tag(self, handle: str) -> None:
        """Point a tag at the active version or remove it, then read it."""
        if self.random.random() < 0.4:
            asked = {"name": "tag best", "value": None}
            self.call("set", handle, "DELETE", f"/{handle}/versions/best", asked=asked)
        else:
            tagged = self.call("tag", handle, "POST", f"/{handle}/versions/best")
            number = tagged.answer.get("version_no")
            # Without an answer the version that scored is unknown: it may have been any.
            possible = [number] if tagged.how == "ok" else range(1, 30) if tagged.how == "unknown" else []
            for each in possible:
                asked = {"name": "tag best", "value": f"v{each}"}
                self.log.add(Event("set", handle, tagged.began, tagged.ended, tagged.how, asked))
        self.read_tag(handle)

    def read_tag(self, handle: str) -> None:
        """Read which version has the tag."""

        def tagged(answer: Json) -> Json:
            bearers = [f"v{item['version_no']}" for item in answer["items"] if "best" in item["tags"]]
            return {"value": bearers[0] if bearers else None}

        self.call("read", handle, "GET", f"/{handle}/versions?limit=250", asked={"name": "tag best"}, read=tagged)

    def describe(self, handle: str) -> None:
        """Change the description, then read it."""
        asked = {"name": "description", "value": f"said {self.random.random()}"}
        self.call("set", handle, "PATCH", f"/{handle}", {"description": asked["value"]}, asked=asked)
        self.read_description(handle)

    def read_description(self, handle: str) -> None:
        """Read the description."""
        self.call(
            "read",
            handle,
            "GET",
            f"/{handle}",
            asked={"name": "description"},
            read=lambda answer: {"value": answer["description"]},
        )

    def feedback(self, handle: str) -> None:
        """Give feedback on a text."""
        text = self.text()
        self.call(
            "feedback",
            handle,
            "POST",
            f"/{handle}/score",
            {"content": text, "feedback": {"warmth": 1}},
            asked={"texts": [text]},
            read=lambda answer: {"ids": answer["metadata"]["sample_ids"]},
        )

    def export(self, handle: str) -> Json:
        """The bundle of a model, which is not logged."""
        began = time.monotonic()
        bundle = _json(self._http.get(f"/models/{handle}/export"))
        self.log.add(Event("export", handle, began, time.monotonic(), "ok"))
        return bundle

    def get(self, handle: str) -> Event:
        """Read the model; that it does not exist is an answer too."""
        event = self.insist("get", handle, "GET", f"/{handle}", read=_model)
        if event.how == "refused" and event.answer["code"] == "model_not_found":
            return Event("get", handle, event.began, event.ended, "ok", {}, {"missing": True})
        return event

    def versions(self, handle: str) -> Event:
        """Read all versions, by number."""
        wanted = ("version_no", "param_hash", "run_id")

        def numbered(answer: Json) -> Json:
            return {"items": [{name: each[name] for name in wanted} for each in answer["items"]]}

        return self.insist("versions", handle, "GET", f"/{handle}/versions?limit=250", read=numbered)

    def look_at_all(self, handle: str) -> None:
        """Read everything about a model for the last time: all that was acknowledged must exist."""
        result = self.settle(handle)
        if result.answer.get("missing"):
            self.log.add(result)
            return
        self.versions(handle)
        self.read_tag(handle)
        self.read_description(handle)
        items: list[Json] = []
        began, cursor = time.monotonic(), ""
        while True:
            page = self._http.get(f"/models/{handle}/samples?limit=500{cursor}").json()
            items += [{"id": item["id"], "text": item["text"]} for item in page["items"]]
            if not page["next_cursor"]:
                break
            cursor = f"&cursor={page['next_cursor']}"
        self.log.add(Event("samples", handle, began, time.monotonic(), "ok", {}, {"items": items}))

    def text(self) -> str:
        """A text that nobody has sent before."""
        self._number += 1
        word = hashlib.sha256(f"{self._name} {self._number} {self.random.random()}".encode()).hexdigest()[:12]
        return f"{self.random.choice((*WARM, *COLD))} {word}"

    def check_stop(self) -> None:
        """Raise `Gone` if it is time to stop."""
        if self._stop.is_set():
            raise Gone

    def _poles(self, handle: str) -> int:
        event = self.insist("poles", handle, "GET", f"/{handle}/traits", read=lambda answer: answer)
        poles: list[int] = [min(t["positive_samples"], t["negative_samples"]) for t in event.answer["traits"]]
        return min(poles)

    def _pause(self, seconds: float = _PAUSE) -> None:
        time.sleep(seconds * self.random.uniform(0.5, 1.5))


class Keyring:
    """An operator who issues and revokes keys directly in the database, and checks whether they work."""

    def __init__(self, engine: Engine, base_url: str, log: Log) -> None:
        self._engine, self._log = engine, log
        self._http = httpx.Client(base_url=base_url, timeout=PATIENCE_S, trust_env=False)
        self._secrets: dict[str, str] = {}

    def rotate(self, *, revoke: bool) -> None:
        """Issue a key, perhaps revoke one, and use them all."""
        began = time.monotonic()
        issued = keys.create(self._engine, scope="scoring", namespaces=["local"])
        self._secrets[issued.key.id] = issued.secret
        self._log.add(Event("issue key", "", began, time.monotonic(), "ok", {"id": issued.key.id}))
        if revoke:
            began = time.monotonic()
            keys.revoke(self._engine, oldest := next(iter(self._secrets)))
            self._log.add(Event("revoke key", "", began, time.monotonic(), "ok", {"id": oldest}))
        self.use()

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def use(self) -> None:
        """Use every key that was ever issued."""
        for identity, secret in self._secrets.items():
            began = time.monotonic()
            with suppress(httpx.TransportError):
                answer = self._http.get("/v1/models", headers={"Authorization": f"Bearer {secret}"})
                accepted = {"accepted": answer.status_code == 200}
                how: How = "ok" if answer.status_code in (200, 401) else "unknown"
                self._log.add(Event("use key", "", began, time.monotonic(), how, {"id": identity}, accepted))


@contextmanager
def at_work(
    clients: list[Client], stop: threading.Event, do: Sequence[Callable[[Client], None]] = (Client.live,)
) -> Iterator[None]:
    """Run clients in threads, each with its job; raise the error that ended one of them."""
    failures: list[BaseException] = []

    def work(client: Client, job: Callable[[Client], None]) -> None:
        try:
            with suppress(Gone):
                job(client)
        except BaseException as error:
            failures.append(error)

    jobs = zip(clients, cycle(do), strict=False)
    threads = [threading.Thread(target=work, args=each) for each in jobs]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE_S)
        for client in clients:
            client.close()
    if failures:
        raise failures[0]


def _json(response: httpx.Response) -> Json:
    answer: Json = response.json() if response.headers["content-type"] == "application/json" else {}
    return answer


def _model(answer: Json) -> Json:
    return {name: answer[name] for name in ("state", "version_no", "last_operation")}


def _card(answer: Json) -> Json:
    version = answer["metadata"].pop("version_id")
    answer["metadata"].pop("request_id")
    return {"version": version, "card": hashlib.sha256(repr(answer).encode()).hexdigest()}
