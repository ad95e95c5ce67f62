"""One request over a real socket, and what every answer promises.

`World.call` sends it as one of three callers and checks the answer: a request id of its own, the envelope, and that the
OpenAPI document declares its status, code, headers and shape.
"""

import json
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn
from jsonschema import Draft202012Validator
from starlette.types import ASGIApp

from tests.conftest import not_none
from tests.contexts import done_here
from tests.patience import PATIENCE_S
from traitbench.contract.bundles import Bundle, digest
from traitbench.contract.operation import ErrorForm
from traitbench.operations import keys, model_runs
from traitbench.operations.context import Context
from traitbench.service.errors import form_of
from traitbench.store import runs
from traitbench.store.database import writing
from traitbench.store.keys import Scope

REQUEST_ID = re.compile(r"req_[0-9A-HJKMNP-TV-Z]{26}")
GOOD = (
    *("I love it", "What a fine day", "Lovely and kind", "A joy to read", "Warm and bright", "Well done, thank you"),
    *("How good of you", "I am glad you came", "Take all the time you need", "You are always welcome"),
)
BAD = (
    *("I hate it", "What a foul day", "Nasty and cruel", "A pain to read", "Cold and grim", "Badly done, no thanks"),
    *("How mean of you", "I wish you had not come", "Stop wasting my time", "You are never welcome"),
)
SAMPLES = [{"trait": "tone", "text": text, "quality": 1.0} for text in GOOD] + [
    {"trait": "tone", "text": text, "quality": 0.0} for text in BAD
]


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: httpx.Headers
    text: str
    body: Any

    @property
    def lines(self) -> list[Any]:
        """The values of an answer of lines; none of another answer."""
        if self.headers.get("content-type") != "application/x-ndjson":
            return []
        assert self.text.endswith("\n")
        return [json.loads(line) for line in self.text.split("\n")[:-1]]

    @property
    def code(self) -> str:
        """The error's code, empty when there is none."""
        return str(self.body["error"]["code"]) if self.status >= 400 else ""

    @property
    def details(self) -> Mapping[str, Any]:
        """The error's details."""
        return dict(self.body["error"]["details"])


@dataclass
class World:
    """A service and its callers: `authoring` and `scoring` own `mine` and `paging`, `maker` owns every namespace."""

    base_url: str
    context: Context | None = None
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    bundles: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.base_url, timeout=PATIENCE_S)
        self.described: dict[str, Any] = self.http.get("/v1/openapi.json", params={"doors": "true"}).json()
        self._ids: set[str] = set()

    def issue(self, scope: Scope, *namespaces: str) -> str:
        """The secret of a new key."""
        return keys.create(not_none(self.context).engine, scope=scope, namespaces=namespaces).secret

    def call(
        self, method: str, path: str, *, key: str | None = "authoring", raw: bytes | None = None, **request: Any
    ) -> Answer:
        """One request. `key` names a caller, or is a secret; `raw` is sent as JSON whatever it is."""
        headers = {} if key is None else {"Authorization": f"Bearer {self.secrets.get(key, key)}"}
        if raw is not None:
            request["content"] = raw
            headers["Content-Type"] = "application/json"
        headers |= request.pop("headers", {})
        return self._checked(self.http.request(method, path, headers=headers, **request))

    def make(self, handle: str, *, key: str = "maker", samples: bool = True, train: bool = False) -> str:
        """A model with the trait `tone`; with `train`, its training is queued."""
        path = f"/v1/models/{handle}"
        traits = {"traits": [{"name": "Tone", "positive_label": "warm", "negative_label": "cold"}]}
        assert self.call("POST", "/v1/models", key=key, json={"handle": handle}).status == 201
        assert self.call("POST", f"{path}/traits", key=key, json=traits).status == 200
        if samples:
            assert self.call("POST", f"{path}/samples", key=key, json={"samples": SAMPLES}).status == 200
        if train:
            assert self.call("POST", f"{path}/train", key=key, json={"effort": "low"}).status == 202
        return handle

    def run(self, handle: str) -> None:
        """Execute the run of a busy model here, and now; it succeeds."""
        done_here(not_none(self.context), self._operation(handle)["run_id"])
        assert self._operation(handle)["status"] == "succeeded"

    def fail(self, handle: str) -> None:
        """Let the run of a busy model fail."""
        with writing(not_none(self.context).engine) as connection:
            run = not_none(runs.read(connection, self._operation(handle)["run_id"]))
            assert model_runs.fail(connection, run, code="internal_error", message="It failed.")

    def _operation(self, handle: str) -> dict[str, Any]:
        operation: dict[str, Any] = self.call("GET", f"/v1/models/{handle}", key="maker").body["last_operation"]
        return operation

    def bring_in(self, handle: str, bundle: Mapping[str, Any]) -> str:
        """A model made of a bundle that was taken from a service, and perhaps changed."""
        answer = self.call("POST", "/v1/models/import", key="maker", params={"handle": handle}, json=signed(bundle))
        assert answer.status == 201, answer.text
        return handle

    def operation(self, method: str, path: str) -> dict[str, Any] | None:
        """The declared operation that a request meets; a path without braces goes before one with."""
        for template in sorted(self.described["paths"], key=lambda each: each.count("{")):
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
                result: dict[str, Any] | None = self.described["paths"][template].get(method.lower())
                if result is not None:
                    return result
        return None

    def _checked(self, response: httpx.Response) -> Answer:
        is_json = response.content and response.headers.get("content-type") == "application/json"
        answer = Answer(response.status_code, response.headers, response.text, response.json() if is_json else None)
        self._check_id(answer)
        if response.request.method != "HEAD":
            self._check_envelope(answer, form_of(response.request.url.path))
            self._check_declared(response.request, answer)
        return answer

    def _check_id(self, answer: Answer) -> None:
        (identity,) = answer.headers.get_list("x-request-id")
        assert REQUEST_ID.fullmatch(identity)
        assert identity not in self._ids
        self._ids.add(identity)

    def _check_envelope(self, answer: Answer, form: ErrorForm) -> None:
        if answer.status < 400:
            return
        assert set(answer.body) == ({"error", "detail"} if form == "decision" else {"error"})
        error = answer.body["error"]
        assert set(error) == {"code", "message", "request_id", "details"}
        assert error["request_id"] == answer.headers["x-request-id"]
        assert re.fullmatch(r"[a-z_]+", error["code"])
        assert error["message"].endswith(".")
        assert isinstance(error["details"], dict)

    def _check_declared(self, request: httpx.Request, answer: Answer) -> None:
        operation = self.operation(request.method, request.url.raw_path.decode().partition("?")[0])
        if operation is None:
            assert answer.status in (404, 405)
            return
        declared = operation["responses"][str(answer.status)]
        assert not answer.code or answer.code in declared["x-error-codes"]
        assert all(name in answer.headers for name in declared["headers"] if name != "X-Run-Id")
        content = declared["content"][answer.headers["content-type"].partition(";")[0]]
        if answer.body is not None:
            Draft202012Validator({**self.described, **content["schema"]}).validate(answer.body)
        for line in answer.lines:
            Draft202012Validator({**self.described, **content["schema"]["contentSchema"]}).validate(line)


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """The base address of an application on a free port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def signed(bundle: Mapping[str, Any]) -> dict[str, Any]:
    """A bundle, its sum made right again."""
    return {**bundle, "sha256": digest(Bundle.model_validate(bundle))}


def as_json(value: Any) -> bytes:
    """JSON that says NaN and half a surrogate pair when it is told to."""
    return json.dumps(value).encode()
