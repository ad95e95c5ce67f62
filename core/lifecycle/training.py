"""How a training begins: what stands in its way, which run it meets, and its place in the queue."""

from sqlalchemy import Connection
from ulid import ULID

from core.contract.models import RunStarted, TrainRequest
from core.errors import InsufficientSamples, ModelBusy
from core.lifecycle import access, rules
from core.lifecycle.bench import Bench
from core.lifecycle.callers import Caller
from core.runs import RunEngine
from core.states import Outcome
from core.store import models, runs, traits
from core.store.engine import writing
from core.store.models import ModelRow

_DEFAULT_EFFORT = "high"


def start(bench: Bench, caller: Caller, handle: str, body: TrainRequest) -> tuple[RunStarted, bool]:
    """Queue a training, or answer with the same one in flight; False beside it when there was nothing to do."""
    name = str(access.permit(bench, caller, "models.train", handle))
    with writing(bench.engine) as connection:
        model = access.found(models.hold(connection, name), name)
        return start_in(connection, bench.runs, model, body)


def start_in(connection: Connection, engine: RunEngine, model: ModelRow, body: TrainRequest) -> tuple[RunStarted, bool]:
    """As `start`, for a model that the connection holds."""
    outcome = rules.require("train", model)
    if body.reoptimize_params:
        raise rules.unavailable("reoptimize_params")
    effort = body.effort or _DEFAULT_EFFORT
    if outcome is Outcome.NOTHING:
        return RunStarted(state=model.state, run_id=None), False
    if outcome is Outcome.MATCH:
        return RunStarted(state="busy", run_id=_matching_run(connection, model, effort)), True
    _check_samples(connection, model)
    run_id = f"run_{ULID()}"
    models.move(connection, model, "busy", now=rules.now(), run_id=run_id)
    runs.add(connection, run_id, model_id=model.id, kind="train", effort=effort, now=rules.now())
    engine.enqueue(connection, run_id, "train", model.id)
    return RunStarted(state="busy", run_id=run_id), True


def _matching_run(connection: Connection, model: ModelRow, effort: str) -> str:
    # Traits and samples cannot have changed since: only the effort tells two trainings in flight apart.
    live = runs.read(connection, model.run_id or "")
    if live is None or (live.kind, live.effort) != ("train", effort):
        raise rules.refusal(ModelBusy, model)
    return live.id


def _check_samples(connection: Connection, model: ModelRow) -> None:
    counts = {
        trait.key: {"positive": trait.positive_samples, "negative": trait.negative_samples}
        for trait in traits.read(connection, model.id)
        if trait.kind == "extrinsic"
    }
    lacking = [key for key, count in counts.items() if not all(count.values())]
    if lacking or not counts:
        raise InsufficientSamples(
            f"Every trait of {model.handle} needs a sample on each side of 0.5; "
            + (f"{len(lacking)} of {len(counts)} lack one." if counts else "the model has no trait yet."),
            details={"traits": counts, "lacking": lacking},
        )
