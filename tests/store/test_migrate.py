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
from sqlalchemy import Connection, Engine, inspect, text

from tests.contexts import AUTHOR, SCORER, draft, fresh_settings, opened, settled, trained_here
from tests.store.of_0_2_0 import make_0_2_0
from traitbench.contract.models import TrainRequest
from traitbench.contract.scores import ScoreRequest
from traitbench.errors import ModelBusy
from traitbench.operations import models, samples, scores, training, versions
from traitbench.operations.context import Context
from traitbench.runs.queue import EngineQueue, engine_url
from traitbench.settings import Settings
from traitbench.store import migrations
from traitbench.store.database import open_engine, reading, writing
from traitbench.store.migrate import migrate, revisions
from traitbench.store.tables import metadata

# An index on an expression is compared on PostgreSQL only: SQLAlchemy cannot read it from SQLite.
pytestmark = pytest.mark.filterwarnings("ignore:.*expression-based index")


def _differences(engine: Engine) -> list[object]:
    with writing(engine) as connection:
        options = {
            "version_table": "tb_schema",
            "include_object": lambda _item, name, kind, *_: kind != "table" or name.startswith("tb_"),
        }
        return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


# What 0.2.0 writes about a model in training.
_BEFORE = {
    "tb_models": {
        **{"id": 7, "handle": "local.before", "namespace": "local", "description": "", "state": "busy"},
        **{"kind": "scoring", "scoring_method": "balanced_cosine", "max_depth": 1, "versions_made": 0},
        **{"run_id": "run_before", "created_at": 1_790_000_000_000_000, "updated_at": 1_790_000_000_000_000},
        **{"zero_data_retention": False},
    },
    "tb_traits": {
        **{"id": 8, "model_id": 7, "key": "warmth", "name": "Warmth", "description": ""},
        **{"positive_label": "warm", "negative_label": "cold", "aggregation": "mean", "kind": "extrinsic"},
    },
    "tb_runs": {
        **{"id": "run_before", "model_id": 7, "kind": "train", "effort": "low", "status": "queued"},
        **{"attempts": 0, "created_at": 1_790_000_000_000_000, "run_key": "train effort=low reoptimize=false"},
    },
}


def test_the_names_of_the_files_give_their_revisions_in_order() -> None:
    script = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert [each.revision for each in script.walk_revisions()] == list(reversed(revisions()))


def _of_0_2_0(settings: Settings) -> None:
    """A database as 0.2.0 left it, with a training in its queue."""
    engine, url = open_engine(settings.database_url), settings.database_url
    migrate(engine)
    make_0_2_0(engine)
    DBOS.migrate(engine_url(url))
    queue = EngineQueue(url)
    with writing(engine) as connection:
        for table, row in _BEFORE.items():
            _insert(connection, table, row)
        for number, (result, quality) in enumerate((("how kind", 1.0), ("be gone", 0.0))):
            digest = hashlib.sha256(result.encode()).hexdigest()
            row = {"id": number + 1, "model_id": 7, "trait_id": 8, "text": result, "quality": quality}
            row |= {"provenance": "authored", "content_sha256": digest, "pending": False, "created_at": 1}
            _insert(connection, "tb_samples", row)
        queue.enqueue(connection, "run_before", "train", 7)
    queue.close()
    engine.dispose()


def _insert(connection: Connection, table: str, row: Mapping[str, object]) -> None:
    names = list(row)
    connection.execute(
        text(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"), row
    )


def test_a_database_of_0_2_0_is_brought_up_to_date_and_its_training_goes_on(tmp_path: Path) -> None:
    with fresh_settings(tmp_path, blank=True) as settings:
        _of_0_2_0(settings)
        with opened(settings, runs=False) as context:
            assert _differences(context.engine) == []
            before = models.get(context, AUTHOR, "local.before")
            assert (before.state, before.zero_data_retention, before.version_retention_policy) == ("busy", False, None)
            met = training.start(context, AUTHOR, "local.before", TrainRequest(effort="low"))[0]
            assert met.run_id == "run_before"
            with pytest.raises(ModelBusy):
                training.start(context, AUTHOR, "local.before", TrainRequest(effort="max"))
        with opened(settings, runs=True) as context:
            after = settled(context, "local.before")
            assert (after.state, after.version_no) == ("ready", 1)
            assert len(samples.list_samples(context, AUTHOR, "local.before").items) == 2


def test_a_database_of_0_2_0_keeps_its_versions_scores_and_archive(tmp_path: Path) -> None:
    with fresh_settings(tmp_path) as settings:
        with opened(settings, runs=False) as context:
            handle, gone = trained_here(context), draft(context, warm=1)
            models.delete(context, AUTHOR, gone)
            archived_at = models.get(context, AUTHOR, gone).archived_at
            expected = _card(context, handle), versions.get(context, AUTHOR, handle, "v1").model_dump_json()
            make_0_2_0(context.engine)
        with opened(settings, runs=False) as context:
            assert (_card(context, handle), versions.get(context, AUTHOR, handle, "v1").model_dump_json()) == expected
            assert models.get(context, AUTHOR, gone).archived_at == archived_at
            assert models.restore(context, AUTHOR, gone).state == "draft"


def _card(context: Context, handle: str) -> str:
    return scores.score(
        context, SCORER, handle, ScoreRequest(content="how kind of you"), request_id="req"
    ).model_dump_json()


def test_a_database_of_a_revision_after_0_2_0_gets_what_it_lacks(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(text("DROP TABLE tb_rejected_texts"))
        connection.execute(text("ALTER TABLE tb_models DROP COLUMN language_model_allowed"))
        connection.execute(text("UPDATE tb_schema SET version_num = '0008'"))
    migrate(engine)
    assert _differences(engine) == []


def test_vectors_of_texts_that_are_now_read_otherwise_are_made_again(engine: Engine) -> None:
    texts = ["Größe, 95 °C", "Gro\u0308ße", "st\xadill", "VERY LOUD", "می\u200cخواهم", "VERY quiet"]
    with writing(engine) as connection:
        for table in ("tb_models", "tb_traits"):
            _insert(connection, table, _BEFORE[table] | ({"run_id": None} if table == "tb_models" else {}))
        for number, sent in enumerate(texts, start=1):
            row = {"id": number, "model_id": 7, "trait_id": 8, "text": sent, "quality": 1.0, "pending": False}
            row |= {"provenance": "authored", "content_sha256": str(number), "created_at": 1}
            _insert(connection, "tb_samples", row)
            _insert(connection, "tb_vectors", {"sample_id": number, "encoder_digest": "e", "vector": b"0000"})
        connection.execute(text("UPDATE tb_schema SET version_num = '0011'"))
    migrate(engine)
    with reading(engine) as connection:
        left = connection.execute(text("SELECT sample_id FROM tb_vectors ORDER BY sample_id")).scalars().all()
    with writing(engine) as connection:  # Other tests have the same database.
        for table, column in (("tb_samples", "model_id"), ("tb_traits", "model_id"), ("tb_models", "id")):
            connection.execute(text(f"DELETE FROM {table} WHERE {column} = 7"))
    assert [texts[number - 1] for number in left] == ["Größe, 95 °C", "می\u200cخواهم", "VERY quiet"]


def test_a_database_before_groups_gets_their_column(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(text('ALTER TABLE tb_samples DROP COLUMN "group"'))
        connection.execute(text("UPDATE tb_schema SET version_num = '0010'"))
    migrate(engine)
    assert _differences(engine) == []


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
