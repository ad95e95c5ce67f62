"""LiteLLM and promptfoo against a real service. `make soak` runs them; `make test` sends what they sent.

`TRAITBENCH_TEST_RECORD=1` in front of the first writes the second anew.
"""

import base64
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import COLD, WARM, Service, make_draft, train
from tests.doors.environments import node_with, output_of, python_with
from tests.doors.recording import recording
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench

RECORDED = Path(__file__).parent / "recorded" / "guards.jsonl"
HANDLE = "guarded.tone"

LITELLM = """\
import asyncio
import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from litellm.exceptions import GuardrailRaisedException
from litellm.proxy.guardrails.guardrail_hooks.generic_guardrail_api import GenericGuardrailAPI

base_url, key, warm, cold = sys.argv[1:]


def guard(api_key=key, block="cold", **options):
    asked = {"model": "guarded.tone", "trait": "warmth", "block": block, "from": 60}
    return GenericGuardrailAPI(
        api_base=options.pop("api_base", base_url), api_key=api_key, additional_provider_specific_params=asked,
        guardrail_name="tone", event_hook="pre_call", default_on=True, **options
    )


async def ask(guardrail, side, texts, **inputs):
    asked = {"inputs": {"texts": texts, **inputs}, "request_data": {}, "input_type": side}
    try:
        print(json.dumps(await guardrail.apply_guardrail(**asked)))
    except GuardrailRaisedException as error:
        print(json.dumps({"blocked": error.message}))
    except Exception as error:
        print(json.dumps({"failed": str(error)}))


async def main():
    messages = [{"role": "user", "content": warm}, {"role": "assistant", "content": cold}]
    await ask(guard(), "request", [warm])
    await ask(guard(), "request", [warm, cold], structured_messages=messages, images=["data:image/png;base64,AAAA"])
    await ask(guard(), "response", [cold])
    await ask(guard(block="rude"), "request", [cold])
    await ask(guard(block="rude", fail_on_error=False), "request", [cold])
    await ask(guard(block="rude", unreachable_fallback="fail_open"), "request", [cold])
    await ask(guard(api_key="tbs_wrong"), "request", [cold])
    await ask(guard(api_base="http://127.0.0.1:9"), "request", [cold])
    await ask(guard(api_base="http://127.0.0.1:9", unreachable_fallback="fail_open"), "request", [cold])


asyncio.run(main())
"""

PROMPTFOO = """\
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const [baseUrl, key, warm, cold] = process.argv.slice(2);
const address = baseUrl.replace("//", "//key:{{env.TRAITBENCH_KEY}}@") + "/v1/models/guarded.tone@v1/webhook";
const webhook = (query) => ({ type: "webhook", value: `${address}?${query}` });
const config = {
  prompts: ["{{text}}"],
  providers: ["echo"],
  tests: [
    { vars: { text: warm }, assert: [webhook("trait=warmth&side=warm&from=60")] },
    { vars: { text: cold }, assert: [webhook("trait=warmth&side=warm&from=60")] },
    { vars: { text: "asdf qwer zxcv" }, assert: [webhook("trait=warmth&side=warm")] },
    { vars: { text: cold }, assert: [{ ...webhook("trait=warmth&side=warm"), type: "not-webhook" }] },
    { vars: { text: warm }, assert: [webhook("trait=kindness&side=warm")] },
  ],
};
fs.writeFileSync("promptfooconfig.json", JSON.stringify(config));
const names = ["TELEMETRY", "UPDATE", "REMOTE_GENERATION"].map((each) => [`PROMPTFOO_DISABLE_${each}`, "1"]);
const off = Object.fromEntries(names);
const paths = { PROMPTFOO_CONFIG_DIR: process.cwd() + "/state", HOME: process.cwd() };
const files = ["-c", "promptfooconfig.json", "-o", "out.json"];
const command = ["node_modules/promptfoo/dist/src/entrypoint.js", "eval", ...files, "--no-cache", "-j", "1"];
const options = { env: { ...process.env, ...off, ...paths, TRAITBENCH_KEY: key }, encoding: "utf8" };
const done = spawnSync(process.execPath, command, options);
if (!fs.existsSync("out.json")) throw new Error(done.stdout + done.stderr);
for (const each of JSON.parse(fs.readFileSync("out.json")).results.results) {
  const [found] = each.gradingResult.componentResults;
  console.log(JSON.stringify({ pass: found.pass, score: found.score, reason: found.reason }));
}
"""


