"""The FastAPI service: the resources under `/v1`, put together, with one way to fail."""

import logging
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from traitbench.errors import InternalError, MethodNotAllowed, RouteNotFound, TraitbenchError, UnreadableRow
from traitbench.lifecycle.bench import Bench
from traitbench.service import batches, extracts, metrics, models, open, query, samples, scores, traits, versions
from traitbench.service.edges import Edges, fault, request_id
from traitbench.service.envelope import envelope
from traitbench.service.watching import Watching

_log = logging.getLogger(__name__)

# Routes are tried one after another: what is asked most stands first.
RESOURCES = (scores, batches, models, traits, samples, versions, extracts, open, metrics)

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
# The framework's own telemetry would carry bodies and error messages; there is none.
SILENT: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)


def create_app(bench_of: Callable[[], Bench | None] | Bench) -> ASGIApp:
    """The service over a bench, or over what returns one once it is open and None until then."""
    api = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, telemetry=SILENT)
    api.state.bench_of = (lambda: bench_of) if isinstance(bench_of, Bench) else bench_of
    api.state.capacity = None  # made by the settings of the bench, which may not be open yet
    api.state.watching = watching = Watching(api.state.bench_of, lambda: api.state.capacity)
    for resource in RESOURCES:
        api.include_router(resource.router)
    api.add_exception_handler(TraitbenchError, _raised)
    api.add_exception_handler(RequestValidationError, _bad_query)
    api.add_exception_handler(HTTPException, _unrouted)
    api.add_exception_handler(Exception, _uncaught)
    return Edges(api, watching.seen)


async def _raised(request: Request, error: Any) -> Response:
    if isinstance(error, UnreadableRow):
        _log.error("%s %s", request_id(request.scope), error.message)
    return _told(request, error)


async def _bad_query(request: Request, error: Any) -> Response:
    return _told(request, query.invalid(error.errors()))


async def _unrouted(request: Request, error: Any) -> Response:
    return _told(request, _routing_error(request, error.status_code))


async def _uncaught(request: Request, error: Exception) -> Response:
    """The framework raises the error again behind this answer, and the edges write it down."""
    request.app.state.watching.failed(InternalError.code)
    return fault(request_id(request.scope))


def _told(request: Request, error: TraitbenchError) -> Response:
    request.app.state.watching.failed(error.code)
    return envelope(error, request_id(request.scope))


def _routing_error(request: Request, status: int) -> TraitbenchError:
    if status == 404:
        return RouteNotFound("The API has no such path; its paths stand in /v1/openapi.json.")
    if status == 405:
        allow = _methods(request)
        return MethodNotAllowed(
            f"This path has {', '.join(allow)} only.", details={"allow": allow}, headers={"Allow": ", ".join(allow)}
        )
    return InternalError("The service failed; the request id finds the reason in its log.")


def _methods(request: Request) -> list[str]:
    """Every method that the path has, over all routes that match it."""
    path = request.scope["path"]
    routes = (route for route in iter_route_contexts(request.app.routes) if route.path_regex.match(path))
    found = {method for route in routes for method in route.methods or ()}
    return [method for method in METHODS if method in found or (method == "HEAD" and "GET" in found)]
