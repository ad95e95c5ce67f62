# Made from client/connection.py by `python -m tests.client.generate`: edit that file, not this one.
"""Send requests to the service, repeat what is safe to repeat, and turn responses into values or errors.

What is repeated, and after which pause, is in `traitbench.client.wire`. A response from something else, such as a
proxy's error page or the workbench, raises `Unreachable` instead of a parsing error.
"""

from collections.abc import Callable, Iterator
from copy import copy
from time import sleep
from typing import Any
from uuid import uuid4

import httpx

from traitbench.client import wire
from traitbench.client.wire import Params, PathValues, Retries, ServiceFacts, error_in, media_type_of, value_in
from traitbench.contract import operations
from traitbench.contract.operation import JSON, LINES, TEXT, Answer, Operation
from traitbench.errors import Unreachable


class Connection:
    """Kept-alive connections to one service, with one API key; safe to share between threads."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        *,
        timeout: float,
        restart_timeout: float | None,
        transport: httpx.BaseTransport | None,
    ) -> None:
        self.base_url = wire.bare(base_url)
        self.seen = ServiceFacts()
        self._timeout = timeout
        self._restart = min(timeout, wire.RESTART_TIMEOUT) if restart_timeout is None else restart_timeout
        self._long = max(timeout, wire.LONG)
        url = wire.checked_url(self.base_url)
        self._http = httpx.Client(
            headers=wire.authorization(api_key),
            limits=wire.LIMITS,
            transport=transport,
            **wire.transport_options(url),
        )

    def with_timeout(self, seconds: float) -> "Connection":
        """Return the same connections with another timeout, which also holds for requests that carry a whole model."""
        other = copy(self)
        other._timeout = other._long = seconds
        other._restart = min(seconds, self._restart)
        return other

    @property
    def patience(self) -> float | None:
        """Seconds to wait for a service that has answered and does not any more: it may be restarting.

        None if it never answered, or should not be waited for.
        """
        return self._restart if self._restart and self.seen.has_answered else None

    def get(
        self,
        operation: Operation[Answer],
        *,
        params: Params | None = None,
        long: bool = False,
        at_once: bool = False,
        **path: str | int,
    ) -> Answer:
        """Read a value; repeat the request if the service cannot be reached or is not ready.

        `long` sets a longer timeout. With `at_once`, a service that restarts is not waited for. `path` has the values
        of the operation's path, here and below.
        """
        request = self._request(operation, path, params=params, long=long)
        return value_in(self._checked(self._repeated(request, at_once=at_once)), operation.answer)

    def send(
        self,
        operation: Operation[Answer],
        *,
        params: Params | None = None,
        body: Any = None,
        long: bool = False,
        reads: bool = False,
        **path: str | int,
    ) -> Answer:
        """Send a request with a body; repeat it like a read if it `reads`, or if it takes an idempotency key.

        Others are repeated only if the service cannot be reached.
        """
        request = self._request(operation, path, params=params, body=body, long=long)
        if operation.takes_key and not reads:
            request.headers[wire.KEY] = str(uuid4())
        response = self._repeated(request, safe=reads or operation.takes_key)
        return value_in(self._checked(response), operation.answer)

    def get_text(self, operation: Operation[Any], **path: str | int) -> str:
        """Read an answer as text of the first media type that the operation offers; retry like `get`."""
        media_type = operation.offers[0]
        request = self._request(operation, path, accept=media_type)
        response = self._checked(self._repeated(request), media_type=media_type)
        return response.text

    def text(self, operation: Operation[Any], *, body: Any, **path: str | int) -> str:
        """Send a body that changes nothing, and return the answer as plain text; repeat it like a read."""
        request = self._request(operation, path, body=body, accept=TEXT)
        response = self._checked(self._repeated(request), media_type=TEXT)
        return response.text

    def lines(self, operation: Operation[Any], *, content: bytes, wait: bool = True, **path: str | int) -> "Lines":
        """Send a body, once, and return the lines of the answer as soon as it begins.

        Without `wait`, a busy service refuses at once.
        """
        request = self._request(operation, path, content=content, accept=LINES)
        if not wait:
            request.headers["Prefer"] = "wait=0"
        response = self._once(request, stream=True)
        return Lines(self._checked(response, media_type=LINES), self._broken)

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    def _request(
        self,
        operation: Operation[Any],
        path: PathValues,
        *,
        params: Params | None = None,
        body: Any = None,
        content: bytes | None = None,
        accept: str = JSON,
        long: bool = False,
    ) -> httpx.Request:
        content = content if body is None else wire.encoded(body)
        headers = {"Accept": accept} | ({} if content is None else {"Content-Type": JSON})
        seconds = self._long if long else self._timeout
        timeout = httpx.Timeout(seconds, connect=min(self._timeout, wire.CONNECT_TIMEOUT))
        # An address that was read before, and None instead of no parameters: to read an address takes long.
        url = wire.address(self.base_url, wire.path_of(operation, path))
        return self._http.build_request(
            operation.method, url, params=wire.given(params) or None, headers=headers, content=content, timeout=timeout
        )

    def _once(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        try:
            response = self._http.send(request, stream=stream)
            self.seen.has_answered |= response.status_code not in wire.NOT_READY
            return response
        except httpx.ReadTimeout as error:
            seconds = request.extensions["timeout"]["read"]
            raise self._unreachable(
                f"did not answer within {seconds:g} s; it may still carry out the request, so check before you retry"
            ) from error
        except httpx.RequestError as error:
            raise self._unreachable(wire.NO_ANSWER) from error

    def _repeated(self, request: httpx.Request, *, safe: bool = True, at_once: bool = False) -> httpx.Response:
        """Send a request until it has an answer, or until it is to be given up.

        `safe` says whether a repeat has no further effect.
        """
        retries = Retries()
        while True:
            outcome = self._outcome(request)
            pause = None
            if self._may_repeat(request, outcome, safe):
                pause = retries.after(outcome, None if at_once else self.patience, busy=self._timeout)
            if pause is not None:
                sleep(pause)
            elif isinstance(outcome, Unreachable):
                raise outcome
            else:
                return outcome

    def _outcome(self, request: httpx.Request) -> httpx.Response | Unreachable:
        try:
            return self._once(request)
        except Unreachable as error:
            return error

    def _may_repeat(self, request: httpx.Request, outcome: httpx.Response | Unreachable, safe: bool) -> bool:
        """Whether a request that was not carried out, or perhaps was, may be sent again."""
        if isinstance(outcome, Unreachable):
            if isinstance(outcome.__cause__, httpx.ConnectError | httpx.ConnectTimeout):
                return True
            # After a timeout, the service has the request. A second one would only add to what makes it slow.
            if not safe or isinstance(outcome.__cause__, httpx.ReadTimeout):
                return False
        elif not safe or outcome.status_code not in wire.NOT_READY:
            return False
        if wire.KEY not in request.headers or (isinstance(outcome, httpx.Response) and error_in(outcome) is not None):
            return True
        # It may have been carried out. A service of an earlier release ignores the key; it has no such route.
        me = self._repeated(self._request(operations.ME, {}))
        return me.status_code != 404

    def _checked(self, response: httpx.Response, *, media_type: str = JSON) -> httpx.Response:
        if response.is_success and media_type_of(response) == media_type:
            return response
        self._whole(response)
        raise error_in(response) or self._unreachable(
            f"is not Traitbench: it answered {response.status_code} with "
            f"{media_type_of(response) or 'no content type'}; set TRAITBENCH_API_URL to its address",
            request_id=wire.request_id_of(response),
        )

    def _whole(self, response: httpx.Response) -> None:
        try:
            response.read()
        except httpx.RequestError as error:
            raise self._broken(response) from error
        finally:
            response.close()

    def _broken(self, response: httpx.Response) -> Unreachable:
        return self._unreachable("broke off in the middle of its answer", request_id=wire.request_id_of(response))

    def _unreachable(self, what: str, *, request_id: str | None = None) -> Unreachable:
        return Unreachable(
            f"The service at {self.base_url} {what}.", details={"base_url": self.base_url}, request_id=request_id
        )


class Lines:
    """The lines of a streamed answer; iterating raises `Unreachable` if the answer breaks off."""

    def __init__(self, response: httpx.Response, broken: Callable[[httpx.Response], Unreachable]) -> None:
        self._response, self._broken = response, broken

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        try:
            for some in self._response.iter_bytes():
                *whole, rest = (rest + some).split(b"\n")
                yield from whole
        except httpx.RequestError as error:
            raise self._broken(self._response) from error
        # Every line of an answer ends with a line break, so the rest is a line that was cut off.
        if rest:
            raise self._broken(self._response)

    def close(self) -> None:
        """Close the response, even before its end."""
        self._response.close()
