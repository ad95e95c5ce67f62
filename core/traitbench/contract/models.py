"""Models on the wire (core/docs/api.md, "Models")."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from traitbench.contract.fields import (
    Count,
    Description,
    Integral,
    LongText,
    NotBlank,
    Received,
    Returned,
    Text,
    Time,
    schema,
)
from traitbench.names import HANDLE

State = Literal["draft", "busy", "ready", "failed", "archived"]
OperationKind = Literal["train", "retune", "retrain", "discover", "synthesize"]
OperationStatus = Literal["queued", "running", "succeeded", "failed"]
TrainEffort = Literal["low", "medium", "high", "max"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]
DEFAULT_EFFORT: TrainEffort = "high"

Kind = Annotated[Text, schema(const="scoring")]
ScoringMethod = Annotated[Text, schema(const="balanced_cosine")]
Sources = Annotated[list[dict[str, Any]], schema(description="At most 64 KiB as JSON, and 16 levels deep.")]
EncoderChoice = Annotated[Text, Field(min_length=1, max_length=200)]
MaxDepth = Annotated[int, Field(ge=1, le=3), Integral]
TraitName = Annotated[Text, Field(min_length=1, max_length=200)]
DemoTexts = Annotated[list[Annotated[NotBlank, Field(max_length=2_000)]], Field(max_length=50)]

RESTORABLE_DAYS: Final = 30
"""Days after archiving in which a model can be restored."""


class VersionRetentionPolicy(Received):
    """Which versions pruning keeps."""

    keep_unnamed: Annotated[int, Field(ge=0), Integral] = 100
    keep_first_of_month: bool = True


class ModelCreate(Received):
    """Body of `POST /models`."""

    handle: Annotated[Text, schema(pattern=f"^{HANDLE.pattern}$")]
    description: Description = ""
    scoring_method: ScoringMethod = "balanced_cosine"
    max_depth: MaxDepth = 1
    kind: Kind = "scoring"
    additional_terms: LongText | None = None
    upstream_sources: Sources | None = None
    readme_markdown: LongText | None = None
    zero_data_retention: bool = False


class ModelUpdate(Received):
    """Body of `PATCH /models/{handle}`: an absent field stays as it is; null resets it to the default."""

    description: Description | None = None
    scoring_method: ScoringMethod | None = None
    max_depth: MaxDepth | None = None
    additional_terms: LongText | None = None
    upstream_sources: Sources | None = None
    readme_markdown: LongText | None = None
    zero_data_retention: bool | None = None
    version_retention_policy: VersionRetentionPolicy | None = None
    hold_if_worse: bool | None = None
    language_model_allowed: bool | None = None
    main_trait: TraitName | None = None
    demo_texts: DemoTexts | None = None


class ForkRequest(Received):
    """Body of `POST /models/{handle}/fork`: the handle of the draft that is made."""

    handle: Annotated[Text, schema(pattern=f"^{HANDLE.pattern}$")]


class PromoteRequest(Received):
    """Body of `POST /models/{handle}/promote`.

    `from` is the handle of the model whose active version is taken. `force` promotes it even if this model has moved on
    since; `keep` leaves `from` as it is instead of archiving it.
    """

    from_: Annotated[Text, Field(alias="from"), schema(pattern=f"^{HANDLE.pattern}$")]
    force: bool = False
    keep: bool = False


class SynthesisOutcome(Returned):
    """What a synthesis made: how many texts were added, and how many were rejected for which reason.

    `generator` is the name of the language model if it wrote any of the texts, else `offline`. `tokens` is what that
    cost. `failure` says why a language model that was asked did not write all texts. `warning` says that many texts
    were on the wrong side, so that the poles may be swapped. Both are sentences, absent if there is nothing to say.
    """

    generator: str
    added: Count
    rejected: dict[str, Count]
    tokens: Count
    failure: str | None = Field(default=None, exclude_if=lambda value: value is None)
    warning: str | None = Field(default=None, exclude_if=lambda value: value is None)


class Progress(Returned):
    """The progress of a run: `fraction` is from 0 to 1, times are in seconds.

    `notes` are sentences about the outcome for a person to read; absent if there are none. `synthesis` is absent unless
    a synthesis has succeeded.
    """

    phase: str
    done: Count
    total: Count
    fraction: Annotated[float, schema(minimum=0, maximum=1)]
    elapsed_s: Annotated[float, schema(minimum=0)]
    eta_s: Annotated[float, schema(minimum=0)] | None
    notes: list[str] | None = Field(default=None, exclude_if=lambda value: value is None)
    synthesis: SynthesisOutcome | None = Field(default=None, exclude_if=lambda value: value is None)


class OperationError(Returned):
    """Why an operation failed."""

    code: str
    message: str


class LastOperation(Returned):
    """The most recent long-running operation of a model."""

    kind: OperationKind
    status: OperationStatus
    started_at: Time
    run_id: str | None
    progress: Progress | None
    error: OperationError | None


class ForkedFrom(Returned):
    """The model that a fork was made from, and its active version at that time; null if it had none."""

    handle: str
    version_no: int | None


class RetrainRule(Returned):
    """When a model retrains by itself, and what waits for that.

    It does after `after_samples` corrections, or `after_seconds` after the first. Both are null if it never does:
    without a version, under zero data retention, archived. `pending` counts the feedback that the active version has
    not learned. `due_at` is when the next retrain is due, as far as that is known now: a time that has passed means any
    moment. It is null if nothing new waits, or if a retrain would lose samples that the active version knows.
    """

    after_samples: int | None
    after_seconds: int | None
    pending: Count
    due_at: Time | None


class Model(Returned):
    """A scoring model.

    `forked_from` is null unless the model is a fork. `held_version_no` is a retrained version that was worse and waits
    for a decision; it is null if there is none. `archived_at` is null unless the model is archived; it can be restored
    for 30 days from then. `language_model_allowed` only matters under zero retention: texts may then be sent to the
    language model of the service. `main_trait` is the key of the trait that is shown first, null if none was
    chosen. `demo_texts` are texts to show the model with. `retrain` says when it retrains by itself.
    """

    handle: str
    scoring_method: str
    description: str
    state: State
    kind: str
    traits: list[str]
    current_version_id: int | None
    version_no: int | None
    version_tags: list[str]
    zero_data_retention: bool
    last_operation: LastOperation | None
    max_depth: Annotated[int, schema(minimum=1, maximum=3)]
    additional_terms: str | None
    upstream_sources: list[dict[str, Any]] | None
    readme_markdown: str | None
    version_retention_policy: VersionRetentionPolicy | None
    hold_if_worse: bool
    language_model_allowed: bool
    held_version_no: int | None
    forked_from: ForkedFrom | None
    archived_at: Time | None
    main_trait: str | None
    demo_texts: list[str]
    retrain: RetrainRule


class ModelDeleted(Returned):
    """Answer to `DELETE /models/{handle}`, which archives it, and to the deletion of a trait or sample.

    `change_id` is the change of samples to undo; absent if no sample was deleted.
    """

    handle: str
    deleted: bool
    change_id: int | None = Field(default=None, exclude_if=lambda value: value is None)


class TrainRequest(Received):
    """Body of `POST /models/{handle}/train`; no body is `{}`."""

    effort: TrainEffort | None = None
    reoptimize_params: bool = False
    use_labels: bool = True
    encoder: EncoderChoice | None = None


class RunStarted(Returned):
    """The model's state after the call, and the run that was queued or is already active; null if nothing was to do."""

    state: State
    run_id: str | None
