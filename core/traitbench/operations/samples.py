"""Samples: add, list, mark, delete.

A batch is added or changed as a whole or not at all; the error names every invalid element.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection

from traitbench.contract import operations
from traitbench.contract.models import ModelDeleted
from traitbench.contract.page import LARGEST_SAMPLE_PAGE, SamplePage
from traitbench.contract.samples import (
    MOST_SAMPLES,
    NOT_HELD_OUT,
    SampleIds,
    SampleInput,
    SampleQuery,
    SamplesCreate,
    SamplesDelete,
    SamplesUpdate,
    text_hash,
)
from traitbench.errors import SampleNotFound
from traitbench.operations import access, rules
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.operations.trait_names import Problem, TraitIndex
from traitbench.store import models, sample_changes, samples, traits
from traitbench.store.cursors import PageRequest
from traitbench.store.database import reading
from traitbench.store.models import ModelRow
from traitbench.store.sample_changes import Author, Writes

EVERY = SampleQuery()


class _Part(NamedTuple):
    """What only the store can check of a sample; None for what cannot be read."""

    trait: str | None
    digest: str | None
    content_sha256: str | None


def add(context: Context, caller: Caller, handle: str, body: SamplesCreate) -> SampleIds:
    """Add labelled texts to a draft; their ids ascend in the order sent."""
    digests = [text_hash(sample.text) for sample in body.samples]
    with access.to_change(context, caller, operations.SAMPLES_ADD, handle) as (connection, model):
        return add_to(
            connection, model, body.samples, digests, most=context.settings.max_samples, author=author(caller)
        )


def add_to(
    connection: Connection,
    model: ModelRow,
    sent: list[SampleInput],
    digests: list[str],
    *,
    most: int,
    author: Author,
) -> SampleIds:
    """Add samples to a model that the connection has locked; return their ids. `digests` are the texts' SHA-256."""
    index = TraitIndex(traits.rows(connection, model.id))
    if errors := errors_of(sent, digests, index):
        raise rules.invalid(errors, thing="The samples", known=known(errors, index))
    rules.check_sample_count(samples.count(connection, model.id) + len(sent), most)
    rules.require("edit", model)
    change_id, ids = sample_changes.write(
        connection, model, Writes(adds=columns_of(sent, digests, index, author.at)), author
    )
    rules.edited(connection, model)
    return SampleIds(ids=ids, change_id=change_id)


def columns_of(sent: list[SampleInput], digests: list[str], index: TraitIndex, now: datetime) -> list[dict[str, Any]]:
    """The columns of new samples, whose traits exist."""
    return [
        {
            "trait_id": trait.id,
            "text": sample.text,
            "quality": sample.quality,
            "provenance": "authored",
            "source_url": sample.source_url,
            "content_sha256": digest,
            "held_out": sample.held_out,
            "must_pass": sample.must_pass,
            "group": sample.group,
            "note": sample.note,
            "created_at": now,
        }
        for sample, digest in zip(sent, digests, strict=True)
        if (trait := index.find(sample.trait)) is not None
    ]


def problems_of_parts(
    context: Context, handle: str, body: Any, name: str = "samples"
) -> tuple[list[Problem], dict[str, Any]]:
    """What only the store knows is wrong with samples that are not valid otherwise: unknown traits, wrong hashes.

    `name` is the field of the body that has the samples. Also returns the details that help to correct it. With it, one
    answer names every bad element.
    """
    parts = [_part(element) for element in rules.elements(body, name)[:MOST_SAMPLES]]
    with reading(context.engine) as connection:
        model = access.require_model(models.find(connection, handle), handle)
        index = TraitIndex(traits.rows(connection, model.id))
    errors = [error for position, part in enumerate(parts) for error in _errors([name, position], part, index)]
    return errors, known(errors, index)


def list_samples(
    context: Context,
    caller: Caller,
    handle: str,
    query: SampleQuery = EVERY,
    *,
    limit: int = 100,
    cursor: str | None = None,
) -> SamplePage:
    """One page of the samples of a model that pass a query."""
    with access.to_read(context, caller, operations.SAMPLES_LIST, handle) as (connection, model):
        trait = None if query.trait is None else access.trait_of(connection, model, query.trait)
        # A cursor belongs to its listing: the filters and the order, by whatever name the trait was given.
        chosen = replace(query, trait=None, text=" ".join(query.words) or None, offset=0, count=False).parameters()
        own = f"samples {model.id} {trait and trait.id}"
        listing = " ".join((own, *(f"{name}={value}" for name, value in chosen.items())))
        asked = PageRequest.of(int, listing, limit, cursor, most=LARGEST_SAMPLE_PAGE)
        rows = samples.page(connection, model.id, query, asked, trait=trait)
        counted = samples.count_of(connection, model.id, query, trait) if query.count else None
        change_id = sample_changes.last_id(connection, model.id)
    return SamplePage(**asked.fields(rows), count=counted, change_id=change_id)


