"""The rows of a table, whatever file and encoding they come from, and what may be wrong with one."""

import codecs
import io
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, Literal

TEXT_NAMES = (
    *("text", "content", "sample", "sentence", "message", "review", "comment", "body"),
    *("kommentar", "nachricht", "rezension", "satz"),
)
"""Names of columns of texts, case-folded; earlier ones are likelier."""

Kind = Literal["csv", "json", "parquet", "excel"]


MOST_COLUMNS = 16_384
"""The most columns of a table, as in a spreadsheet."""


class NotATable(ValueError):
    """The file is not a table; the message says what to do."""


def refuse_if_wide(columns: int) -> None:
    """Raise `NotATable` if a table has more than `MOST_COLUMNS` columns."""
    if columns > MOST_COLUMNS:
        raise NotATable(f"The file has more than {MOST_COLUMNS:,} columns. Keep those that you need, then retry.")


@dataclass(frozen=True)
class Row:
    """One record; `number` is its first line, `record` its typed values if the file is not plain text.

    `given` has the cells that are read as another text, such as that of a conversation, as they are in the file.
    """

    number: int
    cells: Mapping[str, str]
    record: Mapping[str, Any] | None = None
    given: Mapping[str, str] = field(default_factory=dict)

    def original(self, column: str) -> str:
        """Return a cell as it is in the file; an empty text if there is none."""
        return self.given.get(column, self.cells.get(column, ""))

    def value(self, column: str) -> Any:
        """Return the typed value of a column, which may be a path inside objects; None if it is missing."""
        return self.cells.get(column) if self.record is None else _at_path(self.record, column)


@dataclass(frozen=True)
class Problem:
    """Why a row is not valid."""

    row: int
    column: str
    reason: str


Line = Row | Problem


