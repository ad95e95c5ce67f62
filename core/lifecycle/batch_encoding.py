"""How a batch encodes: in turns, on vectors that are kept in memory and in the store, and keeping those it makes."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from time import thread_time

import numpy as np
from sqlalchemy.exc import SQLAlchemyError

from traitbench.encoders import Encoder, Vectors
from traitbench.encoders.lanes import LANES
from traitbench.encoders.lanes import Batch as Turns
from traitbench.lifecycle import rules
from traitbench.lifecycle.bench import Bench
from traitbench.lifecycle.serving import Served, shelf_of
from traitbench.lifecycle.vector_cache import MEBIBYTE, Encoding, hash_of, stacked
from traitbench.scoring.segments import AT_ONCE, Segment, blocks, in_words, mean, mean_of, parts, segments
from traitbench.store import kept_vectors, models
from traitbench.store.engine import reading, writing
from traitbench.store.kept_vectors import Encoded, Hash, Shelf
from traitbench.store.trouble import StoreUnavailable

_MOST_A_TURN = 32
_BLOCK = 128  # texts that the store is asked for at once
_BLOCK_CHARACTERS = 256 * 1024  # of them together, unless it is one text
_AT_ONCE = 512  # vectors that it is given in one transaction
_MOST_STORED = 2_048  # vectors at hand that the store had
_MOST_IN_HAND = 1_024  # vectors that wait for the end of the batch, when nobody waits for a thread any more

_log = logging.getLogger(__name__)


class BatchEncoding(Encoding):
    """The encoding of one batch."""

    def __init__(self, bench: Bench, encoder: Encoder, served: Served, *, mode: str) -> None:
        limit = bench.settings.vector_store_mb * MEBIBYTE
        keeps = limit > 0 or bench.vectors.limit > 0
        shelf = shelf_of(bench, served, encoder, mode) if keeps else None
        super().__init__(encoder, bench.vectors, shelf, mode=mode, since=served.since)
        self._engine, self._limit, self._max_depth = bench.engine, limit, served.snapshot.max_depth
        self._turns, self._each = Turns(), 1.0
        self._lock = Lock()
        self._stored: dict[Hash, Encoded] = {}
        self._of_use: list[Hash] = []
        self._new: dict[Hash, Encoded] = {}
        self._looked = 0 if shelf is not None and limit and self._is_there(shelf) else None

    def fresh(self, pieces: Sequence[str]) -> tuple[Vectors, list[int]]:
        """In turns, each of as many as it has time for."""
        rows, tokens, first = list[Vectors](), list[int](), 0
        while first < len(pieces):
            count = max(1, min(_MOST_A_TURN, int(LANES.turn_seconds() / self._each)))
            some = pieces[first : first + count]
            with LANES.turn(self._turns):
                start = thread_time()
                made, counts = super().fresh(some)
                self._each = (thread_time() - start) / len(some) + 1e-6
            rows.append(made)
            tokens += counts
            first += len(some)
        return rows[0] if len(rows) == 1 else np.concatenate(rows), tokens

    def whole(self, texts: Sequence[str]) -> tuple[Vectors, list[int]]:
        """The vectors of texts, each taken as a whole, and how many tokens they have."""
        keys = [hash_of(text) for text in texts]
        known = [None] * len(texts) if self.shelf is None else self.known(self.shelf, keys)
        missing = {
            key: text for key, text, found in zip(keys, texts, known, strict=True) if found is None or not found.alone
        }
        made = self._embedded(missing) if missing else {}
        told = [
            found if found is not None and found.alone else made[key] for key, found in zip(keys, known, strict=True)
        ]
        tokens = [
            self.tokens(text) if each.tokens is None else each.tokens for text, each in zip(texts, told, strict=True)
        ]
        return stacked(told), tokens

    def known(self, shelf: Shelf, keys: Sequence[Hash]) -> list[Encoded | None]:
        """In memory, or in what the store was asked for."""
        found = super().known(shelf, keys)
        for place, key in enumerate(keys):
            if found[place] is None and (stored := self._stored.get(key)) is not None:
                super().keep(shelf, key, stored)
                found[place] = stored
        return found

    def keep(self, shelf: Shelf, key: Hash, encoded: Encoded) -> None:
        """In memory at once, in the store at the end."""
        super().keep(shelf, key, encoded)
        if self._limit:
            self._new[key] = encoded
            if len(self._new) >= _MOST_IN_HAND:
                self._store(shelf)

    def look_ahead(self, texts: Sequence[str], place: int) -> None:
        """Have at hand what the store has of the block of texts around this place, and of those before."""
        if self._looked is None or self.shelf is None or place < self._looked:
            return
        with self._lock:
            while self._looked is not None and self._looked <= place:
                if len(self._stored) > _MOST_STORED:
                    self._stored = {}  # what a thread still needs of them is in memory, or is made again
                block = _block(texts, self._looked)
                self._looked = self._looked + len(block) if block and self._look(self.shelf, block) else None

    def finish(self) -> None:
        """Store what is left to be stored."""
        if self.shelf is not None and self._limit:
            self._store(self.shelf)

    def _embedded(self, texts: Mapping[Hash, str]) -> dict[Hash, Encoded]:
        """As `embed` does it; a text that is one piece is found as a whole from then on."""
        found = {key: segments(text) for key, text in texts.items()}
        if longer := {key: own for key, own in found.items() if len(own) > AT_ONCE}:
            shorter = {key: text for key, text in texts.items() if key not in longer}
            return self._embedded(shorter) | {key: self._in_blocks(texts[key], own) for key, own in longer.items()}
        pieces = [in_words(text, found[key]) or [""] for key, text in texts.items()]
        alone = {text for text, own in zip(texts.values(), pieces, strict=True) if own == [text]}
        encoded = iter(self.encoded([piece for own in pieces for piece in own], alone=alone))
        made = {}
        for (key, text), own in zip(texts.items(), pieces, strict=True):
            several = [next(encoded) for _ in own]
            if text in alone:
                made[key] = self._alone(key, several[0])
            else:
                made[key] = Encoded(mean(stacked(several)), None)
        return made

    def _in_blocks(self, text: str, found: Sequence[Segment]) -> Encoded:
        """The vector of a long text; those of its segments are never in hand together."""
        return Encoded(mean_of(stacked(self.encoded(in_words(text, some))) for some in blocks(found)), None)

    def _alone(self, key: Hash, encoded: Encoded) -> Encoded:
        """A text that was known as a piece of another is found as a whole from now on."""
        if encoded.alone:
            return encoded
        told = replace(encoded, alone=True)
        if self.shelf is not None:
            super().keep(self.shelf, key, told)
            with self._lock:
                if key in self._new:
                    self._new[key] = told
        return told

    def _is_there(self, shelf: Shelf) -> bool:
        with reading(self._engine) as connection:
            return kept_vectors.some(connection, shelf)

    def _look(self, shelf: Shelf, texts: Sequence[str]) -> bool:
        whole = {hash_of(text): text for text in texts}
        try:
            found = self._read(shelf, whole)
            taken_apart = [text for key, text in whole.items() if key not in found or not found[key].alone]
            self._read(shelf, {hash_of(piece) for text in taken_apart for piece in self._pieces(text)} - whole.keys())
        except (StoreUnavailable, SQLAlchemyError) as error:
            _log.warning("the vectors that are kept could not be read: %s", type(error).__qualname__)
            return False
        return True

    def _read(self, shelf: Shelf, asked: Iterable[Hash]) -> Mapping[Hash, Encoded]:
        """Those in memory, and those of the others that the store has, which are at hand from then on."""
        keys = list(asked)
        known = {key: each for key, each in zip(keys, super().known(shelf, keys), strict=True) if each is not None}
        if missing := [key for key in keys if key not in known]:
            with reading(self._engine) as connection:
                found = kept_vectors.read(connection, shelf, missing)
            self._stored |= found
            self._of_use += found
            known |= found
        return known

    def _pieces(self, text: str) -> list[str]:
        stretches = [text, *(text[part.start : part.end] for part in parts(text, self._max_depth))]
        whole = stretches if self._max_depth > 1 else stretches[:1]
        return [piece for each in whole for piece in in_words(each, segments(each))]

    def _store(self, shelf: Shelf) -> None:
        with self._lock:
            new, self._new = list(self._new.items()), {}
            of_use, self._of_use = self._of_use, []
        try:
            for first in range(0, max(len(new), len(of_use)), _AT_ONCE):
                some = slice(first, first + _AT_ONCE)
                self._write(shelf, dict(new[some]), of_use[some])
        except (StoreUnavailable, SQLAlchemyError) as error:
            # A vector that is not kept is made again: not worth the loss of a line.
            _log.warning("the vectors of a batch were not kept: %s", type(error).__qualname__)

    def _write(self, shelf: Shelf, new: Mapping[Hash, Encoded], of_use: Sequence[Hash]) -> None:
        with writing(self._engine) as connection:
            model = models.hold_by_id(connection, shelf.model_id)
            if model is None or model.zero_data_retention or model.state == "archived":
                return
            now = rules.now()
            kept_vectors.used(connection, shelf, of_use, now=now)
            if new:
                kept_vectors.keep(connection, shelf, new, now=now)
                kept_vectors.trim(connection, self._limit)


def _block(texts: Sequence[str], first: int) -> Sequence[str]:
    """The texts from this place on that the store is asked for at once."""
    length, last = 0, first
    while last < len(texts) and last < first + _BLOCK and (last == first or length < _BLOCK_CHARACTERS):
        length += len(texts[last])
        last += 1
    return texts[first:last]
