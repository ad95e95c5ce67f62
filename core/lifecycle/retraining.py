"""The automatic retrain: a new version from pending feedback, with the active version's parameters and no search.

A retrain is due when enough feedback is pending or the oldest has been pending long enough. It starts in the
transaction that stores the feedback, or from a sweep in the worker. While the model is busy, it waits. Three things
postpone it, however much is pending:

- zero data retention;
- a retrain that failed recently: the next one waits as long as feedback may be pending;
- fewer samples than the active version was trained with, or a trait without samples at one pole: samples were purged,
  and the new version would lose what the active one knows. To train anyway, use `reoptimize_params`.

A time too far in the future comes from a wrong clock. It says nothing about how long feedback has been pending, so it
counts as overdue: feedback must not wait until the clock has caught up.
"""

from datetime import datetime, timedelta
from functools import partial
from typing import get_args

from sqlalchemy import Connection, Engine

from traitbench.contract.models import DEFAULT_EFFORT, TrainEffort
from traitbench.lifecycle import rules, sweeps
from traitbench.lifecycle.model_runs import launch, run_key
from traitbench.runs import Queue
from traitbench.settings import Settings
from traitbench.states import Outcome, outcome
from traitbench.store import models, runs, samples, versions
from traitbench.store.engine import reading, writing
from traitbench.store.models import ModelRow


def start_if_due(connection: Connection, queue: Queue, settings: Settings, model: ModelRow) -> bool:
    """Start the retrain of a locked model if it is due; return whether it was."""
    if not is_due(connection, settings, model):
        return False
    effort = _effort(connection, model)
    launch(
        connection,
        queue,
        model,
        "retrain",
        effort=effort,
        run_key=run_key(connection, model.id, "retrain", effort=effort),
    )
    return True


def is_due(connection: Connection, settings: Settings, model: ModelRow) -> bool:
    """Whether a retrain of the model should start now."""
    return (
        outcome("retrain", model.state) is Outcome.PROCEED
        and not model.zero_data_retention
        and _waited(connection, settings, model)
        and not _failed_recently(connection, settings, model)
        and _has_enough_samples(connection, model)
    )


def sweep(engine: Engine, queue: Queue, settings: Settings) -> None:
    """Start every retrain that is due."""
    enough, since = settings.retrain_after_samples, rules.now() - _patience(settings)
    with reading(engine) as connection:
        ahead = rules.now() + _patience(settings)
        waiting = samples.due_for_retrain(connection, at_least=enough, since=since, ahead=ahead)
        due = list(sweeps.each("retrain sweep", waiting, partial(_is_due, connection, settings)))
    list(sweeps.each("retrain sweep", due, partial(_start, engine, queue, settings)))


def _is_due(connection: Connection, settings: Settings, model_id: int) -> bool:
    model = models.find_by_id(connection, model_id)
    return model is not None and is_due(connection, settings, model)


def _start(engine: Engine, queue: Queue, settings: Settings, model_id: int) -> bool:
    with writing(engine) as connection:
        # Checked again under the lock: another process may have started it.
        held = models.hold_by_id(connection, model_id)
        return held is not None and start_if_due(connection, queue, settings, held)


def _waited(connection: Connection, settings: Settings, model: ModelRow) -> bool:
    waiting = samples.waiting(connection, model.id)
    if waiting.oldest is None:
        return False
    return waiting.count >= settings.retrain_after_samples or _is_long_ago(waiting.oldest, settings)


def _failed_recently(connection: Connection, settings: Settings, model: ModelRow) -> bool:
    last = runs.read(connection, model.run_id or "")
    if last is None or (last.kind, last.status) != ("retrain", "failed") or last.finished_at is None:
        return False
    return not _is_long_ago(last.finished_at, settings)


def _has_enough_samples(connection: Connection, model: ModelRow) -> bool:
    if model.active_version_id is None:
        return False
    trained_with = versions.read(connection, model.active_version_id).sample_count
    return samples.training_count(connection, model.id) >= trained_with and not rules.traits_missing_poles(
        connection, model.id
    )


def _effort(connection: Connection, model: ModelRow) -> str:
    """The effort of the active version; the default if an imported version does not state one."""
    if model.active_version_id is None:
        return DEFAULT_EFFORT
    effort = versions.read(connection, model.active_version_id).metrics.effort
    return effort if effort is not None and effort in get_args(TrainEffort) else DEFAULT_EFFORT


def _is_long_ago(moment: datetime, settings: Settings) -> bool:
    return abs(rules.now() - moment) >= _patience(settings)


def _patience(settings: Settings) -> timedelta:
    return timedelta(seconds=settings.retrain_after_seconds)
