"""Periodic tasks of a worker, each in a thread of its own, and its low priority.

A task that fails is tried again after the usual interval. If there are several workers, each of them runs the tasks; a
task checks under a lock what there is to do.
"""

import logging
import os
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import sleep

from traitbench.store.errors import StoreUnavailable

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Schedule:
    """A task, and the seconds between two runs of it."""

    name: str
    every_s: float
    task: Callable[[], None]


def start_all(schedules: Sequence[Schedule]) -> None:
    """Start the tasks; they end with the process."""
    for schedule in schedules:
        Thread(target=_repeat, args=(schedule,), name=schedule.name, daemon=True).start()


def _repeat(schedule: Schedule) -> None:
    while True:
        run_once(schedule)
        sleep(schedule.every_s)


def run_once(schedule: Schedule) -> None:
    """Run a task once; a failure is logged."""
    try:
        schedule.task()
    except StoreUnavailable:
        return  # logged where it was raised; the next run of the task tries again
    except Exception as error:
        # Without the error's message, which may hold a text.
        frames = "".join(traceback.format_tb(error.__traceback__))
        _log.warning("the task %s failed with %s\n%s", schedule.name, type(error).__name__, frames)


# Without this, the worker got half of a processor that a page wanted too. It changes nothing where control groups
# divide the processors: there the operator sets the shares.
_AUTOGROUP = Path("/proc/self/autogroup")
_TRIES, _PAUSE_S = 20, 0.1


def give_way(nice: int) -> None:
    """Lower the priority of this process by a nice value and, where Linux groups processes by session, its session's.

    With `sched_autogroup_enabled`, sessions share a processor equally and a nice value counts only within one: see
    sched(7). The session must therefore be the process's own.
    """
    os.nice(nice)
    with suppress(OSError):
        _lower_session(nice)


def _lower_session(nice: int) -> None:
    for _ in range(_TRIES):
        try:
            _AUTOGROUP.write_text(str(nice))
        except BlockingIOError:
            sleep(_PAUSE_S)  # the kernel accepts one change in 0.1 s, of whichever session
        else:
            return
