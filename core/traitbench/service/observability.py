"""Prometheus metrics of the service, and log lines for what an operator must see.

Labels are route templates, methods, status classes and other closed sets, so that the number of series is bounded. No
handle, name, text or key is ever a label. Requests, caches and memory are those of this process: sum them over
processes. Runs, workers and the queue come from the database at each scrape and are the same in all processes: take
their maximum.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector

from traitbench import logs
from traitbench.contract import operations
from traitbench.contract.operation import METHODS
from traitbench.errors import Unavailable
from traitbench.operations import operating
from traitbench.operations.context import Context
from traitbench.service.capacity import Capacity
from traitbench.service.request_id import RequestSummary
from traitbench.service.sent_keys import every_secret

# Scores take milliseconds; batches and imports take seconds to minutes.
_BUCKETS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_SLOW_SECONDS = 10.0
# Their duration depends on the size of the body, so a long one is normal.
_NEVER_SLOW = frozenset({operations.SCORES_BATCH.name, operations.MODELS_IMPORT.name})
# A probe may get its 503 every few seconds. The cause is logged elsewhere, once per change.
_ANSWERS_WITH_503 = operations.HEALTH.name
_KEY_FORMS = ("tba_", "tbs_")
_LONGEST_PEER = 64

_log = logging.getLogger("traitbench.service")

# The creation times would double the number of series without being useful.
disable_created_metrics()  # type: ignore[no-untyped-call]


class RequestMetrics:
    """The metrics of one application, and their registry."""

    def __init__(self, context_of: Callable[[], Context | None], capacity_of: Callable[[], Capacity | None]) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "traitbench_requests",
            "Finished requests by route template, method and status class (`none`: the caller left).",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "traitbench_request_seconds",
            "Seconds from the start of a request to the last byte of its response, by operation.",
            ("operation",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._errors = Counter(
            "traitbench_errors", "Responses other than 2xx by error code.", ("code",), registry=self.registry
        )
        self._refused = Counter(
            "traitbench_key_refusals",
            "Requests answered with 401, by their key: absent or invalid.",
            ("key",),
            registry=self.registry,
        )
        # Looking up a child by its labels costs more than counting, so children are cached.
        self._counting: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        ProcessCollector(registry=self.registry)
        self.registry.register(_Figures(context_of, capacity_of))

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)

    def failed(self, code: str) -> None:
        """Count a response with an error code."""
        self._errors.labels(code).inc()

    def seen(self, request: RequestSummary) -> None:
        """Count a finished request, and log it if it failed, was slow or had an invalid key."""
        route = request.scope.get("route")
        template, operation = (route.path_format, route.name) if route is not None else ("unmatched", "unmatched")
        key = (template, request.scope["method"], request.status // 100)
        counting = self._counting.get(key)
        if counting is None:
            counting = self._counting_of(key, operation)
        counting[0].inc()
        counting[1].observe(request.seconds)
        slow = request.seconds >= _SLOW_SECONDS and operation not in _NEVER_SLOW
        failed = request.status >= 500 and not (request.status == 503 and operation == _ANSWERS_WITH_503)
        if failed or slow:
            level = logging.ERROR if request.status >= 500 and request.status != 503 else logging.WARNING
            self._write(level, "request_slow" if request.status < 500 else "request_failed", request, template)
        elif _log.isEnabledFor(logging.INFO):
            self._write(logging.INFO, "request", request, template)
        if request.status == 401:
            self._refuse(request, template)

    def _counting_of(self, key: tuple[str, str, int], operation: str) -> tuple[Counter, Histogram]:
        template, method, hundreds = key
        known = method if method in METHODS else "other"
        status = f"{hundreds}xx" if hundreds else "none"
        children = self._requests.labels(template, known, status), self._seconds.labels(operation)
        # Callers can make up methods, so those are not kept.
        if known == method:
            self._counting[key] = children
        return children

    def _refuse(self, request: RequestSummary, template: str) -> None:
        sent = [*every_secret(request.scope)]
        self._refused.labels("invalid" if sent else "absent").inc()
        if sent:
            fields = {"route": template, "peer": _peer(request), "key": _form(sent[0])}
            logs.event(_log, logging.WARNING, "key_refused", request_id=request.request_id, **fields)

    def _write(self, level: int, name: str, request: RequestSummary, template: str) -> None:
        logs.event(
            _log,
            level,
            name,
            request_id=request.request_id,
            method=request.scope["method"],
            route=template,
            status=request.status,
            duration_ms=round(request.seconds * 1000, 1),
            bytes=request.sent_bytes,
        )


def _peer(request: RequestSummary) -> str:
    client = request.scope.get("client")
    return str(client[0])[:_LONGEST_PEER] if client else "unknown"


def _form(secret: str) -> str:
    """Return the prefix of a key of ours, else "other": no part of a foreign secret is logged."""
    return secret[:4] if secret[:4] in _KEY_FORMS else "other"


class _Figures(Collector):
    """Metrics that are read at each scrape: runs, workers, storage, caches, memory, build."""

    def __init__(self, context_of: Callable[[], Context | None], capacity_of: Callable[[], Capacity | None]) -> None:
        self._context_of = context_of
        self._capacity_of = capacity_of

    def collect(self) -> Iterator[Metric]:
        """Yield the metric families."""
        build = operating.build()
        yield _gauge("traitbench_build_info", "The release and its Python; always 1.", build)
        context = self._context_of()
        yield GaugeMetricFamily("traitbench_ready", "1 once the service is open.", value=float(context is not None))
        if context is None:
            return
        yield from _caches(context)
        yield from _memory()
        if (capacity := self._capacity_of()) is not None:
            yield from _work(capacity)
        seen: operating.Overview | None = None
        with suppress(Unavailable):
            seen = operating.overview(context.engine)
        yield GaugeMetricFamily("traitbench_database_up", "1 if the database answers.", value=float(seen is not None))
        if seen is not None:
            yield from _runs(seen)
            yield from _storage(context, seen)


def _gauge(name: str, help: str, labels: dict[str, str]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, help, labels=[*labels])
    family.add_metric([*labels.values()], 1.0)
    return family


def _caches(context: Context) -> Iterator[Metric]:
    lookups = CounterMetricFamily("traitbench_cache_requests", "Lookups in memory.", labels=["cache", "result"])
    for name, cache in (("vectors", context.vectors), ("snapshots", context.snapshots)):
        lookups.add_metric([name, "hit"], cache.hits)
        lookups.add_metric([name, "miss"], cache.misses)
    yield lookups
    yield GaugeMetricFamily("traitbench_vector_cache_bytes", "Vectors in memory.", value=context.vectors.size)


def _work(capacity: Capacity) -> Iterator[Metric]:
    decided = CounterMetricFamily("traitbench_work", "Requests admitted or refused.", labels=["kind", "outcome"])
    now = GaugeMetricFamily("traitbench_work_now", "Requests that are active or waiting.", labels=["kind", "state"])
    in_memory = GaugeMetricFamily("traitbench_work_bytes", "Bytes of bodies in memory.", labels=["kind"])
    for kind, counts in capacity.snapshot().items():
        for outcome in ("admitted", "refused"):
            decided.add_metric([kind, outcome], counts[outcome])
        for state in ("at_work", "waiting"):
            now.add_metric([kind, state], counts[state])
        in_memory.add_metric([kind], counts["bytes"])
    yield from (decided, now, in_memory)


def _memory() -> Iterator[Metric]:
    if (resident := operating.children_memory()) is not None:
        help = "Resident memory of the worker that this process started."
        yield GaugeMetricFamily("traitbench_worker_resident_memory_bytes", help, value=resident)


def _runs(seen: operating.Overview) -> Iterator[Metric]:
    live = GaugeMetricFamily("traitbench_runs", "Unfinished runs.", labels=["kind", "status"])
    ended = CounterMetricFamily("traitbench_runs_ended", "Finished runs.", labels=["kind", "outcome"])
    seconds = SummaryMetricFamily(
        "traitbench_run_seconds", "Seconds from the request of a run to its end.", labels=["kind", "outcome"]
    )
    for each in seen.tally:
        if each.outcome in ("queued", "running"):
            live.add_metric([each.kind, each.outcome], each.count)
        else:
            ended.add_metric([each.kind, each.outcome], each.count)
            seconds.add_metric([each.kind, each.outcome], each.count, each.seconds)
    yield from (live, ended, seconds)
    age = "Seconds that the oldest queued run has waited; 0 if none is queued."
    yield GaugeMetricFamily("traitbench_queue_oldest_seconds", age, value=seen.oldest_wait_s)
    yield GaugeMetricFamily("traitbench_workers_alive", "Workers seen in the last 30 seconds.", value=len(seen.alive))
    if seen.workers:
        last = min(each.age_s for each in seen.workers)
        yield GaugeMetricFamily("traitbench_worker_seen_seconds", "Seconds since a worker was last seen.", value=last)


def _storage(context: Context, seen: operating.Overview) -> Iterator[Metric]:
    yield GaugeMetricFamily("traitbench_database_bytes", "Size of the database.", value=seen.database_bytes)
    free = operating.free_bytes(context.settings)
    if free is not None:
        yield GaugeMetricFamily("traitbench_disk_free_bytes", "Free space for the home folder.", value=free)
