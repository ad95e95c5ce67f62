"""Guards: what LiteLLM's generic guardrail and promptfoo's webhook send and read.

The names of fields are those of other programs. Fields of ours begin with `x_`.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from traitbench.contract.batches import MOST_TEXTS
from traitbench.contract.comparisons import PINNED
from traitbench.contract.decisions import Content, Probability
from traitbench.contract.fields import Integral, Lenient, NotBlank, Received, Returned, Text, schema

FROM_MIDDLE = 50
FromScore = Annotated[int, Field(alias="from", ge=0, le=100), Integral]
"""Points towards a pole from which on a text counts: the score for the positive pole, and 100 less it for the other."""


class GuardrailParameters(Received):
    """Which texts LiteLLM blocks: those that are towards the pole `block` of a trait, by `from` points or more.

    `model` is a handle, which may be pinned with `@vN` or `@tag`.
    """

    model: Annotated[Text, schema(pattern=PINNED)]
    trait: NotBlank
    block: NotBlank
    from_: FromScore = FROM_MIDDLE


class GuardrailRequest(Lenient):
    """Body of `POST /beta/litellm_basic_guardrail_api`: the texts of a prompt or of an answer.

    Of what else LiteLLM sends, nothing is scored: images, definitions of tools, calls of tools.
    """

    additional_provider_specific_params: GuardrailParameters
    input_type: Literal["request", "response"] | None = None
    texts: Annotated[list[Text], Field(max_length=MOST_TEXTS)] | None = None
    images: Any = None
    tools: Any = None
    tool_calls: Any = None


class GuardrailAnswer(Returned):
    """Whether LiteLLM blocks, and why: the trait and the score, never the text.

    `x_not_scored` names the fields of the request that held something which was not looked at.
    """

    action: Literal["BLOCKED", "NONE"]
    blocked_reason: str | None
    x_not_scored: list[str]


class WebhookRequest(Lenient):
    """Body of `POST /models/{handle}/webhook`: the output of a prompt. An object or a list is read as its texts."""

    output: Content


class WebhookVerdict(Returned):
    """Whether the output is on the side that it should be on, by how much, and the trait and the score in words."""

    passed: Annotated[bool, Field(alias="pass")]
    score: Probability
    reason: str
