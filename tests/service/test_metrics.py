"""`/v1/metrics` and the log of the service: complete, true, bounded, and without content."""

import asyncio
import io
import json
import logging
import re
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine
from starlette.requests import Request

from tests.conftest import Service, Trained
from tests.contexts import AUTHOR, draft, fresh_settings, opened, trained_here
from tests.contract.world import served
from traitbench.contract.models import TrainRequest
from traitbench.logs import LogHandler
from traitbench.operations import training
from traitbench.service.app import create_app
from traitbench.service.metrics import is_local
from traitbench.service.observability import RequestMetrics
from traitbench.service.request_id import RequestSummary
from traitbench.store.database import open_engine

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]
FAMILIES = {
    *("traitbench_build_info", "traitbench_ready", "traitbench_requests", "traitbench_request_seconds"),
    *("traitbench_errors", "traitbench_key_refusals", "traitbench_runs", "traitbench_runs_ended"),
    *("traitbench_run_seconds", "traitbench_queue_oldest_seconds", "traitbench_workers_alive"),
    *("traitbench_cache_requests", "traitbench_vector_cache_bytes", "traitbench_worker_resident_memory_bytes"),
    *("traitbench_work", "traitbench_work_now", "traitbench_work_bytes"),
    *("traitbench_database_up", "traitbench_database_bytes", "traitbench_disk_free_bytes"),
    *("process_resident_memory_bytes", "process_open_fds"),
}


