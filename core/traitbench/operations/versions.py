"""Versions: list, get, tag, untag, activate; and which one served when.

A version is addressed by `vN`, by a tag, or as `active`.
"""

from typing import Any

from sqlalchemy import Connection

from traitbench.contract import operations
from traitbench.contract.page import LARGEST_PAGE, ActivationPage, VersionPage
from traitbench.contract.versions import (
    Version,
    VersionActivate,
    VersionActivated,
    VersionTag,
    VersionTagged,
    VersionUntagged,
)
from traitbench.errors import ModelNotTrained, TagNotFound, VersionNotFound
from traitbench.names import ACTIVE, VERSION, check_tag, parse_version
from traitbench.operations import access, rules
from traitbench.operations.access import Caller
from traitbench.operations.context import LISTING, Context
from traitbench.store import activations, models, samples, versions
from traitbench.store.cursors import PageRequest
from traitbench.store.database import reading
from traitbench.store.models import ModelRow
from traitbench.store.versions import VersionRow

_TAG = VersionTag()
"""What no body means: tag the active version, without a note."""


def list_versions(
    context: Context, caller: Caller, handle: str, *, limit: int = 50, cursor: str | None = None
) -> VersionPage:
    """One page of a model's versions, newest first, without snapshots."""
    name = str(access.permit(context, caller, operations.VERSIONS_LIST, handle))

    def read() -> VersionPage:
        with reading(context.engine) as connection:
            model = access.require_model(models.find(connection, name), name)
            asked = PageRequest.of(int, f"versions {model.id}", limit, cursor, most=LARGEST_PAGE)
            return VersionPage(**asked.fields(versions.page(connection, model.id, asked)))

    return context.cached(("versions", name, limit, cursor), read, weight=LISTING)


def get(context: Context, caller: Caller, handle: str, version: str) -> Version:
    """One version; with its snapshot for an authoring key that owns the namespace."""
    with access.to_read(context, caller, operations.VERSIONS_GET, handle) as (connection, model):
        row = resolve(connection, model, version)
        shown = versions.read(connection, row.id)
        if access.is_author(caller, model.handle):
            return shown.model_copy(update={"snapshot": versions.snapshot(connection, row.id)})
        return shown


def tag(context: Context, caller: Caller, handle: str, name: str, body: VersionTag = _TAG) -> VersionTagged:
    """Point a tag at a version, by default the active one; an existing tag moves, and gets the note that is sent."""
    with access.to_change(context, caller, operations.VERSIONS_TAG, handle) as (connection, model):
        check_tag(name)
        _check_number(body.version)
        rules.require("use", model)
        row = _active(connection, model) if body.version is None else resolve(connection, model, body.version)
        versions.tag(connection, model.id, name, row.id, note=body.note or None)
    return VersionTagged(handle=model.handle, tag=name, version_no=row.version_no)


def untag(context: Context, caller: Caller, handle: str, name: str) -> VersionUntagged:
    """Remove a tag; the version stays."""
    with access.to_change(context, caller, operations.VERSIONS_UNTAG, handle) as (connection, model):
        check_tag(name)
        # Before the tag is looked up: on a draft no tag exists, and the state says why.
        rules.require("use", model)
        if not versions.untag(connection, model.id, name):
            raise _no_tag(model, name)
    return VersionUntagged(handle=model.handle, tag=name, deleted=True)


def activate(context: Context, caller: Caller, handle: str, body: VersionActivate) -> VersionActivated:
    """Make another version the active one, which scores.

    This decides about a version on hold: if it is activated, its feedback is learned. Otherwise the feedback keeps
    waiting, but only newer feedback makes an automatic retrain due.
    """
    with access.to_change(context, caller, operations.VERSIONS_ACTIVATE, handle) as (connection, model):
        _check(body)
        rules.require("use", model)
        if body.tag is None:
            row = resolve(connection, model, str(body.version))
        elif (tagged := versions.by_tag(connection, model.id, body.tag)) is None:
            raise _no_tag(model, body.tag)
        else:
            row = tagged
        _activate(connection, model, row, by=caller.label)
    return VersionActivated(handle=model.handle, version_no=row.version_no)


def list_activations(
    context: Context, caller: Caller, handle: str, *, limit: int = 50, cursor: str | None = None
) -> ActivationPage:
    """One page of a model's activations, newest first.

    Only an authoring key that owns the namespace learns whose key asked for them.
    """
    with access.to_read(context, caller, operations.VERSIONS_ACTIVATIONS, handle) as (connection, model):
        asked = PageRequest.of(int, f"activations {model.id}", limit, cursor, most=LARGEST_PAGE)
        page = ActivationPage(**asked.fields(activations.page(connection, model.id, asked)))
    if access.is_author(caller, model.handle):
        return page
    return page.model_copy(update={"items": [each.model_copy(update={"by": None}) for each in page.items]})


def resolve(connection: Connection, model: ModelRow, version: str) -> VersionRow:
    """The version that `vN`, a tag or `active` refers to; raise `VersionNotFound` if there is none."""
    if version == ACTIVE:
        row = _active(connection, model) if model.active_version_id is not None else None
    elif VERSION.fullmatch(version):
        number = parse_version(version)
        row = None if number is None else versions.by_number(connection, model.id, number)
    else:
        row = versions.by_tag(connection, model.id, version)
    # One error for a number, a tag and `active`: the form of a name does not tell which one the caller meant.
    if row is None:
        raise VersionNotFound(
            f"The model {model.handle} has no version with this number or tag.", details={"version": version[:64]}
        )
    return row


def _activate(connection: Connection, model: ModelRow, row: VersionRow, *, by: str) -> None:
    now = rules.now()
    decided: dict[str, Any] = {"held_version_id": None}
    if row.id == model.held_version_id and model.held_up_to is not None:
        samples.mark_trained(connection, model.id, up_to=model.held_up_to)
        decided["held_up_to"] = None
    models.change(connection, model.id, now=now, active_version_id=row.id, **decided)
    if row.id != model.active_version_id:
        activations.add(
            connection,
            model.id,
            version_no=row.version_no,
            previous_version_id=model.active_version_id,
            cause="activate",
            by=by,
            now=now,
        )


def _active(connection: Connection, model: ModelRow) -> VersionRow:
    row = None if model.active_version_id is None else versions.by_id(connection, model.active_version_id)
    if row is None:
        raise rules.refusal(ModelNotTrained, model)
    return row


def _check(body: VersionActivate) -> None:
    if body.tag is not None:
        check_tag(body.tag)
    else:
        _check_number(body.version, hint="; a tag goes into the field tag")


def _check_number(version: str | None, *, hint: str = "") -> None:
    if version is not None and not VERSION.fullmatch(version):
        message = f"a version number such as v3 is expected{hint}"
        raise rules.invalid([rules.problem(["version"], "not_a_version", message)], thing="The version")


def _no_tag(model: ModelRow, name: str) -> TagNotFound:
    return TagNotFound(f"The model {model.handle} has no such tag.", details={"tag": name})
