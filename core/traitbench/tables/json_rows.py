"""Rows of JSON files: one object per line, or one array of objects."""

from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from typing import IO, Any

from traitbench.display.text import count
from traitbench.tables.rows import Encoding, Kind, NotATable, Problem, Record, is_damaged, lines_named

_BLANK = " \t\r\n"
_BROKEN_ARRAY = "The file starts like a JSON array but is not valid JSON. Save it as JSONL, with one object per line."
_DAMAGED = "has bytes that are not UTF-8. Save the file as UTF-8"


class Json:
    """The rows of a JSON file: one object per line, or the elements of an array."""

    kind: Kind = "json"
    columns: tuple[str, ...] = ()
    empty = 'No line is a JSON object. Each line should look like {"text": "...", "quality": 1}.'

    def __init__(self, file: IO[bytes], encoding: Encoding) -> None:
        self._file, self._encoding = file, encoding
        self._twice: list[int] = []
        self._repeated = False
        with encoding.text(file, "\n") as text:
            beginning = next((line.lstrip() for line in text if line.strip()), "")
        self._is_array = beginning.startswith("[")

    @property
    def notes(self) -> list[str]:
        """What to say about the file; complete after an iteration."""
        notes = [self._encoding.note] if self._encoding.note else []
        if self._twice:
            some = count(len(self._twice), "object has", "objects have")
            notes.append(f"{some} a key twice ({lines_named(self._twice)}). The last value is read.")
        return notes

    def __iter__(self) -> Iterator[Record | Problem]:
        self._twice = []
        decoder = JSONDecoder(object_pairs_hook=self._object)
        alone: dict[str, Any] | None = None
        for number, value in self._elements(decoder) if self._is_array else self._lines(decoder):
            if self._repeated:
                self._repeated = False
                self._twice.append(number)
            if isinstance(value, Problem):
                yield value
            elif isinstance(value, dict):
                # A file with a single object is often an answer of an API, whose rows are the list in it.
                alone = value if number == 1 else None
                yield number, value
            else:
                yield Problem(number, "", 'is not an object like {"text": "..."}')
        inside = [name for name, value in (alone or {}).items() if _is_table(value)]
        if inside:
            raise NotATable(f'The rows are inside the key "{inside[0]}". Save that list as the file, or as JSONL.')

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Return the object of some keys and values, and remember whether one was there twice."""
        value = dict(pairs)
        self._repeated = self._repeated or len(value) < len(pairs)
        return value

    def summary(self, rows: int) -> str:
        """Return how many rows there are."""
        return count(rows, "row")

    def _lines(self, decoder: JSONDecoder) -> Iterator[tuple[int, Any]]:
        with self._encoding.text(self._file, "\n") as text:
            for number, line in enumerate(text, start=1):
                if not line.strip():
                    continue
                if self._encoding.lenient and is_damaged(line):
                    yield number, Problem(number, "", _DAMAGED)
                    continue
                try:
                    yield number, decoder.decode(line)
                except (ValueError, RecursionError):
                    yield number, Problem(number, "", "is not JSON")

    def _elements(self, decoder: JSONDecoder) -> Iterator[tuple[int, Any]]:
        """Yield the elements of the array one by one: all of them as values would take several times the memory."""
        with self._encoding.text(self._file, "\n") as file:
            text = file.read()
        if self._encoding.lenient:
            raise NotATable("The file has bytes that are not UTF-8. Save it as UTF-8 and try again.")
        number = 0
        position = _next(text, _next(text, 0) + 1)
        try:
            while text[position] != "]" or number:
                number += 1
                value, position = decoder.raw_decode(text, position)
                yield number, value
                position = _next(text, position)
                if text[position] == "]":
                    break
                if text[position] != ",":
                    raise NotATable(_BROKEN_ARRAY)
                position = _next(text, position + 1)
            if text[position + 1 :].strip():
                raise NotATable(_BROKEN_ARRAY)
        except (JSONDecodeError, RecursionError, IndexError) as error:
            raise NotATable(_BROKEN_ARRAY) from error


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _next(text: str, position: int) -> int:
    """Return the place of the next character that is not blank."""
    while text[position : position + 1] and text[position] in _BLANK:
        position += 1
    return position
