"""Perspective's clients against a real service. `make soak` runs the libraries; `make test` sends what they sent.

`TRAITBENCH_TEST_RECORD=1` in front of the first writes the second anew. Coral and Discourse are applications of their
own; their requests are written as their sources make them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import Service
from tests.doors import forum
from tests.doors.environments import node_with, output_of, python_with
from tests.doors.recording import check_recorded, recorded, recording
from tests.patience import PATIENCE_S

RECORDED = Path(__file__).parent / "recorded" / "perspective.jsonl"

GOOGLE = """\
import json
import sys

from googleapiclient import discovery
from googleapiclient.errors import HttpError

base_url, key = sys.argv[1:]
address = base_url + "/$discovery/rest?version=v1alpha1"
client = discovery.build("commentanalyzer", "v1alpha1", developerKey=key, discoveryServiceUrl=address)
print(json.dumps([name for name in dir(client.comments()) if name in ("analyze", "suggestscore")]))


def ask(method, **body):
    try:
        print(json.dumps(getattr(client.comments(), method)(body=body).execute(), ensure_ascii=False))
    except HttpError as error:
        print(json.dumps([error.status_code, error.reason, error.error_details], ensure_ascii=False))


comment = {"text": "You clearly never read what you answer to."}
both = {"TOXICITY": {}, "INSULT": {"scoreThreshold": 0}}
ask("analyze", comment=comment, requestedAttributes=both, languages=["en"], spanAnnotations=True)
greeting = {"text": "\\U0001f600 You fool. Thank you!"}
ask("analyze", comment=greeting, requestedAttributes={"TOXICITY": {}}, clientToken="t")
ask("analyze", comment={"text": " "}, requestedAttributes=both)
ask("analyze", comment=comment, requestedAttributes={"FLIRTATION": {}})
ask("suggestscore", comment=comment, attributeScores={"TOXICITY": {"summaryScore": {"value": 1}}}, clientToken="7")
"""

NODE = """\
const axios = require("axios");
const [baseUrl, key] = process.argv.slice(2);
axios.interceptors.request.use((request) => {
  request.url = request.url.replace("https://commentanalyzer.googleapis.com", baseUrl);
  return request;
});
const Perspective = require("perspective-api-client");
const perspective = new Perspective({ apiKey: key });
const ask = (...given) =>
  perspective.analyze(...given).then(
    (answer) => console.log(JSON.stringify(answer)),
    (error) => console.log(JSON.stringify([error.response.status, error.name, error.message])),
  );
(async () => {
  await ask("You clearly <b>never</b> read what you answer to.");
  const thanks = { comment: { text: "Thank you, dear friend." }, requestedAttributes: { INSULT: {} } };
  await ask(thanks, { doNotStore: false });
  await ask("Thank you!", { attributes: ["toxicity", "flirtation"] });
})();
"""


@dataclass(frozen=True)
class Asked:
    """What a client printed, line by line, and what it sent."""

    lines: Sequence[Any]
    sent: Sequence[Mapping[str, Any]]


@pytest.fixture(scope="module")
def secret(service: Service) -> str:
    """A key that scores with the models of a forum."""
    return forum.taught(service, "clients")


def _asked(service: Service, secret: str, command: Sequence[str], program: str, folder: Path) -> Asked:
    with recording(service.base_url, secret) as recorder:
        printed = output_of(command, program, recorder.base_url, secret, folder=folder)
    return Asked([json.loads(line) for line in printed.splitlines()], recorder.sent)


@pytest.mark.soak
def test_google_s_library_needs_the_address_of_the_description_only(
    service: Service, secret: str, tmp_path: Path
) -> None:
    python = python_with(tmp_path / "google", "google-api-python-client")
    asked = _asked(service, secret, python, GOOGLE, tmp_path)
    methods, scored, tokened, empty, unknown, suggested = asked.lines
    assert methods == ["analyze", "suggestscore"]
    assert sorted(scored["attributeScores"]) == ["INSULT", "TOXICITY"]
    assert tokened["clientToken"] == "t"
    assert (empty[0], empty[2][0]["errorType"]) == (400, "COMMENT_EMPTY")
    assert (unknown[0], unknown[2][0]["errorType"]) == (400, "INVALID_REQUEST")
    assert "FLIRTATION" in unknown[1]
    assert suggested["clientToken"] == "7"
    check_recorded(RECORDED, "google-api-python-client", asked.sent)


@pytest.mark.soak
def test_the_npm_client_needs_an_interceptor(service: Service, secret: str, tmp_path: Path) -> None:
    node = node_with(tmp_path / "npm", "perspective-api-client")
    asked = _asked(service, secret, node, NODE, tmp_path / "npm")
    scored, thanked, refused = asked.lines
    assert scored["attributeScores"]["TOXICITY"]["summaryScore"]["type"] == "PROBABILITY"
    assert list(thanked["attributeScores"]) == ["INSULT"]
    assert refused[:2] == [400, "ResponseError"]
    assert "FLIRTATION" in refused[2]
    check_recorded(RECORDED, "perspective-api-client", asked.sent)


@pytest.fixture(scope="module")
def http(service: Service) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.base_url, timeout=PATIENCE_S, trust_env=False) as http:
        yield http


@pytest.mark.parametrize("asked", recorded(RECORDED), ids=lambda asked: f"{asked['client']} {asked['status']}")
def test_what_clients_sent_is_answered(http: httpx.Client, secret: str, asked: Mapping[str, Any]) -> None:
    content = None if asked["body"] is None else json.dumps(asked["body"])
    target = asked["target"].replace("KEY", secret)
    answer = http.request(asked["method"], target, content=content, headers=asked["headers"])
    assert answer.status_code == asked["status"], answer.text
    if "analyze" in target and answer.status_code == 200:
        scores = answer.json()["attributeScores"]
        assert list(scores) == list(asked["body"]["requestedAttributes"])
        assert all(0 <= each["summaryScore"]["value"] <= 1 for each in scores.values())
    if "suggestscore" in target:
        assert answer.json()["clientToken"] == asked["body"]["clientToken"]
