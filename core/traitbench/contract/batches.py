"""Batches on the wire: a request with up to 1,000 texts, and an answer with one line for each.

See core/docs/contract.md, section 8.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field, InstanceOf

from traitbench.contract.fields import Received, Returned, Text, schema
from traitbench.contract.scores import Card
from traitbench.names import pin

MOST_TEXTS = 1_000

Index = Annotated[int, schema(minimum=0, maximum=MOST_TEXTS - 1)]
Mode = Literal["full", "layer4", "layer6", "static"]


class BatchRequest(Received):
    """Body of `POST /models/{handle}/score/batch`. A text that cannot be scored has an error on its own line.

    `mode` trades quality for speed: `layer4` and `layer6` run only so many layers of the transformer, `static` runs
    none. A version has the modes of its encoder: `layer6` and `static` of the default. With `fetch` false, a web
    address is scored as it stands; else its page is fetched and scored.
    """

    contents: Annotated[list[InstanceOf[str]], Field(min_length=1, max_length=MOST_TEXTS)]
    traits: Annotated[list[Text], Field(min_length=1)] | None = None
    mode: Mode = "full"
    fetch: bool = True


@dataclass(frozen=True)
class BatchSettings:
    """The model, traits and mode with which all texts of a batch are scored, in however many requests.

    With `fetch`, the page of a web address is scored instead of the address.
    """

    handle: str
    traits: Sequence[str] | None = None
    mode: Mode = "full"
    fetch: bool = False

    def of_version(self, version: str) -> "BatchSettings":
        """Return the same settings pinned to a version, so that a new active version does not change them."""
        return replace(self, handle=pin(self.handle, version))


class LineError(Returned):
    """Why a text of a batch has no card; `code` is the one that a request with this text alone would get."""

    code: str
    message: str
    details: dict[str, Any]


class ScoredLine(Card):
    """The card of a text; `index` is the text's position in the request, from 0."""

    index: Index


class FailedLine(Returned):
    """A text without a card; `index` is the text's position in the request, from 0."""

    index: Index
    error: LineError


BatchLine = ScoredLine | FailedLine

# A failed line has its error right behind its index. Further on, the word may be the key of a trait.
_FAILED = b'"error":'


def read_line(line: bytes) -> BatchLine:
    """Parse a line of the answer; raise `ValueError` if it is not one."""
    kind: type[ScoredLine] | type[FailedLine] = FailedLine if _FAILED in line[:40] else ScoredLine
    return kind.model_validate_json(line)
