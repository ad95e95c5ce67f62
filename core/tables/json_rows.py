"""Rows of JSON files: one object per line, or one array of objects."""

import json
from collections.abc import Iterator
from typing import IO, Any

from traitbench.tables.encoding import text_of
from traitbench.tables.rows import Line, Problem, Row, Unreadable, as_text


class Json:
    """The rows of a JSON file: one object per line, or the elements of an array."""

    columns: tuple[str, ...] = ()

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file, self._encoding = file, encoding

    def __iter__(self) -> Iterator[Line]:
        for number, value in self._values():
            if isinstance(value, Problem):
                yield value
            elif not isinstance(value, dict):
                yield Problem(number, "", 'is not an object like {"text": "..."}')
            else:
                yield Row(number, {key: as_text(each) for key, each in value.items()}, value)

    def check(self, _count: int, has_columns: bool) -> None:
        """Raise `Unreadable` if no line is an object."""
        if not has_columns:
            raise Unreadable('No line is a JSON object. Each line should look like {"text": "...", "quality": 1}.')

    def _values(self) -> Iterator[tuple[int, Any]]:
        """Yield the values with their line, or with their position in a JSON array."""
        with text_of(self._file, self._encoding, "\n") as text:
            beginning = next((line.lstrip() for line in text if line.strip()), "")
        with text_of(self._file, self._encoding, "\n") as text:
            if beginning.startswith("["):
                try:
                    yield from enumerate(json.load(text), start=1)
                except (ValueError, RecursionError) as error:
                    raise Unreadable("The file starts like a JSON array but is not valid JSON.") from error
                return
            for number, line in enumerate(text, start=1):
                if line.strip():
                    try:
                        yield number, json.loads(line)
                    except (ValueError, RecursionError):
                        yield number, Problem(number, "", "is not JSON")
