"""The table of operations: what each is called, who may do it, what it takes, answers and refuses, and what follows.

Access, routes, the OpenAPI document and the client read it (core/docs/contract.md, core/docs/api.md). Everywhere else
in the product, an operation is one of these constants: its name, method, path and scope are written only here.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from traitbench import errors
from traitbench.contract.attributes import Attribute, AttributePut
from traitbench.contract.batches import BatchLine, BatchRequest
from traitbench.contract.bundles import Bundle
from traitbench.contract.comparisons import VersionsCompareRequest, VersionsComparison
from traitbench.contract.decisions import DecisionRequest, Decisions
from traitbench.contract.envelope import Health, Me
from traitbench.contract.guards import GuardrailAnswer, GuardrailRequest, WebhookRequest, WebhookVerdict
from traitbench.contract.labelling import DecisionPut, TextDecision, TextsAdd, TextsAdded, TextsDeleted
from traitbench.contract.models import (
    ForkRequest,
    Model,
    ModelCreate,
    ModelDeleted,
    ModelUpdate,
    PromoteRequest,
    RunStarted,
    TrainRequest,
)
from traitbench.contract.operation import (
    BODY,
    HTML,
    JSON,
    LINES,
    LOCAL,
    MARKDOWN,
    OPEN,
    OWNED_READ,
    READ,
    TEXT,
    WRITE,
    Operation,
    Values,
)
from traitbench.contract.page import (
    ActivationPage,
    AttributePage,
    DecisionPage,
    ModelPage,
    ProposedPage,
    SampleChangePage,
    SamplePage,
    TextPage,
    VersionPage,
    VersionSamplePage,
)
from traitbench.contract.perspective import (
    AnalyzeCommentRequest,
    AnalyzeCommentResponse,
    SuggestCommentScoreRequest,
    SuggestCommentScoreResponse,
)
from traitbench.contract.proposed import ProposedDeleted
from traitbench.contract.sample_changes import SampleChange, SampleFields, SamplesApply
from traitbench.contract.samples import (
    RejectedTexts,
    Sample,
    SampleIds,
    SamplesCreate,
    SamplesDelete,
    SamplesUpdate,
    SynthesisPlan,
    SynthesizeRequest,
)
from traitbench.contract.scores import Card, CompareRequest, Comparison, ScoreRequest
from traitbench.contract.texts import Extracted, ExtractRequest
from traitbench.contract.traits import DiscoverRequest, Trait, TraitList, TraitsCreate, TraitUpdate
from traitbench.contract.versions import (
    Version,
    VersionActivate,
    VersionActivated,
    VersionTag,
    VersionTagged,
    VersionUntagged,
)

# ---- what can follow -------------------------------------------------------------------------------------------------

_MADE = {"handle": "$response.body#/handle"}
_SAME = {"handle": "$request.path.handle"}
_OF_MODEL = (
    *("models.get", "models.update", "models.train", "models.retrain", "models.export", "models.delete", "models.fork"),
    *("traits.add", "traits.list", "traits.discover", "samples.add", "samples.list", "samples.synthesize"),
    *(
        "samples.plan",
        "proposed.list",
        "texts.add",
        "texts.list",
        "versions.list",
        "versions.activations",
        "scores.score",
        "scores.compare",
        "scores.batch",
        "guards.webhook",
    ),
)


def _each(values: Values, *names: str) -> Mapping[str, Values]:
    return dict.fromkeys(names, values)


# ---- the service -----------------------------------------------------------------------------------------------------

_NO_JSON = cast("type[Any]", None)

HEALTH = Operation("service.health", "GET /health", OPEN, Health)
OPENAPI = Operation("service.openapi", "GET /openapi.json", OPEN, cast("type[Any]", dict[str, Any]))
DOCS = Operation("service.docs", "GET /docs", OPEN, _NO_JSON, offers=(HTML,))
ME = Operation(
    "service.me",
    "GET /me",
    READ,
    Me,
    then=_each({"namespace": "$response.body#/namespaces/0"}, "models.list", "attributes.list"),
)
METRICS = Operation("metrics", "GET /metrics", LOCAL, _NO_JSON, offers=(TEXT,))
EXTRACT = Operation("extract", "POST /extract", READ, Extracted, ExtractRequest, failures=(errors.UrlNotFetchable,))

# ---- models ----------------------------------------------------------------------------------------------------------

_TAKEN = (errors.InvalidHandle, errors.UnsupportedScoringMethod, errors.HandleTaken)

MODELS_CREATE = Operation(
    "models.create",
    "POST /models",
    WRITE,
    Model,
    ModelCreate,
    (201,),
    failures=(*_TAKEN, errors.UnsupportedKind),
    then=_each(_MADE, *_OF_MODEL),
)
MODELS_IMPORT = Operation(
    "models.import",
    "POST /models/import",
    WRITE,
    Model,
    Bundle,
    (201,),
    failures=_TAKEN,
    then=_each(_MADE, *_OF_MODEL),
    work="transfer",
)
MODELS_LIST = Operation(
    "models.list",
    "GET /models",
    READ,
    ModelPage,
    failures=(errors.NamespaceForbidden, errors.InvalidCursor),
    then=_each({"handle": "$response.body#/items/0/handle"}, "models.get"),
)
MODELS_GET = Operation("models.get", "GET /models/{handle}", READ, Model, offers=(JSON, MARKDOWN))
MODELS_CARD = Operation("models.card", "GET /models/{handle}", READ, _NO_JSON, offers=(MARKDOWN,), within=MODELS_GET)
MODELS_UPDATE = Operation(
    "models.update",
    "PATCH /models/{handle}",
    WRITE,
    Model,
    ModelUpdate,
    transitions=("update",),
    failures=(errors.UnsupportedScoringMethod,),
    then=_each(_MADE, "models.get"),
)
MODELS_DELETE = Operation(
    "models.delete",
    "DELETE /models/{handle}",
    WRITE,
    ModelDeleted,
    transitions=("delete",),
    then=_each(_MADE, "models.restore"),
)
MODELS_RESTORE = Operation(
    "models.restore",
    "POST /models/{handle}/restore",
    WRITE,
    Model,
    transitions=("restore",),
    failures=(errors.ModelArchived,),
    then=_each(_MADE, "models.get", "models.train", "scores.score"),
)
MODELS_TRAIN = Operation(
    "models.train",
    "POST /models/{handle}/train",
    WRITE,
    RunStarted,
    TrainRequest,
    (200, 202),
    transitions=("train", "retune"),
    failures=(errors.SamplesPurged, errors.InsufficientSamples, errors.FeatureUnavailable),
    then=_each(_SAME, "models.get", "models.delete", "versions.list"),
    needs_body=False,
)
MODELS_RETRAIN = Operation(
    "models.retrain",
    "POST /models/{handle}/retrain",
    WRITE,
    RunStarted,
    statuses=(200, 202),
    transitions=("retrain_now",),
    failures=(errors.SamplesPurged, errors.InsufficientSamples),
    then=_each(_SAME, "models.get", "versions.list"),
)
MODELS_EXPORT = Operation(
    "models.export",
    "GET /models/{handle}/export",
    OWNED_READ,
    Bundle,
    then={"models.import": {BODY: "$response.body"}},
    work="transfer",
)
MODELS_FORK = Operation(
    "models.fork",
    "POST /models/{handle}/fork",
    WRITE,
    Model,
    ForkRequest,
    (201,),
    transitions=("fork",),
    failures=(errors.HandleTaken,),
    then={**_each(_MADE, *_OF_MODEL), "models.promote": {**_SAME, BODY: {"from": "$response.body#/handle"}}},
)
MODELS_PROMOTE = Operation(
    "models.promote",
    "POST /models/{handle}/promote",
    WRITE,
    Version,
    PromoteRequest,
    (201,),
    transitions=("promote",),
    failures=(errors.PromotionConflict,),
    then=_each(_SAME, "models.get", "versions.list", "scores.score"),
)

# ---- traits ----------------------------------------------------------------------------------------------------------

_RUN = (errors.DuplicateRun, errors.InsufficientSamples, errors.FeatureUnavailable)

TRAITS_ADD = Operation(
    "traits.add",
    "POST /models/{handle}/traits",
    WRITE,
    TraitList,
    TraitsCreate,
    transitions=("edit",),
    failures=(errors.DuplicateTrait,),
    then={
        **_each({**_SAME, "key": "$response.body#/traits/0/key"}, "traits.get", "traits.update", "traits.delete"),
        **_each(_SAME, "traits.list", "samples.add", "samples.plan", "samples.synthesize"),
    },
)
TRAITS_LIST = Operation("traits.list", "GET /models/{handle}/traits", READ, TraitList)
TRAITS_GET = Operation("traits.get", "GET /models/{handle}/traits/{key}", READ, Trait)
TRAITS_UPDATE = Operation(
    "traits.update",
    "PATCH /models/{handle}/traits/{key}",
    WRITE,
    TraitList,
    TraitUpdate,
    transitions=("edit",),
    failures=(errors.DuplicateTrait,),
)
TRAITS_DELETE = Operation(
    "traits.delete", "DELETE /models/{handle}/traits/{key}", WRITE, ModelDeleted, transitions=("edit",)
)
TRAITS_DISCOVER = Operation(
    "traits.discover",
    "POST /models/{handle}/traits/discover",
    WRITE,
    RunStarted,
    DiscoverRequest,
    (202,),
    transitions=("discover",),
    failures=_RUN,
    then=_each(_SAME, "models.get", "traits.list"),
    needs_body=False,
)

# ---- attributes ------------------------------------------------------------------------------------------------------

_NAMED = {"namespace": "$request.path.namespace", "name": "$response.body#/name"}

ATTRIBUTES_LIST = Operation(
    "attributes.list",
    "GET /namespaces/{namespace}/attributes",
    READ,
    AttributePage,
    failures=(errors.NamespaceForbidden, errors.InvalidCursor),
    then=_each({**_NAMED, "name": "$response.body#/items/0/name"}, "attributes.get"),
)
ATTRIBUTES_GET = Operation(
    "attributes.get",
    "GET /namespaces/{namespace}/attributes/{name}",
    READ,
    Attribute,
    failures=(errors.NamespaceForbidden, errors.AttributeNotFound),
)
ATTRIBUTES_PUT = Operation(
    "attributes.put",
    "PUT /namespaces/{namespace}/attributes/{name}",
    WRITE,
    Attribute,
    AttributePut,
    transitions=("use",),
    # The model is in the body.
    failures=(errors.InvalidHandle, errors.ModelNotFound, errors.VersionNotFound),
    then=_each(_NAMED, "attributes.get", "attributes.delete"),
)
ATTRIBUTES_DELETE = Operation(
    "attributes.delete",
    "DELETE /namespaces/{namespace}/attributes/{name}",
    WRITE,
    Attribute,
    failures=(errors.AttributeNotFound,),
    then={
        "attributes.put": {
            **_NAMED,
            BODY: {"handle": "$response.body#/handle", "trait": "$response.body#/trait"},
        }
    },
)

# ---- samples ---------------------------------------------------------------------------------------------------------

SAMPLES_ADD = Operation(
    "samples.add",
    "POST /models/{handle}/samples",
    WRITE,
    SampleIds,
    SamplesCreate,
    transitions=("edit",),
    then={
        "samples.update": {**_SAME, BODY: {"ids": "$response.body#/ids", "held_out": True}},
        "samples.change": {**_SAME, "sample_id": "$response.body#/ids/0", BODY: {"held_out": True}},
        "samples.apply": {**_SAME, BODY: {"deletes": [{"id": "$response.body#/ids/0"}]}},
        "samples.undo": {**_SAME, "change_id": "$response.body#/change_id"},
        "samples.delete": {**_SAME, "sample_id": "$response.body#/ids/0"},
        "samples.delete_many": {**_SAME, BODY: {"ids": "$response.body#/ids"}},
        **_each(_SAME, "samples.list", "traits.discover", "models.train"),
    },
)
SAMPLES_LIST = Operation(
    "samples.list",
    "GET /models/{handle}/samples",
    OWNED_READ,
    SamplePage,
    failures=(errors.TraitNotFound, errors.InvalidCursor),
)
SAMPLES_UPDATE = Operation(
    "samples.update", "PATCH /models/{handle}/samples", WRITE, SampleIds, SamplesUpdate, transitions=("edit",)
)
SAMPLES_CHANGE = Operation(
    "samples.change",
    "PATCH /models/{handle}/samples/{sample_id}",
    WRITE,
    Sample,
    SampleFields,
    transitions=("edit", "withdraw"),
    failures=(errors.SampleNotFound, errors.SampleChanged),
)
SAMPLES_APPLY = Operation(
    "samples.apply",
    "POST /models/{handle}/samples/changes",
    WRITE,
    SampleChange,
    SamplesApply,
    transitions=("edit", "withdraw"),
    failures=(errors.SampleChanged,),
    then={
        "samples.undo": {**_SAME, "change_id": "$response.body#/id"},
        **_each(_SAME, "samples.list", "samples.changes"),
    },
)
SAMPLES_CHANGES = Operation(
    "samples.changes",
    "GET /models/{handle}/samples/changes",
    OWNED_READ,
    SampleChangePage,
    failures=(errors.InvalidCursor,),
)
SAMPLES_UNDO = Operation(
    "samples.undo",
    "POST /models/{handle}/samples/changes/{change_id}/undo",
    WRITE,
    SampleChange,
    transitions=("edit", "withdraw"),
    failures=(errors.ChangeNotFound, errors.SampleChanged, errors.FeatureUnavailable),
    then=_each(_SAME, "samples.list", "samples.changes"),
)
SAMPLES_DELETE = Operation(
    "samples.delete",
    "DELETE /models/{handle}/samples/{sample_id}",
    WRITE,
    ModelDeleted,
    transitions=("edit", "withdraw"),
    failures=(errors.SampleNotFound,),
)
SAMPLES_DELETE_MANY = Operation(
    "samples.delete_many",
    "POST /models/{handle}/samples/delete",
    WRITE,
    SampleIds,
    SamplesDelete,
    transitions=("edit", "withdraw"),
)
SAMPLES_PLAN = Operation(
    "samples.plan",
    "GET /models/{handle}/samples/synthesize",
    OWNED_READ,
    SynthesisPlan,
    failures=(errors.UnsupportedSynthType,),
    then=_each(_SAME, "samples.synthesize"),
)
SAMPLES_REJECTED = Operation("samples.rejected", "GET /models/{handle}/samples/rejected", OWNED_READ, RejectedTexts)
SAMPLES_SYNTHESIZE = Operation(
    "samples.synthesize",
    "POST /models/{handle}/samples/synthesize",
    WRITE,
    RunStarted,
    SynthesizeRequest,
    (202,),
    transitions=("synthesize",),
    failures=(errors.UnsupportedSynthType, *_RUN),
    then=_each(_SAME, "models.get", "samples.list", "samples.rejected"),
    needs_body=False,
)

# ---- proposed labels -------------------------------------------------------------------------------------------------

PROPOSED_LIST = Operation(
    "proposed.list",
    "GET /models/{handle}/proposed",
    OWNED_READ,
    ProposedPage,
    failures=(errors.InvalidCursor,),
    then=_each(_SAME, "proposed.delete"),
)
PROPOSED_DELETE = Operation("proposed.delete", "DELETE /models/{handle}/proposed", WRITE, ProposedDeleted)

# ---- texts without labels --------------------------------------------------------------------------------------------

_OF_TEXT = {**_SAME, "text_id": "$request.path.text_id", "key": "$response.body#/trait"}

TEXTS_ADD = Operation(
    "texts.add",
    "POST /models/{handle}/texts",
    WRITE,
    TextsAdded,
    TextsAdd,
    transitions=("update",),
    failures=(errors.FeatureUnavailable,),
    then=_each(_SAME, "texts.list", "texts.decisions", "texts.delete"),
)
TEXTS_LIST = Operation(
    "texts.list",
    "GET /models/{handle}/texts",
    OWNED_READ,
    TextPage,
    failures=(errors.InvalidCursor,),
    then={
        "texts.decide": {
            **_SAME,
            "text_id": "$response.body#/items/0/id",
            "key": "warmth",
            BODY: {"quality": 1.0},
        }
    },
)
TEXTS_DELETE = Operation("texts.delete", "DELETE /models/{handle}/texts", WRITE, TextsDeleted)
TEXTS_DECISIONS = Operation(
    "texts.decisions",
    "GET /models/{handle}/texts/decisions",
    OWNED_READ,
    DecisionPage,
    failures=(errors.InvalidCursor,),
)
TEXTS_DECIDE = Operation(
    "texts.decide",
    "PUT /models/{handle}/texts/{text_id}/decisions/{key}",
    WRITE,
    TextDecision,
    DecisionPut,
    transitions=("update", "edit", "use", "withdraw"),
    failures=(errors.TextNotFound, errors.SampleChanged, errors.FeatureUnavailable),
    then=_each(_OF_TEXT, "texts.take_back"),
)
TEXTS_TAKE_BACK = Operation(
    "texts.take_back",
    "DELETE /models/{handle}/texts/{text_id}/decisions/{key}",
    WRITE,
    TextDecision,
    transitions=("edit", "withdraw"),
    failures=(errors.TextNotFound,),
)

# ---- versions --------------------------------------------------------------------------------------------------------

_NUMBER = "v{$response.body#/items/0/version_no}"

VERSIONS_LIST = Operation(
    "versions.list",
    "GET /models/{handle}/versions",
    READ,
    VersionPage,
    failures=(errors.InvalidCursor,),
    then={
        **_each({**_SAME, "name": _NUMBER}, "versions.get", "versions.samples"),
        "versions.tag": {**_SAME, BODY: {"version": _NUMBER}},
    },
)
VERSIONS_ACTIVATE = Operation(
    "versions.activate",
    "PUT /models/{handle}/versions/active",
    WRITE,
    VersionActivated,
    VersionActivate,
    transitions=("use",),
    failures=(errors.VersionNotFound, errors.TagNotFound),
    then={
        **_each(_SAME, "scores.score", "scores.compare", "scores.batch"),
        "versions.compare": {BODY: {"a": "$response.body#/handle", "b": "$response.body#/handle"}},
    },
)
VERSIONS_ACTIVATIONS = Operation(
    "versions.activations", "GET /models/{handle}/activations", READ, ActivationPage, failures=(errors.InvalidCursor,)
)
VERSIONS_GET = Operation(
    "versions.get", "GET /models/{handle}/versions/{name}", READ, Version, failures=(errors.VersionNotFound,)
)
VERSIONS_SAMPLES = Operation(
    "versions.samples",
    "GET /models/{handle}/versions/{name}/samples",
    OWNED_READ,
    VersionSamplePage,
    failures=(errors.VersionNotFound, errors.InvalidCursor, errors.SamplesPurged, errors.FeatureUnavailable),
)
VERSIONS_TAG = Operation(
    "versions.tag",
    "POST /models/{handle}/versions/{name}",
    WRITE,
    VersionTagged,
    VersionTag,
    (201,),
    transitions=("use",),
    failures=(errors.InvalidTag, errors.VersionNotFound),
    then={
        **_each({**_SAME, "name": "$response.body#/tag"}, "versions.get", "versions.untag"),
        "versions.activate": {**_SAME, BODY: {"tag": "$response.body#/tag"}},
    },
    needs_body=False,
)
VERSIONS_UNTAG = Operation(
    "versions.untag",
    "DELETE /models/{handle}/versions/{name}",
    WRITE,
    VersionUntagged,
    transitions=("use",),
    failures=(errors.InvalidTag, errors.TagNotFound),
)
VERSIONS_COMPARE = Operation(
    "versions.compare",
    "POST /versions/compare",
    READ,
    VersionsComparison,
    VersionsCompareRequest,
    transitions=("use",),
    # The models are in the body.
    failures=(
        *(errors.InvalidHandle, errors.InsufficientScope, errors.NamespaceForbidden),
        *(errors.ModelNotFound, errors.VersionNotFound, errors.FeatureUnavailable),
    ),
    work="batch",
    takes_version=True,
)

# ---- scores ----------------------------------------------------------------------------------------------------------

_UNSCORED = (errors.VersionNotFound, errors.FeatureUnavailable)

SCORES_SCORE = Operation(
    "scores.score",
    "POST /models/{handle}/score",
    READ,
    Card,
    ScoreRequest,
    transitions=("use",),
    # With feedback or an explanation it needs more of the key.
    failures=(*_UNSCORED, errors.UrlNotFetchable, errors.InsufficientScope, errors.NamespaceForbidden),
    offers=(JSON, TEXT),
    work="score",
    text_as="content",
    takes_version=True,
    may_write=True,
)
SCORES_FEEDBACK = replace(SCORES_SCORE, name="scores.feedback", rule=WRITE, within=SCORES_SCORE)
SCORES_COMPARE = Operation(
    "scores.compare",
    "POST /models/{handle}/compare",
    READ,
    Comparison,
    CompareRequest,
    transitions=("use",),
    failures=(*_UNSCORED, errors.UrlNotFetchable),
    offers=(JSON, TEXT),
    work="score",
    takes_version=True,
)
SCORES_BATCH = Operation(
    "scores.batch",
    "POST /models/{handle}/score/batch",
    READ,
    cast("type[Any]", BatchLine),
    BatchRequest,
    transitions=("use",),
    failures=_UNSCORED,
    offers=(LINES,),
    work="batch",
    takes_version=True,
)

# ---- doors: the wires of other programs ------------------------------------------------------------------------------

DECISIONS_ANSWER = Operation(
    "decisions.answer",
    "POST /systemone",
    READ,
    Decisions,
    DecisionRequest,
    transitions=("use",),
    # The model is in the body.
    failures=(*_UNSCORED, errors.InvalidHandle, errors.ModelNotFound),
    work="score",
    takes_version=True,
    errors_as="decision",
    open_query=True,
)
GUARDS_LITELLM = Operation(
    "guards.litellm",
    "POST /litellm_basic_guardrail_api",
    READ,
    GuardrailAnswer,
    GuardrailRequest,
    transitions=("use",),
    # The model is in the body.
    failures=(*_UNSCORED, errors.InvalidHandle, errors.ModelNotFound),
    work="score",
    takes_version=True,
    prefix="/beta",
    key_from=("x-api-key", "bearer"),
    open_query=True,
)
GUARDS_WEBHOOK = Operation(
    "guards.webhook",
    "POST /models/{handle}/webhook",
    READ,
    WebhookVerdict,
    WebhookRequest,
    transitions=("use",),
    failures=(*_UNSCORED, errors.TraitNotFound),
    work="score",
    takes_version=True,
    # promptfoo sends no headers of its own, but the user and password of an address.
    key_from=("basic", "x-api-key", "bearer"),
)

# ----------------------------------------------------------------------------------------------------------------------

# ---- Perspective's wire ----------------------------------------------------------------------------------------------

_PERSPECTIVE: Mapping[str, Any] = {"errors_as": "perspective", "open_query": True, "in_openapi": False}
_COMMENTS: Mapping[str, Any] = {
    **{"prefix": "/v1alpha1", "key_from": ("query", "bearer"), "takes_version": True},
    "failures": (errors.CommentRefused, errors.UnresolvedAttribute, errors.FeatureUnavailable),
    **_PERSPECTIVE,
}

COMMENTS_ANALYZE = Operation(
    "comments.analyze",
    "POST /comments:analyze",
    READ,
    AnalyzeCommentResponse,
    AnalyzeCommentRequest,
    work="score",
    **_COMMENTS,
)
COMMENTS_SUGGESTSCORE = Operation(
    "comments.suggestscore",
    "POST /comments:suggestscore",
    READ,
    SuggestCommentScoreResponse,
    SuggestCommentScoreRequest,
    **_COMMENTS,
)
COMMENTS_DISCOVERY = Operation(
    "comments.discovery",
    "GET /rest",
    OPEN,
    cast("type[Any]", dict[str, Any]),
    prefix="/$discovery",
    **_PERSPECTIVE,
)

ALL: tuple[Operation[Any], ...] = tuple(each for each in [*vars().values()] if isinstance(each, Operation))
ROUTES: Mapping[str, Operation[Any]] = {each.name: each for each in ALL if each.within is None}
PREFIXES: tuple[str, ...] = tuple(sorted({each.prefix for each in ALL}))
"""What is below one of these is the API, and nothing else is."""
