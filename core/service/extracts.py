"""`/v1/extract`: an address in, the readable text behind it out."""

from typing import Annotated

from fastapi import APIRouter, Depends

from traitbench.contract.extracts import Extracted, ExtractRequest
from traitbench.lifecycle import extraction
from traitbench.service.body import Body
from traitbench.service.caller import Called

router = APIRouter(tags=["extract"])

Url = Annotated[ExtractRequest, Depends(Body(ExtractRequest))]


@router.post("/v1/extract", name="extract")
def extract(call: Called, body: Url) -> Extracted:
    """Read the text behind a public http or https address."""
    return extraction.extract(call.bench, call.caller, body)
