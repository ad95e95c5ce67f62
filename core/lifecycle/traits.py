"""Traits: add, list, get, update, delete. Adding is an upsert by key; names are unique within a model."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection

from traitbench.contract.models import ModelDeleted
from traitbench.contract.names import trait_key
from traitbench.contract.traits import Trait, TraitInput, TraitList, TraitsCreate, TraitUpdate
from traitbench.errors import DuplicateTrait, ValidationFailed
from traitbench.lifecycle import access, rules
from traitbench.lifecycle.access import Caller
from traitbench.lifecycle.context import Context
from traitbench.store import models, traits
from traitbench.store.engine import reading, writing
from traitbench.store.models import ModelRow


def add(context: Context, caller: Caller, handle: str, body: TraitsCreate) -> TraitList:
    """Add traits to a draft, or change those whose key exists. Either all of them are applied or none."""
    name = str(access.permit(context, caller, "traits.add", handle))
    with writing(context.engine) as connection:
        model = access.require_model(models.hold(connection, name), name)
        keys = add_to(connection, model, body.traits, most=context.settings.max_traits)
        return TraitList(traits=_in_order(traits.read(connection, model.id), keys))


def add_to(connection: Connection, model: ModelRow, sent: list[TraitInput], *, most: int) -> list[str]:
    """Add or change traits of a model that the connection has locked; return their keys."""
    keyed = _keyed(sent)
    rows = {row.key: row for row in traits.rows(connection, model.id)}
    _check_names({key: row.name for key, row in rows.items()} | {key: each["name"] for key, each in keyed.items()})
    _check_count(len(rows | keyed), most)
    rules.require("edit", model)
    for key in keyed.keys() & rows.keys():
        traits.change(connection, rows[key].id, keyed[key])
    new = [{"key": key, "kind": "extrinsic", **fields} for key, fields in keyed.items() if key not in rows]
    traits.add(connection, model.id, new)
    rules.edited(connection, model)
    return list(keyed)


def list_traits(context: Context, caller: Caller, handle: str) -> TraitList:
    """All traits of a model, in the order they were added."""
    name = str(access.permit(context, caller, "traits.list", handle))
    with reading(context.engine) as connection:
        model = access.require_model(models.find(connection, name), name)
        listing = traits.every(connection, model.id)
    return TraitList(traits=listing.items(), unreadable=listing.unreadable())


def get(context: Context, caller: Caller, handle: str, key: str) -> Trait:
    """One trait, by key or name."""
    name = str(access.permit(context, caller, "traits.get", handle))
    with reading(context.engine) as connection:
        model = access.require_model(models.find(connection, name), name)
        trait = access.trait_of(connection, model, key)
        return traits.of_id(connection, model.id, trait.id)


def update(context: Context, caller: Caller, handle: str, key: str, body: TraitUpdate) -> TraitList:
    """Change the fields that were sent and are not null; the key never changes."""
    name = str(access.permit(context, caller, "traits.update", handle))
    with writing(context.engine) as connection:
        model = access.require_model(models.hold(connection, name), name)
        trait = access.trait_of(connection, model, key)
        fields = body.model_dump(exclude_none=True)
        names = {row.key: row.name for row in traits.rows(connection, model.id)}
        _check_names(names | ({trait.key: fields["name"]} if "name" in fields else {}))
        rules.require("edit", model)
        traits.change(connection, trait.id, fields)
        rules.edited(connection, model)
        return TraitList(traits=_in_order(traits.read(connection, model.id), [trait.key]))


def delete(context: Context, caller: Caller, handle: str, key: str) -> ModelDeleted:
    """Delete a trait and its samples."""
    name = str(access.permit(context, caller, "traits.delete", handle))
    with writing(context.engine) as connection:
        model = access.require_model(models.hold(connection, name), name)
        trait = access.trait_of(connection, model, key)
        rules.require("edit", model)
        traits.remove(connection, trait.id)
        rules.edited(connection, model)
    return ModelDeleted(handle=name, deleted=True)


def _keyed(sent: list[TraitInput]) -> dict[str, dict[str, Any]]:
    keys = [each.key or _key(index, each.name) for index, each in enumerate(sent)]
    if duplicates := _duplicates(keys):
        raise DuplicateTrait("The batch contains a trait key twice.", details={"keys": duplicates})
    return {key: each.model_dump(exclude={"key"}) for key, each in zip(keys, sent, strict=True)}


def _key(index: int, name: str) -> str:
    try:
        return trait_key(name)
    except ValidationFailed as error:
        bad = rules.problem(["traits", index, "name"], "empty_key", error.message)
        raise rules.invalid([bad], thing="The traits") from None


def _check_names(names: Mapping[str, str]) -> None:
    if duplicates := _duplicates(names.values()):
        raise DuplicateTrait(
            "Trait names must be unique within a model.",
            details={"names": duplicates, "keys": [key for key, name in names.items() if name in duplicates]},
        )


def _check_count(count: int, most: int) -> None:
    if count > most:
        message = f"the model would have {count} traits; at most {most} are allowed"
        raise rules.invalid([rules.problem(["traits"], "too_many", message)], thing="The traits")


def _duplicates(values: Iterable[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


def _in_order(every_trait: list[Trait], keys: list[str]) -> list[Trait]:
    by_key = {trait.key: trait for trait in every_trait}
    return [by_key[key] for key in keys]
