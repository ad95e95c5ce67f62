"""The vectors of a model's samples, by the hash of the text. Missing ones are encoded and stored batch by batch.

So a run that is interrupted does not encode the same texts again.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from traitbench.encoders import Encoder
from traitbench.fitting import work as cost
from traitbench.runs.execution import Execution, Fenced
from traitbench.runs.progress import Timeline
from traitbench.scoring.segments import embed
from traitbench.store import samples, vectors
from traitbench.store.database import reading, writing
from traitbench.store.errors import StoreUnavailable
from traitbench.store.vectors import Vector

ENCODING = "encoding"
"""The phase of a run, and of its timeline, in which texts are encoded."""

_TEXTS_AT_ONCE, _ADOPTED_AT_ONCE = 32, 500
_CHARACTERS_AT_ONCE = 50_000  # the longest text; each piece has a time limit (`traitbench.runs.heartbeat`)

Item = TypeVar("Item")

_log = logging.getLogger(__name__)


def encoded(
    engine: Engine,
    encoder: Encoder,
    execution: Execution,
    labels: Sequence[samples.Label],
    *,
    timeline: Timeline,
) -> Mapping[str, Vector]:
    """The vector of every text. `timeline` is that of the whole run; the work of encoding is set here."""
    with reading(engine) as connection:
        stored = vectors.read(connection, execution.run.model_id, encoder.digest)
        known = {label.content_sha256: stored[label.id] for label in labels if label.id in stored}
        new = {label.content_sha256: label.id for label in labels if label.content_sha256 not in known}
        lengths = samples.lengths(connection, list(new.values()))
    work, done, worked = cost.reading(lengths.values()), 0, 0.0
    timeline.expect(ENCODING, work)
    timeline.reach(ENCODING)
    for batch in _batches(list(new.items())):
        texts = texts_of(engine, execution, [sample_id for _, sample_id in batch])
        # After a run has brought its worker down, the next attempt shows at which text.
        for piece in _pieces(batch, texts, alone=execution.suspected):
            execution.report(ENCODING, done, len(new), fraction=timeline.fraction, left_s=timeline.left_s)
            execution.announce(ENCODING, samples=[sample_id for _, sample_id in piece])
            known |= _encode_piece(engine, encoder, piece, texts)
            done += len(piece)
            worked += cost.reading(lengths[sample_id] for _, sample_id in piece)
            timeline.reach(ENCODING, worked / work)
    return known


def texts_of(engine: Engine, execution: Execution, sample_ids: Sequence[int]) -> dict[int, str]:
    """The texts of samples of the run's model, by id; raise `Fenced` if one is gone."""
    with reading(engine) as connection:
        texts = samples.texts(connection, sample_ids)
    if len(texts) < len(sample_ids):
        # Only zero retention deletes samples of a busy model, and it has cancelled the run already.
        raise Fenced(execution.run.id)
    return texts


VectorsById = Mapping[int, tuple[str, Vector]]
"""By sample id: the hash of the text and its vector (d,)."""


def adopt(engine: Engine, encoder_digest: str, encoded: VectorsById) -> None:
    """Store vectors that were made outside of a run, by sample id with the hash of the text, for the next training.

    Only samples that still exist with this text get their vector, and none of a model under zero retention. Nothing
    fails if the store does: the training then encodes the texts itself.
    """
    try:
        for some in _batches(list(encoded.items()), _ADOPTED_AT_ONCE):
            with writing(engine) as connection:
                vectors.adopt(connection, encoder_digest, dict(some))
    except (StoreUnavailable, SQLAlchemyError) as error:
        _log.warning("vectors of samples could not be stored: %s", type(error).__qualname__)


def _encode_piece(
    engine: Engine, encoder: Encoder, piece: Sequence[tuple[str, int]], texts: Mapping[int, str]
) -> dict[str, Vector]:
    """Encode and store one piece: pairs of a hash and a sample with that text. Returns the vectors by hash."""
    rows = embed(encoder.encode, [texts[sample_id] for _, sample_id in piece])
    with writing(engine) as connection:
        vectors.store(
            connection, encoder.digest, {sample_id: row for (_, sample_id), row in zip(piece, rows, strict=True)}
        )
    return {digest: row for (digest, _), row in zip(piece, rows, strict=True)}


def _pieces(
    batch: Sequence[tuple[str, int]], texts: Mapping[int, str], *, alone: bool
) -> Iterator[Sequence[tuple[str, int]]]:
    """A batch in pieces of at most as many characters as the longest text; one text each if `alone`."""
    piece: list[tuple[str, int]] = []
    characters = 0
    for digest, sample_id in batch:
        length = len(texts[sample_id])
        if piece and (alone or characters + length > _CHARACTERS_AT_ONCE):
            yield piece
            piece, characters = [], 0
        piece.append((digest, sample_id))
        characters += length
    yield piece


def _batches(items: Sequence[Item], size: int = _TEXTS_AT_ONCE) -> Iterator[Sequence[Item]]:
    for first in range(0, len(items), size):
        yield items[first : first + size]
