"""Fork a model to prepare its next version, and promote the fork: its traits and samples become those of the model.

Everything happens in one transaction, so scores switch at once. Earlier versions stay, with the samples that they were
trained with (`store.replaced_samples`). The fork keeps its own traits and samples, unless it is archived and the model
is under zero retention. The model keeps its settings, except those that its new version was trained with. Its main
trait and demo texts are the fork's where it has none itself, or where its main trait is gone.
"""

from functools import partial
from typing import Any

from sqlalchemy import Connection

from traitbench.contract import operations
from traitbench.contract.models import ForkRequest, Model, PromoteRequest
from traitbench.contract.versions import Version
from traitbench.errors import ModelNotTrained, PromotionConflict
from traitbench.operations import access, retention, rules, zero_retention
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import (
    activations,
    copies,
    models,
    proposed_labels,
    samples,
    text_vectors,
    traits,
    version_positions,
    version_samples,
    versions,
)
from traitbench.store.copies import Replaced
from traitbench.store.database import after_commit, writing
from traitbench.store.models import Lineage, ModelRow

_MOST_NAMED = 100
_SETTINGS = ("scoring_method", "max_depth")
"""Settings that a version is trained with: the next retrain must use them too."""


def promote(context: Context, caller: Caller, handle: str, body: PromoteRequest) -> Version:
    """Make the active version of `body.from_` the next version of a model; return it without its snapshot.

    Feedback that the model got since the fork was made is carried along and waits again. Raise `PromotionConflict` if
    the model has moved on, unless `body.force`.
    """
    name = str(access.permit(context, caller, operations.MODELS_PROMOTE, handle))
    origin = str(access.permit(context, caller, operations.MODELS_PROMOTE, body.from_))
    if name == origin:
        message = "a model cannot be promoted to itself; name a fork of it"
        raise rules.invalid([rules.problem(["from"], "same_model", message)], thing="The promotion")
    with writing(context.engine) as connection:
        model, fork = _locked(connection, name, origin)
        for each in (model, fork):
            rules.require("promote", each)
        lineage = _lineage_of(connection, fork, model)
        _check_traits(connection, fork)
        if not body.force:
            _check_conflict(connection, model, fork, lineage)
        version_id = _take_over(context, connection, caller, model, fork, lineage)
        if not body.keep:
            models.archive(connection, fork, now=rules.now(), restored_as=fork.state)
            text_vectors.forget(connection, fork.id)
            proposed_labels.remove(connection, fork.id)
            if model.zero_data_retention:
                # Archived, it could not be switched on there.
                models.change(connection, fork.id, now=rules.now(), zero_data_retention=True)
                zero_retention.purge(connection, fork.id)
        promoted = versions.read(connection, version_id)
    if not body.keep:
        after_commit(partial(context.forget, fork.id))
    return promoted


def _locked(connection: Connection, name: str, origin: str) -> tuple[ModelRow, ModelRow]:
    """Both models, locked in the order of their ids, so that two promotions cannot wait for each other."""
    ids = {handle: access.require_model(models.find(connection, handle), handle).id for handle in (name, origin)}
    locked = {model_id: models.hold_by_id(connection, model_id) for model_id in sorted(ids.values())}
    model, fork = (access.require_model(locked[model_id], handle) for handle, model_id in ids.items())
    return model, fork


def _lineage_of(connection: Connection, fork: ModelRow, model: ModelRow) -> Lineage | None:
    """What the fork was made from, if that is this model; None otherwise."""
    lineage = models.lineage(connection, fork.id)
    return lineage if lineage.forked_from == model.handle else None


def _check_traits(connection: Connection, fork: ModelRow) -> None:
    """Raise `PromotionConflict` if the active version of a fork has other traits than the fork: even force cannot help.

    Such a version is from before a promotion to the fork.
    """
    source = versions.read(connection, fork.active_version_id or 0)
    if source.metrics.traits and source.metrics.traits.keys() != {row.key for row in traits.rows(connection, fork.id)}:
        message = f"The active version of {fork.handle} has other traits than {fork.handle}. Activate a newer version."
        raise PromotionConflict(
            f"{message} Nothing was changed.",
            details={"from": fork.handle, "reasons": [{"reason": "other_traits", "message": message}]},
        )


# ---- conflicts -------------------------------------------------------------------------------------------------------


def _check_conflict(connection: Connection, model: ModelRow, fork: ModelRow, lineage: Lineage | None) -> None:
    reasons = dict(_conflicts(connection, model, fork, lineage))
    if not reasons:
        return
    newer = _newer_versions(connection, model, lineage)
    raise PromotionConflict(
        f"{' '.join(reasons.values())} Nothing was changed. Fork {model.handle} again, or set force to promote"
        f" {fork.handle} all the same.",
        details={
            "handle": model.handle,
            "from": fork.handle,
            "reasons": [{"reason": reason, "message": message} for reason, message in reasons.items()],
            "forked_after_version_no": lineage and lineage.forked_after_version_no,
            "newer_versions": newer[-_MOST_NAMED:],
        },
    )


def _conflicts(
    connection: Connection, model: ModelRow, fork: ModelRow, lineage: Lineage | None
) -> list[tuple[str, str]]:
    conflicts = []
    if lineage is None:
        conflicts.append(("not_a_fork", f"{fork.handle} is not a fork of {model.handle}."))
    elif lineage.forked_after_version_no is None:
        message = f"{fork.handle} was imported, so whether {model.handle} has changed since the fork is not known."
        conflicts.append(("imported", message))
    elif newer := _newer_versions(connection, model, lineage):
        made = f"v{newer[0]}" if len(newer) == 1 else f"v{newer[0]} to v{newer[-1]}"
        conflicts.append(("newer_versions", f"{model.handle} got {made} after {fork.handle} was forked from it."))
    if fork.zero_data_retention and not model.zero_data_retention:
        message = f"{fork.handle} is under zero data retention, so {model.handle} would lose its samples."
        conflicts.append(("samples_lost", message))
    return conflicts


