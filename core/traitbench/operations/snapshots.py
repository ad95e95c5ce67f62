"""A cache of recently used snapshots. A snapshot changes only if zero retention removes words from it."""

from threading import Lock

from cachetools import LRUCache
from sqlalchemy import Connection

from traitbench.errors import FeatureUnavailable, UnreadableRow
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid, SnapshotOutdated
from traitbench.store import versions

_KEPT = 64


class Snapshots:
    """Snapshots by version id; the least recently used are dropped first."""

    def __init__(self) -> None:
        self._kept: LRUCache[int, Snapshot] = LRUCache(_KEPT)
        self.hits = 0
        self.misses = 0
        self._lock = Lock()

    def clear(self) -> None:
        """Drop all snapshots: zero retention has rewritten some of them."""
        with self._lock:
            self._kept.clear()

    def get(self, connection: Connection, version_id: int) -> Snapshot:
        """The snapshot of a version, from the cache or the database."""
        with self._lock:
            if version_id in self._kept:
                self.hits += 1
                return self._kept[version_id]
        self.misses += 1
        try:
            snapshot = Snapshot.from_json(versions.snapshot(connection, version_id))
        except SnapshotOutdated as error:
            raise FeatureUnavailable(str(error)) from None
        except SnapshotInvalid as error:
            raise UnreadableRow(str(error).rstrip("."), thing="The snapshot of the version") from None
        with self._lock:
            self._kept[version_id] = snapshot
        return snapshot
