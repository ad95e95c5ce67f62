"""The decision wire ("System One"): typed questions about a text, answered with probabilities.

The names of fields are those of other programs. Fields of ours begin with `x_`.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from traitbench.contract.fields import Count, Lenient, Returned, Text, schema
from traitbench.contract.scores import Confidence, ConfidenceReason
from traitbench.names import HANDLE, TAG

MOST_QUESTIONS = 255
MOST_OPTIONS = 255
MOST_LEVELS = 10

_CONTENT = [{"type": "string"}, {"type": "object", "additionalProperties": True}, {"type": "array", "items": {}}]


def _content(value: Any) -> Any:
    if not isinstance(value, str | dict | list):
        raise ValueError("Input should be a text, an object or a list")
    return value


def _content_or_null(value: Any) -> Any:
    return value if value is None else _content(value)


Content = Annotated[Any, AfterValidator(_content), schema(anyOf=_CONTENT)]
"""A text, or an object or a list with texts in it."""
OptionalContent = Annotated[Any, AfterValidator(_content_or_null), schema(anyOf=[*_CONTENT, {"type": "null"}])]
Probability = Annotated[float, schema(minimum=0, maximum=1)]


class NoulCriteria(Lenient):
    """What counts as yes, and what as no."""

    true: OptionalContent = None
    false: OptionalContent = None


class NoulQuestion(Lenient):
    """A question for yes or no. It names a trait, or the pole that is a yes."""

    type: Literal["noul"]
    instructions: OptionalContent = None
    criteria: NoulCriteria | None = None


class ChoiceQuestion(Lenient):
    """A question for one of several options, by their names. The options are the two poles of a trait."""

    type: Literal["choice"]
    instructions: OptionalContent = None
    criteria: Annotated[dict[Text, OptionalContent], Field(min_length=2, max_length=MOST_OPTIONS)]


class ScoreQuestion(Lenient):
    """A question for a level of a scale, from low to high. The ends of the scale are the two poles of a trait."""

    type: Literal["score"]
    instructions: OptionalContent = None
    criteria: Annotated[list[Content], Field(min_length=2, max_length=MOST_LEVELS)]


Question = Annotated[NoulQuestion | ChoiceQuestion | ScoreQuestion, Field(discriminator="type")]


class DecisionRequest(Lenient):
    """Body of `POST /systemone`: questions by their ids about one text.

    `model` is a handle, which may be pinned with `@vN` or `@tag`. An object or a list as `state` is read as its texts.
    """

    model: Annotated[Text, schema(pattern=f"^{HANDLE.pattern}(@{TAG.pattern})?$")]
    state: Content
    questions: Annotated[dict[Text, Question], Field(min_length=1, max_length=MOST_QUESTIONS)]


class TraitAnswer(Returned):
    """What every answer adds: the confidence of the trait's score, why it is not high, and the pole of the text.

    `x_side` is null if the text has no clear side.
    """

    x_confidence: Confidence
    x_reason: ConfidenceReason | None
    x_side: str | None


class NoulAnswer(TraitAnswer):
    """The probability of yes."""

    type: Literal["noul"]
    noul: Probability


class ChoiceAnswer(TraitAnswer):
    """The more probable option, and the probability of each."""

    type: Literal["choice"]
    choice: str
    probabilities: dict[str, Probability]
    confidence: Probability


class ScoreAnswer(TraitAnswer):
    """The mean position on the scale from 0, the levels by position, and the probability of each position."""

    type: Literal["score"]
    score: float
    legend: dict[str, Content]
    probabilities: dict[str, Probability]
    confidence: Probability


class TokenUsage(Returned):
    """The tokens of the text. An answer has none, because no language model writes it."""

    input_tokens: Count
    output_tokens: Count


class Decisions(Returned):
    """Answers by the ids of their questions. `model` is the handle with the version that answered."""

    model: str
    answers: dict[str, NoulAnswer | ChoiceAnswer | ScoreAnswer]
    usage: TokenUsage
