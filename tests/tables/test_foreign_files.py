"""Files as other people and their programs write them: every text as it was, or a sentence, and the process lives.

The smaller size reads one file of each kind, those that are made to do harm in a process of their own. The full size
reads twenty of each and the large ones, all in such processes, with bounded memory and time.
"""

import io
from collections.abc import Iterator

import pytest

from tests.foreign_files.cases import Case, Kind, Refused, Rows, drawn, judged
from tests.foreign_files.delimited import DELIMITED
from tests.foreign_files.hostile import HOSTILE
from tests.foreign_files.reading import Reader
from tests.foreign_files.records import RECORDS
from tests.foreign_files.sheets import SHEETS
from tests.size import SOAK, sized
from tests.tables.in_process import opened_here

HARMLESS = DELIMITED.small | RECORDS.small | SHEETS.small
SMALL = HARMLESS | HOSTILE.small
LARGE = DELIMITED.large | RECORDS.large | SHEETS.large | HOSTILE.large
SEEDS = range(sized(1, 20))


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader() as reader:
        yield reader


def faults(reader: Reader, name: str, kind: Kind, seeds: range) -> list[str]:
    """What is wrong with the readings of the files that some seeds draw."""
    verdicts = [(seed, reader.read(drawn(kind, name, seed))) for seed in seeds]
    return [f"{name}, seed {seed}: {'; '.join(each.faults)}" for seed, each in verdicts if each.faults]


@pytest.mark.parametrize("name", HARMLESS)
def test_a_file_is_read_as_it_is_or_refused_in_words(name: str) -> None:
    case = drawn(HARMLESS[name], name, 0)
    source = io.BytesIO(case.bytes())
    assert judged(case.right, lambda: opened_here(case.name, source, header=case.header)).faults == ()


@pytest.mark.parametrize("name", SMALL if SOAK else HOSTILE.small)
def test_a_file_is_read_or_refused_within_bounded_memory_and_time(reader: Reader, name: str) -> None:
    assert faults(reader, name, SMALL[name], SEEDS) == []


@pytest.mark.soak
@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_takes_bounded_memory_and_time(reader: Reader, name: str) -> None:
    assert faults(reader, name, LARGE[name], range(1)) == []


# ---- the measure itself ----------------------------------------------------------------------------------------------

RIGHT = Rows(("id", "text"), (("1", "a kind word"), ("2", "")))


@pytest.mark.parametrize(
    ("content", "right", "fault"),
    [
        (b"id,text\n1,a kind word\n2,\n", RIGHT, ""),
        (b"id,text\n1,a kind work\n2,\n", RIGHT, "1 rows changed"),
        (b"id,text\n1,a kind word\n", RIGHT, "1 rows of 2"),
        (b"id,text\n1,a kind word\n1,2,3\n", RIGHT, "1 rows changed"),
        (b"id,words\n1,a kind word\n2,\n", RIGHT, "1 of 2 columns are missing"),
        (b"id,text\n1,a kind word\n2,\n", Rows(RIGHT.columns, RIGHT.rows, "read as"), "a note is missing"),
        (b"id,text\n1,a kind word\n2,\n", Refused(), "is read, not refused"),
        (b"id,text\n", RIGHT, "refused"),
    ],
)
def test_a_wrong_reading_is_noticed(content: bytes, right: Rows | Refused, fault: str) -> None:
    found = judged((right,), lambda: opened_here("a.csv", io.BytesIO(content)))
    assert fault in found.faults if fault else found.faults == ()


def test_a_process_that_ends_is_noticed_and_the_next_file_is_read(reader: Reader) -> None:
    unusable = Case("a.csv", b"", (Refused("("),))
    assert reader.read(unusable).faults == ("ended with exit code 1",)
    assert reader.read(Case("a.csv", b"id,text\n1,a\n", (Rows(("id",), (("1",),)),))).faults == ()


def test_files_are_always_the_same() -> None:
    for name, kind in list(SMALL.items())[:: sized(5, 1)]:
        assert drawn(kind, name, 3).bytes() == drawn(kind, name, 3).bytes(), name
