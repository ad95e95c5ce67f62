"""`/v1/models/{handle}/versions`: list, get, tag, untag, activate; `/activations`: which one served when."""

from traitbench.contract import operations
from traitbench.contract.page import ActivationPage, VersionPage, VersionSamplePage
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
from traitbench.service.caller import Call
from traitbench.service.parameters import Handle, TagName, VersionName
from traitbench.service.routing import Router

router = Router(tags=["versions"])


@router.serve(operations.VERSIONS_LIST)
def list_versions(
    call: Call, handle: Handle, limit: parameters.Limit = 50, cursor: parameters.Cursor = None
) -> VersionPage:
    """List versions, newest first, without their snapshots."""
    return versions.list_versions(call.context, call.caller, handle, limit=limit, cursor=cursor)


@router.serve(operations.VERSIONS_ACTIVATE)
def activate(call: Call, handle: Handle, body: VersionActivate) -> VersionActivated:
    """Make a version serve scores until the next training creates a newer one."""
    return versions.activate(call.context, call.caller, handle, body)


@router.serve(operations.VERSIONS_ACTIVATIONS)
def list_activations(
    call: Call, handle: Handle, limit: parameters.Limit = 50, cursor: parameters.Cursor = None
) -> ActivationPage:
    """List which version served when, newest first. `by` is null unless an authoring key owns the namespace."""
    return versions.list_activations(call.context, call.caller, handle, limit=limit, cursor=cursor)


@router.serve(operations.VERSIONS_GET)
def get(call: Call, handle: Handle, name: VersionName) -> Version:
    """Get a version. Authoring keys that own the namespace also get its snapshot."""
    return versions.get(call.context, call.caller, handle, name)


@router.serve(operations.VERSIONS_SAMPLES)
def list_samples(
    call: Call,
    handle: Handle,
    name: VersionName,
    limit: parameters.PositionLimit = 500,
    cursor: parameters.Cursor = None,
) -> VersionSamplePage:
    """List the samples of a version with their positions when they were held out, by id.

    A version of an earlier release has none at first. Then the answer is 503 until they are worked out.
    """
    return versions.list_samples(call.context, call.caller, handle, name, limit=limit, cursor=cursor)


@router.serve(operations.VERSIONS_TAG)
def tag(call: Call, handle: Handle, name: TagName, body: VersionTag) -> VersionTagged:
    """Tag a version, by default the active one; a tag that exists moves to it and gets the note that is sent."""
    return versions.tag(call.context, call.caller, handle, name, body)


@router.serve(operations.VERSIONS_UNTAG)
def untag(call: Call, handle: Handle, name: TagName) -> VersionUntagged:
    """Remove a tag; the version stays."""
    return versions.untag(call.context, call.caller, handle, name)
