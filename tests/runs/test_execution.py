"""One execution of a run, without the engine around it."""

from functools import partial
from threading import Event, Thread
from time import sleep

import pytest
from sqlalchemy.exc import OperationalError

from tests.patience import PATIENCE_S
from tests.runs.conftest import Yard
from traitbench.contract.models import Progress
from traitbench.errors import InsufficientSamples
from traitbench.operations import model_runs, rules
from traitbench.runs.execution import Execution, Fenced
from traitbench.runs.executor import Body, Worker, execute, persist
from traitbench.runs.heartbeat import WorkItem
from traitbench.store import models, runs
from traitbench.store.database import writing
from traitbench.store.errors import unavailable


def _worker(yard: Yard, body: Body) -> Worker:
    return Worker(yard.engine, yard.settings.database_url, "one", {"train": body}, model_runs.fail)


def _raise(error: Exception) -> Body:
    def body(_: Execution) -> None:
        raise error

    return body


def _succeed(yard: Yard, execution: Execution) -> None:
    with writing(yard.engine) as connection:
        execution.succeed(connection, phase="counting", total=1)


def _queue(yard: Yard) -> tuple[int, str]:
    model_id = yard.model()
    run_id = yard.record(model_id)
    with writing(yard.engine) as connection:
        models.change(connection, model_id, now=rules.now(), run_id=run_id)
    return model_id, run_id


def _error(yard: Yard, model_id: int) -> tuple[str, str]:
    error = yard.operation(model_id).error
    assert error is not None
    return error.code, error.message


def _progress(yard: Yard, model_id: int) -> Progress:
    progress = yard.operation(model_id).progress
    assert progress is not None
    return progress


def test_what_the_body_says_of_a_failure_is_kept(yard: Yard) -> None:
    model_id, run_id = _queue(yard)
    execute(_worker(yard, _raise(InsufficientSamples("Not enough."))), run_id)
    assert _error(yard, model_id) == ("insufficient_samples", "Not enough.")
    assert yard.state(model_id) == "failed"


def test_what_an_unexpected_error_says_is_kept_nowhere(yard: Yard, caplog: pytest.LogCaptureFixture) -> None:
    model_id, run_id = _queue(yard)
    execute(_worker(yard, _raise(ValueError("a very private text"))), run_id)
    code, message = _error(yard, model_id)
    assert code == "internal_error"
    assert "ValueError" in message
    assert run_id in message
    assert "private" not in message + caplog.text
    assert run_id in caplog.text


def test_a_database_that_is_away_is_no_outcome(yard: Yard) -> None:
    _, run_id = _queue(yard)
    with pytest.raises(OperationalError):
        execute(_worker(yard, _raise(OperationalError("SELECT 1", None, Exception()))), run_id)
    assert yard.run(run_id).status == "running"


def test_a_run_waits_for_its_database_and_is_executed_when_that_is_back(
    yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    _, run_id = _queue(yard)
    troubles = [unavailable("away"), unavailable("full"), OperationalError("SELECT 1", None, Exception())]

    def body(execution: Execution) -> None:
        if troubles:
            raise troubles.pop()
        _succeed(yard, execution)

    persist(_worker(yard, body), run_id)
    assert (yard.run(run_id).status, yard.run(run_id).attempts) == ("succeeded", 4)
    assert "The disk of the database is full." in caplog.text
    assert "Traceback" not in caplog.text


def test_a_suspected_run_is_executed_alone(yard: Yard) -> None:
    suspected, other = _queue(yard)[1], _queue(yard)[1]
    with writing(yard.engine) as connection:
        runs.strike(connection, suspected, strikes=1, item=WorkItem("learning").to_json())
    began, beside, leave = Event(), list[str](), Event()

    def body(execution: Execution) -> None:
        beside.append(execution.run.id)
        if execution.run.id == suspected:
            assert execution.suspected
            began.set()
            assert leave.wait(PATIENCE_S)

    worker = _worker(yard, body)
    threads = [Thread(target=execute, args=(worker, run_id)) for run_id in (suspected, other)]
    threads[0].start()
    assert began.wait(PATIENCE_S)
    threads[1].start()
    sleep(0.3)
    assert beside == [suspected]
    assert yard.run(other).status == "queued", "it has not begun, and says so"
    leave.set()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert beside == [suspected, other]


def test_a_run_is_never_given_up_for_having_been_begun_often(yard: Yard) -> None:
    _, run_id = _queue(yard)
    with writing(yard.engine) as connection:
        for attempt in range(25):
            runs.claim(connection, run_id, f"attempt {attempt}")
    execute(_worker(yard, partial(_succeed, yard)), run_id)
    assert (yard.run(run_id).status, yard.run(run_id).attempts) == ("succeeded", 26)


def test_a_run_that_has_ended_is_not_begun_again(yard: Yard) -> None:
    _, run_id = _queue(yard)
    execute(_worker(yard, _raise(ValueError())), run_id)
    execute(_worker(yard, _raise(AssertionError("not begun again"))), run_id)
    assert yard.run(run_id).attempts == 1


def test_an_execution_stops_when_its_run_is_another_ones_and_cannot_end_it(yard: Yard) -> None:
    _, run_id = _queue(yard)
    began = []

    def displaced(execution: Execution) -> None:
        with writing(yard.engine) as connection:
            runs.claim(connection, run_id, "the other")
        with pytest.raises(Fenced):
            _succeed(yard, execution)
        began.append(execution.owner)
        execution.report("counting", 1, 2, fraction=0.5)
        raise AssertionError("it was not stopped")

    execute(_worker(yard, displaced), run_id)
    assert len(began) == 1
    assert yard.run(run_id).status == "running"


def test_progress_is_written_twice_a_second_at_most_and_never_goes_back(yard: Yard) -> None:
    model_id, run_id = _queue(yard)
    shown = []

    def look(execution: Execution) -> None:
        for step, fraction in enumerate((0.5, 0.6, 0.1)):
            execution.report("counting", step, 3, fraction=fraction)
            shown.append((_progress(yard, model_id).done, _progress(yard, model_id).fraction))

    execute(_worker(yard, look), run_id)
    assert shown == [(0, 0.5)] * 3


def test_the_time_left_is_the_one_reported_or_else_follows_from_the_fraction(yard: Yard) -> None:
    seen: list[float | None] = []
    for left_s in (41.5, None):
        model_id, run_id = _queue(yard)

        def body(execution: Execution, left_s: float | None = left_s, model_id: int = model_id) -> None:
            execution.report("learning", 0, 1, fraction=0.5, left_s=left_s)
            seen.append(_progress(yard, model_id).eta_s)

        execute(_worker(yard, body), run_id)
    assert seen[0] == 41.5
    assert seen[1] is not None
    assert seen[1] < 41.5
