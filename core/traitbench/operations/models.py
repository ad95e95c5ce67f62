"""Models: create, list, get, update, delete, restore.

A deleted model is archived: it stays readable, its handle stays taken, and it can be restored for 30 days.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, get_args

from sqlalchemy import Connection

from traitbench.contract import operations
from traitbench.contract.models import RESTORABLE_DAYS, Model, ModelCreate, ModelDeleted, ModelUpdate, State
from traitbench.contract.page import LARGEST_PAGE, ModelPage
from traitbench.contract.states import Outcome
from traitbench.errors import (
    InvalidParameter,
    ModelArchived,
    NamespaceForbidden,
    UnsupportedKind,
    UnsupportedScoringMethod,
)
from traitbench.operations import access, model_runs, retention, retraining, rules, zero_retention
from traitbench.operations.access import Caller
from traitbench.operations.context import LISTING, Context
from traitbench.operations.trait_names import TraitIndex
from traitbench.store import models, proposed_labels, runs, text_vectors, traits
from traitbench.store.cursors import PageRequest
from traitbench.store.database import reading, writing
from traitbench.store.models import ModelRow

_KINDS = ("scoring",)
_METHODS = ("balanced_cosine",)
_STATES = get_args(State)
_MOST_ERRORS = 100
_DEFAULTS = {name: field.default for name, field in ModelCreate.model_fields.items() if name != "handle"} | {
    "hold_if_worse": False,
    "language_model_allowed": False,
}
# A promise to operators, who may delete older models themselves. The service deletes none.
_RESTORABLE = timedelta(days=RESTORABLE_DAYS)


def create(context: Context, caller: Caller, body: ModelCreate) -> Model:
    """Create a draft in a namespace that the caller owns."""
    name = access.permit(context, caller, operations.MODELS_CREATE, body.handle)
    _check_kind(body.kind)
    check_fields(body.scoring_method, body.upstream_sources)
    fields = body.model_dump(exclude={"handle"})
    with writing(context.engine) as connection:
        model_id = models.add(connection, handle=body.handle, namespace=name.namespace, now=rules.now(), **fields)
        if model_id is None:
            raise rules.handle_taken(body.handle)
        return models.read(connection, model_id)


def list_models(
    context: Context,
    caller: Caller,
    *,
    limit: int = 50,
    cursor: str | None = None,
    namespace: str | None = None,
    state: str | None = None,
    kind: str | None = None,
    forked_from: str | None = None,
) -> ModelPage:
    """One page of the public models or, if `namespace` is given, of a namespace that the caller must own.

    With `forked_from`, the forks of that model, archived or not, in one or all of the caller's namespaces.
    """
    access.check_scope(caller, operations.MODELS_LIST)
    if namespace is not None and namespace not in caller.namespaces:
        raise NamespaceForbidden(
            "The key does not own this namespace.",
            details={"namespace": namespace[:200], "namespaces": sorted(caller.namespaces)},
        )
    _check_choice("state", state, _STATES)
    _check_choice("kind", kind, _KINDS)
    unnamed = context.settings.public_namespaces if forked_from is None else caller.namespaces
    namespaces = unnamed if namespace is None else (namespace,)
    listing = f"models {sorted(namespaces)} {state} {kind}" + (f" {forked_from}" if forked_from is not None else "")
    asked = PageRequest.of(str, listing, limit, cursor, most=LARGEST_PAGE)

    def read() -> ModelPage:
        with reading(context.engine) as connection:
            rows = models.page(connection, asked, namespaces=namespaces, state=state, kind=kind, forks_of=forked_from)
            page = ModelPage(**asked.fields(rows))
            items = [retraining.shown(connection, context.settings, each) for each in page.items]
        return page.model_copy(update={"items": items})

    return context.cached(asked, read, weight=LISTING)


def get(context: Context, caller: Caller, handle: str) -> Model:
    """One model."""
    name = str(access.permit(context, caller, operations.MODELS_GET, handle))

    def read() -> Model:
        with reading(context.engine) as connection:
            model = access.require_model(models.find(connection, name), name)
            return retraining.shown(connection, context.settings, models.read(connection, model.id))

    return context.cached(("one model", name), read)


def update(context: Context, caller: Caller, handle: str, body: ModelUpdate) -> Model:
    """Change the fields that were sent; an explicit null resets a field to its default.

    When the call returns, versions that a new retention policy does not keep are deleted. So are the samples if zero
    retention was switched on: those of the model and of its archived forks in the caller's namespaces.
    """
    name = str(access.permit(context, caller, operations.MODELS_UPDATE, handle))
    fields = _changes(body)
    if body.zero_data_retention:
        with reading(context.engine) as connection:
            _checked(connection, access.require_model(models.find(connection, name), name), fields)
        zero_retention.check(context.engine)
    purged: list[int] = []
    with writing(context.engine) as connection:
        if body.zero_data_retention:
            purged = _hold_with_forks(connection, caller, name)
        model = access.require_model(models.hold(connection, name), name)
        fields = _checked(connection, model, fields)
        cancelled = zero_retention.cancel(connection, model) if body.zero_data_retention else None
        models.change(connection, model.id, now=rules.now(), **fields)
        if "version_retention_policy" in fields:
            retention.prune_by(connection, model, fields["version_retention_policy"])
        for model_id in purged:
            models.change(connection, model_id, now=rules.now(), zero_data_retention=True)
            zero_retention.purge(connection, model_id)
        changed = retraining.shown(connection, context.settings, models.read(connection, model.id))
    if cancelled:
        context.runs.cancel(cancelled)
    for model_id in purged:
        context.forget(model_id)
    if purged:
        zero_retention.settle_or_say(context.engine, *purged)
    return changed


def _hold_with_forks(connection: Connection, caller: Caller, name: str) -> list[int]:
    """Lock a model and its archived forks in the caller's namespaces, in the order of their ids as promotions do.

    Return their ids. A fork that was restored meanwhile is not among them.
    """
    model = access.require_model(models.find(connection, name), name)
    forks = models.archived_among(connection, models.forks(connection, name), caller.namespaces)
    locked = [models.hold_by_id(connection, model_id) for model_id in sorted({model.id, *forks})]
    return [each.id for each in locked if each is not None and (each.id == model.id or each.state == "archived")]


def delete(context: Context, caller: Caller, handle: str) -> ModelDeleted:
    """Archive a model and cancel its run, if any."""
    with access.to_change(context, caller, operations.MODELS_DELETE, handle) as (connection, model):
        run = runs.read_to_end(connection, model.run_id) if model.state == "busy" and model.run_id else None
        if rules.require("delete", model) is Outcome.PROCEED:
            restored_as = _state_without_run(model) if run is None else model_runs.state_after(run, model)
            models.archive(connection, model, now=rules.now(), restored_as=restored_as)
        text_vectors.forget(connection, model.id)
        proposed_labels.remove(connection, model.id)
        if run:
            # A run has no status for this, so it fails with a code of its own. The worker notices at its next report;
            # until then a long step goes on without effect. Ending it at once would kill the worker with its other
            # runs.
            runs.fail(connection, run.id, code="cancelled", message="The model was archived.", now=rules.now())
    context.forget(model.id)
    if run:
        context.runs.cancel(run.id)
    return ModelDeleted(handle=model.handle, deleted=True)


def restore(context: Context, caller: Caller, handle: str) -> Model:
    """Bring an archived model back to the state that it was archived from; another model stays as it is.

    Raise `ModelArchived` if it was archived more than 30 days ago.
    """
    with access.to_change(context, caller, operations.MODELS_RESTORE, handle) as (connection, model):
        if rules.require("restore", model) is Outcome.PROCEED:
            _check_age(connection, model)
            models.restore(connection, model, now=rules.now())
        return retraining.shown(connection, context.settings, models.read(connection, model.id))


def _check_age(connection: Connection, model: ModelRow) -> None:
    since = models.archived(connection, model.id).archived_at
    if since is not None and rules.now() - since > _RESTORABLE:
        raise ModelArchived(
            f"The model {model.handle} was archived on {since:%Y-%m-%d}, more than {RESTORABLE_DAYS} days ago, so it"
            " can no longer be restored. It can still be read and exported: import it under another handle.",
            details={"handle": model.handle, "state": model.state, "archived_at": since.isoformat()},
        )


def _state_without_run(model: ModelRow) -> State:
    """The state to restore a model to that is not busy, or whose run is lost."""
    if model.state != "busy":
        return model.state
    return "draft" if model.active_version_id is None else "ready"


def _checked(connection: Connection, model: ModelRow, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields to change, with the key of the main trait; raise if they cannot be changed."""
    check_fields(fields.get("scoring_method"), fields.get("upstream_sources"))
    main_trait = _main_trait(connection, model, fields.get("main_trait"))
    _check_demo_texts(model, fields)
    rules.require("update", model)
    return {**fields, **({"main_trait": main_trait} if "main_trait" in fields else {})}


