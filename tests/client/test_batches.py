"""Any number of texts through the client: every line once and in order, whatever happens on the way."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import COLD, WARM, Service, Trained
from traitbench.client import Traitbench
from traitbench.client.wire import refuses_field
from traitbench.contract import operations
from traitbench.contract.batches import FailedLine, ScoredLine
from traitbench.errors import ModelNotFound, ModelNotTrained, Unavailable, Unreachable, ValidationFailed

LINES = {"Content-Type": "application/x-ndjson"}
Answer = httpx.Response | Exception
Answers = Callable[[list[str], str], Answer]


def card(index: int, version: str = "v1") -> dict[str, object]:
    return {
        **{"index": index, "scores": {}, "composite": 0, "confidence": "low", "headroom": None, "detail": {}},
        **{"input_tokens": 1, "metadata": {"request_id": "r", "version_id": version, "sample_ids": []}},
    }


class Broken(httpx.SyncByteStream):
    """An answer that breaks off."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        yield self._content
        raise httpx.ReadError("gone")


def lines(count: int, *, version: str = "v1") -> bytes:
    return b"".join(json.dumps(card(index, version)).encode() + b"\n" for index in range(count))


def whole(contents: list[str], _handle: str) -> httpx.Response:
    return httpx.Response(200, headers=LINES, content=lines(len(contents)))


def unavailable(*_: object) -> httpx.Response:
    body = {"code": "unavailable", "message": "Not now.", "request_id": "r", "details": {}}
    return httpx.Response(503, json={"error": body})


def broken_after(count: int, *, rest: bytes = b"") -> Answers:
    return lambda *_: httpx.Response(200, headers=LINES, stream=Broken(lines(count) + rest))


def cut_after(count: int) -> Answers:
    return lambda *_: httpx.Response(200, headers=LINES, content=lines(count))


class Weather(httpx.BaseTransport):
    """Answers by the script, then well."""

    def __init__(self, *script: Answers) -> None:
        self.asked: list[list[str]] = []
        self.handles: list[str] = []
        self._script = iter(script)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        contents = json.loads(request.read())["contents"]
        self.asked.append(contents)
        self.handles.append(request.url.path.split("/")[3])
        answer = next(self._script, whole)(contents, self.handles[-1])
        if isinstance(answer, Exception):
            raise answer
        return answer


def under(*script: Answers) -> tuple[Traitbench, Weather]:
    weather = Weather(*script)
    return Traitbench("http://service.test", "tb_key", transport=weather), weather


def texts(count: int) -> list[str]:
    return [f"text {number}" for number in range(count)]


# ---- against a real service ------------------------------------------------------------------------------------------


def test_many_texts_are_the_cards_they_would_be_alone(trained: Trained) -> None:
    results = list(trained.client.scores.batch(trained.handle, (text for text in texts(30)), size=7))
    assert [line.index for line in results] == [*range(30)]
    for text, line in zip(texts(3), results, strict=False):
        alone = trained.client.scores.score(trained.handle, text)
        assert isinstance(line, ScoredLine)
        assert line.model_dump(exclude={"index", "metadata"}) == alone.model_dump(exclude={"metadata"})
        assert line.metadata.version_id == alone.metadata.version_id


def test_no_texts_are_no_request() -> None:
    client, weather = under()
    with client:
        assert list(client.scores.batch("a.b", [])) == []
    assert weather.asked == []


def test_what_is_wrong_with_the_whole_is_raised(trained: Trained) -> None:
    batch = trained.client.scores.batch
    with pytest.raises(ModelNotFound):
        next(batch("trained.absent", ["x"]))
    with pytest.raises(ValidationFailed):
        next(batch(trained.handle, ["x"], traits=["absent"]))
    with pytest.raises(ValueError, match="size is 1001"):
        batch(trained.handle, ["x"], size=1_001)


