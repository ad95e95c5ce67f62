"""Real faults of a real SQLite file: each has one message, and nothing is acknowledged that is not stored."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from time import sleep

import pytest
from sqlalchemy import Engine, event, make_url, text

from tests.contexts import ON_SQLITE, new_handle
from tests.store.conftest import new_model
from traitbench.errors import Unavailable
from traitbench.runs.engine import Runs
from traitbench.runs.queue import engine_url
from traitbench.settings import Settings, read_settings, sqlite_url
from traitbench.store import models
from traitbench.store.database import check_file, clean, cleanable, in_place, open_engine, reading, writing
from traitbench.store.errors import StoreUnavailable
from traitbench.store.migrate import migrate, open_store

pytestmark = ON_SQLITE

ODD = ("a?b", "a#b", "a%41b", "a b", "aüb", "a&b=c", "a'b\"c", "a:b@c")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "traitbench.db"


@pytest.fixture
def opened(file: Path) -> Iterator[Engine]:
    engine = open_store(_settings(file))
    yield engine
    engine.dispose()


def _settings(file: Path) -> Settings:
    return Settings(home=file.parent, database_url=sqlite_url(file))


def _add(engine: Engine, *, description: str = "") -> str:
    handle = new_handle()
    new_model(engine, now=datetime.now(UTC), handle=handle, description=description)
    return handle


def _refused(act: Callable[[], object], reason: str) -> StoreUnavailable:
    with pytest.raises(StoreUnavailable) as caught:
        act()
    error = caught.value
    assert error.reason == reason
    assert (error.status, error.code) == (503, "unavailable")
    assert isinstance(error, Unavailable)
    assert int(error.headers["Retry-After"]) > 0
    assert error.message.count(".") >= 2, "what happened and what to do now"
    assert error.__cause__ is None, "no statement behind it"
    return error


def _count(engine: Engine) -> int:
    with reading(engine) as connection:
        counted: int = connection.execute(text("SELECT count(*) FROM tb_models")).scalar_one()
        return counted


@contextmanager
def _unwritable(*paths: Path) -> Iterator[None]:
    """Make files and folders read-only for this user; for root that takes a stronger attribute."""
    if os.geteuid() != 0:
        modes = [(path, path.stat().st_mode) for path in paths]
        for path in paths:
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield
        for path, mode in modes:
            path.chmod(mode)
        return
    if subprocess.run(["chattr", "+i", *paths], capture_output=True).returncode != 0:
        pytest.skip("this file system has no way to keep root from writing")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", *paths], check=True)


def test_a_full_disk_is_named_and_nothing_of_the_transaction_stays(opened: Engine) -> None:
    @event.listens_for(opened, "begin")
    def _no_more_pages(connection: object) -> None:
        connection.exec_driver_sql("PRAGMA max_page_count=1")  # type: ignore[attr-defined]

    before = _count(opened)
    error = _refused(lambda: _add(opened, description="x" * 10_000_000), "full")
    assert "Nothing was stored." in error.message
    assert _count(opened) == before


def test_a_database_that_another_process_locks_is_named(opened: Engine, file: Path) -> None:
    @event.listens_for(opened, "connect")
    def _impatient(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA busy_timeout=50")

    opened.dispose()
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        _refused(lambda: _add(opened), "busy")
        assert _count(opened) == 0, "reading goes on"
    _add(opened)


@pytest.mark.parametrize("then", ["nothing", "an empty file", "another database"])
def test_a_file_that_is_removed_takes_no_more_writes_and_is_not_made_anew(
    opened: Engine, file: Path, tmp_path: Path, then: str
) -> None:
    _add(opened)
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    shutil.rmtree(file.parent)
    if then != "nothing":
        file.parent.mkdir()
        file.touch()
    if then == "another database":
        shutil.copy(copy, file)
    assert not in_place(opened)
    _refused(lambda: _add(opened), "gone")
    _refused(lambda: _count(opened), "gone")
    opened.dispose()  # a new connection may not create it either
    _refused(lambda: _add(opened), "gone")
    assert file.parent.exists() == (then != "nothing")
    if then == "another database":
        again = open_engine(sqlite_url(file))
        assert _count(again) == 1
        again.dispose()


def test_the_run_engine_does_not_make_a_file_either(opened: Engine, file: Path) -> None:
    opened.dispose()
    shutil.rmtree(file.parent)
    file.parent.mkdir()
    with pytest.raises(StoreUnavailable):
        Runs(sqlite_url(file), module="none", greeting={})
    assert not file.exists()


def test_a_file_that_is_read_only_is_named_with_the_way_out(opened: Engine, file: Path) -> None:
    _add(opened)
    clean(opened, patience_s=1)
    opened.dispose()
    with _unwritable(file):
        error = _refused(lambda: _add(opened), "read_only")
        assert "writable" in error.message
        opened.dispose()
        with pytest.raises(StoreUnavailable, match=r"cannot be used|read-only"):
            open_store(_settings(file))
    assert _count(opened) == 1


@pytest.mark.parametrize("wrong", ["garbage", "cut short", "pages overwritten"])
def test_a_damaged_file_is_found_at_the_start(file: Path, opened: Engine, wrong: str) -> None:
    for _ in range(20):
        _add(opened, description="x" * 10_000)
    clean(opened, patience_s=1)
    opened.dispose()
    content = bytearray(file.read_bytes())
    if wrong == "garbage":
        content[:] = os.urandom(len(content))
    elif wrong == "cut short":
        del content[len(content) // 2 :]
    else:
        content[4096 * 2 : 4096 * 12] = os.urandom(4096 * 10)
    file.write_bytes(content)
    error = _refused(lambda: open_store(_settings(file), check_s=10), "damaged")
    assert "backup" in error.message


def test_the_look_for_damage_ends_in_time_and_finds_nothing_in_a_sound_file(opened: Engine) -> None:
    for _ in range(20):
        _add(opened, description="x" * 100_000)
    check_file(opened, within_s=10)
    check_file(opened, within_s=0)
    _add(opened)


@pytest.mark.parametrize(
    ("revision", "reason", "words"),
    [("9999", "newer", "by a newer Traitbench"), ("0004", "older", "Open it once with release 0.2.0")],
)
def test_a_database_of_another_release_is_left_alone(
    opened: Engine, file: Path, revision: str, reason: str, words: str
) -> None:
    with writing(opened) as connection:
        connection.execute(text("UPDATE tb_schema SET version_num = :revision"), {"revision": revision})
    error = _refused(lambda: open_store(_settings(file)), reason)
    assert words in error.message
    with writing(opened) as connection:
        assert connection.execute(text("SELECT version_num FROM tb_schema")).scalar_one() == revision


def test_a_database_without_our_tables_is_named(tmp_path: Path) -> None:
    engine = open_engine(sqlite_url(tmp_path / "other.db"))
    with writing(engine) as connection:
        connection.execute(text("CREATE TABLE other (id INTEGER)"))
    _refused(lambda: _count(engine), "not_ours")
    migrate(engine)
    assert _count(engine) == 0
    engine.dispose()


def test_a_server_that_does_not_answer_is_named_without_the_password() -> None:
    engine = open_engine("postgresql://anna:secret@127.0.0.1:1/none")
    error = _refused(lambda: _count(engine), "away")
    assert "secret" not in error.message
    engine.dispose()


@pytest.mark.parametrize("name", ODD)
def test_a_home_may_have_any_name(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    settings = read_settings({"TRAITBENCH_HOME": str(home)})
    file = home / "traitbench.db"
    assert make_url(settings.database_url).database == str(file)
    engine = open_store(settings)
    service = Runs(settings.database_url, module="none", greeting={})
    handle = _add(engine)
    with writing(engine) as connection:
        model = models.hold(connection, handle)
        assert model is not None
        service.enqueue(connection, "run_odd", "train", model.id)
    service.cancel("run_odd")
    service.close()
    engine.dispose()
    with closing(sqlite3.connect(file)) as connection3:
        assert connection3.execute("SELECT workflow_uuid FROM workflow_status").fetchall() == [("run_odd",)]
        assert connection3.execute("SELECT handle FROM tb_models").fetchall() == [(handle,)]
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert "mode=rw&" in engine_url(settings.database_url)


def test_a_log_is_cut_off_while_others_keep_reading(opened: Engine) -> None:
    stop = Event()

    def read_on() -> None:
        while not stop.is_set():
            with reading(opened) as connection:
                connection.execute(text("SELECT count(*) FROM tb_models")).scalar_one()
                sleep(0.02)

    threads = [Thread(target=read_on) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            _add(opened, description="x" * 100_000)
            assert cleanable(opened, patience_s=10)
            assert clean(opened, patience_s=10)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_reader_that_stays_is_waited_for_and_then_named(opened: Engine) -> None:
    with reading(opened) as connection:
        connection.execute(text("SELECT count(*) FROM tb_models")).scalar_one()
        _add(opened)
        assert not cleanable(opened, patience_s=0.1)
    assert cleanable(opened, patience_s=0.1)
