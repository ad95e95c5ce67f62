"""`/v1/systemone`: typed questions about a text, on the wire of other programs."""

from starlette.responses import Response

from traitbench.contract import operations
from traitbench.contract.decisions import DecisionRequest
from traitbench.doors import decisions
from traitbench.service.caller import Call
from traitbench.service.direct import DirectRoute
from traitbench.service.routing import Router

router = Router(tags=["decisions"], route_class=DirectRoute)


@router.serve(operations.DECISIONS_ANSWER)
def answer(call: Call, body: DecisionRequest) -> Response:
    """Answer questions about a text for clients of "System One", each from the trait that it names."""
    answers = decisions.answer(call.context, call.caller, body, request_id=call.request_id)
    return Response(answers.model_dump_json(), media_type=call.media_type)
