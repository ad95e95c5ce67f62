"""The file of a backup until it is complete: `<name>.part` beside its place, locked by the process that writes it.

A backup that is killed leaves this file behind, in any folder. So the home folder has a note with its path for as long
as a backup runs, and the next start of a service removes files whose writer is gone.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ulid import ULID

from traitbench.store.backups import BackupRefused

_NOTES = "backups"


@contextmanager
def new_file(home: Path, path: Path) -> Iterator[IO[bytes]]:
    """A temporary file that is renamed to the path once it is complete and on disk, and deleted if that fails."""
    part = part_of(path)
    with _noted(home, part), os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "wb") as file:
        if not _lock(file):
            raise BackupRefused(f"Another backup is being written to {path}: wait until it is finished.")
        try:
            # Overwrite what a killed backup may have left.
            os.fchmod(file.fileno(), 0o600)
            file.truncate(0)
            yield file
            file.flush()
            os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            with suppress(FileNotFoundError):
                part.unlink()
            raise
    _sync_folder(path.parent)


def part_of(path: Path) -> Path:
    """The path of the file while it is not complete."""
    return path.with_name(f"{path.name}.part")


def remove_left(home: Path) -> None:
    """Remove the files of backups that were killed; one that a process is writing stays."""
    for note in (home / _NOTES).glob("*"):
        with suppress(OSError, ValueError):
            part = Path(os.fsdecode(note.read_bytes()))
            if part.suffix == ".part" and _remove_unlocked(part):
                note.unlink()


def _remove_unlocked(part: Path) -> bool:
    """Remove a file unless a process has it locked; whether it is gone."""
    try:
        file = os.fdopen(os.open(part, os.O_RDWR | os.O_NOFOLLOW), "rb")
    except FileNotFoundError:
        return True
    with file:
        if not _lock(file):
            return False
        part.unlink()
    return True


@contextmanager
def _noted(home: Path, part: Path) -> Iterator[None]:
    """Keep a note of the file in the home folder. A backup does not fail if that cannot be written."""
    note = home / _NOTES / str(ULID())
    with suppress(OSError):
        note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        note.write_bytes(os.fsencode(part.absolute()))
    try:
        yield
    finally:
        with suppress(OSError):
            note.unlink()


def _lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
