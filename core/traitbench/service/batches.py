"""`/v1/models/{handle}/score/batch`: stream one line per text, in order, as soon as it is ready."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from traitbench.contract import operations
from traitbench.contract.batches import BatchRequest
from traitbench.contract.operation import LINES
from traitbench.operations.batches import line, open_batch
from traitbench.operations.pipeline import Pipeline
from traitbench.service.body import Body
from traitbench.service.caller import Call
from traitbench.service.direct import DirectRoute
from traitbench.service.parameters import PinnedHandle
from traitbench.service.routing import Router

router = Router(tags=["scores"], route_class=DirectRoute)


class LinesResponse(Response):
    """A stream of lines. It ends after the last line, or when the caller leaves or the service stops.

    If it ends before the last line, the body breaks off, so that the caller knows that it is incomplete.
    """

    media_type = LINES

    def __init__(self, pipeline: Pipeline[bytes], status_code: int = 200) -> None:
        # Tells a proxy not to buffer the lines.
        super().__init__(status_code=status_code, headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._pipeline = pipeline

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the headers, then lines until there are no more or the caller has left."""
        ready = asyncio.Event()
        with _started(self._pipeline, ready):
            gone = asyncio.ensure_future(_gone(receive, ready))
            try:
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                while not self._pipeline.done and not self._pipeline.closed and not gone.done():
                    await ready.wait()
                    ready.clear()
                    if lines := self._pipeline.take():
                        await send({"type": "http.response.body", "body": _joined(lines), "more_body": True})
                if self._pipeline.done:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
            finally:
                gone.cancel()


@router.serve(operations.SCORES_BATCH, body=partial(Body, apart="contents"), response_class=LinesResponse)
def score_batch(call: Call, handle: PinnedHandle, body: BatchRequest) -> Response:
    """Score up to 1,000 texts by one version. Streams a line of JSON for each text, in the order sent.

    A line is the card of the text with its `index`, or the `error` that a request with this text alone would get.
    """
    return LinesResponse(open_batch(call.context, call.caller, handle, body, request_id=call.request_id))


@contextmanager
def _started(pipeline: Pipeline[bytes], ready: asyncio.Event) -> Iterator[None]:
    loop = asyncio.get_running_loop()

    def wake() -> None:
        # The loop may close before the last thread ends.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(ready.set)

    pipeline.start(wake)
    try:
        yield
    finally:
        pipeline.close()


async def _gone(receive: Receive, ready: asyncio.Event) -> None:
    """Return when the caller has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
    ready.set()


def _joined(lines: Sequence[tuple[int, bytes]]) -> bytes:
    return b"".join([line(index, result) for index, result in lines])
