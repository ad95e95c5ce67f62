"""`/v1/models/{handle}/score` and `/compare`: score or compare texts, as cards or as a bar chart."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from traitbench.contract.scores import Card, CompareRequest, Comparison, ScoreRequest
from traitbench.display.barchart import draw, draw_pair
from traitbench.operations import scores
from traitbench.service.body import TEXT, Body
from traitbench.service.caller import CalledForCardOrChart
from traitbench.service.direct import DirectRoute
from traitbench.service.parameters import PinnedHandle

router = APIRouter(tags=["scores"], route_class=DirectRoute)

Pair = Annotated[CompareRequest, Depends(Body(CompareRequest, work="score"))]
Content = Annotated[ScoreRequest, Depends(Body(ScoreRequest, text_as="content", work="score"))]


@router.post("/v1/models/{handle}/score", name="scores.score", response_model=Card)
def score(call: CalledForCardOrChart, handle: PinnedHandle, body: Content) -> Response:
    """Score a text, sent as JSON or plain text, by the active version or the one that the handle is pinned to."""
    if call.media_type == TEXT:
        card = scores.score(call.context, call.caller, handle, body, request_id=call.request_id)
        return Response(draw(card), media_type=TEXT)
    written = scores.written(call.context, call.caller, handle, body, request_id=call.request_id)
    return Response(written, media_type=call.media_type)


@router.post("/v1/models/{handle}/compare", name="scores.compare", response_model=Comparison)
def compare(call: CalledForCardOrChart, handle: PinnedHandle, body: Pair) -> Response:
    """Score two texts by the same version, and return the change from the first to the second."""
    pair = scores.compare(call.context, call.caller, handle, body, request_id=call.request_id)
    return Response(draw_pair(pair) if call.media_type == TEXT else pair.model_dump_json(), media_type=call.media_type)
