"""Queries on samples, the labelled texts of a model."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    delete,
    false,
    func,
    literal,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy import insert as insert_into

from traitbench.contract.samples import Sample, SampleQuery
from traitbench.store import tables
from traitbench.store.cursors import PageRequest
from traitbench.store.rows import ListingRows, read_listing, readable
from traitbench.store.traits import TraitRow

_SAMPLES = tables.samples.c
_TRAITS = tables.traits.c
_REPLACED = tables.replaced_samples.c
_OF_REPLACED: Mapping[str, ColumnElement[Any]] = {"id": _REPLACED.sample_id, "pending": false(), "revision": literal(1)}
_FIELDS = list(Sample.model_fields)
_AT_ONCE = 500


@dataclass(frozen=True)
class Label:
    """A sample without its text; `trait` is the trait's key, and equal texts have equal hashes."""

    id: int
    trait_id: int
    quality: float
    content_sha256: str
    provenance: str
    pending: bool
    seed_sample_id: int | None
    held_out: bool
    must_pass: bool
    group: str | None
    trait: str


@dataclass(frozen=True)
class Waiting:
    """How much feedback is pending, and the times of the oldest and the newest."""

    count: int
    oldest: datetime | None
    newest: datetime | None


def count(connection: Connection, model_id: int) -> int:
    """How many samples a model has, held-out ones included."""
    return connection.execute(select(func.count()).where(_SAMPLES.model_id == model_id)).scalar_one()


def last_id(connection: Connection, model_id: int) -> int:
    """The largest id of a model's samples; 0 if it has none."""
    statement = select(func.coalesce(func.max(_SAMPLES.id), 0)).where(_SAMPLES.model_id == model_id)
    last: int = connection.execute(statement).scalar_one()
    return last


def training_count(connection: Connection, model_id: int) -> int:
    """How many samples a model is trained with: those that are not held out."""
    mine = (_SAMPLES.model_id == model_id, ~_SAMPLES.held_out)
    return connection.execute(select(func.count()).where(*mine)).scalar_one()


def ids(connection: Connection, model_id: int) -> list[int]:
    """The ids of all samples of a model, ascending."""
    return list(
        connection.execute(select(_SAMPLES.id).where(_SAMPLES.model_id == model_id).order_by(_SAMPLES.id)).scalars()
    )


def ids_of_trait(connection: Connection, trait_id: int) -> list[int]:
    """The ids of all samples of a trait, ascending."""
    return list(
        connection.execute(select(_SAMPLES.id).where(_SAMPLES.trait_id == trait_id).order_by(_SAMPLES.id)).scalars()
    )


def training_ids(connection: Connection, model_id: int) -> list[int]:
    """The ids of the samples that a model is trained with, ascending."""
    mine = (_SAMPLES.model_id == model_id, ~_SAMPLES.held_out)
    return list(connection.execute(select(_SAMPLES.id).where(*mine).order_by(_SAMPLES.id)).scalars())


def add(connection: Connection, model_id: int, fields: Sequence[Mapping[str, Any]]) -> list[int]:
    """Insert samples; return their ids, which ascend in the order given."""
    statement = insert_into(tables.samples).returning(_SAMPLES.id, sort_by_parameter_order=True)
    return list(connection.execute(statement, [{"model_id": model_id, **each} for each in fields]).scalars())


def mark_trained(connection: Connection, model_id: int, *, up_to: int) -> None:
    """Mark feedback up to this id as no longer pending, because a version was trained with it."""
    waiting = (_SAMPLES.model_id == model_id, _SAMPLES.pending, _SAMPLES.id <= up_to)
    connection.execute(update(tables.samples).where(*waiting).values(pending=False))


def waiting(connection: Connection, model_id: int, *, after: int | None = None) -> Waiting:
    """The pending feedback of a model; with `after`, only that with higher ids."""
    at = _SAMPLES.created_at
    statement = select(func.count(), func.min(at), func.max(at)).where(_SAMPLES.model_id == model_id)
    statement = statement if after is None else statement.where(_SAMPLES.id > after)
    return Waiting(*connection.execute(statement.where(_SAMPLES.pending)).one())


def pending(connection: Connection, model_id: int, sample_ids: Sequence[int]) -> dict[int, bool]:
    """Whether each sample is feedback that waits, by id; samples that the model does not have are missing."""
    statement = select(_SAMPLES.id, _SAMPLES.pending).where(_SAMPLES.model_id == model_id, _SAMPLES.id.in_(sample_ids))
    return {row.id: row.pending for row in connection.execute(statement)}


