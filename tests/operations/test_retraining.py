"""The automatic retrain: when it starts, what it is trained with, and what prevents it."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import select, update

from tests.contexts import AUTHOR, done_here, trained_here
from tests.encoders.meanwhile import Meanwhile
from traitbench.contract.models import DEFAULT_EFFORT, ModelUpdate, TrainRequest
from traitbench.contract.scores import ScoreRequest
from traitbench.contract.versions import VersionActivate
from traitbench.errors import ModelBusy
from traitbench.operations import model_runs, models, retraining, rules, scores, training, versions
from traitbench.operations.context import Context
from traitbench.runs.executor import Worker, execute
from traitbench.store import models as stored
from traitbench.store import neighbours, runs, samples, tables
from traitbench.store.database import reading, writing
from traitbench.store.models import ModelRow

TEN = 10


def _say(context: Context, handle: str, *, times: int = 1, first: int = 0) -> list[int]:
    """Give feedback on different texts, for each pole in turn."""
    return [
        scores.score(
            context,
            AUTHOR,
            handle,
            ScoreRequest(content=f"said number {i}", feedback={"warmth": i % 2}),
            request_id="req",
        ).metadata.sample_ids[0]
        for i in range(first, first + times)
    ]


def _row(context: Context, handle: str) -> ModelRow:
    with reading(context.engine) as connection:
        model = stored.find(connection, handle)
    assert model is not None
    return model


def _waiting(context: Context, handle: str) -> int:
    with reading(context.engine) as connection:
        return samples.waiting(connection, _row(context, handle).id).count


def _fail(context: Context, handle: str) -> str:
    """Make the model's run fail, and return its id."""
    with writing(context.engine) as connection:
        run = runs.read(connection, str(_row(context, handle).run_id))
        assert run is not None
        model_runs.fail(connection, run, code="internal_error", message="It failed.")
    return run.id


def _retrains(context: Context, handle: str) -> list[str]:
    with reading(context.engine) as connection:
        of_model = select(tables.runs.c.id).where(tables.runs.c.model_id == _row(context, handle).id)
        return list(connection.execute(of_model.where(tables.runs.c.kind == "retrain")).scalars())


def _sweep(context: Context) -> None:
    retraining.sweep(context.engine, context.runs, context.settings)


def _let_wait(context: Context, handle: str, seconds: float) -> None:
    """Make pending feedback older by this much."""
    with writing(context.engine) as connection:
        mine = (tables.samples.c.model_id == _row(context, handle).id, tables.samples.c.pending)
        then = rules.now() - timedelta(seconds=seconds)
        connection.execute(update(tables.samples).where(*mine).values(created_at=then))


def test_the_tenth_that_waits_begins_a_retrain_and_its_version_takes_over(context: Context) -> None:
    handle = trained_here(context, warm=6, cold=6)
    _say(context, handle, times=TEN - 1)
    assert models.get(context, AUTHOR, handle).state == "ready"
    _say(context, handle, first=TEN)
    during = models.get(context, AUTHOR, handle)
    assert during.last_operation is not None
    assert (during.state, during.last_operation.kind, during.version_no) == ("busy", "retrain", 1)
    done_here(context, during.last_operation.run_id)
    after = models.get(context, AUTHOR, handle)
    assert (after.state, after.version_no, _waiting(context, handle)) == ("ready", 2, 0)
    second = versions.get(context, AUTHOR, handle, "v2")
    assert (second.triggered_by, second.run_id) == ("retrain_buffered", during.last_operation.run_id)
    assert second.sample_count == 12 + TEN


def test_a_retrain_searches_nothing_and_keeps_the_parameters(context: Context) -> None:
    handle = trained_here(context, warm=6, cold=6)
    _say(context, handle, times=TEN)
    done_here(context, _row(context, handle).run_id)
    first, second = (versions.get(context, AUTHOR, handle, each).metrics for each in ("v1", "v2"))
    assert first.traits["warmth"].shares == second.traits["warmth"].shares
    assert first.effort == second.effort
    assert first.search != second.search


