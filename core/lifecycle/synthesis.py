"""Start a synthesis. It needs a draft with an extrinsic trait and, to make variations, samples."""

from collections import Counter

from sqlalchemy import Connection

from traitbench.contract.models import RunStarted
from traitbench.contract.samples import SynthesizeRequest
from traitbench.errors import InsufficientSamples, UnsupportedSynthType
from traitbench.generators import SYNTH_TYPES
from traitbench.lifecycle import access, derivations, rules
from traitbench.lifecycle.callers import Caller
from traitbench.lifecycle.context import Context
from traitbench.store import models, samples, traits
from traitbench.store.engine import writing
from traitbench.store.models import ModelRow


def start(context: Context, caller: Caller, handle: str, body: SynthesizeRequest) -> RunStarted:
    """Queue a synthesis of samples."""
    name = str(access.permit(context, caller, "samples.synthesize", handle))
    most = context.settings.max_samples
    with writing(context.engine) as connection:
        model = access.require_model(models.hold(connection, name), name)
        _check_type(body.synth_type)
        return derivations.begin(
            connection,
            context.runs,
            model,
            "synthesize",
            effort=body.effort,
            options={"synth_type": body.synth_type},
            bounds={"max_samples": most},
            check=lambda: _check_samples(connection, model, body.synth_type, most),
        )


def _check_type(synth_type: str) -> None:
    if synth_type not in SYNTH_TYPES:
        raise UnsupportedSynthType(
            f"synth_type must be {' or '.join(SYNTH_TYPES)}.",
            details={"field": "synth_type", "choices": list(SYNTH_TYPES)},
        )


def _check_samples(connection: Connection, model: ModelRow, synth_type: str, most: int) -> None:
    labels = samples.labels(connection, model.id)
    if len(labels) >= most:
        message = f"the model has {len(labels)} samples already; at most {most} are allowed"
        raise rules.invalid([rules.problem(["samples"], "too_many", message)], thing="The samples")
    keys = {row.id: row.key for row in traits.rows(connection, model.id) if row.kind == "extrinsic"}
    seeds = Counter(keys.get(label.trait_id) for label in labels if is_seed(label))
    counts = {key: seeds[key] for key in keys.values()}
    if not counts or (synth_type == "diversify" and not any(counts.values())):
        raise InsufficientSamples(
            f"{model.handle} has no extrinsic trait to write texts for. Add a trait."
            if not counts
            else f"{model.handle} has no samples to vary. Add samples, or use the type from_traits.",
            details={"traits": counts},
        )


def is_seed(label: samples.Label) -> bool:
    """Whether a sample may be varied: it was not synthesized, and its quality is not 0.5."""
    return label.provenance != "synthesized" and label.quality != 0.5
