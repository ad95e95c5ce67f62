"""`/v1/models/{handle}/proposed`: list and delete the labels that other programs proposed."""

from traitbench.contract import operations
from traitbench.contract.page import ProposedPage
from traitbench.contract.proposed import ProposedDeleted
from traitbench.operations import proposed
from traitbench.service import parameters
from traitbench.service.caller import Call
from traitbench.service.parameters import Handle
from traitbench.service.routing import Router

router = Router(tags=["proposed"])


@router.serve(operations.PROPOSED_LIST)
def list_proposed(
    call: Call, handle: Handle, limit: parameters.SampleLimit = 100, cursor: parameters.Cursor = None
) -> ProposedPage:
    """List labels that other programs proposed for texts, newest first. No version is trained with them."""
    return proposed.list_proposed(call.context, call.caller, handle, limit=limit, cursor=cursor)


@router.serve(operations.PROPOSED_DELETE)
def delete(call: Call, handle: Handle, ids: parameters.OfProposed = None) -> ProposedDeleted:
    """Delete proposed labels: all, or those with these ids. Ids that the model does not have are left out."""
    return proposed.delete(call.context, call.caller, handle, ids=parameters.ids_of(ids))
