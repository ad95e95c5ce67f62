# Made from client/comparisons.py by `python -m tests.client.generate`: edit that file, not this one.
"""`client.versions.compare`: two versions, and any number of texts in one request after another."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from traitbench.client._sync.connection import Connection
from traitbench.client.wire import refusal
from traitbench.contract.batches import MOST_TEXTS, FailedLine
from traitbench.contract.comparisons import ComparedText, VersionsComparison
from traitbench.contract.texts import values_of
from traitbench.names import pin

_MOST_CHARACTERS = 2**18  # of a request: far below the operator's limit on a body


def compare(
    connection: Connection,
    a: str,
    b: str,
    *,
    texts: Iterable[str] | None = None,
    traits: Sequence[str] | None = None,
    explain: bool = False,
) -> VersionsComparison:
    """Compare two versions; the answer of the first request gets the texts of the others.

    Raise `TypeError` if `texts` is a single text, a mapping or a set.
    """
    body: dict[str, Any] = {"a": a, "b": b, **({} if traits is None else {"traits": list(traits)})}
    if explain:
        body["explain"] = True
    if texts is None:
        return _send(connection, body)
    lines: list[ComparedText | FailedLine] = []
    chunks = _chunks(values_of(texts), lines)
    first = next(chunks, None)
    compared = _send(connection, body if first is None else {**body, "texts": list(first.values())})
    if first is not None:
        lines += _placed(compared, first)
    # Another version may become active in the meantime.
    body |= {"a": pin(a, f"v{compared.a.version_no}"), "b": pin(b, f"v{compared.b.version_no}")}
    for some in chunks:
        lines += _placed(_send(connection, {**body, "texts": list(some.values())}), some)
    return compared.model_copy(update={"texts": sorted(lines, key=lambda line: line.index)})


def _placed(compared: VersionsComparison, some: Mapping[int, str]) -> list[ComparedText | FailedLine]:
    """The lines of an answer at the places of its texts."""
    places = list(some)
    return [line.model_copy(update={"index": places[line.index]}) for line in compared.texts or ()]


def _send(connection: Connection, body: dict[str, Any]) -> VersionsComparison:
    return connection.send("POST", "/versions/compare", VersionsComparison, body=body, long=True, reads=True)


def _chunks(values: Iterator[Any], lines: list[ComparedText | FailedLine]) -> Iterator[dict[int, str]]:
    """Yield the texts of each request by their places; what is no text gets its line."""
    some, length = dict[int, str](), 0
    for place, value in enumerate(values):
        if line := refusal(place, value):
            lines.append(line)
            continue
        if some and (len(some) == MOST_TEXTS or length + len(value) > _MOST_CHARACTERS):
            yield some
            some, length = {}, 0
        some[place] = value
        length += len(value)
    if some:
        yield some
