"""Queries on labels that other programs proposed for texts."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, select
from sqlalchemy import insert as insert_into

from traitbench.contract.proposed import ProposedLabel
from traitbench.contract.samples import text_hash
from traitbench.store import tables
from traitbench.store.cursors import PageRequest
from traitbench.store.rows import ListingRows, read_listing

_LABELS = tables.proposed_labels.c
_SHOWN = select(*(_LABELS[name] for name in ProposedLabel.model_fields))


def put(
    connection: Connection,
    model_id: int,
    *,
    trait: str,
    text: str,
    value: float,
    community: str | None,
    client_token: str | None,
    now: datetime,
    most: int,
) -> None:
    """Add a proposed label to a locked model. It replaces an earlier one of the same trait, text and token.

    The oldest ones beyond `most` are deleted.
    """
    digest = text_hash(text)
    same = (_LABELS.trait == trait, _LABELS.content_sha256 == digest)
    by_same = _LABELS.client_token.is_not_distinct_from(client_token)
    connection.execute(delete(tables.proposed_labels).where(_LABELS.model_id == model_id, *same, by_same))
    own = {"trait": trait, "text": text, "content_sha256": digest, "value": value}
    source = {"community": community, "client_token": client_token, "proposed_at": now}
    connection.execute(insert_into(tables.proposed_labels).values(model_id=model_id, **own, **source))
    mine = select(_LABELS.id).where(_LABELS.model_id == model_id).order_by(_LABELS.id.desc())
    beyond = connection.execute(mine.offset(most).limit(1)).scalar()
    if beyond is not None:
        connection.execute(delete(tables.proposed_labels).where(_LABELS.model_id == model_id, _LABELS.id <= beyond))


def page(connection: Connection, model_id: int, asked: PageRequest[int]) -> ListingRows[ProposedLabel]:
    """The proposed labels of a page, newest first."""
    statement = asked.select(_SHOWN.where(_LABELS.model_id == model_id), _LABELS.id, descending=True)
    return read_listing(
        connection,
        statement,
        key=_LABELS.id,
        position=_LABELS.id,
        all_at_once=lambda: [_label(row) for row in connection.execute(statement)],
        one=lambda row_id: _label(connection.execute(_SHOWN.where(_LABELS.id == row_id)).one()),
        position_of=lambda label: label.id,
    )


def remove(connection: Connection, model_id: int, ids: Collection[int] | None = None) -> int:
    """Delete proposed labels of a model, all or those with these ids; return how many there were."""
    statement = delete(tables.proposed_labels).where(_LABELS.model_id == model_id)
    removed: int = connection.execute(statement if ids is None else statement.where(_LABELS.id.in_(ids))).rowcount
    return removed


def _label(row: Row[Any]) -> ProposedLabel:
    return ProposedLabel(**row._mapping)
