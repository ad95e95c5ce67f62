"""How long a training will take, said before it starts: an order of magnitude, not a promise.

The constants are seconds on the machine this was written on (two cores, AVX-512). A small piece of the same work is
timed once in a process and says how much slower or faster this one is.
"""

import time
from collections.abc import Sequence
from functools import cache

import numpy as np
import scipy.linalg

from core.scoring.search import EFFORTS, blocks_searched, labels_heard

_START = 0.2
_TEXT = 0.004
_LABELS = 0.25
_TRAIT = 0.04
_CANDIDATE, _CANDIDATE_SAMPLE = 2e-4, 4e-6
_DECOMPOSITION, _FEATURES = 2e-10, 1_091
_SAMPLE = 1.2e-4
_BLOCKS = 3
_PROBE, _PROBE_SECONDS = 192, 0.004
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


@cache
def _pace() -> float:
    """How many times as long as there a piece of work takes here."""
    square = np.random.default_rng(0).normal(size=(_PROBE, _PROBE))
    began = time.perf_counter()
    scipy.linalg.eigh(square @ square.T, check_finite=False, driver="evd")
    took = time.perf_counter() - began
    return min(max(took / _PROBE_SECONDS, _FASTEST), _SLOWEST)
