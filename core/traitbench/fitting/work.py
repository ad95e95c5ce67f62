"""The work of a training, in seconds on a reference machine: AVX-512, nothing else running.

One table for all forecasts: the time announced before a training, and the share of the work that each step of it is.
The constants were measured with the default encoder. How much slower the machine is now, `speed` says before a training
and `traitbench.runs.progress` during it.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from math import exp
from typing import Any

from traitbench.fitting.search import EFFORTS, Effort, blocks_searched, uses_labels

DIMENSION = 1_219
"""The number of features of the default encoder."""
FIRST = 0.8
"""The work of loading libraries, which the first training with an encoder also does."""

_TEXT, _CHARACTER, _PARALLEL = 2.0e-3, 3.5e-5, 0.8
_LABELS, _WORD = 0.7, 7
_SAVING, _SAVING_SAMPLE = 0.1, 2e-5
_PREPARING, _PREPARING_SAMPLE = 0.002, 1.3e-5
_DIRECTION, _DECOMPOSITION, _DIRECTION_SAMPLE = 8e-4, 1.9e-10, 1.8e-8
_LEVEL, _CANDIDATE, _CANDIDATE_SAMPLE = 0.003, 3e-5, 1e-7
_FIGURES, _FIGURES_OF_FEW, _FIGURES_SAMPLE = 0.02, 0.02, 3e-6
_MODE, _MODE_SAMPLE = 0.004, 2e-6
_RESEMBLANCE_SAMPLE = 3.3e-5
_DISCOVERING = 0.8
_DISCOVERING_TEXTS: Mapping[str, tuple[float, float]] = {
    "low": (0.8e-3, 0.5e-6),
    "medium": (1.0e-3, 0.8e-6),
    "high": (1.2e-3, 1.2e-6),
    "xhigh": (2.0e-3, 2.2e-6),
    "max": (3.0e-3, 3.6e-6),
}
"""By effort: for each text, and for each pair of texts."""
_SINGLE_PRECISION_FROM, _LEAVE_ONE_OUT_FROM, _FEW, _FOLDS = 4_096, 64, 512, 10
_USUALLY_ALIKE, _COMPARED_UP_TO = 2_000, 8_192
_BLOCKS, _MODES = 3, (384, 451)


def reading(lengths: Iterable[int], *, processors: int | None = None) -> float:
    """The work of encoding texts of these numbers of characters, with so many processors (by default, all)."""
    at_once = (processors or os.cpu_count() or 1) ** _PARALLEL
    return float(sum(_TEXT + _CHARACTER * length for length in lengths) / at_once)


def vocabulary(words: int) -> float:
    """The work of encoding so many words of a vocabulary, for the first label axes with an encoder."""
    return reading([_WORD] * words)


def words(traits: int) -> float:
    """The work of making the label axes of so many traits."""
    return _LABELS * traits


def saving(samples: int) -> float:
    """The work of collecting so many samples and of writing the version."""
    return _SAVING + _SAVING_SAMPLE * samples


def discovering(texts: int, effort: str) -> float:
    """The work of finding axes among so many texts; it depends on the texts by a factor of two."""
    linear, quadratic = _DISCOVERING_TEXTS[effort]
    return _DISCOVERING + linear * texts + quadratic * texts**2


def resembling(samples: int) -> float:
    """The work of describing what the texts of a model have in common."""
    return _RESEMBLANCE_SAMPLE * samples


def fitting(
    effort: Effort,
    samples: int,
    *,
    dimension: int = DIMENSION,
    modes: Sequence[int] = _MODES,
    blocks: int = _BLOCKS,
    searched: bool = True,
) -> dict[str, float]:
    """The work of fitting a trait, by step in order; `modes` are the numbers of columns of the encoder's modes.

    Without a search (an intrinsic trait, or settings of an earlier version), one direction is fitted.
    """
    levels = effort.levels if searched else EFFORTS["low"].levels
    tried = blocks if searched and blocks_searched(samples) else 0
    candidates = [level.candidates(blocks=tried, labels=uses_labels(samples)) for level in levels]
    paths = len({candidate.blocks for level in candidates for candidate in level})
    few = _FIGURES_OF_FEW if samples < _FEW else 0.0
    return {
        "preparing": _PREPARING + _PREPARING_SAMPLE * samples,
        "directions": paths * _directions(samples, dimension),
        "levels": sum(_LEVEL + len(level) * (_CANDIDATE + _CANDIDATE_SAMPLE * samples) for level in candidates),
        "figures": _FIGURES + few + _FIGURES_SAMPLE * samples,
        "modes": sum(_MODE + _MODE_SAMPLE * samples + _directions(samples, width) for width in modes),
    }


def _directions(samples: int, dimension: int) -> float:
    """The work of one path of directions and of its held-out values."""
    repeats = 1 + min(_FOLDS, max(1, samples // 2)) * _chance_of_folds(samples)
    precision = 1.0 if samples < _SINGLE_PRECISION_FROM else 0.5
    decomposing = precision * _DECOMPOSITION * min(samples, dimension) ** 3
    return repeats * (_DIRECTION + decomposing + _DIRECTION_SAMPLE * samples * dimension)


def searching(
    effort: str,
    samples_per_trait: Sequence[int],
    *,
    dimension: int = DIMENSION,
    modes: Sequence[int] = _MODES,
    blocks: int = _BLOCKS,
) -> float:
    """The work of a training besides encoding; see `fitting`."""
    samples = sum(samples_per_trait)
    space: Mapping[str, Any] = {"dimension": dimension, "modes": modes, "blocks": blocks}
    fits = sum(sum(fitting(EFFORTS[effort], each, **space).values()) for each in samples_per_trait)
    return fits + words(len(samples_per_trait)) + resembling(samples) + saving(samples)


def _chance_of_folds(samples: int) -> float:
    """The chance that held-out values come from folds: leave-one-out is fair only without near duplicates, and the more
    samples, the more likely two of them are. Of very many samples, near duplicates are not looked for.
    """
    if samples < _LEAVE_ONE_OUT_FROM:
        return 1.0
    return 1 - exp(-((samples / _USUALLY_ALIKE) ** 2)) if samples <= _COMPARED_UP_TO else 0.0
