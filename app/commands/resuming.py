"""A file in the making that can be gone on with: `<name>.part`, and beside it `<name>.part.log`.

The log begins with what the file is of (version, traits, input, ...). Then, after every piece that was written, it says
how many rows, bytes and bad rows there are so far. What a killed command had written behind its last line of the log,
half a row perhaps, is cut off and done again: no row is lost, none comes twice. Only what is complete has its name.
"""

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from traitbench.app.commands.asking import Refused
from traitbench.app.text import count

Begun = Mapping[str, Any]
"""What an output is of."""

_DIFFERENT: Mapping[str, str] = {
    "input": "is of another input",
    "handle": "is of another model or version",
    "version": "is of another version",
    "parameters": "is of a version that is no longer what it was",
    "traits": "has other traits",
    "mode": "was scored in another mode",
    "column": "has its texts from another column",
    "form": "is in another format",
}


@dataclass(frozen=True)
class Mark:
    """How far a file is."""

    rows: int
    size: int
    bad: int


class Part:
    """The file, open for writing; nobody else writes it meanwhile."""

    def __init__(self, out: Path, file: IO[bytes], begun: Begun, mark: Mark) -> None:
        self.out, self.begun, self.mark = out, begun, mark
        self.file = file
        self._size = mark.size
        self._log: IO[str] | None = None

    def write(self, some: bytes) -> None:
        """Write on."""
        self.file.write(some)
        self._size += len(some)

    def keep(self, rows: int, bad: int) -> None:
        """Note in the log that there are so many rows now, good and bad."""
        if self._log is None:
            self._log = log_of(self.out).open("a", encoding="utf-8")
        self.file.flush()
        self.mark = Mark(rows, self._size, bad)
        self._log.write(f"{json.dumps([rows, self._size, bad])}\n")
        self._log.flush()

    def close(self) -> None:
        """Leave it as it is, to be gone on with; one that nothing was written to is no use."""
        for file in (self.file, self._log):
            # A full disk refuses the rest of a buffer here again; the log does not vouch for it.
            with suppress(OSError):
                if file is not None:
                    file.close()
        if not self.mark.rows:
            discard(self.out)

    def finish(self, made: Path | None = None) -> None:
        """Give what is complete its name: the part itself or, where that is only kept of it, what was `made` of it."""
        os.fsync(self.file.fileno())
        os.replace(made or part_of(self.out), self.out)
        self.close()
        discard(self.out)


def part_of(out: Path) -> Path:
    """Where the rows of an unfinished batch are."""
    return out.with_name(f"{out.name}.part")


def log_of(out: Path) -> Path:
    """Where it says how far they are."""
    return out.with_name(f"{out.name}.part.log")


def discard(out: Path) -> None:
    """Remove what is left of a batch that is complete, or was never begun."""
    part_of(out).unlink(missing_ok=True)
    log_of(out).unlink(missing_ok=True)


def left_behind(out: Path) -> Begun | None:
    """What an unfinished output is of; None when there is none."""
    lines = _log(out)
    if lines and isinstance(lines[0], dict):
        return lines[0]
    if _size(part_of(out)):
        raise Refused(f"{part_of(out)} is no unfinished batch of this command. Remove it, or write elsewhere.")
    return None


def is_complete(out: Path, total: int) -> Mark | None:
    """How far a batch is whose file has its name already, though the command was killed before it had cleaned up."""
    mark = _mark(out)
    return mark if mark.rows == total and out.exists() and not part_of(out).exists() else None


def begin(out: Path, begun: Begun) -> Part:
    """A new one."""
    part = Part(out, _locked(out), begun, Mark(0, 0, 0))
    _write_log(out, begun)
    return part


def go_on(out: Path, begun: Begun) -> Part:
    """One that was left behind, cut to what its log vouches for."""
    file = _locked(out)
    mark = _mark(out)
    file.truncate(mark.size)
    file.seek(mark.size)
    _write_log(out, begun, [mark.rows, mark.size, mark.bad])
    return Part(out, file, begun, mark)


def refuse_if_other(out: Path, begun: Begun, asked: Begun) -> None:
    """An output is only gone on with by the command that began it."""
    other = [name for name in _DIFFERENT if name in asked and begun.get(name) != asked[name]]
    if other:
        was = begun.get(other[0])
        told = f" ({was})" if other[0] in ("handle", "version", "mode", "column", "form") and was else ""
        raise Refused(
            f"{part_of(out)} {_DIFFERENT[other[0]]}{told}. Give the command as it was at the beginning, "
            f"or begin again: {_remove(out)}"
        )


def refuse_to_overwrite(out: Path) -> None:
    """Hours of work are not thrown away by a forgotten option."""
    raise Refused(
        f"{part_of(out)} holds {count(_mark(out).rows, 'row')} of a batch that was interrupted. Go on with --resume, "
        f"or begin again: {_remove(out)}"
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
        raise Refused(f"Another command is writing {path}. Wait for its end.") from error
    return file


def _log(out: Path) -> list[Any]:
    """The lines of a log up to the first that was not written whole."""
    try:
        text = log_of(out).read_text("utf-8", "replace")
    except FileNotFoundError:
        return []
    found = []
    for line in text.splitlines(keepends=True):
        try:
            if not line.endswith("\n"):
                break
            found.append(json.loads(line))
        except ValueError:
            break
    return found


def _write_log(out: Path, *lines: Any) -> None:
    """A log of these lines alone, whole or not at all."""
    fresh = log_of(out).with_name(f"{out.name}.part.log.new")
    fresh.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    os.replace(fresh, log_of(out))


def _mark(out: Path) -> Mark:
    """The last of which the file is long enough; where the part has its name already, the last."""
    size = _size(part_of(out)) if part_of(out).exists() or not out.exists() else None
    for told in reversed(_log(out)[1:]):
        mark = Mark(*told)
        if size is None or mark.size <= size:
            return mark
    return Mark(0, 0, 0)


def _size(path: Path) -> int:
    """The bytes of a file; none where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
