"""A shorter path to an endpoint than FastAPI's: it saves 0.3 ms per score.

It skips FastAPI's thread pool and its dependency resolver, which has nothing to do if an endpoint needs only the
caller, the handle and the body. FastAPI still describes the endpoint in OpenAPI.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from inspect import signature
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

# More than all slots of the endpoints that use it (`capacity`), so that no request waits for a thread.
_MOST = 128
_threads = ThreadPoolExecutor(max_workers=_MOST, thread_name_prefix="endpoint")


class DirectRoute(APIRoute):
    """A route for a plain function that takes path strings and dependencies on the request, and returns a response."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of requests; raise `TypeError` if the endpoint declares anything else."""
        endpoint: Callable[..., Response] = self.endpoint
        path = [field.name for field in self.dependant.path_params if _is_string(field)]
        dependencies = [(str(each.name), call) for each in self.dependant.dependencies if (call := _plain(each))]
        if sorted([*path, *(name for name, _ in dependencies)]) != sorted(signature(endpoint).parameters):
            raise TypeError(f"{self.name} has a parameter that only FastAPI can resolve")

        async def handle(request: Request) -> Response:
            values = {name: request.path_params[name] for name in path}
            for name, dependency in dependencies:
                values[name] = await dependency(request)
            # Not on the event loop itself, where one long text would block every other request. The copy is for traces.
            call = partial(copy_context().run, partial(endpoint, **values))
            return await asyncio.get_running_loop().run_in_executor(_threads, call)

        return handle


def _is_string(field: Any) -> bool:
    """Whether a path parameter is a plain string that needs no conversion."""
    return field.field_info.annotation is str and not field.field_info.metadata


def _plain(dependency: Dependant) -> Callable[..., Any] | None:
    """Return the function of a dependency if it takes only the request, else None."""
    call = dependency.call
    return call if call and [*signature(call).parameters] == [dependency.request_param_name] else None
