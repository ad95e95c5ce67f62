"""Scores on the wire (core/docs/contract.md, section 8)."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from traitbench.contract.explanations import Explanation
from traitbench.contract.fields import Count, Readable, Received, Returned, Text, schema

Confidence = Literal["high", "moderate", "low"]
ConfidenceReason = Literal["few_samples", "not_separable", "overlap", "unlike_samples"]
Points = Annotated[int, schema(minimum=0, maximum=100)]
Change = Annotated[int, schema(minimum=-100, maximum=100)]
Tier = Literal["Strong", "Solid", "Developing", "Weak"]

FEEDBACK_WORDS: Mapping[str, float] = {
    **dict.fromkeys(("good", "yes", "high", "strong", "excellent", "positive"), 1.0),
    **dict.fromkeys(("fair", "moderate", "mixed", "medium"), 0.5),
    **dict.fromkeys(("poor", "no", "low", "weak", "bad", "negative"), 0.0),
}
"""The quality that each word of feedback stands for, besides the labels of the trait."""


_VERDICT = [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "minLength": 1}]


class ScoreRequest(Received):
    """JSON body of `POST /models/{handle}/score`; `traits` names the traits to score, by default all.

    `explain` requests the explanation too.
    """

    content: Readable
    traits: Annotated[list[Text], Field(min_length=1)] | None = None
    feedback: dict[Text, Annotated[Any, schema(anyOf=_VERDICT)]] | None = None
    explain: bool = False


class Breaks(Returned):
    """Where the tiers begin, 0-100."""

    developing: Points
    solid: Points
    strong: Points


class Native(Returned):
    """The score before rounding, on the axis: -1 negative pole .. 1 positive pole."""

    polarity: Annotated[float, schema(minimum=-1, maximum=1)]


class TraitScore(Returned):
    """The score of a text on one trait. `label` and `headroom` are null when the confidence is low.

    `confidence_reason` says why the confidence is not high; it is null when it is.
    """

    score: Points
    label: Tier | None
    confidence: Confidence
    confidence_reason: ConfidenceReason | None = None
    band: Annotated[list[Points], schema(minItems=2, maxItems=2)]
    headroom: Points | None
    breaks: Breaks
    native: Native


class ScoreMetadata(Returned):
    """The request and the version that produced the card."""

    request_id: str
    version_id: str
    sample_ids: list[int]


class Card(Returned):
    """The scores of one text. `explanation` has the reasons by trait, and is absent unless it was requested."""

    scores: dict[str, Points]
    composite: Points
    confidence: Confidence
    headroom: Points | None
    detail: dict[str, TraitScore]
    input_tokens: Count
    metadata: ScoreMetadata
    explanation: dict[str, Explanation] | None = Field(default=None, exclude_if=lambda value: value is None)


class CompareRequest(Received):
    """Body of `POST /models/{handle}/compare`: two texts on the same traits."""

    a: Readable
    b: Readable
    traits: Annotated[list[Text], Field(min_length=1)] | None = None


class Delta(Returned):
    """The scores of two texts on one trait; `delta` is b - a.

    `certain` says whether the difference is larger than the noise of the scores: its sign is right at least 9 times in
    10. It is null only on answers of a service of 0.2.0 whose version is older and cannot judge it.
    """

    a: Points
    b: Points
    delta: Change
    certain: bool | None = None


class Comparison(Returned):
    """The cards of two texts and the changes from a to b; `improvement` is the difference of the composites.

    `certain` says whether the improvement is: at least one trait certainly moved its way, and none moved the other way.
    It is null if that of a trait is.
    """

    a: Card
    b: Card
    improvement: Change
    certain: bool | None = None
    per_trait: dict[str, Delta]

    @staticmethod
    def of(a: Card, b: Card, certain: Mapping[str, bool | None]) -> "Comparison":
        """Put two cards of the same traits side by side; `certain` says by trait whether the difference is."""
        deltas = {
            key: Delta(a=old, b=b.scores[key], delta=b.scores[key] - old, certain=certain[key])
            for key, old in a.scores.items()
        }
        improvement = b.composite - a.composite
        return Comparison(
            a=a, b=b, improvement=improvement, certain=_certain(improvement, deltas.values()), per_trait=deltas
        )


def _certain(improvement: int, deltas: Collection[Delta]) -> bool | None:
    """Whether a change of the composite is certain: a trait certainly moved the same way, and none the other way."""
    if any(each.certain is None for each in deltas):
        return None
    same_way = [each.delta * improvement > 0 for each in deltas if each.delta]
    return all(same_way) and improvement != 0 and any(each.certain for each in deltas)
