"""Traits: add, list, get, update, delete. Adding is an upsert by key; names are unique within a model."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection

from traitbench.contract import operations
from traitbench.contract.models import ModelDeleted
from traitbench.contract.traits import Trait, TraitInput, TraitList, TraitsCreate, TraitUpdate
from traitbench.operations import access, rules, suggestions, trait_names
from traitbench.operations.access import Caller
from traitbench.operations.context import LISTING, Context
from traitbench.operations.trait_names import Problem, Sent
from traitbench.store import models, sample_changes, samples, traits
from traitbench.store.database import reading
from traitbench.store.models import ModelRow
from traitbench.store.sample_changes import Author, Writes
from traitbench.store.traits import TraitRow


def add(context: Context, caller: Caller, handle: str, body: TraitsCreate) -> TraitList:
    """Add traits to a draft, or change those whose key exists. Either all of them are applied or none."""
    with access.to_change(context, caller, operations.TRAITS_ADD, handle) as (connection, model):
        keys = add_to(connection, model, body.traits, most=context.settings.max_traits)
        return TraitList(traits=_in_order(traits.read(connection, model.id), keys))


def add_to(connection: Connection, model: ModelRow, sent: list[TraitInput], *, most: int) -> list[str]:
    """Add or change traits of a model that the connection has locked; return their keys."""
    if len(sent) > max(most, rules.MOST_NAMED):
        raise trait_names.refusal(_too_many(len(sent), most))
    rows = {row.key: row for row in traits.rows(connection, model.id)}
    keys, problems = trait_names.keys_of(_as_sent(sent), [*rows.values()])
    problems += _too_many(len({*rows, *keys.values()}), most)
    if problems:
        raise trait_names.refusal(problems)
    keyed = {keys[position]: each.model_dump(exclude={"key"}) for position, each in enumerate(sent)}
    rules.require("edit", model)
    for key in keyed.keys() & rows.keys():
        traits.change(connection, rows[key].id, keyed[key])
    new = [{"key": key, "kind": "extrinsic", **fields} for key, fields in keyed.items() if key not in rows]
    traits.add(connection, model.id, new)
    rules.edited(connection, model)
    return list(keyed)


def problems_of_parts(context: Context, handle: str, body: Any) -> tuple[list[Problem], dict[str, Any]]:
    """The shared keys and names in a body that is not valid otherwise, so that one answer names every bad element.

    Also returns further details: none.
    """
    elements = rules.elements(body, "traits")[: rules.MOST_NAMED]
    parts = (_part(position, element) for position, element in enumerate(elements))
    with reading(context.engine) as connection:
        model = access.require_model(models.find(connection, handle), handle)
        rows = traits.rows(connection, model.id)
    return trait_names.keys_of([part for part in parts if part], rows)[1], {}


def list_traits(context: Context, caller: Caller, handle: str) -> TraitList:
    """All traits of a model, in their order: as they were added, until one is moved."""
    name = str(access.permit(context, caller, operations.TRAITS_LIST, handle))
    author = access.is_author(caller, name)

    def read() -> TraitList:
        with reading(context.engine) as connection:
            model = access.require_model(models.find(connection, name), name)
            listing = traits.every(connection, model.id)
        return TraitList(traits=[_shown(each, author) for each in listing.items()], unreadable=listing.unreadable())

    return context.cached(("traits", name, author), read, weight=LISTING)


def get(context: Context, caller: Caller, handle: str, key: str) -> Trait:
    """One trait, by key or name."""
    with access.to_read(context, caller, operations.TRAITS_GET, handle) as (connection, model):
        trait = access.trait_of(connection, model, key)
        return _shown(traits.of_id(connection, model.id, trait.id), access.is_author(caller, model.handle))


def update(context: Context, caller: Caller, handle: str, key: str, body: TraitUpdate) -> TraitList:
    """Change the fields that were sent and are not null; the key never changes."""
    with access.to_change(context, caller, operations.TRAITS_UPDATE, handle) as (connection, model):
        if body.suggestion:
            suggestions.recall(connection, model.id, key, most=context.settings.max_traits)
        trait = access.trait_of(connection, model, key)
        fields = body.model_dump(exclude_none=True, exclude={"flip", "suggestion", "index"})
        if "name" in fields:
            _check_name(trait, fields["name"], traits.rows(connection, model.id))
        rules.require("edit", model)
        if body.flip or body.suggestion is not None:
            suggestions.change(connection, model.id, trait, flip=bool(body.flip), suggestion=bool(body.suggestion))
        traits.change(connection, trait.id, fields)
        if body.index is not None:
            traits.move(connection, model.id, trait.id, body.index)
        rules.edited(connection, model)
        return TraitList(traits=_in_order(traits.read(connection, model.id), [trait.key]))


def delete(context: Context, caller: Caller, handle: str, key: str) -> ModelDeleted:
    """Delete a trait and its samples. A suggestion can be brought back by `update` until the next run."""
    with access.to_change(context, caller, operations.TRAITS_DELETE, handle) as (connection, model):
        trait = access.trait_of(connection, model, key)
        rules.require("edit", model)
        change_id = None
        if ids := samples.ids_of_trait(connection, trait.id):
            # A trait that has the same key later can get them back.
            author = Author(caller.label, rules.now(), f"The trait {trait.key} was deleted.")
            change_id, _ = sample_changes.write(connection, model, Writes(deletes=ids), author)
        suggestions.remove(connection, model.id, trait)
        models.reset_main_trait(connection, model.id, trait.key)
        rules.edited(connection, model)
    return ModelDeleted(handle=model.handle, deleted=True, change_id=change_id)


def _shown(trait: Trait, author: bool) -> Trait:
    """A trait as the caller may see it: only who may read the samples sees what was taken from them."""
    return trait if author or trait.discovered is None else trait.model_copy(update={"discovered": None})


def _as_sent(sent: Sequence[TraitInput]) -> list[Sent]:
    return [Sent(position, each.name, each.key) for position, each in enumerate(sent)]


def _part(position: int, element: Any) -> Sent | None:
    """The name and key of an element that may be no valid trait; None if one of the two is not valid."""
    try:
        named = TraitInput.model_validate({field: element[field] for field in ("name", "key") if field in element})
    except (TypeError, ValidationError):
        return None
    return Sent(position, named.name, named.key)


def _check_name(trait: TraitRow, name: str, rows: Sequence[TraitRow]) -> None:
    if problem := trait_names.name_problem(trait.key, name, rows):
        raise trait_names.refusal([problem])


def _too_many(count: int, most: int) -> list[Problem]:
    message = f"the model would have {count} traits; at most {most} are allowed"
    return [rules.problem(["traits"], "too_many", message)] if count > most else []


def _in_order(every_trait: list[Trait], keys: list[str]) -> list[Trait]:
    by_key = {trait.key: trait for trait in every_trait}
    return [by_key[key] for key in keys]
