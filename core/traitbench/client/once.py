"""A transport that sends a repeated read once, for a program whose parts do not know of each other.

Several parts of a page may ask for the same traits or versions. During `remembered`, a repeated GET of the same thread
gets the first answer, until the thread sends something else.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

_LARGEST = 256 * 1024  # bytes; longer answers, such as pages of samples, are not kept
_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=30.0)
_OF_CONTENT = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class _Run(threading.local):
    """The answers that this thread has got; None outside `remembered`."""

    # For one run of a page only. A cache with a time limit would mix answers of different moments, which may contradict
    # each other.
    answers: dict[str, httpx.Response] | None = None


_RUN = _Run()


@contextmanager
def remembered() -> Iterator[None]:
    """Keep the answers of reads until the end of the block, in this thread."""
    before, _RUN.answers = _RUN.answers, {}
    try:
        yield
    finally:
        _RUN.answers = before


class ReadsOnce(httpx.BaseTransport):
    """Sends requests to a service on this machine; a repeated GET is sent once."""

    def __init__(self) -> None:
        # A transport of our own ignores the proxies of the environment, so it is only for a service on this machine.
        self._inner = httpx.HTTPTransport(verify=False, trust_env=False, limits=_LIMITS)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the kept answer to a read, or send the request."""
        answers = _RUN.answers
        if answers is None:
            return self._inner.handle_request(request)
        if request.method != "GET":
            answers.clear()
            return self._inner.handle_request(request)
        # The answer depends on the key, and on the media type that is asked for.
        address = f"{request.headers.get('authorization')} {request.headers.get('accept')} {request.url}"
        if address not in answers:
            response = self._inner.handle_request(request)
            response.read()
            if not response.is_success or len(response.content) > _LARGEST:
                return response
            answers[address] = response
        return _copy_of(answers[address])

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()


def _copy_of(response: httpx.Response) -> httpx.Response:
    headers = [(name, value) for name, value in response.headers.multi_items() if name not in _OF_CONTENT]
    return httpx.Response(response.status_code, headers=headers, content=response.content)
