"""What the two clients share: addresses, bodies, answers and errors, as pure functions.

Reads (GET), scores and comparisons change nothing. A request that creates, adds or starts something has an idempotency
key, so a repeat has no further effect. Both are repeated when the connection fails or the service is not ready (502,
503, 504), and while it is too busy (`Retries`). A `Retry-After` of up to five seconds is honoured. Other writes are
repeated only if they did not reach the service. Every pause has jitter, so that clients do not all come back at once.
Other answers, such as 409, are final.
"""

import json
import random
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic
from typing import Any, Literal, TypedDict
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from traitbench.contract.batches import FailedLine, LineError
from traitbench.contract.envelope import ErrorEnvelope
from traitbench.contract.fields import Received
from traitbench.contract.models import VersionRetentionPolicy
from traitbench.contract.operation import PREFIX, Answer, Operation
from traitbench.contract.scores import Card
from traitbench.contract.texts import values_of, why_no_text
from traitbench.errors import TraitbenchError, Unauthenticated, Unreachable, ValidationFailed, error_for
from traitbench.settings import read_settings

Params = Mapping[str, str | int | None]
PathValues = Mapping[str, str | int]

CONNECT_TIMEOUT = 5.0
LONG = 900.0  # seconds; timeout for requests that carry a whole model
# The expiry is shorter than the server's, so that no request uses a connection that is being closed.
LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=30.0)
PAUSES = (0.1, 0.4)  # seconds before a request is sent again
RESTART_TIMEOUT = 60.0
KEY = "Idempotency-Key"
NO_ANSWER = "does not answer; start it with `traitbench`, or set TRAITBENCH_API_URL to its address"

_MOST_ADDRESSES = 64
_JITTER = (1.0, 1.5)
_LONGEST_PAUSE = 5.0
_LATER = 1.0  # seconds; the pause after the others
NOT_READY = frozenset({502, 503, 504})
_HEADERS_OF_ERRORS = ("X-Run-Id", "Retry-After", "Allow", "WWW-Authenticate")
_LOOPBACK = frozenset({"127.0.0.1", "0.0.0.0", "::1", "::", "localhost"})


@lru_cache(_MOST_ADDRESSES)
def address(base_url: str, path: str) -> httpx.URL:
    """Return the address of a resource; the last ones are kept."""
    return httpx.URL(f"{base_url}{PREFIX}{path}")


def path_of(operation: Operation[Any], path: PathValues) -> str:
    """Return the path of an operation with its parameters; raise `ValidationFailed` if one is not valid Unicode."""
    return operation.path.format_map({name: segment(value) for name, value in path.items()})


@dataclass
class ServiceFacts:
    """What all requests of a client know of its service."""

    has_answered: bool = False
    always_fetches: bool = False
    """Whether the service turned out to be of an earlier release, which fetches every web address of a batch."""


class TransportOptions(TypedDict):
    """Options of httpx for proxies and certificates."""

    trust_env: bool
    verify: ssl.SSLContext | bool


def busy_for(error: TraitbenchError | None) -> float | None:
    """Return the seconds to wait before a retry if the service was too busy, or None for any other error.

    The wait has jitter.
    """
    wish = "" if error is None or "busy" not in error.details else error.headers.get("Retry-After", "")
    return jittered(float(wish)) if wish.isdecimal() else None


def refuses_field(error: TraitbenchError, name: str) -> bool:
    """Return whether a service refused a request because it does not know a field of the body."""
    errors = error.details.get("errors")
    known = errors if isinstance(errors, list) else []
    return any(isinstance(each, dict) and each.get("loc") in ([name], ["body", name]) for each in known)


def segment(name: str | int) -> str:
    """Quote a name as one segment of a path; raise `ValidationFailed` if it is not valid Unicode."""
    quoted = quote(valid_unicode(str(name)), safe="")
    # `quote` leaves dots as they are, and `.` and `..` would be removed from the path.
    return quoted.replace(".", "%2E") if not quoted.strip(".") else quoted


