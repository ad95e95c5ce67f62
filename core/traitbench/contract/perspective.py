"""Perspective's wire: what its clients send and read. The names of types and fields are theirs.

Fields may also have the spelling of their protocol buffers, such as `requested_attributes`, and null is as good as no
field. Own fields begin with `x_`.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from traitbench.contract.fields import Lenient, Returned
from traitbench.contract.scores import Confidence, ConfidenceReason

MOST_BYTES = 20_480
"""Of a comment in UTF-8; clients cut at this limit."""
MOST_NAMES = 255
"""Of attributes or languages in a request: each attribute that no trait is costs queries of the database."""

PROBABILITY: Literal["PROBABILITY"] = "PROBABILITY"

_THEIR_NAMES = ConfigDict(alias_generator=to_camel, populate_by_name=True)

Share = Annotated[float, Field(ge=0.0, le=1.0)]
_FEW = Field(max_length=MOST_NAMES)


def _is_absent(value: object) -> bool:
    return value is None


class _Request(Lenient):
    model_config = _THEIR_NAMES


class _Answer(Returned):
    model_config = _THEIR_NAMES


class TextEntry(_Request):
    """A text, plain or HTML."""

    text: str | None = None
    type: Literal["TEXT_TYPE_UNSPECIFIED", "PLAIN_TEXT", "HTML"] | None = None


class ArticleAndParentComment(_Request):
    """What a comment is about, and what it replies to."""

    article: TextEntry | None = None
    parent_comment: TextEntry | None = None


class CommentContext(_Request):
    """What a comment refers to. It is checked, and neither scored nor stored."""

    entries: list[TextEntry] | None = None
    article_and_parent_comment: ArticleAndParentComment | None = None


class AttributeParameters(_Request):
    """How an attribute is requested: scores below `score_threshold` are left out."""

    score_type: str | None = None
    score_threshold: float | None = None


class AnalyzeCommentRequest(_Request):
    """Body of `POST /v1alpha1/comments:analyze`."""

    comment: TextEntry | None = None
    context: CommentContext | None = None
    requested_attributes: Annotated[dict[str, AttributeParameters | None], _FEW] | None = None
    span_annotations: bool | None = None
    languages: Annotated[list[str], _FEW] | None = None
    do_not_store: bool | None = None
    drop_unsupported_attributes: bool | None = None
    client_token: str | None = None
    session_id: str | None = None
    community_id: str | None = None


class AttributeProbability(_Answer):
    """The probability of the attribute, between 0.4 and 0.6 if the confidence is low."""

    value: Share
    type: Literal["PROBABILITY"]


class SpanScore(_Answer):
    """The score of a sentence, from `begin` to before `end` in UTF-16 units of the text that was sent."""

    begin: int
    end: int
    score: AttributeProbability


class AttributeScores(_Answer):
    """The score of the whole comment and those of its sentences; what claims the score, and how sure it is."""

    summary_score: AttributeProbability
    span_scores: list[SpanScore]
    x_model: str = Field(alias="x_model")
    x_trait: str = Field(alias="x_trait")
    x_side: str | None = Field(alias="x_side")
    x_confidence: Confidence = Field(alias="x_confidence")
    x_reason: ConfidenceReason | None = Field(alias="x_reason")


class AnalyzeCommentResponse(_Answer):
    """The scores by attribute. `languages` are those that were sent, else those that were detected."""

    attribute_scores: Mapping[str, AttributeScores]
    languages: list[str]
    detected_languages: list[str] | None = Field(default=None, exclude_if=_is_absent)
    client_token: str | None = Field(default=None, exclude_if=_is_absent)


class SuggestedScore(_Request):
    """What a moderator says of the comment: 1 if it has the attribute, 0 if not."""

    value: Share | None = None
    type: str | None = None


class SuggestedSpan(_Request):
    """The same for a part of the comment; it is not kept."""

    begin: int | None = None
    end: int | None = None
    score: SuggestedScore | None = None


class SuggestedScores(_Request):
    """The score that is suggested for an attribute."""

    summary_score: SuggestedScore | None = None
    span_scores: list[SuggestedSpan] | None = None


class SuggestCommentScoreRequest(_Request):
    """Body of `POST /v1alpha1/comments:suggestscore`."""

    comment: TextEntry | None = None
    context: CommentContext | None = None
    attribute_scores: Annotated[dict[str, SuggestedScores | None], _FEW] | None = None
    languages: Annotated[list[str], _FEW] | None = None
    client_token: str | None = None
    session_id: str | None = None
    community_id: str | None = None


class SuggestCommentScoreResponse(_Answer):
    """The token of the request, and its languages."""

    client_token: str | None = Field(default=None, exclude_if=_is_absent)
    requested_languages: list[str] | None = Field(default=None, exclude_if=_is_absent)
    detected_languages: list[str] | None = Field(default=None, exclude_if=_is_absent)
