"""Attributes: names as Perspective has them, such as TOXICITY, and the traits that they mean.

An alias of a namespace decides. Without one, an attribute is the trait whose key in capitals it is, of a model that
scores and is no fork. The namespaces of the key come first, then the public ones.

See core/docs/contract.md, "Attributes".
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from traitbench.contract import operations
from traitbench.contract.attributes import ATTRIBUTE, Attribute, AttributePut
from traitbench.contract.page import LARGEST_PAGE, AttributePage
from traitbench.errors import (
    AttributeNotFound,
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
from traitbench.store.cursors import PageRequest
from traitbench.store.database import reading, writing

_MOST_NAMED = 20
_GONE = (
    *(ModelNotFound, NamespaceForbidden, ModelArchived, ModelNotTrained),
    *(VersionNotFound, TagNotFound, ValidationFailed),
)


def list_attributes(
    context: Context, caller: Caller, namespace: str, *, limit: int = 100, cursor: str | None = None
) -> AttributePage:
    """One page of the aliases of a namespace, by name."""
    access.check_namespace(context, caller, operations.ATTRIBUTES_LIST, namespace)
    asked = PageRequest.of(str, f"attributes {namespace}", limit, cursor, most=LARGEST_PAGE)
    with reading(context.engine) as connection:
        page = AttributePage(**asked.fields(attributes.page(connection, namespace, asked)))
    return page.model_copy(update={"items": [_shown(caller, namespace, each) for each in page.items]})


def get(context: Context, caller: Caller, namespace: str, name: str) -> Attribute:
    """One alias."""
    access.check_namespace(context, caller, operations.ATTRIBUTES_GET, namespace)
    with reading(context.engine) as connection:
        return _shown(caller, namespace, _require(attributes.find(connection, namespace, name), name))


def put(context: Context, caller: Caller, namespace: str, name: str, body: AttributePut) -> Attribute:
    """Set an alias. The trait must be one of the version that the handle names, which the key must be able to score."""
    access.check_namespace(context, caller, operations.ATTRIBUTES_PUT, namespace)
    if not ATTRIBUTE.fullmatch(name):
        message = "use A-Z, 0-9 and _, up to 64 characters, and begin with a letter"
        raise rules.invalid([rules.problem(["name"], "invalid_name", message)], thing="The attribute")
    access.permit(context, caller, operations.SCORES_SCORE, body.handle)
    served = serving.now(context, body.handle, None)
    if serving.unknown_traits(served.snapshot, [body.trait]):
        unknown = [rules.unknown_trait(["trait"], body.trait, owner="version")]
        raise rules.invalid(unknown, thing="The attribute", known=serving.known_traits(served.snapshot))
    rules.require("use", served.model)
    trait = serving.trait_key(served.snapshot, body.trait)
    with writing(context.engine) as connection:
        attributes.put(connection, namespace, name, handle=body.handle, trait=trait, by=caller.label, now=rules.now())
        return _require(attributes.find(connection, namespace, name), name)


def delete(context: Context, caller: Caller, namespace: str, name: str) -> Attribute:
    """Remove an alias and return it: whoever sets it again has undone this."""
    access.check_namespace(context, caller, operations.ATTRIBUTES_DELETE, namespace)
    with writing(context.engine) as connection:
        removed = _require(attributes.find(connection, namespace, name), name)
        attributes.remove(connection, namespace, name)
        return removed


def _require(attribute: Attribute | None, name: str) -> Attribute:
    if attribute is None:
        raise AttributeNotFound(
            f"The namespace has no alias for the attribute {rules.quoted(name)}.", details={"attribute": name[:200]}
        )
    return attribute


def _shown(caller: Caller, namespace: str, attribute: Attribute) -> Attribute:
    owns = caller.scope == "authoring" and namespace in caller.namespaces
    return attribute if owns else attribute.model_copy(update={"by": None})


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
    if not ATTRIBUTE.fullmatch(name):
        # What is no name may be a text, which no message repeats.
        raise _unresolved(
            name,
            "unknown",
            "A requested attribute is not written as one. Use A-Z, 0-9 and _, up to 64 characters, and begin with a"
            " letter, such as TOXICITY.",
        )
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