def due_for_retrain(
    connection: Connection, *, at_least: int, since: datetime, ahead: datetime | None = None
) -> list[int]:
    """The ready models that may store texts and have `at_least` pending samples, or one from before `since`.

    Feedback dated later than `ahead` counts as old enough: the clock was wrong. Feedback that a version on hold learned
    does not count.
    """
    columns = tables.models.c
    is_new = or_(columns.held_up_to.is_(None), _SAMPLES.id > columns.held_up_to)
    eligible = (_SAMPLES.pending, columns.state == "ready", ~columns.zero_data_retention, is_new)
    oldest = func.min(_SAMPLES.created_at)
    enough = or_(func.count() >= at_least, oldest <= since, *((oldest >= ahead,) if ahead else ()))
    waiting = select(columns.id).join(tables.samples, _SAMPLES.model_id == columns.id).where(*eligible)
    return list(connection.execute(waiting.group_by(columns.id).having(enough)).scalars())


def purge(connection: Connection, model_id: int) -> None:
    """Delete all samples of a model, and their vectors."""
    connection.execute(delete(tables.samples).where(_SAMPLES.model_id == model_id))


def remove(connection: Connection, model_id: int, sample_ids: Sequence[int]) -> int:
    """Delete samples of a model; return how many there were."""
    statement = delete(tables.samples).where(_SAMPLES.model_id == model_id, _SAMPLES.id.in_(sample_ids))
    removed: int = connection.execute(statement).rowcount
    return removed


def some(connection: Connection, model_id: int, sample_ids: Iterable[int]) -> dict[int, Sample]:
    """Those of the samples that a model has and that are readable, by id."""
    shown = select(tables.samples, _TRAITS.key.label("trait")).join(tables.traits, _TRAITS.id == _SAMPLES.trait_id)
    mine = shown.where(_SAMPLES.model_id == model_id)

    def one(sample_id: int) -> Sample | None:
        row = connection.execute(mine.where(_SAMPLES.id == sample_id)).one_or_none()
        return None if row is None else _sample(row)

    read = (readable(partial(one, sample_id)) for sample_id in sample_ids)
    return {sample.id: sample for sample in read if sample is not None}


def newest_of(connection: Connection, model_id: int, trait: str, digest: str) -> Sample | None:
    """The newest sample of a model with this text on the trait with this key."""
    mine = (_SAMPLES.model_id == model_id, _SAMPLES.content_sha256 == digest, _TRAITS.key == trait)
    newest = select(func.max(_SAMPLES.id)).join(tables.traits, _TRAITS.id == _SAMPLES.trait_id).where(*mine)
    sample_id = connection.execute(newest).scalar()
    return None if sample_id is None else some(connection, model_id, [sample_id])[sample_id]


def held_out(connection: Connection, model_id: int, sample_ids: Sequence[int]) -> dict[int, bool]:
    """Whether each sample is a test sample, by id; samples that the model does not have are missing."""
    statement = select(_SAMPLES.id, _SAMPLES.held_out).where(_SAMPLES.model_id == model_id, _SAMPLES.id.in_(sample_ids))
    return {row.id: row.held_out for row in connection.execute(statement)}


def page(
    connection: Connection,
    model_id: int,
    query: SampleQuery,
    asked: PageRequest[int],
    *,
    trait: TraitRow | None,
) -> ListingRows[Sample]:
    """The samples of a page that pass the query, by id in its order; `trait` is its trait.

    Those that a query names by their ids may be replaced ones.
    """
    shown, columns = _shown(model_id, query, trait)
    passing = shown.where(*_passing(connection, columns, query))
    statement = asked.select(passing, columns.id, descending=query.newest_first)
    # With cursors alone, a link to page 300 would have to read the 299 pages before it.
    if query.offset:
        statement = statement.offset(query.offset)
    return read_listing(
        connection,
        statement,
        key=columns.id,
        position=columns.id,
        all_at_once=lambda: [_sample(row) for row in connection.execute(statement)],
        one=lambda sample_id: _sample(connection.execute(shown.where(columns.id == sample_id)).one()),
        position_of=lambda sample: sample.id,
    )


def count_of(connection: Connection, model_id: int, query: SampleQuery, trait: TraitRow | None) -> int:
    """How many samples of a model pass the query."""
    shown, columns = _shown(model_id, query, trait)
    passing = shown.where(*_passing(connection, columns, query)).with_only_columns(func.count())
    return connection.execute(passing).scalar_one()


