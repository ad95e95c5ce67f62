"""The retrain: a new version from pending feedback, with the active version's parameters and no search.

It starts by itself when it is due, or on request (`start`).

A retrain is due when enough feedback is pending or the oldest has been pending long enough. It starts in the
transaction that stores the feedback, or from a sweep in the worker. While the model is busy, it waits. Three things
postpone it, however much is pending:

- zero data retention;
- a retrain that failed recently: the next one waits as long as feedback may be pending;
- fewer samples than the active version was trained with, or a trait without samples at one pole: samples were purged,
  and the new version would lose what the active one knows. To train anyway, use `reoptimize_params`.

Feedback that a version on hold learned keeps waiting, but makes no automatic retrain due: the result would be the same.

A time too far in the future comes from a wrong clock. It says nothing about how long feedback has been pending, so it
counts as overdue: feedback must not wait until the clock has caught up.
"""

from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, get_args

from sqlalchemy import Connection, Engine

from traitbench.contract import operations
from traitbench.contract.models import DEFAULT_EFFORT, Model, RetrainRule, RunStarted, TrainEffort
from traitbench.contract.states import Outcome, outcome
from traitbench.errors import ModelBusy, SamplesPurged
from traitbench.operations import access, retention, rules
from traitbench.operations.access import Caller
from traitbench.operations.model_runs import launch, run_key
from traitbench.runs import Queue
from traitbench.settings import Settings
from traitbench.store import models, runs, samples, version_samples, versions
from traitbench.store.database import reading, writing
from traitbench.store.models import ModelRow
from traitbench.store.rows import readable

if TYPE_CHECKING:
    from traitbench.operations.context import Context  # at run time, a worker would import it for nothing


def start(context: "Context", caller: Caller, handle: str) -> tuple[RunStarted, bool]:
    """Start a retrain from all pending feedback now, or return the one in flight.

    The second value is False if no feedback waits.
    """
    with access.to_change(context, caller, operations.MODELS_RETRAIN, handle) as (connection, model):
        if rules.require("retrain_now", model) is Outcome.MATCH:
            return RunStarted(state="busy", run_id=_retrain_in_flight(connection, model)), True
        if not samples.waiting(connection, model.id).count:
            return RunStarted(state=model.state, run_id=None), False
        _check_samples(connection, model)
        return _launch(connection, context.runs, model, requested_by=caller.label), True


def start_if_due(connection: Connection, queue: Queue, settings: Settings, model: ModelRow) -> bool:
    """Start the retrain of a locked model if it is due; return whether it was."""
    if not is_due(connection, settings, model):
        return False
    _launch(connection, queue, model)
    return True


def is_due(connection: Connection, settings: Settings, model: ModelRow) -> bool:
    """Whether a retrain of the model should start now."""
    return (
        outcome("retrain", model.state) is Outcome.PROCEED
        and not model.zero_data_retention
        and (due := _due_at(connection, settings, model)) is not None
        and due <= rules.now()
        and _has_enough_samples(connection, model)
    )


def shown(connection: Connection, settings: Settings, model: Model) -> Model:
    """The model with the rule of its retrains."""
    has_none = model.version_no is None or model.zero_data_retention or model.state == "archived"
    if has_none:
        return model
    # A model whose rows cannot be read does not retrain by itself, and it must not hide the others of a listing.
    due_at = readable(lambda: _next(connection, settings, model.handle)) if model.retrain.pending else None
    rule = RetrainRule(
        after_samples=settings.retrain_after_samples,
        after_seconds=settings.retrain_after_seconds,
        pending=model.retrain.pending,
        due_at=due_at,
    )
    return model.model_copy(update={"retrain": rule})


def _next(connection: Connection, settings: Settings, handle: str) -> datetime | None:
    """When the model retrains by itself; None if it does not."""
    row = models.find(connection, handle)
    return _due_at(connection, settings, row) if row and _has_enough_samples(connection, row) else None


