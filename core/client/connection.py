"""Send requests to the service, retry reads, and turn responses into values or errors.

Reads (GET) are retried when the connection fails or the service is not ready (502, 503, 504). A `Retry-After` of up to
five seconds is honoured. A score or a comparison without feedback changes nothing either, so it is retried while the
service is too busy, after the pause that the service asks for, until the timeout. Writes and 409 responses are never
retried. A response from something else, such as a proxy's error page or the workbench, raises `Unreachable` instead of
a parsing error.
"""

import json
import random
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from traitbench.contract.errors import ErrorEnvelope
from traitbench.contract.fields import Received, Wire
from traitbench.errors import TraitbenchError, Unauthenticated, Unreachable, ValidationFailed, error_for

Answer = TypeVar("Answer", bound=Wire)
Params = Mapping[str, str | int | None]

LINES = "application/x-ndjson"

_CONNECT_TIMEOUT = 5.0
_LONG = 900.0  # seconds; timeout for requests that carry a whole model
_KEEP_ALIVE = 30.0  # shorter than the server's, so that no request uses a connection that is being closed
_PAUSES = (0.1, 0.4)
_LONGEST_PAUSE = 5.0
_NOT_READY = frozenset({502, 503, 504})
_HEADERS_OF_ERRORS = ("X-Run-Id", "Retry-After", "Allow", "WWW-Authenticate")
_NO_ANSWER = "does not answer; start it with `traitbench`, or set TRAITBENCH_API_URL to its address"
_LOOPBACK = frozenset({"127.0.0.1", "0.0.0.0", "::1", "::", "localhost"})


