"""What a file is, what a right reading of it is, and how far a reading is from that."""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from types import EllipsisType
from typing import IO

from tests import wild
from traitbench.formulas import as_written
from traitbench.tables.rows import Line, NotATable, Problem, Row
from traitbench.tables.source import Source

Cell = str | frozenset[str]
"""A cell as it was, or any of several equally good texts, such as of a date."""

Record = tuple[Cell, ...] | EllipsisType | None
"""The cells of a row; `...` for a row that may have any cells or a problem, None for one that must have a problem."""

Content = bytes | Callable[[IO[bytes]], object]

MOST_MIB = 1_500
"""The memory that no reading may exceed, the libraries included."""


@dataclass(frozen=True)
class Rows:
    """The rows to read, by the names of columns, or by position if there are none; a note must match `says`."""

    columns: tuple[str, ...]
    rows: tuple[Record, ...]
    says: str = ""


@dataclass(frozen=True)
class Refused:
    """The file has no table that can be read: a sentence must say so, and match `pattern`."""

    pattern: str = ""


@dataclass(frozen=True)
class Survived:
    """Rows or a sentence, whichever: the process lives, and its memory and time are bounded."""


Right = Rows | Refused | Survived


@dataclass(frozen=True)
class Case:
    """A file with its name, and the readings that are right."""

    name: str
    content: Content
    right: tuple[Right, ...]
    header: bool = True

    def write(self, file: IO[bytes]) -> None:
        """Write the file."""
        if callable(self.content):
            self.content(file)
        else:
            file.write(self.content)

    def bytes(self) -> bytes:
        """Return the file."""
        file = io.BytesIO()
        self.write(file)
        return file.getvalue()


@dataclass(frozen=True)
class Verdict:
    """How a file was read. `faults` is empty for a right reading; none of them repeats a text of the file."""

    rows_in: int = 0
    rows_out: int = 0
    problems: int = 0
    changed: int = 0
    refused: str = ""
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    seconds: float = 0.0
    mib: float = 0.0


# ---- the kinds -------------------------------------------------------------------------------------------------------

Kind = Callable[[Random], Case]


@dataclass
class Kinds:
    """Kinds of files by name; the large ones take seconds each and are measured, not tested."""

    small: dict[str, Kind] = field(default_factory=dict)
    large: dict[str, Kind] = field(default_factory=dict)

    def add(self, kind: Kind) -> Kind:
        """Register a kind under the name of its function."""
        self.small[kind.__name__.replace("_", " ")] = kind
        return kind

    def add_large(self, kind: Kind) -> Kind:
        """Register a kind of large files."""
        self.large[kind.__name__.replace("_", " ")] = kind
        return kind


def drawn(kind: Kind, name: str, seed: int) -> Case:
    """Return the file of a kind that a seed draws."""
    return kind(Random(f"{name} {seed}"))


# ---- their content ---------------------------------------------------------------------------------------------------

COLUMNS = ("id", "text", "label")
LABELS = ("warm", "cold", "0,5", "1", "Warm", "")
QUOTES = (
    '"Open" was on the sign, the door was shut',
    'He said "hello" to me, and "goodbye" to nobody',
    'The 5" nails are 3/4" too long',
    '"I never got the parcel, and the shop does not answer',
    "She wrote: 'it's \"fine\"'",
    '""',
    '"',
)
"""What no program quotes if it does not quote: the marks are part of the texts."""

PLAIN = (
    "Thank you so much, the parts fit and the note was kind.",
    "No answer, no refund, no excuse; I am done with you.",
    "Well, it works, mostly, on Tuesdays, when it rains",
    "La réponse est arrivée très tôt — merci à l’équipe !",
    "Der Händler hat „sofort“ geantwortet, größer geht's nicht",
    "梱包がとても丁寧でした。また頼みます。",
    "😀😀",
    "👍🏽",
    "1,5 of 5",
    "see https://example.org/a?b=1,2&c=3;d",
    "ok",
)
POOL = tuple(text for text in wild.texts(240, seed=11) if as_written(text) == text)


def texts(chance: Random, count: int = 14, *, without: str = "", among: Sequence[str] = POOL) -> list[str]:
    """Draw texts that have none of some characters, and always the plain ones that have none of them."""
    fitting = [text for text in among if not set(without) & set(text)]
    plain = [text for text in PLAIN if not set(without) & set(text)]
    chosen = [*chance.sample(fitting, min(count, len(fitting))), *plain]
    chance.shuffle(chosen)
    return chosen


def numbered(some: Iterable[str]) -> list[tuple[str, ...]]:
    """Return rows of a number, a text and a label."""
    return [(str(at), text, LABELS[at % len(LABELS)]) for at, text in enumerate(some, start=1)]


# ---- judging ---------------------------------------------------------------------------------------------------------


