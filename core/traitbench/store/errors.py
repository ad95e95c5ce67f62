"""Errors of the database as one message each: what happened, why, what to do now.

This is the one place where errors of SQLite, PostgreSQL and the file system become messages that a person can act on.
All of them are `StoreUnavailable`, a 503 with `Retry-After`; service, command line and pages show the message
unchanged. Errors that point to a bug (a constraint, a statement) are not translated.
"""

import errno
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from sqlite3 import Error as SqliteError
from time import monotonic

from sqlalchemy.exc import DBAPIError, DisconnectionError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from traitbench.errors import Unavailable

_LOGGED_EVERY_SECONDS = 60.0

_log = logging.getLogger(__name__)
# A command prints the message itself; a process that has set up logging also gets the record.
_log.addHandler(logging.NullHandler())
_logged: dict[str, float] = {}


class StoreUnavailable(Unavailable):
    """The database cannot be used now, and the message says why and what to do."""

    def __init__(self, message: str, *, reason: str, retry_after_s: int = 2) -> None:
        super().__init__(message, details={"reason": reason}, headers={"Retry-After": str(retry_after_s)})
        self.reason = reason


_NOTHING = "Nothing was stored."

# By reason: the message, and the seconds after which a retry makes sense.
_SENTENCES: Mapping[str, tuple[str, int]] = {
    "busy": ("The database is locked by another process. {nothing} Try again in a moment.", 2),
    "away": (
        "The database does not answer. {nothing} Check that it is running and that TRAITBENCH_DATABASE_URL is right,"
        " then try again.",
        5,
    ),
    "refused": (
        "The database rejects the login. {nothing} Check user, password and name in TRAITBENCH_DATABASE_URL.",
        30,
    ),
    "crowded": ("The database accepts no more connections. {nothing} Try again in a moment.", 5),
    "full": ("The disk of the database is full. {nothing} Free some space on it, then try again.", 30),
    "read_only": (
        "The database is read-only. {nothing} Make its file and folder writable for this user, then try again.",
        30,
    ),
    "no_file": (
        "The database file cannot be opened. {nothing} Check that its folder exists and that this user may write to"
        " it.",
        30,
    ),
    "gone": (
        "The database file was removed or replaced while Traitbench was running. {nothing} Put the file back or restart"
        " Traitbench.",
        30,
    ),
    "damaged": (
        "The database file is damaged. {nothing} Restore it from a backup, or move it away to start with an empty one.",
        60,
    ),
    "not_ours": (
        "The database is not a Traitbench database, or tables are missing. {nothing} Restore it from a backup, or set"
        " TRAITBENCH_HOME or TRAITBENCH_DATABASE_URL to another one.",
        60,
    ),
    "older": (
        "The database was written by a Traitbench before 0.2.0, which this one cannot read. {nothing} Open it once with"
        " release 0.2.0, or set TRAITBENCH_HOME to another folder.",
        60,
    ),
    "newer": (
        "The database was written by a newer Traitbench. {nothing} Install that version or a later one, or set"
        " TRAITBENCH_HOME to another folder.",
        60,
    ),
    "disk": ("The disk of the database reports an error. {nothing} Check the disk, then try again.", 30),
    "no_descriptors": (
        "The process has too many open files to reach the database. {nothing} Try again in a moment, or raise the"
        " limit of open files.",
        5,
    ),
    "no_memory": ("There is not enough memory for the database. {nothing} Free memory, then try again.", 10),
}

_SQLITE_REASONS: Mapping[str, str] = {
    "SQLITE_BUSY": "busy",
    "SQLITE_LOCKED": "busy",
    "SQLITE_PROTOCOL": "busy",
    "SQLITE_FULL": "full",
    "SQLITE_READONLY": "read_only",
    "SQLITE_PERM": "read_only",
    "SQLITE_CANTOPEN": "no_file",
    "SQLITE_CORRUPT": "damaged",
    "SQLITE_NOTADB": "damaged",
    "SQLITE_IOERR": "disk",
    "SQLITE_NOMEM": "no_memory",
}
_MISSING_TABLE = "no such table"  # SQLite has no error code for it