class Connection:
    """Kept-alive connections to one service, with one API key; safe to share between threads."""

    def __init__(
        self, base_url: str, api_key: str | None, *, timeout: float, transport: httpx.BaseTransport | None
    ) -> None:
        self.base_url = base_url.strip().rstrip("/").removesuffix("/v1").rstrip("/")
        self._timeout = timeout
        url = _checked_url(self.base_url)
        local = url.host in _LOOPBACK
        self._http = httpx.Client(
            base_url=url,
            headers=_authorization(api_key),
            limits=httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=_KEEP_ALIVE),
            transport=transport,
            trust_env=not local,  # a proxy cannot reach this machine's loopback
            # Reading the trusted certificates takes longer than a score, and plain HTTP needs none.
            verify=_trusting_nobody() if local and url.scheme == "http" else True,
        )

    def get(self, path: str, answer: type[Answer], *, params: Params | None = None, long: bool = False) -> Answer:
        """Read a value; retry if the service cannot be reached or is not ready. `long` sets a longer timeout."""
        return _value(self._checked(self._repeated(self._request("GET", path, params=params, long=long))), answer)

    def send(
        self,
        method: str,
        path: str,
        answer: type[Answer],
        *,
        params: Params | None = None,
        body: Any = None,
        long: bool = False,
        reads: bool = False,
    ) -> Answer:
        """Send a request with a body, once. With `reads` (it changes nothing), retry while the service is too busy."""
        request = self._request(method, path, params=params, body=body, long=long)
        return _value(self._checked(self._admitted(request) if reads else self._once(request)), answer)

    def get_text(self, path: str, media_type: str) -> str:
        """Read an answer as text of a media type; retry like `get`."""
        request = self._request("GET", path, accept=media_type)
        return self._checked(self._repeated(request), media_type=media_type).text

    def text(self, path: str, *, body: Any) -> str:
        """Send a body and return the answer as plain text; retry while the service is too busy."""
        request = self._request("POST", path, body=body, accept="text/plain")
        return self._checked(self._admitted(request), media_type="text/plain").text

    def lines(self, path: str, *, content: bytes, wait: bool = True) -> "Lines":
        """Send a body, once, and return the lines of the answer as soon as it begins.

        Without `wait`, a busy service refuses at once.
        """
        request = self._request("POST", path, content=content, accept=LINES)
        if not wait:
            request.headers["Prefer"] = "wait=0"
        return Lines(self._checked(self._once(request, stream=True), media_type=LINES), self._broken)

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    def _request(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: Any = None,
        content: bytes | None = None,
        accept: str = "application/json",
        long: bool = False,
    ) -> httpx.Request:
        content = content if body is None else _encoded(body)
        headers = {"Accept": accept} | ({} if content is None else {"Content-Type": "application/json"})
        given = {name: value for name, value in (params or {}).items() if value is not None}
        seconds = max(self._timeout, _LONG) if long else self._timeout
        timeout = httpx.Timeout(seconds, connect=min(self._timeout, _CONNECT_TIMEOUT))
        return self._http.build_request(
            method, f"/v1{path}", params=given, headers=headers, content=content, timeout=timeout
        )

    def _once(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        try:
            return self._http.send(request, stream=stream)
        except httpx.ReadTimeout as error:
            seconds = request.extensions["timeout"]["read"]
            raise self._unreachable(
                f"did not answer within {seconds:g} s; it may still carry out the request, so check before you retry"
            ) from error
        except httpx.RequestError as error:
            raise self._unreachable(_NO_ANSWER) from error

    def _repeated(self, request: httpx.Request) -> httpx.Response:
        for pause in _PAUSES:
            wait: float | None = pause
            try:
                response = self._once(request)
            except Unreachable as error:
                if isinstance(error.__cause__, httpx.ReadTimeout):
                    raise
            else:
                wait = _wait_before_next(response, pause)
            if wait is None:
                return response
            time.sleep(wait)
        return self._once(request)

    def _admitted(self, request: httpx.Request) -> httpx.Response:
        deadline = time.monotonic() + self._timeout
        while True:
            response = self._once(request)
            pause = busy_for(_error(response)) if response.status_code == 503 else None
            if pause is None or time.monotonic() + pause > deadline:
                return response
            time.sleep(pause)

    def _checked(self, response: httpx.Response, *, media_type: str = "application/json") -> httpx.Response:
        if response.is_success and _media_type(response) == media_type:
            return response
        self._whole(response)
        raise _error(response) or self._unreachable(
            f"is not Traitbench: it answered {response.status_code} with {_media_type(response) or 'no content type'}; "
            "set TRAITBENCH_API_URL to its address"
        )

    def _whole(self, response: httpx.Response) -> None:
        try:
            response.read()
        except httpx.RequestError as error:
            raise self._unreachable("broke off in the middle of its answer") from error
        finally:
            response.close()

    def _broken(self) -> Unreachable:
        return self._unreachable("broke off in the middle of its answer")

    def _unreachable(self, what: str) -> Unreachable:
        return Unreachable(f"The service at {self.base_url} {what}.", details={"base_url": self.base_url})


class Lines:
    """The lines of a streamed answer; iterating raises `Unreachable` if the answer breaks off."""

    def __init__(self, response: httpx.Response, broken: Callable[[], Unreachable]) -> None:
        self._response, self._broken = response, broken

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        try:
            for some in self._response.iter_bytes():
                *whole, rest = (rest + some).split(b"\n")
                yield from whole
        except httpx.RequestError as error:
            raise self._broken() from error
        if rest:
            raise self._broken()

    def close(self) -> None:
        """Close the response, even before its end."""
        self._response.close()


def busy_for(error: TraitbenchError | None) -> float | None:
    """Return the seconds to wait before a retry if the service was too busy, or None for any other error.

    The wait has random jitter, so that clients do not all retry at once.
    """
    wish = "" if error is None or "busy" not in error.details else error.headers.get("Retry-After", "")
    return float(wish) * random.uniform(1.0, 1.5) if wish.isdecimal() else None


def segment(name: str | int) -> str:
    """Quote a name as one segment of a path."""
    quoted = quote(str(name), safe="")
    return quoted.replace(".", "%2E") if not quoted.strip(".") else quoted


def _checked_url(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise Unreachable(
            f"{base_url!r} is not the address of a service. Use one like http://127.0.0.1:8501.",
            details={"base_url": base_url},
        )
    return url


def _trusting_nobody() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _authorization(api_key: str | None) -> dict[str, str]:
    if not api_key:
        return {}
    if not api_key.strip().isascii():
        raise Unauthenticated("The API key has characters that no key contains. Copy it again.")
    return {"Authorization": f"Bearer {api_key.strip()}"}


def _encoded(body: Any) -> bytes:
    if isinstance(body, Received):
        return body.model_dump_json(exclude_unset=True).encode()
    try:
        return json.dumps(
            body, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=lambda value: value.model_dump()
        ).encode()
    except ValueError as error:
        raise ValidationFailed(
            "The request holds NaN, an infinite number or a lone surrogate, which JSON cannot represent."
        ) from error


def _wait_before_next(response: httpx.Response, pause: float) -> float | None:
    """Return the seconds to wait before a retry, or None if this response is final."""
    if response.status_code not in _NOT_READY:
        return None
    wish = response.headers.get("Retry-After", "")
    wait = float(wish) if wish.isdecimal() else pause
    return wait if wait <= _LONGEST_PAUSE else None


def _value(response: httpx.Response, answer: type[Answer]) -> Answer:
    try:
        return answer.model_validate_json(response.content)
    except ValueError as error:
        raise Unreachable(
            f"The service at {response.url.host} sent an answer that this client cannot read. "
            "Use the same release for client and service.",
            details={"expected": answer.__name__},
            request_id=response.headers.get("X-Request-Id"),
        ) from error


def _error(response: httpx.Response) -> TraitbenchError | None:
    """Return the error in the response's envelope, or None if it has no envelope."""
    try:
        body = ErrorEnvelope.model_validate_json(response.content).error
    except ValueError:
        return None
    return error_for(body.code, response.status_code)(
        body.message,
        details=body.details,
        request_id=body.request_id,
        headers={name: response.headers[name] for name in _HEADERS_OF_ERRORS if name in response.headers},
    )


def _media_type(response: httpx.Response) -> str:
    return str(response.headers.get("Content-Type", "")).partition(";")[0].strip().lower()
