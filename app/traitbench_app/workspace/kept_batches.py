"""Results of batches in the home folder, so that they survive a restart: one compressed JSON file for each batch.

A file is written when a batch begins, from time to time while it runs, when it ends, and when a row or an audit
changes. It is replaced as a whole and readable by its owner only (0600). Beside it lies a copy of the texts until all
of them are scored: a batch that was stopped or killed can be resumed. Batches under zero data retention are never
written.
"""

import contextlib
import gzip
import json
import os
import re
import tempfile
import threading
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from traitbench.batch.audits import Audit
from traitbench.client import Traitbench
from traitbench.contract.asked import Asked
from traitbench.contract.scores import Breaks
from traitbench.tables.source import Source, restored
from traitbench_app.workspace.batches import Restored, Results, TraitColumn

FOLDER = "batches"
"""The folder in the home folder."""

MOST_KEPT = 20
"""Batches of one person; the oldest are removed."""

_FORMAT = 1
_ENDINGS = ("json.gz", "head.json", "input")
_COLUMNS = ("scores", "tiers", "confidences", "reasons")
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_LOCK = threading.Lock()


@dataclass(frozen=True)
class Kept:
    """A batch in the folder."""

    id: str
    handle: str
    owner: str
    service: str
    name: str
    rows: int
    at: datetime


def keep(folder: Path, job: Results, *, service: str) -> None:
    """Write the results so far, with the audits; raise `OSError` if that fails.

    The texts are copied as long as some are not scored.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    copied = folder / f"{job.id}.input"
    if job.state == "done":
        copied.unlink(missing_ok=True)
    elif job.source is not None and not copied.exists():
        _replace(copied, job.source.saved())
    content = json.dumps(_document(job, service), ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )
    with _LOCK:
        _replace(folder / f"{job.id}.json.gz", gzip.compress(content, compresslevel=1))
        _write_head(folder, job, service)
    for old in listing(folder, owner=job.owner, service=service)[MOST_KEPT:]:
        remove(folder, old.id)


def listing(folder: Path, *, owner: str, service: str, handle: str | None = None) -> list[Kept]:
    """Return the batches of a person, the newest first."""
    batches = [
        each
        for each in _heads(folder)
        if each.owner == owner and each.service == service and handle in (None, each.handle)
    ]
    return sorted(batches, key=lambda each: each.at, reverse=True)


def load(
    folder: Path, job_id: str | None, *, owner: str, service: str, client: Traitbench | None = None
) -> Restored | None:
    """Return a batch of this owner, or None if it is not there or cannot be read.

    With a `client`, rows that are missing can be scored as long as their texts are there.
    """
    if not job_id or not _ID.fullmatch(job_id):
        return None
    try:
        read = json.loads(gzip.decompress((folder / f"{job_id}.json.gz").read_bytes()))
        if (read["format"], read["owner"], read["service"]) != (_FORMAT, owner, service):
            return None
        job = _job(read)
        job.client, job.source = client, _source(folder / f"{job_id}.input", job.total)
        return job
    except (OSError, EOFError, ValueError, KeyError, TypeError, IndexError):
        return None


def remove(folder: Path, job_id: str) -> None:
    """Remove a batch, if it is there."""
    if _ID.fullmatch(job_id):
        for ending in _ENDINGS:
            with contextlib.suppress(OSError):
                (folder / f"{job_id}.{ending}").unlink(missing_ok=True)


def remove_of(folder: Path, handle: str) -> None:
    """Remove the batches of all people on a model."""
    for each in list(_heads(folder)):
        if each.handle == handle:
            remove(folder, each.id)


# ---- the files -------------------------------------------------------------------------------------------------------


def _replace(place: Path, content: bytes) -> None:
    """Write a file as a whole, or not at all."""
    handle, temporary = tempfile.mkstemp(dir=place.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(place)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _source(place: Path, total: int) -> Source | None:
    """The texts of a batch that is not complete; None if they are not there or cannot be read."""
    try:
        source = restored(place.read_bytes())
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return source if source.count == total else None


def _write_head(folder: Path, job: Results, service: str) -> None:
    head = {
        "id": job.id,
        "handle": job.handle,
        "owner": job.owner,
        "service": service,
        "name": job.name,
        "rows": job.done,
        "at": datetime.now(UTC).isoformat(),
    }
    place = folder / f"{job.id}.head.json"
    if place.exists():  # a changed row or label does not make a batch newer
        head["at"] = json.loads(place.read_text("utf-8")).get("at", head["at"])
    place.touch(mode=0o600)
    place.write_text(json.dumps(head), "utf-8")


def _heads(folder: Path) -> Iterator[Kept]:
    for place in folder.glob("*.head.json"):
        try:
            read = json.loads(place.read_text("utf-8"))
            yield Kept(**{**read, "at": datetime.fromisoformat(read["at"])})
        except (OSError, ValueError, KeyError, TypeError):
            continue


def _document(job: Results, service: str) -> dict[str, Any]:
    done = job.done
    return {
        "format": _FORMAT,
        "id": job.id,
        "owner": job.owner,
        "service": service,
        "asked": {"handle": job.asked.handle, "traits": _listed(job.asked.traits), "mode": job.asked.mode},
        "column": job.column,
        "columns": list(job.columns),
        "name": job.name,
        "state": job.state if job.state in ("done", "stopped", "failed") else "stopped",
        "total": job.total,
        "seconds": job.seconds,
        "unlike": job.unlike,
        "lines": list(job.lines[:done]),
        "composites": list(job.composites[:done]),
        "confidences": list(job.confidences[:done]),
        "texts": job.texts[:done],
        "reasons": job.reasons[:done],
        "others": job.others[:done],
        "errors": {str(row): error for row, error in job.errors.items()},
        "traits": {key: _trait(column, done) for key, column in job.traits.items()},
        "audits": [{**asdict(audit), "labels": list(audit.decided.items())} for audit in job.audits.values()],
    }


def _listed(traits: Sequence[str] | None) -> list[str] | None:
    return None if traits is None else list(traits)


def _trait(column: TraitColumn, done: int) -> dict[str, Any]:
    breaks = None if column.breaks is None else column.breaks.model_dump()
    return {name: list(getattr(column, name)[:done]) for name in _COLUMNS} | {"breaks": breaks}


def _job(read: dict[str, Any]) -> Restored:
    asked = read["asked"]
    job = Restored(
        Asked(asked["handle"], asked["traits"], asked["mode"]),
        read["column"],
        columns=tuple(read["columns"]),
        name=read["name"],
        keys=tuple(read["traits"]),
        owner=read["owner"],
        total=read["total"],
    )
    job.restore(read["id"], read["state"], read["seconds"])
    job.lines, job.composites = array("q", read["lines"]), array("b", read["composites"])
    job.confidences = array("b", read["confidences"])
    job.texts, job.reasons = read["texts"], read["reasons"]
    job.others = [tuple(cells) for cells in read["others"]]
    job.errors = {int(row): error for row, error in read["errors"].items()}
    job.unlike, job.failed, job.done = read["unlike"], len(job.errors), len(job.lines)
    for key, kept in read["traits"].items():
        for name in _COLUMNS:
            setattr(job.traits[key], name, array("b", kept[name]))
        job.traits[key].breaks = None if kept["breaks"] is None else Breaks.model_validate(kept["breaks"])
    for kept in read["audits"]:
        audit = Audit(**{**kept, "labels": {int(row): label for row, label in kept["labels"]}})
        job.audits[audit.trait] = audit
    return job
