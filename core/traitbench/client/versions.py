"""`client.versions`: list, get, tag, untag, activate, compare; activations, which say what served when."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from traitbench.client.connection import AsyncConnection
from traitbench.client.pages import AsyncPages
from traitbench.client.wire import refusal
from traitbench.contract import operations
from traitbench.contract.batches import MOST_TEXTS, FailedLine
from traitbench.contract.comparisons import ComparedText, VersionsComparison
from traitbench.contract.fields import with_known
from traitbench.contract.page import LARGEST_POSITION_PAGE
from traitbench.contract.texts import values_of
from traitbench.contract.versions import (
    Activation,
    Version,
    VersionActivated,
    VersionSample,
    VersionTagged,
    VersionUntagged,
)
from traitbench.names import pin

_MOST_CHARACTERS = 2**18  # of a request: far below the operator's limit on a body


class AsyncVersions:
    """The trained versions of a model: numbered `vN`, optionally tagged, and one of them active."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def list(self, handle: str, *, limit: int = 50, cursor: str | None = None) -> AsyncPages[Version]:
        """List the versions without their snapshots, newest first."""
        return await AsyncPages.begin(
            lambda at: self._connection.get(
                operations.VERSIONS_LIST, handle=handle, params={"limit": limit, "cursor": at}
            ),
            cursor,
        )

    async def get(self, handle: str, version: str = "active") -> Version:
        """Return a version by its number (`v3`), its tag or `active`; with the snapshot if the key may read it."""
        return await self._connection.get(operations.VERSIONS_GET, handle=handle, name=version)

    async def samples(
        self, handle: str, version: str = "active", *, limit: int = LARGEST_POSITION_PAGE, cursor: str | None = None
    ) -> AsyncPages[VersionSample]:
        """List the samples of a version by id, each with its position when it was held out.

        A version of an earlier release has none at first: `Unavailable` says so until they are worked out.
        """
        return await AsyncPages.begin(
            lambda at: self._connection.get(
                operations.VERSIONS_SAMPLES, params={"limit": limit, "cursor": at}, handle=handle, name=version
            ),
            cursor,
        )

    async def tag(self, handle: str, name: str, version: str | None = None, note: str | None = None) -> VersionTagged:
        """Tag a version (`v3`), by default the active one; a tag that exists moves to it.

        The tag gets the note; without one, it has none.
        """
        body = {key: value for key, value in (("version", version), ("note", note)) if value is not None}
        return await self._connection.send(operations.VERSIONS_TAG, handle=handle, name=name, body=body or None)

    async def untag(self, handle: str, name: str) -> VersionUntagged:
        """Remove the tag; the version stays."""
        return await self._connection.send(operations.VERSIONS_UNTAG, handle=handle, name=name)

    async def activate(self, handle: str, *, version: str | None = None, tag: str | None = None) -> VersionActivated:
        """Make a version serve scores; give exactly one of `version` and `tag`."""
        body = {name: value for name, value in (("version", version), ("tag", tag)) if value is not None}
        return await self._connection.send(operations.VERSIONS_ACTIVATE, handle=handle, body=body)

    async def activations(self, handle: str, *, limit: int = 50, cursor: str | None = None) -> AsyncPages[Activation]:
        """List which version served when, newest first."""
        return await AsyncPages.begin(
            lambda at: self._connection.get(
                operations.VERSIONS_ACTIVATIONS, handle=handle, params={"limit": limit, "cursor": at}
            ),
            cursor,
        )

    async def compare(
        self,
        a: str,
        b: str,
        *,
        texts: Iterable[str] | None = None,
        traits: Sequence[str] | None = None,
        explain: bool = False,
    ) -> VersionsComparison:
        """Compare two versions, each given as a handle that may be pinned (`a.b@v3`, `a.b@tag`).

        The answer has the figures of both on the same test samples, what changed from `a` to `b`, and a verdict with
        its reason. With `texts`, any number of them, it also has the scores of each by both versions. All texts are
        scored by the versions that scored the first.

        With `explain`, for at most 10 texts, `moved_by` of each text has the changed samples that are most similar to
        it, and by how much they moved its scores. This needs an authoring key for both models. A single text, a mapping
        or a set as `texts` raises `TypeError`.
        """
        body: dict[str, Any] = {"a": a, "b": b, **({} if traits is None else {"traits": list(traits)})}
        if explain:
            body["explain"] = True
        if texts is None:
            return await _send(self._connection, body)
        lines: list[ComparedText | FailedLine] = []
        chunks, sent = _chunks(values_of(texts), lines), dict[int, str]()
        first = next(chunks, None)
        compared = await _send(self._connection, body if first is None else {**body, "texts": list(first.values())})
        if first is not None:
            lines += _at_positions(compared, first)
            sent |= first
        # Another version may become active in the meantime.
        body |= {"a": pin(a, f"v{compared.a.version_no}"), "b": pin(b, f"v{compared.b.version_no}")}
        for some in chunks:
            lines += _at_positions(await _send(self._connection, {**body, "texts": list(some.values())}), some)
            sent |= some
        answer = compared.model_copy(update={"texts": sorted(lines, key=lambda line: line.index)})
        return with_known(answer, texts=sent)


def _at_positions(compared: VersionsComparison, some: Mapping[int, str]) -> list[ComparedText | FailedLine]:
    """The lines of an answer at the positions of its texts."""
    positions = list(some)
    return [line.model_copy(update={"index": positions[line.index]}) for line in compared.texts or ()]


async def _send(connection: AsyncConnection, body: dict[str, Any]) -> VersionsComparison:
    return await connection.send(operations.VERSIONS_COMPARE, body=body, long=True, reads=True)


def _chunks(values: Iterator[Any], lines: list[ComparedText | FailedLine]) -> Iterator[dict[int, str]]:
    """Yield the texts of each request by their positions; what is no text gets its line."""
    some, length = dict[int, str](), 0
    for position, value in enumerate(values):
        if line := refusal(position, value):
            lines.append(line)
            continue
        if some and (len(some) == MOST_TEXTS or length + len(value) > _MOST_CHARACTERS):
            yield some
            some, length = {}, 0
        some[position] = value
        length += len(value)
    if some:
        yield some
