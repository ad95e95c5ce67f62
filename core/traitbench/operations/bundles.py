"""A model as one document, a bundle. An import is applied as a whole or not at all."""

from typing import IO, Any

from traitbench.contract import operations
from traitbench.contract.bundles import FORMAT, Bundle, Streamed, digest, document
from traitbench.contract.models import Model, ModelCreate
from traitbench.operations import access, retraining, rules
from traitbench.operations.access import Caller
from traitbench.operations.bundle_checks import check
from traitbench.operations.context import Context
from traitbench.store import activations, bundles, models
from traitbench.store.database import writing

_DEFAULTS = {
    name: field.default for name, field in ModelCreate.model_fields.items() if name not in ("handle", "kind")
} | {"hold_if_worse": False}


def export(context: Context, caller: Caller, handle: str, file: IO[bytes]) -> None:
    """Write a consistent copy of a model to a file as a `Bundle`; under zero retention without samples.

    Samples are read twice, once for the digest and once for the document, so that they need not fit in memory.
    """
    with access.to_read(context, caller, operations.MODELS_EXPORT, handle) as (connection, model):
        with_samples = not model.zero_data_retention
        order = bundles.order(connection, model.id, with_samples=with_samples)
        bundle = Bundle(
            format=FORMAT,
            sha256="",
            handle=model.handle,
            model=bundles.read_model(connection, model.id),
            traits=bundles.read_traits(connection, model.id, order.samples),
            samples=[] if with_samples else None,
            versions=bundles.read_versions(connection, model, order),
            forked_from=bundles.read_origin(connection, model.id),
            activations=bundles.read_activations(connection, model.id),
        )

        def streamed() -> Streamed:
            return bundles.read_samples(connection, model.id, order) if with_samples else {}

        signed = bundle.model_copy(update={"sha256": digest(bundle, streamed())})
        for piece in document(signed, streamed()):
            file.write(piece.encode())


def import_(context: Context, caller: Caller, bundle: Bundle, handle: str | None = None) -> Model:
    """Create a model from a bundle, under its own handle or another; its versions get `triggered_by` "backfill"."""
    name = access.permit(context, caller, operations.MODELS_IMPORT, bundle.handle if handle is None else handle)
    check(context, bundle)
    now = rules.now()
    with writing(context.engine) as connection:
        model_id = models.add(connection, handle=str(name), namespace=name.namespace, now=now, **_fields(bundle))
        if model_id is None:
            raise rules.handle_taken(str(name))
        active = bundles.write(connection, model_id, bundle, now=now)
        if active is not None:
            last_version_no = bundle.versions[-1].version_no
            models.change(
                connection, model_id, now=now, state="ready", active_version_id=active, versions_made=last_version_no
            )
            activations.add(
                connection,
                model_id,
                version_no=next(each.version_no for each in bundle.versions if each.active),
                previous_version_id=None,
                cause="import",
                by=caller.label or None,
                now=now,
            )
        return retraining.shown(connection, context.settings, models.read(connection, model_id))


def _fields(bundle: Bundle) -> dict[str, Any]:
    fields = bundle.model.model_dump()
    given = {name: _DEFAULTS.get(name) if value is None else value for name, value in fields.items()}
    origin = bundle.forked_from
    # Whether the original has changed since is not known: it may even be another model of that name.
    lineage = {"forked_from": origin and origin.handle, "forked_from_version_no": origin and origin.version_no}
    return given | {"kind": "scoring", "language_model_allowed": False} | lineage
