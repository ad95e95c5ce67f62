"""The code that the Model page gives away does what it says, against the real service."""

import json
import shlex

import httpx
import pytest
from click.testing import CliRunner

from tests.conftest import Service, Trained
from traitbench.cli.main import main
from traitbench_app.model.code import KEY, judge_snippets, snippets

TEXT = 'It\'s "lovely" to see you, $HOME and `all`!'


@pytest.fixture
def key(service: Service) -> str:
    return service.issue("scoring", ("trained",))


def test_the_python_snippets_score(
    service: Service, trained: Trained, key: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(KEY, key)
    card = trained.client.scores.score(trained.handle, TEXT)
    ways = snippets(service.base_url, trained.handle, TEXT)
    for name in ("Python", "Python, nothing installed"):
        exec(ways[name].code, {})
        assert capsys.readouterr().out.startswith(f"{card.composite} {card.confidence}")


def test_the_curl_snippet_is_one_call_that_scores(service: Service, trained: Trained, key: str) -> None:
    code = snippets(service.base_url, f"{trained.handle}@v1", TEXT)["curl"].code.replace(f"${KEY}", key)
    program, url, *options = [word for word in shlex.split(code) if word != "\n"]
    given = list(zip(options[::2], options[1::2], strict=True))
    headers = dict(value.split(": ", 1) for option, value in given if option == "-H")
    body = next(value for option, value in given if option == "-d")
    assert program == "curl"
    assert json.loads(body) == {"content": TEXT}
    answer = httpx.post(url, headers=headers, content=body.encode())
    assert answer.json()["scores"] == trained.client.scores.score(trained.handle, TEXT).scores


def test_the_command_scores(service: Service, trained: Trained, key: str) -> None:
    code = snippets(service.base_url, trained.handle, TEXT)["Command line"].code
    setting, program, *arguments = shlex.split(code)
    name, _, value = setting.partition("=")
    assert program == "traitbench"
    done = CliRunner().invoke(main, arguments, env={name: value, KEY: key})
    assert done.exit_code == 0, done.output
    assert "warmth" in done.output


def test_the_questions_of_the_snippets_for_judges_have_answers(service: Service, trained: Trained, key: str) -> None:
    """The programs themselves are asked in `tests/doors/test_decision_clients.py`."""
    [trait] = trained.client.traits.list(trained.handle)
    ways = judge_snippets(service.base_url, f"{trained.handle}@v1", trait)
    compile(ways["System One SDK"].code, "snippet", "exec")
    for name in ("System One SDK", "Langfuse"):
        assert "Warmth: is it warm?" in ways[name].code
    body = {
        "model": f"{trained.handle}@v1",
        "state": TEXT,
        "questions": {
            "yes or no": {"type": "noul", "instructions": "Warmth: is it warm?"},
            "which": {"type": "choice", "instructions": "Warmth", "criteria": {"cold": None, "warm": None}},
        },
    }
    base_url = next(line.split()[-1] for line in ways["Langfuse"].code.splitlines() if line.startswith("Base URL"))
    answer = httpx.post(f"{base_url}/systemone", json=body, headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 200, answer.text
