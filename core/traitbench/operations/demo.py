"""The demo models: created at the first start; a start that is interrupted is completed by the next one.

Each model is completed and its training queued in one transaction, so the service is up before they are trained.
"""

import logging
from collections import Counter
from contextlib import suppress

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from traitbench.contract.models import ModelCreate, TrainRequest
from traitbench.contract.samples import SampleInput, text_hash
from traitbench.contract.traits import TraitInput
from traitbench.errors import HandleTaken, TraitbenchError
from traitbench.names import parse_handle
from traitbench.operations import access, models, samples, training, traits
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.sample_data import DemoModel, demo_models
from traitbench.store import models as stored
from traitbench.store import samples as stored_samples
from traitbench.store import traits as stored_traits
from traitbench.store.database import writing
from traitbench.store.models import ModelRow

_NAMESPACE = "demo"
_UNFINISHED = ("draft", "failed")
_US = Caller(key_id="", scope="authoring", namespaces=frozenset({_NAMESPACE}))

_log = logging.getLogger(__name__)


def ensure_demo_models(context: Context) -> None:
    """Create and train the demo models that are missing. Does nothing if their namespace is not public."""
    if _NAMESPACE not in context.settings.public_namespaces:
        return
    for demo in demo_models():
        try:
            _ensure(context, demo)
        except (TraitbenchError, SQLAlchemyError) as error:
            _log.warning("the demo model %s could not be created: %s", demo.handle, type(error).__name__)


def _ensure(context: Context, demo: DemoModel) -> None:
    with suppress(HandleTaken):
        models.create(context, _US, ModelCreate.model_validate(demo.definition))
    handle = str(parse_handle(demo.handle))
    with writing(context.engine) as connection:
        model = access.require_model(stored.hold(connection, handle), handle)
        if model.state in _UNFINISHED:
            _complete(context, connection, model, demo)
            training.start_in(
                connection, context.runs, access.require_model(stored.hold(connection, handle), handle), TrainRequest()
            )


def _complete(context: Context, connection: Connection, model: ModelRow, demo: DemoModel) -> None:
    inputs = [TraitInput.model_validate(trait) for trait in demo.traits]
    traits.add_to(connection, model, inputs, most=context.settings.max_traits)
    model = access.require_model(stored.hold(connection, model.handle), model.handle)
    missing = _missing(connection, model, [SampleInput.model_validate(sample) for sample in demo.samples])
    if missing:
        digests = [text_hash(sample.text) for sample in missing]
        samples.add_to(connection, model, missing, digests, most=context.settings.max_samples)


def _missing(connection: Connection, model: ModelRow, wanted: list[SampleInput]) -> list[SampleInput]:
    rows = stored_traits.rows(connection, model.id)
    keys = {row.id: row.key for row in rows}
    names = {row.name: row.key for row in rows} | {row.key: row.key for row in rows}
    existing = Counter(
        (keys[label.trait_id], label.content_sha256, label.quality)
        for label in stored_samples.all_labels(connection, model.id)
    )
    missing = []
    for sample in wanted:
        pair = (names[sample.trait], text_hash(sample.text), sample.quality)
        if existing[pair] > 0:
            existing[pair] -= 1
        else:
            missing.append(sample)
    return missing
