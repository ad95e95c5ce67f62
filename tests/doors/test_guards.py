"""The guardrail of LiteLLM and the webhook of promptfoo over a real socket: verdicts, reasons, and what is refused."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.conftest import COLD, WARM, Service, make_draft, train
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench
from traitbench.contract.scores import TraitScore
from traitbench.doors import probability

GUARD, HANDLE = "/beta/litellm_basic_guardrail_api", "guards.tone"
HOOK = f"/v1/models/{HANDLE}/webhook"
UNLIKE = "asdf qwer zxcv"


@dataclass(frozen=True)
class Door:
    """A service with the model of `make_draft`, and a client of the guards with a scoring key."""

    service: Service
    client: Traitbench
    http: httpx.Client
    key: str

    def score(self, text: str) -> TraitScore:
        return self.client.scores.score(HANDLE, text).detail["warmth"]

    def guard(
        self, *texts: Any, more: Mapping[str, Any] | None = None, least: int | None = None, **parameters: Any
    ) -> httpx.Response:
        asked = {"model": HANDLE, "trait": "warmth", "block": "cold", **_from(least), **parameters}
        body = {"input_type": "request", "texts": texts, "request_data": {}, **(more or {})}
        return self.http.post(GUARD, json={**body, "additional_provider_specific_params": asked})

    def hook(self, output: Any, path: str = HOOK, least: int | None = None, **query: Any) -> httpx.Response:
        asked = {"trait": "warmth", "side": "warm", **_from(least), **query}
        return self.http.post(path, params=asked, json={"output": output, "context": {"prompt": "p", "vars": {}}})


def _from(least: int | None) -> dict[str, int]:
    """The parameter, whose name is a word of Python."""
    return {} if least is None else {"from": least}


@pytest.fixture(scope="module")
def door(service: Service) -> Iterator[Door]:
    author, scorer = (service.issue(scope, ("guards",)) for scope in ("authoring", "scoring"))
    with (
        Traitbench(service.base_url, author) as client,
        httpx.Client(
            base_url=service.base_url, headers={"x-api-key": scorer}, timeout=PATIENCE_S, trust_env=False
        ) as http,
    ):
        make_draft(client, HANDLE)
        train(client, HANDLE)
        yield Door(service, client, http, scorer)


# ---- LiteLLM ---------------------------------------------------------------------------------------------------------


def test_a_text_on_the_pole_is_blocked_with_trait_and_score_and_without_its_words(door: Door) -> None:
    score = door.score(COLD[0])
    assert score.confidence != "low"
    answer = door.guard(COLD[0])
    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "action": "BLOCKED",
        "blocked_reason": f"Warmth: {100 - score.score} of 100 towards cold (from 50), {score.confidence} confidence,"
        f" {HANDLE}@v1",
        "x_not_scored": [],
    }


@pytest.mark.parametrize("side", ["request", "response"])
def test_one_of_several_texts_is_enough_on_either_side_of_a_conversation(door: Door, side: str) -> None:
    more = {"input_type": side}
    assert door.guard(*WARM, more=more).json()["action"] == "NONE"
    assert door.guard(*WARM[:2], "", " \n", COLD[0], more=more).json()["action"] == "BLOCKED"
    assert door.guard(*WARM, block="WARM", more=more).json()["action"] == "BLOCKED"


def test_the_points_decide_and_count_towards_the_pole(door: Door) -> None:
    points = 100 - door.score(COLD[0]).score
    assert door.guard(COLD[0], least=points).json()["action"] == "BLOCKED"
    assert door.guard(COLD[0], least=points + 1).json()["action"] == "NONE"


def test_low_confidence_never_blocks(door: Door) -> None:
    score = door.score(UNLIKE)
    assert score.confidence == "low"
    for pole in ("cold", "warm"):
        assert door.guard(UNLIKE, block=pole, least=0).json()["action"] == "NONE"


def test_what_is_not_scored_is_said(door: Door) -> None:
    more = {"images": ["data:image/png;base64,AAAA"], "tools": [{"type": "function"}], "tool_calls": None, "new": 1}
    assert door.guard(WARM[0], more=more).json()["x_not_scored"] == ["images", "tools"]
    nothing = door.guard(more={"texts": None, "images": ["https://unreachable.example/a.png"]})
    assert nothing.json() == {"action": "NONE", "blocked_reason": None, "x_not_scored": ["images"]}


@pytest.mark.parametrize(
    "text",
    [
        "😀👍🏽",
        "https://unreachable.example/a",
        "ありがとう",
        "هذا",
        "नमस्ते",
        "\u202eabc\u202c",
        "x" * 5_000,
    ],
)
def test_any_text_gets_a_verdict(door: Door, text: str) -> None:
    assert door.guard(text).status_code == 200
    assert door.hook(text).status_code == 200


def test_a_text_that_is_not_whole_is_read_as_far_as_it_is(door: Door) -> None:
    parameters = {"model": HANDLE, "trait": "warmth", "block": "cold"}
    body = {"texts": [f"\x00{COLD[0]}\ud800"], "additional_provider_specific_params": parameters}
    answer = door.http.post(GUARD, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.json()["action"] == "BLOCKED"
    content = json.dumps({"output": f"\ud800{WARM[0]}\x00"})
    headers = {"Content-Type": "application/json"}
    answer = door.http.post(HOOK, params={"trait": "warmth", "side": "warm"}, content=content, headers=headers)
    assert answer.json()["pass"] is True


@pytest.mark.parametrize(
    ("changed", "location", "said"),
    [
        ({"trait": "kindness"}, ["additional_provider_specific_params", "trait"], "warmth"),
        ({"block": "rude"}, ["additional_provider_specific_params", "block"], '"warm" and "cold"'),
        ({"from": 101}, ["additional_provider_specific_params", "from"], "100"),
        ({"form": 60}, ["additional_provider_specific_params", "form"], "not permitted"),
    ],
)
def test_a_setting_that_cannot_be_met_is_refused(door: Door, changed: dict[str, Any], location: Any, said: str) -> None:
    answer = door.guard(COLD[0], **changed)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert [each["loc"] for each in error["details"]["errors"]] == [location]
    assert said in answer.text.replace('\\"', '"')
    assert COLD[0] not in answer.text


def test_what_litellm_cannot_say_is_refused(door: Door) -> None:
    body = {"texts": [COLD[0]], "input_type": "request", "request_data": {}}
    missing = door.http.post(GUARD, json=body)
    assert missing.status_code == 422
    assert "additional_provider_specific_params" in missing.text
    assert door.guard(*["hi"] * 1_001).status_code == 422
    assert door.guard(COLD[0], model="guards.none").status_code == 404
    assert door.guard(COLD[0], model="No Handle").status_code == 422
    assert door.guard(COLD[0], model="elsewhere.tone").status_code == 404
    assert door.guard("word " * 20_001).status_code == 413


def test_a_pinned_version_answers(door: Door) -> None:
    assert door.guard(COLD[0], model=f"{HANDLE}@v1").json()["action"] == "BLOCKED"
    assert door.guard(COLD[0], model=f"{HANDLE}@v9").status_code == 404
    assert door.hook(WARM[0], f"/v1/models/{HANDLE}@v1/webhook").json()["pass"] is True


# ---- promptfoo -------------------------------------------------------------------------------------------------------


def test_an_output_on_the_side_passes_with_its_probability(door: Door) -> None:
    score = door.score(WARM[0])
    answer = door.hook(WARM[0])
    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "pass": True,
        "score": probability.of_positive(score),
        "reason": f"Warmth: {score.score} of 100 towards warm (from 50), {score.confidence} confidence, {HANDLE}@v1",
    }
    other = door.hook(WARM[0], side="cold").json()
    assert (other["pass"], other["score"]) == (False, 1 - answer.json()["score"])
    assert door.hook(WARM[0], least=score.score + 1).json()["pass"] is False


def test_low_confidence_passes_on_neither_side_and_says_why(door: Door) -> None:
    for side in ("warm", "cold"):
        found = door.hook(UNLIKE, side=side, least=0).json()
        assert found["pass"] is False
        assert 0.4 <= found["score"] <= 0.6
        assert "low confidence (" in found["reason"]
    empty = door.hook(" ").json()
    assert empty == {"pass": False, "score": 0.5, "reason": "Warmth: the output has no text to score."}


def test_an_object_is_read_as_its_texts(door: Door) -> None:
    assert door.hook({"answer": WARM[0], "n": 1}).json()["score"] == door.hook(WARM[0]).json()["score"]
    assert door.hook([WARM[0], [WARM[1]]]).json()["pass"] is True


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"trait": "kindness"}, 404, "trait_not_found"),
        ({"side": "rude"}, 400, "invalid_parameter"),
        ({"from": "101"}, 400, "invalid_parameter"),
        ({"form": "60"}, 400, "invalid_parameter"),
    ],
)
def test_a_query_that_cannot_be_met_is_refused(door: Door, query: dict[str, Any], status: int, code: str) -> None:
    answer = door.hook(WARM[0], **query)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    for output in (1, None, True):
        assert door.hook(output).status_code == 422


# ---- keys ------------------------------------------------------------------------------------------------------------


def test_the_key_may_be_a_header_or_a_password_and_nothing_else(door: Door) -> None:
    basic = {"Authorization": f"Basic {base64.b64encode(f'any:{door.key}'.encode()).decode()}"}
    bearer, header = {"Authorization": f"Bearer {door.key}"}, {"x-api-key": door.key}
    with httpx.Client(base_url=door.service.base_url, timeout=PATIENCE_S, trust_env=False) as http:

        def status(path: str, headers: Mapping[str, str], **query: str) -> int:
            parameters = {"model": HANDLE, "trait": "warmth", "block": "cold"}
            body = {"output": WARM[0], "additional_provider_specific_params": parameters}
            side = {"trait": "warmth", "side": "warm"} if path == HOOK else {}
            return http.post(path, params={**side, **query}, headers=headers, json=body).status_code

        for path, accepted in ((GUARD, (bearer, header)), (HOOK, (bearer, header, basic))):
            assert {status(path, each) for each in accepted} == {200}
            assert status(path, {}, key=door.key) == 401
        assert status(GUARD, basic) == 401
        for headers in (header, basic):
            assert http.get(f"/v1/models/{HANDLE}", headers=headers).status_code == 401
