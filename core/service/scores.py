"""`/v1/models/{handle}/score`: a text in, a card or a bar chart out."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from core.barchart import draw
from core.contract.scores import Card, ScoreRequest
from core.lifecycle import scores
from core.service.body import TEXT, Body
from core.service.caller import CalledForCardOrChart
from core.service.paths import PinnedHandle

router = APIRouter(tags=["scores"])

Content = Annotated[ScoreRequest, Depends(Body(ScoreRequest, text_as="content"))]


@router.post("/v1/models/{handle}/score", name="scores.score", response_model=Card)
def score(call: CalledForCardOrChart, handle: PinnedHandle, body: Content) -> Response:
    """Score a text, sent as JSON or as it is, by the active version or by the one the handle is pinned to."""
    card = scores.score(call.bench, call.caller, handle, body, request_id=call.request_id)
    shown = draw(card) if call.media_type == TEXT else card.model_dump_json()
    # Said here, the framework need not check the card once more, on another thread.
    return Response(shown, media_type=call.media_type)
