"""A batch that survives kills: a folder with the request as JSON, and the outcomes so far in parts.

A part is a gzipped file of JSON lines, a line for each row. It is written under a temporary name and renamed when it is
on disk, so a kill leaves a whole part or none. The name of a part says which rows it has and how many of them have no
card. A row that is corrected later has a file of its own. The texts are not in the folder.
"""

import fcntl
import gzip
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from traitbench.batch.outcomes import RowOutcome
from traitbench.contract.batches import ScoredLine
from traitbench.errors import LocalError
from traitbench.tables.rows import Line, Row

PART_SECONDS = 0.5
"""Seconds of work in a part, and so the most that a kill costs."""

_MOST_ROWS = 2_000
_REQUEST, _PART, _FIX, _NEW = "request.json", "rows-", "fixed-", ".new"
_DIFFERENT: Mapping[str, str] = {
    "input": "has another input",
    "handle": "was scored by another model or version",
    "version": "was scored by another version",
    "parameters": "was scored by a version that has changed since",
    "traits": "has other traits",
    "mode": "was scored in another mode",
    "column": "takes its texts from another column",
    "fetch": "treats web addresses in another way",
}

Request = Mapping[str, Any]
"""What a batch was asked for, as JSON: model, version, traits, input and whatever else its owner keeps with it."""


class CannotResume(LocalError):
    """The folder is not a batch that can be continued; the message says why and what to do."""


def in_parts(coming: Iterable[RowOutcome]) -> Iterator[list[RowOutcome]]:
    """Yield outcomes in lists of up to half a second; those that came before an error are yielded before it."""
    some, last = list[RowOutcome](), time.monotonic()
    try:
        for outcome in coming:
            some.append(outcome)
            # By time, so that a kill costs as little with a slow encoder as with a quick one.
            if len(some) == _MOST_ROWS or time.monotonic() - last >= PART_SECONDS:
                yield some
                some, last = [], time.monotonic()
    # A generator that is closed must not yield again; its caller wants no more parts.
    except GeneratorExit:
        raise
    except BaseException:
        if some:
            yield some
        raise
    if some:
        yield some


