"""Low priority for a process that computes for minutes, so that pages and scores never wait for it."""

import os
from contextlib import suppress
from pathlib import Path
from time import sleep

NICE = 10
"""A process with this value gets about a tenth of a processor that another one wants too."""

# Without this, the worker got half of a processor that a page wanted too. It changes nothing where control groups
# divide the processors: there the operator sets the shares.
_AUTOGROUP = Path("/proc/self/autogroup")
_TRIES, _PAUSE_S = 20, 0.1


def give_way() -> None:
    """Lower the priority of this process and, where Linux groups processes by session, of its session.

    With `sched_autogroup_enabled`, sessions share a processor equally and a nice value counts only within one: see
    sched(7). The session must therefore be the process's own.
    """
    os.nice(NICE)
    with suppress(OSError):
        _lower_session()


def _lower_session() -> None:
    for _ in range(_TRIES):
        try:
            _AUTOGROUP.write_text(str(NICE))
        except BlockingIOError:
            sleep(_PAUSE_S)  # the kernel accepts one change in 0.1 s, of whichever session
        else:
            return
