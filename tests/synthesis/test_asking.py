"""What is asked of a language model, and every way in which one fails, over real HTTP."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel

from tests.llm_endpoint import KEY, MODEL, LlmEndpoint, Reply, Script, completion, llm_endpoint
from traitbench.synthesis.bounded_answers import MOST_BYTES
from traitbench.synthesis.language_model import Asker, Endpoint, LanguageModelFailed
from traitbench.synthesis.naming import AxisEnds, AxisName, name_axes

GOOD = '{"items": [{"word": "warm"}]}'


class Item(BaseModel):
    word: str


@pytest.fixture
def service() -> Iterator[LlmEndpoint]:
    with llm_endpoint(lambda _: GOOD) as service:
        yield service


@contextmanager
def asker(service: LlmEndpoint, **limits: Any) -> Iterator[Asker]:
    with Asker(Endpoint(service.url, MODEL, KEY), **{"most_tokens": 1_000, **limits}) as asker:
        yield asker


def asked(service: LlmEndpoint, script: Script, **limits: Any) -> str:
    """Why an answer of this script is of no use."""
    service.script = script
    with asker(service, **limits) as it, pytest.raises(LanguageModelFailed) as failed:
        it.ask("Be brief.", "A private text?", Item, answer_tokens=20)
    assert "private" not in str(failed.value)
    assert KEY not in str(failed.value)
    return str(failed.value)


def test_items_and_tokens_are_returned(service: LlmEndpoint) -> None:
    with asker(service) as it:
        assert [each.word for each in it.ask("Be brief.", "A word?", Item, answer_tokens=20).items] == ["warm"]
    assert it.tokens == 50
    (body,), (key,) = service.asked, service.keys
    assert (body["model"], body["max_tokens"], key) == (MODEL, 20, KEY)
    assert [each["content"] for each in body["messages"]] == ["Be brief.", "A word?"]


@pytest.mark.parametrize(
    ("said", "reason", "requests"),
    [
        (401, "refused the key", 1),
        (404, "is not known at this address", 1),
        (429, "no more requests for now", 3),
        (500, "answered with status 500", 3),
        (400, "refused the request", 3),
        ("I would rather not.", "without the JSON", 1),
        ('{"items": [{"weird": 1}]}', "without the JSON", 1),
        (Reply(body="{broken"), "gave an answer", 1),
        (Reply(body="[]"), "without the JSON", 1),
        (Reply(body='{"choices": []}'), "without the JSON", 1),
        (Reply(body="<html>", headers={"Content-Type": "text/html"}), "without the JSON", 1),
    ],
)
def test_every_failure_is_a_sentence(service: LlmEndpoint, said: Any, reason: str, requests: int) -> None:
    assert reason in asked(service, lambda _: said)
    assert len(service.asked) == requests


def _always(answer: Reply, _body: dict[str, Any]) -> Reply:
    return answer


def test_texts_follow_no_redirect_to_another_host(service: LlmEndpoint) -> None:
    with llm_endpoint(lambda _: GOOD) as elsewhere:
        for status in (301, 302, 307, 308):
            away = Reply(status, headers={"Location": f"{elsewhere.url}/chat/completions"})
            assert f"answered with status {status}" in asked(service, partial(_always, away))
        assert not elsewhere.asked


@pytest.mark.parametrize(
    "headers", [{}, {"Content-Encoding": "gzip"}], ids=["too many bytes", "packed, although nobody asked for that"]
)
def test_an_answer_is_read_up_to_a_bound(service: LlmEndpoint, headers: dict[str, str]) -> None:
    body = completion(GOOD) + " " * (0 if headers else MOST_BYTES)
    assert "more than 4 MB" in asked(service, lambda _: Reply(body=body, headers=headers))


def test_what_passes_is_tried_again(service: LlmEndpoint) -> None:
    answers = iter([429, 503, GOOD])
    service.script = lambda _: next(answers)
    with asker(service) as it:
        assert it.ask("", "", Item, answer_tokens=20).items


def test_a_service_that_does_not_know_a_parameter_is_asked_without_it(service: LlmEndpoint) -> None:
    service.script = lambda body: 400 if {"response_format", "max_tokens"} & body.keys() else GOOD
    with asker(service) as it:
        for _ in range(2):
            assert it.ask("", "", Item, answer_tokens=20).items
    assert ["response_format" in body for body in service.asked] == [True, False, False]


@pytest.mark.parametrize("said", [Reply(wait=60), Reply(drip=0.05)])
def test_a_service_that_hangs_or_drips_does_not_hold_the_caller(service: LlmEndpoint, said: Reply) -> None:
    looks: list[int] = []
    reason = asked(service, lambda _: said, seconds_an_answer=1, meanwhile=lambda: looks.append(1))
    assert "did not answer" in reason
    assert looks


def test_a_service_that_hangs_up_is_named(service: LlmEndpoint) -> None:
    service.script = lambda _: Reply(cut=True)
    with asker(service) as it, pytest.raises(LanguageModelFailed, match=r"cannot be reached at 127\.0\.0\.1"):
        it.ask("", "", Item, answer_tokens=1)


def test_the_budget_ends_the_questions(service: LlmEndpoint) -> None:
    with asker(service, most_tokens=60) as it:
        it.ask("", "", Item, answer_tokens=20)
        it.ask("", "", Item, answer_tokens=20)
        with pytest.raises(LanguageModelFailed, match="budget of 60 tokens"):
            it.ask("", "", Item, answer_tokens=20)
    assert len(service.asked) == 2


def test_a_service_that_counts_nothing_is_counted(service: LlmEndpoint) -> None:
    body = json.loads(completion(GOOD))
    service.script = lambda _: Reply(body=json.dumps({**body, "usage": None}))
    with asker(service) as it:
        it.ask("x" * 400, "", Item, answer_tokens=20)
    assert 100 <= it.tokens <= 120


def test_who_asks_may_stop_while_waiting(service: LlmEndpoint) -> None:
    class Cancelled(Exception): ...

    def stop() -> None:
        raise Cancelled

    service.script = lambda _: Reply(wait=60)
    with asker(service, meanwhile=stop) as it, pytest.raises(Cancelled):
        it.ask("", "", Item, answer_tokens=20)


def test_neither_texts_nor_key_are_logged(service: LlmEndpoint, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), asker(service) as it:
        it.ask("", "A private text?", Item, answer_tokens=20)
    assert "private" not in caplog.text
    assert KEY not in caplog.text


# ---- names of axes ---------------------------------------------------------------------------------------------------

WARMTH = AxisEnds(["Come in, dear!"], ["No reply is needed."], ["come in"], ["no reply"])


def named(*axes: dict[str, Any]) -> str:
    return json.dumps({"items": axes})


def test_axes_are_named_and_a_bad_name_leaves_its_axis_without(service: LlmEndpoint) -> None:
    good = {"name": "Warmth", "positive_label": "warm", "negative_label": "cold"}
    service.script = lambda _: named(
        {"axis": 2, **good}, {"axis": 9, **good}, {"axis": 1, **good, "negative_label": "Warm"}, {"axis": 3}
    )
    names = name_axes(Endpoint(service.url, MODEL), [WARMTH] * 5)
    assert names == [None, AxisName(**good), None, None, None]
    assert "Come in, dear!" in service.question(0)
    assert len(service.asked) == 2


def test_axes_without_a_name_stay_without_when_the_service_fails(service: LlmEndpoint) -> None:
    service.script = lambda _: 500
    assert name_axes(Endpoint(service.url, MODEL), [WARMTH]) == [None]
