"""Versions: list, get, tag, untag, activate; and which one served when.

A version is addressed by `vN`, by a tag, or as `active`.
"""

from typing import Any

import numpy as np
from sqlalchemy import Connection

from traitbench.contract import operations
from traitbench.contract.page import (
    LARGEST_PAGE,
    LARGEST_POSITION_PAGE,
    ActivationPage,
    VersionPage,
    VersionSamplePage,
)
from traitbench.contract.versions import (
    Version,
    VersionActivate,
    VersionActivated,
    VersionSample,
    VersionTag,
    VersionTagged,
    VersionUntagged,
)
from traitbench.errors import (
    FeatureUnavailable,
    ModelNotTrained,
    SamplesPurged,
    TagNotFound,
    Unavailable,
    VersionNotFound,
)
from traitbench.names import ACTIVE, VERSION, check_tag, parse_version
from traitbench.operations import access, rules
from traitbench.operations.access import Caller
from traitbench.operations.context import LISTING, Context
from traitbench.store import activations, models, samples, version_positions, version_samples, versions
from traitbench.store.cursors import PageRequest, write_cursor
from traitbench.store.database import reading, writing
from traitbench.store.models import ModelRow
from traitbench.store.version_positions import Positions
from traitbench.store.versions import VersionRow

_RETRY_SECONDS = "2"
_REASONS = {
    "changed": "its samples or traits have changed since, or its release trained otherwise",
    "encoder": "its encoder is not installed",
    "damaged": "its parameters are damaged",
    "failed": "several attempts have failed",
}

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


def list_samples(
    context: Context, caller: Caller, handle: str, version: str, *, limit: int = 50, cursor: str | None = None
) -> VersionSamplePage:
    """One page of the samples of a version with their positions when they were held out, by id.

    A version without positions gets them from a worker, once: until then raise `Unavailable`. Raise
    `FeatureUnavailable` if they cannot be found, and `SamplesPurged` if the samples were purged.
    """
    with access.to_read(context, caller, operations.VERSIONS_SAMPLES, handle) as (connection, model):
        row = resolve(connection, model, version)
        asked = PageRequest.of(int, f"version samples {row.id}", limit, cursor, most=LARGEST_POSITION_PAGE)
        stored = None if model.zero_data_retention else version_positions.read(connection, row.id)
        if stored is not None:
            return _page_of(stored, asked)
        if model.zero_data_retention or _are_purged(connection, model, row):
            raise SamplesPurged(
                f"The samples of {model.handle} were purged, and the positions of v{row.version_no} with them.",
                details={"handle": model.handle},
            )
        request = version_positions.request(connection, row.id)
    if request is not None and request.refusal is not None:
        raise _no_positions(row, request.refusal)
    if request is None:
        with writing(context.engine) as connection:
            if versions.by_id(connection, row.id) is not None:
                version_positions.ask(connection, row.id)
    raise Unavailable(
        f"v{row.version_no} was trained without storing what it said of samples that it had not seen. That is worked"
        " out now, once. Ask again in a moment.",
        headers={"Retry-After": _RETRY_SECONDS},
    )


def _page_of(stored: Positions, asked: PageRequest[int]) -> VersionSamplePage:
    samples = stored.samples
    first = 0 if asked.after is None else int(np.searchsorted(samples["sample"], asked.after, side="right"))
    some = samples[first : first + asked.limit]
    points = np.floor(100 * some["position"] + 0.5)
    right = np.where(some["side"] > 0, points > 50, points < 50)
    judged = (some["side"] != 0) & ~np.isnan(some["position"])
    items = [
        VersionSample.model_construct(
            sample_id=sample_id,
            trait=stored.traits[trait],
            position=None if position != position else position,
            right=is_right if is_judged else None,
            held_out=held_out,
        )
        for (sample_id, position, trait, _, held_out), is_right, is_judged in zip(
            some.tolist(), right.tolist(), judged.tolist(), strict=True
        )
    ]
    more = len(samples) > first + asked.limit
    return VersionSamplePage(
        items=items,
        limit=asked.limit,
        next_cursor=write_cursor(asked.listing, items[-1].sample_id) if more else None,
    )


def _are_purged(connection: Connection, model: ModelRow, row: VersionRow) -> bool:
    """Whether samples of a version are gone. A purge deletes the record of them too."""
    if version_samples.recorded(connection, row.id):
        return False
    return samples.training_count(connection, model.id) < versions.read(connection, row.id).sample_count


def _no_positions(row: VersionRow, reason: str) -> FeatureUnavailable:
    return FeatureUnavailable(
        f"What v{row.version_no} said of samples that it had not seen was not stored, and cannot be found any more:"
        f" {_REASONS.get(reason, _REASONS['failed'])}. Versions that are trained from now on have it.",
        details={"version": f"v{row.version_no}", "reason": reason},
    )


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
