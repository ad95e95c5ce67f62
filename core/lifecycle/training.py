"""Start a training: check its preconditions, match a run in flight, or queue a new run.

A draft is trained for the first time. On a ready model only `reoptimize_params` leaves anything to do.
"""

from typing import Any

from sqlalchemy import Connection

from traitbench.contract.models import DEFAULT_EFFORT, OperationKind, RunStarted, TrainRequest
from traitbench.errors import InsufficientSamples, ModelBusy, SamplesPurged
from traitbench.lifecycle import access, rules
from traitbench.lifecycle.callers import Caller
from traitbench.lifecycle.context import Context
from traitbench.lifecycle.launch import launch
from traitbench.lifecycle.run_keys import run_key
from traitbench.runs import Queue
from traitbench.states import Outcome
from traitbench.store import models, runs, samples, traits
from traitbench.store.engine import writing
from traitbench.store.models import ModelRow


def start(context: Context, caller: Caller, handle: str, body: TrainRequest) -> tuple[RunStarted, bool]:
    """Queue a training, or return the identical run in flight.

    The second value is False if there was nothing to do.
    """
    name = str(access.permit(context, caller, "models.train", handle))
    with writing(context.engine) as connection:
        model = access.require_model(models.hold(connection, name), name)
        return start_in(connection, context.runs, model, body)


def start_in(connection: Connection, queue: Queue, model: ModelRow, body: TrainRequest) -> tuple[RunStarted, bool]:
    """As `start`, for a model that this connection has locked."""
    outcome = rules.require("retune" if body.reoptimize_params else "train", model)
    if outcome is Outcome.NOTHING:
        return RunStarted(state=model.state, run_id=None), False
    effort, options = body.effort or DEFAULT_EFFORT, _options(body)
    key = run_key(connection, model.id, "train", effort=effort, options=options)
    if outcome is Outcome.MATCH:
        return RunStarted(state="busy", run_id=_matching_run(connection, model, key)), True
    kind: OperationKind = "retune" if model.state == "ready" else "train"
    _check_samples(connection, model)
    return launch(connection, queue, model, kind, effort=effort, run_key=key, options=options), True


def _options(body: TrainRequest) -> dict[str, Any]:
    """Options of a training besides its effort; defaults are left out."""
    return {"reoptimize": body.reoptimize_params} | ({} if body.use_labels else {"use_labels": False})


def traits_missing_poles(connection: Connection, model_id: int) -> dict[str, dict[str, int]]:
    """Sample counts by pole, for the extrinsic traits that have no sample at one of their poles."""
    return {key: count for key, count in _poles(connection, model_id).items() if not all(count.values())}


def _matching_run(connection: Connection, model: ModelRow, key: str) -> str:
    live = runs.read(connection, model.run_id or "")
    if live is None or live.run_key != key:
        raise rules.refusal(ModelBusy, model)
    return live.id


def _check_samples(connection: Connection, model: ModelRow) -> None:
    count = samples.count(connection, model.id)
    if model.state == "ready" and not count:
        raise SamplesPurged(
            f"The samples of {model.handle} were purged, so there is nothing to search with. Its versions still score.",
            details={"handle": model.handle},
        )
    missing = traits_missing_poles(connection, model.id)
    if missing or not count:
        raise InsufficientSamples(
            f"Every trait of {model.handle} needs a sample above 0.5 and one below. "
            + (f"Add samples to: {', '.join(missing)}." if missing else "The model has no samples. Add some."),
            details={"traits": _poles(connection, model.id), "lacking": list(missing)},
        )


def _poles(connection: Connection, model_id: int) -> dict[str, dict[str, int]]:
    return {
        trait.key: {"positive": trait.positive_samples, "negative": trait.negative_samples}
        for trait in traits.read(connection, model_id)
        if trait.kind == "extrinsic"
    }
