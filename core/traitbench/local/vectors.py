"""The vectors of recent texts in memory, so that this process encodes a text once. No text is kept.

A listener gets the new vectors of samples. A workbench whose process also runs the service connects one
(`traitbench_app.process.asgi`), so that a training does not encode the texts that a check or a preview has encoded.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from traitbench.encoders import Encoder, Vectors
from traitbench.encoders.scheduler import SCHEDULER, BatchQueue, processors
from traitbench.local.samples import AnySample
from traitbench.scoring.segments import embed

Vector = NDArray[np.float32]
Progress = Callable[[int, int], object]

VectorsById = Mapping[int, tuple[str, Vector]]
"""By sample id: the hash of the text and its vector (d,)."""

Listener = Callable[[str, VectorsById], object]
"""Takes an encoder's digest and the vectors that it made."""

_MOST_BYTES = 96 * 2**20
_AT_ONCE, _IN_A_SLOT = 64, 16

_known: LRUCache[tuple[str, str], Vector] = LRUCache(_MOST_BYTES, getsizeof=lambda vector: vector.nbytes)
_one_at_a_time = threading.Lock()
_listeners: list[Listener] = []


def vectors_of(
    encoder: Encoder,
    texts: Mapping[str, str],
    *,
    ids: Mapping[str, int] | None = None,
    on_progress: Progress | None = None,
) -> dict[str, Vector]:
    """Return the vector (d,) of each text by its hash, as the service computes it.

    The listener gets the new vectors of texts that have a sample id in `ids`. With `on_progress(done, total)`, texts
    are encoded as `in_background` does.
    """
    with _one_at_a_time:
        vectors = {key: _known[encoder.digest, key] for key in texts if (encoder.digest, key) in _known}
    missing = [key for key in texts if key not in vectors]
    batches = _batches(missing, _IN_A_SLOT if on_progress else _AT_ONCE)
    new_texts = [[texts[key] for key in keys] for keys in batches]
    encoded = _in_background(encoder, new_texts) if on_progress else (embed(encoder.encode, some) for some in new_texts)
    done = 0
    for keys, rows in zip(batches, encoded, strict=True):
        # Copies, because a row would keep the whole array in memory.
        new = {key: row.copy() for key, row in zip(keys, rows, strict=True)}
        vectors |= new
        with _one_at_a_time:
            _known.update({(encoder.digest, key): row for key, row in new.items()})
        if samples := {ids[key]: (key, row) for key, row in new.items() if ids and key in ids}:
            for listener in _listeners:
                listener(encoder.digest, samples)
        if on_progress:
            done += len(keys)
            on_progress(done, len(missing))
    return vectors


def sample_vectors(
    encoder: Encoder, samples: Iterable[AnySample], *, on_progress: Progress | None = None
) -> dict[str, Vector]:
    """Return the vector (d,) of each sample's text by its hash; the listener gets the new ones."""
    by_hash = {each.content_sha256: each for each in samples}
    texts, ids = ({key: getattr(each, name) for key, each in by_hash.items()} for name in ("text", "id"))
    return vectors_of(encoder, texts, ids=ids, on_progress=on_progress)


def unread(encoder: Encoder, hashes: Iterable[str]) -> set[str]:
    """Return the hashes of the texts whose vector is not in memory."""
    with _one_at_a_time:
        return {key for key in hashes if (encoder.digest, key) not in _known}


def in_background(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """Return the vectors of texts (n_texts, d) without keeping them.

    They are encoded on all processors in small batches, so that interactive requests go first.
    """
    rows = _in_background(encoder, _batches(texts, _IN_A_SLOT))
    return np.concatenate([np.empty((0, encoder.dimension), np.float32), *rows])


def listen(listener: Listener | None) -> None:
    """Let a listener get all new vectors of samples from now on; nothing gets them if it is None."""
    _listeners[:] = [] if listener is None else [listener]


def forget() -> None:
    """Clear the vectors in memory."""
    with _one_at_a_time:
        _known.clear()


def _in_background(encoder: Encoder, batches: Sequence[Sequence[str]]) -> Iterator[Vectors]:
    queue = BatchQueue()

    def encoded(some: Sequence[str]) -> Vectors:
        with SCHEDULER.slot(queue):
            return embed(encoder.encode, some)

    pool = ThreadPoolExecutor(processors(), "reading")
    try:
        yield from pool.map(encoded, batches)
    finally:
        # The page may be left at any moment: what has not begun is not read then.
        pool.shutdown(cancel_futures=True)


def _batches(items: Sequence[str], size: int) -> list[Sequence[str]]:
    return [items[first : first + size] for first in range(0, len(items), size)]