# By SQLSTATE, in full or by class. An error without one means that no server answered.
_POSTGRESQL_REASONS: Mapping[str, str] = {
    "53100": "full",
    "53200": "no_memory",
    "53300": "crowded",
    "25006": "read_only",
    "3D000": "refused",
    "42P01": "not_ours",
    "08": "away",
    "28": "refused",
    "40": "busy",
    "55": "busy",
    "57": "away",
    "58": "disk",
    "XX": "damaged",
}

_FILE_REASONS: Mapping[int, str] = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EROFS: "read_only",
    errno.EACCES: "read_only",
    errno.EPERM: "read_only",
    errno.EIO: "disk",
    errno.EMFILE: "no_descriptors",
    errno.ENFILE: "no_descriptors",
    errno.ENOMEM: "no_memory",
}


def unavailable(reason: str, *, nothing: str = _NOTHING) -> StoreUnavailable:
    """The error for a reason; `nothing` is the sentence about what was or was not done."""
    sentence, retry_after_s = _SENTENCES[reason]
    return StoreUnavailable(sentence.format(nothing=nothing), reason=reason, retry_after_s=retry_after_s)


def reason_of(error: BaseException) -> str | None:
    """Why the database cannot be used; None if the error does not say that it cannot."""
    if isinstance(error, PoolTimeout):
        return "crowded"
    if isinstance(error, DisconnectionError):
        return "away"
    if isinstance(error, IntegrityError):
        return None
    if isinstance(error, DBAPIError):
        return None if error.orig is None else reason_of(error.orig)
    if isinstance(error, SqliteError):
        return _sqlite_reason(error)
    if isinstance(error, OSError):
        return _FILE_REASONS.get(error.errno or 0, "no_file")
    return _postgresql_reason(error)


@contextmanager
def translated(*, nothing: str = _NOTHING) -> Iterator[None]:
    """Raise `StoreUnavailable` for errors in the block that mean that the database cannot be used."""
    try:
        yield
    except StoreUnavailable as error:
        _log_reason(error.reason, error)
        raise
    except (SQLAlchemyError, SqliteError) as error:
        reason = reason_of(error)
        if reason is None:
            raise
        _log_reason(reason, error)
        raise unavailable(reason, nothing=nothing) from None


def _log_reason(reason: str, error: BaseException) -> None:
    """Log the reason, at most once a minute; of the error only the type, because its message may hold a statement."""
    now = monotonic()
    if now - _logged.get(reason, -_LOGGED_EVERY_SECONDS) >= _LOGGED_EVERY_SECONDS:
        _logged[reason] = now
        _log.warning("the database cannot be used: %s (%s)", reason, _name(error))


def _sqlite_reason(error: SqliteError) -> str | None:
    name = getattr(error, "sqlite_errorname", None) or ""
    if name == "SQLITE_ERROR" and _MISSING_TABLE in str(error):
        return "not_ours"
    if name == "SQLITE_READONLY_DBMOVED":
        return "gone"
    return _SQLITE_REASONS.get("_".join(name.split("_")[:2]))


def _postgresql_reason(error: BaseException) -> str | None:
    # The driver is imported only if it is used, so its errors are recognised by the names of their classes.
    names = {each.__name__ for each in type(error).__mro__}
    if "DatabaseError" not in names and "InterfaceError" not in names:
        return None
    state = str(getattr(error, "sqlstate", None) or "")
    if not state:
        return _connection_reason(str(error)) if names & {"OperationalError", "InterfaceError"} else None
    return _POSTGRESQL_REASONS.get(state) or _POSTGRESQL_REASONS.get(state[:2])


def _connection_reason(message: str) -> str:
    """The reason in the message of a server that refuses a connection: such an error has no code."""
    words = {"password authentication": "refused", "does not exist": "refused", "pg_hba": "refused"}
    words |= {"too many clients": "crowded", "too many connections": "crowded", "remaining connection": "crowded"}
    return next((reason for part, reason in words.items() if part in message), "away")


def _name(error: BaseException) -> str:
    original = getattr(error, "orig", None) or error
    return str(
        getattr(original, "sqlite_errorname", None) or getattr(original, "sqlstate", None) or type(original).__name__
    )
