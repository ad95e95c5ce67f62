"""Opening the database. Apart from `context`, because the key commands need neither the encoder nor the run engine."""

import os

from sqlalchemy import Engine

from traitbench.settings import Settings
from traitbench.store.database import check_file, open_engine, sqlite_file
from traitbench.store.errors import StoreUnavailable, reason_of
from traitbench.store.migrate import migrate


def open_store(settings: Settings, *, check_s: float = 0.0) -> Engine:
    """The database with its schema up to date, which is all that the key commands need.

    `check_s` is how many seconds to spend looking for damage in a SQLite file. Raises `StoreUnavailable` if the
    database cannot be used.
    """
    file = sqlite_file(settings.database_url)
    try:
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite gives the files beside it the same mode.
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        where = settings.home if file is None or error.filename is None else error.filename
        raise StoreUnavailable(
            f"{where} cannot be used: {error.strerror}. Make it writable for this user, free some space, or set"
            " TRAITBENCH_HOME or TRAITBENCH_DATABASE_URL to another place.",
            reason=reason_of(error) or "no_file",
        ) from error
    engine = open_engine(settings.database_url)
    if check_s:
        check_file(engine, within_s=check_s)
    migrate(engine)
    return engine
