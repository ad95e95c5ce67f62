"""Comparisons of two versions on the wire (core/docs/api.md, "VersionsCompareRequest").

`contract.scores.Comparison` compares two texts by one version; here two versions score the same texts.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, InstanceOf

from traitbench.contract.batches import MOST_TEXTS, FailedLine, Index
from traitbench.contract.fields import Count, Received, Returned, Text, schema
from traitbench.contract.scores import Change, Confidence, Points, Tier
from traitbench.names import HANDLE, TAG

MOST_EXPLAINED = 10
"""Texts of a request with `explain`."""

PINNED = rf"^{HANDLE.pattern}(@{TAG.pattern})?$"

VersionVerdict = Literal["better", "worse", "no_difference", "unknown"]

Share = Annotated[float, schema(minimum=0, maximum=1)]
Shift = Annotated[float, schema(minimum=-1, maximum=1)]
Interval = Annotated[list[Shift], schema(minItems=2, maxItems=2)]


class VersionsCompareRequest(Received):
    """Body of `POST /versions/compare`: two versions, each as a handle that may be pinned, such as `acme.tone@v3`.

    `texts` are scored by both versions; a text that cannot be scored has an error in its place. With `explain`, each of
    at most 10 texts has the changed samples that moved it.
    """

    a: Annotated[Text, schema(pattern=PINNED)]
    b: Annotated[Text, schema(pattern=PINNED)]
    texts: Annotated[list[InstanceOf[str]], Field(min_length=1, max_length=MOST_TEXTS)] | None = None
    traits: Annotated[list[Text], Field(min_length=1)] | None = None
    explain: bool = False


class ComparedVersion(Returned):
    """One of the two versions; equal `param_hash` means equal scores."""

    handle: str
    version_no: int
    param_hash: str


class FigureDelta(Returned):
    """A figure of both versions on the same test samples; `delta` is b - a.

    `interval` is the 95 % interval of the delta; null if a pole has fewer than five test samples.
    """

    a: Share
    b: Share
    delta: Shift
    interval: Interval | None


class MustPass(Returned):
    """Test samples whose score has to be on their pole's side, and how many of these fail.

    `newly_failed` pass in a and fail in b; `sample_ids` are the ids of these, for keys that may read the samples.
    """

    samples: Count
    failed_a: Count
    failed_b: Count
    newly_failed: Count
    sample_ids: list[int]


class TraitDifference(Returned):
    """The difference of two versions on one trait.

    `n` counts the test samples that both versions were measured on, `positive` and `negative` those at each pole.
    `auroc` is better when larger, `error` (the share of samples on the wrong side of the middle) when smaller; both are
    null without test samples at both poles.
    """

    auroc: FigureDelta | None
    error: FigureDelta | None
    n: Count
    positive: Count
    negative: Count
    measured_on: str
    must_pass: MustPass
    verdict: VersionVerdict
    reason: str


class SampleChanges(Returned):
    """How many samples are only in b (`added`), only in a (`removed`), or have another quality in b (`relabelled`)."""

    added: Count
    removed: Count
    relabelled: Count


class Changed(Returned):
    """A value that differs: `name`, for parameters of one trait also its key, and both values."""

    name: str
    trait: str | None
    a: Any
    b: Any


class VersionChanges(Returned):
    """What changed from a to b.

    `samples` compares what both versions were trained with, `held_out` the test samples at that time; both are null if
    that was not recorded, and `unrecorded` says why. `traits_added` and `traits_removed` are keys; `traits_changed` are
    new names, labels or aggregations. `parameters` are settings and parameters that training chose, and `encoder` both
    encoders if they differ.
    """

    samples: SampleChanges | None
    held_out: SampleChanges | None
    unrecorded: str | None
    traits_added: list[str]
    traits_removed: list[str]
    traits_changed: list[Changed]
    parameters: list[Changed]
    encoder: Changed | None


class ScoreDelta(Returned):
    """The scores of one text by both versions; `delta` is b - a.

    A tier is null where the confidence is low. `side_changed` says whether the scores are on different sides of the
    middle.
    """

    a: Points
    b: Points
    delta: Change
    tier_a: Tier | None
    tier_b: Tier | None
    confidence_a: Confidence
    confidence_b: Confidence
    side_changed: bool


class CompositeDelta(Returned):
    """The composites of one text by both versions; `delta` is b - a."""

    a: Points
    b: Points
    delta: Change


class MovedBy(Returned):
    """A changed sample that is similar to a text; its quality is null in a version that was not trained with it.

    `shift` says by how many points the changes of its group moved the score of b, near duplicates included; null if the
    second version was not fitted again without them.
    """

    trait: str
    sample_id: int
    change: Literal["added", "removed", "relabelled"]
    quality_a: Share | None
    quality_b: Share | None
    similarity: Shift
    shift: Annotated[float, schema(minimum=-100, maximum=100)] | None


class ComparedText(Returned):
    """The scores of a text by both versions; `index` is its position in the request, from 0.

    `moved_by` is absent unless it was requested.
    """

    index: Index
    traits: dict[str, ScoreDelta]
    composite: CompositeDelta
    moved_by: list[MovedBy] | None = Field(default=None, exclude_if=lambda value: value is None)


class VersionsComparison(Returned):
    """Two versions on the same test samples, what changed between them, and how they score the texts sent.

    `traits` has the traits of both versions by key. `reason` says in one or two sentences why the verdict is what it
    is. `texts` is null if none were sent.
    """

    a: ComparedVersion
    b: ComparedVersion
    verdict: VersionVerdict
    reason: str
    traits: dict[str, TraitDifference]
    changed: VersionChanges
    texts: list[ComparedText | FailedLine] | None
