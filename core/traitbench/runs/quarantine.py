"""A run that brings its worker down twice at the same place fails, so that it cannot bring down the next one.

Only a worker's own crash or hang counts (`supervisor`): no number of kills from outside, restarts or power cuts makes a
run fail. After the first crash, every run that the worker held is a suspect and is executed alone, one text at a time;
an innocent run then succeeds. Progress clears a suspect: a second crash at another place counts as the first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine

from traitbench.runs.execution import Fail
from traitbench.runs.heartbeat import Cause, WorkerExit, WorkItem
from traitbench.store import runs
from traitbench.store.database import writing

# Counting attempts would be simpler, but ten restarts would end a good run, and a bad one would crash ten workers. The
# price: a run that hangs costs two minutes, in native code up to an hour.
MOST_STRIKES = 2

_VERBS: Mapping[Cause, str] = {
    "silent": "stopped responding",
    "slow": "took too long",
    "crashed": "crashed",
    "memory": "ran out of memory",
}


def judge(engine: Engine, deaths: Sequence[WorkerExit], fail: Fail) -> None:
    """Record the crashes of earlier workers with the runs that they held, and fail the runs that have too many."""
    for death in deaths:
        for run_id, place in death.places.items():
            _strike(engine, run_id, death.cause, place, fail)


def _strike(engine: Engine, run_id: str, cause: Cause, place: WorkItem, fail: Fail) -> None:
    with writing(engine) as connection:
        run = runs.read_to_end(connection, run_id)
        if run is None:
            return
        before = _place(runs.struck_at(connection, run_id))
        within = before is not None and place.within(before)
        strikes = run.strikes + 1 if within else 1
        runs.strike(connection, run_id, strikes=strikes, place=place.to_json())
        if strikes >= MOST_STRIKES:
            fail(connection, run, code="interrupted", message=_message(cause, place))


def _place(stored: Any) -> WorkItem | None:
    """The place of the last strike; None if there was none, or if it is damaged."""
    try:
        return WorkItem.from_json(stored)
    except (TypeError, KeyError, ValueError):
        return None


def _message(cause: Cause, place: WorkItem) -> str:
    return f"The worker {_VERBS[cause]} twice {_where(place)}, so this run was stopped. {_way_out(cause, place)}"


def _where(place: WorkItem) -> str:
    match place.samples:
        case ():
            return f"in the phase {place.phase}"
        case (sample,):
            return f"while it encoded sample {sample}"
        case samples:
            return f"while it encoded samples {min(samples)} to {max(samples)}"


def _way_out(cause: Cause, place: WorkItem) -> str:
    if place.samples:
        which = "it" if len(place.samples) == 1 else "them"
        return f"Shorten or delete {which}, then start again."
    if cause == "memory":
        return "Free memory, or use a lower effort or fewer samples, then start again."
    return "Start again with a lower effort or fewer samples."
