"""Caches in memory: the vectors of recently scored texts, so that none is encoded twice, and recent snapshots.

The key of a vector is the model that scored the text, the hash of the text, the encoder's digest and the mode. The
least recently used vectors are dropped first. A cached vector is bit for bit the encoder's, so a card does not reveal
whether its text was encoded before. Nothing of a model under zero retention is cached, and `forget` drops a model's
vectors when retention is switched on. A caller that read the model before then has an older `mark`, and its vectors are
ignored.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from threading import Lock

import numpy as np
from cachetools import LRUCache
from sqlalchemy import Connection

from traitbench.encoders import Encoder, Vectors
from traitbench.errors import FeatureUnavailable, UnreadableRow
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid, SnapshotOutdated
from traitbench.store import versions
from traitbench.store.text_vectors import Encoded, Hash, VectorKey

MEBIBYTE = 2**20
_BESIDES = 500  # bytes of an entry besides its vector


def hash_of(text: str) -> Hash:
    """SHA-256 of the text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class _Cached(LRUCache[bytes, Encoded]):
    """Vectors by key, bounded in bytes, and how many each model has."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(limit_bytes, getsizeof=_size)
        self.of_model: Counter[int] = Counter()

    def __setitem__(self, key: bytes, encoded: Encoded) -> None:
        new = key not in self
        super().__setitem__(key, encoded)
        self.of_model[_model_of(key)] += new

    def __delitem__(self, key: bytes) -> None:
        super().__delitem__(key)
        self.of_model[_model_of(key)] -= 1


class VectorCache:
    """A bounded set of vectors; with a limit of 0 it stores none."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit = limit_bytes
        self.hits = 0
        self.misses = 0
        self._cached = _Cached(limit_bytes)
        self._forgotten: dict[int, int] = {}
        self._moment = 0
        self._lock = Lock()

    @property
    def size(self) -> int:
        """Bytes in use."""
        return int(self._cached.currsize)

    def mark(self) -> int:
        """A mark for `put`; take it before reading whether a model may store anything."""
        return self._moment

    def get(self, vector_key: VectorKey, hashes: Sequence[Hash]) -> list[Encoded | None]:
        """The cached vectors, None for those that are missing."""
        before = _before(vector_key)
        keys = [before + digest for digest in hashes]
        with self._lock:
            results = [self._cached.get(key) for key in keys]
            for encoded in results:
                if encoded is not None:
                    self.hits += 1
                else:
                    self.misses += 1
        return results

    def put(self, vector_key: VectorKey, digest: Hash, encoded: Encoded, *, since: int) -> None:
        """Cache a vector, unless its model was forgotten since the mark."""
        key = _before(vector_key) + digest
        if _size(encoded) > self.limit:
            return
        with self._lock:
            if self._forgotten.get(vector_key.model_id, 0) > since:
                return
            self._cached[key] = encoded

    def forget(self, model_id: int) -> None:
        """Drop all vectors of a model, and ignore those that callers with an older mark still put."""
        with self._lock:
            self._moment += 1
            self._forgotten[model_id] = self._moment
            if self._cached.of_model[model_id]:
                for key in [key for key in self._cached if _model_of(key) == model_id]:
                    del self._cached[key]


