"""The schema is brought up to date at every start, by one process at a time; rows are kept."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from core.store.engine import writing
from core.store.trouble import unavailable

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 7_261_105


def migrate(engine: Engine, revision: str = "head") -> None:
    """Run what the database lacks, up to a revision; all of it or nothing."""
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        config = _config(connection)
        _check_known(connection, config)
        command.upgrade(config, revision)


def _check_known(connection: Connection, config: Config) -> None:
    """Raise `StoreUnavailable` when the database has a schema that this release does not know."""
    context = MigrationContext.configure(connection, opts={"version_table": "tb_schema"})
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if not known.issuperset(context.get_current_heads()):
        raise unavailable("newer", nothing="Nothing was changed.")


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
