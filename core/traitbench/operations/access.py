"""Access rules as a table, checked in the contract's order: scope, handle, namespace, existence.

The service checks them before it reads a body; every operation checks them again in its own transaction.

See core/docs/contract.md, section 3.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from sqlalchemy import Connection

from traitbench.errors import InsufficientScope, ModelNotFound, NamespaceForbidden, TraitNotFound
from traitbench.names import Handle, parse_handle, parse_pinned_handle
from traitbench.operations import rules
from traitbench.operations.trait_names import TraitIndex
from traitbench.store import models, traits
from traitbench.store.database import reading, writing
from traitbench.store.models import ModelRow

if TYPE_CHECKING:
    from traitbench.operations.context import Context

_Read = Literal[
    "models.list",
    "models.get",
    "models.card",
    "traits.list",
    "traits.get",
    "versions.list",
    "versions.get",
    "versions.compare",
    "versions.activations",
    "scores.score",
    "scores.compare",
    "scores.batch",
    "extract",
]
_OwnedRead = Literal[
    "models.export",
    "samples.list",
    "samples.plan",
    "samples.rejected",
]
_Write = Literal[
    "models.create",
    "models.update",
    "models.delete",
    "models.restore",
    "models.train",
    "models.retrain",
    "models.import",
    "models.fork",
    "models.promote",
    "traits.discover",
    "traits.add",
    "traits.update",
    "traits.delete",
    "samples.add",
    "samples.update",
    "samples.delete",
    "samples.delete_many",
    "samples.synthesize",
    "versions.tag",
    "versions.untag",
    "versions.activate",
    "scores.feedback",
]
Operation = _Read | _OwnedRead | _Write | Literal["metrics"]
Reach = Literal["read", "owned read", "write"]


@dataclass(frozen=True)
class Caller:
    """The key behind a request, with the fields that the access rules need, and its name."""

    key_id: str
    scope: Literal["scoring", "authoring"]
    namespaces: frozenset[str]
    name: str = ""

    @property
    def label(self) -> str:
        """What a record says about who asked: the name of the key, or its id if it has none."""
        return self.name or self.key_id


@dataclass(frozen=True)
class Rule:
    """The scope that an operation needs, and the namespaces that it can reach."""

    scope: Literal["any", "authoring"]
    reach: Reach


RULES: Mapping[Operation, Rule] = {
    **dict.fromkeys(get_args(_Read), Rule("any", "read")),
    **dict.fromkeys(get_args(_OwnedRead), Rule("authoring", "owned read")),
    **dict.fromkeys(get_args(_Write), Rule("authoring", "write")),
    "metrics": Rule("authoring", "read"),
}


def check(
    context: "Context", caller: Caller, operation: Operation, handle: str | None = None, *, trait: str | None = None
) -> None:
    """Raise what a call of this operation would raise before its body is read.

    A `trait` in the path must exist too. Permission is checked before existence, cached or not: response time must not
    reveal whether another tenant's model exists.
    """
    if handle is None:
        check_scope(caller, operation)
        return
    name = str(permit(context, caller, operation, handle))
    if trait is None:
        context.cached(("model", name), lambda: _exists(context, name))
        return
    with reading(context.engine) as connection:
        model = require_model(models.find(connection, name), name)
        # An update may bring a dismissed suggestion back.
        if operation != "traits.update" or not traits.is_dismissed(connection, model.id, trait):
            trait_of(connection, model, trait)


def check_scope(caller: Caller, operation: Operation) -> None:
    """Raise `InsufficientScope` if the operation needs an authoring key and the caller's is not one."""
    if RULES[operation].scope == "authoring" and caller.scope != "authoring":
        raise InsufficientScope("This needs a key with the scope authoring.", details={"scope": caller.scope})


def permit(context: "Context", caller: Caller, operation: Operation, handle: str) -> Handle:
    """The parsed handle, if scope and namespace allow the operation. Whether the model exists is not checked."""
    check_scope(caller, operation)
    pinned = operation.startswith("scores.") or operation == "versions.compare"
    name = parse_pinned_handle(handle).handle if pinned else parse_handle(handle)
    _check_namespace(context, caller, RULES[operation].reach, name)
    return name


@contextmanager
def to_read(
    context: "Context", caller: Caller, operation: Operation, handle: str
) -> Iterator[tuple[Connection, ModelRow]]:
    """The model of an operation that the caller may do, in a transaction that only reads."""
    name = str(permit(context, caller, operation, handle))
    with reading(context.engine) as connection:
        yield connection, require_model(models.find(connection, name), name)


@contextmanager
def to_change(
    context: "Context", caller: Caller, operation: Operation, handle: str
) -> Iterator[tuple[Connection, ModelRow]]:
    """The model of an operation that the caller may do, locked in a transaction that may write."""
    name = str(permit(context, caller, operation, handle))
    with writing(context.engine) as connection:
        yield connection, require_model(models.hold(connection, name), name)


def is_author(caller: Caller, handle: str) -> bool:
    """Whether the caller's key is an authoring key that owns the model's namespace."""
    return caller.scope == "authoring" and parse_handle(handle).namespace in caller.namespaces


def require_model(model: ModelRow | None, handle: str) -> ModelRow:
    """The model; raise `ModelNotFound` if there is none."""
    if model is None:
        raise _not_found(handle)
    return model


def trait_of(connection: Connection, model: ModelRow, name: str) -> traits.TraitRow:
    """The trait with this key or, failing that, this name; raise `TraitNotFound` if there is none."""
    index = TraitIndex(traits.rows(connection, model.id))
    trait = index.find(name)
    if trait is None:
        known = index.known()
        raise TraitNotFound(
            f"The model {model.handle} has no trait {rules.quoted(name)}.{rules.known_keys(known)}",
            details={"trait": name[:200], **known},
        )
    return trait


def _exists(context: "Context", name: str) -> None:
    with reading(context.engine) as connection:
        require_model(models.find(connection, name), name)


def _check_namespace(context: "Context", caller: Caller, reach: Reach, name: Handle) -> None:
    if name.namespace in caller.namespaces:
        return
    public = name.namespace in context.settings.public_namespaces
    if reach == "read" and public:
        return
    if reach == "write" or public:
        raise NamespaceForbidden(
            f"The key does not own the namespace {name.namespace}.", details={"namespace": name.namespace}
        )
    raise _not_found(str(name))


def _not_found(handle: str) -> ModelNotFound:
    return ModelNotFound(f"There is no model {handle} that this key can read.", details={"handle": handle})
