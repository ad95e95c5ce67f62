"""`/v1/models/{handle}/texts`: bring texts without labels, list, delete, decide about them."""

from traitbench.contract import operations
from traitbench.contract.labelling import DecisionPut, TextDecision, TextsAdd, TextsAdded, TextsDeleted
from traitbench.contract.page import DecisionPage, TextPage
from traitbench.operations import labelling
from traitbench.service import parameters
from traitbench.service.caller import Call
from traitbench.service.parameters import Handle, TextId, TraitName
from traitbench.service.routing import Router

router = Router(tags=["texts"])


@router.serve(operations.TEXTS_ADD)
def add(call: Call, handle: Handle, body: TextsAdd) -> TextsAdded:
    """Add texts without labels, all of them or none. Texts that the model has already stay as they are."""
    return labelling.add(call.context, call.caller, handle, body)


@router.serve(operations.TEXTS_LIST)
def list_texts(
    call: Call,
    handle: Handle,
    after: parameters.AfterText = 0,
    limit: parameters.PositionLimit = 500,
    cursor: parameters.Cursor = None,
) -> TextPage:
    """List texts that were brought to be labelled, sorted by id. Texts that have labels now are among them."""
    return labelling.list_texts(call.context, call.caller, handle, after=after, limit=limit, cursor=cursor)


@router.serve(operations.TEXTS_DELETE)
def delete(call: Call, handle: Handle, ids: parameters.OfTexts = None) -> TextsDeleted:
    """Delete texts and the decisions about them: all, or those with these ids. Samples stay."""
    return labelling.delete(call.context, call.caller, handle, ids=parameters.ids_of(ids))


@router.serve(operations.TEXTS_DECISIONS)
def list_decisions(
    call: Call,
    handle: Handle,
    everyone: parameters.Everyone = False,
    limit: parameters.PositionLimit = 500,
    cursor: parameters.Cursor = None,
) -> DecisionPage:
    """List decisions about texts, by id: those of the person with this key or, with `everyone`, all."""
    return labelling.list_decisions(call.context, call.caller, handle, everyone=everyone, limit=limit, cursor=cursor)


@router.serve(operations.TEXTS_DECIDE)
def decide(call: Call, handle: Handle, text_id: TextId, key: TraitName, body: DecisionPut) -> TextDecision:
    """Label a text, or skip it. A label becomes a sample of a draft, and feedback if the model has a version."""
    return labelling.decide(call.context, call.caller, handle, text_id, key, body, request_id=call.request_id)


@router.serve(operations.TEXTS_TAKE_BACK)
def take_back(call: Call, handle: Handle, text_id: TextId, key: TraitName) -> TextDecision:
    """Take a decision of yours back, with the sample that it made. The response is the decision as it was."""
    return labelling.take_back(call.context, call.caller, handle, text_id, key)
