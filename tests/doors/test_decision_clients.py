"""Clients of the decision wire against a real service. `make soak` runs them; `make test` sends what they sent.

`TRAITBENCH_TEST_RECORD=1` in front of the first writes the second anew.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import Service, make_draft, train
from tests.doors.environments import output_of, python_with
from tests.doors.recording import check_recorded, recorded, recording
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench

RECORDED = Path(__file__).parent / "recorded" / "decisions.jsonl"
CANNOT = {
    "http.models": "GET /v1/models is the listing of the specification.",
    "request.model-alias": "A model has a handle; jev-latest is none.",
    "choice.options": "A trait has two poles, so that a choice has two options.",
}
"""The requirements of jevcompat that a taught model cannot meet."""

SDK = """\
import asyncio
import json
import sys

import typesafe_sdk
from typesafe_sdk import AsyncTypeSafeClient, Choice, Noul, Score, TypeSafeClient

base_url, key = sys.argv[1:]
text = "How kind of you to write, we are so glad to help."
questions = {
    "warm": Noul(instructions="Is the reply warm?"),
    "cold": Noul(instructions={"question": "Is the reply cold?"}, criteria={"true": "cold", "false": "warm"}),
    "tone 🙂": Choice(instructions="How does it sound?", criteria={"cold": None, "warm": ["a warm reply"]}),
    "scale": Score(instructions="How warm is it?", criteria=["cold", "rather cold", "rather warm", "warm"]),
}


def shown(response):
    choice, score = response.choices["tone 🙂"], response.scores["scale"]
    nouls = {name: answer.noul for name, answer in response.nouls.items()}
    print(json.dumps([response.model, nouls, choice.choice, score.score, score.legend, response.usage.input_tokens]))


def refused(name, error):
    print(json.dumps([name, type(error).__name__, error.status, str(error)]))


with TypeSafeClient(api_key=key, base_url=base_url) as client:
    shown(client.system_one(model="judges.tone", state=text, questions=questions))
    shown(client.system_one(model="judges.tone@v1", state={"input": "Hello?", "output": text}, questions=questions))
    for name, model, asked in (
        ("question", "judges.tone", {"refund-77": Noul(instructions="Do they want money back?")}),
        ("model", "jev-latest", questions),
        ("absent", "judges.none", questions),
    ):
        try:
            client.system_one(model=model, state=text, questions=asked)
        except typesafe_sdk.TypeSafeAPIError as error:
            refused(name, error)
with TypeSafeClient(api_key="wrong", base_url=base_url) as client:
    try:
        client.system_one(model="judges.tone", state=text, questions=questions)
    except typesafe_sdk.TypeSafeAPIError as error:
        refused("key", error)


async def several():
    async with AsyncTypeSafeClient(api_key=key, base_url=base_url) as client:
        state = [text, "Bye."]
        shown(await client.system_one(model="judges.tone", state=state, questions=questions))


asyncio.run(several())
"""

PYDANTIC_AI = '''\
import json
import sys
from typing import Literal

from pydantic import BaseModel, Field
from pydantic_ai import Agent
from pydantic_ai.models.system_one import SystemOneModel
from pydantic_ai.providers.system_one import SystemOneProvider

base_url, key = sys.argv[1:]


class Tone(BaseModel):
    """What to say of a reply."""

    kind: bool = Field(description="Is the reply warm?")
    sound: Literal["cold", "warm"] = Field(description="How does it sound?")


provider = SystemOneProvider(base_url=base_url, api_key=key)
agent = Agent(SystemOneModel("judges.tone", provider=provider), output_type=Tone)
for text in ("How kind of you to write, we are so glad to help.", "Your request is denied. Do not write again."):
    result = agent.run_sync(text)
    print(json.dumps([result.output.kind, result.output.sound, result.usage.input_tokens]))
'''

LITELLM = """\
import json
import sys

import litellm