@pytest.mark.parametrize(
    "wrong",
    [
        *("one text", b"bytes", bytearray(b"bytes"), {"a": 1}, {"a", "b"}, 7, None),
        pd.DataFrame({"a": ["x"], "b": ["y"]}),
        np.array([["a", "b"]]),
        np.array("a"),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_what_is_no_list_of_texts_is_refused_before_anything_is_sent(wrong: Any) -> None:
    client, weather = under()
    with client:
        with pytest.raises(TypeError, match=r"text|array"):
            client.scores.batch("a.b", wrong)
        if wrong is not None:
            with pytest.raises(TypeError, match=r"text|array"):
                client.versions.compare("a.b", "a.b@v1", texts=wrong)
            with pytest.raises(TypeError, match=r"text|array"):
                client.traits.discover("a.b", texts=wrong)
    assert weather.asked == []


@pytest.mark.parametrize("kind", [pd.Series, pd.DataFrame, np.array, pl.Series, pa.array, tuple, iter])
def test_texts_may_come_as_any_column(kind: Callable[[list[str]], Any]) -> None:
    client, weather = under()
    with client:
        assert len(list(client.scores.batch("a.b", kind(texts(3))))) == 3
    assert weather.asked == [texts(3)]


NO_TEXTS: Sequence[tuple[Any, str]] = [
    (None, "the text is missing"),
    (float("nan"), "the text is missing"),
    (np.float32("nan"), "the text is missing"),
    (pd.NA, "the text is missing"),
    (pd.NaT, "the text is missing"),
    (7, "not int"),
    (1.5, "not float"),
    (True, "not bool"),
    (b"bytes", "not bytes"),
    (["a", "b"], "not list"),
    ("half \ud800", "half of a surrogate pair"),
    ("\ud83d\ude00", "half of a surrogate pair"),  # two halves, which JSON would join to another text
]


def test_what_is_no_text_has_its_line_and_the_reason(trained: Trained) -> None:
    sent = [WARM[0], *(value for value, _ in NO_TEXTS), COLD[0]]
    results = list(trained.client.scores.batch(trained.handle, sent, size=5))
    assert [line.index for line in results] == [*range(len(sent))]
    for (_, reason), line in zip(NO_TEXTS, results[1:-1], strict=True):
        assert isinstance(line, FailedLine)
        assert line.error.code == "validation_failed"
        assert reason in line.error.message
    for text, line in ((WARM[0], results[0]), (COLD[0], results[-1])):
        assert isinstance(line, ScoredLine)
        assert line.scores == trained.client.scores.score(trained.handle, text).scores


@given(st.lists(st.sampled_from([None, 7, "\ud800", ""]) | st.integers(0, 99).map(str)), st.integers(1, 7))
def test_there_are_as_many_lines_as_texts_and_each_is_its_own(sent: list[Any], size: int) -> None:
    def own(contents: list[str], _handle: str) -> Answer:
        cards = [card(index) | {"input_tokens": int(text or 0)} for index, text in enumerate(contents)]
        return httpx.Response(200, headers=LINES, content=b"".join(json.dumps(each).encode() + b"\n" for each in cards))

    client, weather = under(*[own] * len(sent))
    with client:
        results = list(client.scores.batch("a.b", (text for text in sent), size=size))
    assert [line.index for line in results] == [*range(len(sent))]
    for text, line in zip(sent, results, strict=True):
        if isinstance(text, str) and text.isascii():
            assert isinstance(line, ScoredLine)
            assert line.input_tokens == int(text or 0)
        else:
            assert isinstance(line, FailedLine)
    assert all(1 <= len(asked) <= size for asked in weather.asked)


def test_whoever_breaks_off_leaves_nothing_running(service: Service, trained: Trained) -> None:
    result = trained.client.scores.batch(trained.handle, texts(2_000), size=100)
    assert next(result).index == 0
    result.close()  # type: ignore[attr-defined]
    assert trained.client.models.get(trained.handle).state == "ready"


# ---- in all weathers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [
        [unavailable],
        [lambda *_: httpx.ConnectError("nobody")],
        [lambda *_: httpx.ReadError("gone")],
        [broken_after(0)],
        [broken_after(3)],
        [broken_after(3, rest=b'{"index": 3, "sco')],
        [cut_after(4)],
        [whole, broken_after(2)],
        [whole, lambda *_: httpx.ConnectError("nobody"), unavailable],
        [broken_after(1), broken_after(1), broken_after(1), broken_after(1), broken_after(1)],
    ],
)
def test_no_line_is_lost_and_none_comes_twice(script: list[Answers]) -> None:
    client, weather = under(*script)
    with client:
        results = list(client.scores.batch("a.b", texts(12), size=5))
    assert [line.index for line in results] == [*range(12)]
    assert {text for asked in weather.asked for text in asked} == set(texts(12))


def test_what_has_a_line_is_not_asked_again() -> None:
    client, weather = under(broken_after(3), broken_after(1))
    with client:
        list(client.scores.batch("a.b", texts(6), size=6))
    assert weather.asked == [texts(6), texts(6)[3:], texts(6)[4:]]


def test_the_next_request_is_sent_while_this_one_is_read() -> None:
    client, weather = under()
    with client:
        result = client.scores.batch("a.b", texts(20), size=10)
        assert [next(result).index for _ in range(5)] == [0, 1, 2, 3, 4]
        assert len(weather.asked) == 1
        next(result)
        assert weather.asked == [texts(20)[:10], texts(20)[10:]]
        assert len(list(result)) == 14


def test_no_more_texts_are_taken_than_two_requests_hold() -> None:
    taken: list[int] = []

    def endless() -> Iterator[str]:
        for number in range(10**9):
            taken.append(number)
            yield f"text {number}"

    client, _ = under()
    with client:
        result = client.scores.batch("a.b", endless(), size=10)
        for number in range(100):
            next(result)
            assert len(taken) <= number + 22
        result.close()  # type: ignore[attr-defined]


def test_all_are_scored_by_the_version_that_scored_the_first() -> None:
    client, weather = under(lambda contents, _: httpx.Response(200, headers=LINES, content=lines(5, version="v7")))
    with client:
        list(client.scores.batch("a.b", texts(15), size=5))
    assert weather.handles == ["a.b", "a.b@v7", "a.b@v7"]
    client, weather = under()
    with client:
        list(client.scores.batch("a.b@best", texts(10), size=5))
    assert weather.handles == ["a.b@best"] * 2, "a handle that is pinned stays so"


