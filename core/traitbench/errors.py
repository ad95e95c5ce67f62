"""All errors of the API, shared by the service and the client.

The service raises them and writes them as the error envelope. The client reads the envelope and raises the same class.
`status`, `code` and `retryable` belong to the class. The message says what went wrong and what to do; `details` holds
the field, value or bound that was wrong. A message never repeats the content of a text.

    TraitbenchError
    ├── BadRequest 400            InvalidJson  EmptyBody  InvalidParameter  InvalidCursor
    ├── Unauthenticated 401
    ├── Forbidden 403             InsufficientScope  NamespaceForbidden  HostNotAllowed  OriginNotAllowed
    ├── NotFound 404              ModelNotFound  TraitNotFound  SampleNotFound  ChangeNotFound  VersionNotFound
    │                             TagNotFound  AttributeNotFound  RouteNotFound
    ├── MethodNotAllowed 405
    ├── NotAcceptable 406
    ├── Conflict 409              HandleTaken  ModelNotDraft  ModelBusy  ModelArchived  ModelNotTrained  DuplicateRun
    │                             SamplesPurged  SampleChanged  PromotionConflict  FeatureUnavailable
    │                             IdempotencyConflict
    ├── BodyTooLarge 413
    ├── UnsupportedMediaType 415
    ├── Unprocessable 422         ValidationFailed  InvalidHandle  InvalidTag  UnsupportedKind  UnsupportedScoringMethod
    │                             UnsupportedSynthType  InsufficientSamples  DuplicateTrait  UrlNotFetchable
    ├── InternalError 500         UnreadableRow
    └── Unavailable 503           retryable
        └── Unreachable           client only: no service answered, or a different one
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar


class TraitbenchError(Exception):
    """Base class of all errors; `error_for` returns the class for a code."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = ""
    retryable: ClassVar[bool] = False

    def __init_subclass__(cls, *, status: int | None = None, code: str | None = None) -> None:
        """Set `status` and `code`; each is by default that of the class above."""
        super().__init_subclass__()
        if status is not None:
            cls.status = status
        if code is not None:
            cls.code = code

    def __init__(
        self,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = dict(details or {})
        self.request_id = request_id
        self.headers: dict[str, str] = dict(headers or {})

    def __str__(self) -> str:
        return f"{self.message} [{self.request_id}]" if self.request_id else self.message


class LocalError(Exception):
    """An expected failure outside the API; the message says what is wrong and what to do."""


class BadRequest(TraitbenchError, status=400):
    """400: the request could not be read."""


class InvalidRequest(BadRequest, code="invalid_request"):
    """The request is not valid HTTP; for example, `Host` is missing, malformed or sent twice."""


class InvalidJson(BadRequest, code="invalid_json"):
    """The body is not one JSON value: malformed, broken UTF-8, nested too deeply, or with a duplicate key."""


class EmptyBody(BadRequest, code="empty_body"):
    """The operation needs a body, and the request has none."""


class InvalidParameter(BadRequest, code="invalid_parameter"):
    """A query parameter or `Idempotency-Key` is unknown, has the wrong type or is out of bounds."""


class UnresolvedAttribute(InvalidParameter):
    """No trait, or more than one, is what an attribute means, or the alias leads nowhere."""


class InvalidCursor(BadRequest, code="invalid_cursor"):
    """The cursor does not come from this listing."""


class Unauthenticated(TraitbenchError, status=401, code="unauthenticated"):
    """401: the API key is missing, malformed, unknown or revoked; the response does not say which."""


class Forbidden(TraitbenchError, status=403):
    """403: the API key does not permit this, or the request came from a host or site that is not allowed."""


class InsufficientScope(Forbidden, code="insufficient_scope"):
    """The operation needs an authoring key."""


class NamespaceForbidden(Forbidden, code="namespace_forbidden"):
    """The key does not own the namespace."""


class HostNotAllowed(Forbidden, code="host_not_allowed"):
    """The `Host` of the request is neither a loopback name nor listed in `TRAITBENCH_ALLOWED_HOSTS`."""


class OriginNotAllowed(Forbidden, code="origin_not_allowed"):
    """A browser sent the request on behalf of another web site."""


class NotFound(TraitbenchError, status=404):
    """404: the resource does not exist, or the key may not know that it does."""


class ModelNotFound(NotFound, code="model_not_found"):
    """No namespace that the key can read has a model with this handle."""


class TraitNotFound(NotFound, code="trait_not_found"):
    """The model has no such trait."""


class SampleNotFound(NotFound, code="sample_not_found"):
    """The model has no such sample."""


class TextNotFound(NotFound, code="text_not_found"):
    """The model has no such text without a label."""


class ChangeNotFound(NotFound, code="change_not_found"):
    """The model has no such change of samples."""


class VersionNotFound(NotFound, code="version_not_found"):
    """The model has no such version."""


class TagNotFound(NotFound, code="tag_not_found"):
    """The model has no such tag."""


class AttributeNotFound(NotFound, code="attribute_not_found"):
    """The namespace has no alias for this attribute."""


class RouteNotFound(NotFound, code="route_not_found"):
    """The API has no such path."""


class MethodNotAllowed(TraitbenchError, status=405, code="method_not_allowed"):
    """405: the path does not support this method; the `Allow` header lists those it does."""


class NotAcceptable(TraitbenchError, status=406, code="not_acceptable"):
    """406: none of the accepted media types can be produced."""


class Conflict(TraitbenchError, status=409):
    """409: the state of the model does not allow this. The client never retries it."""


class HandleTaken(Conflict, code="handle_taken"):
    """A model with this handle exists; it may be archived."""


class ModelNotDraft(Conflict, code="model_not_draft"):
    """Traits and samples of a trained model are frozen into its versions."""


class ModelBusy(Conflict, code="model_busy"):
    """Another operation is running; its id is in `X-Run-Id`."""


class ModelArchived(Conflict, code="model_archived"):
    """The model is archived: it can only be read, and be restored for 30 days."""


class ModelNotTrained(Conflict, code="model_not_trained"):
    """The model has no version yet."""


class DuplicateRun(Conflict, code="duplicate_run"):
    """An identical run is in flight or has succeeded; its id is in `X-Run-Id`."""


class SamplesPurged(Conflict, code="samples_purged"):
    """Zero data retention removed the samples that this operation needs."""


class SampleChanged(Conflict, code="sample_changed"):
    """Someone else has changed or deleted a sample meanwhile; `details.samples` has it as it is now, and who did it."""


class PromotionConflict(Conflict, code="promotion_conflict"):
    """Promoting would undo something; `details.reasons` says what happened. `force` promotes all the same."""


class IdempotencyConflict(Conflict, code="idempotency_conflict"):
    """The `Idempotency-Key` was sent before, with another body, query or `Accept`."""


class FeatureUnavailable(Conflict, code="feature_unavailable"):
    """The feature is part of the contract, but this service or model does not offer it."""


class BodyTooLarge(TraitbenchError, status=413, code="body_too_large"):
    """413: the body is larger than the operator allows."""


class UnsupportedMediaType(TraitbenchError, status=415, code="unsupported_media_type"):
    """415: the operation does not accept the body's media type."""


class Unprocessable(TraitbenchError, status=422):
    """422: readable, but not valid."""


class ValidationFailed(Unprocessable, code="validation_failed"):
    """One or more fields are wrong; `details.errors` names each by its path."""


class CommentRefused(ValidationFailed):
    """On Perspective's wire, a comment that cannot be scored; `details.errorType` is the name that its clients know."""


class InvalidHandle(Unprocessable, code="invalid_handle"):
    """The handle does not have the form `<namespace>.<name>`."""


class InvalidTag(Unprocessable, code="invalid_tag"):
    """The tag is not 1-64 letters, digits, `.`, `_` or `-`, or it is `vN` or `active`."""


class UnsupportedKind(Unprocessable, code="unsupported_kind"):
    """The only kind of model is `scoring`."""


class UnsupportedScoringMethod(Unprocessable, code="unsupported_scoring_method"):
    """The only scoring method is `balanced_cosine`."""


class UnsupportedSynthType(Unprocessable, code="unsupported_synth_type"):
    """The service does not offer this type of synthesis."""


class InsufficientSamples(Unprocessable, code="insufficient_samples"):
    """A trait has too few samples at one of its poles; `details.traits` has the counts."""


class DuplicateTrait(Unprocessable, code="duplicate_trait"):
    """Two traits would share a key or a name; `details.errors` names each, with a free key where one helps."""


class UrlNotFetchable(Unprocessable, code="url_not_fetchable"):
    """The address is refused, unreachable, too slow or too large."""


class InternalError(TraitbenchError, status=500, code="internal_error"):
    """500: an internal error; find it in the log by its request id."""


class UnreadableRow(InternalError):
    """This release cannot read a stored row; `reason` says what is wrong with it."""

    def __init__(self, reason: str, *, thing: str = "A stored row") -> None:
        self.reason = reason
        super().__init__(
            f"{thing} cannot be read: {reason}. Restore it from a backup, or delete its model.",
            details={"reason": reason},
        )


class Unavailable(TraitbenchError, status=503, code="unavailable"):
    """503: not ready or overloaded; try again after `Retry-After`."""

    retryable = True


class Unreachable(Unavailable, code="unreachable"):
    """No service answered at the address, or it is not a Traitbench service. Only the client raises this."""


def error_for(code: str, status: int) -> type[TraitbenchError]:
    """Return the class for a code. A newer service may send an unknown code: then return the class for its status."""
    family: type[TraitbenchError] = InternalError if status >= 500 else TraitbenchError
    for cls in _tree(TraitbenchError):
        if cls.code == code:
            return cls
        if cls.status == status and TraitbenchError in cls.__bases__:
            family = cls
    return family


def _tree(root: type[TraitbenchError]) -> Iterator[type[TraitbenchError]]:
    """The classes of this module: only they are sent, and which others exist depends on what a process has loaded."""
    for cls in root.__subclasses__():
        if cls.__module__ == __name__:
            yield cls
            yield from _tree(cls)
