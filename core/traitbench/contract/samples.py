"""Samples on the wire (core/docs/api.md, "Samples")."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationInfo, field_validator

from traitbench.contract.fields import (
    Count,
    Integral,
    NotBlank,
    Quality,
    Readable,
    Received,
    Returned,
    Text,
    Time,
    schema,
)
from traitbench.contract.models import Effort

LONGEST_TEXT = 50_000
LONGEST_URL = 2_000
LONGEST_GROUP = 500
LONGEST_NOTE = 500
MOST_SAMPLES = 500
"""Samples in one request."""

NOT_HELD_OUT = "only a held-out sample can be must_pass; set held_out too"

MOST_REJECTED = 100
"""Rejected texts of a synthesis that can be read."""

RejectReason = Literal["invalid", "copy", "near_duplicate", "wrong_side", "strayed", "repetitive", "form", "length"]
"""Why the quality filter rejects a text (`traitbench.synthesis.quality_filter`)."""
OFFLINE = "offline"
"""The generator that needs no language model."""

TEXTS_PER_POLE: Mapping[str, int] = {"low": 16, "medium": 32, "high": 64, "xhigh": 128, "max": 256}
"""How many texts per pole a synthesis aims for, by its effort. It makes fewer if the trait does not give enough."""

LONGEST_SEARCH = 200
"""Characters of a search in texts."""

SynthesisType = Annotated[Text, schema(enum=["from_traits", "diversify"])]
Provenance = Literal["authored", "synthesized", "score_feedback"]
Pole = Literal["positive", "negative", "between"]
"""The pole that a label is nearer to; `between` is a quality of exactly 0.5."""


@dataclass(frozen=True)
class SampleQuery:
    """Which samples of a model a listing has, and in which order; None leaves all.

    `trait` is a key or a name. `held_out` leaves only the test samples, or only the others, `pending` only feedback
    that waits, or everything else, `grouped` only samples with a group, or only those without. The text must contain
    all words of `text`, in any case. `offset` skips samples at the beginning, and `count` asks for the number of all
    that pass. `ids` leaves only these samples, as far as they exist.
    """

    trait: str | None = None
    held_out: bool | None = None
    pending: bool | None = None
    provenance: Provenance | None = None
    pole: Pole | None = None
    text: str | None = None
    newest_first: bool = False
    offset: int = 0
    count: bool = False
    ids: tuple[int, ...] | None = None
    grouped: bool | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The words that a text must contain."""
        return tuple((self.text or "").split())

    def parameters(self) -> dict[str, Any]:
        """The parameters of a request, by name; those at their default are left out."""
        ids = None if self.ids is None else ",".join(map(str, sorted(set(self.ids))))
        fields = {**asdict(self), "ids": ids}
        return {name: value for name, value in fields.items() if value != getattr(SampleQuery, name)}


