"""Backup and restore: one file that holds everything a service needs, made while the service runs.

A backup is one read transaction: it contains everything acknowledged before it began, and nothing half done. A restore
is one write transaction: if it is killed, the database is either unchanged or fully restored. Runs that had not ended
are queued again under their ids, so that a model that is busy in the backup gets its version.

The workbench's own key is not in a backup, because the database holds only hashes. A service that starts on a restored
database in another home issues a new one; all other keys keep working.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from time import monotonic, sleep
from typing import IO
from zipfile import BadZipFile

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from ulid import ULID

from traitbench.operations import rules
from traitbench.runs.queue import EngineQueue, make_tables
from traitbench.settings import Settings
from traitbench.store import backups, migrate, runs
from traitbench.store.backups import BackupRefused, Manifest
from traitbench.store.database import clean, open_engine, reading, sqlite_file, writing

__all__ = ["BackupRefused", "Manifest", "backup", "restore"]

_PATIENCE_SECONDS = 3.0
_CLEAN_SECONDS = 10.0
_LOOK_SECONDS = 0.1


def backup(settings: Settings, path: Path, *, overwrite: bool = False) -> Manifest:
    """Write everything into a new file of mode 0600; raise `BackupRefused` if that cannot be done."""
    if path.exists() and not overwrite:
        raise BackupRefused(f"{path} exists already: choose another name, or add --overwrite.")
    file = sqlite_file(settings.database_url)
    if file is not None and not file.exists():
        raise BackupRefused(f"There is nothing to back up: {file} does not exist.")
    engine = open_engine(settings.database_url)
    try:
        with new_file(settings.home, path) as new:
            with reading(engine) as connection:
                # Rows and not files: a copy of SQLite's file lacks what is still in its log, and `pg_dump` has to match
                # the server. It is slower, but either database can be restored from it.
                manifest = backups.write(connection, new, program=version("traitbench"), now=rules.now())
            new.flush()
            # Verify that the backup can be read back.
            with backups.opened(part_of(path)):
                pass
    except OSError as error:
        raise BackupRefused(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        engine.dispose()
    return manifest


def restore(settings: Settings, path: Path, *, replace: bool = False) -> tuple[Manifest, int]:
    """Restore a backup into an empty database or, with `replace`, over an existing one.

    Returns the manifest and the number of runs that were queued again. Raises `BackupRefused` if the backup cannot be
    restored; nothing has changed then.
    """
    with backups.opened(path) as opened, _without_worker(settings):
        engine = _open_target(settings)
        queue = EngineQueue(settings.database_url)
        try:
            _check_target(engine, replace=replace)
            make_tables(settings.database_url)
            with _or_nothing(), writing(engine) as connection:
                migrate.hold(connection)
                _check_alone(connection)
                _check_empty(connection, replace=replace)
                opened.load(connection)
                queued = _queue_again(connection, queue)
            if replace:
                # The replaced data may hold texts that must be gone for good.
                clean(engine, patience_s=_CLEAN_SECONDS)
        finally:
            queue.close()
            engine.dispose()
    return opened.manifest, queued


# ---- the target ------------------------------------------------------------------------------------------------------


def _open_target(settings: Settings) -> Engine:
    """The database to restore to, its tables unchanged; a SQLite file is created if it is missing."""
    if file := sqlite_file(settings.database_url):
        try:
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise BackupRefused(f"{file} cannot be written: {error.strerror}.") from error
    return open_engine(settings.database_url)


@contextmanager
def _without_worker(settings: Settings) -> Iterator[None]:
    """Hold the worker's lock on a SQLite database, so that no service runs on it, whatever its home folder."""
    file = sqlite_file(settings.database_url)
    if file is None:
        yield
        return
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(f"{file}.worker", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise BackupRefused(f"{file} cannot be written: {error.strerror}.") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BackupRefused(f"Traitbench is running on {file}: stop it, then restore.") from error
        yield
    finally:
        os.close(lock)


def _check_target(engine: Engine, *, replace: bool) -> None:
    with reading(engine) as connection:
        _check_empty(connection, replace=replace)


def _check_empty(connection: Connection, *, replace: bool) -> None:
    if not replace and not backups.is_empty(connection):
        raise BackupRefused("The database is not empty: add --replace to replace everything in it with the backup.")


def _check_alone(connection: Connection) -> None:
    """Raise `BackupRefused` while other processes use the PostgreSQL database.

    Every process of a service keeps connections open. One that starts now waits until the restore is done.
    """
    if connection.dialect.name != "postgresql":
        return
    others = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    end = monotonic() + _PATIENCE_SECONDS
    while count := connection.execute(others).scalar_one():
        if monotonic() > end:
            raise BackupRefused(
                f"The database has {count} other connections: stop every `traitbench`, `serve` and `worker` that"
                " uses it, then restore."
            )
        sleep(_LOOK_SECONDS)
        # Within a transaction PostgreSQL caches its statistics.
        connection.execute(text("SELECT pg_stat_clear_snapshot()"))


@contextmanager
def _or_nothing() -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, ValueError, BadZipFile) as error:
        # Only the first line of the database's message: the others may hold values.
        reason = str(error.orig).partition("\n")[0] if isinstance(error, DBAPIError) else type(error).__name__
        raise BackupRefused(f"Nothing was restored, and nothing changed: {reason}.") from error


def _queue_again(connection: Connection, queue: EngineQueue) -> int:
    """Clear the run engine's tables and queue the runs that had not ended; return their number."""
    queue.forget_all(connection)
    unfinished = runs.live(connection)
    for run in unfinished:
        runs.begin_again(connection, run.id)
        queue.enqueue(connection, run.id, run.kind, run.model_id, automatic=run.requested_by is None)
    return len(unfinished)


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
    # Until the folder is on disk too, a power failure could undo the renaming.
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