def _main_trait(connection: Connection, model: ModelRow, sent: str | None) -> str | None:
    """The key of the main trait, which may be sent by name; raise `ValidationFailed` if there is no such trait."""
    if sent is None:
        return None
    index = TraitIndex(traits.rows(connection, model.id))
    trait = index.find(sent)
    if trait is None:
        unknown = [rules.unknown_trait(["main_trait"], sent)]
        raise rules.invalid(unknown, thing="The model", known=index.known())
    return trait.key


def _check_demo_texts(model: ModelRow, fields: Mapping[str, Any]) -> None:
    """Raise `ValidationFailed` if demo texts are sent for a model that may not keep any."""
    if fields.get("demo_texts") and fields.get("zero_data_retention", model.zero_data_retention):
        message = "under zero data retention a model keeps no demo texts"
        raise rules.invalid([rules.problem(["demo_texts"], "zero_retention", message)], thing="The model")


def _changes(body: ModelUpdate) -> dict[str, Any]:
    sent = body.model_dump(include=body.model_fields_set)
    return {name: _DEFAULTS.get(name) if value is None else value for name, value in sent.items()}


def _check_choice(parameter: str, value: str | None, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise InvalidParameter(
            f"{parameter} must be one of {', '.join(choices)}.",
            details={"parameter": parameter, "choices": list(choices)},
        )


def _check_kind(kind: str) -> None:
    if kind not in _KINDS:
        raise UnsupportedKind("The only kind of model is scoring.", details={"field": "kind", "choices": list(_KINDS)})


def check_fields(scoring_method: str | None, upstream_sources: list[dict[str, Any]] | None) -> None:
    """Check the scoring method and the sources for errors that their types do not catch."""
    if scoring_method is not None and scoring_method not in _METHODS:
        raise UnsupportedScoringMethod(
            "The only scoring method is balanced_cosine.",
            details={"field": "scoring_method", "choices": list(_METHODS)},
        )
    errors = [
        rules.problem(["upstream_sources", *path], kind, message)
        for path, kind, message in rules.faults(upstream_sources, rules.SOURCES)
    ]
    if errors:
        raise rules.invalid(errors[:_MOST_ERRORS], thing="The model")
