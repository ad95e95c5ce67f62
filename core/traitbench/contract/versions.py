"""Versions, their tags and the retention rule on the wire (core/docs/api.md, "Versions")."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from traitbench.contract.fields import Count, Received, Returned, Text, Time, schema
from traitbench.contract.metrics import Metrics
from traitbench.names import TAG_SCHEMA, VERSION

TagNote = Annotated[Text, Field(max_length=500)]
TriggeredBy = Literal["train", "retune", "retrain_buffered", "backfill"]


class Version(Returned):
    """A trained version.

    `tag_notes` has the notes of its tags, without tags that have none. `snapshot` is absent in lists and for scoring
    keys.
    """

    version_id: int
    version_no: int
    triggered_by: TriggeredBy
    param_hash: str
    sample_count: Count
    created_at: Time
    run_id: str | None
    metrics: Metrics
    tags: list[str]
    tag_notes: dict[str, str]
    snapshot: dict[str, Any] | None = Field(default=None, exclude_if=lambda value: value is None)


ActivationCause = Literal["train", "retrain", "activate", "promote", "import"]


class Activation(Returned):
    """A change of the version that serves scores.

    `previous_version_no` is null for the first version. `by` is the name of the key that asked for it, or its id if it
    has no name. It is null if the service acted by itself, and for callers that may not know it.
    """

    version_no: int
    previous_version_no: int | None
    activated_at: Time
    cause: ActivationCause
    by: str | None


class VersionTag(Received):
    """Body of `POST /models/{handle}/versions/{name}`; no body is `{}`, which tags the active version.

    The tag gets the note that is sent; without one, it has none.
    """

    version: Annotated[Text, schema(pattern=f"^{VERSION.pattern}$")] | None = None
    note: TagNote | None = None


class VersionTagged(Returned):
    """Answer to tagging: the tag and the version it now points at."""

    handle: str
    tag: str
    version_no: int


class VersionUntagged(Returned):
    """Answer to the deletion of a tag."""

    handle: str
    tag: str
    deleted: bool


class VersionActivate(Received):
    """Body of `PUT /models/{handle}/versions/active`: exactly one of the two."""

    model_config = ConfigDict(
        json_schema_extra={
            # Not `oneOf`, of which generators of clients make two types.
            "not": {
                "anyOf": [
                    {
                        "required": ["version", "tag"],
                        "properties": {"version": {"type": "string"}, "tag": {"type": "string"}},
                    },
                    {"properties": {"version": {"type": "null"}, "tag": {"type": "null"}}},
                ]
            }
        }
    )

    version: Annotated[Text, schema(pattern=f"^{VERSION.pattern}$")] | None = None
    tag: Annotated[Text, schema(pattern=TAG_SCHEMA)] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> "VersionActivate":
        if (self.version is None) == (self.tag is None):
            raise ValueError("give exactly one of version and tag")
        return self


class VersionActivated(Returned):
    """The version that now serves scores."""

    handle: str
    version_no: int


class VersionSample(Returned):
    """A sample that a version was trained with or measured on, and its position on its trait when it was held out.

    `position` is from 0, the negative pole, to 1. That of a training sample is from a fit that did not see it, and that
    of a test sample (`held_out`) is from the version. It is null for a sample that was never held out, as a synthesized
    one. `right` says whether the score, in points, is on the side of the label; 50 is on neither. It is null without a
    position, and for a label in the middle. The sample may have been replaced or deleted since.
    """

    sample_id: int
    trait: str
    position: Annotated[float, schema(minimum=0, maximum=1)] | None
    right: bool | None
    held_out: bool


@dataclass(frozen=True)
class PrunableVersion:
    """What the rule needs to know about an existing version."""

    version_id: int
    version_no: int
    created_at: datetime
    tagged: bool
    active: bool
    held: bool = False

    def __post_init__(self) -> None:
        if self.created_at.utcoffset() is None:
            raise ValueError(f"v{self.version_no} has a creation time without a UTC offset, so its month is unknown.")


def versions_to_keep(
    versions: Sequence[PrunableVersion], *, keep_unnamed: int, keep_first_of_month: bool
) -> frozenset[int]:
    """Return the `version_id`s of the versions that stay."""
    oldest_first = sorted(versions, key=lambda version: version.version_no)
    stay = [version for version in versions if version.tagged or version.active or version.held]
    stay += _newest_unnamed(oldest_first, keep_unnamed)
    if keep_first_of_month:
        stay += _first_of_month(oldest_first)
    return frozenset(version.version_id for version in stay)


def _newest_unnamed(oldest_first: Sequence[PrunableVersion], count: int) -> Sequence[PrunableVersion]:
    unnamed = [version for version in oldest_first if not version.tagged]
    return unnamed[max(0, len(unnamed) - count) :]


def _first_of_month(oldest_first: Sequence[PrunableVersion]) -> Sequence[PrunableVersion]:
    first: dict[tuple[int, int], PrunableVersion] = {}
    for version in oldest_first:
        created = version.created_at.astimezone(UTC)
        first.setdefault((created.year, created.month), version)
    return list(first.values())
