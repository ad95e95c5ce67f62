# Made from asynchronous/comparisons.py by `python -m tests.client.generate`: edit that file, not this one.
"""`client.versions.compare`: two versions, and any number of texts in one request after another."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from traitbench.client.connection import Connection
from traitbench.contract.batch import MOST_TEXTS, FailedLine
from traitbench.contract.comparisons import ComparedText, VersionsComparison
from traitbench.contract.names import pin

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
    """Compare two versions; the answer of the first request gets the texts of the others."""
    body: dict[str, Any] = {"a": a, "b": b, **({} if traits is None else {"traits": list(traits)})}
    if explain:
        body["explain"] = True
    if texts is None:
        return _send(connection, body)
    chunks = _chunks(texts)
    first = next(chunks, None)
    compared = _send(connection, body if first is None else {**body, "texts": first})
    # Another version may become active in the meantime.
    body |= {"a": pin(a, f"v{compared.a.version_no}"), "b": pin(b, f"v{compared.b.version_no}")}
    lines: list[ComparedText | FailedLine] = [*(compared.texts or ())]
    for some in chunks:
        answer = _send(connection, {**body, "texts": some})
        lines += [line.model_copy(update={"index": len(lines) + line.index}) for line in answer.texts or ()]
    return compared.model_copy(update={"texts": lines})


def _send(connection: Connection, body: dict[str, Any]) -> VersionsComparison:
    return connection.send("POST", "/versions/compare", VersionsComparison, body=body, long=True, reads=True)


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    some, length = list[str](), 0
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"a text must be a str, not {type(text).__name__}")
        if some and (len(some) == MOST_TEXTS or length + len(text) > _MOST_CHARACTERS):
            yield some
            some, length = [], 0
        some.append(text)
        length += len(text)
    if some:
        yield some