class CachedEncoding:
    """An encoder in one mode, with the cache in front; without a `vector_key` nothing is looked up or cached."""

    def __init__(
        self, encoder: Encoder, cache: VectorCache, vector_key: VectorKey | None, *, mode: str, since: int
    ) -> None:
        self.vector_key = vector_key
        self._encoder, self._cache, self._mode, self._since = encoder, cache, mode, since

    def encode(self, pieces: Sequence[str]) -> Vectors:
        """Encode pieces, from the cache if possible.

        The result is that of the encoder, because a vector depends on its piece alone.
        """
        if self.vector_key is None:
            return self.fresh(pieces)[0]
        return stacked(self.encoded(pieces))

    def encoded(self, pieces: Sequence[str], *, single_segments: Collection[str] = ()) -> list[Encoded]:
        """Each piece with its token count, cached or new; new ones are marked if they are in `single_segments`."""
        if self.vector_key is None:
            return [Encoded(row, tokens) for row, tokens in zip(*self.fresh(pieces), strict=True)]
        keys = [hash_of(piece) for piece in pieces]
        cached = self.known(self.vector_key, keys)
        new = {key: piece for key, piece, known in zip(keys, pieces, cached, strict=True) if known is None}
        made = self._made(self.vector_key, new, single_segments) if new else {}
        return [known or made[key] for key, known in zip(keys, cached, strict=True)]

    def tokens(self, text: str) -> int:
        """The number of tokens of a text."""
        known = None if self.vector_key is None else self.known(self.vector_key, [hash_of(text)])[0]
        return self._encoder.count_tokens(text) if known is None or known.tokens is None else known.tokens

    def fresh(self, pieces: Sequence[str]) -> tuple[Vectors, list[int]]:
        """Encode pieces without the cache, and count their tokens."""
        return self._encoder.counted(pieces, mode=self._mode)

    def known(self, vector_key: VectorKey, keys: Sequence[Hash]) -> list[Encoded | None]:
        """The cached vectors of pieces, None for those that are missing."""
        return self._cache.get(vector_key, keys)

    def put(self, vector_key: VectorKey, key: Hash, encoded: Encoded) -> None:
        """Cache a new vector."""
        self._cache.put(vector_key, key, encoded, since=self._since)

    def _made(
        self, vector_key: VectorKey, new: Mapping[Hash, str], single_segments: Collection[str]
    ) -> dict[Hash, Encoded]:
        made = {}
        for (key, piece), row, tokens in zip(new.items(), *self.fresh(list(new.values())), strict=True):
            # A copy, because a row would keep the whole array in memory; through bytes, which blocks no other thread.
            vector = np.frombuffer(row.tobytes(), row.dtype)
            made[key] = Encoded(vector, tokens, piece in single_segments)
            self.put(vector_key, key, made[key])
        return made


def stacked(several: Sequence[Encoded]) -> Vectors:
    """(n, d): the vectors as rows."""
    rows = np.frombuffer(bytearray().join([each.vector.data for each in several]), np.float32)
    return rows.reshape(len(several), -1) if several else rows.reshape(0, 0)


def _size(encoded: Encoded) -> int:
    return encoded.vector.nbytes + _BESIDES


def _before(vector_key: VectorKey) -> bytes:
    """The common prefix of all keys of this model, encoder and mode; it starts with the model's id."""
    # The model is part of the key, so that the time of an answer does not reveal what others have scored. The price:
    # two models that score the same text encode it twice.
    return b"%d %s %s " % (vector_key.model_id, vector_key.encoder_digest.encode(), vector_key.mode.encode())


def _model_of(key: bytes) -> int:
    return int(key.partition(b" ")[0])


_MOST = 64


class Snapshots:
    """Snapshots by version id; the least recently used are dropped first."""

    def __init__(self) -> None:
        self._cached: LRUCache[int, Snapshot] = LRUCache(_MOST)
        self.hits = 0
        self.misses = 0
        self._lock = Lock()

    def clear(self) -> None:
        """Drop all snapshots: zero retention has rewritten some of them."""
        with self._lock:
            self._cached.clear()

    def get(self, connection: Connection, version_id: int) -> Snapshot:
        """The snapshot of a version, from the cache or the database."""
        with self._lock:
            if version_id in self._cached:
                self.hits += 1
                return self._cached[version_id]
        self.misses += 1
        try:
            snapshot = Snapshot.from_json(versions.snapshot(connection, version_id))
        except SnapshotOutdated as error:
            raise FeatureUnavailable(str(error)) from None
        except SnapshotInvalid as error:
            raise UnreadableRow(str(error).rstrip("."), thing="The snapshot of the version") from None
        with self._lock:
            self._cached[version_id] = snapshot
        return snapshot
