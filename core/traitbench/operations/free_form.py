"""Limits of free-form JSON: a model's sources, a version's metrics, the record of a discovery.

Such a value is stored as it was sent, so it is refused if a database or a reader could not handle it.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
Fault = tuple[Path, str, str]
"""Path, type of the error, and message."""

_FIELD_NAME = re.compile(r"[\w.-]{1,64}")
_NOT_STORABLE = "U+0000, a lone surrogate or a number out of range"
_INTEGER_LIMIT = 2**63


@dataclass(frozen=True)
class Bounds:
    """Limits of a value: bytes as compact JSON, levels of nesting, size of a number, characters of a text and of a key.

    None means that only the limit in bytes applies.
    """

    size: int
    depth: int
    magnitude: float | None = None
    text: int | None = None
    key: int | None = None


SOURCES = Bounds(size=64 * 1024, depth=16)
METRICS = Bounds(size=512 * 1024, depth=16, magnitude=1e15, text=2_000, key=200)
DISCOVERY = Bounds(size=16 * 1024, depth=8, magnitude=1e15, text=2_000, key=200)
SNAPSHOT = Bounds(size=64 * 1024 * 1024, depth=16)


def faults(value: Any, bounds: Bounds) -> Iterator[Fault]:
    """What is wrong with a value, each problem with its path; no content is repeated."""
    any_fault = False
    for fault in _faults_inside(value, bounds, ()):
        any_fault = True
        yield fault
    if not any_fault and (size := _size(value)) > bounds.size:
        yield (), "too_large", f"it takes {size} bytes as JSON; at most {bounds.size} are allowed"


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _faults_inside(value: Any, bounds: Bounds, path: Path) -> Iterator[Fault]:
    if len(path) > bounds.depth:
        yield path, "too_deep", f"it is nested deeper than {bounds.depth} levels"
    elif isinstance(value, dict):
        for key, each in value.items():
            place = (*path, shown(key))
            yield from _text_faults(key, bounds.key, place, "a key")
            yield from _faults_inside(each, bounds, place)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _faults_inside(each, bounds, (*path, index))
    elif isinstance(value, str):
        yield from _text_faults(value, bounds.text, path, "a text")
    elif isinstance(value, int | float):
        yield from _number_faults(value, bounds, path)


def _text_faults(text: str, most: int | None, path: Path, what: str) -> Iterator[Fault]:
    if "\x00" in text or (not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)):
        yield path, "not_storable", _NOT_STORABLE
    if most is not None and len(text) > most:
        yield path, "too_long", f"{what} has {len(text)} characters; at most {most} are allowed"


def _number_faults(number: float, bounds: Bounds, path: Path) -> Iterator[Fault]:
    if not (-_INTEGER_LIMIT <= number < _INTEGER_LIMIT if isinstance(number, int) else math.isfinite(number)):
        yield path, "not_storable", _NOT_STORABLE
    elif bounds.magnitude is not None and abs(number) > bounds.magnitude:
        yield path, "out_of_range", f"a number from -{bounds.magnitude:g} to {bounds.magnitude:g} is allowed"


def shown(key: str) -> str:
    """A key as an error may show it: one that does not look like a field name could be content."""
    return key if _FIELD_NAME.fullmatch(key) else "(key)"