@dataclass(frozen=True)
class Table:
    """Rows with named columns, and the rows that cannot be read; `conversations` are columns of messages."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    problems: tuple[Problem, ...]
    conversations: tuple[str, ...] = ()


Cells = tuple[int, list[str]]
"""The number of a record and its cells, in the order of the columns; there may be fewer cells than columns."""

Record = tuple[int, Mapping[str, Any]]
"""The number of a record and its typed values, which JSON can represent."""


def flattened(record: Mapping[str, Any], whole: Collection[str] = ()) -> dict[str, Any]:
    """Return the values of a record, and those of objects in it by their path, such as `data.text`.

    Objects in the columns `whole`, and those that are too deep, stay values.
    """
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict) and key not in whole:
            _flatten(key, value, flat)
        else:
            flat[key] = value
    return flat


def _flatten(path: str, value: Mapping[str, Any], flat: dict[str, Any], depth: int = 1) -> None:
    if not value or depth > _DEEPEST:
        flat.setdefault(path, value or None)
    elif value.keys() == {"choices"}:
        # Label Studio writes several answers in this way, and a single one as its name.
        flat.setdefault(path, value["choices"])
    else:
        for key, inside in value.items():
            if isinstance(inside, dict):
                _flatten(f"{path}.{key}", inside, flat, depth + 1)
            else:
                flat.setdefault(f"{path}.{key}", inside)


def _at_path(record: Mapping[str, Any], path: str) -> Any:
    if path in record:
        value = record[path]
        return value["choices"] if isinstance(value, dict) and value.keys() == {"choices"} else value
    for dot in (at for at, letter in enumerate(path) if letter == "."):
        inside = record.get(path[:dot])
        if isinstance(inside, Mapping) and (value := _at_path(inside, path[dot + 1 :])) is not None:
            return value
    return None


def as_text(value: Any) -> str:
    """Return the value of a cell as text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def column_names(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns, each once; those without a name or with the name of another are numbered."""
    given = [cell.strip() for cell in cells]
    taken, names = set(given), dict[str, None]()
    for position, name in enumerate(given, start=1):
        number = position
        new = name or f"Column {position}"
        while new in names or (new in taken and new != name):
            new = f"{name} ({number})" if name else f"Column {number}"
            number += 1
        names[new] = None
    return tuple(names)


def lines_named(lines: Sequence[int]) -> str:
    """Return the first of some line numbers in words: `line 5`, or `first in line 5`."""
    return f"line {lines[0]:,}" if len(lines) == 1 else f"first in line {lines[0]:,}"


# UTF-32 first: its mark begins like that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DEEPEST = 4
_CHUNK = 1 << 20
_HEAD = 1 << 16
_FEWEST_NULS = 0.02
"""In UTF-16, every separator, digit and line break has a NUL; in other text, NULs are rare faults."""

_ESCAPED = re.compile("[\udc80-\udcff]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_READ_AS = "The file was read as {0}, because it is not UTF-8. Check accents and quotation marks in the preview."


@dataclass(frozen=True)
class Encoding:
    """How the bytes of a file become text. Bytes that do not fit become lone surrogates, if `lenient`."""

    name: str
    lenient: bool = False
    note: str = ""

    @contextmanager
    def text(self, file: IO[bytes], newline: str) -> Iterator[io.TextIOWrapper]:
        """Open the file as text from its start; the file itself stays open."""
        file.seek(0)
        errors = "surrogateescape" if self.lenient else "strict"
        text = io.TextIOWrapper(file, self.name, errors, newline=newline)
        try:
            yield text
        finally:
            if not file.closed:
                text.detach()


def encoding_of(file: IO[bytes]) -> Encoding:
    """Return the encoding of the file; raise `NotATable` if it is blank or not text."""
    file.seek(0)
    head = file.read(_HEAD)
    for mark, name in _MARKS:
        if head.startswith(mark):
            if not _decodes(file, name):
                claimed = name.removesuffix("-sig").upper()
                raise NotATable(f"The file claims to be {claimed} but is not. Save it as UTF-8.")
            return Encoding(name)
    wide = _without_mark(head)
    if wide and _decodes(file, wide):
        return Encoding(wide, note=_READ_AS.format(wide.upper().removesuffix("-LE").removesuffix("-BE")))
    if _decodes(file, "utf-8"):
        return Encoding("utf-8")
    good, bad = _counted(file)
    if good > bad:
        return Encoding("utf-8", lenient=True)
    if b"\x00" in head:
        raise NotATable("The file is no text, or neither UTF-8 nor UTF-16 with a mark. Save it as UTF-8.")
    if _decodes(file, "cp1252"):
        return Encoding("cp1252", note=_READ_AS.format("Windows-1252"))
    raise NotATable("The file is neither UTF-8 nor Windows-1252. Save it as UTF-8 and try again.")


def is_damaged(text: str) -> bool:
    """Whether a text of a lenient encoding has bytes that are not UTF-8."""
    return _ESCAPED.search(text) is not None


def _without_mark(head: bytes) -> str | None:
    """Return the byte order of UTF-16: its separators and line breaks have their NUL on one side; None without NULs."""
    first, second = head[::2].count(0), head[1::2].count(0)
    if first + second < _FEWEST_NULS * len(head) or len(head) % 2:
        return None
    return "utf-16-be" if first > second else "utf-16-le"


def _decodes(file: IO[bytes], encoding: str) -> bool:
    """Whether the whole file is in this encoding; raise `NotATable` if it is blank."""
    blank = True
    try:
        for text in _decoded(file, encoding, "strict"):
            blank = blank and not text.strip("\ufeff \t\r\n\f\v")
    except UnicodeDecodeError:
        return False
    if blank:
        raise NotATable("The file is empty.")
    return True


def _counted(file: IO[bytes]) -> tuple[int, int]:
    """Count the characters beyond ASCII that are valid UTF-8, and the bytes that are not."""
    good = bad = 0
    for text in _decoded(file, "utf-8", "surrogateescape"):
        wrong = len(_ESCAPED.findall(text))
        good += len(_NOT_ASCII.findall(text)) - wrong
        bad += wrong
    return good, bad


def _decoded(file: IO[bytes], encoding: str, errors: str) -> Iterator[str]:
    file.seek(0)
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    while chunk := file.read(_CHUNK):
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)
