"""Guards of other programs: LiteLLM's generic guardrail, and the webhook of promptfoo."""

from starlette.responses import Response

from traitbench.contract import operations
from traitbench.contract.guards import GuardrailRequest, WebhookRequest, WebhookVerdict
from traitbench.doors import guards
from traitbench.service.caller import Call
from traitbench.service.direct import DirectRoute
from traitbench.service.parameters import AtTrait, FromPoints, PinnedHandle, TowardsSide
from traitbench.service.perspective import CommentBody
from traitbench.service.routing import Router

router = Router(tags=["guards"])


@router.serve(operations.GUARDS_LITELLM, body=CommentBody, route_class_override=DirectRoute)
def guardrail(call: Call, body: GuardrailRequest) -> Response:
    """Tell LiteLLM whether a prompt or an answer is towards a pole of a trait, and so is to be blocked."""
    answer = guards.guardrail(call.context, call.caller, body, request_id=call.request_id)
    return Response(answer.model_dump_json(), media_type=call.media_type)


@router.serve(operations.GUARDS_WEBHOOK, body=CommentBody)
def webhook(
    call: Call, handle: PinnedHandle, body: WebhookRequest, trait: AtTrait, side: TowardsSide, from_: FromPoints = 50
) -> WebhookVerdict:
    """Tell promptfoo whether the output of a prompt is on a side of a trait."""
    return guards.verdict(
        call.context, call.caller, handle, body, trait=trait, side=side, least=from_, request_id=call.request_id
    )
