"""The automatic retrain: when it starts, what it is trained with, and what prevents it."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import select, update

from tests.contexts import AUTHOR, ON_BOTH, done_here, trained_here
from tests.encoders.meanwhile import Meanwhile
from tests.operations import author
from traitbench.contract.models import DEFAULT_EFFORT, TrainRequest
from traitbench.errors import ModelBusy
from traitbench.operations import model_runs, models, rules, training
from traitbench.operations.context import Context
from traitbench.runs.executor import Worker, execute
from traitbench.store import neighbours, runs, tables
from traitbench.store.database import reading, writing

HOURS = 3 * 3_600


def _set_finished(context: Context, run_id: str, seconds: float) -> None:
    """Make a run have ended so many seconds from now."""
    then = rules.now() + timedelta(seconds=seconds)
    with writing(context.engine) as connection:
        connection.execute(update(tables.runs).where(tables.runs.c.id == run_id).values(finished_at=then))


# ---- when it starts --------------------------------------------------------------------------------------------------


def test_the_tenth_that_waits_begins_a_retrain_and_its_version_takes_over(context: Context) -> None:
    handle = trained_here(context, warm=6, cold=6)
    author.say(context, handle, times=author.TEN - 1)
    assert author.get(context, handle).state == "ready"
    author.say(context, handle, first=author.TEN)
    during = author.get(context, handle)
    assert (during.state, author.last_operation(context, handle).kind, during.version_no) == ("busy", "retrain", 1)
    run_id = author.finish(context, handle).run_id
    assert (
        author.get(context, handle).state,
        author.get(context, handle).version_no,
        author.waiting(context, handle),
    ) == ("ready", 2, 0)
    first, second = (author.active(context, handle, version) for version in ("v1", "v2"))
    assert (second.triggered_by, second.run_id, second.sample_count) == ("retrain_buffered", run_id, 12 + author.TEN)
    # It keeps the parameters and searches nothing.
    assert first.metrics.traits["warmth"].shares == second.metrics.traits["warmth"].shares
    assert first.metrics.effort == second.metrics.effort
    assert first.metrics.search != second.metrics.search


def test_what_has_waited_long_enough_is_learned_however_little_it_is(context: Context) -> None:
    handle = trained_here(context)
    author.sweep(context)
    assert author.retrains(context, handle) == []
    author.say(context, handle, times=2)
    author.let_wait(context, handle, context.settings.retrain_after_seconds - 60)
    author.sweep(context)
    assert author.get(context, handle).state == "ready"
    author.let_wait(context, handle, context.settings.retrain_after_seconds + 1)
    author.sweep(context)
    author.finish(context, handle)
    assert author.get(context, handle).version_no == 2
    author.sweep(context)
    assert author.get(context, handle).state == "ready"


@ON_BOTH
def test_twenty_threads_that_give_feedback_begin_one_retrain(context: Context) -> None:
    handle = trained_here(context)
    with ThreadPoolExecutor(20) as pool:
        given = [sample_id for [sample_id] in pool.map(lambda i: author.say(context, handle, first=i), range(20))]
    assert len(set(given)) == 20
    [run_id] = author.retrains(context, handle)
    done_here(context, run_id)
    assert author.active(context, handle).sample_count == 24
    assert author.waiting(context, handle) == 0


@ON_BOTH
def test_many_workers_that_sweep_at_once_begin_one_retrain(context: Context) -> None:
    handles = [trained_here(context) for _ in range(3)]
    patient = replace(context, settings=replace(context.settings, retrain_after_samples=100))
    for handle in handles:
        author.say(patient, handle, times=author.TEN)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: author.sweep(context), range(16)))
    assert Counter(len(author.retrains(context, handle)) for handle in handles) == {1: 3}


# ---- what prevents it ------------------------------------------------------------------------------------------------


def test_a_busy_model_keeps_feedback_waiting_until_it_is_done(context: Context) -> None:
    handle = trained_here(context)
    searched = training.start(context, AUTHOR, handle, author.REFIT)[0]
    author.say(context, handle, times=author.TEN + 2)
    author.sweep(context)
    assert author.row(context, handle).run_id == searched.run_id
    with pytest.raises(ModelBusy):
        training.start(context, AUTHOR, handle, TrainRequest())
    author.fail(context, handle)
    author.sweep(context)
    assert len(author.retrains(context, handle)) == 1


def test_a_retrain_that_failed_is_not_tried_again_at_once(context: Context) -> None:
    handle = trained_here(context)
    author.say(context, handle, times=author.TEN)
    run_id = author.fail(context, handle)
    after = author.get(context, handle)
    assert (after.state, after.version_no, author.waiting(context, handle)) == ("ready", 1, author.TEN)
    author.sweep(context)
    author.say(context, handle, first=author.TEN)
    assert len(author.retrains(context, handle)) == 1
    _set_finished(context, run_id, -context.settings.retrain_after_seconds)
    author.sweep(context)
    assert len(author.retrains(context, handle)) == 2


def test_a_model_whose_samples_were_purged_does_not_forget_them_by_learning_a_few(context: Context) -> None:
    handle = trained_here(context, warm=10, cold=10)
    for on in (True, False):
        author.update(context, handle, zero_data_retention=on)
    author.say(context, handle, times=19)
    author.sweep(context)
    assert author.retrains(context, handle) == []
    author.say(context, handle, first=19)
    assert len(author.retrains(context, handle)) == 1


# ---- what a model says about it --------------------------------------------------------------------------------------


def test_a_model_says_when_it_retrains_and_what_waits(context: Context) -> None:
    handle, settings = trained_here(context), context.settings
    rule = author.get(context, handle).retrain
    assert (rule.after_samples, rule.after_seconds) == (settings.retrain_after_samples, settings.retrain_after_seconds)
    assert (rule.pending, rule.due_at) == (0, None)
    author.say(context, handle, times=2)
    assert _due_in(context, handle) == pytest.approx(settings.retrain_after_seconds, abs=30)
    author.let_wait(context, handle, settings.retrain_after_seconds + 60)
    assert _due_in(context, handle) == pytest.approx(-60, abs=30)
    author.let_wait(context, handle, -HOURS)
    assert _due_in(context, handle) == pytest.approx(0, abs=30), "a clock that was ahead"
    listed = models.list_models(context, AUTHOR, namespace=handle.partition(".")[0], state="ready", limit=250).items
    assert [each.retrain.pending for each in listed if each.handle == handle] == [2]


def test_after_a_retrain_that_failed_the_next_is_due_later(context: Context) -> None:
    handle = trained_here(context)
    author.say(context, handle, times=author.TEN)
    author.fail(context, handle)
    assert author.get(context, handle).retrain.pending == author.TEN
    assert _due_in(context, handle) == pytest.approx(context.settings.retrain_after_seconds, abs=30)


def test_nothing_is_due_where_a_retrain_would_lose_samples_or_may_store_none(context: Context) -> None:
    handle = trained_here(context, warm=10, cold=10)
    for on in (True, False):
        author.update(context, handle, zero_data_retention=on)
        rule = author.get(context, handle).retrain
        assert (rule.after_samples is None, rule.due_at) == (on, None)
    author.say(context, handle, times=2)
    assert (author.get(context, handle).retrain.pending, author.get(context, handle).retrain.due_at) == (2, None)
    models.delete(context, AUTHOR, handle)
    assert author.get(context, handle).retrain.after_samples is None


def _due_in(context: Context, handle: str) -> float:
    """Seconds from now until the retrain is due."""
    due = author.get(context, handle).retrain.due_at
    assert due is not None
    return (due - rules.now()).total_seconds()


# ---- what it learns --------------------------------------------------------------------------------------------------


@ON_BOTH
def test_feedback_that_comes_during_a_retrain_waits_for_the_next(context: Context) -> None:
    handle = trained_here(context)
    author.say(context, handle, times=author.TEN)
    encoder = Meanwhile(context.encoder, lambda: author.say(context, handle, times=author.TEN + 1, first=author.TEN))
    bodies = {"retrain": partial(training.run, context.engine, encoder)}
    worker = Worker(context.engine, context.settings.database_url, "here", bodies, model_runs.fail)
    execute(worker, str(author.row(context, handle).run_id))
    assert author.active(context, handle, "v2").sample_count == 4 + author.TEN
    assert author.waiting(context, handle) == author.TEN + 1
    author.sweep(context)
    author.finish(context, handle)
    assert author.active(context, handle, "v3").sample_count == 4 + author.TEN + author.TEN + 1
    assert author.waiting(context, handle) == 0


def test_a_refit_learns_what_waits_and_leaves_nothing_to_retrain(context: Context) -> None:
    handle = trained_here(context)
    author.say(context, handle, times=3)
    assert author.refit(context, handle).sample_count == 7
    assert author.waiting(context, handle) == 0


def test_a_retrain_goes_on_from_the_version_that_serves(context: Context) -> None:
    handle = trained_here(context, warm=6, cold=6)
    author.train(context, handle, TrainRequest(effort="high", reoptimize_params=True))
    author.activate(context, handle, "v1")
    author.say(context, handle, times=author.TEN)
    author.finish(context, handle)
    assert author.active(context, handle, "v3").metrics.effort == "low"
    assert author.get(context, handle).version_no == 3


@pytest.mark.parametrize("stated", ["exhaustive", None])
def test_a_retrain_of_a_version_with_an_unknown_effort_takes_the_default(context: Context, stated: str | None) -> None:
    """Another installation may know other efforts, and state one or none in the bundle that was imported."""
    handle = trained_here(context)
    with writing(context.engine) as connection:
        of_model = tables.versions.c.model_id == author.row(context, handle).id
        metrics = connection.execute(select(tables.versions.c.metrics).where(of_model)).scalar_one()
        connection.execute(update(tables.versions).where(of_model).values(metrics={**metrics, "effort": stated}))
    author.say(context, handle, times=author.TEN)
    with reading(context.engine) as connection:
        run = runs.read(connection, str(author.row(context, handle).run_id))
    assert run is not None
    assert (run.kind, run.effort) == ("retrain", DEFAULT_EFFORT)


# ---- clocks that were ahead ------------------------------------------------------------------------------------------


def test_feedback_dated_in_the_future_is_learned(context: Context) -> None:
    handle = trained_here(context)
    author.say(context, handle)
    author.let_wait(context, handle, -30)
    author.sweep(context)
    assert author.retrains(context, handle) == [], "a clock that is a little ahead"
    author.say(context, handle, first=1)
    author.let_wait(context, handle, -HOURS)
    author.sweep(context)
    author.finish(context, handle)
    assert (author.get(context, handle).version_no, author.waiting(context, handle)) == (2, 0)
    with reading(context.engine) as connection:
        # Scores are explained with the samples that it was trained with.
        assert len(list(neighbours.training_samples(connection, author.row(context, handle).id, 2))) == 6


def test_ten_dated_in_the_future_begin_a_retrain_and_one_that_failed_then_is_tried_again(context: Context) -> None:
    handle = trained_here(context)
    author.say(context, handle, times=author.TEN - 1)
    author.let_wait(context, handle, -HOURS)
    author.say(context, handle, first=author.TEN)
    assert len(author.retrains(context, handle)) == 1
    _set_finished(context, author.fail(context, handle), HOURS)
    author.sweep(context)
    assert len(author.retrains(context, handle)) == 2
