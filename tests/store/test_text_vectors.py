"""Stored vectors of batches: bit for bit, limited in size, and deleted with their model."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import Engine, func, select

from tests.store.conftest import new_model
from traitbench.store import tables, text_vectors
from traitbench.store.database import reading, writing
from traitbench.store.text_vectors import Encoded, VectorKey

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SIZE = 4 * 16 + 250


@pytest.fixture
def vector_key(engine: Engine) -> VectorKey:
    return VectorKey(new_model(engine, now=NOW), "a" * 64, "full")


def _encoded(seed: int) -> Encoded:
    return Encoded(np.random.default_rng(seed).normal(size=16).astype(np.float32), seed)


def _keep(engine: Engine, vector_key: VectorKey, *names: str, now: datetime = NOW) -> None:
    with writing(engine) as connection:
        text_vectors.store(connection, vector_key, {name.encode(): _encoded(len(name)) for name in names}, now=now)


def _names(engine: Engine, vector_key: VectorKey, *names: str) -> set[str]:
    with reading(engine) as connection:
        return {name.decode() for name in text_vectors.read(connection, vector_key, [name.encode() for name in names])}


def test_they_come_back_bit_by_bit_with_their_tokens(engine: Engine, vector_key: VectorKey) -> None:
    made = {bytes([number]) * 32: _encoded(number) for number in range(5)}
    made[b"uncounted"] = Encoded(_encoded(9).vector, None)
    with writing(engine) as connection:
        text_vectors.store(connection, vector_key, made, now=NOW)
    with reading(engine) as connection:
        result = text_vectors.read(connection, vector_key, [*made, b"absent"])
    assert {key: (each.vector.tobytes(), each.tokens) for key, each in result.items()} == {
        key: (each.vector.tobytes(), each.tokens) for key, each in made.items()
    }
    assert all(each.vector.dtype == np.float32 for each in result.values())


def test_more_than_one_question_holds(engine: Engine, vector_key: VectorKey) -> None:
    names = [f"text {number}" for number in range(1_201)]
    _keep(engine, vector_key, *names)
    assert _names(engine, vector_key, *names) == set(names)


def test_what_is_there_already_stays(engine: Engine, vector_key: VectorKey) -> None:
    for now in (NOW, NOW + timedelta(days=1)):
        _keep(engine, vector_key, "a", "b", now=now)
    with reading(engine) as connection:
        assert connection.execute(
            select(func.count()).where(tables.kept_vectors.c.model_id == vector_key.model_id)
        ).all() == [(2,)]


def test_models_encoders_and_modes_have_shelves_of_their_own(engine: Engine, vector_key: VectorKey) -> None:
    _keep(engine, vector_key, "a")
    others = [
        VectorKey(new_model(engine, now=NOW), vector_key.encoder_digest, vector_key.mode),
        VectorKey(vector_key.model_id, "b" * 64, vector_key.mode),
        VectorKey(vector_key.model_id, vector_key.encoder_digest, "static"),
    ]
    assert [_names(engine, each, "a") for each in (vector_key, *others)] == [{"a"}, set(), set(), set()]
    with reading(engine) as connection:
        assert [text_vectors.some(connection, each) for each in (vector_key, *others)] == [True, False, False, False]


def test_those_used_longest_ago_leave_when_there_is_no_room(engine: Engine, vector_key: VectorKey) -> None:
    with writing(engine) as connection:
        connection.execute(tables.kept_vectors.delete())
    names = [f"{number:02}" for number in range(20)]
    for number, name in enumerate(names):
        _keep(engine, vector_key, name, now=NOW + timedelta(hours=number))
    with writing(engine) as connection:
        text_vectors.used(connection, vector_key, [b"00", b"absent"], now=NOW + timedelta(days=9))
        text_vectors.trim(connection, 20 * SIZE)
    assert _names(engine, vector_key, *names) == set(names)
    with writing(engine) as connection:
        text_vectors.trim(connection, 10 * SIZE)
    assert _names(engine, vector_key, *names) == {"00", *names[-8:]}


def test_a_model_takes_its_own_with_it(engine: Engine, vector_key: VectorKey) -> None:
    other = VectorKey(new_model(engine, now=NOW), vector_key.encoder_digest, vector_key.mode)
    for each in (vector_key, other, VectorKey(vector_key.model_id, "b" * 64, "static")):
        _keep(engine, each, "a")
    with writing(engine) as connection:
        text_vectors.forget(connection, vector_key.model_id)
    assert (_names(engine, vector_key, "a"), _names(engine, other, "a")) == (set(), {"a"})
