"""Changes of samples on the wire, and their undo (core/docs/contract.md, "Changes of samples")."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from traitbench.contract.fields import Integral, Quality, Readable, Received, Returned, Text, Time, schema
from traitbench.contract.samples import LONGEST_GROUP, LONGEST_NOTE, LONGEST_TEXT, MOST_SAMPLES, SampleInput

KEPT_FOR = timedelta(hours=24)
"""How long a change can be undone. Then its texts are deleted, and only ids and labels remain."""

ChangeKind = Literal["add", "update", "delete"]
ChangedField = Literal["text", "quality", "trait", "held_out", "must_pass", "group", "note"]

SampleIdIn = Annotated[int, Field(ge=1, le=2**53 - 1), Integral]
Revision = Annotated[int, Field(ge=1, le=2**53 - 1), Integral]


class SampleFields(Received):
    """Body of `PATCH /v1/models/{handle}/samples/{sample_id}`: what to change of one sample. Null means unchanged.

    `held_out: false` also clears `must_pass`, and a blank `group` or `note` leaves the sample without one. With a
    `revision`, the sample is changed only if it still has that revision.
    """

    revision: Revision | None = None
    text: Annotated[Readable, Field(max_length=LONGEST_TEXT)] | None = None
    quality: Quality | None = None
    trait: Text | None = None
    held_out: bool | None = None
    must_pass: bool | None = None
    group: Annotated[Text, Field(max_length=LONGEST_GROUP)] | None = None
    note: Annotated[Text, Field(max_length=LONGEST_NOTE)] | None = None


class SampleEdit(SampleFields):
    """What to change of the sample with this id."""

    id: SampleIdIn


class SampleRemoval(Received):
    """The id of a sample to delete. With a `revision`, it is deleted only if it still has that revision."""

    id: SampleIdIn
    revision: Revision | None = None


class SamplesApply(Received):
    """Body of `POST /v1/models/{handle}/samples/changes`: at most 500 in all. Either all are applied or none.

    `note` says what the change is, for the history; the note of a sample is a field of the sample.
    """

    adds: list[SampleInput] = Field(default=[], max_length=MOST_SAMPLES)
    updates: list[SampleEdit] = Field(default=[], max_length=MOST_SAMPLES)
    deletes: list[SampleRemoval] = Field(default=[], max_length=MOST_SAMPLES)
    note: Annotated[Text, Field(max_length=LONGEST_NOTE)] | None = None


class ChangedSample(Returned):
    """What a change did to one sample.

    `trait` is the sample's trait after the change, or its last one if it was deleted; `moved_from` is its trait before
    if that was another one. The qualities are null where the sample did not exist. `changed` names the fields that an
    update changed.
    """

    sample_id: int
    kind: ChangeKind
    trait: str
    moved_from: str | None
    quality_before: Annotated[float, schema(minimum=0, maximum=1)] | None
    quality_after: Annotated[float, schema(minimum=0, maximum=1)] | None
    changed: list[ChangedField]


class SampleChange(Returned):
    """A change of samples: who made it and when, and the ids of the samples that it added, updated and deleted.

    `by` is the name of the person who signed in, else of the key; null if the service made the change. `undone` says
    whether it was undone since, and `undoes` is the id of the change that this one undid. Until `undoable_until` it can
    be undone: then its texts are deleted. It is null if there is no undo (any more): under zero retention, and of a
    change that was undone.
    """

    id: int
    at: Time
    by: str | None
    note: str | None
    adds: list[int]
    updates: list[int]
    deletes: list[int]
    undone: bool
    undoes: int | None
    undoable_until: Time | None
    samples: list[ChangedSample]
