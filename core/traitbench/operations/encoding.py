"""Encoding for batches: in slots of the scheduler, with cached and stored vectors where there are any."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from time import thread_time

import numpy as np
from sqlalchemy.exc import SQLAlchemyError

from traitbench.encoders import Encoder, Vectors
from traitbench.encoders.scheduler import SCHEDULER, BatchQueue
from traitbench.operations import rules
from traitbench.operations.context import Context
from traitbench.operations.serving import Served, vector_key_of
from traitbench.operations.vector_cache import MEBIBYTE, CachedEncoding, hash_of, stacked
from traitbench.scoring.segments import AT_ONCE, Segment, blocks, in_words, mean, mean_of, parts, segments
from traitbench.store import models, text_vectors
from traitbench.store.database import reading, writing
from traitbench.store.errors import StoreUnavailable
from traitbench.store.text_vectors import Encoded, Hash, VectorKey

_MAX_PER_SLOT = 32
_BLOCK = 128  # texts that are looked up at once
_BLOCK_CHARACTERS = 256 * 1024  # their total length, unless it is one text
_AT_ONCE = 512  # vectors per write transaction
_MAX_STORED = 2_048  # vectors from the store that are held in memory
_MAX_UNWRITTEN = 1_024  # new vectors held in memory before they are written; the rest is written at the end

_log = logging.getLogger(__name__)


class BatchEncoding(CachedEncoding):
    """The encoding of one batch."""

    def __init__(self, context: Context, encoder: Encoder, served: Served, *, mode: str) -> None:
        limit = context.settings.vector_store_mb * MEBIBYTE
        keeps = limit > 0 or context.vectors.limit > 0
        vector_key = vector_key_of(context, served, encoder, mode) if keeps else None
        super().__init__(encoder, context.vectors, vector_key, mode=mode, since=served.since)
        self._engine, self._limit, self._max_depth = context.engine, limit, served.snapshot.max_depth
        # A second is far too long, so the first slot takes a single piece and measures it.
        self._queue, self._seconds_per_piece = BatchQueue(), 1.0
        self._lock = Lock()
        self._stored: dict[Hash, Encoded] = {}
        self._used: list[Hash] = []
        self._new: dict[Hash, Encoded] = {}
        self._loaded_to = 0 if vector_key is not None and limit and self._has_stored(vector_key) else None

    def fresh(self, pieces: Sequence[str]) -> tuple[Vectors, list[int]]:
        """Encode now, slot by slot, as many pieces in each as fit its time."""
        rows, tokens, first = list[Vectors](), list[int](), 0
        while first < len(pieces):
            count = max(1, min(_MAX_PER_SLOT, int(SCHEDULER.slot_seconds() / self._seconds_per_piece)))
            some = pieces[first : first + count]
            with SCHEDULER.slot(self._queue):
                # Time of this thread alone: others must not make a piece look slow.
                start = thread_time()
                vectors, counts = super().fresh(some)
                self._seconds_per_piece = (thread_time() - start) / len(some) + 1e-6
            rows.append(vectors)
            tokens += counts
            first += len(some)
        return rows[0] if len(rows) == 1 else np.concatenate(rows), tokens

    def whole(self, texts: Sequence[str]) -> tuple[Vectors, list[int]]:
        """The vectors (n, d) of whole texts, and how many tokens each has."""
        keys = [hash_of(text) for text in texts]
        known = [None] * len(texts) if self.vector_key is None else self.known(self.vector_key, keys)
        missing = {
            key: text
            for key, text, hit in zip(keys, texts, known, strict=True)
            if hit is None or not hit.is_single_segment
        }
        made = self._embedded(missing) if missing else {}
        vectors = [
            hit if hit is not None and hit.is_single_segment else made[key]
            for key, hit in zip(keys, known, strict=True)
        ]
        tokens = [
            self.tokens(text) if each.tokens is None else each.tokens for text, each in zip(texts, vectors, strict=True)
        ]
        return stacked(vectors), tokens

    def known(self, vector_key: VectorKey, keys: Sequence[Hash]) -> list[Encoded | None]:
        """Vectors from the cache, or from those already loaded from the store."""
        vectors = super().known(vector_key, keys)
        for position, key in enumerate(keys):
            if vectors[position] is None and (stored := self._stored.get(key)) is not None:
                super().put(vector_key, key, stored)
                vectors[position] = stored
        return vectors

    def put(self, vector_key: VectorKey, key: Hash, encoded: Encoded) -> None:
        """Cache a vector at once; write it to the store later."""
        super().put(vector_key, key, encoded)
        if self._limit:
            self._new[key] = encoded
            if len(self._new) >= _MAX_UNWRITTEN:
                self._store(vector_key)

    def look_ahead(self, texts: Sequence[str], index: int) -> None:
        """Load the stored vectors of all texts up to the block that contains this index."""
        if self._loaded_to is None or self.vector_key is None or index < self._loaded_to:
            return
        with self._lock:
            while self._loaded_to is not None and self._loaded_to <= index:
                if len(self._stored) > _MAX_STORED:
                    self._stored = {}  # vectors that a thread still needs are in the cache, or are encoded again
                block = _block(texts, self._loaded_to)
                self._loaded_to = self._loaded_to + len(block) if block and self._load(self.vector_key, block) else None

    def finish(self) -> None:
        """Write the remaining vectors to the store."""
        if self.vector_key is not None and self._limit:
            self._store(self.vector_key)

    def _embedded(self, texts: Mapping[Hash, str]) -> dict[Hash, Encoded]:
        """The vectors of texts, as `embed` returns them.

        A text of a single segment is marked, so that its vector is found as that of a whole text.
        """
        segments_of = {key: segments(text) for key, text in texts.items()}
        if longer := {key: own for key, own in segments_of.items() if len(own) > AT_ONCE}:
            shorter = {key: text for key, text in texts.items() if key not in longer}
            return self._embedded(shorter) | {key: self._in_blocks(texts[key], own) for key, own in longer.items()}
        pieces = [in_words(text, segments_of[key]) or [""] for key, text in texts.items()]
        single_segments = {text for text, own in zip(texts.values(), pieces, strict=True) if own == [text]}
        encoded = iter(self.encoded([piece for own in pieces for piece in own], single_segments=single_segments))
        made = {}
        for (key, text), own in zip(texts.items(), pieces, strict=True):
            several = [next(encoded) for _ in own]
            if text in single_segments:
                made[key] = self._mark_single_segment(key, several[0])
            else:
                made[key] = Encoded(mean(stacked(several)), None)
        return made

    def _in_blocks(self, text: str, own: Sequence[Segment]) -> Encoded:
        """The vector of a long text, without holding the vectors of all its segments in memory."""
        return Encoded(mean_of(stacked(self.encoded(in_words(text, some))) for some in blocks(own)), None)

    def _mark_single_segment(self, key: Hash, encoded: Encoded) -> Encoded:
        """Mark the vector of a segment as that of a whole text, so that it is found as such from now on."""
        if encoded.is_single_segment:
            return encoded
        marked = replace(encoded, is_single_segment=True)
        if self.vector_key is not None:
            super().put(self.vector_key, key, marked)
            with self._lock:
                if key in self._new:
                    self._new[key] = marked
        return marked

    def _has_stored(self, vector_key: VectorKey) -> bool:
        with reading(self._engine) as connection:
            return text_vectors.some(connection, vector_key)

    def _load(self, vector_key: VectorKey, texts: Sequence[str]) -> bool:
        whole = {hash_of(text): text for text in texts}
        try:
            stored = self._read(vector_key, whole)
            split = [text for key, text in whole.items() if key not in stored or not stored[key].is_single_segment]
            self._read(vector_key, {hash_of(piece) for text in split for piece in self._pieces(text)} - whole.keys())
        except (StoreUnavailable, SQLAlchemyError) as error:
            _log.warning("the stored vectors could not be read: %s", type(error).__qualname__)
            return False
        return True

    def _read(self, vector_key: VectorKey, asked: Iterable[Hash]) -> Mapping[Hash, Encoded]:
        """Vectors from the cache, and the rest from the store. What comes from the store stays in memory."""
        keys = list(asked)
        known = {key: each for key, each in zip(keys, super().known(vector_key, keys), strict=True) if each is not None}
        if missing := [key for key in keys if key not in known]:
            with reading(self._engine) as connection:
                stored = text_vectors.read(connection, vector_key, missing)
            self._stored |= stored
            self._used += stored
            known |= stored
        return known

    def _pieces(self, text: str) -> list[str]:
        stretches = [text, *(text[part.start : part.end] for part in parts(text, self._max_depth))]
        whole = stretches if self._max_depth > 1 else stretches[:1]
        return [piece for each in whole for piece in in_words(each, segments(each))]

    def _store(self, vector_key: VectorKey) -> None:
        with self._lock:
            new, self._new = list(self._new.items()), {}
            used, self._used = self._used, []
        try:
            for first in range(0, max(len(new), len(used)), _AT_ONCE):
                some = slice(first, first + _AT_ONCE)
                self._write(vector_key, dict(new[some]), used[some])
        except (StoreUnavailable, SQLAlchemyError) as error:
            # If a vector cannot be stored, it is encoded again later; no line should fail because of that.
            _log.warning("the vectors of a batch could not be stored: %s", type(error).__qualname__)

    def _write(self, vector_key: VectorKey, new: Mapping[Hash, Encoded], used: Sequence[Hash]) -> None:
        with writing(self._engine) as connection:
            model = models.hold_by_id(connection, vector_key.model_id)
            # Asked at every write, because the model may have been purged or archived since the batch began.
            if model is None or model.zero_data_retention or model.state == "archived":
                return
            now = rules.now()
            text_vectors.used(connection, vector_key, used, now=now)
            if new:
                text_vectors.store(connection, vector_key, new, now=now)
                text_vectors.trim(connection, self._limit)


def _block(texts: Sequence[str], first: int) -> Sequence[str]:
    """The texts from this index on that are looked up in the store at once."""
    length, last = 0, first
    while last < len(texts) and last < first + _BLOCK and (last == first or length < _BLOCK_CHARACTERS):
        length += len(texts[last])
        last += 1
    return texts[first:last]
