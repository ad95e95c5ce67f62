"""Explanations of scores on the wire (an addition to core/docs/contract.md, section 8)."""

from typing import Literal

from pydantic import Field

from traitbench.contract.fields import Returned


class Stretch(Returned):
    """Characters `start` to `end` of the scored text: `content` itself, or the text of the page at its URL."""

    start: int
    end: int


class Piece(Stretch):
    """A stretch and its contribution to the position; above 0 is towards the positive pole."""

    contribution: float


class Part(Piece):
    """A sentence, or a longer stretch if the text is long. `pieces` has its words or phrases if they were analysed.

    `text` is present only if the content was a URL, because the caller does not have the text then.
    """

    pieces: list[Piece]
    text: str | None = Field(default=None, exclude_if=lambda value: value is None)


class Neighbour(Returned):
    """A sample that is similar to the text; `similarity` is the cosine of the two vectors.

    `quality` is null if discovery derived the trait and the sample has no label. `text` is null if the key may not list
    the model's samples.
    """

    id: int
    quality: float | None
    similarity: float
    text: str | None


class Nearest(Returned):
    """The nearest samples at each pole, nearest first."""

    positive: list[Neighbour]
    negative: list[Neighbour]


class Explanation(Returned):
    """The reasons for a trait's score: `baseline` and the contributions of all `parts` add up to `position`.

    In the unit `logit`, the position is ln(p / (1 - p)) of the score p. If the score is the mean over several parts,
    the unit is `score` and the position is p. The baseline is the position of a text that points to neither pole: the
    middle. `refined` is false if the text is so long that some parts have several sentences. `decided_by` is the part
    that is the maximum or the minimum. `note` says what is left out, and why.
    """

    unit: Literal["logit", "score"]
    position: float
    baseline: float
    parts: list[Part]
    refined: bool
    decided_by: Stretch | None
    nearest: Nearest | None
    note: str | None

    def with_text(self, content: str) -> "Explanation":
        """Return the explanation with the `text` of every part of the content; parts that have theirs keep it."""
        parts = [
            part if part.text is not None else part.model_copy(update={"text": content[part.start : part.end]})
            for part in self.parts
        ]
        return self.model_copy(update={"parts": parts})
