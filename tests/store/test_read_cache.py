"""Cached results are valid until anybody writes, and no longer."""

from collections.abc import Hashable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Thread
from typing import NoReturn

import pytest
from sqlalchemy import Engine, text

from tests.contexts import ON_SQLITE
from traitbench.store.database import open_engine, reading, writing
from traitbench.store.migrate import migrate
from traitbench.store.read_cache import ReadCache

pytestmark = ON_SQLITE


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Engine]:
    """A SQLite file, whichever database the other tests use."""
    engine = open_engine(f"sqlite:///{tmp_path / 'traitbench.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def read_cache(file: Engine) -> Iterator[ReadCache]:
    read_cache = ReadCache(file)
    yield read_cache
    read_cache.close()


def write(engine: Engine, name: str) -> None:
    with writing(engine) as connection:
        connection.execute(text("INSERT INTO tb_workers VALUES (:name, 1)"), {"name": name})


def holds(read_cache: ReadCache, asked: Hashable) -> bool:
    def read() -> NoReturn:
        raise LookupError

    with suppress(LookupError):
        read_cache.get(asked, read)
        return True
    return False


def workers(engine: Engine) -> list[str]:
    with reading(engine) as connection:
        return sorted(connection.execute(text("SELECT executor_id FROM tb_workers")).scalars())


def test_what_nobody_changed_is_read_once(read_cache: ReadCache) -> None:
    numbers = count()
    assert [read_cache.get("a", lambda: next(numbers)) for _ in range(3)] == [0, 0, 0]
    assert read_cache.get("b", lambda: next(numbers)) == 1
    assert (holds(read_cache, "a"), holds(read_cache, "c")) == (True, False)


@pytest.mark.parametrize("same_process", [True, False])
def test_a_write_is_seen_at_once_whoever_wrote(file: Engine, read_cache: ReadCache, same_process: bool) -> None:
    other = file if same_process else open_engine(file.url)
    for number in range(5):
        write(other, f"worker {number}")
        assert not holds(read_cache, "workers")
        for _ in range(2):
            assert len(read_cache.get("workers", lambda: workers(file))) == number + 1
    other.dispose()


def test_reading_and_what_is_rolled_back_change_nothing(file: Engine, read_cache: ReadCache) -> None:
    read_cache.get("workers", lambda: workers(file))
    workers(file)
    with file.connect() as connection, connection.begin() as transaction:
        connection.execute(text("INSERT INTO tb_workers VALUES ('x', 1)"))
        transaction.rollback()
    assert holds(read_cache, "workers")


def test_what_changed_while_it_was_read_is_not_remembered(file: Engine, read_cache: ReadCache) -> None:
    def read() -> list[str]:
        result = workers(file)
        write(file, "meanwhile")
        return result

    assert read_cache.get("workers", read) == []
    assert read_cache.get("workers", lambda: workers(file)) == ["meanwhile"]


def test_what_fails_is_not_remembered(read_cache: ReadCache) -> None:
    with pytest.raises(ZeroDivisionError):
        read_cache.get("a", lambda: 1 // 0)
    assert read_cache.get("a", lambda: 7) == 7


def test_many_threads_never_see_less_than_was_there_when_they_asked(file: Engine, read_cache: ReadCache) -> None:
    written, wrong = list[str](), list[int]()

    def look() -> None:
        while len(written) < 40:
            before = len(written)
            if len(read_cache.get("workers", lambda: workers(file))) < before:
                wrong.append(before)

    threads = [Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(40):
        write(file, f"worker {number:02}")
        written.append(f"worker {number:02}")
    for thread in threads:
        thread.join()
    assert wrong == []


def test_it_can_be_told_to_forget_and_remembers_no_more_than_so_much(read_cache: ReadCache) -> None:
    for number in range(3_000):
        read_cache.get(number, lambda: "x" * 10)
    assert sum(holds(read_cache, number) for number in range(3_000)) <= 1_000
    read_cache.get("last", lambda: 1)
    read_cache.clear()
    assert not holds(read_cache, "last")


def test_a_database_that_does_not_tell_is_asked_every_time(file: Engine) -> None:
    silent = ReadCache(open_engine("postgresql://nowhere.example/none"))
    numbers = count()
    assert [silent.get("a", lambda: next(numbers)) for _ in range(3)] == [0, 1, 2]
    closed = ReadCache(file)
    closed.close()
    assert [closed.get("a", lambda: next(numbers)) for _ in range(2)] == [3, 4]


def test_large_results_count_for_several_small_ones(read_cache: ReadCache) -> None:
    for number in range(2_950):
        read_cache.get(number, lambda: "x" * 100, weight=10)
    assert 0 < sum(holds(read_cache, number) for number in range(2_950)) <= 100