def scrape(base_url: str) -> Samples:
    answer = httpx.get(f"{base_url}/v1/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return read(answer.text)


def read(text: str) -> Samples:
    families = list(text_string_to_metric_families(text))
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples.get((name, tuple(sorted(labels.items()))), 0.0)


def test_every_family_is_there(service: Service, trained: Trained) -> None:
    httpx.get(f"{service.base_url}/v1/models")
    trained.client.scores.score(trained.handle, "Hello.")
    text = httpx.get(f"{service.base_url}/v1/metrics").text
    assert {family.name for family in text_string_to_metric_families(text)} >= FAMILIES


def test_a_call_is_counted_by_template_operation_and_class(service: Service, trained: Trained) -> None:
    template = "/v1/models/{handle}/score"
    before = scrape(service.base_url)
    trained.client.scores.score(trained.handle, "How kind of you.")
    httpx.post(f"{service.base_url}/v1/models/{trained.handle}/score", json={"content": "x"})
    httpx.request("PROPFIND", f"{service.base_url}/v1/a/path/of/their/own?secret=1")
    after = scrape(service.base_url)

    def grown(name: str, **labels: str) -> float:
        return value(after, name, **labels) - value(before, name, **labels)

    assert grown("traitbench_requests_total", route=template, method="POST", status="2xx") == 1
    assert grown("traitbench_requests_total", route=template, method="POST", status="4xx") == 1
    assert grown("traitbench_requests_total", route="unmatched", method="other", status="4xx") == 1
    assert grown("traitbench_request_seconds_count", operation="scores.score") == 2
    assert grown("traitbench_errors_total", code="unauthenticated") == 1
    assert grown("traitbench_key_refusals_total", key="absent") == 1
    assert 0 < grown("traitbench_request_seconds_sum", operation="scores.score") < 60


def test_no_label_is_of_a_callers_making(service: Service, trained: Trained) -> None:
    for path in ("/v1/models/some.thing", "/v1/models/other.thing/traits/x", "/v1/x/y", "/%00", "/v1/models?cursor=q"):
        for method in ("GET", "DELETE", "BREW", "A" * 50):
            httpx.request(method, service.base_url + path, headers={"Authorization": "Bearer tba_guess"})
    first, second = scrape(service.base_url), scrape(service.base_url)
    assert len(first) == len(second)
    labels = {text for _, pairs in first for _, text in pairs}
    assert not [text for text in labels if re.search(r"some|thing|guess|BREW|AAA|tba_|trained\.|req_", text)]


def test_figures_of_runs_come_from_the_database(tmp_path: Path) -> None:
    with fresh_settings(tmp_path) as settings, opened(settings, runs=False) as context:
        trained_here(context)
        waiting = draft(context, warm=2, cold=2)
        training.start(context, AUTHOR, waiting, TrainRequest(effort="low"))
        with served(create_app(context)) as base_url:
            samples = scrape(base_url)
        assert value(samples, "traitbench_runs_ended_total", kind="train", outcome="succeeded") == 1
        assert value(samples, "traitbench_run_seconds_sum", kind="train", outcome="succeeded") > 0
        assert value(samples, "traitbench_runs", kind="train", status="queued") == 1
        assert 0 < value(samples, "traitbench_queue_oldest_seconds") < 600
        assert value(samples, "traitbench_workers_alive") == 0
        context.engine.dispose()
        away = replace(context, engine=_nowhere(tmp_path))
        with served(create_app(away)) as base_url:
            samples = scrape(base_url)
        assert ("traitbench_database_up", ()) in samples
        assert value(samples, "traitbench_database_up") == 0


def _nowhere(home: Path) -> Engine:
    return open_engine(f"sqlite:///{home}/no/such/folder/x.db")


def test_a_service_that_is_starting_can_be_scraped_with_a_key_or_says_503() -> None:
    with served(create_app(lambda: None)) as base_url:
        assert httpx.get(f"{base_url}/v1/metrics").status_code == 503


@pytest.mark.parametrize(
    ("peer", "headers", "local"),
    [
        ("127.0.0.1", {}, True),
        ("127.9.9.9", {}, True),
        ("::1", {}, True),
        ("::ffff:127.0.0.1", {}, True),
        ("10.0.0.1", {}, False),
        ("::ffff:10.0.0.1", {}, False),
        ("0.0.0.0", {}, False),
        ("localhost", {}, False),
        (None, {}, False),
        *(
            ("127.0.0.1", {name: "127.0.0.1"}, False)
            for name in ("X-Forwarded-For", "forwarded", "Via", "X-Real-IP", "x-forwarded-proto", "X-FORWARDED-HOST")
        ),
    ],
)
def test_local_is_a_loopback_peer_without_a_proxy(peer: str | None, headers: dict[str, str], local: bool) -> None:
    scope = {
        "type": "http",
        "client": None if peer is None else (peer, 1),
        "headers": [(name.lower().encode(), each.encode()) for name, each in headers.items()],
    }
    assert is_local(Request(scope)) is local


def test_what_is_no_address_of_this_machine_needs_a_key(service: Service) -> None:
    """A caller from elsewhere; an ASGI server tells the application who the peer is."""
    app = create_app(service.context)
    for peer, expected in (("192.0.2.7", 401), ("127.0.0.1", 200)):
        transport = httpx.ASGITransport(app, client=(peer, 5))

        async def ask(transport: httpx.ASGITransport = transport) -> int:
            async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
                return (await client.get("/v1/metrics")).status_code

        assert asyncio.run(ask()) == expected


# ---- the log ---------------------------------------------------------------------------------------------------------

TEXT = "Dear Ms Example, your secret diagnosis"


class Log:
    def __init__(self, level: int) -> None:
        self.stream = io.StringIO()
        self.handler = LogHandler(self.stream, "json")
        self.handler.setLevel(level)
        self.logger = logging.getLogger("traitbench.service")
        self.level = level

    def __enter__(self) -> "Log":
        self.before = self.logger.level
        self.logger.setLevel(self.level)
        self.logger.addHandler(self.handler)
        return self

    def __exit__(self, *_: object) -> None:
        self.logger.removeHandler(self.handler)
        self.logger.setLevel(self.before)

    @property
    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


def test_a_refused_key_is_logged_by_peer_request_and_kind_and_not_a_character_of_it_more(service: Service) -> None:
    good = service.issue()
    wrong = good[:-1] + ("a" if good[-1] != "a" else "b")
    with Log(logging.WARNING) as log:
        for key in (wrong, "hunter2-password-of-another-service"):
            answer = httpx.get(f"{service.base_url}/v1/models?x=hush", headers={"Authorization": f"Bearer {key}"})
            assert answer.status_code == 401
            (line,) = [line for line in log.lines if line["request_id"] == answer.headers["x-request-id"]]
            assert {name: line[name] for name in ("event", "peer", "route", "key")} == {
                "event": "key_refused",
                "peer": "127.0.0.1",
                "route": "/v1/models",
                "key": "tba_" if key is wrong else "other",
            }
        assert httpx.get(f"{service.base_url}/v1/models").status_code == 401
    written = log.stream.getvalue()
    assert len(log.lines) == 2
    assert not [each for each in ("hunt", good[4:10], "hush", "Bearer") if each in written]


def test_by_default_what_goes_well_is_not_logged(service: Service, trained: Trained) -> None:
    with Log(logging.WARNING) as log:
        trained.client.scores.score(trained.handle, TEXT)
        httpx.get(f"{service.base_url}/v1/models/a.b")
    assert [line for line in log.lines if line["event"] != "key_refused"] == []


def test_at_level_info_every_request_is_a_line_without_content_handle_or_key(
    service: Service, trained: Trained
) -> None:
    secret = service.issue(namespaces=("trained",))
    with Log(logging.INFO) as log:
        answer = httpx.post(
            f"{service.base_url}/v1/models/{trained.handle}/score?hush=1",
            json={"content": TEXT},
            headers={"Authorization": f"Bearer {secret}"},
        )
    (line,) = [line for line in log.lines if line["request_id"] == answer.headers["x-request-id"]]
    assert (line["event"], line["method"], line["route"]) == ("request", "POST", "/v1/models/{handle}/score")
    assert (line["status"], line["bytes"]) == (answer.status_code, len(answer.content))
    assert isinstance(line["duration_ms"], float)
    written = log.stream.getvalue()
    assert not [each for each in (TEXT, "diagnosis", trained.handle, secret[4:], "hush") if each in written]


@pytest.mark.parametrize(
    ("status", "seconds", "operation", "event"),
    [
        (200, 0.1, "scores.score", None),
        (404, 0.1, "models.get", None),
        (200, 11.0, "scores.score", "request_slow"),
        (200, 11.0, "scores.batch", None),
        (500, 0.1, "scores.score", "request_failed"),
        (503, 0.1, "scores.batch", "request_failed"),
        (503, 0.1, "service.health", None),
        (500, 0.1, "service.health", "request_failed"),
        (0, 0.1, "scores.batch", None),
    ],
)
def test_failed_and_slow_requests_are_logged(status: int, seconds: float, operation: str, event: str | None) -> None:
    route = SimpleNamespace(path_format="/v1/x/{handle}", name=operation)
    scope = {"type": "http", "method": "POST", "headers": [], "route": route}
    request_metrics = RequestMetrics(lambda: None, lambda: None)
    with Log(logging.WARNING) as log:
        request_metrics.seen(RequestSummary(scope, "req_1", status, 10, seconds))
    assert [line["event"] for line in log.lines] == ([event] if event else [])
    samples = read(request_metrics.exposition().decode())
    shown = f"{status // 100}xx" if status else "none"
    assert value(samples, "traitbench_requests_total", route="/v1/x/{handle}", method="POST", status=shown) == 1


def test_counting_a_request_costs_little() -> None:
    """The promise is 20 us; the bound leaves room for a busy machine."""
    request_metrics = RequestMetrics(lambda: None, lambda: None)
    route = SimpleNamespace(path_format="/v1/x", name="scores.score")
    request = RequestSummary({"method": "POST", "headers": [], "route": route}, "req_1", 200, 10, 0.005)
    began = time.process_time()
    for _ in range(20_000):
        request_metrics.seen(request)
    assert (time.process_time() - began) / 20_000 < 100e-6
