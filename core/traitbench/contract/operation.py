"""What an operation is: the type of a row of `traitbench.contract.operations`, and its vocabulary."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, cast

from traitbench import errors
from traitbench.contract.fields import Received, Wire
from traitbench.contract.states import TABLE, Outcome, Transition
from traitbench.errors import TraitbenchError

PREFIX = "/v1"
"""Of our own API. Doors, which speak the wire of other programs, may have prefixes of their own."""

JSON = "application/json"
TEXT = "text/plain"
MARKDOWN = "text/markdown"
LINES = "application/x-ndjson"
HTML = "text/html"

BODY = "requestBody"
"""In what follows an operation, the name of the body beside the names of parameters."""

Answer = TypeVar("Answer", bound=Wire)
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
"""What `Allow` lists, in its order: every path that has `GET` has `HEAD` too."""

Reach = Literal["read", "owned read", "write"]
KeySource = Literal["bearer", "basic", "x-api-key", "query"]
"""Where a request carries its key.

Those are `Authorization: Bearer`, the password of `Authorization: Basic`, the header `x-api-key`, and the query
parameter `key`.
"""
ErrorForm = Literal["envelope", "decision", "perspective"]
"""How errors are written: as our envelope, or as the programs expect that speak another wire."""
Work = Literal["score", "long", "explain", "batch", "write", "transfer", "read"]
Failures = tuple[type[TraitbenchError], ...]
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """The scope of the key that an operation needs, and the namespaces that it can reach."""

    scope: Literal["none", "any", "authoring"]
    reach: Reach | None
    locally_open: bool = False
    """Whether callers on the machine of the service need no key."""


OPEN, LOCAL = Rule("none", None), Rule("authoring", "read", locally_open=True)
READ, OWNED_READ, WRITE = Rule("any", "read"), Rule("authoring", "owned read"), Rule("authoring", "write")


@dataclass(frozen=True, eq=False)
class Operation(Generic[Answer]):
    """One operation, as a route below its prefix, or as a part of the route of another operation."""

    name: str
    route: str
    """The method and the path below the prefix."""
    rule: Rule
    answer: type[Answer]
    body: type[Received] | None = None
    statuses: tuple[int, ...] = (200,)
    """The statuses of success, first the usual one."""
    transitions: tuple[Transition, ...] = ()
    """The rows of the table of states that apply; none if every state of a model allows it."""
    failures: Failures = ()
    """Errors of its own, beside those that follow from the other fields."""
    then: Mapping[str, Values] = field(default_factory=dict)
    """What can follow, by name: where the values of its parameters are in this request or answer."""
    offers: tuple[str, ...] = (JSON,)
    """Media types of the answer, first the usual one."""
    work: Work | None = None
    needs_body: bool = True
    text_as: str = ""
    """The field that a body of plain text fills; empty if there must be JSON."""
    takes_version: bool = False
    """Whether the handle may be pinned to a version."""
    within: "Operation[Any] | None" = None
    """The operation whose route this is a part of, with an access rule of its own."""
    prefix: str = PREFIX
    key_from: tuple[KeySource, ...] = ("bearer",)
    """The places where the key may be, tried in this order."""
    errors_as: ErrorForm = "envelope"
    """The form of every error on this route; below a prefix of its own, also of an unknown path."""
    in_openapi: bool = True
    """Whether the OpenAPI document has it. Perspective's wire has a description of its own."""
    may_write: bool = False
    """Whether a part of it with an access rule of its own writes."""
    open_query: bool = False
    """Whether unknown and repeated query parameters are ignored."""

    @cached_property
    def method(self) -> Method:
        """The method of HTTP."""
        return cast("Method", self.route.partition(" ")[0])

    @cached_property
    def path(self) -> str:
        """The path below the prefix, with the names of its parameters in braces."""
        return self.route.partition(" ")[2]

    @cached_property
    def full_path(self) -> str:
        """The path with its prefix."""
        return self.prefix + self.path

    @cached_property
    def takes_key(self) -> bool:
        """Whether a repeat with the same `Idempotency-Key` has no further effect: every `POST` that may write."""
        return self.method == "POST" and (self.rule.reach == "write" or self.may_write)

    @property
    def is_door(self) -> bool:
        """Whether it speaks the wire of other programs, so that our own client has no method for it."""
        return self.prefix != PREFIX or self.errors_as != "envelope" or self.key_from != ("bearer",)

    @property
    def kind_of_work(self) -> Work:
        """The kind of work that it counts as: by default a read or a write, as its method says."""
        return self.work or ("read" if self.method == "GET" else "write")

    def refusals(self) -> Iterator[type[TraitbenchError]]:
        """Yield the errors of its own, and those of the states of a model."""
        for transition in self.transitions:
            for cell in TABLE[transition].values():
                if not isinstance(cell, Outcome):
                    yield cell
                elif error := _UNLESS.get(cell):
                    yield error
        yield from self.failures


_UNLESS: Mapping[Outcome, type[TraitbenchError]] = {
    Outcome.MATCH: errors.ModelBusy,
    Outcome.IF_VERSION: errors.ModelNotTrained,
}
