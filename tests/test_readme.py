"""What the README says is so: its session runs, its commands and settings exist, and none is left out."""

import re
from pathlib import Path
from typing import Any

import click
import pytest

from tests.conftest import Service
from traitbench.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "core" / "traitbench" / "settings.py").read_text(encoding="utf-8")


def test_the_session_in_python_runs(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    (session,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, Any] = {"key": service.issue()}
    exec(session.replace("http://127.0.0.1:8501", service.base_url), names)
    names["client"].close()
    assert re.search(r"^warmth  [█░]{20}  [ 0-9]{3}  [●○]{3}", capsys.readouterr().out)


@pytest.mark.parametrize("row", re.findall(r"^\| (`traitbench.*?) \|", README, re.MULTILINE))
def test_every_command_of_the_table_exists(row: str) -> None:
    group = ""
    for name in re.findall(r"`([^`]+)`", row):
        words = name.removeprefix("traitbench").split()
        if len(words) == 2:
            group = words[0]
        assert _exists(words) or _exists([group, *words]), name


def test_the_table_of_settings_is_complete() -> None:
    documented = set(re.findall(r"`(TRAITBENCH_[A-Z_]+)`", README))
    assert documented == set(re.findall(r"TRAITBENCH_[A-Z_]+", SETTINGS))


def _exists(words: list[str]) -> bool:
    command: click.Command | None = main
    for word in words:
        if not isinstance(command, click.Group):
            return False
        command = command.commands.get(word)
    return command is not None
