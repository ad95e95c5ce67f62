"""The demo models: created at the first start; a start that is interrupted is completed by the next one.

With the encoder that they were trained with, they are imported with their version. With another one they are trained:
each model is completed and its training queued in one transaction, so the service is up before they are trained.
"""

import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from pydantic import ValidationError
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from traitbench.contract.bundles import FORMAT, Bundle, BundledSample, BundledTrait, BundledVersion, digest
from traitbench.contract.models import ModelCreate, ModelUpdate, TrainRequest
from traitbench.contract.samples import SampleInput, text_hash
from traitbench.contract.traits import TraitInput
from traitbench.encoders import Encoder
from traitbench.errors import HandleTaken, TraitbenchError, ValidationFailed
from traitbench.names import parse_handle
from traitbench.operations import access, bundles, models, rules, sample_vectors, samples, training, traits
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.sample_data import DemoModel, demo_models
from traitbench.scoring.segments import embed
from traitbench.store import models as stored
from traitbench.store import samples as stored_samples
from traitbench.store import traits as stored_traits
from traitbench.store import vectors as stored_vectors
from traitbench.store.database import reading, writing
from traitbench.store.models import ModelRow
from traitbench.store.sample_changes import Author

_NAMESPACE = "demo"
_AT_ONCE = 16  # texts, so that a run beside them does not wait long
_UNFINISHED = ("draft", "failed")
_US = Caller(key_id="", scope="authoring", namespaces=frozenset({_NAMESPACE}))

_log = logging.getLogger(__name__)


def ensure_demo_models(context: Context) -> None:
    """Import or train the demo models that are missing. Does nothing if their namespace is not public."""
    _for_each(context, _ensure)


def train_demo_models(context: Context) -> None:
    """Create the demo models that are missing, and queue a training of each."""
    _for_each(context, _train)


def encode_samples(engine: Engine, encoder: Encoder) -> None:
    """Store the vectors of the demo models' samples that have none: similar samples are found by them.

    Their versions travel without them, because vectors take forty times as much.
    """
    for demo in demo_models():
        with reading(engine) as connection:
            model = stored.find(connection, demo.handle)
            # A training encodes them itself.
            if model is None or model.state != "ready":
                continue
            labels = stored_samples.labels(connection, model.id)
            known = stored_vectors.read(connection, model.id, encoder.digest)
        missing = [label for label in labels if label.id not in known]
        for first in range(0, len(missing), _AT_ONCE):
            some = missing[first : first + _AT_ONCE]
            with reading(engine) as connection:
                texts = stored_samples.texts(connection, [label.id for label in some])
            there = [label for label in some if label.id in texts]
            rows = embed(encoder.encode, [texts[label.id] for label in there])
            digests = {label.id: (label.content_sha256, row) for label, row in zip(there, rows, strict=True)}
            sample_vectors.adopt(engine, encoder.digest, digests)


def bundle_of(demo: DemoModel) -> Bundle | None:
    """The demo model with its trained version, ready to import; None if it has no version."""
    if demo.version is None:
        return None
    bundle = Bundle(
        format=FORMAT,
        sha256="",
        handle=demo.handle,
        model=ModelUpdate.model_validate({name: demo.definition[name] for name in ("description", "readme_markdown")}),
        traits=[BundledTrait.model_validate(trait | {"intrinsic": None}) for trait in demo.traits],
        samples=[BundledSample.model_validate(sample | {"provenance": "authored"}) for sample in demo.samples],
        versions=[BundledVersion.model_validate(demo.version)],
    )
    return bundle.model_copy(update={"sha256": digest(bundle)})


def _for_each(context: Context, make: Callable[[Context, DemoModel], None]) -> None:
    if _NAMESPACE not in context.settings.public_namespaces:
        return
    for demo in demo_models():
        try:
            make(context, demo)
        except (TraitbenchError, SQLAlchemyError) as error:
            _log.warning("the demo model %s could not be created: %s", demo.handle, type(error).__name__)


def _ensure(context: Context, demo: DemoModel) -> None:
    with reading(context.engine) as connection:
        exists = stored.find(connection, demo.handle) is not None
    if exists or not _imported(context, demo):
        _train(context, demo)


def _imported(context: Context, demo: DemoModel) -> bool:
    """Import a demo model with its version; False if that is not for this encoder or not accepted here."""
    try:
        bundle = bundle_of(demo)
        # The import would also accept the version of an encoder that is installed but not configured.
        if bundle is None or bundle.versions[0].snapshot["encoder"]["digest"] != context.encoder.digest:
            return False
        bundles.import_(context, _US, bundle)
    except (ValidationFailed, ValidationError, HandleTaken):
        return False
    return True


def _train(context: Context, demo: DemoModel) -> None:
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
        samples.add_to(
            connection, model, missing, digests, most=context.settings.max_samples, author=Author(None, rules.now())
        )


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
