"""A training from the request to the version, and the answers that start no training."""

import json

import pytest
from sqlalchemy import select, text

from tests.contexts import AUTHOR, COLD, SCORER, WARM, draft, new_handle, settled
from traitbench.contract.models import ModelCreate, ModelUpdate, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.errors import InsufficientSamples, ModelBusy
from traitbench.operations import models, samples, training, traits, versions
from traitbench.operations.context import Context
from traitbench.scoring.snapshot import Snapshot, param_hash
from traitbench.store import tables
from traitbench.store.database import reading, sqlite_file


@pytest.fixture(scope="module")
def trained(working: Context) -> str:
    handle = draft(working, warm=12, cold=12)
    training.start(working, AUTHOR, handle, TrainRequest(effort="low"))
    assert settled(working, handle).state == "ready"
    return handle


def test_a_training_leaves_a_ready_model_on_its_first_version(working: Context, trained: str) -> None:
    model = models.get(working, SCORER, trained)
    assert (model.state, model.version_no, model.version_tags) == ("ready", 1, [])
    done = model.last_operation
    assert done is not None
    assert (done.kind, done.status, done.error) == ("train", "succeeded", None)
    assert done.progress is not None
    assert (done.progress.done, done.progress.fraction, done.progress.eta_s) == (done.progress.total, 1.0, 0.0)


def test_a_version_tells_how_it_came_about(working: Context, trained: str) -> None:
    model = models.get(working, AUTHOR, trained)
    version = versions.get(working, AUTHOR, trained, "v1")
    assert (version.version_id, version.version_no) == (model.current_version_id, 1)
    assert (version.triggered_by, version.sample_count, version.tags) == ("train", 24, [])
    assert model.last_operation is not None
    assert version.run_id == model.last_operation.run_id
    assert version.metrics.effort == "low"
    assert version.metrics.elapsed_s is not None
    assert version.metrics.elapsed_s > 0
    assert version.metrics.traits["warmth"].counts["positive"] == 12


def test_the_hash_of_a_version_is_that_of_the_snapshot_it_shows(working: Context, trained: str) -> None:
    version = versions.get(working, AUTHOR, trained, "v1")
    assert version.snapshot is not None
    assert version.param_hash == param_hash(Snapshot.from_json(json.loads(json.dumps(version.snapshot))))


def test_equal_inputs_give_an_equal_hash_from_new_and_from_kept_vectors(working: Context, trained: str) -> None:
    handle = draft(working, warm=12, cold=12)
    training.start(working, AUTHOR, handle, TrainRequest(effort="low"))
    assert settled(working, handle).state == "ready"
    hashes = {versions.get(working, AUTHOR, each, "v1").param_hash for each in (trained, handle)}
    assert len(hashes) == 1


def test_no_text_of_a_sample_is_in_a_version(working: Context, trained: str) -> None:
    shown = versions.get(working, AUTHOR, trained, "v1").model_dump_json()
    assert not any(text in shown for text in (*WARM, *COLD))


def test_each_text_is_encoded_and_kept_once(working: Context) -> None:
    handle = new_handle()
    models.create(working, AUTHOR, ModelCreate(handle=handle))
    traits.add(working, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name="A"), TraitInput(name="B")]))
    inputs = [
        SampleInput(trait=trait, text=text, quality=quality)
        for trait in ("a", "b")
        for text, quality in [(WARM[0], 1.0), (WARM[1], 1.0), (COLD[0], 0.0), (COLD[1], 0.0)]
    ]
    ids = samples.add(working, AUTHOR, handle, SamplesCreate(samples=inputs)).ids
    training.start(working, AUTHOR, handle, TrainRequest(effort="low"))
    assert settled(working, handle).state == "ready"
    with reading(working.engine) as connection:
        kept = select(tables.vectors.c.sample_id).where(tables.vectors.c.sample_id.in_(ids))
        assert len(connection.execute(kept).all()) == 4


def test_training_a_ready_model_is_nothing_to_do(working: Context, trained: str) -> None:
    started, enqueued = training.start(working, AUTHOR, trained, TrainRequest(effort="max"))
    assert (started.state, started.run_id, enqueued) == ("ready", None, False)


