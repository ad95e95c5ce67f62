"""Read the JSON objects in the answer of a language model, and check each one against a schema.

Models wrap their JSON in prose or code fences, and are cut off in the middle. So every complete object counts, and what
does not fit the schema is counted as invalid.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

Item = TypeVar("Item", bound=BaseModel)

MOST_CHARACTERS = 1_000_000
"""The part of an answer that is read."""
MOST_BROKEN = 1_000
"""The rest is not read after this many objects that never end: each costs a look at all that came before it."""

_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class ModelReply(Generic[Item]):
    """The valid items of an answer in their order, and the number of invalid ones."""

    items: Sequence[Item]
    invalid: int = 0


def read(content: str, kind: type[Item]) -> ModelReply[Item]:
    """Return the objects in the text of an answer that fit the schema."""
    items, invalid = list[Item](), 0
    for each in _objects(content[:MOST_CHARACTERS]):
        try:
            items.append(kind.model_validate(each))
        except ValidationError:
            invalid += 1
    return ModelReply(items, invalid)


def _objects(content: str) -> Iterator[dict[str, Any]]:
    """The complete objects; of `{"items": [{...}, {...}]}` those of the list, also if it breaks off."""
    at, broken = content.find("{"), 0
    while at >= 0 and broken < MOST_BROKEN:
        try:
            value, end = _DECODER.raw_decode(content, at)
        except (ValueError, RecursionError):
            at, broken = content.find("{", at + 1), broken + 1
            continue
        yield from _unwrapped(value)
        at = content.find("{", end)


def _unwrapped(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    lists = [each for each in value.values() if isinstance(each, list)]
    inner = [each for some in lists for each in some]
    if inner and all(isinstance(each, dict) for each in inner):
        yield from inner
    else:
        yield value
