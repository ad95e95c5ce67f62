"""`/v1/models/{handle}/traits`: add, list, get, update, delete, discover."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from traitbench.contract.models import ModelDeleted, RunStarted
from traitbench.contract.traits import DiscoverRequest, Trait, TraitList, TraitsCreate, TraitUpdate
from traitbench.operations import discovery, traits
from traitbench.service.body import Body
from traitbench.service.caller import Called
from traitbench.service.parameters import Handle, TraitName, accepted

router = APIRouter(tags=["traits"])

Add = Annotated[TraitsCreate, Depends(Body(TraitsCreate, problems_of_parts=traits.problems_of_parts))]
Update = Annotated[TraitUpdate, Depends(Body(TraitUpdate))]
Discover = Annotated[DiscoverRequest, Depends(Body(DiscoverRequest, needed=False))]


@router.post("/v1/models/{handle}/traits", name="traits.add")
def add(call: Called, handle: Handle, body: Add) -> TraitList:
    """Add traits to a draft, or change those whose key exists. Returns them in the order sent."""
    return traits.add(call.context, call.caller, handle, body)


@router.get("/v1/models/{handle}/traits", name="traits.list")
def list_traits(call: Called, handle: Handle) -> TraitList:
    """List all traits of a model."""
    return traits.list_traits(call.context, call.caller, handle)


@router.get("/v1/models/{handle}/traits/{key}", name="traits.get")
def get(call: Called, handle: Handle, key: TraitName) -> Trait:
    """Get one trait."""
    return traits.get(call.context, call.caller, handle, key)


@router.patch("/v1/models/{handle}/traits/{key}", name="traits.update")
def update(call: Called, handle: Handle, key: TraitName, body: Update) -> TraitList:
    """Change the fields that are sent and not null. The key does not change. Drafts only."""
    return traits.update(call.context, call.caller, handle, key, body)


@router.delete("/v1/models/{handle}/traits/{key}", name="traits.delete")
def delete(call: Called, handle: Handle, key: TraitName) -> ModelDeleted:
    """Remove a trait and its samples. Drafts only."""
    return traits.delete(call.context, call.caller, handle, key)


@router.post("/v1/models/{handle}/traits/discover", name="traits.discover", status_code=202)
def discover(call: Called, handle: Handle, body: Discover, response: Response) -> RunStarted:
    """Start to derive intrinsic traits from a draft's samples. They exist when the model is a draft again."""
    return accepted(discovery.start(call.context, call.caller, handle, body), response)
