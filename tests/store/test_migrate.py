"""The schema when a service starts: created, migrated, or left alone."""

import hashlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from dbos import DBOS
from sqlalchemy import Connection, Engine, func, inspect, select, text

from tests.contexts import AUTHOR, done_here, fresh_settings, opened, settled
from tests.size import SOAK
from traitbench.contract.models import TrainRequest
from traitbench.errors import ModelBusy
from traitbench.operations import models, samples, training
from traitbench.runs.names import engine_url
from traitbench.runs.queue import EngineQueue
from traitbench.settings import Settings
from traitbench.store import migrations
from traitbench.store.database import open_engine, reading, writing
from traitbench.store.migrate import migrate, revisions
from traitbench.store.tables import kept_vectors, metadata


def _differences(engine: Engine) -> list[object]:
    with writing(engine) as connection:
        options = {
            "version_table": "tb_schema",
            "include_object": lambda _item, name, kind, *_: kind != "table" or name.startswith("tb_"),
        }
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


# What the previous release wrote about a model in training, with the columns and values of that time.
_BEFORE = {
    "tb_models": {
        **{"id": 7, "handle": "local.before", "namespace": "local", "description": "", "state": "busy"},
        **{"kind": "scoring", "scoring_method": "balanced_cosine", "max_depth": 1, "versions_made": 0},
        **{"run_id": "run_before", "created_at": 1_790_000_000_000_000, "updated_at": 1_790_000_000_000_000},
    },
    "tb_traits": {
        **{"id": 8, "model_id": 7, "key": "warmth", "name": "Warmth", "description": ""},
        **{"positive_label": "warm", "negative_label": "cold", "aggregation": "mean", "kind": "extrinsic"},
    },
    "tb_runs": {
        **{"id": "run_before", "model_id": 7, "kind": "train", "effort": "low", "status": "queued"},
        **{"attempts": 0, "created_at": 1_790_000_000_000_000},
    },
}


def _revision_before() -> str:
    """The schema revision of the previous release."""
    script = ScriptDirectory(str(Path(migrations.__file__).parent))
    return str(script.get_revision("head").down_revision)


def test_the_names_of_the_files_give_their_revisions_in_order() -> None:
    script = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert [each.revision for each in script.walk_revisions()] == list(reversed(revisions()))


_KEY = "train effort=low reoptimize=false"


def _of_before(settings: Settings, revision: str) -> None:
    """A database as a release with that schema left it, with a training in its queue."""
    engine, url = open_engine(settings.database_url), settings.database_url
    migrate(engine, revision)
    DBOS.migrate(engine_url(url))
    queue = EngineQueue(url)
    with writing(engine) as connection:
        for table, row in _BEFORE.items():
            # The first release had no run keys.
            keyed = table == "tb_runs" and revision != "0001"
            _insert(connection, table, row | ({"run_key": _KEY} if keyed else {}))
        for number, (result, quality) in enumerate((("how kind", 1.0), ("be gone", 0.0))):
            digest = hashlib.sha256(result.encode()).hexdigest()
            row = {"id": number + 1, "model_id": 7, "trait_id": 8, "text": result, "quality": quality}
            _insert(
                connection, "tb_samples", row | {"provenance": "authored", "content_sha256": digest, "created_at": 1}
            )
        queue.enqueue(connection, "run_before", "train", 7)
    queue.close()
    engine.dispose()


def _insert(connection: Connection, table: str, row: Mapping[str, object]) -> None:
    names = list(row)
    connection.execute(
        text(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"), row
    )


@pytest.mark.parametrize("made_as_now", [False, True])
def test_vectors_that_were_kept_are_let_go_of_however_their_table_was_made(tmp_path: Path, made_as_now: bool) -> None:
    with fresh_settings(tmp_path, blank=True) as settings:
        engine = open_engine(settings.database_url)
        migrate(engine, "0003")
        with writing(engine) as connection:
            _insert(connection, "tb_models", _BEFORE["tb_models"] | {"zero_data_retention": False})
            if made_as_now:
                kept_vectors.drop(connection)
                kept_vectors.create(connection)
            else:
                row = {"model_id": 7, "encoder_digest": "d", "mode": "full", "text_hash": b"h"}
                _insert(connection, "tb_kept_vectors", row | {"tokens": 1, "size": 9, "used_at": 1, "vector": b"v"})
        migrate(engine)
        assert _differences(engine) == []
        with writing(engine) as connection:
            assert connection.execute(select(func.count()).select_from(kept_vectors)).scalar_one() == 0
            assert connection.execute(select(func.count()).select_from(metadata.tables["tb_models"])).scalar_one() == 1
        engine.dispose()


@pytest.mark.parametrize("revision", ["0001", _revision_before()])
def test_a_database_of_an_earlier_release_is_brought_up_to_date_and_its_training_goes_on(
    tmp_path: Path, revision: str
) -> None:
    with fresh_settings(tmp_path, blank=True) as settings:
        _of_before(settings, revision)
        with opened(settings, runs=False) as context:
            assert _differences(context.engine) == []
            before = models.get(context, AUTHOR, "local.before")
            assert (before.state, before.zero_data_retention, before.version_retention_policy) == ("busy", False, None)
            met = training.start(context, AUTHOR, "local.before", TrainRequest(effort="low"))[0]
            assert met.run_id == "run_before"
            with pytest.raises(ModelBusy):
                training.start(context, AUTHOR, "local.before", TrainRequest(effort="max"))
        # A worker for the oldest; in full for each of them.
        with_worker = SOAK or revision == "0001"
        with opened(settings, runs=with_worker) as context:
            if not with_worker:
                done_here(context, "run_before")
            after = settled(context, "local.before")
            assert (after.state, after.version_no) == ("ready", 1)
            assert len(samples.list_samples(context, AUTHOR, "local.before").items) == 2


def test_the_migrations_make_exactly_the_tables(engine: Engine) -> None:
    assert _differences(engine) == []


def test_migrating_again_changes_nothing(engine: Engine) -> None:
    before = inspect(engine).get_table_names()
    migrate(engine)
    assert inspect(engine).get_table_names() == before


def test_the_run_engines_tables_lie_beside_ours(tmp_path: Path) -> None:
    with fresh_settings(tmp_path, blank=True) as settings:
        engine = open_engine(settings.database_url)
        with reading(engine):
            pass  # the engine finds the file and does not create it
        DBOS.migrate(engine_url(settings.database_url))
        migrate(engine)
        assert _differences(engine) == []
        assert all(name.startswith("tb_") for name in metadata.tables)
        engine.dispose()


def test_many_services_that_start_at_once_migrate_once(tmp_path: Path) -> None:
    with fresh_settings(tmp_path, blank=True) as settings:
        engines = [open_engine(settings.database_url) for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(migrate, engines))
        assert _differences(engines[0]) == []
        for engine in engines:
            engine.dispose()
