"""The examples of `--help`: each command has one, all are well formed, and all that can run here do, in their order."""

from pathlib import Path

import click
import pytest

from tests.cli.asking import commands, leaves
from tests.cli.recorded import HELP, ONLY_READ, TRANSCRIPT, helps, make_files, transcript, words_of
from tests.conftest import Service
from tests.size import SOAK
from traitbench.cli.examples import EXAMPLES
from traitbench.cli.main import main


def test_each_command_has_examples_with_its_name() -> None:
    assert dict(leaves(main)).keys() | {""} == EXAMPLES.keys()
    for name, lines in EXAMPLES.items():
        assert all(f"traitbench {name}".strip() in line for line in lines if name), name


def test_the_help_of_every_command_is_as_recorded() -> None:
    assert helps() == HELP.read_text("utf-8"), "If this is meant: python -m tests.cli.recorded"


def test_the_examples_print_what_was_recorded(
    service: Service, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = transcript(service, namespace, tmp_path / "home")
    # At full size, another encoder has another opinion of some texts.
    assert SOAK or printed == TRANSCRIPT.read_text("utf-8"), "If this is meant: python -m tests.cli.recorded"


@pytest.mark.parametrize("name", sorted(ONLY_READ))
def test_the_other_examples_are_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_files()
    for file in ("scored.csv", "labels.csv"):
        Path(file).touch()
    for line in EXAMPLES[name]:
        command, words = main, words_of(line)
        while words and isinstance(command, click.Group) and words[0] in (known := commands(command)):
            command = known[words.pop(0)]  # type: ignore[assignment]
        if "--help" not in words:
            command.make_context(name, words)