base_url, key = sys.argv[1:]
answer = litellm.systemone(
    model="typesafe/judges.tone",
    api_base=base_url,
    api_key=key,
    state={"output": "How kind of you to write, we are so glad to help."},
    questions={
        "warm": {"type": "noul", "instructions": "Is the reply warm?"},
        "tone": {"type": "choice", "instructions": "How does it sound?", "criteria": {"cold": None, "warm": None}},
    },
)
print(json.dumps(answer if isinstance(answer, dict) else answer.model_dump()))
"""

# The suite asks about a ticket. Here each of its questions names the poles of the trait instead, in the same form.
JEVCOMPAT = '''\
import json
import sys

from jevcompat import checks, runner

base_url, key, model, low, high = sys.argv[1:]


def about(content, pole):
    """The content with a pole in place of its words, in the same form."""
    if isinstance(content, dict):
        return {name: about(each, pole) for name, each in content.items()}
    return [about(each, pole) for each in content] if isinstance(content, list) else f"Is it {pole}?"


def asked(question):
    """The question of the suite, about the poles of the trait. Of three options two stay; of more, all do."""
    question, criteria = dict(question), question.get("criteria")
    if question.get("type") == "noul":
        if criteria:
            poles = {"true": high, "false": low}
            question["criteria"] = {side: about(each, poles[side]) for side, each in criteria.items()}
        if "instructions" in question:
            question["instructions"] = about(question["instructions"], high)
    elif question.get("type") == "choice" and isinstance(criteria, dict) and 2 <= len(criteria) <= 3:
        poles = zip(list(criteria.items())[:2], (low, high))
        question["criteria"] = {
            f"{name}, {pole}" if each is None else name: each and about(each, pole) for (name, each), pole in poles
        }
    elif question.get("type") == "score" and isinstance(criteria, list) and len(criteria) > 1 and all(criteria):
        question["criteria"] = [named(criteria[0], low), *criteria[1:-1], named(criteria[-1], high)]
    return question


def named(level, pole):
    return f"{level}, {pole}" if isinstance(level, str) else about(level, pole)


payload = checks.Ctx.payload
checks.Ctx.payload = lambda self, questions, *given, **more: payload(
    self, {name: asked(each) if isinstance(each, dict) else each for name, each in questions.items()}, *given, **more
)
checks.NOUL.update(asked(checks.NOUL))
checks.CHOICE.update(asked(checks.CHOICE))
checks.SCORE.update(asked(checks.SCORE))
del checks.UNICODE_OPTIONS[list(checks.UNICODE_OPTIONS)[-1]]

report = runner.run(base_url, key=key, model=model)
for each in report.results:
    why = each.findings[0].message if each.findings else each.reason
    print(json.dumps([each.id, each.level, each.status, why], ensure_ascii=False))
if report.aborted:
    sys.exit(report.aborted)
'''


@pytest.fixture(scope="module")
def secret(service: Service) -> str:
    """A key that scores with a taught model."""
    with Traitbench(service.base_url, service.issue(namespaces=("judges",))) as client:
        make_draft(client, "judges.tone")
        train(client, "judges.tone")
    return service.issue("scoring", ("judges",))


def _asked(
    service: Service, secret: str, python: Sequence[str], program: str, folder: Path
) -> tuple[Sequence[Any], Sequence[Mapping[str, Any]]]:
    """What a client printed, line by line, and what it sent."""
    with recording(service.base_url, secret) as recorder:
        printed = output_of(python, program, recorder.base_url, secret, folder=folder)
    return [json.loads(line) for line in printed.splitlines()], recorder.sent


@pytest.mark.soak
def test_the_official_sdk_reads_every_answer_and_every_error(service: Service, secret: str, tmp_path: Path) -> None:
    python = python_with(tmp_path / "sdk", "typesafe-sdk")
    printed, sent = _asked(service, secret, python, SDK, tmp_path)
    plain, pinned, question, model, absent, key, listed = printed
    for name, nouls, choice, score, legend, tokens in (plain, pinned, listed):
        assert name.startswith("judges.tone@v")
        assert nouls["warm"] + nouls["cold"] == 1
        assert (choice == "warm") == (nouls["warm"] > 0.5) == (score > 1.5)
        assert legend == {"0": "cold", "1": "rather cold", "2": "rather warm", "3": "warm"}
        assert tokens > 0
    assert question[1:3] == ["TypeSafeUnprocessableEntityError", 422]
    assert "warmth (cold or warm)" in question[3]
    assert "refund-77" not in question[3]
    assert model[1:3] == ["TypeSafeUnprocessableEntityError", 422]
    assert absent[1:3] == ["TypeSafeNotFoundError", 404]
    assert key[1:3] == ["TypeSafeAuthenticationError", 401]
    check_recorded(RECORDED, "typesafe-sdk", sent)


@pytest.mark.soak
def test_an_agent_of_pydantic_ai_decides(service: Service, secret: str, tmp_path: Path) -> None:
    python = python_with(tmp_path / "pydantic-ai", "pydantic-ai-slim")
    (warm, cold), sent = _asked(service, secret, python, PYDANTIC_AI, tmp_path)
    assert (warm[:2], cold[:2]) == ([True, "warm"], [False, "cold"])
    check_recorded(RECORDED, "pydantic-ai", sent)


@pytest.mark.soak
def test_litellm_asks_with_a_base_url(service: Service, secret: str, tmp_path: Path) -> None:
    python = python_with(tmp_path / "litellm", "litellm")
    [answer], sent = _asked(service, secret, python, LITELLM, tmp_path)
    assert answer["answers"]["tone"]["choice"] == "warm"
    assert answer["answers"]["warm"]["noul"] > 0.5
    check_recorded(RECORDED, "litellm", sent)


@pytest.mark.soak
def test_jevcompat_finds_what_a_taught_model_cannot_do_and_nothing_else(
    service: Service, secret: str, tmp_path: Path
) -> None:
    python = python_with(tmp_path / "jevcompat", "jevcompat", "typesafe-sdk")
    printed = output_of(python, JEVCOMPAT, service.base_url, secret, "judges.tone", "cold", "warm", folder=tmp_path)
    results = [json.loads(line) for line in printed.splitlines()]
    assert {name for name, _, status, _ in results if status == "fail"} == set(CANNOT), printed
    skipped = {name for name, _, status, _ in results if status == "skip"}
    assert skipped <= {"auth.ignored-when-off", "errors.shape"}
    assert len(results) > 40


@pytest.mark.parametrize("asked", recorded(RECORDED), ids=lambda asked: f"{asked['client']} {asked['status']}")
def test_what_clients_sent_is_answered(service: Service, secret: str, asked: Mapping[str, Any]) -> None:
    key = "wrong" if asked["status"] == 401 else secret
    headers = {**asked["headers"], "Authorization": f"Bearer {key}"}
    content = json.dumps(asked["body"])
    with httpx.Client(base_url=service.base_url, timeout=PATIENCE_S, trust_env=False) as http:
        answer = http.request(asked["method"], asked["target"], content=content, headers=headers)
    assert answer.status_code == asked["status"], answer.text
    if answer.status_code == 200:
        assert {name: each["type"] for name, each in answer.json()["answers"].items()} == {
            name: each["type"] for name, each in asked["body"]["questions"].items()
        }
    else:
        assert answer.json()["detail"]
