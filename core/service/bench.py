"""Gives endpoints the bench, which is in the application's state once the process has opened it."""

from starlette.requests import Request

from traitbench.errors import Unavailable
from traitbench.lifecycle.bench import Bench


def bench_of(request: Request) -> Bench:
    """Return the open bench; raise `Unavailable` while the service starts or stops."""
    bench: Bench | None = request.app.state.bench_of()
    if bench is None:
        raise Unavailable("The service is starting or stopping. Try again in a moment.")
    return bench