def test_the_same_training_in_flight_answers_with_its_run(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    first, enqueued = training.start(context, AUTHOR, handle, TrainRequest())
    assert (first.state, enqueued) == ("busy", True)
    for effort in (None, "high"):
        assert training.start(context, AUTHOR, handle, TrainRequest(effort=effort)) == (first, True)


def test_another_training_in_flight_is_named_in_the_refusal(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    first, _ = training.start(context, AUTHOR, handle, TrainRequest(effort="low"))
    with pytest.raises(ModelBusy) as caught:
        training.start(context, AUTHOR, handle, TrainRequest(effort="max"))
    assert caught.value.headers == {"X-Run-Id": first.run_id}
    assert caught.value.details["run_id"] == first.run_id


def test_a_queued_training_shows_as_the_models_last_operation(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    started, _ = training.start(context, AUTHOR, handle, TrainRequest())
    operation = models.get(context, AUTHOR, handle).last_operation
    assert operation is not None
    assert (operation.kind, operation.status, operation.run_id) == ("train", "queued", started.run_id)
    assert (operation.progress, operation.error) == (None, None)


def test_a_trait_without_both_poles_is_refused_with_the_counts(context: Context) -> None:
    handle = draft(context, warm=2, cold=1)
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name="Clarity"), TraitInput(name="Zeal")]))
    results = [
        SampleInput(trait="clarity", text="so so", quality=0.5),
        SampleInput(trait="zeal", text="!", quality=0.9),
    ]
    samples.add(context, AUTHOR, handle, SamplesCreate(samples=results))
    with pytest.raises(InsufficientSamples) as caught:
        training.start(context, AUTHOR, handle, TrainRequest())
    assert caught.value.details["traits"] == {
        "warmth": {"positive": 2, "negative": 1},
        "clarity": {"positive": 0, "negative": 0},
        "zeal": {"positive": 1, "negative": 0},
    }
    assert models.get(context, AUTHOR, handle).state == "draft"


def test_a_model_without_traits_is_refused(context: Context) -> None:
    handle = new_handle()
    models.create(context, AUTHOR, ModelCreate(handle=handle))
    with pytest.raises(InsufficientSamples):
        training.start(context, AUTHOR, handle, TrainRequest())


def test_a_draft_has_nothing_to_search_afresh_and_is_trained(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    started, _ = training.start(context, AUTHOR, handle, TrainRequest(reoptimize_params=True))
    operation = models.get(context, AUTHOR, handle).last_operation
    assert operation is not None
    assert (operation.kind, operation.run_id) == ("train", started.run_id)
    assert training.start(context, AUTHOR, handle, TrainRequest(effort="high", reoptimize_params=True))[0] == started
    with pytest.raises(ModelBusy):
        training.start(context, AUTHOR, handle, TrainRequest(effort="high"))


def test_deleting_a_busy_model_ends_its_run(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    started, _ = training.start(context, AUTHOR, handle, TrainRequest())
    models.delete(context, AUTHOR, handle)
    model = models.get(context, AUTHOR, handle)
    assert model.state == "archived"
    assert model.last_operation is not None
    assert model.last_operation.run_id == started.run_id
    assert model.last_operation.error is not None
    assert (model.last_operation.status, model.last_operation.error.code) == ("failed", "cancelled")


@pytest.mark.parametrize("ending", ["the model is deleted", "zero data retention is switched on"])
def test_a_cancelled_run_never_starts(context: Context, ending: str) -> None:
    handle = draft(context, warm=1, cold=1)
    started, _ = training.start(context, AUTHOR, handle, TrainRequest())
    assert _in_queue(context, started.run_id) == "ENQUEUED"
    if ending == "the model is deleted":
        models.delete(context, AUTHOR, handle)
    else:
        models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    assert _in_queue(context, started.run_id) == "CANCELLED"


def _in_queue(context: Context, run_id: str | None) -> str:
    """The run's status in the queue, where workers look for what to start."""
    schema = "" if sqlite_file(context.settings.database_url) else "dbos."
    with reading(context.engine) as connection:
        asked = text(f"SELECT status FROM {schema}workflow_status WHERE workflow_uuid = :id")
        status: str = connection.execute(asked, {"id": run_id}).scalar_one()
    return status