@pytest.mark.parametrize("stated", ["exhaustive", None])
def test_a_retrain_of_a_version_with_an_unknown_effort_takes_the_default(context: Context, stated: str | None) -> None:
    """Another installation may know other efforts, and state one or none in the bundle that was imported."""
    handle = trained_here(context)
    with writing(context.engine) as connection:
        of_model = tables.versions.c.model_id == _row(context, handle).id
        metrics = connection.execute(select(tables.versions.c.metrics).where(of_model)).scalar_one()
        connection.execute(update(tables.versions).where(of_model).values(metrics={**metrics, "effort": stated}))
    _say(context, handle, times=TEN)
    with reading(context.engine) as connection:
        run = runs.read(connection, str(_row(context, handle).run_id))
    assert run is not None
    assert (run.kind, run.effort) == ("retrain", DEFAULT_EFFORT)


def test_feedback_that_comes_during_a_retrain_waits_for_the_next(context: Context) -> None:
    handle = trained_here(context)
    _say(context, handle, times=TEN)
    run_id = str(_row(context, handle).run_id)
    encoder = Meanwhile(context.encoder, lambda: _say(context, handle, times=TEN + 1, first=TEN))
    bodies = {"retrain": partial(training.run, context.engine, encoder)}
    execute(Worker(context.engine, context.settings.database_url, "here", bodies, model_runs.fail), run_id)
    assert versions.get(context, AUTHOR, handle, "v2").sample_count == 4 + TEN
    assert _waiting(context, handle) == TEN + 1
    _sweep(context)
    done_here(context, _row(context, handle).run_id)
    assert versions.get(context, AUTHOR, handle, "v3").sample_count == 4 + TEN + TEN + 1
    assert _waiting(context, handle) == 0


def test_what_has_waited_long_enough_is_learnt_however_little_it_is(context: Context) -> None:
    handle = trained_here(context)
    _say(context, handle, times=2)
    _let_wait(context, handle, context.settings.retrain_after_seconds - 60)
    _sweep(context)
    assert models.get(context, AUTHOR, handle).state == "ready"
    _let_wait(context, handle, context.settings.retrain_after_seconds + 1)
    _sweep(context)
    done_here(context, _row(context, handle).run_id)
    assert models.get(context, AUTHOR, handle).version_no == 2
    _sweep(context)
    assert models.get(context, AUTHOR, handle).state == "ready"


def test_nothing_said_is_nothing_to_learn(context: Context) -> None:
    handle = trained_here(context)
    _sweep(context)
    assert _retrains(context, handle) == []


def test_a_busy_model_keeps_feedback_waiting_until_it_is_done(context: Context) -> None:
    handle = trained_here(context)
    searched = training.start(context, AUTHOR, handle, TrainRequest(effort="low", reoptimize_params=True))[0]
    _say(context, handle, times=TEN + 2)
    _sweep(context)
    assert _row(context, handle).run_id == searched.run_id
    with pytest.raises(ModelBusy):
        training.start(context, AUTHOR, handle, TrainRequest())
    with writing(context.engine) as connection:
        run = runs.read(connection, str(searched.run_id))
        assert run is not None
        model_runs.fail(connection, run, code="internal_error", message="It failed.")
    _sweep(context)
    assert len(_retrains(context, handle)) == 1


def test_a_search_learns_what_waits_and_leaves_nothing_to_retrain(context: Context) -> None:
    handle = trained_here(context)
    _say(context, handle, times=3)
    done_here(
        context, training.start(context, AUTHOR, handle, TrainRequest(effort="low", reoptimize_params=True))[0].run_id
    )
    assert versions.get(context, AUTHOR, handle, "v2").sample_count == 7
    assert _waiting(context, handle) == 0


def test_a_retrain_that_failed_is_not_tried_again_at_once(context: Context) -> None:
    handle = trained_here(context)
    _say(context, handle, times=TEN)
    run_id = _fail(context, handle)
    after = models.get(context, AUTHOR, handle)
    assert (after.state, after.version_no, _waiting(context, handle)) == ("ready", 1, TEN)
    _sweep(context)
    _say(context, handle, first=TEN)
    assert len(_retrains(context, handle)) == 1
    long_ago = rules.now() - timedelta(seconds=context.settings.retrain_after_seconds)
    with writing(context.engine) as connection:
        connection.execute(update(tables.runs).where(tables.runs.c.id == run_id).values(finished_at=long_ago))
    _sweep(context)
    assert len(_retrains(context, handle)) == 2


