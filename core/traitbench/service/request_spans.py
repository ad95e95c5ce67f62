"""The ids by which the span of a request is found: its own, which its log lines have too, and that of its run."""

from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from traitbench.service.request_id import request_id

if TYPE_CHECKING:
    from traitbench.operations.telemetry import Telemetry


class RequestSpans:
    """Marks the spans that FastAPI makes. It is plain ASGI, inside of them."""

    def __init__(self, app: ASGIApp, telemetry: "Telemetry") -> None:
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                run_id = Headers(raw=message["headers"]).get("x-run-id")
                if run_id is not None:
                    self._telemetry.mark_run(run_id)
            await send(message)

        if scope["type"] == "http":
            self._telemetry.mark_request(request_id(scope))
        await self._app(scope, receive, marked)
