"""Transactions on both databases: nothing is lost under many writers, and a reader sees one consistent state."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete, select, text, update
from sqlalchemy.exc import DBAPIError

from tests.store.conftest import new_model
from traitbench.store import models, tables, workers
from traitbench.store.database import database_now, open_engine, reading, sqlite_file, writing

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def test_read_then_write_loses_nothing_when_eight_threads_do_it(engine: Engine) -> None:
    model_id = new_model(engine, now=NOW)

    def deepen(_: int) -> None:
        with writing(engine) as connection:
            model = models.hold_by_id(connection, model_id)
            assert model is not None
            models.change(connection, model_id, now=NOW, max_depth=model.max_depth + 1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(deepen, range(200)))
    with reading(engine) as connection:
        model = models.find_by_id(connection, model_id)
    assert model is not None
    assert model.max_depth == 201


def test_version_numbers_are_counted_without_gap_or_repeat(engine: Engine) -> None:
    model_id = new_model(engine, now=NOW)

    def number(_: int) -> int:
        with writing(engine) as connection:
            return models.next_version_no(connection, model_id)

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(number, range(100))) == list(range(1, 101))


def test_a_reader_sees_one_moment_while_another_writes(engine: Engine) -> None:
    model_id = new_model(engine, now=NOW)
    with reading(engine) as reader:
        before = models.find_by_id(reader, model_id)
        with writing(engine) as writer:
            models.change(writer, model_id, now=NOW, max_depth=3)
        assert models.find_by_id(reader, model_id) == before


def test_what_raises_leaves_nothing_behind(engine: Engine) -> None:
    model_id = new_model(engine, now=NOW)

    def change_and_fail() -> None:
        with writing(engine) as connection:
            models.change(connection, model_id, now=NOW, max_depth=3)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        change_and_fail()
    with reading(engine) as connection:
        model = models.find_by_id(connection, model_id)
    assert model is not None
    assert model.max_depth == 1


def test_a_model_is_moved_only_from_the_state_it_was_seen_in(engine: Engine) -> None:
    model_id = new_model(engine, now=NOW)
    with writing(engine) as connection:
        seen = models.hold_by_id(connection, model_id)
        assert seen is not None
        assert models.move(connection, seen, "busy", now=NOW)
        assert not models.move(connection, seen, "archived", now=NOW)


def test_times_come_back_to_the_microsecond_and_with_their_zone(engine: Engine) -> None:
    model_id = new_model(engine, now=NOW)
    with reading(engine) as connection:
        made = connection.execute(select(tables.models.c.created_at).where(tables.models.c.id == model_id)).scalar_one()
    assert made == NOW
    assert made.tzinfo is UTC


def test_errors_of_the_database_do_not_carry_parameters(engine: Engine) -> None:
    with pytest.raises(DBAPIError) as caught, reading(engine) as connection:
        connection.execute(text("SELECT nothing FROM tb_models WHERE handle = :text"), {"text": "a very private text"})
    assert "private" not in str(caught.value)


def test_the_databases_clock_agrees_with_ours(engine: Engine) -> None:
    with reading(engine) as connection:
        now = connection.execute(select(database_now(connection.dialect))).scalar_one()
    assert abs(now / 1_000_000 - datetime.now(UTC).timestamp()) < 60


def test_sqlite_is_opened_with_the_settings_that_were_measured(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'a.db'}")
    with reading(engine) as connection:
        values = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout")
        }
    engine.dispose()
    assert values == {
        "journal_mode": "wal",
        "synchronous": 1,
        "foreign_keys": 1,
        "secure_delete": 1,
        "busy_timeout": 10_000,
    }


def test_only_sqlite_has_a_file() -> None:
    assert sqlite_file("sqlite:////tmp/a.db") == Path("/tmp/a.db")
    assert sqlite_file("postgresql://localhost/a") is None


def test_a_test_is_on_the_database_it_names(engine: Engine, database: str) -> None:
    assert engine.dialect.name == database


def test_a_worker_is_buried_once_and_not_before_its_time(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(delete(tables.workers))
        workers.enter(connection, "one")
        workers.enter(connection, "two")
        workers.leave(connection, "two")
    with writing(engine) as connection:
        assert workers.expire(connection, after_seconds=30) == ["two"]
        assert workers.expire(connection, after_seconds=30) == []
        assert workers.seen(connection, "one")
        assert not workers.seen(connection, "two")
        assert workers.known(connection) == {"one"}


def test_a_worker_that_a_clock_ahead_has_seen_is_buried_when_the_clock_is_right_again(engine: Engine) -> None:
    with writing(engine) as connection:
        workers.enter(connection, "dead")
        workers.enter(connection, "alive")
        ahead = tables.workers.c.seen_at + 3 * 3_600 * 1_000_000
        connection.execute(update(tables.workers).where(tables.workers.c.executor_id == "dead").values(seen_at=ahead))
        ages = {each.executor_id: each.age_s for each in workers.ages(connection)}
        assert ages["alive"] < 30 < ages["dead"]
        assert workers.expire(connection, after_seconds=30) == ["dead"]
