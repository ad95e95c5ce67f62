"""Answers of a foreign service that are read up to a bound. Apart, because httpx takes long to import."""

from collections.abc import Iterator

import httpx

MOST_BYTES = 4_000_000
"""The largest body of an answer."""


class AnswerTooLarge(Exception):
    """The body of an answer has more than `MOST_BYTES`, or is packed and may have more; the rest was not read."""


def bounded(answer: httpx.Response) -> None:
    """Let the body of an answer be read up to `MOST_BYTES`, then raise `AnswerTooLarge`. A hook of httpx's client."""
    stream = answer.stream
    if answer.headers.get("content-encoding", "identity") != "identity" or not isinstance(stream, httpx.SyncByteStream):
        raise AnswerTooLarge
    answer.stream = _BoundedAnswer(stream)


class _BoundedAnswer(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        length = 0
        for part in self._stream:
            length += len(part)
            if length > MOST_BYTES:
                raise AnswerTooLarge
            yield part

    def close(self) -> None:
        self._stream.close()
