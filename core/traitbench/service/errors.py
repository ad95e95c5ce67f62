"""The body of every response other than 2xx (core/docs/contract.md, "Error envelope")."""

import json
from collections.abc import Mapping

from starlette.responses import Response
from ulid import ULID

from traitbench.errors import TraitbenchError

HEADERS: Mapping[int, Mapping[str, str]] = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "2"}}


def envelope(error: TraitbenchError, request_id: str) -> Response:
    """Return the response for an error."""
    body = {"code": error.code, "message": error.message, "request_id": request_id, "details": error.details}
    return Response(
        json.dumps({"error": body}, default=str, separators=(",", ":")),
        status_code=error.status,
        headers={**HEADERS.get(error.status, {}), **error.headers},
        media_type="application/json",
    )


def refusal(error: TraitbenchError) -> Response:
    """Return the response for an error of a request that has no id yet."""
    identity = f"req_{ULID()}"
    answer = envelope(error, identity)
    answer.headers["X-Request-Id"] = identity
    return answer
