"""The vectors of samples: those that the workbench has made are stored, and a training uses them."""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import create_engine

from tests.contexts import AUTHOR, ON_SQLITE, WARM, done_here, draft, new_handle
from traitbench.contract.models import ModelCreate, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.encoders import Encoder
from traitbench.encoders.registry import load_encoder
from traitbench.operations import models, samples, training, traits, versions
from traitbench.operations.context import Context
from traitbench.operations.sample_vectors import adopt
from traitbench.scoring.segments import embed
from traitbench.store import models as model_rows
from traitbench.store import vectors
from traitbench.store.database import reading
from traitbench.store.vectors import Vector


@pytest.fixture(scope="module")
def encoder(context: Context) -> Encoder:
    return load_encoder(context.settings.encoder, cache=context.settings.cache)


def _made(context: Context, encoder: Encoder, handle: str) -> dict[int, tuple[str, Vector]]:
    """The vectors of a draft's samples, as a check in the workbench makes them."""
    listed = samples.list_samples(context, AUTHOR, handle).items
    rows = embed(encoder.encode, [sample.text for sample in listed])
    return {sample.id: (sample.content_sha256, row) for sample, row in zip(listed, rows, strict=True)}


def _stored(context: Context, encoder: Encoder, handle: str) -> dict[int, Vector]:
    with reading(context.engine) as connection:
        model = model_rows.find(connection, handle)
        assert model is not None
        return vectors.read(connection, model.id, encoder.digest)


def test_a_training_uses_adopted_vectors_and_gives_the_same_parameters(context: Context, encoder: Encoder) -> None:
    hashes = []
    for adopted in (True, False):
        handle = draft(context, warm=4, cold=4)
        made = _made(context, encoder, handle)
        if adopted:
            adopt(context.engine, encoder.digest, made)
            stored = _stored(context, encoder, handle)
            assert {key: row.tobytes() for key, row in stored.items()} == {
                key: row.tobytes() for key, (_, row) in made.items()
            }
        done_here(context, training.start(context, AUTHOR, handle, TrainRequest(effort="low"))[0].run_id)
        hashes.append(versions.list_versions(context, AUTHOR, handle).items[0].param_hash)
    assert hashes[0] == hashes[1]


def test_a_training_encodes_nothing_that_was_adopted(context: Context, encoder: Encoder) -> None:
    handle = draft(context, warm=3, cold=3)
    opposite = {key: (digest, -row) for key, (digest, row) in _made(context, encoder, handle).items()}
    adopt(context.engine, encoder.digest, opposite)
    done_here(context, training.start(context, AUTHOR, handle, TrainRequest(effort="low"))[0].run_id)
    assert np.allclose([*_stored(context, encoder, handle).values()], [row for _, row in opposite.values()])


def test_vectors_of_other_texts_other_samples_and_models_that_keep_nothing_are_not_stored(
    context: Context, encoder: Encoder
) -> None:
    handle = draft(context, warm=2, cold=2)
    made = _made(context, encoder, handle)
    first, second, *_ = sorted(made)
    wrong = {first: ("0" * 64, made[first][1]), second: made[second], 10**9: made[first]}
    adopt(context.engine, encoder.digest, wrong)
    assert list(_stored(context, encoder, handle)) == [second]
    samples.delete(context, AUTHOR, handle, second)
    adopt(context.engine, encoder.digest, made)
    assert second not in _stored(context, encoder, handle)

    silent = new_handle()
    models.create(context, AUTHOR, ModelCreate(handle=silent, zero_data_retention=True))
    traits.add(context, AUTHOR, silent, TraitsCreate(traits=[TraitInput(name="Warmth")]))
    body = SamplesCreate(samples=[SampleInput(trait="warmth", text=WARM[0], quality=1.0)])
    samples.add(context, AUTHOR, silent, body)
    adopt(context.engine, encoder.digest, _made(context, encoder, silent))
    assert not _stored(context, encoder, silent)


def test_many_vectors_are_adopted_at_once(context: Context, encoder: Encoder) -> None:
    handle = draft(context, warm=300, cold=300)
    page = samples.list_samples(context, AUTHOR, handle, limit=500)
    listed = page.items + samples.list_samples(context, AUTHOR, handle, limit=500, cursor=page.next_cursor).items
    row = np.ones(encoder.dimension, np.float32)
    adopt(context.engine, encoder.digest, {sample.id: (sample.content_sha256, row) for sample in listed})
    assert len(_stored(context, encoder, handle)) == len(listed) == 600


@ON_SQLITE
def test_a_store_that_fails_costs_only_the_vectors(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    without_tables = create_engine(f"sqlite:///{tmp_path / 'empty.db'}")
    adopt(without_tables, "0" * 64, {1: ("0" * 64, np.zeros(4, np.float32))})
    assert "vectors of samples could not be stored: StoreUnavailable" in caplog.text
