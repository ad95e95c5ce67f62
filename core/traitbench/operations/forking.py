"""Fork a model: a draft with its traits, samples and settings, to prepare the next version (`promotion`)."""

from typing import Any

from sqlalchemy import Connection

from traitbench.contract.models import ForkRequest, Model
from traitbench.errors import HandleTaken
from traitbench.operations import access, rules
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import copies, models, samples, versions
from traitbench.store.database import writing
from traitbench.store.models import ModelRow


def fork(context: Context, caller: Caller, handle: str, body: ForkRequest) -> Model:
    """Make a draft from a model in a namespace that the caller owns too.

    Feedback that waits is copied as ordinary samples. Under zero retention no sample is copied.
    """
    source = str(access.permit(context, caller, "models.fork", handle))
    name = access.permit(context, caller, "models.create", body.handle)
    with writing(context.engine) as connection:
        model = access.require_model(models.hold(connection, source), source)
        rules.require("fork", model)
        now = rules.now()
        own = {"namespace": name.namespace, "state": "draft", "created_at": now, "updated_at": now}
        fork_id = copies.add_model(
            connection, model.id, handle=str(name), fields={**own, **_lineage(connection, model)}
        )
        if fork_id is None:
            raise HandleTaken(
                f"There is already a model {name}, perhaps an archived one. Choose another handle.",
                details={"handle": str(name)},
            )
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
