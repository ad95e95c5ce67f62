"""`client.scores`: score one text, many texts, or compare two, as cards or as bar charts."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any

from traitbench.client import batches
from traitbench.client.connection import AsyncConnection
from traitbench.client.wire import quoted, segment
from traitbench.contract.batches import MOST_TEXTS, BatchLine, Mode
from traitbench.contract.scores import Card, Comparison


class AsyncScores:
    """Scoring. A handle may be pinned to a version: `a.b@v3`, `a.b@tag`."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def score(
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
        card = await self._connection.send("POST", _path(handle, "score"), Card, body=body, reads=not feedback)
        return quoted(card, content)

    async def chart(self, handle: str, content: str, *, traits: Sequence[str] | None = None) -> str:
        """Score a text and return its card as a bar chart in plain text."""
        return await self._connection.text(_path(handle, "score"), body=_body(content=content, traits=_listed(traits)))

    def batch(
        self,
        handle: str,
        texts: Iterable[str],
        *,
        traits: Sequence[str] | None = None,
        mode: Mode = "full",
        size: int = MOST_TEXTS,
    ) -> AsyncIterator[BatchLine]:
        """Score any number of texts and yield a line for each, in order, as the answers arrive.

        A line is a `ScoredLine`, which is a card, or a `FailedLine` with its `error`, also for None, NaN and other
        values that are no text; `index` counts from the first. A single text instead of a list raises `TypeError`. One
        version scores all texts. The modes "layer4", "layer6" and "static" trade quality for speed, if the version was
        trained for them. `size` is the number of texts per request.
        """
        asked = batches.Asked(handle, _listed(traits), mode)
        return batches.batch(self._connection, asked, texts, size=size)

    async def compare(self, handle: str, a: str, b: str, *, traits: Sequence[str] | None = None) -> Comparison:
        """Score two texts and return both cards and the change from `a` to `b`."""
        body = _body(a=a, b=b, traits=_listed(traits))
        return await self._connection.send("POST", _path(handle, "compare"), Comparison, body=body, reads=True)

    async def compare_chart(self, handle: str, a: str, b: str, *, traits: Sequence[str] | None = None) -> str:
        """Compare two texts and return both cards side by side as a bar chart in plain text."""
        return await self._connection.text(_path(handle, "compare"), body=_body(a=a, b=b, traits=_listed(traits)))


def _path(handle: str, verb: str) -> str:
    return f"/models/{segment(handle)}/{verb}"


def _listed(traits: Sequence[str] | None) -> list[str] | None:
    return None if traits is None else list(traits)


def _body(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}
