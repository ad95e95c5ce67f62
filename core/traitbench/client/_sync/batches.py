# Made from client/batches.py by `python -m tests.client.generate`: edit that file, not this one.
"""`client.scores.batch`: any number of texts, in one request after another without a pause.

The next request is sent when half of the current one is answered, so that the service is never idle. Memory holds two
requests, however many texts there are. A request that breaks off is sent again from the first text without a line, so
that no text is lost or scored twice. All texts are scored by the version that scored the first. While the service is
too busy, a request is retried after the pause that the service asks for. A value that is no text is not sent: its line
says why.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

from traitbench.client._sync.connection import Connection, Lines
from traitbench.client.wire import busy_for, encoded, refusal, segment
from traitbench.contract.asked import Asked
from traitbench.contract.batches import MOST_TEXTS, BatchLine, FailedLine, LineError, ScoredLine, read_line
from traitbench.contract.texts import values_of
from traitbench.errors import BodyTooLarge, Unavailable, Unreachable
from traitbench.names import unpin

__all__ = ["Asked", "batch"]

_MOST_BYTES = 2**20  # far below the operator's limit on a body
_PATIENCE = 600.0  # seconds to retry a busy service without getting a line
_PAUSES = (0.1, 0.4, 1.0, 2.0, 4.0)  # a restarted service is back within seconds


def batch(connection: Connection, asked: Asked, texts: Iterable[str], *, size: int) -> Iterator[BatchLine]:
    """Yield a line for each text, in order; `index` counts from the first text.

    Raise `ValueError` if `size`, the number of texts per request, is out of bounds, and `TypeError` if `texts` is a
    single text, a mapping or a set.
    """
    if not 1 <= size <= MOST_TEXTS:
        raise ValueError(f"size is {size}; a request takes 1 to {MOST_TEXTS} texts")
    return _lines(connection, asked, _chunks(values_of(texts), size))


def _lines(connection: Connection, asked: Asked, chunks: Iterator["_Chunk"]) -> Iterator[BatchLine]:
    current = next(chunks, None)
    following: _Chunk | None = None
    try:
        while current is not None:
            for line in current.lines(connection, asked):
                asked = _pinned(asked, line)
                yield line
                if following is None and current.answered * 2 >= len(current.texts):
                    following = next(chunks, None)
                    if following is not None:
                        following.ask(connection, asked)
            current, following = following or next(chunks, None), None
    finally:
        for chunk in (current, following):
            if chunk is not None:
                chunk.close()


class _Chunk:
    """The texts of one request by their places, how many of them have an answer, and the lines of what is no text."""

    def __init__(self, first: int) -> None:
        self.texts, self.places, self.refused = list[str](), list[int](), list[FailedLine]()
        self.length = 0
        self.answered = 0
        self._first = first
        self._coming: Lines | None = None

    @property
    def count(self) -> int:
        """The number of lines."""
        return len(self.texts) + len(self.refused)

    def add(self, value: Any) -> None:
        """Take the next value, a text or not."""
        place = self._first + self.count
        if line := refusal(place, value):
            self.refused.append(line)
            return
        self.texts.append(value)
        self.places.append(place)
        self.length += len(value)

    def ask(self, connection: Connection, asked: Asked) -> None:
        """Send the request early. Ignore errors here, because `lines` sends it again."""
        if self.texts:
            with suppress(Unavailable, BodyTooLarge):
                self._send(connection, asked, wait=False)

    def lines(self, connection: Connection, asked: Asked) -> Iterator[BatchLine]:
        """Yield the lines in the order of their places."""
        refused = 0
        for line in self._scored(connection, asked):
            while refused < len(self.refused) and self.refused[refused].index < line.index:
                yield self.refused[refused]
                refused += 1
            yield line
        yield from self.refused[refused:]

    def _scored(self, connection: Connection, asked: Asked) -> Iterator[BatchLine]:
        """Yield the lines of the texts; send a request that breaks off again until no retries or time are left."""
        pauses = iter(_PAUSES if self._first else _PAUSES[:2])
        deadline = monotonic() + _PATIENCE
        while self.answered < len(self.texts):
            before = self.answered
            try:
                for line in self._answered(connection, asked):
                    asked = _pinned(asked, line)
                    yield line
                if self.answered < len(self.texts):
                    raise Unreachable("The service ended its answer before the last line.")
            except Unavailable as error:
                self.close()
                if self.answered > before:
                    pauses, deadline = iter(_PAUSES), monotonic() + _PATIENCE
                busy = busy_for(error)
                pause = next(pauses, None) if busy is None else busy
                if pause is None or monotonic() > deadline:
                    raise
                sleep(pause)
        self.close()

    def close(self) -> None:
        """Close the response."""
        if self._coming is not None:
            self._coming.close()
            self._coming = None

    def _answered(self, connection: Connection, asked: Asked) -> Iterator[BatchLine]:
        try:
            coming = self._coming or self._send(connection, asked)
        except BodyTooLarge as error:
            if len(self.texts) > 1:
                raise
            self.answered = 1
            yield FailedLine(index=self.places[0], error=_reason(error))
            return
        for line in coming:
            result = _read(line).model_copy(update={"index": self.places[self.answered]})
            self.answered += 1
            yield result

    def _send(self, connection: Connection, asked: Asked, *, wait: bool = True) -> Lines:
        fields = {"contents": self.texts[self.answered :], "traits": asked.traits, "mode": asked.mode}
        body = {name: value for name, value in fields.items() if value not in (None, "full")}
        path = f"/models/{segment(asked.handle)}/score/batch"
        self._coming = connection.lines(path, content=encoded(body), wait=wait)
        return self._coming


def _pinned(asked: Asked, line: BatchLine) -> Asked:
    """Pin the request to the version of the first card, because another may become active meanwhile."""
    if unpin(asked.handle)[1] or not isinstance(line, ScoredLine):
        return asked
    return asked.of_version(line.metadata.version_id)


def _chunks(values: Iterator[Any], size: int) -> Iterator[_Chunk]:
    chunk = _Chunk(first := 0)
    for value in values:
        length = len(value) if isinstance(value, str) else 0
        if chunk.count == size or (chunk.texts and chunk.length + length > _MOST_BYTES // 4):
            yield chunk
            chunk = _Chunk(first := first + chunk.count)
        chunk.add(value)
    if chunk.count:
        yield chunk


def _read(line: bytes) -> BatchLine:
    try:
        return read_line(line)
    except ValueError as error:
        raise Unreachable(
            "The service sent an answer that this client cannot read. Use the same release for client and service.",
            details={"expected": "BatchLine"},
        ) from error


def _reason(error: BodyTooLarge) -> LineError:
    return LineError(code=error.code, message=error.message, details=error.details)
