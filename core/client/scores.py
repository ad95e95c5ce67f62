"""`client.scores`: one text against a model, as a card or as a bar chart."""

from collections.abc import Sequence
from typing import Any

from core.client.connection import Connection, segment
from core.contract.scores import Card


class Scores:
    """Scoring; a handle may be pinned to a version: `a.b@v3`, `a.b@tag`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def score(self, handle: str, content: str, *, traits: Sequence[str] | None = None) -> Card:
        """The card of a text; `traits` are those to score, all when left out."""
        return self._connection.send("POST", _path(handle), Card, body=_body(content, traits))

    def chart(self, handle: str, content: str, *, traits: Sequence[str] | None = None) -> str:
        """The card of a text, drawn as a bar chart in plain text."""
        return self._connection.text(_path(handle), body=_body(content, traits))


def _path(handle: str) -> str:
    return f"/models/{segment(handle)}/score"


def _body(content: str, traits: Sequence[str] | None) -> dict[str, Any]:
    return {"content": content} if traits is None else {"content": content, "traits": list(traits)}
