"""The vectors of recent texts in memory, so that a search over settings encodes each text once. No text is kept."""

import threading
from collections.abc import Mapping

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from traitbench.encoders import Encoder
from traitbench.scoring.segments import embed

Vector = NDArray[np.float32]

_MOST_BYTES = 64 * 2**20
_AT_ONCE = 64

_known: LRUCache[tuple[str, str], Vector] = LRUCache(_MOST_BYTES, getsizeof=lambda vector: vector.nbytes)
_one_at_a_time = threading.Lock()


def vectors_of(encoder: Encoder, texts: Mapping[str, str]) -> dict[str, Vector]:
    """Return the vector (d,) of each text by its hash, as the service computes it."""
    with _one_at_a_time:
        vectors = {key: _known[encoder.digest, key] for key in texts if (encoder.digest, key) in _known}
    missing = [key for key in texts if key not in vectors]
    for first in range(0, len(missing), _AT_ONCE):
        keys = missing[first : first + _AT_ONCE]
        rows = embed(encoder.encode, [texts[key] for key in keys])
        # Copies, because a row would keep the whole array in memory.
        new = {key: row.copy() for key, row in zip(keys, rows, strict=True)}
        vectors |= new
        with _one_at_a_time:
            _known.update({(encoder.digest, key): row for key, row in new.items()})
    return vectors
