"""The instructions for agents are so: each command line runs and prints the JSON that they name."""

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from tests.cli.asking import Ask
from tests.conftest import Trained
from traitbench.cli.main import main

LINE = re.compile(r'^(?:echo "(?P<stdin>.*)" \| )?traitbench (?P<rest>.*)$')


def test_every_command_line_runs(ask: Ask, trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.csv").write_text("text\nThank you.\nGo away.\n")
    answers = dict[str, str]()
    for line in commands(ask("skill")[1]):
        match = LINE.match(line.replace("demo.tone", trained.handle))
        assert match is not None, line
        code, out, err = ask(*shlex.split(match["rest"]), stdin=match["stdin"] or "")
        assert code == 0, (line, err)
        answers[line] = Path("scores.jsonl").read_text() if "-o" in line else out
        assert values(answers[line]) or line == "traitbench models list --json", line
    card = json.loads(next(out for line, out in answers.items() if "--explain" in line))
    assert card["detail"]["warmth"].keys() >= {"confidence", "confidence_reason"}
    assert card["explanation"]["warmth"]["parts"]
    compared = json.loads(answers['traitbench compare demo.tone "Sign here." "Would you kindly sign here?" --json'])
    assert compared.keys() >= {"improvement", "certain"}
    model = json.loads(answers["traitbench models show demo.tone --json"])
    assert (model["state"], model["last_operation"].keys() >= {"progress", "error"}) == ("ready", True)


def test_the_proposal_is_imported_as_written(ask: Ask, trained: Trained, namespace: str, tmp_path: Path) -> None:
    handle = f"{namespace}.draft"
    assert ask("models", "create", handle)[0] == ask("traits", "add", handle, "Warmth")[0] == 0
    file = tmp_path / "proposal.jsonl"
    file.write_text('{"trait": "warmth", "quality": 1, "text": "Thanks!"}\n')
    assert "traitbench samples import HANDLE proposal.jsonl" in ask("skill")[1]
    assert ask("samples", "import", handle, str(file))[0] == 0


def test_the_place_of_the_file_is_printed(ask: Ask) -> None:
    place, text = Path(ask("skill", "--path")[1].strip()), ask("skill")[1]
    assert place.read_text("utf-8") == text
    named = set(re.findall(r"`traitbench (\w[\w-]*)", text)) | {
        line.split()[1] for line in commands(text) if "echo" not in line
    }
    assert named <= {*main.list_commands(click.Context(main))}
    assert re.match(r"---\nname: traitbench\ndescription: ", text)


def commands(text: str) -> list[str]:
    return [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]


def values(text: str) -> list[object]:
    """The JSON value that a command printed, or those on its lines."""
    return [json.loads(each) for each in ([text] if text.startswith("{\n") else text.splitlines())]
