"""A run that brings its worker down twice at the same place is set aside, so that it does not bring down the next one.

Only a worker's own end counts (`supervisor`): a run is never given up for kills from outside, restarts or a machine
that was switched off, however many there are. After the first such end every run that the worker held is under
suspicion and is executed alone, its texts one at a time; an innocent one succeeds then. Progress lifts the suspicion:
a second end at another place counts as the first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine

from traitbench.runs.execution import Fail
from traitbench.runs.pulse import Cause, Death, Place
from traitbench.store import runs
from traitbench.store.engine import writing

MOST_STRIKES = 2

_WHAT: Mapping[Cause, str] = {
    "silent": "stopped responding",
    "slow": "took too long",
    "crashed": "crashed",
    "memory": "ran out of memory",
}


def judge(engine: Engine, deaths: Sequence[Death], fail: Fail) -> None:
    """Put the ends of earlier workers on the record of the runs that they held, and set aside who must be."""
    for death in deaths:
        for run_id, place in death.places.items():
            _strike(engine, run_id, death.cause, place, fail)


def _strike(engine: Engine, run_id: str, cause: Cause, place: Place, fail: Fail) -> None:
    with writing(engine) as connection:
        run = runs.read_to_end(connection, run_id)
        if run is None:
            return
        before = _place(runs.struck_at(connection, run_id))
        again = before is not None and place.within(before)
        strikes = run.strikes + 1 if again else 1
        runs.strike(connection, run_id, strikes=strikes, place=place.to_json())
        if strikes >= MOST_STRIKES:
            fail(connection, run, code="interrupted", message=_message(cause, place))


def _place(told: Any) -> Place | None:
    """Where the last strike was; None when there was none, or its place is damaged."""
    try:
        return Place.from_json(told)
    except (TypeError, KeyError, ValueError):
        return None


def _message(cause: Cause, place: Place) -> str:
    return f"The worker {_WHAT[cause]} twice {_where(place)}, so this run was stopped. {_way_out(cause, place)}"


def _where(place: Place) -> str:
    match place.samples:
        case ():
            return f"in the phase {place.phase}"
        case (sample,):
            return f"while it encoded sample {sample}"
        case samples:
            return f"while it encoded samples {min(samples)} to {max(samples)}"


def _way_out(cause: Cause, place: Place) -> str:
    if place.samples:
        which = "it" if len(place.samples) == 1 else "them"
        return f"Shorten or delete {which}, then start again."
    if cause == "memory":
        return "Free memory, or use a lower effort or fewer samples, then start again."
    return "Start again with a lower effort or fewer samples."
