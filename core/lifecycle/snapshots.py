"""Snapshots that were scored with lately. They do not change, but where zero retention takes words out of them."""

from threading import Lock

from cachetools import LRUCache
from sqlalchemy import Connection

from traitbench.errors import UnreadableRow
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid
from traitbench.store import versions

_KEPT = 64


class Snapshots:
    """A bounded set of snapshots by version id; the ones used longest ago leave first."""

    def __init__(self) -> None:
        self._kept: LRUCache[int, Snapshot] = LRUCache(_KEPT)
        self.hits = 0
        self.misses = 0
        self._lock = Lock()

    def clear(self) -> None:
        """Forget all of them: some were rewritten, for words that must not be kept."""
        with self._lock:
            self._kept.clear()

    def get(self, connection: Connection, version_id: int) -> Snapshot:
        """The snapshot of a version, read at most once while it is kept."""
        with self._lock:
            if version_id in self._kept:
                self.hits += 1
                return self._kept[version_id]
        self.misses += 1
        try:
            snapshot = Snapshot.from_json(versions.snapshot(connection, version_id))
        except SnapshotInvalid as error:
            raise UnreadableRow(str(error).rstrip("."), thing="The snapshot of the version") from None
        with self._lock:
            self._kept[version_id] = snapshot
        return snapshot
