"""`/v1/models/{handle}/versions`: list, get, tag, untag, activate; `/activations`: which one served when."""

from typing import Annotated

from fastapi import APIRouter, Depends

from traitbench.contract.page import ActivationPage, VersionPage
from traitbench.contract.versions import (
    Version,
    VersionActivate,
    VersionActivated,
    VersionTag,
    VersionTagged,
    VersionUntagged,
)
from traitbench.operations import versions
from traitbench.service import parameters
from traitbench.service.body import Body
from traitbench.service.caller import Called
from traitbench.service.parameters import Handle, TagName, VersionName

router = APIRouter(tags=["versions"])

Activate = Annotated[VersionActivate, Depends(Body(VersionActivate))]
Tag = Annotated[VersionTag, Depends(Body(VersionTag, needed=False))]


@router.get("/v1/models/{handle}/versions", name="versions.list")
def list_versions(
    call: Called, handle: Handle, limit: parameters.Limit = 50, cursor: parameters.Cursor = None
) -> VersionPage:
    """List versions, newest first, without their snapshots."""
    return versions.list_versions(call.context, call.caller, handle, limit=limit, cursor=cursor)


@router.put("/v1/models/{handle}/versions/active", name="versions.activate")
def activate(call: Called, handle: Handle, body: Activate) -> VersionActivated:
    """Make a version serve scores until the next training creates a newer one."""
    return versions.activate(call.context, call.caller, handle, body)


@router.get("/v1/models/{handle}/activations", name="versions.activations")
def list_activations(
    call: Called, handle: Handle, limit: parameters.Limit = 50, cursor: parameters.Cursor = None
) -> ActivationPage:
    """List which version served when, newest first. `by` is null unless an authoring key owns the namespace."""
    return versions.list_activations(call.context, call.caller, handle, limit=limit, cursor=cursor)


@router.get("/v1/models/{handle}/versions/{name}", name="versions.get")
def get(call: Called, handle: Handle, name: VersionName) -> Version:
    """Get a version. Authoring keys that own the namespace also get its snapshot."""
    return versions.get(call.context, call.caller, handle, name)


@router.post("/v1/models/{handle}/versions/{name}", name="versions.tag", status_code=201)
def tag(call: Called, handle: Handle, name: TagName, body: Tag) -> VersionTagged:
    """Tag a version, by default the active one; a tag that exists moves to it and gets the note that is sent."""
    return versions.tag(call.context, call.caller, handle, name, body)


@router.delete("/v1/models/{handle}/versions/{name}", name="versions.untag")
def untag(call: Called, handle: Handle, name: TagName) -> VersionUntagged:
    """Remove a tag; the version stays."""
    return versions.untag(call.context, call.caller, handle, name)
