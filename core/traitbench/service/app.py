"""The FastAPI application: all rows of the table of operations, and the handlers that turn errors into responses."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from traitbench.contract import operations
from traitbench.contract.operation import METHODS
from traitbench.errors import InternalError, MethodNotAllowed, RouteNotFound, TraitbenchError, UnreadableRow
from traitbench.operations.context import Context
from traitbench.service import (
    about,
    attributes,
    batches,
    comparisons,
    decisions,
    extracts,
    guards,
    labelling,
    metrics,
    models,
    parameters,
    perspective,
    proposed,
    samples,
    scores,
    traits,
    versions,
)
from traitbench.service.observability import RequestMetrics
from traitbench.service.request_id import RequestIdMiddleware, error_response, internal_error, request_id
from traitbench.service.request_spans import RequestSpans

if TYPE_CHECKING:
    from traitbench.operations.telemetry import Telemetry

_log = logging.getLogger(__name__)

# Routes are matched in this order, so the most used come first.
RESOURCES = (
    scores,
    perspective,
    decisions,
    guards,
    batches,
    models,
    traits,
    samples,
    versions,
    comparisons,
    extracts,
    attributes,
    proposed,
    labelling,
    about,
    metrics,
)

# FastAPI's own telemetry would record error messages, and send them to wherever variables of other programs say.
SILENT: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)
_PROBES = frozenset({operations.HEALTH.full_path, operations.METRICS.full_path})


def create_app(context_of: Callable[[], Context | None] | Context, telemetry: "Telemetry | None" = None) -> ASGIApp:
    """Build the service.

    `context_of` is an open context, or a function that returns it, or None while it is not open yet. Requests are
    traced by `telemetry`, or by that of an open context.
    """
    find = (lambda: context_of) if isinstance(context_of, Context) else context_of
    if isinstance(context_of, Context):
        telemetry = context_of.telemetry
    traces = _traces(telemetry) if telemetry is not None else SILENT
    api = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, telemetry=traces)
    api.state.context_of = find
    api.state.capacity = None  # created on first use, from the settings of the context, which may not be open yet
    api.state.request_metrics = request_metrics = RequestMetrics(api.state.context_of, lambda: api.state.capacity)
    for resource in RESOURCES:
        api.include_router(resource.router)
    api.add_exception_handler(TraitbenchError, _raised)
    api.add_exception_handler(RequestValidationError, _bad_query)
    api.add_exception_handler(HTTPException, _unrouted)
    api.add_exception_handler(Exception, _uncaught)
    if telemetry is not None:
        api.add_middleware(RequestSpans, telemetry=telemetry)
    return RequestIdMiddleware(api, request_metrics.seen)


def _traces(telemetry: "Telemetry") -> Any:
    """FastAPI's telemetry with a span for each request but the probes of monitors."""
    return {
        **SILENT,
        "tracing": True,
        "tracer_provider": telemetry.tracer_provider,
        "exclude": lambda scope: scope["path"] in _PROBES,
    }


async def _raised(request: Request, error: Any) -> Response:
    if isinstance(error, UnreadableRow):
        _log.error("%s %s", request_id(request.scope), error.message)
    return _error_response(request, error)


async def _bad_query(request: Request, error: Any) -> Response:
    return _error_response(request, parameters.invalid(error.errors()))


async def _unrouted(request: Request, error: Any) -> Response:
    return _error_response(request, _routing_error(request, error.status_code))


async def _uncaught(request: Request, error: Exception) -> Response:
    """Return a 500. The framework then raises the error again, and the outermost middleware logs it."""
    request.app.state.request_metrics.failed(InternalError.code)
    return internal_error(request.scope)


def _error_response(request: Request, error: TraitbenchError) -> Response:
    request.app.state.request_metrics.failed(error.code)
    return error_response(error, request.scope)


def _routing_error(request: Request, status: int) -> TraitbenchError:
    if status == 404:
        return RouteNotFound("The API has no such path. /v1/openapi.json lists all paths.")
    if status == 405:
        allow = _methods(request)
        return MethodNotAllowed(
            f"This path supports only {', '.join(allow)}.",
            details={"allow": allow},
            headers={"Allow": ", ".join(allow)},
        )
    return InternalError("The service failed. Its log has the reason under this request id.")


def _methods(request: Request) -> list[str]:
    """Return the methods of all routes that match the path."""
    path = request.scope["path"]
    routes = (route for route in iter_route_contexts(request.app.routes) if route.path_regex.match(path))
    methods = {method for route in routes for method in route.methods or ()}
    return [method for method in METHODS if method in methods or (method == "HEAD" and "GET" in methods)]
