"""`/v1/extract`: the readable text of a web page."""

from typing import Annotated

from fastapi import APIRouter, Depends

from traitbench.contract.texts import Extracted, ExtractRequest
from traitbench.operations import serving
from traitbench.service.body import Body
from traitbench.service.caller import Called

router = APIRouter(tags=["extract"])

Url = Annotated[ExtractRequest, Depends(Body(ExtractRequest))]


@router.post("/v1/extract", name="extract")
def extract(call: Called, body: Url) -> Extracted:
    """Fetch a public http or https address and return its readable text."""
    return serving.extract(call.context, call.caller, body)
