"""Bounds of JSON that has no type of its own: a model's sources, a version's metrics, what discovery found.

Such a value is kept as it was sent, so it is refused where a database or a reader could not take it.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
Fault = tuple[Path, str, str]
"""Where, which kind of error, and what is allowed."""

_FIELD_NAME = re.compile(r"[\w.-]{1,64}")
_STORABLE = "U+0000, a lone surrogate or a number out of range"
_LONGEST_INTEGER = 2**63


@dataclass(frozen=True)
class Bounds:
    """The most that a value may be: bytes as compact JSON, levels of nesting, size of a number, characters of a text
    and of a key. None leaves it to the bound in bytes."""

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
    """What is wrong with a value, each with its path inside it; nothing of its content is repeated."""
    found = False
    for fault in _inside(value, bounds, ()):
        found = True
        yield fault
    if not found and (size := _size(value)) > bounds.size:
        yield (), "too_large", f"it takes {size} bytes as JSON; at most {bounds.size} are allowed"


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _inside(value: Any, bounds: Bounds, path: Path) -> Iterator[Fault]:
    if len(path) > bounds.depth:
        yield path, "too_deep", f"it is nested deeper than {bounds.depth} levels"
    elif isinstance(value, dict):
        for key, each in value.items():
            place = (*path, shown(key))
            yield from _of_text(key, bounds.key, place, "a key")
            yield from _inside(each, bounds, place)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _inside(each, bounds, (*path, index))
    elif isinstance(value, str):
        yield from _of_text(value, bounds.text, path, "a text")
    elif isinstance(value, int | float):
        yield from _of_number(value, bounds, path)


def _of_text(text: str, most: int | None, path: Path, what: str) -> Iterator[Fault]:
    if "\x00" in text or (not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)):
        yield path, "not_storable", _STORABLE
    if most is not None and len(text) > most:
        yield path, "too_long", f"{what} has {len(text)} characters; at most {most} are allowed"


def _of_number(number: float, bounds: Bounds, path: Path) -> Iterator[Fault]:
    if not (-_LONGEST_INTEGER <= number < _LONGEST_INTEGER if isinstance(number, int) else math.isfinite(number)):
        yield path, "not_storable", _STORABLE
    elif bounds.magnitude is not None and abs(number) > bounds.magnitude:
        yield path, "out_of_range", f"a number from -{bounds.magnitude:g} to {bounds.magnitude:g} is allowed"


def shown(key: str) -> str:
    """A key as an error may name it: a key that is no field's name could be content."""
    return key if _FIELD_NAME.fullmatch(key) else "(key)"
