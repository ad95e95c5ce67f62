"""The caller of an operation, as far as the access rules need to know it."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Caller:
    """The key behind a request."""

    key_id: str
    scope: Literal["scoring", "authoring"]
    namespaces: frozenset[str]
