"""A JSON parser that is stricter than the standard library (core/docs/contract.md, "Bodies").

`parse` rejects malformed JSON, invalid UTF-8, duplicate keys and deep nesting. `faults` finds values that the contract
does not allow: NaN and infinite numbers, whole numbers beyond 64 bits, lone surrogates, U+0000. Errors never repeat the
input; they name a key only if it looks like the name of a field.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from traitbench.errors import InvalidJson

Fault = dict[str, Any]
Loc = tuple[str | int, ...]

MAX_DEPTH = 64
MAX_INTEGER = 2**63 - 1

_FIELD_NAME = re.compile(r"[\w.-]{1,64}")
_AT_ONCE = 2**18  # characters
_LONGEST_INTEGER = 25  # characters; a longer number does not fit into 64 bits


def parse(raw: bytes | bytearray) -> Any:
    """Parse UTF-8 bytes; raise `InvalidJson` if they are not one JSON value."""
    return read(decode(raw))


def read(text: str) -> Any:
    """Parse a text; raise `InvalidJson` if it is not one JSON value."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except json.JSONDecodeError as error:
        where = {"line": error.lineno, "column": error.colno}
        raise InvalidJson(f"The body is not JSON: {error.msg}.", details={"reason": error.msg, **where}) from None
    except RecursionError:
        raise _too_deep() from None


def decode(raw: bytes | bytearray) -> str:
    """Decode UTF-8 bytes; raise `InvalidJson` if they are not valid."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidJson("The body is not UTF-8.", details={"reason": "not UTF-8", "byte": error.start}) from None


def faults(value: Any, loc: Loc = ()) -> Iterator[Fault]:
    """Yield each value that the contract does not allow; raise `InvalidJson` if the nesting is too deep."""
    if len(loc) > MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _text_faults(key, (*loc, shown(key)))
            yield from faults(item, (*loc, shown(key)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from faults(item, (*loc, index))
    elif isinstance(value, str):
        yield from _text_faults(value, loc)
    elif isinstance(value, (int, float)):
        yield from _number_faults(value, loc)


def shown(key: str) -> str:
    """Return a key for an error message: a placeholder if it may be content instead of the name of a field."""
    return key if _FIELD_NAME.fullmatch(key) else "(key)"


def _text_faults(text: str, loc: Loc) -> Iterator[Fault]:
    if "\x00" in text:
        yield {"loc": list(loc), "type": "string_nul", "msg": "The character U+0000 is not allowed"}
    if not text.isascii() and not _is_unicode(text):
        yield {"loc": list(loc), "type": "string_unicode", "msg": "A lone surrogate is not a character"}


def _is_unicode(text: str) -> bool:
    try:
        for first in range(0, len(text), _AT_ONCE):  # in pieces, so that a long text does not block all other threads
            text[first : first + _AT_ONCE].encode()
    except UnicodeEncodeError:
        return False
    return True


def _number_faults(number: int | float, loc: Loc) -> Iterator[Fault]:
    if isinstance(number, int):
        if not -MAX_INTEGER <= number <= MAX_INTEGER:
            yield {"loc": list(loc), "type": "int_too_long", "msg": "A whole number must fit into 64 bits"}
    elif not math.isfinite(number):
        yield {"loc": list(loc), "type": "finite_number", "msg": "A number must be finite"}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InvalidJson(
            f"The body has the key {shown(twice)} twice in one object.",
            details={"reason": "duplicate key", "key": shown(twice)},
        )
    return value


def _integer(digits: str) -> int:
    # A longer one is refused for its size anyway, and to convert it would take quadratic time.
    return int(digits[:_LONGEST_INTEGER])


def _too_deep() -> InvalidJson:
    return InvalidJson(
        f"The body is nested deeper than {MAX_DEPTH} levels.", details={"reason": "too deep", "max_depth": MAX_DEPTH}
    )