def test_a_model_whose_samples_were_purged_does_not_forget_them_by_learning_a_few(context: Context) -> None:
    handle = trained_here(context, warm=10, cold=10)
    models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=False))
    _say(context, handle, times=19)
    _sweep(context)
    assert _retrains(context, handle) == []
    _say(context, handle, first=19)
    assert len(_retrains(context, handle)) == 1


def test_a_retrain_goes_on_from_the_version_that_serves(context: Context) -> None:
    handle = trained_here(context, warm=6, cold=6)
    done_here(
        context, training.start(context, AUTHOR, handle, TrainRequest(effort="high", reoptimize_params=True))[0].run_id
    )
    versions.activate(context, AUTHOR, handle, VersionActivate(version="v1"))
    _say(context, handle, times=TEN)
    done_here(context, _row(context, handle).run_id)
    first, third = (versions.get(context, AUTHOR, handle, each).metrics for each in ("v1", "v3"))
    assert third.effort == first.effort == "low"
    assert models.get(context, AUTHOR, handle).version_no == 3


def test_twenty_threads_that_give_feedback_begin_one_retrain(context: Context) -> None:
    handle = trained_here(context)
    with ThreadPoolExecutor(20) as pool:
        given = [sample_id for [sample_id] in pool.map(lambda i: _say(context, handle, first=i), range(20))]
    assert len(set(given)) == 20
    [run_id] = _retrains(context, handle)
    done_here(context, run_id)
    assert versions.get(context, AUTHOR, handle, "v2").sample_count == 24
    assert _waiting(context, handle) == 0


def test_many_workers_that_sweep_at_once_begin_one_retrain(context: Context) -> None:
    handles = [trained_here(context) for _ in range(3)]
    patient = replace(context, settings=replace(context.settings, retrain_after_samples=100))
    for handle in handles:
        _say(patient, handle, times=TEN)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: _sweep(context), range(16)))
    assert Counter(len(_retrains(context, handle)) for handle in handles) == {1: 3}


# ---- clocks that were ahead ------------------------------------------------------------------------------------------

HOURS = 3 * 3_600


def test_feedback_dated_in_the_future_is_learnt(context: Context) -> None:
    handle = trained_here(context)
    _say(context, handle, times=2)
    _let_wait(context, handle, -HOURS)
    _sweep(context)
    done_here(context, _row(context, handle).run_id)
    assert (models.get(context, AUTHOR, handle).version_no, _waiting(context, handle)) == (2, 0)
    row = _row(context, handle)
    with reading(context.engine) as connection:
        # Scores are explained with the samples that it was trained with.
        assert len(list(neighbours.training_samples(connection, row.id, 2))) == 6


def test_feedback_of_a_clock_that_is_a_little_ahead_waits_as_usual(context: Context) -> None:
    handle = trained_here(context)
    _say(context, handle)
    _let_wait(context, handle, -30)
    _sweep(context)
    assert _retrains(context, handle) == []


def test_ten_dated_in_the_future_begin_a_retrain_at_once(context: Context) -> None:
    handle = trained_here(context)
    _say(context, handle, times=TEN - 1)
    _let_wait(context, handle, -HOURS)
    _say(context, handle, first=TEN)
    assert len(_retrains(context, handle)) == 1


def test_a_retrain_that_failed_by_a_clock_ahead_is_tried_again(context: Context) -> None:
    handle = trained_here(context)
    _say(context, handle, times=TEN)
    run_id = _fail(context, handle)
    with writing(context.engine) as connection:
        ahead = rules.now() + timedelta(seconds=HOURS)
        connection.execute(update(tables.runs).where(tables.runs.c.id == run_id).values(finished_at=ahead))
    _sweep(context)
    assert len(_retrains(context, handle)) == 2
