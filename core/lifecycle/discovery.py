"""Start a discovery. It needs a draft with enough different texts, whichever trait they label."""

from sqlalchemy import Connection

from traitbench.contract.models import RunStarted
from traitbench.contract.traits import DiscoverRequest
from traitbench.errors import InsufficientSamples
from traitbench.lifecycle import access, derivations
from traitbench.lifecycle.callers import Caller
from traitbench.lifecycle.context import Context
from traitbench.scoring.discover import FEWEST_TEXTS
from traitbench.store import models, samples, traits
from traitbench.store.engine import writing
from traitbench.store.models import ModelRow


def start(context: Context, caller: Caller, handle: str, body: DiscoverRequest) -> RunStarted:
    """Queue a discovery, which searches for traits that nobody defined."""
    name = str(access.permit(context, caller, "traits.discover", handle))
    with writing(context.engine) as connection:
        model = access.require_model(models.hold(connection, name), name)
        return derivations.begin(
            connection,
            context.runs,
            model,
            "discover",
            effort=body.effort,
            options={},
            bounds={"max_traits": context.settings.max_traits},
            check=lambda: _check_samples(connection, model),
        )


def _check_samples(connection: Connection, model: ModelRow) -> None:
    labels = samples.labels(connection, model.id)
    distinct = len({label.content_sha256 for label in labels})
    if distinct < FEWEST_TEXTS:
        counts = {trait.key: trait.sample_count for trait in traits.read(connection, model.id)}
        raise InsufficientSamples(
            f"Discovery needs {FEWEST_TEXTS} different texts; {model.handle} has {distinct}. Add samples.",
            details={"distinct": distinct, "needed": FEWEST_TEXTS, "samples": len(labels), "traits": counts},
        )
