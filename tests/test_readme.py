"""What the README and the page of commands say is so: the session runs, the pictures and commands exist."""

import os
import re
import subprocess
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import click
import pytest

from tests.app.processes import COMMAND
from tests.browser.pictures import FOLDER, PICTURES
from tests.conftest import Service, Trained
from tests.docs.markdown import section
from traitbench import install
from traitbench.cli.main import main
from traitbench.client import Client
from traitbench.install import install_line
from traitbench.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "core" / "docs" / "commands.md").read_text(encoding="utf-8")
QUALITY = (ROOT / "core" / "docs" / "quality.md").read_text(encoding="utf-8")


def test_the_session_in_python_runs(
    service: Service,
    here: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    [session] = blocks("python")
    monkeypatch.setenv("TRAITBENCH_API_KEY", service.issue())
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(session, names)
    names["client"].close()
    assert re.search(r"^warmth  [█░]{20}  [ 0-9]{3}  [●○]{3}", capsys.readouterr().out)
    assert len(names["scored"]) == 2
    assert (tmp_path / "warmth.json").is_file()


def test_the_session_in_a_shell_runs(service: Service, here: Settings, trained: Trained) -> None:
    with Client(service.base_url, service.issue(namespaces=("demo",))) as client:
        client.models.import_(trained.client.models.export(trained.handle), handle="demo.support-tone")
    session, _ = blocks("sh")
    given = {"TRAITBENCH_DATABASE_URL": here.database_url, "PATH": f"{COMMAND.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euc", session.replace("http://127.0.0.1:8501", service.base_url)],
        env={**os.environ, **given},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"warmth  [█░]{20}  [ 0-9]{3}", done.stdout)) == 2


def test_the_wheels_are_installed_as_the_errors_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """tests/supply/test_wheel.py runs these lines."""

    def nothing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(install, "distribution", nothing)
    assert install_line("notebook").endswith(blocks("sh")[1].splitlines()[-1])


def test_the_part_for_programs_fits_one_screen() -> None:
    assert len(section(README, "For programs").splitlines()) <= 54


def blocks(language: str) -> list[str]:
    """The fenced code of the part for programs."""
    return re.findall(rf"```{language}\n(.*?)```", section(README, "For programs"), re.DOTALL)


@pytest.mark.parametrize("row", re.findall(r"^\| (`traitbench.*?) \|", COMMANDS, re.MULTILINE))
def test_every_command_of_the_table_exists(row: str) -> None:
    group = ""
    for name in re.findall(r"`([^`]+)`", row):
        words = name.removeprefix("traitbench").split()
        if len(words) == 2:
            group = words[0]
        assert _exists(words) or _exists([group, *words]), name


def test_it_is_short_and_its_pictures_are_small_and_there_for_both_themes() -> None:
    assert len(README.splitlines()) <= 180
    shown = re.findall(r'(?:src|srcset)="(core/docs/pictures/(\w+)-(light|dark)\.png)"', README)
    assert {(name, theme) for _, name, theme in shown} == {(n, t) for n in PICTURES for t in ("light", "dark")}
    assert {path.name for path in FOLDER.iterdir()} == {Path(path).name for path, _, _ in shown}
    assert all((ROOT / path).stat().st_size < 60_000 for path, _, _ in shown)


def test_its_figures_of_quality_are_those_of_the_page() -> None:
    ours, baseline = re.findall(r"AUROC (0\.\d+)\).*?reaches (0\.\d+)\.", README.replace("\n", " "))[0]
    columns, *rows = (line.split(" | ") for line in QUALITY.splitlines() if line.startswith("|"))
    at_16 = {row[0]: row[columns.index("16")] for row in rows[1:7]}
    assert at_16["| **Traitbench**, default settings"] == ours
    assert at_16["| LogisticRegression on the same vectors"] == baseline


def _exists(words: list[str]) -> bool:
    command: click.Command | None = main
    for word in words:
        if not isinstance(command, click.Group):
            return False
        command = command.get_command(click.Context(command), word)
    return command is not None
