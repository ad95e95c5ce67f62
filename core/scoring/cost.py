"""Estimate the duration of a training before it starts: an order of magnitude, not a promise.

The constants are seconds on a reference machine (two cores, AVX-512). Each process times a small piece of the same
work, in one thread as trainings run, and scales the estimate by the result.
"""

import time
from collections.abc import Sequence
from functools import cache

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from traitbench.scoring.search import EFFORTS, blocks_searched, uses_labels

_START = 0.2
_TEXT = 0.004
_LABELS = 0.25
_TRAIT = 0.04
_CANDIDATE, _CANDIDATE_SAMPLE = 2e-4, 4e-6
_DECOMPOSITION, _FEATURES = 2e-10, 1_091
_SAMPLE = 1.2e-4
_BLOCKS = 3
_PROBE, _PROBE_SECONDS, _PROBES = 192, 0.004, 8
_SLOWEST, _FASTEST = 20.0, 0.2


def estimate(effort: str, *, samples_per_trait: Sequence[int], to_encode: int) -> float:
    """Seconds for traits with these numbers of samples, with `to_encode` texts that were never encoded."""
    fitting = sum(_trait(effort, samples) for samples in samples_per_trait)
    return _START + _pace() * (_TEXT * to_encode + fitting)


def _trait(effort: str, samples: int) -> float:
    levels, labels = EFFORTS[effort].levels, uses_labels(samples)
    blocks = _BLOCKS if blocks_searched(samples) else 0
    candidates = [each for level in levels for each in level.candidates(blocks=blocks, labels=labels)]
    paths = len({candidate.blocks for candidate in candidates})
    averaging = len(candidates) * (_CANDIDATE + _CANDIDATE_SAMPLE * samples)
    decomposing = paths * _DECOMPOSITION * min(samples, _FEATURES) ** 3
    return _TRAIT + _LABELS + averaging + decomposing + _SAMPLE * samples


def pace(probes: Sequence[float]) -> float:
    """How many times slower this machine is than the reference, by the seconds of several probes.

    The fastest probe counts: the first one loads libraries, and the machine may be busy during any of them.
    """
    return min(max(min(probes) / _PROBE_SECONDS, _FASTEST), _SLOWEST)


@cache
def _pace() -> float:
    square = np.random.default_rng(0).normal(size=(_PROBE, _PROBE))
    with threadpool_limits(limits=1):
        return pace([_probe(square @ square.T) for _ in range(_PROBES)])


def _probe(symmetric: NDArray[np.float64]) -> float:
    started = time.perf_counter()
    scipy.linalg.eigh(symmetric, check_finite=False, driver="evd")
    return time.perf_counter() - started
