"""Attributes: names as Perspective has them, such as TOXICITY, and the traits that they mean.

An alias of a namespace decides. Without one, an attribute is the trait whose key in capitals it is, of a model that
scores and is no fork. The namespaces of the key come first, then the public ones.

See core/docs/contract.md, "Attributes".
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from traitbench.contract import operations
from traitbench.contract.attributes import ATTRIBUTE
from traitbench.errors import (
    ModelArchived,
    ModelNotFound,
    ModelNotTrained,
    NamespaceForbidden,
    TagNotFound,
    UnresolvedAttribute,
    ValidationFailed,
    VersionNotFound,
)
from traitbench.operations import access, rules, serving
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import attributes
from traitbench.store.attributes import Meaning
from traitbench.store.database import reading

_MOST_NAMED = 20
_GONE = (
    *(ModelNotFound, NamespaceForbidden, ModelArchived, ModelNotTrained),
    *(VersionNotFound, TagNotFound, ValidationFailed),
)


class AttributeTrait(NamedTuple):
    """The trait that an attribute means: a handle, which may be pinned, and the key of a trait of that version."""

    handle: str
    trait: str


def resolve(context: Context, caller: Caller, name: str) -> AttributeTrait:
    """What an attribute means to a caller.

    Raise `UnresolvedAttribute` if no trait or several are meant, or if the alias leads to something that is not there;
    `details.reason` is `unknown`, `several` or `gone`.
    """
    tiers = (caller.namespaces, frozenset(context.settings.public_namespaces) - caller.namespaces)
    meanings: list[Meaning] = []
    if ATTRIBUTE.fullmatch(name):
        meanings = context.cached(("attribute", caller.namespaces, name), lambda: _meanings(context, tiers, name))
    if not meanings:
        raise _unresolved(
            name,
            "unknown",
            f"No model that this key can score with has a trait for the attribute {rules.quoted(name)}. Set an alias"
            " for it (traitbench attributes set).",
        )
    if len(meanings) > 1:
        raise _several(name, meanings)
    _namespace, handle, trait = meanings[0]
    return _scores(context, caller, name, AttributeTrait(handle, trait))


def _meanings(context: Context, tiers: Sequence[Collection[str]], name: str) -> list[Meaning]:
    """What the nearest namespaces that know the name say about it: one meaning, or several that differ."""
    with reading(context.engine) as connection:
        for namespaces in tiers:
            for source in (attributes.aliases, attributes.namesakes):
                meanings = source(connection, namespaces, name) if namespaces else []
                if meanings:
                    # Two namespaces may have the same alias.
                    return [*{each[1:]: each for each in meanings}.values()]
    return []


def _scores(context: Context, caller: Caller, name: str, meant: AttributeTrait) -> AttributeTrait:
    """The trait, if it can be scored now: an alias may be older than what became of its model."""
    try:
        access.permit(context, caller, operations.SCORES_SCORE, meant.handle)
        rules.require("use", serving.now(context, meant.handle, [meant.trait]).model)
    except _GONE as error:
        raise _unresolved(
            name,
            "gone",
            f"The attribute {rules.quoted(name)} means the trait {rules.quoted(meant.trait)} of {meant.handle}, which"
            f" cannot score: {_sentence(error, meant)} Set another alias, or remove this one.",
            meanings=[meant._asdict()],
            code=error.code,
        ) from None
    return meant


def _sentence(error: Exception, meant: AttributeTrait) -> str:
    if isinstance(error, ValidationFailed):
        return f"the version has no trait {rules.quoted(meant.trait)}."
    message = str(error)
    return message[0].lower() + message[1:]


def _several(name: str, meanings: Sequence[Meaning]) -> UnresolvedAttribute:
    traits = [f"{trait} of {handle}" for _, handle, trait in meanings[:_MOST_NAMED]]
    more = f" and {len(meanings) - _MOST_NAMED} more" if len(meanings) > _MOST_NAMED else ""
    return _unresolved(
        name,
        "several",
        f"The attribute {rules.quoted(name)} could mean {len(meanings)} traits: {', '.join(traits)}{more}. Set an alias"
        " that says which (traitbench attributes set).",
        meanings=[AttributeTrait(handle, trait)._asdict() for _, handle, trait in meanings[:_MOST_NAMED]],
    )


def _unresolved(name: str, reason: str, message: str, **details: object) -> UnresolvedAttribute:
    return UnresolvedAttribute(message, details={"attribute": name[:64], "reason": reason, **details})
