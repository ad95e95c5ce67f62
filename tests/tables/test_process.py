"""A file is read in a process of its own, once: what happens to either does not happen to the other."""

import gc
import io
import json
import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from tests.contexts import until
from tests.foreign_files.cases import drawn
from tests.foreign_files.hostile import HOSTILE
from traitbench.tables.process import MAX_MEMORY, ReaderQueue
from traitbench.tables.rows import MOST_COLUMNS, NotATable, Row
from traitbench.tables.scratch import IN_MEMORY, Scratch
from traitbench.tables.source import Source, opened, restored


def texts(source: Source) -> list[str]:
    return [line.cells["text"] for line in source.lines() if isinstance(line, Row)]


def grown(file: Path, done: threading.Event) -> None:
    with file.open("ab") as out:
        while not done.wait(0.005):
            out.write(b"one more text\n")
            out.flush()


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file, done = tmp_path / "log.csv", threading.Event()
    file.write_bytes(b"text\n" + b"a text of a log\n" * 20_000)
    writer = threading.Thread(target=grown, args=(file, done))
    writer.start()
    try:
        with file.open("rb") as content, pytest.raises(NotATable, match="changed while it was read"):
            opened(file.name, content)
    finally:
        done.set()
        writer.join()


def test_rows_stay_when_the_file_changes_later(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("text\nHello\nGood bye\n")
    with file.open("rb") as content:
        source = opened(file.name, content)
    file.write_text("text\nsomething else\n")
    assert texts(source) == ["Hello", "Good bye"]
    assert texts(restored(source.saved())) == ["Hello", "Good bye"]


def test_rows_can_be_read_by_several_at_once() -> None:
    source = opened("a.csv", io.BytesIO(b"text\n" + b"".join(b"text %d\n" % number for number in range(500))))
    pairs = zip(source.lines(), source.lines(), strict=True)
    assert all(one == other for one, other in pairs)


@pytest.mark.soak
def test_a_large_file_is_kept_on_disk_without_a_name(tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    line = b"x" * 1_023 + b"\n"
    file.write_bytes(b"text\n" + line * (IN_MEMORY // len(line) + 1))
    before = {each.name for each in tmp_path.iterdir()}
    with file.open("rb") as content:
        source = opened(file.name, content)
    assert source.count == IN_MEMORY // len(line) + 1
    assert {each.name for each in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["a cell far away", "a count of strings that lies", "a parquet with a changed footer"])
def test_a_file_that_ends_its_process_is_refused_in_words(name: str) -> None:
    with pytest.raises(NotATable, match=r"\w+ .*\."):
        opened("a.xlsx", io.BytesIO(drawn(HOSTILE.small[name], name, 0).bytes()))


@pytest.mark.soak
def test_a_file_that_asks_for_more_memory_than_there_is_is_refused() -> None:
    # One object with an element of ten bytes for each byte that reading may take.
    content = b'{"text": [' + b"[]," * (MAX_MEMORY // 20) + b"[]]}"
    with pytest.raises(NotATable, match="takes more than 1,024 MB of memory"):
        opened("a.jsonl", io.BytesIO(content))


def test_reading_leaves_no_process_and_no_descriptor_behind() -> None:
    opened("a.csv", io.BytesIO(b"text\nHello\n"))
    gc.collect()  # Otherwise what earlier tests have left open is closed at some time.
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        texts(opened("a.csv", io.BytesIO(b"text\nHello\n")))
    assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_table_of_very_many_columns_is_refused_in_words(kind: str) -> None:
    names = [f"c{number}" for number in range(MOST_COLUMNS + 1)]
    content = f"{','.join(names)}\n{','.join(names)}\n" if kind == "csv" else json.dumps(dict.fromkeys(names, 1))
    with pytest.raises(NotATable, match="more than 16,384 columns"):
        opened(f"a.{kind}", io.BytesIO(content.encode()))


def _has(queue: ReaderQueue, number: int) -> bool:
    return len(queue) == number


def test_two_files_are_read_at_once_and_the_others_in_their_order() -> None:
    queue, said, ended = ReaderQueue(2), {number: list[int]() for number in range(5)}, list[int]()
    go = [threading.Event() for _ in said]

    def read(number: int) -> None:
        with queue.turn(said[number].append):
            assert go[number].wait(60)
            ended.append(number)

    threads = [threading.Thread(target=read, args=(number,)) for number in said]
    for number, thread in enumerate(threads):
        thread.start()
        until(partial(_has, queue, number + 1), what="a place in the queue")
    for number in (1, 0, 2, 3, 4):
        go[number].set()
        threads[number].join()
    assert ended == [1, 0, 2, 3, 4]
    assert [said[number] for number in (0, 1, 2)] == [[], [], [1]]
    assert (said[4][0], sorted(said[4], reverse=True)) == (3, said[4])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_reader_ends_with_the_process_that_waits_for_it(tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    file.write_bytes(b"text\n" + b"a text\n" * 3_000_000)
    reads = f"from traitbench.tables.source import opened\nopened('a.csv', open({str(file)!r}, 'rb'))"
    parent = subprocess.Popen([sys.executable, "-c", reads])

    def readers() -> set[int]:
        found = subprocess.run(["pgrep", "-P", str(parent.pid)], capture_output=True, text=True).stdout
        return {*map(int, found.split())}

    until(lambda: bool(readers()), what="a reader")
    [reader] = readers()
    until(lambda: b"tables.process" in Path(f"/proc/{reader}/cmdline").read_bytes(), what="its start")
    until(lambda: os.getpriority(os.PRIO_PROCESS, reader) > os.getpriority(os.PRIO_PROCESS, 0), what="its priority")
    parent.kill()
    parent.wait()
    stat = Path(f"/proc/{reader}/stat")
    until(lambda: not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z", what="its end")


def test_rows_that_outgrow_memory_go_to_the_disk() -> None:
    scratch, content = Scratch(0), b"row\n" * (IN_MEMORY // 4 + 1)
    with scratch.open("wb") as out:
        out.write(content)
    number = scratch.fileno()
    assert "memfd" in os.readlink(f"/proc/self/fd/{number}")
    scratch.settle()
    assert scratch.fileno() == number
    assert "memfd" not in os.readlink(f"/proc/self/fd/{number}")
    with scratch.open() as file:
        assert file.read() == content
