"""The header `Idempotency-Key`, and the endpoints whose answers are stored under it (core/docs/contract.md, "Repeated
requests").
"""

import hmac
import re
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from typing import Any, cast

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from traitbench.contract.operation import JSON, Operation
from traitbench.errors import InvalidParameter
from traitbench.names import unpin
from traitbench.operations import repeats
from traitbench.operations.repeats import KeyedRequest, SentAnswer
from traitbench.service.parameters import RUN_ID
from traitbench.service.request_id import request_id

HEADER = "Idempotency-Key"
LONGEST_KEY = 255
VALID = re.compile(rf"[!-~]{{1,{LONGEST_KEY}}}")

_SCOPE_KEY = "traitbench.idempotency"


class SentKey:
    """The idempotency key of a request, with the hash of what has been read of the request."""

    def __init__(self, request: Request, operation: Operation[Any], *, key: str, secret: str, media_type: str) -> None:
        # Keyed with the API key: it is secret, and stored nowhere. So each key has idempotency keys of its own.
        where = f"{operation.name}\n{request.scope['path']}\n{key}"
        self._secret, self._request_id = secret.encode(), request_id(request.scope)
        self._key = self._digest(where).hexdigest()
        self._request = self._digest(f"{where}\n{media_type}\n{request.url.query}\n")

    def read(self, some: bytes) -> None:
        """Take the next bytes of the body."""
        self._request.update(some)

    def keyed(self) -> KeyedRequest:
        """The request, whose body was read."""
        return KeyedRequest(self._key, self._request.hexdigest(), self._request_id)

    def _digest(self, text: str) -> hmac.HMAC:
        return hmac.new(self._secret, text.encode("utf-8", "surrogatepass"), "sha256")


def note_key(request: Request, operation: Operation[Any], secret: str | None, media_type: str) -> None:
    """Remember the idempotency key of a request, if it has one; raise `InvalidParameter` if it is not valid."""
    sent = request.headers.getlist(HEADER) if operation.takes_key else []
    if not sent:
        return
    if len(sent) > 1 or not VALID.fullmatch(sent[0]):
        raise InvalidParameter(
            f"The header {HEADER} must be sent once, with 1 to {LONGEST_KEY} visible ASCII characters. Use a random"
            " one, such as a UUID, for each request, and the same one only to repeat it.",
            details={"parameter": HEADER, "max_length": LONGEST_KEY},
        )
    request.scope[_SCOPE_KEY] = SentKey(request, operation, key=sent[0], secret=secret or "", media_type=media_type)


def sent_key(scope: Scope) -> SentKey | None:
    """The idempotency key of the request that `scope` describes."""
    return cast("SentKey | None", scope.get(_SCOPE_KEY))


def repeatable(operation: Operation[Any], endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """The endpoint with its answers stored for requests that have an idempotency key."""
    if not operation.takes_key:
        return endpoint

    @wraps(endpoint)
    def answered(**given: Any) -> Any:
        call = given["call"]
        if call.sent_key is None:
            return endpoint(**given)

        def carry_out() -> SentAnswer:
            # An import may have no handle of its own.
            handle = unpin(given["handle"])[0] if given.get("handle") else None
            result = endpoint(**given)
            status = given["response"].status_code if "response" in given else None
            return answer_of(operation, result, handle=handle, status=status)

        with ExitStack() as at_the_end:
            # The file of an upload, which nobody reads if the request is a repeat.
            if (file := getattr(given.get("body"), "file", None)) is not None:
                at_the_end.enter_context(file)
            answer = repeats.once(call.context.engine, call.sent_key.keyed(), carry_out)
        return _response(operation, answer)

    return answered


def answer_of(
    operation: Operation[Any], result: Response | BaseModel, *, handle: str | None = None, status: int | None = None
) -> SentAnswer:
    """What an operation on the model with this handle has returned, as it is sent."""
    if isinstance(result, Response):
        return SentAnswer(result.status_code, str(result.media_type), bytes(result.body), handle)
    # What is made, such as a fork, is what the answer is about.
    about = getattr(result, "handle", handle)
    return SentAnswer(status or operation.statuses[0], JSON, result.model_dump_json(by_alias=True).encode(), about)


def _response(operation: Operation[Any], answer: SentAnswer) -> Response:
    response = Response(answer.content, status_code=answer.status, media_type=answer.media_type)
    if answer.status == 202:
        response.headers[RUN_ID] = operation.answer.model_validate_json(answer.content).run_id
    return response
