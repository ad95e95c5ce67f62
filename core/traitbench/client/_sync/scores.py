# Made from client/scores.py by `python -m tests.client.generate`: edit that file, not this one.
"""`client.scores`: score one text, many texts, or compare two, as cards or as bar charts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from time import sleep
from typing import Any

from traitbench.client._sync.connection import Connection, Lines
from traitbench.client.wire import Retries, encoded, iter_of, quoted, refusal, refuses_field
from traitbench.contract import operations
from traitbench.contract.batches import (
    MOST_TEXTS,
    BatchLine,
    BatchSettings,
    FailedLine,
    LineError,
    Mode,
    ScoredLine,
    read_line,
)
from traitbench.contract.fields import with_known
from traitbench.contract.scores import Card, Comparison
from traitbench.contract.texts import is_url
from traitbench.errors import BodyTooLarge, Unavailable, Unreachable, ValidationFailed
from traitbench.names import unpin

_MOST_BYTES = 2**20  # far below the operator's limit on a body
_PATIENCE = 600.0  # seconds to retry a busy service without getting a line


class Scores:
    """Scoring. A handle may be pinned to a version: `a.b@v3`, `a.b@tag`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def score(
        self,
        handle: str,
        content: str,
        *,
        traits: Sequence[str] | None = None,
        feedback: Mapping[str, float | str] | None = None,
        explain: bool = False,
    ) -> Card:
        """Score a text on the given `traits`, or on all, and return its card.

        `feedback` says what the scores should have been, by trait: a number from 0 to 1, a pole's label, or a word such
        as good, fair, poor. It is stored as samples for the next retraining; `card.metadata.sample_ids` has their ids.

        With `explain`, `card.explanation` has for each trait what each sentence adds to the score, with its text, and
        the nearest samples.
        """
        labels = None if feedback is None else dict(feedback)
        body = _body(content=content, traits=_listed(traits), feedback=labels, explain=explain or None)
        card = self._connection.send(operations.SCORES_SCORE, handle=handle, body=body, reads=not feedback)
        return quoted(card, content)

    def chart(self, handle: str, content: str, *, traits: Sequence[str] | None = None) -> str:
        """Score a text and return its card as a bar chart in plain text."""
        return self._connection.text(
            operations.SCORES_SCORE, handle=handle, body=_body(content=content, traits=_listed(traits))
        )

    def batch(
        self,
        handle: str,
        texts: Iterable[str],
        *,
        traits: Sequence[str] | None = None,
        mode: Mode = "full",
        size: int = MOST_TEXTS,
        fetch: bool = False,
    ) -> Iterator[BatchLine]:
        """Score any number of texts and yield a line for each, in order, as the answers arrive.

        A line is a `ScoredLine`, which is a card, or a `FailedLine` with its `error`, also for None, NaN and other
        values that are no text. `index` counts from the first. A single text instead of a list raises `TypeError`. One
        version scores all texts. The modes "layer4", "layer6" and "static" trade quality for speed, if the version was
        trained for them. `size` is the number of texts per request; out of bounds, it raises `ValueError`.

        A web address is scored as it stands. With `fetch`, the service fetches its page and scores that. A service of
        an earlier release always fetches, so it gets no addresses without `fetch`: they raise `ValidationFailed`.
        """
        if not 1 <= size <= MOST_TEXTS:
            raise ValueError(f"size is {size}; a request takes 1 to {MOST_TEXTS} texts")
        settings = BatchSettings(handle, _listed(traits), mode, fetch)
        return _lines(self._connection, settings, _chunks(iter_of(texts), size))

    def compare(self, handle: str, a: str, b: str, *, traits: Sequence[str] | None = None) -> Comparison:
        """Score two texts and return both cards and the change from `a` to `b`."""
        body = _body(a=a, b=b, traits=_listed(traits))
        compared = self._connection.send(operations.SCORES_COMPARE, handle=handle, body=body, reads=True)
        return with_known(compared, texts=[a, b])

    def compare_chart(self, handle: str, a: str, b: str, *, traits: Sequence[str] | None = None) -> str:
        """Compare two texts and return both cards side by side as a bar chart in plain text."""
        return self._connection.text(
            operations.SCORES_COMPARE, handle=handle, body=_body(a=a, b=b, traits=_listed(traits))
        )


def _listed(traits: Sequence[str] | None) -> list[str] | None:
    return None if traits is None else list(traits)


