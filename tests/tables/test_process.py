"""A file is read in a process of its own, once: what happens to either does not happen to the other."""

import gc
import io
import os
import threading
from pathlib import Path

import pytest

from tests.foreign_files.cases import drawn
from tests.foreign_files.hostile import HOSTILE
from traitbench.tables.process import MAX_MEMORY
from traitbench.tables.rows import NotATable, Row
from traitbench.tables.scratch import IN_MEMORY
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
