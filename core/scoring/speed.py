"""How much slower than the reference of `cost` this machine is now.

A probe times a small piece of the work, in one thread at the low priority of the worker. The time on the processor
says how fast the processor is, the time by the clock how long the worker would have to wait for it. A probe is short
and the load of a machine changes, so the length of the queue for the processors is a second estimate.
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

_PROBE, _PROBE_SECONDS, _PROBES = 192, 0.004, 25
_LONGEST_SECONDS, _VALID_SECONDS = 0.5, 15.0
_SLOWEST, _FASTEST, _BUSIEST = 20.0, 0.2, 50.0
_NICE = 10


@dataclass(frozen=True)
class Speed:
    """How many times longer than on the reference machine a training takes: at the least and at the most."""

    least: float
    most: float


def speed(probes: Sequence[tuple[float, float]], queue: float) -> Speed:
    """The speed by probes, each with its seconds on the processor and by the clock.

    `queue` is the number of threads for each processor. The fastest probe says how fast the processor is: the first
    one loads libraries.
    """
    fastest = min(max(min(seconds for seconds, _ in probes) / _PROBE_SECONDS, _FASTEST), _SLOWEST)
    on_processor, by_clock = (sum(times) for times in zip(*probes, strict=True))
    waits = [min(max(each, 1.0), _BUSIEST) for each in (by_clock / max(on_processor, 1e-9), queue)]
    return Speed(fastest * min(waits), fastest * max(waits))


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
    thread.join()
    return speed(probes, _queue())


def _probe(probes: list[tuple[float, float]]) -> None:
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
    square = np.random.default_rng(0).normal(size=(_PROBE, _PROBE))
    symmetric, began = square @ square.T, time.perf_counter()
    with threadpool_limits(limits=1):
        while len(probes) < 2 or (len(probes) < _PROBES and time.perf_counter() - began < _LONGEST_SECONDS):
            on_processor, by_clock = time.thread_time(), time.perf_counter()
            scipy.linalg.eigh(symmetric, check_finite=False, driver="evd")
            probes.append((time.thread_time() - on_processor, time.perf_counter() - by_clock))


def _queue() -> float:
    """Threads that want to run, with ours, for each processor; 1 where the system does not say."""
    try:
        return (os.getloadavg()[0] + 1) / (os.cpu_count() or 1)
    except (AttributeError, OSError):
        return 1.0
