"""An idle worker asks one small question; the run engine looks for work only if a run is queued."""

from collections.abc import Iterator
from time import sleep

import pytest
from dbos import DBOSClient
from sqlalchemy import create_engine, text

from tests.contexts import ON_SQLITE, until
from tests.runs.conftest import StartWorker, Yard
from traitbench.runs.idling import ask_before_polling
from traitbench.runs.queue import QUEUE, engine_url
from traitbench.store.database import writing


@pytest.fixture
def engine(yard: Yard) -> Iterator[DBOSClient]:
    client = DBOSClient(system_database_url=engine_url(yard.settings.database_url))
    ask_before_polling(client)
    yield client
    client.destroy()


def test_the_engine_looks_for_work_only_while_a_run_is_queued(yard: Yard, engine: DBOSClient) -> None:
    places = engine._sys_db.dequeue_scopes
    assert places(QUEUE) == []
    run_id = yard.queue(yard.model())
    assert places(QUEUE) == [None]
    assert places("another") == []
    yard.service.cancel(run_id)
    assert places(QUEUE) == []


@ON_SQLITE
def test_if_the_question_fails_the_engine_looks_itself(yard: Yard, engine: DBOSClient) -> None:
    with writing(yard.engine) as connection:
        connection.execute(text("ALTER TABLE workflow_status RENAME TO moved"))
    assert engine._sys_db.dequeue_scopes(QUEUE) == [None]


@ON_SQLITE
def test_an_idle_worker_does_not_search_for_the_next_run(yard: Yard, start_worker: StartWorker) -> None:
    start_worker("one")
    sleep(1.0)
    assert yard.log_lines("searches") == []
    yard.wait(yard.queue(yard.model()))
    until(lambda: yard.log_lines("searches"), what="the engine to search for the run")


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_no_session_of_an_idle_worker_stays_in_a_transaction(yard: Yard, start_worker: StartWorker) -> None:
    """PostgreSQL ends such sessions, and its log fills with it. Meanwhile they keep dead rows from being removed."""
    idle = text(
        "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'"
        " AND state_change < clock_timestamp() - interval '0.7 s'"
    )
    for name in ("one", "two"):
        start_worker(name)
    sleep(1.0)
    watching = create_engine(yard.engine.url, isolation_level="AUTOCOMMIT")
    with watching.connect() as connection:
        assert connection.execute(idle).scalars().all() == []
    watching.dispose()
