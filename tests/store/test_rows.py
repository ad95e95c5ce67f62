"""What only the store can promise: ids are never reused, vectors come back unchanged, deletes leave nothing behind."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.exc import IntegrityError

from tests.store.conftest import new_model
from traitbench.store import runs, samples, tables, traits, vectors, versions
from traitbench.store.database import reading, writing

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def model_id(engine: Engine) -> int:
    made = new_model(engine, now=NOW)
    with writing(engine) as connection:
        fields = {"description": "", "positive_label": "+", "negative_label": "-", "aggregation": "mean"}
        traits.add(connection, made, [{"key": "a", "name": "A", "kind": "extrinsic", **fields}])
    return made


def _add(engine: Engine, model_id: int, *texts: str) -> list[int]:
    with writing(engine) as connection:
        trait = traits.rows(connection, model_id)[0]
        shared = {"trait_id": trait.id, "quality": 1.0, "provenance": "authored", "source_url": None, "created_at": NOW}
        return samples.add(connection, model_id, [{"text": t, "content_sha256": t, **shared} for t in texts])


def test_ids_of_samples_rise_in_the_order_given(engine: Engine, model_id: int) -> None:
    ids = _add(engine, model_id, *(f"text {i}" for i in range(500)))
    assert ids == sorted(ids)
    with reading(engine) as connection:
        assert samples.texts(connection, ids[:3]) == dict(zip(ids, ("text 0", "text 1", "text 2"), strict=False))


def test_an_id_is_not_used_again_when_its_sample_is_gone(engine: Engine, model_id: int) -> None:
    last = _add(engine, model_id, "one", "two")[-1]
    with writing(engine) as connection:
        assert samples.remove(connection, model_id, [last]) == 1
    assert _add(engine, model_id, "three")[0] > last


def test_vectors_come_back_bit_by_bit_and_leave_with_their_sample(engine: Engine, model_id: int) -> None:
    first, second = _add(engine, model_id, "one", "two")
    vector = np.random.default_rng(7).normal(size=768).astype(np.float32)
    with writing(engine) as connection:
        vectors.store(connection, "encoder", {first: vector, second: vector, second + 10_000: vector})
        vectors.store(connection, "encoder", {first: vector})
    with reading(engine) as connection:
        kept = vectors.read(connection, model_id, "encoder")
        assert vectors.read(connection, model_id, "another") == {}
    assert kept.keys() == {first, second}
    assert kept[first].tobytes() == vector.tobytes()
    with writing(engine) as connection:
        traits.remove(connection, traits.rows(connection, model_id)[0].id)
        assert connection.execute(select(func.count()).select_from(tables.vectors)).scalar_one() == 0


def test_two_runs_cannot_be_alive_for_one_model(engine: Engine, model_id: int) -> None:
    with writing(engine) as connection:
        runs.add(connection, f"run_{model_id}_a", model_id=model_id, kind="train", effort="low", now=NOW)
    with pytest.raises(IntegrityError), writing(engine) as connection:
        runs.add(connection, f"run_{model_id}_b", model_id=model_id, kind="train", effort="low", now=NOW)


def test_a_run_makes_one_version_at_most(engine: Engine, model_id: int) -> None:
    fields: dict[str, Any] = {
        "model_id": model_id,
        "triggered_by": "train",
        "param_hash": "sha256:0",
        "sample_count": 2,
        "run_id": f"run_{model_id}",
        "metrics": {"auroc": None},
        "created_at": NOW,
        "snapshot": {"traits": []},
    }
    with writing(engine) as connection:
        versions.add(connection, version_no=1, **fields)
    with pytest.raises(IntegrityError), writing(engine) as connection:
        versions.add(connection, version_no=2, **fields)


def test_only_the_last_owner_can_write_a_run(engine: Engine, model_id: int) -> None:
    run_id = f"run_{model_id}_owned"
    with writing(engine) as connection:
        runs.add(connection, run_id, model_id=model_id, kind="train", effort="low", now=NOW)
        assert runs.claim(connection, run_id, "first")
        claimed = runs.claim(connection, run_id, "second")
        assert claimed is not None
        assert claimed.attempts == 2
        assert not runs.progress(connection, run_id, "first", {})
        assert not runs.succeed(connection, run_id, "first", progress={}, now=NOW)
        assert runs.succeed(connection, run_id, "second", progress={}, now=NOW)
        assert runs.claim(connection, run_id, "third") is None
        assert not runs.fail(connection, run_id, code="late", message="too late", now=NOW)
