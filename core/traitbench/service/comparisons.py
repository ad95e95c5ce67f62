"""`/v1/versions/compare`: compare two versions, of one model or of two."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from traitbench.contract.comparisons import VersionsCompareRequest, VersionsComparison
from traitbench.operations import comparisons
from traitbench.service.body import Body
from traitbench.service.caller import Called
from traitbench.service.direct import DirectRoute

router = APIRouter(tags=["versions"], route_class=DirectRoute)

Pair = Annotated[VersionsCompareRequest, Depends(Body(VersionsCompareRequest, apart="texts", work="batch"))]


@router.post("/v1/versions/compare", name="versions.compare", response_model=VersionsComparison)
def compare(call: Called, body: Pair) -> Response:
    """Compare two versions on the same test samples and, if texts are sent, on these texts.

    The key needs read access to both models. Handles may be pinned: `acme.tone@v3`. Nothing is stored.
    """
    compared = comparisons.compare(call.context, call.caller, body)
    return Response(compared.model_dump_json(), media_type=call.media_type)
