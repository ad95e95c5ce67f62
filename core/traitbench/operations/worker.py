"""The process that executes runs: `python -m traitbench.operations.worker`, a child of the service.

It reads its configuration from the first line of standard input, and lives until that input ends, which it does when
the parent ends for any reason. It has a low priority, so that a training never slows a page or a score.
"""

import ctypes
import fcntl
import json
import logging
import os
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread, Timer
from typing import Any, get_args

from sqlalchemy import Engine

from traitbench import logs
from traitbench.contract.models import OperationKind
from traitbench.operations import model_runs, repeats, retraining, sample_changes, zero_retention
from traitbench.operations.context import open_telemetry
from traitbench.operations.training_encoder import Loading
from traitbench.runs.engine import LOCAL
from traitbench.runs.execution import Execution
from traitbench.runs.executor import Body, Worker, serve
from traitbench.runs.heartbeat import Heartbeat, WorkerExit
from traitbench.runs.queue import EngineQueue
from traitbench.runs.schedules import Schedule, give_way
from traitbench.settings import Settings
from traitbench.store import version_positions, workers
from traitbench.store.database import open_engine, reading, sqlite_file, writing
from traitbench.store.errors import StoreUnavailable

_GIVEN_UP_FIRST = "500"
_PR_SET_PDEATHSIG = 1
_FAREWELL_SECONDS = 1.0
_RETRAIN_SWEEP_SECONDS = 2.0
_PURGE_SWEEP_SECONDS = 5.0
_POSITIONS_SECONDS = 1.0
_UNDO_SWEEP_SECONDS = 600.0
_ANSWERS_SWEEP_SECONDS = 600.0
_LOAD_AFTER_SECONDS = 10.0

_log = logging.getLogger(__name__)


def main() -> None:
    """Execute runs until the parent ends."""
    line = sys.stdin.buffer.readline()
    if not line:
        return  # the parent ended before it sent anything
    heartbeat = Heartbeat()
    heartbeat.start()
    try:
        _work(json.loads(line), heartbeat)
    except StoreUnavailable as error:
        _log.error("the worker cannot go on: %s", error.message)
    except Exception as error:
        _log.error("the worker cannot go on\n%s%s", "".join(traceback.format_tb(error.__traceback__)), _first(error))
    # Exit even if this worker was only taken for dead: its parent starts a new one, and the engine's threads must not
    # keep this process alive.
    os._exit(1)


def _work(greeting: Mapping[str, Any], heartbeat: Heartbeat) -> None:
    settings, executor_id = Settings.from_json(greeting["settings"]), str(greeting["executor_id"])
    logs.configure(level=settings.log_level, form=settings.log_form)
    engine = open_engine(settings.database_url)
    _end_with_parent(int(greeting["parent"]), engine, executor_id)
    give_way(settings.worker_nice)
    _let_go_first()
    lock = _lock(settings, heartbeat)
    worker = Worker(
        engine=engine,
        url=settings.database_url,
        executor_id=executor_id,
        bodies=_traced(_bodies_in_time(engine, settings, heartbeat), settings),
        fail=model_runs.fail,
        schedules=_schedules(engine, settings),
        deaths=[WorkerExit.from_json(each) for each in greeting.get("deaths", ())],
        tell=heartbeat.at,
    )
    try:
        serve(worker, ready=heartbeat.ready, judged=heartbeat.judged)
    finally:
        os.close(lock)


def bodies(engine: Engine, settings: Settings) -> Mapping[str, Body]:
    """The body of each kind of run. This loads the encoder of the service; a training may load another one."""
    from traitbench.encoders.registry import load_encoder
    from traitbench.encoders.vocabulary import load_vocabulary
    from traitbench.local.training import label_axes
    from traitbench.operations import discovery, synthesis, training, training_encoder

    encoder = load_encoder(settings.encoder, cache=settings.cache)
    vocabulary = partial(load_vocabulary, encoder, cache=settings.cache)

    def train(execution: Execution) -> None:
        choice = training_encoder.of_run(engine, settings, execution, default=encoder)
        chosen = choice.encoder
        training.run(
            engine,
            chosen,
            execution,
            labels=label_axes(chosen, settings.cache),
            chosen=choice.name,
        )

    def discover(execution: Execution) -> None:
        choice = training_encoder.of_run(engine, settings, execution, default=encoder)
        discovery.run(engine, choice.encoder, settings, execution)

    return {
        **dict.fromkeys(("train", "retune", "retrain"), train),
        "discover": discover,
        "synthesize": partial(synthesis.run, engine, encoder, vocabulary, settings),
    }