def _body(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


# ---- a batch --------------------------------------------------------------------------------------------------------
#
# Any number of texts, in one request after another without a pause. The next request is sent when half of the current
# one is answered, so that the service is never idle. Memory holds two requests, however many texts there are. A request
# that breaks off is sent again from the first text without a line, so that no text is lost or scored twice. All texts
# are scored by the version that scored the first. While the service is too busy, a request is retried after the pause
# that the service asks for. A value that is no text is not sent: its line says why.


def _lines(connection: Connection, settings: BatchSettings, chunks: Iterator["_Chunk"]) -> Iterator[BatchLine]:
    current = next(chunks, None)
    following: _Chunk | None = None
    try:
        while current is not None:
            for line in current.lines(connection, settings):
                settings = _pinned(settings, line)
                yield line
                if following is None and current.answered * 2 >= len(current.texts):
                    following = next(chunks, None)
                    if following is not None:
                        following.ask(connection, settings)
            current, following = following or next(chunks, None), None
    finally:
        for chunk in (current, following):
            if chunk is not None:
                chunk.close()


class _Chunk:
    """The texts of one request by their places, how many of them have an answer, and the lines of what is no text."""

    def __init__(self, first: int) -> None:
        self.texts, self.positions, self.refused = list[str](), list[int](), list[FailedLine]()
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
        position = self._first + self.count
        if line := refusal(position, value):
            self.refused.append(line)
            return
        self.texts.append(value)
        self.positions.append(position)
        self.length += len(value)

    def ask(self, connection: Connection, settings: BatchSettings) -> None:
        """Send the request early. Ignore errors here, because `lines` sends it again."""
        if self.texts:
            with suppress(Unavailable, BodyTooLarge, ValidationFailed):
                self._send(connection, settings, wait=False)

    def lines(self, connection: Connection, settings: BatchSettings) -> Iterator[BatchLine]:
        """Yield the lines in the order of their places."""
        refused = 0
        for line in self._scored(connection, settings):
            while refused < len(self.refused) and self.refused[refused].index < line.index:
                yield self.refused[refused]
                refused += 1
            yield line
        yield from self.refused[refused:]

    def _scored(self, connection: Connection, settings: BatchSettings) -> Iterator[BatchLine]:
        """Yield the lines of the texts; send a request that breaks off again until no retries or time are left."""
        retries = Retries()
        while self.answered < len(self.texts):
            before = self.answered
            try:
                for line in self._answered(connection, settings):
                    settings = _pinned(settings, line)
                    yield line
                if self.answered < len(self.texts):
                    raise Unreachable("The service ended its answer before the last line.")
            except Unavailable as error:
                self.close()
                # Every line that arrived shows that the service is there, so the patience begins anew.
                if self.answered > before:
                    retries = Retries()
                # A line that cannot be read would come again.
                lost = "expected" not in error.details
                pause = retries.after(error, connection.patience, busy=_PATIENCE) if lost else None
                if pause is None:
                    raise
                sleep(pause)
        self.close()

    def close(self) -> None:
        """Close the response."""
        if self._coming is not None:
            self._coming.close()
            self._coming = None

    def _answered(self, connection: Connection, settings: BatchSettings) -> Iterator[BatchLine]:
        try:
            coming = self._coming or self._send(connection, settings)
        except BodyTooLarge as error:
            if len(self.texts) > 1:
                raise
            # A single text that is too long is the fault of its line, and the others are scored.
            self.answered = 1
            yield FailedLine(index=self.positions[0], error=_reason(error))
            return
        for line in coming:
            result = _read(line).model_copy(update={"index": self.positions[self.answered]})
            self.answered += 1
            yield result

    def _send(self, connection: Connection, settings: BatchSettings, *, wait: bool = True) -> Lines:
        texts = self.texts[self.answered :]
        fields = {"contents": texts, "traits": settings.traits, "mode": settings.mode}
        body = {name: value for name, value in fields.items() if value not in (None, "full")}
        handle = settings.handle
        if not settings.fetch and not connection.seen.always_fetches:
            try:
                self._coming = connection.lines(
                    operations.SCORES_BATCH, handle=handle, content=encoded(body | {"fetch": False}), wait=wait
                )
                return self._coming
            except ValidationFailed as error:
                if not refuses_field(error, "fetch"):
                    raise
                connection.seen.always_fetches = True
        if not settings.fetch:
            self._check_addresses(texts)
        self._coming = connection.lines(operations.SCORES_BATCH, handle=handle, content=encoded(body), wait=wait)
        return self._coming

    def _check_addresses(self, texts: Sequence[str]) -> None:
        """Raise `ValidationFailed` if a text is a web address, which a service of an earlier release would fetch."""
        address = next((position for position, text in enumerate(texts) if is_url(text)), None)
        if address is not None:
            number = self.positions[self.answered + address] + 1
            raise ValidationFailed(
                f"Text {number:,} is a web address, and this service is of an earlier release, which would fetch its "
                "page. Update the service, leave the text out, or allow fetching (fetch=True, --fetch).",
                details={"field": "fetch", "index": number - 1},
            )


def _pinned(settings: BatchSettings, line: BatchLine) -> BatchSettings:
    """Pin the request to the version of the first card, because another may become active meanwhile."""
    if unpin(settings.handle)[1] or not isinstance(line, ScoredLine):
        return settings
    return settings.of_version(line.metadata.version_id)


def _chunks(values: Iterator[Any], size: int) -> Iterator[_Chunk]:
    chunk = _Chunk(first := 0)
    for value in values:
        length = len(value) if isinstance(value, str) else 0
        # A character has at most four bytes in UTF-8.
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
