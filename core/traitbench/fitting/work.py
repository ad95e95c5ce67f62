"""The work of each part of a run, in seconds on a processor with nothing else to do, and the progress of a fit in it.

Only the proportions count: `traitbench.runs.progress` measures how long a unit takes here and now.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import Protocol

from threadpoolctl import threadpool_limits

_TEXT, _CHARACTER, _PARALLEL = 2.0e-3, 3.5e-5, 0.8
_LABELS, _WORD = 0.7, 7
_TRAIT, _ROOT_OF_SAMPLES = 0.05, 0.01
_SAVING = 0.1
_DISCOVERING = 0.8
_DISCOVERING_TEXTS: Mapping[str, tuple[float, float]] = {
    "low": (0.8e-3, 0.5e-6),
    "medium": (1.0e-3, 0.8e-6),
    "high": (1.2e-3, 1.2e-6),
    "xhigh": (2.0e-3, 2.2e-6),
    "max": (3.0e-3, 3.6e-6),
}
"""By effort: for each text, and for each pair of texts."""


def reading(lengths: Iterable[int]) -> float:
    """The work of encoding texts of these numbers of characters on all processors."""
    at_once = (os.cpu_count() or 1) ** _PARALLEL
    return float(sum(_TEXT + _CHARACTER * length for length in lengths) / at_once)


def naming(traits: int, words: int) -> float:
    """The work of making the label axes of so many traits, with so many words of the vocabulary still to encode."""
    return _LABELS * traits + reading([_WORD] * words)


def learning(samples: int) -> float:
    """The work of fitting a trait to so many samples: 0.15 for 100, 1 for 10,000. The effort hardly matters."""
    return float(_TRAIT + _ROOT_OF_SAMPLES * samples**0.5)


def discovering(texts: int, effort: str) -> float:
    """The work of finding axes among so many texts; it depends on the texts by a factor of two."""
    linear, quadratic = _DISCOVERING_TEXTS[effort]
    return _DISCOVERING + linear * texts + quadratic * texts**2


def saving() -> float:
    """The work of collecting the samples and writing the version."""
    return _SAVING


_limit, _lock = ExitStack(), Lock()
_fits = 0


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute in one thread: with several, rounding depends on how the work is split, and so would `param_hash`.

    The limit is one of the whole process, so the last of several fits at a time lifts it.
    """
    global _fits
    with _lock:
        if not _fits:
            _limit.enter_context(threadpool_limits(limits=1))
        _fits += 1
    try:
        yield
    finally:
        with _lock:
            _fits -= 1
            if not _fits:
                _limit.close()


class ProgressListener(Protocol):
    """Hears of the progress of a fit; it may raise to stop it."""

    def __call__(self, done: int, total: int, share: float, /) -> None:
        """`done` of `total` traits are fitted; `share` (0 to 1) is the share of all work that is done."""
        ...


class FitProgress:
    """Adds up the work of the traits; `samples` are the numbers of samples of each."""

    def __init__(self, samples: Sequence[int], tell: ProgressListener) -> None:
        self._work, self._tell = [learning(count) for count in samples], tell
        self._traits, self._share = 0, 0.0
        self._report(0.0)

    def part(self, done: int, total: int) -> None:
        """So many of the fits of the present trait are done; they may be more than were expected."""
        self._report(min(1.0, done / max(1, total)))

    def trait_finished(self) -> None:
        """All of the present trait is done."""
        self._traits += 1
        self._report(0.0)

    def _report(self, part: float) -> None:
        done = sum(self._work[: self._traits]) + part * sum(self._work[self._traits : self._traits + 1])
        total = sum(self._work)
        # The number of fits that are expected of a trait may grow.
        self._share = min(1.0, max(self._share, done / total if total > 0 else 1.0))
        self._tell(self._traits, len(self._work), self._share)
