"""The schema at the start of a service: made, brought up to date, left alone."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from dbos import DBOS
from sqlalchemy import Engine, inspect

from core.runs.names import engine_url
from core.store.engine import open_engine, writing
from core.store.migrate import migrate
from core.store.tables import metadata
from tests.benches import fresh_settings


def _differences(engine: Engine) -> list[object]:
    with writing(engine) as connection:
        options = {
            "version_table": "tb_schema",
            "include_object": lambda _item, name, kind, *_: kind != "table" or name.startswith("tb_"),
        }
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


def test_the_migrations_make_exactly_the_tables(engine: Engine) -> None:
    assert _differences(engine) == []


def test_migrating_again_changes_nothing(engine: Engine) -> None:
    before = inspect(engine).get_table_names()
    migrate(engine)
    assert inspect(engine).get_table_names() == before


def test_the_run_engines_tables_lie_beside_ours(tmp_path: Path) -> None:
    with fresh_settings(tmp_path) as settings:
        DBOS.migrate(engine_url(settings.database_url))
        engine = open_engine(settings.database_url)
        migrate(engine)
        assert _differences(engine) == []
        assert all(name.startswith("tb_") for name in metadata.tables)
        engine.dispose()


def test_many_services_that_start_at_once_migrate_once(tmp_path: Path) -> None:
    with fresh_settings(tmp_path) as settings:
        engines = [open_engine(settings.database_url) for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(migrate, engines))
        assert _differences(engines[0]) == []
        for engine in engines:
            engine.dispose()
