"""Encode many texts in as many threads as there are processors, and count their tokens.

The calling thread encodes alone if the texts are few, or if it holds a slot (`scheduler`).
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from traitbench.encoders import Vectors
from traitbench.encoders.scheduler import in_slot, processors

_FROM = 8
_AT_ONCE = 32


Counted = tuple[Vectors, list[int]]
Encode = Callable[[Sequence[str]], Counted]


def side_by_side(texts: Sequence[str], encode: Encode, width: int) -> Counted:
    """(n_texts, width) rows and n_texts token counts; equal texts are encoded once. A row must depend on its text
    alone.
    """
    distinct = list(dict.fromkeys(texts))
    rows, counts = _encoded(distinct, encode, width)
    if len(distinct) == len(texts):
        return rows, counts
    index_of = dict(zip(distinct, range(len(distinct)), strict=True))
    indices = [index_of[text] for text in texts]
    return rows[indices], [counts[place] for place in indices]


def _encoded(texts: Sequence[str], encode: Encode, width: int) -> Counted:
    threads = 1 if in_slot() else processors()
    size = _AT_ONCE if threads == 1 else max(1, min(_AT_ONCE, len(texts) // (4 * threads)))
    firsts = range(0, len(texts), size)
    rows, counts = np.empty((len(texts), width), np.float32), [0] * len(texts)

    def fill(first: int) -> None:
        rows[first : first + size], counts[first : first + size] = encode(texts[first : first + size])

    if threads == 1 or len(texts) < _FROM:
        for first in firsts:
            fill(first)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, firsts))
    return rows, counts
