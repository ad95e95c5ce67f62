"""`/v1/extract`: the readable text of a web page."""

from traitbench.contract import operations
from traitbench.contract.texts import Extracted, ExtractRequest
from traitbench.operations import serving
from traitbench.service.caller import Call
from traitbench.service.routing import Router

router = Router(tags=["extract"])


@router.serve(operations.EXTRACT)
def extract(call: Call, body: ExtractRequest) -> Extracted:
    """Fetch a public http or https address and return its readable text."""
    return serving.extract(call.context, call.caller, body)