@pytest.fixture(scope="module")
def secret(service: Service) -> str:
    """A key that scores with the model `guarded.tone`."""
    with Traitbench(service.base_url, service.issue("authoring", ("guarded",))) as client:
        make_draft(client, HANDLE)
        train(client, HANDLE)
    return service.issue("scoring", ("guarded",))


def _asked(service: Service, secret: str, command: Sequence[str], program: str, folder: Path) -> list[Any]:
    """What a client printed, line by line; what it sent must be what was recorded."""
    with recording(service.base_url, secret) as recorder:
        printed = output_of(command, program, recorder.base_url, secret, WARM[0], COLD[0], folder=folder)
    # Neither a wrong key nor the release of a client says anything about what is sent.
    sent = [each for each in recorder.sent if each["status"] != 401]
    for each in sent:
        each["body"].pop("litellm_version", None)
    client = folder.name
    if os.environ.get("TRAITBENCH_TEST_RECORD"):
        others = [each for each in _recorded() if each["client"] != client]
        lines = (json.dumps(each, ensure_ascii=False) for each in [*others, *({"client": client, **e} for e in sent)])
        RECORDED.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    assert [each for each in _recorded() if each["client"] == client] == [{"client": client, **each} for each in sent]
    return [json.loads(line) for line in printed.splitlines()]


def _recorded() -> Sequence[Mapping[str, Any]]:
    return [json.loads(line) for line in RECORDED.read_text("utf-8").splitlines()] if RECORDED.exists() else []


@pytest.mark.soak
def test_litellm_blocks_and_says_why_and_is_closed_unless_told_otherwise(
    service: Service, secret: str, tmp_path: Path
) -> None:
    python = python_with(tmp_path / "litellm", "litellm")
    passed, blocked, answer, refused, ignoring, opened, unknown, away, away_opened = _asked(
        service, secret, python, LITELLM, tmp_path / "litellm"
    )
    assert passed == {"texts": [WARM[0]]}
    assert "of 100 towards cold (from 60), high confidence, guarded.tone@v1" in blocked["blocked"]
    assert answer == blocked
    # A setting that cannot be met, or a wrong key, is an error of the guardrail, whatever `unreachable_fallback` says.
    assert ["422" in each["failed"] for each in (refused, opened)] == [True, True]
    assert "401" in unknown["failed"]
    assert ignoring == away_opened == {"texts": [COLD[0]]}
    assert "Cannot connect" in away["failed"]


@pytest.mark.soak
def test_promptfoo_evaluates_offline_with_the_key_in_the_address(service: Service, secret: str, tmp_path: Path) -> None:
    # With all that it can use it takes 1.7 GB, without 260 MB; it does not start without this one.
    node = node_with(tmp_path / "promptfoo", "promptfoo", "@libsql/linux-x64-gnu", least=22)
    warm, cold, unsure, not_warm, unknown = _asked(service, secret, node, PROMPTFOO, tmp_path / "promptfoo")
    assert (warm["pass"], cold["pass"], unsure["pass"], not_warm["pass"]) == (True, False, False, True)
    assert warm["score"] > 0.9 > 0.1 > cold["score"]
    assert not_warm["score"] == 1 - cold["score"]
    assert "low confidence (unlike_samples)" in unsure["reason"]
    assert unknown == {"pass": False, "score": 0, "reason": "Webhook error: Webhook response status: 404"}


@pytest.mark.parametrize("asked", _recorded(), ids=lambda asked: f"{asked['client']} {asked['status']}")
def test_what_guards_sent_is_answered(service: Service, secret: str, asked: Mapping[str, Any]) -> None:
    headers = {name: value.replace("KEY", secret) for name, value in asked["headers"].items()}
    if "authorization" in headers:
        scheme, _, sent = headers["authorization"].partition(" ")
        headers["authorization"] = f"{scheme} {base64.b64encode(sent.encode()).decode()}"
    with httpx.Client(base_url=service.base_url, timeout=PATIENCE_S, trust_env=False) as http:
        answer = http.post(asked["target"], content=json.dumps(asked["body"]), headers=headers)
    assert answer.status_code == asked["status"], answer.text
