"""The body of every response other than 2xx, in the form that the programs on a path expect.

Our own form is the envelope (core/docs/contract.md, "Error envelope"). Doors speak the wires of other programs, also
where they refuse. The path alone decides, so that an error has one form whether a route, a middleware or nothing at all
was reached.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from starlette.responses import Response
from ulid import ULID

from traitbench.contract.operation import PREFIX, ErrorForm
from traitbench.contract.operations import ALL
from traitbench.errors import (
    BodyTooLarge,
    CommentRefused,
    EmptyBody,
    InvalidJson,
    TraitbenchError,
    Unauthenticated,
    Unavailable,
)

Json = dict[str, Any]

HEADERS: Mapping[int, Mapping[str, str]] = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "2"}}

_FORMS: Mapping[str, ErrorForm] = {
    each.full_path if each.prefix == PREFIX else each.prefix: each.errors_as
    for each in ALL
    if each.errors_as != "envelope"
}


def form_of(path: str) -> ErrorForm:
    """Return the form of errors on a path."""
    return next((form for start, form in _FORMS.items() if f"{path}/".startswith(f"{start}/")), "envelope")


def status_in(form: ErrorForm, error: TraitbenchError | type[TraitbenchError]) -> int:
    """Return the status of an error in a form.

    Clients of Perspective know no 422: what is not valid gets 400. They know load as a quota, 429. Those of decisions
    expect 422 for every bad body.
    """
    if form == "perspective":
        return 400 if error.status == 422 else 429 if _is_busy(error) else error.status
    kind = error if isinstance(error, type) else type(error)
    return 422 if form == "decision" and issubclass(kind, InvalidJson | EmptyBody) else error.status


def _is_busy(error: TraitbenchError | type[TraitbenchError]) -> bool:
    return isinstance(error, Unavailable) and "busy" in error.details


def rendered(error: TraitbenchError, request_id: str, path: str) -> Response:
    """Return the response for an error of a request for this path."""
    form = form_of(path)
    return Response(
        json.dumps(_WRITTEN[form](error, request_id), default=str, separators=(",", ":")),
        status_code=status_in(form, error),
        headers={**HEADERS.get(error.status, {}), **error.headers},
        media_type="application/json",
    )


def refusal(error: TraitbenchError, path: str = "") -> Response:
    """Return the response for an error of a request that has no id yet; `path` is empty if it was not read."""
    identity = f"req_{ULID()}"
    answer = rendered(error, identity, path)
    answer.headers["X-Request-Id"] = identity
    return answer


def _envelope(error: TraitbenchError, request_id: str) -> Json:
    body = {"code": error.code, "message": error.message, "request_id": request_id, "details": error.details}
    return {"error": body}


def _decision(error: TraitbenchError, request_id: str) -> Json:
    """Return the envelope, and beside it what clients of the decision wire read."""
    detail: Any = {"error_type": _ERROR_TYPES.get(error.status, error.code), "message": error.message}
    if status_in("decision", error) == 422:
        # An error of the body as a whole, such as a handle that is none, has no list of fields.
        alone = [
            {
                "loc": ["model"] if error.details.get("field") == "handle" else [],
                "type": error.code,
                "msg": error.message,
            }
        ]
        faults = error.details.get("errors", alone)
        detail = [{"loc": ["body", *each["loc"]], "msg": each["msg"], "type": each["type"]} for each in faults]
    return {**_envelope(error, request_id), "detail": detail}


def _perspective(error: TraitbenchError, request_id: str) -> Json:
    """Return the error as Google's APIs write it, first the detail that clients of Perspective read."""
    status = status_in("perspective", error)
    name = _STATUS_NAMES.get(status, "UNKNOWN")
    details = [*_named(error)] if name == "INVALID_ARGUMENT" else []
    known = "RATE_LIMIT_EXCEEDED" if status == 429 else _REASONS.get(type(error))
    details.append(
        {
            "@type": f"{_GOOGLE}.rpc.ErrorInfo",
            "reason": known or error.code.upper(),
            "domain": "googleapis.com" if known else "traitbench",
        }
    )
    details.append({"@type": f"{_GOOGLE}.rpc.RequestInfo", "requestId": request_id})
    return {"error": {"code": status, "message": error.message, "status": name, "details": details}}


def _named(error: TraitbenchError) -> Iterator[Json]:
    """Yield what is wrong with a request by Perspective's names, and its wrong fields."""
    kind = "COMMENT_TOO_LONG" if isinstance(error, BodyTooLarge) else "INVALID_REQUEST"
    more = error.details if isinstance(error, CommentRefused) else {}
    yield {"@type": f"{_GOOGLE}.commentanalyzer.v1alpha1.Error", "errorType": kind, **more}
    if faults := error.details.get("errors"):
        violations = [
            {"field": ".".join(map(str, each["loc"])), "description": each["msg"]} for each in faults[:_MOST_VIOLATIONS]
        ]
        yield {"@type": f"{_GOOGLE}.rpc.BadRequest", "fieldViolations": violations}


_GOOGLE = "type.googleapis.com/google"
_MOST_VIOLATIONS = 20
_REASONS: Mapping[type[TraitbenchError], str] = {Unauthenticated: "API_KEY_INVALID"}
"""Reasons that Google's APIs have; others are our codes."""

_ERROR_TYPES: Mapping[int, str] = {401: "authentication_error"}
"""Names that clients of the decision wire know; others are our codes."""

_STATUS_NAMES: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    406: "INVALID_ARGUMENT",
    409: "FAILED_PRECONDITION",
    413: "INVALID_ARGUMENT",
    415: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
"""Names of Google's canonical codes by status."""

_WRITTEN: Mapping[ErrorForm, Callable[[TraitbenchError, str], Json]] = {
    "envelope": _envelope,
    "decision": _decision,
    "perspective": _perspective,
}
