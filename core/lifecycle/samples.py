"""Samples: add, list, delete. A batch is added as a whole or not at all; the error names every invalid element."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from traitbench.contract.models import ModelDeleted
from traitbench.contract.page import LARGEST_SAMPLE_PAGE, SamplePage
from traitbench.contract.samples import SampleIds, SampleInput, SamplesCreate, text_hash
from traitbench.errors import SampleNotFound
from traitbench.lifecycle import access, rules
from traitbench.lifecycle.access import Caller
from traitbench.lifecycle.context import Context
from traitbench.store import models, samples, traits
from traitbench.store.cursors import paged, read_number
from traitbench.store.engine import reading, writing
from traitbench.store.models import ModelRow


def add(context: Context, caller: Caller, handle: str, body: SamplesCreate) -> SampleIds:
    """Add labelled texts to a draft; their ids ascend in the order sent."""
    name = str(access.permit(context, caller, "samples.add", handle))
    digests = [text_hash(sample.text) for sample in body.samples]
    with writing(context.engine) as connection:
        model = access.require_model(models.hold(connection, name), name)
        return SampleIds(ids=add_to(connection, model, body.samples, digests, most=context.settings.max_samples))


def add_to(
    connection: Connection, model: ModelRow, sent: list[SampleInput], digests: list[str], *, most: int
) -> list[int]:
    """Add samples to a model that the connection has locked; return their ids. `digests` are the texts' SHA-256."""
    rows = traits.rows(connection, model.id)
    trait_ids = {row.name: row.id for row in rows} | {row.key: row.id for row in rows}
    _check(sent, digests, trait_ids)
    rules.check_sample_count(samples.count(connection, model.id) + len(sent), most)
    rules.require("edit", model)
    now = rules.now()
    ids = samples.add(
        connection,
        model.id,
        [
            {
                "trait_id": trait_ids[sample.trait],
                "text": sample.text,
                "quality": sample.quality,
                "provenance": "authored",
                "source_url": sample.source_url,
                "content_sha256": digest,
                "created_at": now,
            }
            for sample, digest in zip(sent, digests, strict=True)
        ],
    )
    rules.edited(connection, model)
    return ids


def list_samples(
    context: Context,
    caller: Caller,
    handle: str,
    *,
    trait: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> SamplePage:
    """One page of the samples of a model or, if `trait` is given, of that trait."""
    name = str(access.permit(context, caller, "samples.list", handle))
    with reading(context.engine) as connection:
        model = access.require_model(models.find(connection, name), name)
        rules.check_limit(limit, most=LARGEST_SAMPLE_PAGE)
        trait_id = None if trait is None else access.trait_of(connection, model, trait).id
        listing = f"samples {model.id} {trait_id}"
        after = read_number(listing, cursor)
        rows = samples.page(connection, model.id, limit=limit + 1, after=after, trait_id=trait_id)
    return SamplePage(**paged(rows, listing, limit))


def delete(context: Context, caller: Caller, handle: str, sample_id: int) -> ModelDeleted:
    """Delete one sample of a draft."""
    name = str(access.permit(context, caller, "samples.delete", handle))
    with writing(context.engine) as connection:
        model = access.require_model(models.hold(connection, name), name)
        if not 0 < sample_id < 2**63 or not samples.exists(connection, model.id, sample_id):
            raise SampleNotFound(f"The model {name} has no sample {sample_id}.", details={"sample_id": sample_id})
        rules.require("edit", model)
        samples.remove(connection, model.id, sample_id)
        rules.edited(connection, model)
    return ModelDeleted(handle=name, deleted=True)


def _check(sent: list[SampleInput], digests: list[str], trait_ids: Mapping[str, int]) -> None:
    errors = [
        error
        for index, (sample, digest) in enumerate(zip(sent, digests, strict=True))
        for error in _errors(index, sample, digest, trait_ids)
    ]
    if errors:
        raise rules.invalid(errors, thing="The samples")


def _errors(index: int, sample: SampleInput, digest: str, trait_ids: Mapping[str, int]) -> list[dict[str, Any]]:
    errors = []
    if sample.trait not in trait_ids:
        message = "the model has no trait with this key or name"
        errors.append(rules.problem(["samples", index, "trait"], "unknown_trait", message))
    if sample.content_sha256 not in (None, digest):
        message = "it is not the SHA-256 of the text in UTF-8"
        errors.append(rules.problem(["samples", index, "content_sha256"], "sha256_mismatch", message))
    return errors
