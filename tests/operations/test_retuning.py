"""A retune of a trained model: the new version takes over, and the old one scores until then."""

import pytest

from tests.contexts import AUTHOR, draft, settled, trained_here
from traitbench.contract.models import TrainRequest
from traitbench.contract.scores import ScoreRequest
from traitbench.errors import InsufficientSamples, ModelBusy, SamplesPurged
from traitbench.operations import model_runs, models, samples, scores, training, versions
from traitbench.operations.context import Context
from traitbench.store import models as stored
from traitbench.store import runs
from traitbench.store import samples as stored_samples
from traitbench.store.database import writing

RETUNE = TrainRequest(effort="low", reoptimize_params=True)


@pytest.fixture
def ready(working: Context) -> str:
    handle = draft(working, warm=6, cold=6)
    training.start(working, AUTHOR, handle, TrainRequest(effort="low"))
    assert settled(working, handle).state == "ready"
    return handle


def test_a_fresh_search_makes_a_version_that_takes_over(working: Context, ready: str) -> None:
    started, enqueued = training.start(working, AUTHOR, ready, TrainRequest(effort="high", reoptimize_params=True))
    assert (started.state, enqueued) == ("busy", True)
    model = settled(working, ready)
    assert (model.state, model.version_no) == ("ready", 2)
    assert model.last_operation is not None
    assert (model.last_operation.kind, model.last_operation.status) == ("retune", "succeeded")
    second = versions.get(working, AUTHOR, ready, "v2")
    assert (second.triggered_by, second.run_id, second.sample_count) == ("retune", started.run_id, 12)
    assert second.metrics.effort == "high"


def test_the_same_samples_and_effort_give_the_same_parameters_again(working: Context, ready: str) -> None:
    training.start(working, AUTHOR, ready, RETUNE)
    assert settled(working, ready).version_no == 2
    first, second = (versions.get(working, AUTHOR, ready, version).param_hash for version in ("v1", "v2"))
    assert first == second


def test_the_old_version_serves_while_a_search_runs_and_after_it_failed(context: Context) -> None:
    handle = trained_here(context)
    started, _ = training.start(context, AUTHOR, handle, RETUNE)
    for ended in (False, True):
        card = scores.score(context, AUTHOR, handle, ScoreRequest(content="thank you"), request_id="req")
        model = models.get(context, AUTHOR, handle)
        assert (card.metadata.version_id, model.version_no) == ("v1", 1)
        assert model.state == ("ready" if ended else "busy")
        with writing(context.engine) as connection:
            run = runs.read(connection, str(started.run_id))
            assert run is not None
            model_runs.fail(connection, run, code="internal_error", message="It failed.")
    assert model.last_operation is not None
    assert (model.last_operation.kind, model.last_operation.status) == ("retune", "failed")


def test_one_search_in_flight_answers_for_the_same_and_refuses_every_other(context: Context) -> None:
    handle = trained_here(context)
    started, _ = training.start(context, AUTHOR, handle, RETUNE)
    assert training.start(context, AUTHOR, handle, RETUNE) == (started, True)
    for other in (TrainRequest(effort="low"), TrainRequest(effort="max", reoptimize_params=True)):
        with pytest.raises(ModelBusy) as caught:
            training.start(context, AUTHOR, handle, other)
        assert caught.value.headers == {"X-Run-Id": started.run_id}


def test_without_samples_there_is_nothing_to_search_with(context: Context) -> None:
    ready = trained_here(context)
    with writing(context.engine) as connection:
        model = stored.hold(connection, ready)
        assert model is not None
        stored_samples.purge(connection, model.id)
    with pytest.raises(SamplesPurged):
        training.start(context, AUTHOR, ready, RETUNE)
    assert training.start(context, AUTHOR, ready, TrainRequest())[1] is False


def test_a_pole_that_is_missing_is_counted_before_anything_is_queued(context: Context) -> None:
    ready = trained_here(context, warm=6, cold=6)
    with writing(context.engine) as connection:
        model = stored.hold(connection, ready)
        assert model is not None
        for sample in samples.list_samples(context, AUTHOR, ready).items:
            if sample.quality == 0:
                stored_samples.remove(connection, model.id, [sample.id])
    with pytest.raises(InsufficientSamples) as caught:
        training.start(context, AUTHOR, ready, RETUNE)
    assert caught.value.details["traits"] == {"warmth": {"positive": 6, "negative": 0}}
    assert models.get(context, AUTHOR, ready).state == "ready"
