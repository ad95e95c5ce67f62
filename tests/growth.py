"""How the time of something grows with the length of a text: judged by the time of the processor, not of the clock."""

import gc
from collections.abc import Callable
from time import thread_time

LENGTH, TIMES = 2_000, 4
"""So long that a function no longer takes a shortcut for short texts, such as one segment for a whole text."""
_QUICK_SECONDS = 0.0015
_LINEAR_AT_MOST = 2.2
"""What is linear takes four times as long for a text four times as long, and what is quadratic sixteen times."""


def grows_too_fast(work: Callable[[str], object], make: Callable[[int], str]) -> bool:
    """Whether the time of `work` grows much faster than the text that `make` gives for a length."""
    short, long = make(LENGTH), make(TIMES * LENGTH)
    # What is quadratic takes several times as long for the longer text, even where little is done for a character.
    return _seconds(work, long, tries=1) > _QUICK_SECONDS and all(
        _seconds(work, long, tries=3) > _LINEAR_AT_MOST * TIMES * _seconds(work, short, tries=3) for _ in range(40)
    )


def _seconds(work: Callable[[str], object], text: str, *, tries: int) -> float:
    def once() -> float:
        # Collections of garbage come with many objects, and take the longer, the more the whole process has.
        gc.disable()
        try:
            start = thread_time()
            work(text)
            return thread_time() - start
        finally:
            gc.enable()

    return min(once() for _ in range(tries))