def judged(right: Sequence[Right], read: Callable[[], Source]) -> Verdict:
    """Read a file and return how near that is to the nearest right reading."""
    rows_in = max((len(each.rows) for each in right if isinstance(each, Rows)), default=0)
    try:
        source = read()
        if not rows_in:
            return _counted(right, source)
        lines = list(source.lines())
        again = list(source.lines())
    except NotATable as error:
        sentence = str(error)
        patterns = [each.pattern for each in right if isinstance(each, Refused)]
        anything = any(isinstance(each, Survived) for each in right)
        faults = [] if anything or any(re.search(each, sentence, re.IGNORECASE) for each in patterns) else ["refused"]
        return Verdict(rows_in, refused=sentence, faults=(*faults, *_bad_sentences([sentence], right)))
    except Exception as error:
        return Verdict(rows_in, faults=(f"raised {type(error).__name__}",))
    rows = tuple(line for line in lines if isinstance(line, Row))
    contract = [
        *(["its count is not the number of its lines"] if source.count != len(lines) else []),
        *(["its lines are others the second time"] if again != lines else []),
        *(["the first rows are not the first"] if source.head.rows != rows[: len(source.head.rows)] else []),
        *(["two columns have one name"] if len(set(source.columns)) != len(source.columns) else []),
        *_bad_sentences([line.reason for line in lines if isinstance(line, Problem)], right, whole=False),
        *_bad_sentences(source.notes, right),
    ]
    results = [_compared(each, source, lines) for each in right]
    changed, faults = min(results, key=lambda result: (len(result[1]), result[0]))
    problems = sum(isinstance(line, Problem) for line in lines)
    return Verdict(
        rows_in,
        len(lines) - problems,
        problems,
        changed,
        notes=source.notes,
        faults=(*faults, *dict.fromkeys(contract)),
    )


def _counted(right: Sequence[Right], source: Source) -> Verdict:
    """Return the verdict on a file without right rows. None of its lines is held, so that memory is the reader's."""
    counts = Counter(isinstance(line, Problem) for line in source.lines())
    faults = [
        *([] if any(isinstance(each, Survived) for each in right) else ["is read, not refused"]),
        *(["its count is not the number of its lines"] if source.count != counts.total() else []),
        *_bad_sentences(source.notes, right),
    ]
    return Verdict(0, counts[False], counts[True], notes=source.notes, faults=tuple(faults))


def _compared(right: Right, source: Source, lines: Sequence[Line]) -> tuple[int, list[str]]:
    """Return the number of rows that are not as they were, and the faults."""
    if not isinstance(right, Rows):
        return len(lines), ["is read, not refused"]
    faults = []
    if missing := [name for name in right.columns if name not in source.columns]:
        faults.append(f"{len(missing)} of {len(right.columns)} columns are missing")
    if right.says and not any(re.search(right.says, note, re.IGNORECASE) for note in source.notes):
        faults.append("a note is missing")
    found = [None if isinstance(line, Problem) else _cells(line.cells, right.columns) for line in lines]
    if len(found) != len(right.rows):
        faults.append(f"{len(found)} rows of {len(right.rows)}")
        present = Counter(found)
        changed = sum(not present[row] for row in map(_plain, right.rows) if row is not None)
    else:
        changed = sum(not _is_same(row, cells) for row, cells in zip(right.rows, found, strict=True))
    if changed:
        faults.append(f"{changed} rows changed")
    return changed, faults


def _cells(line: Mapping[str, str], columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(line.get(name, "") for name in columns) if columns else tuple(line.values())


def _plain(row: Record) -> tuple[str, ...] | None:
    """Return a row that has exactly one right reading."""
    cells = [cell for cell in row if isinstance(cell, str)] if isinstance(row, tuple) else []
    return tuple(cells) if isinstance(row, tuple) and len(cells) == len(row) else None


def _is_same(row: Record, cells: tuple[str, ...] | None) -> bool:
    if row is ... or row is None or cells is None:
        return row is ... or row is cells
    return len(row) == len(cells) and all(
        cell == found if isinstance(cell, str) else found in cell for cell, found in zip(row, cells, strict=True)
    )


def _bad_sentences(sentences: Iterable[str], right: Sequence[Right], *, whole: bool = True) -> list[str]:
    """Return what is wrong with sentences that a person reads."""
    secrets = {
        cell
        for each in right
        if isinstance(each, Rows)
        for row in each.rows
        if isinstance(row, tuple)
        for cell in row
        if isinstance(cell, str) and len(cell) > 15
    }
    faults = []
    for sentence in set(sentences):
        if any(cell in sentence for cell in secrets):
            faults.append("a sentence repeats a text")
        if whole and not re.fullmatch(r"[A-Z0-9\"'].{8,500}[.!?]", sentence, re.DOTALL):
            faults.append("what it says is not a sentence")
        if re.search(r"Traceback|Error\(|/tmp/|codec|0x[0-9a-f]{4}", sentence):
            faults.append("a sentence is not for a person")
    return faults
