"""Ask a language model with limits: time per answer, time in total, and tokens.

The client of the library retries what may pass (429, 5xx, a lost connection). A request runs in a thread of its own,
so that the caller can look up while it waits, and so that an answer that drips in forever ends too.
"""

import math
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from time import monotonic
from typing import Any, Self

from pydantic import BaseModel

from traitbench.synthesis.answers import Item, ModelReply, read
from traitbench.synthesis.language_model import Endpoint, LanguageModelFailed

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
            # A proxy of the environment cannot reach this machine.
            http_client=DefaultHttpxClient(trust_env=not endpoint.on_loopback),
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