def given(params: Params | None) -> dict[str, str | int]:
    """Return the parameters that are not None; raise `ValidationFailed` if one is not valid Unicode."""
    return {
        name: valid_unicode(value) if isinstance(value, str) else value
        for name, value in (params or {}).items()
        if value is not None
    }


def valid_unicode(text: str) -> str:
    """Return a text that an address can hold; raise `ValidationFailed` if it is not valid Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValidationFailed(
            "A name or a search text has half of a surrogate pair, so it is not valid Unicode. Type it again."
        ) from error
    return text


def service_of(base_url: str | None, api_key: str | None) -> tuple[str, str | None]:
    """Return the address of the service and the key for it. Without an address, both are from the settings.

    A key from the environment or the home folder is only for the service there: an address that is given gets only the
    key that is given. Raise `SettingInvalid` if a setting is invalid.
    """
    if base_url is not None:
        return base_url, api_key
    settings = read_settings()
    return settings.base_url, settings.service_key() if api_key is None else api_key


def bare(base_url: str) -> str:
    """Return an address without `/v1` and slashes at its end."""
    return base_url.strip().rstrip("/").removesuffix(PREFIX).rstrip("/")


def checked_url(base_url: str) -> httpx.URL:
    """Return the address of a service; raise `Unreachable` if it is not an http or https address."""
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


def transport_options(url: httpx.URL) -> TransportOptions:
    """Return how to connect to an address: whether proxies apply, and which certificates are trusted."""
    local = url.host in _LOOPBACK
    return {
        "trust_env": not local,  # a proxy cannot reach this machine's loopback
        # Reading the trusted certificates takes longer than a score, and plain HTTP needs none.
        "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if local and url.scheme == "http" else True,
    }


def authorization(api_key: str | None) -> dict[str, str]:
    """Return the header with the key; raise `Unauthenticated` if no key can look like this."""
    if not api_key:
        return {}
    if not api_key.strip().isascii():
        raise Unauthenticated("The API key has characters that no key contains. Copy it again.")
    return {"Authorization": f"Bearer {api_key.strip()}"}


def bodies(items: Iterable[Received], wanted: type[Received], name: str) -> list[dict[str, Any]]:
    """Return the JSON of values; raise `TypeError` that says what is wanted if they are of another type."""
    kind = wanted.__name__
    if isinstance(items, BaseModel | Mapping | str) or not isinstance(items, Iterable):
        raise TypeError(f"{name}: a list of {kind} is needed, not {type(items).__name__}.")
    result = []
    for index, item in enumerate(items):
        if not isinstance(item, wanted):
            way_out = f" Write {kind}(**fields)." if isinstance(item, dict) else ""
            raise TypeError(f"{name}[{index}]: a {kind} is needed, not {type(item).__name__}.{way_out}")
        result.append(item.model_dump(exclude_unset=True))
    return result


def encoded(body: Any) -> bytes:
    """Return a body as JSON; raise `ValidationFailed` if JSON cannot represent it."""
    if isinstance(body, Received):
        return body.model_dump_json(exclude_unset=True).encode()
    try:
        return json.dumps(
            body, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=lambda value: value.model_dump()
        ).encode()
    except ValueError as error:
        raise ValidationFailed(
            "JSON cannot represent the request: it has NaN, an infinite number, or half of a surrogate pair in a text."
            " Leave the number out, or read the text again as UTF-8."
        ) from error


class Retries:
    """The pauses before a request is sent again.

    Two come soon. A service that was there may be restarting: then more follow, until `patience` seconds after the
    first failure. With None for a patience there are only the two.
    """

    def __init__(self) -> None:
        self._soon = iter(PAUSES)
        self._since: float | None = None

    def after(self, outcome: httpx.Response | TraitbenchError, patience: float | None, *, busy: float) -> float | None:
        """Return the seconds to wait after a response that is no answer yet, or after none; None to give up.

        A service that was too busy is there: it is asked again for `busy` seconds, when it says so.
        """
        error = error_in(outcome) if isinstance(outcome, httpx.Response) else outcome
        if (wish := busy_for(error)) is not None:
            return self._pause(wish, busy)
        sent = outcome.headers.get("Retry-After", "")
        if sent.isdecimal() and float(sent) > _LONGEST_PAUSE:
            return None
        return self._pause(jittered(float(sent)) if sent.isdecimal() else None, patience)

    def _pause(self, wish: float | None, patience: float | None) -> float | None:
        now = monotonic()
        self._since = now if self._since is None else self._since
        soon = next(self._soon, None)
        if soon is None and patience is None:
            return None
        pause = jittered(_LATER if soon is None else soon) if wish is None else wish
        return None if patience is not None and now + pause > self._since + patience else pause


def jittered(seconds: float) -> float:
    """Return a pause that is longer by a random part."""
    return seconds * random.uniform(*_JITTER)


def value_in(response: httpx.Response, answer: type[Answer]) -> Answer:
    """Return the value in a response; raise `Unreachable` if it is not of this type."""
    try:
        return answer.model_validate_json(response.content)
    except ValueError as error:
        raise Unreachable(
            f"The service at {response.url.host} sent an answer that this client cannot read. "
            "Use the same release for client and service.",
            details={"expected": answer.__name__},
            request_id=request_id_of(response),
        ) from error


def error_in(response: httpx.Response) -> TraitbenchError | None:
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


def request_id_of(response: httpx.Response) -> str | None:
    """Return the id under which the service's log names this request."""
    request_id: str | None = response.headers.get("X-Request-Id")
    return request_id


