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

from traitbench.as_read import READING, as_read
from traitbench.contract.samples import text_hash
from traitbench.encoders import Encoder, Vectors
from traitbench.encoders.scheduler import SCHEDULER, BatchQueue, processors
from traitbench.local.samples import AnySample
from traitbench.scoring.segments import embed_as_is

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
    reading: int = READING,
    on_progress: Progress | None = None,
) -> dict[str, Vector]:
    """Return the vector (d,) of each text by its key, such as its hash, as the service computes it.

    Texts that are read the same are encoded once. The listener gets the new vectors of texts that have a sample id in
    `ids`. With `on_progress(done, total)`, texts are encoded as `in_background` does.
    """
    read = {key: as_read(text, reading).text for key, text in texts.items()}
    caches = {text: _key(encoder, text) for text in dict.fromkeys(read.values())}
    with _one_at_a_time:
        vectors = {text: _known[key] for text, key in caches.items() if key in _known}
    keys_of: dict[str, list[str]] = {}
    for key, text in read.items():
        if text not in vectors:
            keys_of.setdefault(text, []).append(key)
    batches = _batches(list(keys_of), _IN_A_SLOT if on_progress else _AT_ONCE)
    encoded = (
        _in_background(encoder, batches) if on_progress else (embed_as_is(encoder.encode, some) for some in batches)
    )
    done = 0
    for some, rows in zip(batches, encoded, strict=True):
        # Copies, because a row would keep the whole array in memory.
        new = {text: row.copy() for text, row in zip(some, rows, strict=True)}
        vectors |= new
        with _one_at_a_time:
            _known.update({caches[text]: row for text, row in new.items()})
        made = ((key, row) for text, row in new.items() for key in keys_of[text])
        if ids and (samples := {ids[key]: (key, row) for key, row in made if key in ids}):
            for listener in _listeners:
                listener(encoder.digest, samples)
        if on_progress:
            done += len(some)
            on_progress(done, len(keys_of))
    return {key: vectors[text] for key, text in read.items()}


def sample_vectors(
    encoder: Encoder, samples: Iterable[AnySample], *, on_progress: Progress | None = None
) -> dict[str, Vector]:
    """Return the vector (d,) of each sample's text by its hash; the listener gets the new ones."""
    by_hash = {each.content_sha256: each for each in samples}
    texts, ids = ({key: getattr(each, name) for key, each in by_hash.items()} for name in ("text", "id"))
    return vectors_of(encoder, texts, ids=ids, on_progress=on_progress)


def unread(encoder: Encoder, texts: Mapping[str, str]) -> set[str]:
    """Return the keys of the texts whose vector is not in memory."""
    caches = {key: _key(encoder, as_read(text).text) for key, text in texts.items()}
    with _one_at_a_time:
        return {key for key, cached in caches.items() if cached not in _known}


def in_background(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """Return the vectors of texts (n_texts, d) without keeping them.

    They are encoded on all processors in small batches, so that interactive requests go first.
    """
    rows = _in_background(encoder, _batches([as_read(text).text for text in texts], _IN_A_SLOT))
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
            return embed_as_is(encoder.encode, some)

    pool = ThreadPoolExecutor(processors(), "reading")
    try:
        yield from pool.map(encoded, batches)
    finally:
        # The page may be left at any moment: what has not begun is not read then.
        pool.shutdown(cancel_futures=True)


def _key(encoder: Encoder, read: str) -> tuple[str, str]:
    return encoder.digest, text_hash(read)


def _batches(items: Sequence[str], size: int) -> list[Sequence[str]]:
    return [items[first : first + size] for first in range(0, len(items), size)]
