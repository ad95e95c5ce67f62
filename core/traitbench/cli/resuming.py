"""An unfinished output that can be resumed: `<name>.part`, and its log `<name>.part.log`.

The first line of the log describes the output: version, traits, input and so on. Each further line has the rows, bytes
and bad rows so far. To resume, the file is cut to the last line of the log, because a killed command may have left half
a row. So no row is lost or written twice. The output gets its name when it is complete.
"""

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from traitbench.cli.options import Refused
from traitbench.display.text import count

Header = Mapping[str, Any]
"""What an output contains: the first line of its log."""

_DIFFERENT: Mapping[str, str] = {
    "input": "has another input",
    "handle": "was scored by another model or version",
    "version": "was scored by another version",
    "parameters": "was scored by a version that has changed since",
    "traits": "has other traits",
    "mode": "was scored in another mode",
    "column": "takes its texts from another column",
    "form": "is in another format",
    "layout": "has the columns of another release",
}


@dataclass(frozen=True)
class Mark:
    """The rows, bytes and bad rows of a file so far."""

    rows: int
    size: int
    bad: int


class Part:
    """The unfinished file, open for writing and locked."""

    def __init__(self, out: Path, file: IO[bytes], header: Header, mark: Mark) -> None:
        self.out, self.header, self.mark = out, header, mark
        self.file = file
        self._size = mark.size
        self._log: IO[str] | None = None

    def write(self, some: bytes) -> None:
        """Append bytes."""
        self.file.write(some)
        self._size += len(some)

    def keep(self, rows: int, bad: int) -> None:
        """Log the number of rows and bad rows so far."""
        if self._log is None:
            self._log = log_of(self.out).open("a", encoding="utf-8")
        self.file.flush()
        self.mark = Mark(rows, self._size, bad)
        self._log.write(f"{json.dumps([rows, self._size, bad])}\n")
        self._log.flush()

    def close(self) -> None:
        """Close the file, so that it can be resumed; delete it if it has no rows."""
        for file in (self.file, self._log):
            # A full disk may refuse the rest of a buffer again. The log does not count it.
            with suppress(OSError):
                if file is not None:
                    file.close()
        if not self.mark.rows:
            discard(self.out)

    def finish(self, made: Path | None = None) -> None:
        """Rename the complete file to its final name; use `made` instead if the output was made from the part."""
        os.fsync(self.file.fileno())
        os.replace(made or part_of(self.out), self.out)
        self.close()
        discard(self.out)


def part_of(out: Path) -> Path:
    """Return the file with the rows of an unfinished batch."""
    return out.with_name(f"{out.name}.part")


def log_of(out: Path) -> Path:
    """Return the log of an unfinished batch."""
    return out.with_name(f"{out.name}.part.log")


def discard(out: Path) -> None:
    """Remove the part and the log of a batch that is complete or was never started."""
    part_of(out).unlink(missing_ok=True)
    log_of(out).unlink(missing_ok=True)


def left_behind(out: Path) -> Header | None:
    """Return the description of an unfinished output, or None if there is none."""
    lines = _log(out)
    if lines and isinstance(lines[0], dict):
        return lines[0]
    if _size(part_of(out)):
        raise Refused(f"{part_of(out)} is not an unfinished batch. Remove it, or choose another output.")
    return None


def is_complete(out: Path, total: int) -> Mark | None:
    """Return the mark of a batch that was killed after the final rename but before the clean-up, else None."""
    mark = _mark(out)
    return mark if mark.rows == total and out.exists() and not part_of(out).exists() else None


def begin(out: Path, header: Header) -> Part:
    """Create a new part."""
    part = Part(out, _locked(out), header, Mark(0, 0, 0))
    _write_log(out, header)
    return part


def go_on(out: Path, header: Header) -> Part:
    """Open an unfinished part, cut to the last line of its log."""
    file = _locked(out)
    mark = _mark(out)
    file.truncate(mark.size)
    file.seek(mark.size)
    _write_log(out, header, [mark.rows, mark.size, mark.bad])
    return Part(out, file, header, mark)


def refuse_if_other(out: Path, header: Header, asked: Header) -> None:
    """Raise `Refused` unless the command is the one that started the output."""
    other = [name for name in _DIFFERENT if name in asked and header.get(name) != asked[name]]
    if other:
        was = header.get(other[0])
        value = f" ({was})" if other[0] in ("handle", "version", "mode", "column", "form") and was else ""
        raise Refused(
            f"{part_of(out)} {_DIFFERENT[other[0]]}{value}. Repeat the original command, or start again: {_remove(out)}"
        )


def refuse_to_overwrite(out: Path) -> None:
    """Raise `Refused`, so that a forgotten option does not throw away hours of work."""
    raise Refused(
        f"{part_of(out)} holds {count(_mark(out).rows, 'row')} of an interrupted batch. Continue it with --resume, "
        f"or start again: {_remove(out)}"
    )


def _remove(out: Path) -> str:
    return f"remove {part_of(out).name} and {log_of(out).name}."


def _locked(out: Path) -> IO[bytes]:
    path = part_of(out)
    try:
        file = path.open("r+b" if path.exists() else "w+b")
    except OSError as error:
        raise Refused(f"{out} cannot be written: {error.strerror}.") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise Refused(f"Another command is writing {path}. Wait until it ends.") from error
    return file


def _log(out: Path) -> list[Any]:
    """Return the complete lines of a log; the last may be cut off."""
    try:
        text = log_of(out).read_text("utf-8", "replace")
    except FileNotFoundError:
        return []
    entries = []
    for line in text.splitlines(keepends=True):
        try:
            if not line.endswith("\n"):
                break
            entries.append(json.loads(line))
        except ValueError:
            break
    return entries


def _write_log(out: Path, *lines: Any) -> None:
    """Replace the log with these lines, atomically."""
    fresh = log_of(out).with_name(f"{out.name}.part.log.new")
    fresh.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    os.replace(fresh, log_of(out))


def _mark(out: Path) -> Mark:
    """Return the last mark within the size of the file; the very last if the file was already renamed."""
    size = _size(part_of(out)) if part_of(out).exists() or not out.exists() else None
    for entry in reversed(_log(out)[1:]):
        mark = Mark(*entry)
        if size is None or mark.size <= size:
            return mark
    return Mark(0, 0, 0)


def _size(path: Path) -> int:
    """Return the size of a file in bytes; 0 if there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
