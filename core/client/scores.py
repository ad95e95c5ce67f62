"""`client.scores`: a text against a model, or two against each other, as cards or as bar charts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from traitbench.client import batches
from traitbench.client.connection import Connection, segment
from traitbench.client.reasons import quoted
from traitbench.contract.batch import MOST_TEXTS, BatchLine, Mode
from traitbench.contract.scores import Card, Comparison


class Scores:
    """Scoring; a handle may be pinned to a version: `a.b@v3`, `a.b@tag`."""

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
        """The card of a text; `traits` are those to score, all when left out.

        `feedback` says what the scores should have been, by trait: a number from 0 to 1, a pole's label, or a word such
        as good, fair, poor. It becomes samples of the next retraining; their ids are in `card.metadata.sample_ids`.

        `explain` asks for the reasons: `card.explanation` has, by trait, what each sentence adds to the score, with the
        words it is about, and the nearest samples.
        """
        told = None if feedback is None else dict(feedback)
        body = _body(content=content, traits=_listed(traits), feedback=told, explain=explain or None)
        return quoted(
            self._connection.send("POST", _path(handle, "score"), Card, body=body, reads=not feedback), content
        )

    def chart(self, handle: str, content: str, *, traits: Sequence[str] | None = None) -> str:
        """The card of a text, drawn as a bar chart in plain text."""
        return self._connection.text(_path(handle, "score"), body=_body(content=content, traits=_listed(traits)))

    def batch(
        self,
        handle: str,
        texts: Iterable[str],
        *,
        traits: Sequence[str] | None = None,
        mode: Mode = "full",
        size: int = MOST_TEXTS,
    ) -> Iterator[BatchLine]:
        """The lines of any number of texts, in order, as they come; `size` is how many go in one request.

        A line is a `ScoredLine`, which is a card, or a `FailedLine` with its `error`; `index` counts from the first
        text. All are scored by one version. `mode` trades quality for speed, where the version was trained for it:
        "layer4" or "static".
        """
        asked = batches.Asked(handle, _listed(traits), mode)
        return batches.batch(self._connection, asked, texts, size=size)

    def compare(self, handle: str, a: str, b: str, *, traits: Sequence[str] | None = None) -> Comparison:
        """The cards of two texts and what changes from `a` to `b`."""
        body = _body(a=a, b=b, traits=_listed(traits))
        return self._connection.send("POST", _path(handle, "compare"), Comparison, body=body, reads=True)

    def compare_chart(self, handle: str, a: str, b: str, *, traits: Sequence[str] | None = None) -> str:
        """Two texts side by side, drawn in plain text."""
        return self._connection.text(_path(handle, "compare"), body=_body(a=a, b=b, traits=_listed(traits)))


def _path(handle: str, verb: str) -> str:
    return f"/models/{segment(handle)}/{verb}"


def _listed(traits: Sequence[str] | None) -> list[str] | None:
    return None if traits is None else list(traits)


def _body(**fields: Any) -> dict[str, Any]:
    """The fields that were given."""
    return {name: value for name, value in fields.items() if value is not None}
