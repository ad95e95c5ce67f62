"""Suggestions: the intrinsic traits that nobody has touched yet. The next discovery replaces them."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from traitbench.operations import rules, trait_names
from traitbench.store import models, traits
from traitbench.store.traits import DiscoveredRow, StoredDiscovery, TraitRow


def untouched(connection: Connection, model_id: int) -> list[StoredDiscovery]:
    """The suggestions of a model, in the order in which they were added.

    A trait is touched once a person has changed or kept it, has labelled a sample for it or has made it the main trait.
    """
    main = models.presentation(connection, model_id).main_trait
    with_samples = traits.with_samples(connection, model_id)
    return [
        trait
        for trait in traits.discovered(connection, model_id)
        if not trait.changed and trait.id not in with_samples and trait.key != main
    ]


def remove(connection: Connection, model_id: int, trait: TraitRow) -> None:
    """Delete a trait; a suggestion can be recalled until the next run."""
    if trait.id in {each.id for each in untouched(connection, model_id)}:
        traits.dismiss(connection, trait.id)
    else:
        traits.remove(connection, trait.id)


def recall(connection: Connection, model_id: int, key: str, *, most: int) -> bool:
    """Bring a dismissed suggestion back; False if there is none with this key."""
    before = traits.rows(connection, model_id)
    name = traits.recall(connection, model_id, key)
    if name is None:
        return False
    if problem := trait_names.name_problem(key, name, before):
        raise trait_names.refusal([problem])
    if len(before) >= most:
        message = f"the model would have {len(before) + 1} traits; at most {most} are allowed"
        raise trait_names.refusal([rules.problem(["suggestion"], "too_many", message)])
    return True


def change(connection: Connection, model_id: int, trait: TraitRow, *, flip: bool, suggestion: bool) -> None:
    """Exchange the poles of an intrinsic trait if asked to, and keep it or make it a suggestion again."""
    _check(connection, model_id, trait, flip=flip)
    row = traits.discovered_row(connection, trait.id)
    fields = flipped(row) if flip else {"discovery": row.discovery}
    if fields["discovery"] is not None:
        fields["discovery"] = {**fields["discovery"], "kept": not suggestion}
    traits.change(connection, trait.id, fields)


def flipped(row: DiscoveredRow) -> dict[str, Any]:
    """The fields of an intrinsic trait that change when its poles are exchanged, with their new values."""
    fields = {"positive_label": row.negative_label, "negative_label": row.positive_label}
    return {
        **fields,
        "name": _name(row.name, row.positive_label, row.negative_label),
        "axis": traits.negated(row.axis),
        "anchor_sample_ids": _exchanged(row.anchor_sample_ids),
        "discovery": None if row.discovery is None else _flipped_record(row.discovery),
    }


def _check(connection: Connection, model_id: int, trait: TraitRow, *, flip: bool) -> None:
    field = "flip" if flip else "suggestion"
    if trait.kind != "intrinsic":
        message = "only a discovered trait has this; exchange the poles of this one by relabelling its samples"
        raise rules.invalid([rules.problem([field], "extrinsic_trait", message)], thing="The trait")
    if flip and trait.id in traits.with_samples(connection, model_id):
        message = "the trait has samples, whose labels would be wrong then; delete them first"
        raise rules.invalid([rules.problem(["flip"], "has_samples", message)], thing="The trait")


def _flipped_record(record: Mapping[str, Any]) -> dict[str, Any]:
    changed = dict(record)
    if {"name", "positive_label", "negative_label"} <= record.keys():
        changed["name"] = _name(record["name"], record["positive_label"], record["negative_label"])
        changed |= {"positive_label": record["negative_label"], "negative_label": record["positive_label"]}
    if isinstance(offset := record.get("offset"), int | float):
        changed["offset"] = -offset
    changed |= {name: _exchanged(record[name]) for name in ("phrases", "typical") if name in record}
    if isinstance(counts := record.get("histogram"), list):
        changed["histogram"] = counts[::-1]
    if isinstance(overlaps := record.get("overlaps"), list):
        changed["overlaps"] = [{**each, "correlation": -each["correlation"]} for each in overlaps]
    return changed


def _name(name: str, positive: str, negative: str) -> str:
    """The name after an exchange of the poles: it changes if it consists of them."""
    return f"{positive} – {negative}" if name == f"{negative} – {positive}" else name


def _exchanged(ends: Any) -> Any:
    """Values by pole with the poles exchanged."""
    if not isinstance(ends, Mapping) or not {"positive", "negative"} <= ends.keys():
        return ends
    return {**ends, "positive": ends["negative"], "negative": ends["positive"]}
