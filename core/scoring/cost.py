"""How long a training will take, said before it starts: an order of magnitude, not a promise.

The constants are seconds on the machine this was written on (two cores, AVX-512). A small piece of the same work is
timed in a process, in one thread as trainings are, and says how much slower or faster this one is.
"""

import time
from collections.abc import Sequence
from functools import cache

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from traitbench.scoring.search import EFFORTS, blocks_searched, labels_heard

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
    """Seconds for traits with so many samples each, of whose texts so many have never been encoded."""
    learning = sum(_trait(effort, samples) for samples in samples_per_trait)
    return _START + _pace() * (_TEXT * to_encode + learning)


def _trait(effort: str, samples: int) -> float:
    levels, labels = EFFORTS[effort].levels, labels_heard(samples)
    blocks = _BLOCKS if blocks_searched(samples) else 0
    candidates = [each for level in levels for each in level.candidates(blocks=blocks, labels=labels)]
    paths = len({candidate.blocks for candidate in candidates})
    weighing = len(candidates) * (_CANDIDATE + _CANDIDATE_SAMPLE * samples)
    decomposing = paths * _DECOMPOSITION * min(samples, _FEATURES) ** 3
    return _TRAIT + _LABELS + weighing + decomposing + _SAMPLE * samples


def pace(probes: Sequence[float]) -> float:
    """How many times as long as there a piece of work takes here, by the seconds of several probes: the quickest says
    it, for the first one loads libraries, and at any of them the machine may have been busy otherwise.
    """
    return min(max(min(probes) / _PROBE_SECONDS, _FASTEST), _SLOWEST)


@cache
def _pace() -> float:
    square = np.random.default_rng(0).normal(size=(_PROBE, _PROBE))
    with threadpool_limits(limits=1):
        return pace([_probe(square @ square.T) for _ in range(_PROBES)])


def _probe(symmetric: NDArray[np.float64]) -> float:
    began = time.perf_counter()
    scipy.linalg.eigh(symmetric, check_finite=False, driver="evd")
    return time.perf_counter() - began
