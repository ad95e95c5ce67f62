"""What a collector gets of requests, runs and scores, what it never gets, and that nothing waits for it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import httpx
import pytest

from tests.conftest import free_port, make_draft, own_service, train
from tests.contexts import ENCODER, fresh_settings, opened, trained_here, until
from tests.contract.world import served
from tests.otlp_receiver import OtlpReceiver, attributes, otlp_receiver
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench
from traitbench.operations import keys
from traitbench.operations.telemetry import REDACTED, Telemetry
from traitbench.service.app import create_app

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TEXT, QUERY, PATH = "Thank you for the zanzibar, dear friend.", "querymarker", "pathmarker"
HANDLE = "local.tone"
SCORE, BATCH = "POST /v1/models/{handle}/score", "POST /v1/models/{handle}/score/batch"

DOORS = {
    "POST /beta/litellm_basic_guardrail_api": "guard",
    "POST /v1/models/{handle}/webhook": "webhook",
    "POST /v1alpha1/comments:analyze": "perspective",
}
GUARDED = {
    "texts": [TEXT],
    "additional_provider_specific_params": {"model": HANDLE, "trait": "warmth", "block": "cold"},
}
COMMENT = {"comment": {"text": TEXT}, "requestedAttributes": {"WARMTH": {}}}


@dataclass(frozen=True)
class Observed:
    """A session with a service that sends to a receiver: answers by name, the run of the training, and the key."""

    receiver: OtlpReceiver
    answers: Mapping[str, httpx.Response]
    run_id: str
    key: str

    def span(self, name: str) -> Any:
        """The only span of this name in the caller's trace."""
        [span] = [each for each in self.receiver.spans if each.name == name and each.trace_id.hex() == TRACE]
        return span


