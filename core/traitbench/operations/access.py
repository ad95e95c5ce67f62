"""The access rules of the table of operations, checked in the contract's order: scope, handle, namespace, existence.

The service checks them before it reads a body; every operation checks them again in its own transaction.

See core/docs/contract.md, section 3.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection

from traitbench.contract import operations
from traitbench.contract.operation import Operation, Reach
from traitbench.errors import InsufficientScope, ModelNotFound, NamespaceForbidden, TraitNotFound
from traitbench.names import Handle, parse_handle, parse_pinned_handle
from traitbench.operations import rules
from traitbench.operations.trait_names import TraitIndex
from traitbench.store import models, traits
from traitbench.store.database import reading, writing
from traitbench.store.models import ModelRow

if TYPE_CHECKING:
    from traitbench.operations.context import Context


@dataclass(frozen=True)
class Caller:
    """The key behind a request, with the fields that the access rules need, its name, and who has it."""

    key_id: str
    scope: Literal["scoring", "authoring"]
    namespaces: frozenset[str]
    name: str = ""
    person: str = ""

    @property
    def label(self) -> str:
        """What a record says about who asked: the name of the key, or its id if it has none."""
        return self.name or self.key_id


def check(
    context: "Context",
    caller: Caller,
    operation: Operation[Any],
    handle: str | None = None,
    *,
    trait: str | None = None,
    namespace: str | None = None,
) -> None:
    """Raise what a call of this operation would raise before its body is read.

    The path has the `handle` of a model, a `namespace`, or neither. A `trait` in the path must exist too. Permission is
    checked before existence, cached or not: response time must not reveal whether another tenant's model exists.
    """
    if namespace is not None:
        check_namespace(context, caller, operation, namespace)
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
        if operation is not operations.TRAITS_UPDATE or not traits.is_dismissed(connection, model.id, trait):
            trait_of(connection, model, trait)


def check_scope(caller: Caller, operation: Operation[Any]) -> None:
    """Raise `InsufficientScope` if the operation needs an authoring key and the caller's is not one."""
    if operation.rule.scope == "authoring" and caller.scope != "authoring":
        raise InsufficientScope("This needs a key with the scope authoring.", details={"scope": caller.scope})


def check_namespace(context: "Context", caller: Caller, operation: Operation[Any], namespace: str) -> None:
    """Raise unless scope and namespace allow an operation whose path names a namespace but no model."""
    check_scope(caller, operation)
    public = operation.rule.reach == "read" and namespace in context.settings.public_namespaces
    if namespace not in caller.namespaces and not public:
        raise NamespaceForbidden("The key does not own this namespace.", details={"namespace": namespace[:200]})


def permit(context: "Context", caller: Caller, operation: Operation[Any], handle: str) -> Handle:
    """The parsed handle, if scope and namespace allow the operation. Whether the model exists is not checked."""
    check_scope(caller, operation)
    name = parse_pinned_handle(handle).handle if operation.takes_version else parse_handle(handle)
    _check_namespace(context, caller, operation.rule.reach, name)
    return name


@contextmanager
def to_read(
    context: "Context", caller: Caller, operation: Operation[Any], handle: str
) -> Iterator[tuple[Connection, ModelRow]]:
    """The model of an operation that the caller may do, in a transaction that only reads."""
    name = str(permit(context, caller, operation, handle))
    with reading(context.engine) as connection:
        yield connection, require_model(models.find(connection, name), name)


@contextmanager
def to_change(
    context: "Context", caller: Caller, operation: Operation[Any], handle: str
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


def _check_namespace(context: "Context", caller: Caller, reach: Reach | None, name: Handle) -> None:
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
