"""The examples of `--help`: each command has one, all are well formed, and all that can run here do, in their order."""

import shlex
from pathlib import Path

import click
import pytest

from tests.cli.asking import Ask, asking, leaves
from tests.conftest import COLD, WARM, Service
from traitbench.cli.examples import EXAMPLES
from traitbench.cli.main import main
from traitbench.client import Client

# These start a process, need the network or minutes, or end what the others use.
ONLY_READ = {"", "serve", "worker", "mcp", "extract", "encoder check", "encoder compare", "audit answer", "key revoke"}


def test_each_command_has_examples_that_its_help_shows(ask: Ask) -> None:
    commands = dict(leaves(main))
    assert commands.keys() | {""} == EXAMPLES.keys()
    for name, lines in EXAMPLES.items():
        code, out, _ = ask(*name.split(), "--help")
        assert code == 0
        assert all(f"  {line}\n" in out for line in lines), name
        assert all(f"traitbench {name}".strip() in line for line in lines if name), name


def test_the_examples_run_one_after_the_other(
    service: Service, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ask = asking(service, tmp_path / "home", namespace)
    make_files()
    with Client(service.base_url, service.issue(namespaces=(namespace,))) as client:
        for name, lines in EXAMPLES.items():
            if name == "train":  # a discovered trait has no test samples, so `gate` could not judge it
                for trait in client.traits.list(f"{namespace}.tone"):
                    if trait.kind == "intrinsic":
                        client.traits.delete(f"{namespace}.tone", trait.key)
            if name == "promote":
                assert ask("train", f"{namespace}.tone-next", "--effort", "low", "--wait")[0] == 0
            for words in map(words_of, lines if name not in ONLY_READ else ()):
                ids = [sample.id for sample in client.samples.list(f"{namespace}.tone")] if "17" in words else []
                known = {"17": str(ids[0]), "18": str(ids[1])} if ids else {}
                given = [known.get(word, word.replace("local", namespace)) for word in words]
                code, _, err = ask(*given)
                assert code == 0, (given, err)


@pytest.mark.parametrize("name", sorted(ONLY_READ))
def test_the_other_examples_are_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_files()
    for file in ("scored.csv", "labels.csv"):
        Path(file).touch()
    for line in EXAMPLES[name]:
        command, words = main, words_of(line)
        while words and isinstance(command, click.Group) and words[0] in command.commands:
            command = command.commands[words.pop(0)]  # type: ignore[assignment]
        if "--help" not in words:
            command.make_context(name, words)


def make_files() -> None:
    rows = [f"{quality},warmth,{text!r}" for quality, texts in ((1, WARM), (0, COLD)) for text in texts]
    Path("letters.csv").write_text("\n".join(("quality,trait,text", *(row.replace("'", '"') for row in rows))))
    rated = (("What a joy!", "good", "good"), ("Be gone.", "poor", "poor"), ("It is fine.", "good", "fair"))
    Path("rated.csv").write_text("\n".join(("text,anna,ben", *map(",".join, rated))))
    Path("letter.txt").write_text("Do not call again.")
    Path("readme.md").write_text("# For letters")
    Path("encoder").mkdir()


def words_of(line: str) -> list[str]:
    """The words after `traitbench`."""
    words = shlex.split(line.removeprefix('eval "$(').removesuffix(')"'))
    return words[len(words) - words[::-1].index("traitbench") :]
