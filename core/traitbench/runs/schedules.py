"""Periodic tasks of a worker, each in a thread of its own.

A task that fails is tried again after the usual interval. If there are several workers, each of them runs the tasks; a
task checks under a lock what there is to do.
"""

import logging
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
        turn(schedule)
        sleep(schedule.every_s)


def turn(schedule: Schedule) -> None:
    """Run a task once; a failure is logged."""
    try:
        schedule.task()
    except StoreUnavailable:
        return  # logged where it was raised; the next run of the task tries again
    except Exception as error:
        # Without the error's message, which may hold a text.
        frames = "".join(traceback.format_tb(error.__traceback__))
        _log.warning("the task %s failed with %s\n%s", schedule.name, type(error).__name__, frames)
