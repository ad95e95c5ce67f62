"""Traces of requests and runs, and scores as events, for the OpenTelemetry collector that the operator names.

This is the only module that imports the SDK, and it is imported only if `TRAITBENCH_OTLP_URL` is set. What is sent has
names from a closed list: ids, names of models and traits, scores, routes, durations. A text, key, path or query string
is never sent.

Spans and events wait in bounded queues, which threads of the SDK empty. If the collector is slow or away, the oldest
are dropped, and no request and no run waits.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from threading import Thread
from typing import Any

import requests
from opentelemetry.context import Context as TraceContext
from opentelemetry.context import get_current
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import Span, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import StatusCode, get_current_span

from traitbench.display.sides import side_at
from traitbench.scoring.snapshot import Snapshot, TraitAxis

REQUEST_ID, RUN_ID, RUN_KIND = "traitbench.request.id", "traitbench.run.id", "traitbench.run.kind"
MODEL, VERSION, CONFIDENCE = "traitbench.model", "traitbench.version", "traitbench.confidence"
# By the semantic conventions of OpenTelemetry for generative AI.
EVALUATION, NAME = "gen_ai.evaluation.result", "gen_ai.evaluation.name"
VALUE, LABEL = "gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"

SENT = frozenset(
    {
        *("http.request.method", "http.route", "http.response.status_code", "error.type"),
        *("url.scheme", "network.protocol.version", "server.address", "server.port", REQUEST_ID, RUN_ID, RUN_KIND),
    }
)
"""The attributes of spans that are sent as they are."""
REDACTED = "REDACTED"

_NAME = "traitbench"
_FAREWELL_SECONDS = 1.0


class _RedactingProcessor(BatchSpanProcessor):
    """Replaces what an instrumentation records beyond `SENT`, such as the path and the query string."""

    def on_start(self, span: Span, parent_context: TraceContext | None = None) -> None:
        """Replace the values before anything can read them."""
        for name in (span.attributes or {}).keys() - SENT:
            span.set_attribute(name, REDACTED)
        super().on_start(span, parent_context)


class Telemetry:
    """Where one process sends its spans and events: a collector at `url`, with OTLP over HTTP."""

    def __init__(self, url: str) -> None:
        release = version(_NAME)
        # The operator's OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
        ours = Resource.create({"service.name": _NAME, "service.version": release})
        resource = ours.merge(OTELResourceDetector().detect())
        spans = OTLPSpanExporter(f"{url}/v1/traces", session=_session())
        self.tracer_provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self.tracer_provider.add_span_processor(_RedactingProcessor(spans))
        events = OTLPLogExporter(f"{url}/v1/logs", session=_session())
        self._logger_provider = LoggerProvider(resource=resource, shutdown_on_exit=False)
        self._logger_provider.add_log_record_processor(BatchLogRecordProcessor(events))
        self._tracer = self.tracer_provider.get_tracer(_NAME, release)
        self._logger = self._logger_provider.get_logger(_NAME, release)

    def scoring(self, handle: str, snapshot: Snapshot) -> Callable[[Mapping[str, Any]], None]:
        """Return what sends an event for each trait of a card, given the values of the card.

        The events belong to the trace that is current now. One has no label if the score claims no side.
        """
        within = get_current()

        def scored(card: Mapping[str, Any]) -> None:
            metadata = card["metadata"]
            shared = {MODEL: handle, VERSION: metadata["version_id"], REQUEST_ID: metadata["request_id"]}
            for trait in snapshot.traits:
                if trait.key in card["detail"]:
                    attributes = {**_evaluation(trait, card["detail"][trait.key]), **shared}
                    self._logger.emit(event_name=EVALUATION, context=within, attributes=attributes)

        return scored

    def mark_request(self, request_id: str) -> None:
        """Add to the current span the id of its request."""
        get_current_span().set_attribute(REQUEST_ID, request_id)

    def mark_run(self, run_id: str) -> None:
        """Add to the current span the id of the run that it queued or that it conflicts with."""
        get_current_span().set_attribute(RUN_ID, run_id)

    @contextmanager
    def run(self, kind: str, run_id: str) -> Iterator[None]:
        """Trace the execution of a run. Of an error only the type is sent."""
        with self._tracer.start_as_current_span(
            f"run {kind}",
            attributes={RUN_KIND: kind, RUN_ID: run_id},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except BaseException as error:
                span.set_attribute("error.type", type(error).__qualname__)
                span.set_status(StatusCode.ERROR)
                raise

    def close(self) -> None:
        """Send what waits; give up after a second."""
        # Each shutdown waits for the collector for up to 30 s, which no parameter changes.
        ending = [
            Thread(target=provider.shutdown, name="telemetry", daemon=True)
            for provider in (self.tracer_provider, self._logger_provider)
        ]
        for thread in ending:
            thread.start()
        for thread in ending:
            thread.join(_FAREWELL_SECONDS)


def _session() -> requests.Session:
    """Connections that follow no redirect, so that everything reaches only the host that the operator named."""
    session = requests.Session()
    session.max_redirects = 0
    return session


def _evaluation(trait: TraitAxis, score: Mapping[str, Any]) -> dict[str, str | float]:
    """The attributes of a score on a trait."""
    side = side_at(
        score["native"]["polarity"],
        score["confidence"],
        positive_label=trait.positive_label,
        negative_label=trait.negative_label,
    )
    result = {NAME: trait.key, VALUE: float(score["score"]), CONFIDENCE: score["confidence"]}
    return result if side.positive is None else {**result, LABEL: side.pole}
