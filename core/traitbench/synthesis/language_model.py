"""An optional language model: any service that speaks OpenAI's chat protocol, such as Ollama, vLLM or a hosted one.

It is asked only if the operator has set `TRAITBENCH_LLM_URL`. Its answers are checked against a schema. Every failure
is a `LanguageModelFailed` with a sentence, so that the caller can go on without it. Texts, answers and the key are
never logged.
"""

import json
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from ipaddress import ip_address
from time import monotonic
from typing import Any, Generic, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from traitbench.install import install_line, require
from traitbench.settings import SettingInvalid, Settings

# On the level debug, the library would log what is sent.
logging.getLogger("openai").setLevel(logging.INFO)


class LanguageModelFailed(Exception):
    """The language model gave no usable answer; the message says why and quotes neither texts nor answers."""


@dataclass(frozen=True)
class Endpoint:
    """The address and name of a language model, and the key for it; "" if it needs none."""

    url: str
    model: str
    key: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        """The machine that gets what is sent."""
        return urlsplit(self.url).hostname or ""

    @property
    def on_loopback(self) -> bool:
        """Whether what is sent stays on this machine."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False


def endpoint(settings: Settings) -> Endpoint | None:
    """Return the language model of the settings, or None if there is none."""
    if not settings.llm_url or not settings.llm_model:
        return None
    return Endpoint(settings.llm_url, settings.llm_model, settings.llm_key or "")


def check(settings: Settings) -> None:
    """Raise `SettingInvalid` if a language model is set and the package for it is missing.

    The service at the address is not asked: it may start later, and a synthesis that cannot reach it says so.
    """
    try:
        if settings.llm_url:
            require("openai")
    except ModuleNotFoundError:
        raise SettingInvalid(
            "TRAITBENCH_LLM_URL is set, but the package openai is not installed. Unset TRAITBENCH_LLM_URL to synthesize"
            f" without a language model, or install it with: {install_line('llm')}"
        ) from None


Item = TypeVar("Item", bound=BaseModel)

MOST_CHARACTERS = 1_000_000
"""The part of an answer that is read."""
MOST_BROKEN = 1_000
"""The rest is not read after this many objects that never end: each costs a look at all that came before it."""

_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class ModelReply(Generic[Item]):
    """The valid items of an answer in their order, and the number of invalid ones."""

    items: Sequence[Item]
    invalid: int = 0


def read(content: str, kind: type[Item]) -> ModelReply[Item]:
    """Return the objects in the text of an answer that fit the schema."""
    items, invalid = list[Item](), 0
    for each in _objects(content[:MOST_CHARACTERS]):
        try:
            items.append(kind.model_validate(each))
        except ValidationError:
            invalid += 1
    return ModelReply(items, invalid)


def _objects(content: str) -> Iterator[dict[str, Any]]:
    """The complete objects; of `{"items": [{...}, {...}]}` those of the list, also if it breaks off."""
    at, broken = content.find("{"), 0
    while at >= 0 and broken < MOST_BROKEN:
        try:
            value, end = _DECODER.raw_decode(content, at)
        except (ValueError, RecursionError):
            at, broken = content.find("{", at + 1), broken + 1
            continue
        yield from _unwrapped(value)
        at = content.find("{", end)


def _unwrapped(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    lists = [each for each in value.values() if isinstance(each, list)]
    inner = [each for some in lists for each in some]
    if inner and all(isinstance(each, dict) for each in inner):
        yield from inner
    else:
        yield value


SECONDS_AN_ANSWER, SECONDS = 120.0, 900.0
"""The default limits: of one answer with its retries, and of everything that one `Asker` asks."""

_RETRIES = 2
_CONNECT_SECONDS = 10.0
_LOOK_SECONDS = 0.25
_CHARACTERS_A_TOKEN = 4


def estimate(text: str) -> int:
    """Return about how many tokens a text has; English has four characters to a token."""
    return math.ceil(len(text) / _CHARACTERS_A_TOKEN)


def ignore() -> None:
    """Do nothing while an answer is awaited."""


class Asker:
    """Asks one language model until its limits are reached; `tokens` counts what was sent and answered."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        most_tokens: int,
        seconds: float = SECONDS,
        seconds_an_answer: float = SECONDS_AN_ANSWER,
        meanwhile: Callable[[], None] = ignore,
    ) -> None:
        from openai import DefaultHttpxClient, OpenAI

        from traitbench.synthesis.bounded_answers import bounded

        self.endpoint = endpoint
        self.tokens = 0
        self._most_tokens = most_tokens
        self._until = monotonic() + seconds
        self._seconds_an_answer = seconds_an_answer
        self._meanwhile = meanwhile
        self._client = OpenAI(
            base_url=endpoint.url,
            # A service without keys ignores this one; without any, the library would look for one in the environment.
            api_key=endpoint.key or "none",
            max_retries=_RETRIES,
            http_client=DefaultHttpxClient(
                # A proxy of the environment cannot reach this machine.
                trust_env=not endpoint.on_loopback,
                # A redirect would send the texts to a host that nobody named.
                follow_redirects=False,
                headers={"Accept-Encoding": "identity"},
                event_hooks={"response": [bounded]},
            ),
        )
        # The library read these from the environment. They are for another service.
        self._client.organization = self._client.project = None
        self._thread = ThreadPoolExecutor(1, "language-model")
        self._forms: list[Callable[[int, type[BaseModel]], Mapping[str, Any]]] = [_strict, _limited, _bare]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection; a request that is under way ends with an error that nobody reads."""
        self._client.close()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def ask(self, instructions: str, question: str, kind: type[Item], *, answer_tokens: int) -> ModelReply[Item]:
        """Return the items of the answer; raise `LanguageModelFailed` if there is none that fits the schema."""
        if self.tokens >= self._most_tokens:
            raise LanguageModelFailed(f"used up its budget of {self._most_tokens:,} tokens")
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": question}]
        completion = self._completed(messages, kind, answer_tokens)
        content = _content(completion)
        self.tokens += _usage(completion) or estimate(instructions + question + content)
        answer = read(content, kind)
        if not answer.items:
            raise LanguageModelFailed("gave an answer without the JSON that it was asked for")
        return answer

    def _completed(self, messages: list[dict[str, str]], kind: type[BaseModel], answer_tokens: int) -> Any:
        """The completion, in the first form of request that the service accepts: not all know every parameter."""
        from openai import BadRequestError, UnprocessableEntityError

        while True:
            try:
                return self._waited({"messages": messages, **self._forms[0](answer_tokens, kind)})
            except (BadRequestError, UnprocessableEntityError) as error:
                if len(self._forms) == 1:
                    raise LanguageModelFailed(f"refused the request (status {error.status_code})") from None
                # For the next requests too: the service would refuse this form again.
                del self._forms[0]

    def _waited(self, request: Mapping[str, Any]) -> Any:
        started = monotonic()
        until = min(self._until, started + self._seconds_an_answer)
        if started >= until:
            raise LanguageModelFailed("took too long in total")
        asked = {"model": self.endpoint.model, "timeout": _timeout(until - started), **request}
        future: Future[Any] = self._thread.submit(lambda: self._client.chat.completions.create(**asked))
        while not wait([future], _LOOK_SECONDS).done:
            self._meanwhile()
            if monotonic() >= until:
                raise LanguageModelFailed(f"did not answer within {round(until - started)} seconds")
        return self._result(future)

    def _result(self, future: Future[Any]) -> Any:
        """The completion; raise `LanguageModelFailed`, unless the service refused the form of the request."""
        from openai import BadRequestError, UnprocessableEntityError

        try:
            return future.result()
        except (BadRequestError, UnprocessableEntityError):
            raise
        except Exception as error:
            raise LanguageModelFailed(_reason(error, self.endpoint)) from None


def _timeout(seconds: float) -> Any:
    from openai import Timeout

    return Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))


def _strict(tokens: int, kind: type[BaseModel]) -> Mapping[str, Any]:
    """A form with the schema of the answer, which many services enforce."""
    items = {"type": "array", "items": kind.model_json_schema()}
    schema = {"type": "object", "properties": {"items": items}, "required": ["items"]}
    form = {"type": "json_schema", "json_schema": {"name": "items", "schema": schema}}
    return {"response_format": form, "max_tokens": tokens}


def _limited(tokens: int, _kind: type[BaseModel]) -> Mapping[str, Any]:
    return {"max_completion_tokens": tokens}


def _bare(_tokens: int, _kind: type[BaseModel]) -> Mapping[str, Any]:
    return {}


def _content(completion: Any) -> str:
    """The text of a completion; "" if it has none, whatever the service sent."""
    try:
        content = completion.choices[0].message.content
    except (AttributeError, LookupError, TypeError):
        return ""
    return content if isinstance(content, str) else ""


def _usage(completion: Any) -> int:
    """The tokens that the service counted; 0 if it counted none."""
    counted = getattr(getattr(completion, "usage", None), "total_tokens", 0)
    return counted if isinstance(counted, int) and counted > 0 else 0


def _reason(error: Exception, endpoint: Endpoint) -> str:
    """Why a request failed, for a sentence that begins with the name of the model. The answer is never quoted."""
    import openai

    from traitbench.synthesis.bounded_answers import AnswerTooLarge

    if isinstance(error, AnswerTooLarge) or isinstance(error.__cause__, AnswerTooLarge):
        return "gave an answer of more than 4 MB"
    match error:
        case openai.APITimeoutError():
            return "did not answer in time"
        case openai.APIConnectionError():
            return f"cannot be reached at {endpoint.host}"
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            return "refused the key (TRAITBENCH_LLM_KEY)"
        case openai.NotFoundError():
            return "is not known at this address (TRAITBENCH_LLM_URL, TRAITBENCH_LLM_MODEL)"
        case openai.RateLimitError():
            return "takes no more requests for now (status 429)"
        case openai.APIStatusError():
            return f"answered with status {error.status_code}"
    return "gave an answer that cannot be read"
