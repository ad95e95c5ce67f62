"""Texts without labels and decisions about them on the wire (core/docs/contract.md, "Texts without labels")."""

from typing import Annotated

from pydantic import Field

from traitbench.contract.fields import Count, NotBlank, Quality, Readable, Received, Returned, Time, schema
from traitbench.contract.sample_changes import Revision
from traitbench.contract.samples import LONGEST_GROUP, LONGEST_NOTE, LONGEST_TEXT, MOST_SAMPLES, Sample

MOST_TEXTS = 100_000
"""Texts without labels of one model."""

LONGEST_SOURCE = 200


class TextInput(Received):
    """One text without a label. Texts with the same `group` belong together, as in `SampleInput`."""

    text: Annotated[Readable, Field(max_length=LONGEST_TEXT)]
    group: Annotated[NotBlank, Field(max_length=LONGEST_GROUP)] | None = None


class TextsAdd(Received):
    """Body of `POST /v1/models/{handle}/texts`: texts to label. `source` says where they are from, such as a file."""

    texts: Annotated[list[TextInput], Field(min_length=1, max_length=MOST_SAMPLES)]
    source: Annotated[NotBlank, Field(max_length=LONGEST_SOURCE)] | None = None


class TextsAdded(Returned):
    """How many texts were added, and how many the model had already; `count` is how many it has now, of `most`."""

    handle: str
    added: Count
    known: Count
    count: Count
    most: Count


class UnlabelledText(Returned):
    """A text that was brought to be labelled. `by` is the name of the person or key that brought it."""

    id: int
    text: str
    content_sha256: str
    source: str | None
    group: str | None
    added_at: Time
    by: str | None


class TextsDeleted(Returned):
    """How many texts were deleted."""

    handle: str
    count: Count


class DecisionPut(Received):
    """Body of `PUT /v1/models/{handle}/texts/{text_id}/decisions/{key}`: a label, or null to skip the text.

    The `note` says why, and is that of the sample too. With `replaces`, a label that somebody else gave the same text
    is changed, if its sample still has that revision.
    """

    quality: Quality | None = None
    note: Annotated[NotBlank, Field(max_length=LONGEST_NOTE)] | None = None
    replaces: Revision | None = None


class TextDecision(Returned):
    """What a person decided about a text and a trait. `quality` is null if they skipped it.

    `sample_id` is the sample with that label; null for a skip, and if the text has another label. Then `conflict` is
    the sample with it, only in the answer to the decision.
    """

    id: int
    text_id: int
    trait: str
    quality: Annotated[float, schema(minimum=0, maximum=1)] | None
    sample_id: int | None
    note: str | None
    by: str | None
    decided_at: Time
    conflict: Sample | None = Field(default=None, exclude_if=lambda value: value is None)
