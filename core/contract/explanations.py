"""Why a text scores as it does, on the wire (core/docs/contract.md, "Explanations")."""

from typing import Literal

from pydantic import Field

from traitbench.contract.fields import Returned


class Stretch(Returned):
    """Characters `start` to `end` of the text that was scored: `content` itself, or what was read at its address."""

    start: int
    end: int


class Piece(Stretch):
    """A stretch and what it adds to the position: above 0 towards the positive pole."""

    contribution: float


class Part(Piece):
    """A sentence, or a longer stretch that was not looked into, with its words or phrases where these were looked at.

    `text` is there only when the content was an address: the request does not hold the text then.
    """

    pieces: list[Piece]
    text: str | None = Field(default=None, exclude_if=lambda value: value is None)


class Neighbour(Returned):
    """A sample like the text: the cosine of the two vectors is their `similarity`.

    `quality` is null when the trait was found by discovery and nobody labelled the sample; `text` when the key may not
    list the model's samples.
    """

    id: int
    quality: float | None
    similarity: float
    text: str | None


class Nearest(Returned):
    """The nearest samples of either side, nearest first."""

    positive: list[Neighbour]
    negative: list[Neighbour]


class Explanation(Returned):
    """A trait's reasons: `baseline` and all contributions of `parts` add up to `position`.

    In the unit `logit` the position is that of the score, ln(p / (1 - p)); where a score is the mean of several parts'
    it is p itself, unit `score`. The baseline is the middle, where a text lies that says nothing. `refined` is false
    when the text is so long that stretches of several sentences were left whole; `decided_by` is the part that is the
    maximum or the minimum. `note` says what is left out, and why.
    """

    unit: Literal["logit", "score"]
    position: float
    baseline: float
    parts: list[Part]
    refined: bool
    decided_by: Stretch | None
    nearest: Nearest | None
    note: str | None
