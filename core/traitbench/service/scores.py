"""`/v1/models/{handle}/score` and `/compare`: score or compare texts, as cards or as a bar chart."""

from starlette.responses import Response

from traitbench.contract import operations
from traitbench.contract.operation import TEXT
from traitbench.contract.scores import CompareRequest, ScoreRequest
from traitbench.display.barchart import draw, draw_pair
from traitbench.operations import scores
from traitbench.service.caller import Call
from traitbench.service.direct import DirectRoute
from traitbench.service.parameters import PinnedHandle
from traitbench.service.routing import Router

router = Router(tags=["scores"], route_class=DirectRoute)


@router.serve(operations.SCORES_SCORE)
def score(call: Call, handle: PinnedHandle, body: ScoreRequest) -> Response:
    """Score a text, sent as JSON or plain text, by the active version or the one that the handle is pinned to."""
    if call.media_type == TEXT:
        card = scores.score(call.context, call.caller, handle, body, request_id=call.request_id)
        return Response(draw(card), media_type=TEXT)
    written = scores.written(call.context, call.caller, handle, body, request_id=call.request_id)
    return Response(written, media_type=call.media_type)


@router.serve(operations.SCORES_COMPARE)
def compare(call: Call, handle: PinnedHandle, body: CompareRequest) -> Response:
    """Score two texts by the same version, and return the change from the first to the second."""
    pair = scores.compare(call.context, call.caller, handle, body, request_id=call.request_id)
    return Response(draw_pair(pair) if call.media_type == TEXT else pair.model_dump_json(), media_type=call.media_type)
