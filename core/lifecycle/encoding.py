"""The vectors of a model's samples, by the hash of the text. Missing ones are encoded and stored batch by batch.

So a run that is interrupted does not encode the same texts again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from sqlalchemy import Engine

from traitbench.encoders import Encoder
from traitbench.runs.execution import Execution, Fenced
from traitbench.scoring.segments import embed
from traitbench.store import samples, vectors
from traitbench.store.engine import reading, writing
from traitbench.store.vectors import Vector

_TEXTS_AT_ONCE = 32
_CHARACTERS_AT_ONCE = 50_000  # the longest text; each piece has a time limit (`traitbench.runs.heartbeat`)

Item = TypeVar("Item")


def encoded(
    engine: Engine,
    encoder: Encoder,
    execution: Execution,
    labels: Sequence[samples.Label],
    *,
    share: Callable[[int], float],
) -> Mapping[str, Vector]:
    """The vector of every text. `share(n)` is the fraction of the whole run that encoding `n` new texts takes."""
    with reading(engine) as connection:
        stored = vectors.read(connection, execution.run.model_id, encoder.digest)
    known = {label.content_sha256: stored[label.id] for label in labels if label.id in stored}
    new = {label.content_sha256: label.id for label in labels if label.content_sha256 not in known}
    for done, batch in _batches(list(new.items())):
        execution.report("encoding", done, len(new), fraction=share(len(new)) * done / len(new))
        with reading(engine) as connection:
            texts = samples.texts(connection, [sample_id for _, sample_id in batch])
        if len(texts) < len(batch):
            # Only zero retention deletes samples of a busy model, and it has cancelled the run already.
            raise Fenced(execution.run.id)
        for piece in _pieces(batch, texts, alone=execution.suspected):
            execution.announce("encoding", samples=[sample_id for _, sample_id in piece])
            known |= _encode_piece(engine, encoder, piece, texts)
    return known


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


def _batches(items: Sequence[Item]) -> Iterator[tuple[int, Sequence[Item]]]:
    for first in range(0, len(items), _TEXTS_AT_ONCE):
        yield first, items[first : first + _TEXTS_AT_ONCE]
