"""All errors of the API, shared by the service and the client.

The service raises them and writes them as the error envelope. The client reads the envelope and raises the same class.
`status`, `code` and `retryable` belong to the class. The message says what went wrong and what to do; `details` holds
the field, value or bound that was wrong. A message never repeats the content of a text.

    TraitbenchError
    ├── BadRequest 400            InvalidJson  EmptyBody  InvalidParameter  InvalidCursor
    ├── Unauthenticated 401
    ├── Forbidden 403             InsufficientScope  NamespaceForbidden  HostNotAllowed  OriginNotAllowed
    ├── NotFound 404              ModelNotFound  TraitNotFound  SampleNotFound  VersionNotFound  TagNotFound
    │                             RouteNotFound
    ├── MethodNotAllowed 405
    ├── NotAcceptable 406
    ├── Conflict 409              HandleTaken  ModelNotDraft  ModelBusy  ModelArchived  ModelNotTrained  DuplicateRun
    │                             SamplesPurged  PromotionConflict  FeatureUnavailable
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


class BadRequest(TraitbenchError):
    """400: the request could not be read."""

    status = 400


class InvalidRequest(BadRequest):
    """The request is not valid HTTP; for example, `Host` is missing, malformed or sent twice."""

    code = "invalid_request"


class InvalidJson(BadRequest):
    """The body is not one JSON value: malformed, broken UTF-8, nested too deeply, or with a duplicate key."""

    code = "invalid_json"


class EmptyBody(BadRequest):
    """The operation needs a body, and the request has none."""

    code = "empty_body"


class InvalidParameter(BadRequest):
    """A query parameter is unknown, has the wrong type or is out of bounds."""

    code = "invalid_parameter"


class InvalidCursor(BadRequest):
    """The cursor does not come from this listing."""

    code = "invalid_cursor"


class Unauthenticated(TraitbenchError):
    """401: the API key is missing, malformed, unknown or revoked; the response does not say which."""

    status = 401
    code = "unauthenticated"


class Forbidden(TraitbenchError):
    """403: the API key does not permit this, or the request came from a host or site that is not allowed."""

    status = 403


class InsufficientScope(Forbidden):
    """The operation needs an authoring key."""

    code = "insufficient_scope"


class NamespaceForbidden(Forbidden):
    """The key does not own the namespace."""

    code = "namespace_forbidden"


class HostNotAllowed(Forbidden):
    """The `Host` of the request is neither a loopback name nor listed in `TRAITBENCH_ALLOWED_HOSTS`."""

    code = "host_not_allowed"


class OriginNotAllowed(Forbidden):
    """A browser sent the request on behalf of another web site."""

    code = "origin_not_allowed"


class NotFound(TraitbenchError):
    """404: the resource does not exist, or the key may not know that it does."""

    status = 404


class ModelNotFound(NotFound):
    """No namespace that the key can read has a model with this handle."""

    code = "model_not_found"


class TraitNotFound(NotFound):
    """The model has no such trait."""

    code = "trait_not_found"


class SampleNotFound(NotFound):
    """The model has no such sample."""

    code = "sample_not_found"


class VersionNotFound(NotFound):
    """The model has no such version."""

    code = "version_not_found"


class TagNotFound(NotFound):
    """The model has no such tag."""

    code = "tag_not_found"


class RouteNotFound(NotFound):
    """The API has no such path."""

    code = "route_not_found"


class MethodNotAllowed(TraitbenchError):
    """405: the path does not support this method; the `Allow` header lists those it does."""

    status = 405
    code = "method_not_allowed"


class NotAcceptable(TraitbenchError):
    """406: none of the accepted media types can be produced."""

    status = 406
    code = "not_acceptable"


class Conflict(TraitbenchError):
    """409: the state of the model does not allow this. The client never retries it."""

    status = 409


class HandleTaken(Conflict):
    """A model with this handle exists; it may be archived."""

    code = "handle_taken"


class ModelNotDraft(Conflict):
    """Traits and samples of a trained model are frozen into its versions."""

    code = "model_not_draft"


class ModelBusy(Conflict):
    """Another operation is running; its id is in `X-Run-Id`."""

    code = "model_busy"


class ModelArchived(Conflict):
    """The model is archived: it can only be read, and be restored for 30 days."""

    code = "model_archived"


class ModelNotTrained(Conflict):
    """The model has no version yet."""

    code = "model_not_trained"


class DuplicateRun(Conflict):
    """An identical run is in flight or has succeeded; its id is in `X-Run-Id`."""

    code = "duplicate_run"


class SamplesPurged(Conflict):
    """Zero data retention removed the samples that this operation needs."""

    code = "samples_purged"


class PromotionConflict(Conflict):
    """Promoting would undo something; `details.reasons` says what happened. `force` promotes all the same."""

    code = "promotion_conflict"


class FeatureUnavailable(Conflict):
    """The feature is part of the contract, but this service or model does not offer it."""

    code = "feature_unavailable"


class BodyTooLarge(TraitbenchError):
    """413: the body is larger than the operator allows."""

    status = 413
    code = "body_too_large"


class UnsupportedMediaType(TraitbenchError):
    """415: the operation does not accept the body's media type."""

    status = 415
    code = "unsupported_media_type"


class Unprocessable(TraitbenchError):
    """422: readable, but not valid."""

    status = 422


class ValidationFailed(Unprocessable):
    """One or more fields are wrong; `details.errors` names each by its path."""

    code = "validation_failed"


class InvalidHandle(Unprocessable):
    """The handle does not have the form `<namespace>.<name>`."""

    code = "invalid_handle"


class InvalidTag(Unprocessable):
    """The tag is not 1-64 letters, digits, `.`, `_` or `-`, or it is `vN` or `active`."""

    code = "invalid_tag"


class UnsupportedKind(Unprocessable):
    """The only kind of model is `scoring`."""

    code = "unsupported_kind"


class UnsupportedScoringMethod(Unprocessable):
    """The only scoring method is `balanced_cosine`."""

    code = "unsupported_scoring_method"


class UnsupportedSynthType(Unprocessable):
    """The service does not offer this type of synthesis."""

    code = "unsupported_synth_type"


class InsufficientSamples(Unprocessable):
    """A trait has too few samples at one of its poles; `details.traits` has the counts."""

    code = "insufficient_samples"


class DuplicateTrait(Unprocessable):
    """Two traits would share a key or a name; `details.errors` names each, with a free key where one helps."""

    code = "duplicate_trait"


class UrlNotFetchable(Unprocessable):
    """The address is refused, unreachable, too slow or too large."""

    code = "url_not_fetchable"


class InternalError(TraitbenchError):
    """500: an internal error; find it in the log by its request id."""

    status = 500
    code = "internal_error"


class UnreadableRow(InternalError):
    """This release cannot read a stored row; `reason` says what is wrong with it."""

    def __init__(self, reason: str, *, thing: str = "A stored row") -> None:
        self.reason = reason
        super().__init__(
            f"{thing} cannot be read: {reason}. Restore it from a backup, or delete its model.",
            details={"reason": reason},
        )


class Unavailable(TraitbenchError):
    """503: not ready or overloaded; try again after `Retry-After`."""

    status = 503
    code = "unavailable"
    retryable = True


class Unreachable(Unavailable):
    """No service answered at the address, or it is not a Traitbench service. Only the client raises this."""

    code = "unreachable"


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
