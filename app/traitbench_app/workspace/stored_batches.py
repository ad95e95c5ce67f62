"""Batches in the home folder, so that they survive kills and restarts: a folder for each (`traitbench.batch.parts`).

Beside the parts it has the texts and the audits, readable by the owner of the process only. Batches under zero data
retention are never written.
"""

import gzip
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from traitbench.batch import parts
from traitbench.batch.audits import Audit
from traitbench.batch.parts import CannotResume, Parts
from traitbench.client import Traitbench
from traitbench.contract.batches import BatchSettings, ScoredLine
from traitbench.tables.source import restored
from traitbench_app.workspace.batches import Batch

FOLDER = "batches"
"""The folder in the home folder."""

MOST_STORED = 20
"""Batches of one person; the oldest are removed."""

_INPUT, _AUDITS = "input.gz", "audits.json"
_OLD_ENDINGS = ("json.gz", "head.json", "input")
# The id comes from the address of a page and becomes the name of a folder.
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


@dataclass(frozen=True)
class StoredBatch:
    """A batch in the folder; `is_old` if an earlier release wrote it, which this one cannot read."""

    id: str
    handle: str
    owner: str
    service: str
    name: str
    rows: int
    at: datetime
    is_old: bool = False


def begin(folder: Path, batch: Batch, *, service: str) -> None:
    """Write the request and the texts of a batch, and keep its results from here on.

    Raise `OSError` if that fails: the batch then stays in memory only, and nothing of it is left in the folder.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    request = {
        "owner": batch.owner,
        "service": service,
        "asked": asdict(batch.settings),
        "column": batch.column,
        "name": batch.name,
        "keys": list(batch.traits),
        "at": datetime.now(UTC).isoformat(),
    }
    try:
        stored = Parts.create(folder / batch.id, request)
        if batch.source is not None:
            stored.write(_INPUT, gzip.compress(batch.source.saved(), compresslevel=1))
    except OSError:
        remove(folder, batch.id)
        raise
    batch.parts = stored
    for old in listing(folder, owner=batch.owner, service=service)[MOST_STORED:]:
        remove(folder, old.id)


def keep_audits(batch: Batch) -> None:
    """Write the audits of a batch."""
    if batch.parts is not None:
        audits = [{**asdict(audit), "labels": list(audit.decided.items())} for audit in batch.audits.values()]
        batch.parts.write(_AUDITS, json.dumps(audits).encode())


def correct(batch: Batch, row: int, text: str, card: ScoredLine) -> None:
    """Replace the text and the scores of a row, also on disk."""
    if batch.parts is not None:
        batch.parts.correct(row, text, card)
    batch.replace(row, text, card)


def listing(folder: Path, *, owner: str, service: str, handle: str | None = None) -> list[StoredBatch]:
    """Return the batches of a person, the newest first."""
    batches = [
        each
        for each in _all(folder)
        if each.owner == owner and each.service == service and handle in (None, each.handle)
    ]
    return sorted(batches, key=lambda each: each.at, reverse=True)


def load(folder: Path, batch_id: str | None, *, owner: str, service: str, client: Traitbench) -> Batch | None:
    """Return a batch of this owner, or None if it is not there or cannot be read."""
    if not batch_id or not _ID.fullmatch(batch_id):
        return None
    path = folder / batch_id
    try:
        request = parts.request_of(path)
        if request is None or (request["owner"], request["service"]) != (owner, service):
            return None
        return _read(path, request, client)
    # Whatever a damaged folder raises; the page then says that the batch is gone.
    except (OSError, EOFError, ValueError, KeyError, TypeError, IndexError, StopIteration):
        return None


def remove(folder: Path, batch_id: str) -> None:
    """Remove a batch, if it is there."""
    if _ID.fullmatch(batch_id):
        parts.remove(folder / batch_id)
        for ending in _OLD_ENDINGS:
            (folder / f"{batch_id}.{ending}").unlink(missing_ok=True)


def remove_of(folder: Path, handles: Collection[str], *, service: str) -> None:
    """Remove the batches of all people on models of a service."""
    for each in list(_all(folder)):
        if each.service == service and each.handle in handles:
            remove(folder, each.id)


def _read(path: Path, request: parts.Request, client: Traitbench) -> Batch:
    source = restored(gzip.decompress((path / _INPUT).read_bytes()))
    about: Any = {"name": request["name"], "keys": request["keys"], "owner": request["owner"]}
    stored = Parts(path, request)
    batch = Batch(client, BatchSettings(**request["asked"]), source, request["column"], parts=stored, **about)
    batch.id = path.name
    for outcome in stored.outcomes(source.lines()):
        batch.add((outcome,))
    for row, (text, card) in stored.corrections().items():
        batch.replace(row, text, card)
    batch.state = "stopped" if batch.done < batch.total else "done"
    if batch.state == "done":
        batch.source = None
    for audit in json.loads((path / _AUDITS).read_bytes()) if (path / _AUDITS).exists() else ():
        batch.audits[audit["trait"]] = Audit(**{**audit, "labels": dict(audit["labels"])})
    return batch


def _all(folder: Path) -> Iterator[StoredBatch]:
    for path in folder.glob("*"):
        try:
            if path.name.endswith(".head.json"):
                read = json.loads(path.read_text("utf-8"))
                yield StoredBatch(**{**read, "at": datetime.fromisoformat(read["at"])}, is_old=True)
            elif path.is_dir() and (request := parts.request_of(path)):
                names = {name: request[name] for name in ("owner", "service", "name")}
                handle, rows = request["asked"]["handle"].partition("@")[0], Parts(path, request).rows
                yield StoredBatch(path.name, handle, rows=rows, at=datetime.fromisoformat(request["at"]), **names)
        except (OSError, CannotResume, ValueError, KeyError, TypeError):
            continue
