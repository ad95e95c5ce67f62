"""`/v1/versions/compare`: compare two versions, of one model or of two."""

from functools import partial

from starlette.responses import Response

from traitbench.contract import operations
from traitbench.contract.comparisons import VersionsCompareRequest
from traitbench.operations import comparisons
from traitbench.service.body import Body
from traitbench.service.caller import Call
from traitbench.service.direct import DirectRoute
from traitbench.service.routing import Router

router = Router(tags=["versions"], route_class=DirectRoute)


@router.serve(operations.VERSIONS_COMPARE, body=partial(Body, apart="texts"))
def compare(call: Call, body: VersionsCompareRequest) -> Response:
    """Compare two versions on the same test samples and, if texts are sent, on these texts.

    The key needs read access to both models. Handles may be pinned: `acme.tone@v3`. Nothing is stored.
    """
    compared = comparisons.compare(call.context, call.caller, body)
    return Response(compared.model_dump_json(), media_type=call.media_type)