def sweep(engine: Engine, queue: Queue, settings: Settings) -> None:
    """Start every retrain that is due."""
    enough, since = settings.retrain_after_samples, rules.now() - _patience(settings)
    with reading(engine) as connection:
        ahead = rules.now() + _patience(settings)
        waiting = samples.due_for_retrain(connection, at_least=enough, since=since, ahead=ahead)
        due = list(retention.each("retrain sweep", waiting, partial(_is_due, connection, settings)))
    list(retention.each("retrain sweep", due, partial(_start, engine, queue, settings)))


def _is_due(connection: Connection, settings: Settings, model_id: int) -> bool:
    model = models.find_by_id(connection, model_id)
    return model is not None and is_due(connection, settings, model)


def _start(engine: Engine, queue: Queue, settings: Settings, model_id: int) -> bool:
    with writing(engine) as connection:
        # Checked again under the lock: another process may have started it.
        locked = models.hold_by_id(connection, model_id)
        return locked is not None and start_if_due(connection, queue, settings, locked)


def _launch(connection: Connection, queue: Queue, model: ModelRow, *, requested_by: str | None = None) -> RunStarted:
    effort = _effort(connection, model)
    key = run_key(connection, model.id, "retrain", effort=effort)
    return launch(connection, queue, model, "retrain", effort=effort, run_key=key, requested_by=requested_by)


def _retrain_in_flight(connection: Connection, model: ModelRow) -> str:
    live = runs.read(connection, model.run_id or "")
    if live is None or live.kind != "retrain":
        raise rules.refusal(ModelBusy, model)
    return live.id


def _check_samples(connection: Connection, model: ModelRow) -> None:
    if rules.traits_missing_poles(connection, model.id):
        raise rules.insufficient(connection, model)
    if not _has_enough_samples(connection, model):
        raise SamplesPurged(
            f"The samples of {model.handle} were purged, and a version from the feedback alone would lose what the"
            " active version knows. To train with the feedback alone, use reoptimize_params.",
            details={"handle": model.handle},
        )


def _due_at(connection: Connection, settings: Settings, model: ModelRow) -> datetime | None:
    """When the retrain is due, in the past or in the future; None if nothing waits for it."""
    waiting = samples.waiting(connection, model.id, after=model.held_up_to)
    if waiting.oldest is None or waiting.newest is None:
        return None
    due = _end_of_patience(waiting.oldest, settings)
    if waiting.count >= settings.retrain_after_samples:
        due = min(due, waiting.newest, rules.now())
    last = runs.read(connection, model.run_id or "")
    if last is None or (last.kind, last.status) != ("retrain", "failed") or last.finished_at is None:
        return due
    return max(due, _end_of_patience(last.finished_at, settings))


def _has_enough_samples(connection: Connection, model: ModelRow) -> bool:
    """Whether a retrain loses nothing that the active version knows.

    A purge deletes the record of a version's samples, so a version that has one was not affected by any.
    """
    if model.active_version_id is None or rules.traits_missing_poles(connection, model.id):
        return False
    if version_samples.recorded(connection, model.active_version_id):
        return True
    trained_with = versions.read(connection, model.active_version_id).sample_count
    return samples.training_count(connection, model.id) >= trained_with


def _effort(connection: Connection, model: ModelRow) -> str:
    """The effort of the active version; the default if an imported version does not state one."""
    if model.active_version_id is None:
        return DEFAULT_EFFORT
    effort = versions.read(connection, model.active_version_id).metrics.effort
    return effort if effort is not None and effort in get_args(TrainEffort) else DEFAULT_EFFORT


def _end_of_patience(since: datetime, settings: Settings) -> datetime:
    """The time after which feedback, or a failure, is old enough."""
    now, patience = rules.now(), _patience(settings)
    # A time far in the future counts as overdue, see above.
    return now if since - now >= patience else since + patience


def _patience(settings: Settings) -> timedelta:
    return timedelta(seconds=settings.retrain_after_seconds)
