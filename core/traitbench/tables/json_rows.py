"""Rows of JSON files: one object per line, or one array of objects."""

import os
from collections.abc import Iterator, Mapping
from json import JSONDecodeError, JSONDecoder
from typing import IO, Any

from traitbench.display.text import count
from traitbench.tables.annotations import rows_of
from traitbench.tables.conversations import has_roles
from traitbench.tables.rows import TEXT_NAMES, Encoding, Kind, NotATable, Problem, Record, is_damaged, lines_named

_MOST_NAMED = 4
_MOST_WHOLE = 200 << 20
"""Bytes of a file that is read at once to look for rows inside one object."""

_BLANK = " \t\r\n"
_BROKEN_ARRAY = "The file starts like a JSON array but is not valid JSON. Save it as JSONL, with one object per line."
_DAMAGED = "has bytes that are not UTF-8. Save the file as UTF-8"


class Json:
    """The rows of a JSON file: one object per line, or the elements of an array, which an object may hold."""

    kind: Kind = "json"
    columns: tuple[str, ...] = ()
    empty = 'No line is a JSON object. Each line should look like {"text": "...", "quality": 1}.'

    def __init__(self, file: IO[bytes], encoding: Encoding) -> None:
        self._file, self._encoding = file, encoding
        self._twice: list[int] = []
        self._repeated = False
        self._texts = self._labelled = 0
        with encoding.text(file, "\n") as text:
            filled = (line.lstrip() for line in text if line.strip())
            beginning, second = next(filled, ""), next(filled, "")
        self._is_array = beginning.startswith("[")
        self._inside: tuple[str, list[Any]] | None = None
        is_line = _decodes(beginning) if beginning.startswith("{") else True
        is_alone = not is_line or (beginning.startswith("{") and not second.startswith("{"))
        if is_alone and _size(file) <= _MOST_WHOLE:
            self._inside = self._rows_inside(is_line=is_line)

    @property
    def notes(self) -> list[str]:
        """What to say about the file; complete after an iteration."""
        notes = [self._encoding.note] if self._encoding.note else []
        if self._inside and self._inside[0]:
            notes.append(f'The rows are those inside the key "{self._inside[0]}".')
        if self._texts:
            labelled, texts = count(self._labelled, "row"), count(self._texts, "text")
            notes.append(f"{labelled} of {texts}: one row for each person who labelled a text.")
        if self._twice:
            some = count(len(self._twice), "object has", "objects have")
            notes.append(f"{some} a key twice ({lines_named(self._twice)}). The last value is read.")
        return notes

    def __iter__(self) -> Iterator[Record | Problem]:
        self._twice = []
        self._texts = self._labelled = 0
        decoder = JSONDecoder(object_pairs_hook=self._object)
        for number, value in self._values(decoder):
            number += self._labelled - self._texts
            if self._repeated:
                self._repeated = False
                self._twice.append(number)
            if isinstance(value, Problem):
                yield value
            elif isinstance(value, dict):
                labelled = rows_of(value)
                if labelled is None:
                    yield number, value
                else:
                    self._texts += 1
                    self._labelled += len(labelled)
                    yield from enumerate(labelled, start=number)
            else:
                yield Problem(number, "", 'is not an object like {"text": "..."}')

    def _values(self, decoder: JSONDecoder) -> Iterator[tuple[int, Any]]:
        if self._inside:
            return enumerate(self._inside[1], start=1)
        return self._elements(decoder) if self._is_array else self._lines(decoder)

    def _rows_inside(self, *, is_line: bool) -> tuple[str, list[Any]] | None:
        """Return the list of rows in a file of one object, such as the answer of an API, and the key of that list.

        An object with a text or a conversation of its own is the only row, which has no key; None for a file of lines.
        Raise `NotATable` for several lists.
        """
        with self._encoding.text(self._file, "\n") as file:
            try:
                alone = JSONDecoder().decode(file.read())
            except (ValueError, RecursionError):
                return None
        row = None if is_line or not isinstance(alone, dict) else ("", [alone])
        if not isinstance(alone, dict) or rows_of(alone) is not None:
            return row
        if any(isinstance(alone.get(name), str) for name in TEXT_NAMES):
            return row
        if rows := _keyed(alone) or _columnar(alone):
            return "", rows
        lists = _tables_in(alone) or [
            (f"{name}.{inside}", rows)
            for name, value in alone.items()
            if isinstance(value, dict)
            for inside, rows in _tables_in(value)
        ]
        if len(lists) > 1:
            keys = ", ".join(f'"{name}"' for name, _ in lists[:_MOST_NAMED])
            raise NotATable(f"The rows are inside several keys: {keys}. Save one of these lists as a file of its own.")
        return lists[0] if lists and not has_roles(lists[0][1]) else row

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


def _tables_in(value: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    return [(name, each) for name, each in value.items() if isinstance(each, list) and each and _are_objects(each)]


def _keyed(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of an object whose values are all objects alike, each with its key; none for another object."""
    inside = [each for each in value.values() if isinstance(each, dict)]
    if len(inside) < max(2, len(value)) or not set.intersection(*map(set, inside)):
        return []
    return [{"key": key, **each} for key, each in value.items()]


def _columnar(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of an object whose values are columns of one length; none for another object."""
    lengths = {len(each) if isinstance(each, list) else 0 for each in value.values()}
    if len(value) < 2 or len(lengths) > 1 or min(lengths) < 2 or _tables_in(value):
        return []
    return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]


def _are_objects(values: list[Any]) -> bool:
    return all(isinstance(each, dict) for each in values)


def _size(file: IO[bytes]) -> int:
    return file.seek(0, os.SEEK_END)


def _decodes(line: str) -> bool:
    try:
        JSONDecoder().decode(line)
    except (ValueError, RecursionError):
        return False
    return True


def _next(text: str, position: int) -> int:
    """Return the place of the next character that is not blank."""
    while text[position : position + 1] and text[position] in _BLANK:
        position += 1
    return position