class Parts:
    """The folder of a batch; `rows` are on disk, `bad` of them without a card."""

    def __init__(self, folder: Path, request: Request) -> None:
        self.folder, self.request = folder, request
        self.rows = self.bad = 0
        self._count()

    @classmethod
    def create(cls, folder: Path, request: Request) -> "Parts":
        """Begin a batch; raise `OSError` if the folder cannot be written."""
        folder.mkdir(mode=0o700, exist_ok=True)
        parts = cls(folder, request)
        parts.write(_REQUEST, json.dumps(request).encode())
        return parts

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let no other process append meanwhile; raise `CannotResume` if one does. Half-written files are removed."""
        directory = os.open(self.folder, os.O_RDONLY)
        try:
            # On the folder itself: no file remains to be removed, and the lock ends with the process.
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(directory)
            raise CannotResume(f"Another command is writing {self.folder}. Wait until it ends.") from error
        try:
            # Another process may have appended or been killed since the parts were counted.
            whole = {self._part(*each).name for each in self._count()}
            for path in self.folder.iterdir():
                if path.name.endswith(_NEW) or (path.name.startswith(_PART) and path.name not in whole):
                    path.unlink()
            yield
        finally:
            os.close(directory)

    @classmethod
    def open(cls, folder: Path, wanted: Request) -> "Parts":
        """Open a batch to continue it; raise `CannotResume` unless its request has all that is wanted."""
        request = request_of(folder)
        if request is None:
            raise CannotResume(f"{folder} is not there.")
        refuse_if_other(folder, request, wanted)
        return cls(folder, request)

    def append(self, outcomes: Sequence[RowOutcome]) -> None:
        """Write a part; when this returns, it is on disk."""
        bad = sum(outcome.card is None for outcome in outcomes)
        end = self.rows + len(outcomes)
        lines = "".join(f"{_record(outcome)}\n" for outcome in outcomes)
        content = gzip.compress(lines.encode(), compresslevel=1)
        self.write(self._part(self.rows, end, bad).name, content)
        self.rows, self.bad = end, self.bad + bad

    def correct(self, row: int, text: str, card: ScoredLine) -> None:
        """Replace the text and the card of a row."""
        record = json.dumps({"text": text, "outcome": _record(RowOutcome(0, None, card))})
        self.write(f"{_FIX}{row}", record.encode())

    def outcomes(self, lines: Iterable[Line]) -> Iterator[RowOutcome]:
        """Yield the outcomes with the rows of the input, which are read again from `lines`."""
        rows = enumerate(lines, start=1)
        for part in self._count():
            for record in gzip.decompress(self._part(*part).read_bytes()).splitlines():
                number, row = next(rows)
                yield _outcome(record, row if isinstance(row, Row) else None, number)

    def corrections(self) -> dict[int, tuple[str, ScoredLine]]:
        """Return the new texts and cards of the corrected rows."""
        corrected = {}
        for path in self.folder.glob(f"{_FIX}*[0-9]"):
            read = json.loads(path.read_bytes())
            card = _outcome(read["outcome"].encode()).card
            if card is not None:
                corrected[int(path.name.removeprefix(_FIX))] = (read["text"], card)
        return corrected

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the folder as a whole, or not at all; when this returns, it is on disk."""
        half = self.folder / f"{name}{_NEW}"
        with open(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        half.replace(self.folder / name)
        directory = os.open(self.folder, os.O_RDONLY)
        try:
            # The new name is on disk only with its directory.
            os.fsync(directory)
        finally:
            os.close(directory)

    def _part(self, start: int, end: int, bad: int) -> Path:
        # With zeros, so that the order of names is that of rows.
        return self.folder / f"{_PART}{start:09}-{end:09}-{bad}"

    def _count(self) -> list[tuple[int, int, int]]:
        """Add up the parts that follow each other, and return the first row, the end and the bad rows of each."""
        parts = list[tuple[int, int, int]]()
        self.rows = self.bad = 0
        for path in sorted(self.folder.glob(f"{_PART}*[0-9]")):
            start, end, bad = map(int, path.name.removeprefix(_PART).split("-"))
            # A part after a gap cannot be used: its rows would not be those of the input.
            if start == self.rows:
                parts.append((start, end, bad))
                self.rows, self.bad = end, self.bad + bad
        return parts


def request_of(folder: Path) -> Request | None:
    """Return the request of a batch, or None if nothing was begun; raise `CannotResume` if it is something else."""
    try:
        request = json.loads((folder / _REQUEST).read_bytes())
        if isinstance(request, dict):
            return request
    except FileNotFoundError:
        if not folder.exists() or all(path.name.endswith(_NEW) for path in folder.iterdir()):
            return None
    except (NotADirectoryError, ValueError):
        pass
    if folder.with_name(f"{folder.name}.log").exists():
        raise CannotResume(
            f"{folder} was begun by an earlier release. Finish it with that release, or start again: remove "
            f"{folder.name} and {folder.name}.log."
        )
    raise CannotResume(f"{folder} is not an unfinished batch. Remove it, or choose another output.")


def refuse_if_other(folder: Path, request: Request, wanted: Request) -> None:
    """Raise `CannotResume` unless the request has all that is wanted."""
    for name in (name for name in _DIFFERENT if name in wanted and request.get(name) != wanted[name]):
        was = request.get(name)
        value = f" ({was})" if name in ("handle", "version", "mode", "column") and was else ""
        raise CannotResume(
            f"{folder} {_DIFFERENT[name]}{value}. Repeat the original command, or start again: remove {folder.name}."
        )


def remove(folder: Path) -> None:
    """Remove a batch, the request and the first part last: what a kill leaves can still be continued or removed."""
    with suppress(FileNotFoundError):
        for path in sorted(folder.iterdir(), key=lambda path: (path.name != _REQUEST, path.name), reverse=True):
            path.unlink(missing_ok=True)
        folder.rmdir()


def _record(outcome: RowOutcome) -> str:
    if outcome.card is None:
        return json.dumps({"line": outcome.line, "code": outcome.code, "reason": outcome.reason})
    return f'{{"line": {outcome.line}, "card": {outcome.card.model_dump_json()}}}'


_CARD = b', "card": '


def _outcome(record: bytes, row: Row | None = None, number: int = 0) -> RowOutcome:
    # Split and not parsed as JSON first, because the card would be parsed twice.
    head, card, rest = record.partition(_CARD)
    if card:
        line, scored = int(head.removeprefix(b'{"line": ')), ScoredLine.model_validate_json(rest[:-1])
        return RowOutcome(line, row, scored, number=number)
    read = json.loads(record)
    return RowOutcome(read["line"], row, None, read["code"], read["reason"], number)