def _newer_versions(connection: Connection, model: ModelRow, lineage: Lineage | None) -> list[int]:
    """The numbers of the versions made since the fork; they may have been deleted since."""
    if lineage is None or lineage.forked_after_version_no is None:
        return []
    return list(range(lineage.forked_after_version_no + 1, models.versions_made(connection, model.id) + 1))


# ---- the new version -------------------------------------------------------------------------------------------------


def _take_over(
    context: Context,
    connection: Connection,
    caller: Caller,
    model: ModelRow,
    fork: ModelRow,
    lineage: Lineage | None,
) -> int:
    """Write the version, and replace traits and samples; return the id of the version."""
    version_samples.add_missing(connection, model.id)
    replaced = copies.replace(
        connection,
        fork.id,
        model.id,
        with_samples=not model.zero_data_retention,
        feedback_after=None if lineage is None else lineage.forked_up_to,
        last_version_no=models.versions_made(connection, model.id),
        learned=model.held_up_to or 0,
    )
    rules.check_sample_count(samples.count(connection, model.id), context.settings.max_samples)
    version_id, version_no = _add_version(connection, model, fork, replaced)
    activations.add(
        connection,
        model.id,
        version_no=version_no,
        previous_version_id=model.active_version_id,
        cause="promote",
        by=caller.label,
        now=rules.now(),
    )
    retention.prune(connection, model, active_version_id=version_id)
    if model.zero_data_retention:
        # Discovered traits have words of the fork's samples. The worker removes what the database's files still hold.
        zero_retention.purge(connection, model.id)
    return version_id


def _add_version(connection: Connection, model: ModelRow, fork: ModelRow, replaced: Replaced) -> tuple[int, int]:
    """Write the fork's active version as the next one of the model and make it active; return its id and number."""
    if fork.active_version_id is None:
        raise rules.refusal(ModelNotTrained, fork)
    source = versions.read(connection, fork.active_version_id)
    snapshot = versions.snapshot(connection, fork.active_version_id)
    lineage = {
        "handle": fork.handle,
        "version_no": source.version_no,
        "feedback_carried": replaced.carried,
        "feedback_dropped": replaced.dropped,
    }
    # Why the fork held the version, if it did, is no reason here.
    metrics = {name: value for name, value in source.metrics.model_dump().items() if name != "held"}
    number = models.next_version_no(connection, model.id)
    version_id = versions.add(
        connection,
        snapshot=snapshot,
        model_id=model.id,
        version_no=number,
        triggered_by="backfill",
        param_hash=source.param_hash,
        sample_count=source.sample_count,
        run_id=None,
        metrics={**metrics, "promoted_from": lineage},
        created_at=rules.now(),
    )
    version_samples.copy(connection, fork.active_version_id, to=version_id)
    version_positions.copy(connection, fork.active_version_id, replaced.copied.by_id(), to=version_id)
    fields: dict[str, Any] = {name: snapshot[name] for name in _SETTINGS if name in snapshot}
    fields |= _presentation(connection, model, fork)
    hold = {"held_version_id": None, "held_up_to": None}
    models.change(connection, model.id, now=rules.now(), active_version_id=version_id, **hold, **fields)
    return version_id, number


def _presentation(connection: Connection, model: ModelRow, fork: ModelRow) -> dict[str, Any]:
    """The main trait and the demo texts of a model that has the fork's traits now."""
    own, other = (models.presentation(connection, each.id) for each in (model, fork))
    keys = {row.key for row in traits.rows(connection, model.id)}
    main_trait = own.main_trait if own.main_trait in keys else other.main_trait
    return {"main_trait": main_trait, "demo_texts": own.demo_texts or other.demo_texts}


def fork(context: Context, caller: Caller, handle: str, body: ForkRequest) -> Model:
    """Make a draft from a model in a namespace that the caller owns too.

    Feedback that waits is copied as ordinary samples. Under zero retention no sample is copied.
    """
    access.permit(context, caller, operations.MODELS_FORK, handle)
    name = access.permit(context, caller, operations.MODELS_CREATE, body.handle)
    with access.to_change(context, caller, operations.MODELS_FORK, handle) as (connection, model):
        rules.require("fork", model)
        now = rules.now()
        own = {"namespace": name.namespace, "state": "draft", "created_at": now, "updated_at": now}
        fork_id = copies.add_model(
            connection, model.id, handle=str(name), fields={**own, **_lineage(connection, model)}
        )
        if fork_id is None:
            raise rules.handle_taken(str(name))
        copies.add_traits(connection, model.id, fork_id)
        if not model.zero_data_retention:
            copies.add_samples(connection, model.id, fork_id, keep_pending=False)
        return models.read(connection, fork_id)


def _lineage(connection: Connection, model: ModelRow) -> dict[str, Any]:
    active = None if model.active_version_id is None else versions.by_id(connection, model.active_version_id)
    return {
        "forked_from": model.handle,
        "forked_from_version_no": active and active.version_no,
        "forked_after_version_no": models.versions_made(connection, model.id),
        "forked_up_to": samples.last_id(connection, model.id),
    }