def _shown(model_id: int, query: SampleQuery, trait: TraitRow | None) -> tuple[Select[Any], Any]:
    """The samples of a model, or of its trait, that a query is about, with the trait's key, and their columns."""
    own = select(tables.samples, _TRAITS.key.label("trait")).join(tables.traits, _TRAITS.id == _SAMPLES.trait_id)
    # A trait is one of the model, and there is an index on each alone.
    own = own.where(_SAMPLES.model_id == model_id if trait is None else _SAMPLES.trait_id == trait.id)
    if query.ids is None:
        return own, _SAMPLES
    shown = [_TRAITS.key.label(name) if name == "trait" else _SAMPLES[name] for name in _FIELDS]
    replaced = [(_OF_REPLACED[name] if name in _OF_REPLACED else _REPLACED[name]).label(name) for name in _FIELDS]
    named = union_all(
        own.with_only_columns(*shown).where(_SAMPLES.id.in_(query.ids)),
        select(*replaced).where(
            *(_REPLACED.model_id == model_id, _REPLACED.sample_id.in_(query.ids)),
            *(() if trait is None else (_REPLACED.trait == trait.key,)),
        ),
    ).subquery()
    return select(named), named.c


def _passing(connection: Connection, columns: Any, query: SampleQuery) -> Iterator[ColumnElement[bool]]:
    """The other conditions of the query on these columns."""
    if query.pending is not None:
        # This form has the index on pending samples in SQLite, too.
        yield columns.pending if query.pending else ~columns.pending
    if query.held_out is not None:
        yield columns.held_out == query.held_out
    if query.grouped is not None:
        yield columns.group.is_not(None) if query.grouped else columns.group.is_(None)
    if query.provenance is not None:
        yield columns.provenance == query.provenance
    if query.pole is not None:
        quality = columns.quality
        yield {"positive": quality > 0.5, "negative": quality < 0.5, "between": quality == 0.5}[query.pole]
    for word in query.words:
        yield _contains(connection, columns.text, word)


def _contains(connection: Connection, text: Any, word: str) -> ColumnElement[bool]:
    """Whether the text contains a word, in any case.

    SQLite ignores the case of ASCII letters only, so other letters are looked for in both cases.
    """
    forms = [word] if word.isascii() else sorted({word, word.lower(), word.upper(), word.capitalize()})
    escaped = [re.sub(r"([\\%_])", r"\\\1", form) for form in forms]
    # SQLite's LIKE ignores case; with `lower`, as SQLAlchemy writes its `ilike`, it takes three times as long. There is
    # no index for it, because 100,000 texts are searched in less than 0.1 s.
    like = text.like if connection.dialect.name == "sqlite" else text.ilike
    return or_(*(like(f"%{form}%", escape="\\") for form in escaped))


def labels(connection: Connection, model_id: int) -> list[Label]:
    """The samples that a model is trained with, without the texts, by id."""
    return [label for label in all_labels(connection, model_id) if not label.held_out]


def all_labels(connection: Connection, model_id: int) -> list[Label]:
    """All samples of a model, without the texts, by id; the held-out ones too."""
    return _labels(connection, _SAMPLES.model_id == model_id)


def held_out_labels(connection: Connection, model_id: int) -> list[Label]:
    """The test samples of a model, without the texts, by id."""
    return _labels(connection, _SAMPLES.model_id == model_id, _SAMPLES.held_out)


def texts(connection: Connection, sample_ids: Sequence[int]) -> dict[int, str]:
    """The texts of some samples, by id."""
    return _values(connection, _SAMPLES.text, sample_ids)


def sources(connection: Connection, sample_ids: Sequence[int]) -> dict[int, str]:
    """The addresses that some samples came from, by id; samples without one are left out."""
    known = _values(connection, _SAMPLES.source_url, sample_ids)
    return {sample_id: source for sample_id, source in known.items() if source is not None}


def lengths(connection: Connection, sample_ids: Sequence[int]) -> dict[int, int]:
    """The numbers of characters of some samples' texts, by id."""
    known = _values(connection, func.length(_SAMPLES.text), sample_ids)
    return {sample_id: length or 0 for sample_id, length in known.items()}


def _values(connection: Connection, value: ColumnElement[Any], sample_ids: Sequence[int]) -> dict[int, Any]:
    known: dict[int, Any] = {}
    for first in range(0, len(sample_ids), _AT_ONCE):
        some = select(_SAMPLES.id, value).where(_SAMPLES.id.in_(sample_ids[first : first + _AT_ONCE]))
        known |= {row[0]: row[1] for row in connection.execute(some)}
    return known


def _labels(connection: Connection, *which: ColumnElement[bool]) -> list[Label]:
    columns = [_TRAITS.key if name == "trait" else _SAMPLES[name] for name in Label.__dataclass_fields__]
    statement = select(*columns).join(tables.traits, _TRAITS.id == _SAMPLES.trait_id)
    return [Label(*row) for row in connection.execute(statement.where(*which).order_by(_SAMPLES.id))]


def _sample(row: Row[Any]) -> Sample:
    return Sample(**{name: getattr(row, name) for name in Sample.model_fields})
