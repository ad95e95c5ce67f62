"""How the time of something grows with the length of a text: judged by the time of the processor, not of the clock."""

import gc
from collections.abc import Callable, Iterable
from time import thread_time

LENGTHS, TIMES = (500, 2_000), 4
"""Two lengths to begin with: a function that takes a shortcut for short texts slows down suddenly, but only once."""

_QUICK_SECONDS = 0.0015
_LINEAR_AT_MOST = 2.2
"""What is linear takes four times as long for a text four times as long, and what is quadratic sixteen times."""
_ENOUGH_SECONDS = 0.5
"""Short times are measured again and again, because a busy machine disturbs some of them."""


def grows_too_fast(work: Callable[[str], object], make: Callable[[int], str], lengths: Iterable[int] = LENGTHS) -> bool:
    """Whether the time of `work` grows much faster than the text that `make` gives for a length."""
    return all(_grows_too_fast(work, make(length), make(TIMES * length)) for length in lengths)


def _grows_too_fast(work: Callable[[str], object], short: str, long: str) -> bool:
    # What is quadratic takes several times as long for the longer text, even where little is done for a character.
    if _seconds(work, long, tries=1) <= _QUICK_SECONDS:
        return False
    enough = thread_time() + _ENOUGH_SECONDS
    while _seconds(work, long, tries=3) > _LINEAR_AT_MOST * TIMES * _seconds(work, short, tries=3):
        if thread_time() > enough:
            return True
    return False


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
