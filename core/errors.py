"""Every way a call can fail, once, for both ends of the wire.

The service raises these and writes them as the error envelope; the client reads the envelope and raises the same class.
`status`, `code` and `retryable` belong to the class; the message names the thing and the way out; `details` holds the
field, value or bound that was wrong. A message never repeats the content of a text.

    TraitbenchError
    ├── BadRequest 400            InvalidJson  EmptyBody  InvalidParameter  InvalidCursor
    ├── Unauthenticated 401
    ├── Forbidden 403             InsufficientScope  NamespaceForbidden  HostNotAllowed  OriginNotAllowed
    ├── NotFound 404              ModelNotFound  TraitNotFound  SampleNotFound  VersionNotFound  TagNotFound
    │                             RouteNotFound
    ├── MethodNotAllowed 405
    ├── NotAcceptable 406
    ├── Conflict 409              HandleTaken  ModelNotDraft  ModelBusy  ModelArchived  ModelNotTrained  DuplicateRun
    │                             SamplesPurged  FeatureUnavailable
    ├── BodyTooLarge 413
    ├── UnsupportedMediaType 415
    ├── Unprocessable 422         ValidationFailed  InvalidHandle  InvalidTag  UnsupportedKind  UnsupportedScoringMethod
    │                             UnsupportedSynthType  InsufficientSamples  DuplicateTrait  UrlNotFetchable
    ├── InternalError 500         UnreadableRow
    └── Unavailable 503           retryable
        └── Unreachable           the client's own: no service answered, or not this service
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar


class TraitbenchError(Exception):
    """Base of the tree; `error_for` gives the class that belongs to a code."""

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


class InvalidJson(BadRequest):
    """The body is not one JSON value: malformed, broken UTF-8, nested too deep, or with a key twice."""

    code = "invalid_json"


class EmptyBody(BadRequest):
    """A body is needed and none came."""

    code = "empty_body"


class InvalidParameter(BadRequest):
    """A query parameter is unknown, of the wrong type or out of bounds."""

    code = "invalid_parameter"


class InvalidCursor(BadRequest):
    """The cursor is not one this listing gave out."""

    code = "invalid_cursor"


class Unauthenticated(TraitbenchError):
    """401: the API key is missing, malformed, unknown or revoked; which of them is not said."""

    status = 401
    code = "unauthenticated"


class Forbidden(TraitbenchError):
    """403: the API key does not permit this, or the request came from where none is accepted."""

    status = 403


class InsufficientScope(Forbidden):
    """The operation needs an authoring key."""

    code = "insufficient_scope"


class NamespaceForbidden(Forbidden):
    """The namespace is not one that the key owns."""

    code = "namespace_forbidden"


class HostNotAllowed(Forbidden):
    """The `Host` of the request is not a name of this machine, nor one in `TRAITBENCH_ALLOWED_HOSTS`."""

    code = "host_not_allowed"


class OriginNotAllowed(Forbidden):
    """A browser sent the request for a web page of another site."""

    code = "origin_not_allowed"


class NotFound(TraitbenchError):
    """404: there is no such thing, or none that this key may know of."""

    status = 404


class ModelNotFound(NotFound):
    """No model of that handle in a namespace the key can read."""

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
    """405: the path exists, not with this method; `Allow` lists those it has."""

    status = 405
    code = "method_not_allowed"


class NotAcceptable(TraitbenchError):
    """406: none of the accepted media types can be produced."""

    status = 406
    code = "not_acceptable"


class Conflict(TraitbenchError):
    """409: a statement about the state of the model. Never repeated by itself."""

    status = 409


class HandleTaken(Conflict):
    """A model of that handle exists, archived perhaps."""

    code = "handle_taken"


class ModelNotDraft(Conflict):
    """Traits and samples of a trained model are frozen into its versions."""

    code = "model_not_draft"


class ModelBusy(Conflict):
    """Another operation runs; its id is in `X-Run-Id`."""

    code = "model_busy"


class ModelArchived(Conflict):
    """The model was deleted; it can be read, nothing more."""

    code = "model_archived"


class ModelNotTrained(Conflict):
    """The model has no version yet."""

    code = "model_not_trained"


class DuplicateRun(Conflict):
    """The same run is in flight or has succeeded; its id is in `X-Run-Id`."""

    code = "duplicate_run"


class SamplesPurged(Conflict):
    """Zero data retention has removed the samples that this would need."""

    code = "samples_purged"


class FeatureUnavailable(Conflict):
    """The contract has this, this service or this model does not offer it."""

    code = "feature_unavailable"


class BodyTooLarge(TraitbenchError):
    """413: the body is larger than the operator allows."""

    status = 413
    code = "body_too_large"


class UnsupportedMediaType(TraitbenchError):
    """415: the body's media type is not one the operation reads."""

    status = 415
    code = "unsupported_media_type"


class Unprocessable(TraitbenchError):
    """422: readable, but not valid."""

    status = 422


class ValidationFailed(Unprocessable):
    """One or more fields are wrong; `details.errors` names each by its path."""

    code = "validation_failed"


class InvalidHandle(Unprocessable):
    """A handle is `<namespace>.<name>`."""

    code = "invalid_handle"


class InvalidTag(Unprocessable):
    """A tag is 1-64 of letters, digits, `.`, `_`, `-`, and neither `vN` nor `active`."""

    code = "invalid_tag"


class UnsupportedKind(Unprocessable):
    """The only kind of model is `scoring`."""

    code = "unsupported_kind"


class UnsupportedScoringMethod(Unprocessable):
    """The only scoring method is `balanced_cosine`."""

    code = "unsupported_scoring_method"


class UnsupportedSynthType(Unprocessable):
    """The synthesis type is not offered."""

    code = "unsupported_synth_type"


class InsufficientSamples(Unprocessable):
    """A trait lacks samples at one of its poles; `details.traits` has the counts."""

    code = "insufficient_samples"


class DuplicateTrait(Unprocessable):
    """A key stands twice in one batch, or a name would belong to two traits."""

    code = "duplicate_trait"


class UrlNotFetchable(Unprocessable):
    """The address is refused, unreachable, too slow or too large."""

    code = "url_not_fetchable"


class InternalError(TraitbenchError):
    """500: a fault of the service; the request id finds it in the log."""

    status = 500
    code = "internal_error"


class UnreadableRow(InternalError):
    """A stored row is not one that this release writes; `reason` says what is wrong with it."""

    def __init__(self, reason: str, *, thing: str = "A stored row") -> None:
        self.reason = reason
        super().__init__(
            f"{thing} cannot be read: {reason}. Restore it from a backup, or delete the model that it belongs to.",
            details={"reason": reason},
        )


class Unavailable(TraitbenchError):
    """503: not ready or overloaded; try again after `Retry-After`."""

    status = 503
    code = "unavailable"
    retryable = True


class Unreachable(Unavailable):
    """No service answered at the address, or what answered is not this service. Raised by the client only."""

    code = "unreachable"


def error_for(code: str, status: int) -> type[TraitbenchError]:
    """The class of a code; of an unknown one, the class of its status: codes are only ever added."""
    family: type[TraitbenchError] = InternalError if status >= 500 else TraitbenchError
    for cls in _tree(TraitbenchError):
        if cls.code == code:
            return cls
        if cls.status == status and TraitbenchError in cls.__bases__:
            family = cls
    return family


def _tree(root: type[TraitbenchError]) -> Iterator[type[TraitbenchError]]:
    for cls in root.__subclasses__():
        yield cls
        yield from _tree(cls)
