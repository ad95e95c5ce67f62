"""How much slower than the reference of `cost` this machine is now.

A probe times a small piece of the work, in one thread at the low priority of the worker. The time on the processor
says how fast the processor is. How long the worker would have to wait for a processor follows from the number of
threads that want one during the probes: over 44 trainings beside up to 20 such threads, that was right within a factor
of two in 43. The waiting time of the probes themselves is a second estimate: it also sees a quota, but it depends on
priorities that the worker does not share.
"""

import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

_PROBE, _PROBE_SECONDS = 192, 0.004
_PROBING_SECONDS, _BETWEEN_SECONDS, _VALID_SECONDS = 0.3, 0.01, 15.0
_OWN_THREADS = 2
_SLOWEST, _FASTEST, _BUSIEST = 20.0, 0.2, 50.0
_NICE = 10


@dataclass(frozen=True)
class Speed:
    """How many times longer than on the reference machine a training takes: at the least, at the most, and likely."""

    least: float
    most: float
    likely: float
    fastest: float
    """Of a processor without any wait."""


def speed(probes: Sequence[tuple[float, float]], queue: float) -> Speed:
    """The speed by probes, each with its seconds on the processor and by the clock.

    `queue` is the number of threads for each processor, with those of a training. The fastest probe says how fast the
    processor is: the first one loads libraries.
    """
    fastest = min(max(min(seconds for seconds, _ in probes) / _PROBE_SECONDS, _FASTEST), _SLOWEST)
    on_processor, by_clock = (sum(times) for times in zip(*probes, strict=True))
    waits = [min(max(each, 1.0), _BUSIEST) for each in (by_clock / max(on_processor, 1e-9), queue)]
    return Speed(fastest * min(waits), fastest * max(waits), fastest * waits[1], fastest)


def speed_now() -> Speed:
    """The speed of this machine; it is measured at most every few seconds."""
    with _lock:
        known = _measured.get("speed")
        if known is None or time.monotonic() - known[0] > _VALID_SECONDS:
            known = _measured["speed"] = (time.monotonic(), _measure())
        return known[1]


_measured: dict[str, tuple[float, Speed]] = {}
_lock = threading.Lock()


def _measure() -> Speed:
    probes: list[tuple[float, float]] = []
    # A thread of its own: a priority that was lowered cannot be raised again.
    thread = threading.Thread(target=_probe, args=(probes,), name="speed")
    thread.start()
    running: list[int] = []
    while thread.is_alive():
        running.append(_running())
        thread.join(_BETWEEN_SECONDS)
    processors = os.cpu_count() or 1
    others = _others(running)
    # Encoding has a thread for each processor, fitting has one.
    return speed(probes, (others + (1 + processors) / 2) / processors)


def _probe(probes: list[tuple[float, float]]) -> None:
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
    square = np.random.default_rng(0).normal(size=(_PROBE, _PROBE))
    symmetric, began = square @ square.T, time.perf_counter()
    with threadpool_limits(limits=1):
        while len(probes) < 2 or time.perf_counter() - began < _PROBING_SECONDS:
            on_processor, by_clock = time.thread_time(), time.perf_counter()
            scipy.linalg.eigh(symmetric, check_finite=False, driver="evd")
            probes.append((time.thread_time() - on_processor, time.perf_counter() - by_clock))


def _others(running: Sequence[int]) -> float:
    """The threads of others that wanted to run, by samples of how many did; the samples count the probe and themselves.

    Where the system does not say, the mean of the last minute.
    """
    seen = [each for each in running if each > 0]
    if seen:
        return max(0.0, sum(seen) / len(seen) - _OWN_THREADS)
    with suppress(AttributeError, OSError):
        return os.getloadavg()[0]
    return 0.0


def _running() -> int:
    """How many threads run or wait for a processor now; 0 if the system does not say."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("procs_running")), 0)
    except (OSError, ValueError, IndexError):
        return 0
