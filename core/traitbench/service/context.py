"""Gives endpoints the context, which is in the application's state once the process has opened it."""

from starlette.requests import Request

from traitbench.errors import Unavailable
from traitbench.operations.context import Context


def context_of(request: Request) -> Context:
    """Return the open context; raise `Unavailable` while the service starts or stops."""
    context: Context | None = request.app.state.context_of()
    if context is None:
        raise Unavailable("The service is starting or stopping. Try again in a moment.")
    return context