def text_hash(text: str) -> str:
    """Return the `content_sha256` of a text: SHA-256 over its UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


Ids = Annotated[list[Annotated[int, Field(ge=1, le=2**53 - 1), Integral]], Field(min_length=1, max_length=MOST_SAMPLES)]


class SampleInput(Received):
    """One labelled text: quality 1.0 is the positive pole of the trait, 0.0 the negative one.

    A `held_out` sample is a test sample: no version is trained with it, and every version is measured on it. A
    `must_pass` sample is a test sample whose score has to be on its pole's side. Samples with the same `group`, such as
    the turns of a conversation, belong together: they are trained with or measured on, never divided between both. A
    `note` says why the sample has its label; training and scoring ignore it.
    """

    trait: Text
    text: Annotated[Readable, Field(max_length=LONGEST_TEXT)]
    quality: Quality
    source_url: Annotated[Text, Field(max_length=LONGEST_URL)] | None = None
    content_sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    held_out: bool = False
    must_pass: bool = False
    group: Annotated[NotBlank, Field(max_length=LONGEST_GROUP)] | None = None
    note: Annotated[NotBlank, Field(max_length=LONGEST_NOTE)] | None = None

    @field_validator("must_pass")
    @classmethod
    def _only_tests_must_pass(cls, value: bool, info: ValidationInfo) -> bool:
        if value and info.data.get("held_out") is False:
            raise ValueError(NOT_HELD_OUT)
        return value


class SamplesCreate(Received):
    """Body of `POST /models/{handle}/samples`. Either all samples are added or none."""

    samples: Annotated[list[SampleInput], Field(min_length=1, max_length=MOST_SAMPLES)]


class SampleIds(Returned):
    """Ids of the samples that were added, changed or deleted, in the order sent.

    `change_id` is the change to undo; absent if nothing was changed.
    """

    ids: Annotated[list[int], schema(minItems=1, maxItems=MOST_SAMPLES)]
    change_id: int | None = Field(default=None, exclude_if=lambda value: value is None)


class SamplesUpdate(Received):
    """Body of `PATCH /v1/models/{handle}/samples`: the samples to change, and what to set for all of them.

    Null means unchanged. `held_out: false` also clears `must_pass`, and a blank `group` leaves samples without one.
    """

    ids: Ids
    held_out: bool | None = None
    must_pass: bool | None = None
    group: Annotated[Text, Field(max_length=LONGEST_GROUP)] | None = None


class SamplesDelete(Received):
    """Body of `POST /v1/models/{handle}/samples/delete`. Either all samples are deleted or none."""

    ids: Ids


class Sample(Returned):
    """A stored sample.

    `generator` is what made a synthesized sample: `offline` or the name of a language model. `seed_sample_id` is the
    sample that a variation was made from; that sample may have been deleted since. A `pending` sample is feedback that
    the model has not learned yet. `score_then` is the score that the text had when the feedback was given. It is null
    for other samples, for feedback on a trait that was not scored, and for feedback that an older release stored.
    `revision` is 1 at first and rises with each change.
    """

    id: int
    trait: str
    text: str
    quality: Annotated[float, schema(minimum=0, maximum=1)]
    provenance: Provenance
    source_url: str | None
    content_sha256: str
    created_at: Time
    seed_sample_id: int | None
    generator: str | None
    held_out: bool
    must_pass: bool
    pending: bool
    score_then: Annotated[int, schema(minimum=0, maximum=100)] | None
    group: str | None = None
    note: str | None = None
    revision: Annotated[int, schema(minimum=1)] = 1


class SynthesizeRequest(Received):
    """Body of `POST /models/{handle}/samples/synthesize`; no body is `{}`. More effort makes more samples.

    `language_model`: whether to ask the language model of the service. Null asks it if there is one, and the model is
    not under zero retention.
    """

    synth_type: SynthesisType = "from_traits"
    effort: Effort | None = None
    language_model: bool | None = None


class RejectedText(Returned):
    """A generated text that was not added to the samples, and the reason.

    `seed_sample_id` is the sample that it varies.
    """

    trait: str
    text: str
    quality: Annotated[float, schema(minimum=0, maximum=1)]
    reason: RejectReason
    generator: str
    seed_sample_id: int | None


class RejectedTexts(Returned):
    """Texts that the last synthesis rejected: the first of every trait and reason, at most 100.

    They are deleted when the model's next run starts. Under zero retention there are none.
    """

    items: list[RejectedText]


class SynthesisPlan(Returned):
    """What a synthesis would do, before it is started.

    `generator` is `offline` or the name of the language model that would be asked, at `host`. `tokens` is an estimate,
    `most_tokens` the limit, `seconds` an estimate too. `sent` is the first question as it would be sent. `reason` says
    why a language model of the service would not be asked: `zero_retention` or `not_wanted`; null if there is none.
    `offline_warning` says what texts made offline lack here, because samples or labels are not in English; null if
    nothing does.
    """

    generator: str
    host: str | None
    texts_per_pole: Count
    requests: Count
    tokens: Count
    most_tokens: Count
    seconds: Annotated[float, schema(minimum=0)]
    sent: list[str]
    reason: Literal["zero_retention", "not_wanted"] | None
    offline_warning: str | None = None
