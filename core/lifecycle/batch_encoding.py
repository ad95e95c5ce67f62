"""Encoding for batches: in slots of the scheduler, with cached and stored vectors where there are any."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from time import thread_time

import numpy as np
from sqlalchemy.exc import SQLAlchemyError

from traitbench.encoders import Encoder, Vectors
from traitbench.encoders.lanes import LANES
from traitbench.encoders.lanes import Batch as BatchQueue
from traitbench.lifecycle import rules
from traitbench.lifecycle.bench import Bench
from traitbench.lifecycle.serving import Served, shelf_of
from traitbench.lifecycle.vector_cache import MEBIBYTE, Encoding, hash_of, stacked
from traitbench.scoring.segments import AT_ONCE, Segment, blocks, in_words, mean, mean_of, parts, segments
from traitbench.store import kept_vectors, models
from traitbench.store.engine import reading, writing
from traitbench.store.kept_vectors import Encoded, Hash, Shelf
from traitbench.store.trouble import StoreUnavailable

_MAX_PER_SLOT = 32
_BLOCK = 128  # texts that are looked up at once
_BLOCK_CHARACTERS = 256 * 1024  # their total length, unless it is one text
_AT_ONCE = 512  # vectors per write transaction
_MAX_STORED = 2_048  # vectors from the store that are held in memory
_MAX_UNWRITTEN = 1_024  # new vectors held in memory before they are written; the rest is written at the end

_log = logging.getLogger(__name__)


class BatchEncoding(Encoding):
    """The encoding of one batch."""

    def __init__(self, bench: Bench, encoder: Encoder, served: Served, *, mode: str) -> None:
        limit = bench.settings.vector_store_mb * MEBIBYTE
        keeps = limit > 0 or bench.vectors.limit > 0
        shelf = shelf_of(bench, served, encoder, mode) if keeps else None
        super().__init__(encoder, bench.vectors, shelf, mode=mode, since=served.since)
        self._engine, self._limit, self._max_depth = bench.engine, limit, served.snapshot.max_depth
        self._queue, self._seconds_per_piece = BatchQueue(), 1.0
        self._lock = Lock()
        self._stored: dict[Hash, Encoded] = {}
        self._used: list[Hash] = []
        self._new: dict[Hash, Encoded] = {}
        self._loaded_to = 0 if shelf is not None and limit and self._has_stored(shelf) else None

    def fresh(self, pieces: Sequence[str]) -> tuple[Vectors, list[int]]:
        """Encode now, slot by slot, as many pieces in each as fit its time."""
        rows, tokens, first = list[Vectors](), list[int](), 0
        while first < len(pieces):
            count = max(1, min(_MAX_PER_SLOT, int(LANES.turn_seconds() / self._seconds_per_piece)))
            some = pieces[first : first + count]
            with LANES.turn(self._queue):
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
        known = [None] * len(texts) if self.shelf is None else self.known(self.shelf, keys)
        missing = {key: text for key, text, hit in zip(keys, texts, known, strict=True) if hit is None or not hit.alone}
        made = self._embedded(missing) if missing else {}
        vectors = [hit if hit is not None and hit.alone else made[key] for key, hit in zip(keys, known, strict=True)]
        tokens = [
            self.tokens(text) if each.tokens is None else each.tokens for text, each in zip(texts, vectors, strict=True)
        ]
        return stacked(vectors), tokens

    def known(self, shelf: Shelf, keys: Sequence[Hash]) -> list[Encoded | None]:
        """Vectors from the cache, or from those already loaded from the store."""
        vectors = super().known(shelf, keys)
        for place, key in enumerate(keys):
            if vectors[place] is None and (stored := self._stored.get(key)) is not None:
                super().keep(shelf, key, stored)
                vectors[place] = stored
        return vectors

    def keep(self, shelf: Shelf, key: Hash, encoded: Encoded) -> None:
        """Cache a vector at once; write it to the store later."""
        super().keep(shelf, key, encoded)
        if self._limit:
            self._new[key] = encoded
            if len(self._new) >= _MAX_UNWRITTEN:
                self._store(shelf)

    def look_ahead(self, texts: Sequence[str], index: int) -> None:
        """Load the stored vectors of all texts up to the block that contains this index."""
        if self._loaded_to is None or self.shelf is None or index < self._loaded_to:
            return
        with self._lock:
            while self._loaded_to is not None and self._loaded_to <= index:
                if len(self._stored) > _MAX_STORED:
                    self._stored = {}  # what a thread still needs is in the cache, or is encoded again
                block = _block(texts, self._loaded_to)
                self._loaded_to = self._loaded_to + len(block) if block and self._load(self.shelf, block) else None

    def finish(self) -> None:
        """Write the remaining vectors to the store."""
        if self.shelf is not None and self._limit:
            self._store(self.shelf)

    def _embedded(self, texts: Mapping[Hash, str]) -> dict[Hash, Encoded]:
        """As `embed`. A text of a single segment is marked, so that its vector is found as that of a whole text."""
        segments_of = {key: segments(text) for key, text in texts.items()}
        if longer := {key: own for key, own in segments_of.items() if len(own) > AT_ONCE}:
            shorter = {key: text for key, text in texts.items() if key not in longer}
            return self._embedded(shorter) | {key: self._in_blocks(texts[key], own) for key, own in longer.items()}
        pieces = [in_words(text, segments_of[key]) or [""] for key, text in texts.items()]
        alone = {text for text, own in zip(texts.values(), pieces, strict=True) if own == [text]}
        encoded = iter(self.encoded([piece for own in pieces for piece in own], alone=alone))
        made = {}
        for (key, text), own in zip(texts.items(), pieces, strict=True):
            several = [next(encoded) for _ in own]
            if text in alone:
                made[key] = self._mark_single_segment(key, several[0])
            else:
                made[key] = Encoded(mean(stacked(several)), None)
        return made

    def _in_blocks(self, text: str, own: Sequence[Segment]) -> Encoded:
        """The vector of a long text, without holding the vectors of all its segments in memory."""
        return Encoded(mean_of(stacked(self.encoded(in_words(text, some))) for some in blocks(own)), None)

    def _mark_single_segment(self, key: Hash, encoded: Encoded) -> Encoded:
        """Mark the vector of a segment as that of a whole text, so that it is found as such from now on."""
        if encoded.alone:
            return encoded
        marked = replace(encoded, alone=True)
        if self.shelf is not None:
            super().keep(self.shelf, key, marked)
            with self._lock:
                if key in self._new:
                    self._new[key] = marked
        return marked

    def _has_stored(self, shelf: Shelf) -> bool:
        with reading(self._engine) as connection:
            return kept_vectors.some(connection, shelf)

    def _load(self, shelf: Shelf, texts: Sequence[str]) -> bool:
        whole = {hash_of(text): text for text in texts}
        try:
            stored = self._read(shelf, whole)
            split = [text for key, text in whole.items() if key not in stored or not stored[key].alone]
            self._read(shelf, {hash_of(piece) for text in split for piece in self._pieces(text)} - whole.keys())
        except (StoreUnavailable, SQLAlchemyError) as error:
            _log.warning("the stored vectors could not be read: %s", type(error).__qualname__)
            return False
        return True

    def _read(self, shelf: Shelf, asked: Iterable[Hash]) -> Mapping[Hash, Encoded]:
        """Vectors from the cache, and the rest from the store. What comes from the store stays in memory."""
        keys = list(asked)
        known = {key: each for key, each in zip(keys, super().known(shelf, keys), strict=True) if each is not None}
        if missing := [key for key in keys if key not in known]:
            with reading(self._engine) as connection:
                stored = kept_vectors.read(connection, shelf, missing)
            self._stored |= stored
            self._used += stored
            known |= stored
        return known

    def _pieces(self, text: str) -> list[str]:
        stretches = [text, *(text[part.start : part.end] for part in parts(text, self._max_depth))]
        whole = stretches if self._max_depth > 1 else stretches[:1]
        return [piece for each in whole for piece in in_words(each, segments(each))]

    def _store(self, shelf: Shelf) -> None:
        with self._lock:
            new, self._new = list(self._new.items()), {}
            used, self._used = self._used, []
        try:
            for first in range(0, max(len(new), len(used)), _AT_ONCE):
                some = slice(first, first + _AT_ONCE)
                self._write(shelf, dict(new[some]), used[some])
        except (StoreUnavailable, SQLAlchemyError) as error:
            # A vector that is not stored is encoded again; that is not worth losing a line.
            _log.warning("the vectors of a batch could not be stored: %s", type(error).__qualname__)

    def _write(self, shelf: Shelf, new: Mapping[Hash, Encoded], used: Sequence[Hash]) -> None:
        with writing(self._engine) as connection:
            model = models.hold_by_id(connection, shelf.model_id)
            if model is None or model.zero_data_retention or model.state == "archived":
                return
            now = rules.now()
            kept_vectors.used(connection, shelf, used, now=now)
            if new:
                kept_vectors.keep(connection, shelf, new, now=now)
                kept_vectors.trim(connection, self._limit)


def _block(texts: Sequence[str], first: int) -> Sequence[str]:
    """The texts from this index on that are looked up in the store at once."""
    length, last = 0, first
    while last < len(texts) and last < first + _BLOCK and (last == first or length < _BLOCK_CHARACTERS):
        length += len(texts[last])
        last += 1
    return texts[first:last]
