"""`/v1/models/{handle}/traits`: add, list, get, update, delete, discover."""

from functools import partial

from fastapi import Response

from traitbench.contract import operations
from traitbench.contract.models import ModelDeleted, RunStarted
from traitbench.contract.traits import DiscoverRequest, Trait, TraitList, TraitsCreate, TraitUpdate
from traitbench.operations import discovery, traits
from traitbench.service.body import Body
from traitbench.service.caller import Call
from traitbench.service.parameters import Handle, TraitName, accepted
from traitbench.service.routing import Router

router = Router(tags=["traits"])


@router.serve(operations.TRAITS_ADD, body=partial(Body, problems_of_parts=traits.problems_of_parts))
def add(call: Call, handle: Handle, body: TraitsCreate) -> TraitList:
    """Add traits to a draft, or change those whose key exists. Returns them in the order sent."""
    return traits.add(call.context, call.caller, handle, body)


@router.serve(operations.TRAITS_LIST)
def list_traits(call: Call, handle: Handle) -> TraitList:
    """List all traits of a model."""
    return traits.list_traits(call.context, call.caller, handle)


@router.serve(operations.TRAITS_GET)
def get(call: Call, handle: Handle, key: TraitName) -> Trait:
    """Get one trait."""
    return traits.get(call.context, call.caller, handle, key)


@router.serve(operations.TRAITS_UPDATE)
def update(call: Call, handle: Handle, key: TraitName, body: TraitUpdate) -> TraitList:
    """Change the fields that are sent and not null. The key does not change. Drafts only."""
    return traits.update(call.context, call.caller, handle, key, body)


@router.serve(operations.TRAITS_DELETE)
def delete(call: Call, handle: Handle, key: TraitName) -> ModelDeleted:
    """Remove a trait and its samples. Drafts only."""
    return traits.delete(call.context, call.caller, handle, key)


@router.serve(operations.TRAITS_DISCOVER)
def discover(call: Call, handle: Handle, body: DiscoverRequest, response: Response) -> RunStarted:
    """Start to derive intrinsic traits from a draft's samples. They exist when the model is a draft again."""
    return accepted(discovery.start(call.context, call.caller, handle, body), response)