def media_type_of(response: httpx.Response) -> str:
    """Return the media type of a response, without parameters."""
    return str(response.headers.get("Content-Type", "")).partition(";")[0].strip().lower()


SynthType = Literal["from_traits", "diversify"]


class CreateFields(TypedDict, total=False):
    """The optional fields of a new model."""

    description: str
    scoring_method: str
    max_depth: int
    kind: str
    additional_terms: str | None
    upstream_sources: list[dict[str, Any]] | None
    readme_markdown: str | None
    zero_data_retention: bool


class UpdateFields(TypedDict, total=False):
    """The fields that can be changed. A field left out stays; None resets it to its default."""

    description: str | None
    scoring_method: str | None
    max_depth: int | None
    additional_terms: str | None
    upstream_sources: list[dict[str, Any]] | None
    readme_markdown: str | None
    zero_data_retention: bool | None
    version_retention_policy: VersionRetentionPolicy | None
    hold_if_worse: bool | None
    language_model_allowed: bool | None
    main_trait: str | None
    demo_texts: list[str] | None


def quoted(card: Card, content: str) -> Card:
    """Return the card with the `text` of every part, or unchanged if it has no explanation."""
    if card.explanation is None:
        return card
    explanation = {key: each.with_text(content) for key, each in card.explanation.items()}
    return card.model_copy(update={"explanation": explanation})


def refusal(index: int, value: object) -> FailedLine | None:
    """Return the line of a value that is no text, None if it is one."""
    problem = why_no_text(value)
    if problem is None:
        return None
    kind = "string_unicode" if isinstance(value, str) else "string_type"
    details = {"errors": [{"loc": ["content"], "type": kind, "msg": problem}]}
    return FailedLine(
        index=index, error=LineError(code=ValidationFailed.code, message=f"content: {problem}", details=details)
    )


def iter_of(texts: Any) -> Iterator[Any]:
    """Return the values of texts in their order; raise `TypeError` for what is no list of texts."""
    return values_of(texts)


def aiter_of(texts: Any) -> AsyncIterator[Any]:
    """Return the values of texts, which may also come from an asynchronous iterable."""
    return aiter(texts) if hasattr(texts, "__aiter__") else _one_by_one(values_of(texts))


async def _one_by_one(values: Iterator[Any]) -> AsyncIterator[Any]:
    for value in values:
        yield value