def test_a_request_is_bounded_in_bytes_too() -> None:
    client, weather = under()
    long = "x" * 100_000
    with client:
        assert len(list(client.scores.batch("a.b", [long] * 7 + ["short"] * 3))) == 10
    assert [len(asked) for asked in weather.asked] == [2, 2, 2, 4]


def test_a_text_that_is_too_large_for_the_service_has_an_error_in_its_place() -> None:
    def too_large(contents: list[str], handle: str) -> Answer:
        if len(contents[0]) < 300_000:
            return whole(contents, handle)
        body = {"code": "body_too_large", "message": "Too large.", "request_id": "r", "details": {"max_bytes": 9}}
        return httpx.Response(413, json={"error": body})

    client, _ = under(*[too_large] * 4)
    with client:
        results = list(client.scores.batch("a.b", ["a", "x" * 300_000, "b"]))
    assert [type(line) for line in results] == [ScoredLine, FailedLine, ScoredLine]
    assert [line.index for line in results] == [0, 1, 2]


@pytest.mark.parametrize("script", [[unavailable] * 20, [lambda *_: httpx.ConnectError("nobody")] * 20])
def test_a_service_that_does_not_come_back_is_given_up(script: list[Answers]) -> None:
    client, weather = under(*script)
    with client, pytest.raises(Unavailable):
        list(client.scores.batch("a.b", texts(3)))
    assert len(weather.asked) == 3


def busy(*_: object) -> httpx.Response:
    body = {"code": "unavailable", "message": "Too much.", "request_id": "r", "details": {"busy": "batch"}}
    return httpx.Response(503, json={"error": body}, headers={"Retry-After": "0"})


def test_a_service_with_too_much_to_do_is_waited_for_however_often_it_says_so() -> None:
    client, weather = under(*[busy] * 30, cut_after(4), *[busy] * 30)
    with client:
        results = list(client.scores.batch("a.b", texts(25), size=10))
    assert [line.index for line in results] == [*range(25)]
    assert len(weather.asked) > 60


def test_a_refusal_is_not_repeated() -> None:
    body = {"code": "model_not_trained", "message": "Train it.", "request_id": "r", "details": {}}
    client, weather = under(lambda *_: httpx.Response(409, json={"error": body}))
    with client, pytest.raises(ModelNotTrained):
        list(client.scores.batch("a.b", texts(3)))
    assert len(weather.asked) == 1


@pytest.mark.parametrize("content", [b"<html>\n", b'{"index": 0}\n'])
def test_lines_that_are_none_are_not_taken_for_some(content: bytes) -> None:
    client, _ = under(*[lambda *_: httpx.Response(200, headers=LINES, content=content)] * 20)
    with client, pytest.raises(Unreachable, match="cannot read"):
        list(client.scores.batch("a.b", texts(3)))


# ---- addresses -------------------------------------------------------------------------------------------------------


class Older(httpx.BaseTransport):
    """A service of an earlier release, which does not know the field `fetch`."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.read())
        self.asked.append(body)
        if "fetch" not in body:
            return whole(body["contents"], "")
        wrong = {"loc": ["fetch"], "type": "extra_forbidden", "msg": "Extra inputs are not permitted"}
        error = {"code": "validation_failed", "message": "fetch: no", "request_id": "r", "details": {"errors": [wrong]}}
        return httpx.Response(422, json={"error": error})


def test_a_service_is_asked_not_to_fetch_unless_it_should() -> None:
    client, weather = under()
    bodies: list[dict[str, Any]] = []
    handle = weather.handle_request

    def seen(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.read()))
        return handle(request)

    weather.handle_request = seen  # type: ignore[method-assign]
    with client:
        list(client.scores.batch("a.b", ["https://a.example/"]))
        list(client.scores.batch("a.b", ["https://a.example/"], fetch=True))
    assert [body.get("fetch", True) for body in bodies] == [False, True]


def test_an_older_service_gets_the_texts_again_unless_one_is_an_address() -> None:
    older = Older()
    with Traitbench("http://service.test", "tb_key", transport=older) as client:
        assert len(list(client.scores.batch("a.b", texts(5), size=2))) == 5
        assert ["fetch" in body for body in older.asked] == [True, False, False, False], "it is asked once"
        asked = client.scores.batch("a.b", [*texts(5), " https://a.example/ "], size=2)
        with pytest.raises(ValidationFailed, match="Text 6 is a web address, and this service is of"):
            list(asked)
        assert not any("a.example" in text for body in older.asked if "fetch" not in body for text in body["contents"])
        assert len(list(client.scores.batch("a.b", ["https://a.example/"], fetch=True))) == 1


def test_the_service_says_which_field_it_does_not_know(trained: Trained) -> None:
    """What `refuses_field` reads is how a service refuses an unknown field."""
    with pytest.raises(ValidationFailed) as caught:
        trained.client.scores._connection.lines(
            operations.SCORES_BATCH, handle=trained.handle, content=b'{"contents": ["a"], "other": false}'
        )
    assert refuses_field(caught.value, "other")
    assert not refuses_field(caught.value, "fetch")