def update(context: Context, caller: Caller, handle: str, body: SamplesUpdate) -> SampleIds:
    """Make samples of a draft test samples or training samples, or change which must pass and which belong together."""
    with access.to_change(context, caller, operations.SAMPLES_UPDATE, handle) as (connection, model):
        held_out = samples.held_out(connection, model.id, body.ids)
        if errors := [
            error for position, each in enumerate(body.ids) for error in _unchangeable(position, each, body, held_out)
        ]:
            raise rules.invalid(errors, thing="The samples")
        rules.require("edit", model)
        sent = {"held_out": body.held_out, "must_pass": False if body.held_out is False else body.must_pass}
        fields: dict[str, Any] = {field: value for field, value in sent.items() if value is not None}
        if body.group is not None:
            fields["group"] = body.group if body.group.strip() else None
        if not fields:
            return SampleIds(ids=body.ids)
        changed = Writes(updates=dict.fromkeys(body.ids, fields))
        change_id, _ = sample_changes.write(connection, model, changed, author(caller))
        rules.edited(connection, model)
    return SampleIds(ids=body.ids, change_id=change_id)


def delete(context: Context, caller: Caller, handle: str, sample_id: int) -> ModelDeleted:
    """Delete one sample of a draft, or withdraw feedback that a ready model has not learned yet."""
    with access.to_change(context, caller, operations.SAMPLES_DELETE, handle) as (connection, model):
        pending = samples.pending(connection, model.id, [sample_id] if 0 < sample_id < 2**63 else [])
        if not pending:
            raise SampleNotFound(
                f"The model {model.handle} has no sample {sample_id}.", details={"sample_id": sample_id}
            )
        rules.require("withdraw" if pending[sample_id] else "edit", model)
        change_id, _ = sample_changes.write(connection, model, Writes(deletes=[sample_id]), author(caller))
        if model.state != "ready":
            rules.edited(connection, model)
    return ModelDeleted(handle=model.handle, deleted=True, change_id=change_id)


def delete_many(context: Context, caller: Caller, handle: str, body: SamplesDelete) -> SampleIds:
    """Delete samples of a draft, or withdraw feedback that a ready model has not learned yet; all of it or none."""
    with access.to_change(context, caller, operations.SAMPLES_DELETE_MANY, handle) as (connection, model):
        pending = samples.pending(connection, model.id, body.ids)
        if errors := [
            unknown(["ids", position], each) for position, each in enumerate(body.ids) if each not in pending
        ]:
            raise rules.invalid(errors, thing="The samples")
        rules.require("withdraw" if all(pending.values()) else "edit", model)
        deleted = Writes(deletes=list(dict.fromkeys(body.ids)))
        change_id, _ = sample_changes.write(connection, model, deleted, author(caller))
        if model.state != "ready":
            rules.edited(connection, model)
    return SampleIds(ids=body.ids, change_id=change_id)


def author(caller: Caller, note: str | None = None, *, undoes: int | None = None) -> Author:
    """What a change of samples is recorded with: who made it, now."""
    return Author(caller.label, rules.now(), note, undoes)


def unknown(loc: Sequence[str | int], sample_id: int) -> Problem:
    """The problem of an id that no sample of the model has."""
    return rules.problem(loc, "unknown_sample", f"the model has no sample {sample_id}")


def not_held_out(loc: Sequence[str | int], sample_id: int) -> Problem:
    """The problem of a training sample that must pass."""
    return rules.problem(loc, "not_held_out", f"sample {sample_id}: {NOT_HELD_OUT}")


def _unchangeable(position: int, sample_id: int, body: SamplesUpdate, stored: Mapping[int, bool]) -> list[Problem]:
    """Why a sample cannot be changed as the body says."""
    if sample_id not in stored:
        return [unknown(["ids", position], sample_id)]
    held_out = stored[sample_id] if body.held_out is None else body.held_out
    return [not_held_out(["ids", position], sample_id)] if body.must_pass and not held_out else []


def errors_of(sent: list[SampleInput], digests: list[str], index: TraitIndex, name: str = "samples") -> list[Problem]:
    """What is wrong with new samples, which the body has under `name`: unknown traits, wrong hashes."""
    parts = [_Part(each.trait, digest, each.content_sha256) for each, digest in zip(sent, digests, strict=True)]
    return [error for position, part in enumerate(parts) for error in _errors([name, position], part, index)]


def _part(element: Any) -> _Part:
    """What can be read of an element that may be no valid sample."""
    fields = element if isinstance(element, dict) else {}
    trait, text, digest = (fields.get(name) for name in ("trait", "text", "content_sha256"))
    return _Part(
        trait if isinstance(trait, str) else None,
        text_hash(text) if isinstance(text, str) and _is_unicode(text) else None,
        digest if isinstance(digest, str) else None,
    )


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _errors(loc: Sequence[str | int], part: _Part, index: TraitIndex) -> list[Problem]:
    errors = []
    if part.trait is not None and index.find(part.trait) is None:
        errors.append(rules.unknown_trait([*loc, "trait"], part.trait))
    if part.digest is not None and part.content_sha256 not in (None, part.digest):
        message = "it is not the SHA-256 of the text in UTF-8"
        errors.append(rules.problem([*loc, "content_sha256"], "sha256_mismatch", message))
    return errors


def known(errors: list[Problem], index: TraitIndex) -> dict[str, Any]:
    """The details that help to correct errors: the traits that exist, if one was unknown."""
    return index.known() if any(error["type"] == "unknown_trait" for error in errors) else {}