@pytest.fixture(scope="module", autouse=True)
def _often() -> Iterator[None]:
    """The SDK sends what it has every 0.1 s and not every 5 s, also in the worker."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
        environment.setenv("OTEL_BLRP_SCHEDULE_DELAY", "100")
        yield


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observed]:
    with (
        otlp_receiver() as receiver,
        fresh_settings(tmp_path_factory.mktemp("observed")) as settings,
        own_service(replace(settings, port=free_port(), otlp_url=receiver.url)) as service,
    ):
        key = service.issue()
        with Traitbench(service.base_url, key) as client:
            make_draft(client, HANDLE)
            run_id = train(client, HANDLE).last_operation.run_id  # type: ignore[union-attr]
        headers = {"Authorization": f"Bearer {key}", "traceparent": f"00-{TRACE}-{PARENT}-01"}
        path = f"/v1/models/{HANDLE}/score"
        with httpx.Client(base_url=service.base_url, headers=headers, timeout=PATIENCE_S) as http:
            answers = {
                "score": http.post(path, json={"content": TEXT}),
                "batch": http.post(f"{path}/batch", json={"contents": [TEXT, "Go away.", TEXT]}),
                "guard": http.post("/beta/litellm_basic_guardrail_api", json=GUARDED),
                "webhook": http.post(
                    f"{path.removesuffix('score')}webhook?trait=warmth&side=warm", json={"output": TEXT}
                ),
                "perspective": http.post("/v1alpha1/comments:analyze", json=COMMENT),
                "refused": http.get(f"/v1/models?limit={QUERY}&key={key}"),
                "unknown": http.get(f"/v1/{PATH}?{QUERY}"),
                "health": http.get("/v1/health"),
            }
        named = {SCORE, BATCH, *DOORS, "GET", "GET /v1/models", "run train"}
        until(lambda: named <= {each.name for each in receiver.spans}, what="the spans")
        until(lambda: len(receiver.events) >= 6, what="the events")
        yield Observed(receiver, answers, str(run_id), key)


def test_a_request_belongs_to_the_trace_of_its_caller_and_has_the_id_of_its_answer(observed: Observed) -> None:
    assert observed.answers["score"].status_code == 200
    span = observed.span(SCORE)
    assert span.parent_span_id.hex() == PARENT
    found = attributes(span.attributes)
    assert found["traitbench.request.id"] == observed.answers["score"].headers["X-Request-Id"]
    assert (found["http.route"], found["http.response.status_code"]) == ("/v1/models/{handle}/score", 200)
    assert attributes(observed.span("GET /v1/models").attributes)["http.response.status_code"] == 400


def test_a_score_is_an_event_in_the_span_of_its_request(observed: Observed) -> None:
    span, card = observed.span(SCORE), observed.answers["score"].json()
    [event] = [each for each in observed.receiver.events if each.span_id == span.span_id]
    assert (event.event_name, event.trace_id.hex()) == ("gen_ai.evaluation.result", TRACE)
    score = card["detail"]["warmth"]
    label = {"gen_ai.evaluation.score.label": "warm"} if score["confidence"] != "low" else {}
    assert attributes(event.attributes) == label | {
        "gen_ai.evaluation.name": "warmth",
        "gen_ai.evaluation.score.value": float(score["score"]),
        "traitbench.confidence": score["confidence"],
        "traitbench.model": HANDLE,
        "traitbench.version": "v1",
        "traitbench.request.id": card["metadata"]["request_id"],
    }


@pytest.mark.parametrize("door", DOORS)
def test_a_score_on_a_door_is_the_same_event(observed: Observed, door: str) -> None:
    assert observed.answers[DOORS[door]].status_code == 200, observed.answers[DOORS[door]].text
    [event] = [each for each in observed.receiver.events if each.span_id == observed.span(door).span_id]
    found, card = attributes(event.attributes), observed.answers["score"].json()
    assert found["gen_ai.evaluation.score.value"] == card["scores"]["warmth"]
    assert found["traitbench.request.id"] == observed.answers[DOORS[door]].headers["X-Request-Id"]


def test_a_batch_sends_an_event_for_each_different_text(observed: Observed) -> None:
    span, lines = observed.span(BATCH), [json.loads(line) for line in observed.answers["batch"].text.splitlines()]
    events = [each for each in observed.receiver.events if each.span_id == span.span_id]
    values = [attributes(each.attributes)["gen_ai.evaluation.score.value"] for each in events]
    assert sorted(values) == sorted(float(line["composite"]) for line in lines[:2])


def test_a_run_is_found_by_the_id_that_its_request_has(observed: Observed) -> None:
    [run] = [each for each in observed.receiver.spans if each.name == "run train"]
    assert attributes(run.attributes) == {"traitbench.run.kind": "train", "traitbench.run.id": observed.run_id}
    [request] = [each for each in observed.receiver.spans if each.name == "POST /v1/models/{handle}/train"]
    assert attributes(request.attributes)["traitbench.run.id"] == observed.run_id


def test_no_text_key_path_or_query_is_sent(observed: Observed) -> None:
    sent = b"".join(body for _, body in observed.receiver.bodies)
    assert HANDLE.encode() in sent, "What is sent can be read."
    for kept in ("zanzibar", "Go away", QUERY, PATH, observed.key, observed.key[-20:]):
        assert kept.encode() not in sent, kept
    assert attributes(observed.span("GET").attributes)["url.path"] == REDACTED
    known = {name for span in observed.receiver.spans for name in attributes(span.attributes)}
    assert known == {
        *("http.request.method", "http.route", "http.response.status_code", "network.protocol.version"),
        *("server.address", "server.port", "url.scheme", "url.path", "url.query"),
        *("traitbench.request.id", "traitbench.run.id", "traitbench.run.kind"),
    }
    assert not [each for each in observed.receiver.spans if each.events or each.status.message]


def test_probes_have_no_spans(observed: Observed) -> None:
    assert observed.answers["health"].status_code == 200
    assert not [each for each in observed.receiver.spans if "health" in each.name]


def test_of_a_failed_run_only_the_type_of_its_error_is_sent() -> None:
    with otlp_receiver() as receiver:
        telemetry = Telemetry(receiver.url)
        with pytest.raises(LookupError), telemetry.run("train", "run_1"):
            raise LookupError(TEXT)
        telemetry.close()
        [run] = receiver.spans
        assert attributes(run.attributes)["error.type"] == "LookupError"
        assert b"zanzibar" not in b"".join(body for _, body in receiver.bodies)


def test_a_redirect_is_not_followed() -> None:
    with otlp_receiver() as elsewhere, otlp_receiver() as receiver:
        receiver.elsewhere = elsewhere.url
        telemetry = Telemetry(receiver.url)
        with telemetry.run("train", "run_1"):
            pass
        telemetry.close()
        assert len(receiver.bodies) >= 1
        assert elsewhere.bodies == []


@pytest.mark.parametrize("listening", [True, False])
def test_a_receiver_that_does_not_answer_delays_no_score_and_no_stop(
    tmp_path_factory: pytest.TempPathFactory, listening: bool
) -> None:
    with (
        otlp_receiver(answering=False) as receiver,
        fresh_settings(tmp_path_factory.mktemp("away"), encoder=ENCODER) as settings,
    ):
        url = receiver.url if listening else f"http://127.0.0.1:{free_port()}"
        with opened(replace(settings, otlp_url=url), runs=False) as context:
            path, key = (
                f"/v1/models/{trained_here(context)}/score",
                keys.create(context.engine, scope="scoring", namespaces=["local"]),
            )
            headers = {"Authorization": f"Bearer {key.secret}"}
            with served(create_app(context)) as url, httpx.Client(base_url=url, headers=headers) as http:
                # More than the queues hold: 2,048 events and as many spans.
                for first in range(0, 3_000, 1_000):
                    texts = [f"Dear friend {number}." for number in range(first, first + 1_000)]
                    lines = http.post(f"{path}/batch", json={"contents": texts}, timeout=PATIENCE_S).text.splitlines()
                    assert sum('"scores"' in line for line in lines) == 1_000
                assert http.post(path, json={"content": TEXT}, timeout=PATIENCE_S).status_code == 200
            assert not receiver.answers.is_set()
            began = time.monotonic()
        # The SDK itself would wait for 30 s.
        assert time.monotonic() - began < 15


def test_without_the_setting_nothing_that_sends_is_imported() -> None:
    assert find_spec("opentelemetry.sdk") is not None
    program = """
import sys
from traitbench.operations.context import open_telemetry
from traitbench.service.app import create_app
from traitbench.settings import read_settings
create_app(lambda: None)
assert open_telemetry(read_settings()) is None
print(*sorted({".".join(name.split(".")[:2]) for name in sys.modules if name.startswith("opentelemetry.")}))
"""
    elsewhere = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://192.0.2.1:4318", "FASTAPI_OTEL_AUTO_CONFIGURE": "true"}
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | elsewhere, capture_output=True, text=True)
    # The rest is the interface without an implementation, which FastAPI imports.
    assert done.returncode == 0, done.stderr
    assert not {"opentelemetry.sdk", "opentelemetry.exporter", "opentelemetry.proto"} & {*done.stdout.split()}
