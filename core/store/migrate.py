"""The schema is brought up to date at every start, by one process at a time; rows are kept."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, text

from core.store.engine import writing

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 7_261_105


def migrate(engine: Engine, revision: str = "head") -> None:
    """Run what the database lacks, up to a revision; all of it or nothing."""
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        command.upgrade(_config(connection), revision)


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