def _bodies_in_time(engine: Engine, settings: Settings, heartbeat: Heartbeat) -> Mapping[str, Body]:
    """The result of `bodies`, with the encoder loaded by the first run or, if none comes soon, in the background.

    While a service starts, its own start and the first page need the processors.
    """
    from traitbench.encoders import EncoderUnavailable
    from traitbench.encoders.registry import load_encoder

    loading = Loading(partial(bodies, engine, settings), on_state=heartbeat.encoder)

    def prepare() -> None:
        from traitbench.operations import demo

        loading.try_once()
        with suppress(EncoderUnavailable, StoreUnavailable, OSError, MemoryError):
            demo.encode_samples(engine, load_encoder(settings.encoder, cache=settings.cache))

    timer = Timer(_LOAD_AFTER_SECONDS, prepare)
    timer.daemon = True
    timer.start()

    def body(kind: str) -> Body:
        def run(execution: Execution) -> None:
            def waiting() -> None:
                execution.report("loading the encoder", 0, 1, fraction=0.0)
                # Should the load bring the worker down, this run is not to blame.
                heartbeat.at(execution.run.id, None)

            loading.wait(waiting=waiting)[kind](execution)

        return run

    return {kind: body(kind) for kind in get_args(OperationKind)}


def _traced(bodies: Mapping[str, Body], settings: Settings) -> Mapping[str, Body]:
    """The bodies, each with a span of its own if the operator has named a collector."""
    telemetry = open_telemetry(settings)
    if telemetry is None:
        return bodies

    def traced(kind: str, body: Body) -> Body:
        def run(execution: Execution) -> None:
            with telemetry.run(kind, execution.run.id):
                body(execution)

        return run

    return {kind: traced(kind, body) for kind, body in bodies.items()}


def _schedules(engine: Engine, settings: Settings) -> Sequence[Schedule]:
    queue = EngineQueue(settings.database_url)
    return (
        Schedule("retrain-sweep", _RETRAIN_SWEEP_SECONDS, partial(retraining.sweep, engine, queue, settings)),
        Schedule("purge-sweep", _PURGE_SWEEP_SECONDS, partial(zero_retention.sweep, engine)),
        Schedule("positions", _POSITIONS_SECONDS, partial(answer_positions, engine, settings)),
        Schedule("answers-sweep", _ANSWERS_SWEEP_SECONDS, partial(repeats.sweep, engine)),
        Schedule("undo-sweep", _UNDO_SWEEP_SECONDS, partial(sample_changes.sweep, engine)),
    )


def answer_positions(engine: Engine, settings: Settings) -> None:
    """Find the positions that were asked for (`held_out_positions`)."""
    with reading(engine) as connection:
        asked = version_positions.asked(connection)
    if not asked:
        return
    # Imported now, because few workers ever need it.
    from traitbench.operations import held_out_positions

    for each in asked:
        held_out_positions.answer(engine, settings, each)


def _end_with_parent(parent: int, engine: Engine, executor_id: str) -> None:
    Thread(target=_wait_for_the_end, args=(engine, executor_id), name="parent", daemon=True).start()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have ended before the kernel was asked.
    if os.getppid() != parent:
        os._exit(0)


def _wait_for_the_end(engine: Engine, executor_id: str) -> None:
    sys.stdin.buffer.read()
    # Runs are left as they are: every run survives an interruption, and the next worker continues it. The timer ends
    # the process if the database does not answer.
    Timer(_FAREWELL_SECONDS, os._exit, [0]).start()
    # Another worker then takes the runs over within 5 s. After a hard kill they wait until the heartbeat has expired.
    if executor_id != LOCAL:
        with writing(engine) as connection:
            workers.leave(connection, executor_id)
    os._exit(0)


def _lock(settings: Settings, heartbeat: Heartbeat) -> int:
    """On SQLite all workers have the same name and would execute each other's runs, so a lock admits one at a time."""
    file = sqlite_file(settings.database_url)
    if file is None:
        return os.open(os.devnull, os.O_RDONLY)
    lock = os.open(f"{file}.worker", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        # Another service on this database has a worker, which executes our runs too, until it ends.
        heartbeat.ready()
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def _let_go_first() -> None:
    """If memory runs out, the kernel should kill this process, which is restarted, and not the service."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_GIVEN_UP_FIRST)


def _first(error: Exception) -> str:
    """The type and first line of an error; some errors carry SQL statements in the lines below."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


if __name__ == "__main__":
    main()
