"""What the command line prints, recorded: `python -m tests.cli.recorded` writes `help.txt` and `transcript.txt` again.

`help.txt` has the `--help` of every command. `transcript.txt` has what the examples of the help print for people, one
after the other, at a real service. Numbers, ids and bars are masked there, because they depend on the processor.
"""

import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import click

from tests.cli.asking import asking, command, commands
from tests.conftest import COLD, WARM, Service, free_port, own_service
from tests.contexts import ENCODER, link_cache
from traitbench.cli.examples import EXAMPLES
from traitbench.cli.main import main
from traitbench.client import Client
from traitbench.settings import Settings

HELP, TRANSCRIPT = (Path(__file__).with_name(name) for name in ("help.txt", "transcript.txt"))

# These start a process, need the network or minutes, or end what the others use.
ONLY_READ = {"", "serve", "worker", "mcp", "extract", "encoder check", "encoder compare", "audit answer", "key revoke"}
# What they print is a document, or says what this machine has. The keys of JSON are tested in `test_json.py`.
NOT_SHOWN = {"doctor", "skill", "completion", "models card"}

_PROGRESS = re.compile(r"! (queued|[^:]+: \d+%.*)")
_MASKS = (
    (re.compile(r"\b(key|run|req)_\w{26}|\btb[as]_\w+…?|\b[0-9a-f]{12,64}\b"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?"), "TIME"),
    (re.compile(r"[█▏▎▍▌▋▊▉░]+"), "█"),
    (re.compile(r"[+-]?\d([\d,.]*\d)?"), "#"),
    (re.compile(r"(?<=\S) {2,}(?=\S)"), "  "),
)


def helps() -> str:
    """The `--help` of every command and group."""
    return "\n".join(f"$ {name}\n{command(*name.split()[1:], '--help', COLUMNS='80')[1]}" for name in _names(main))


def _names(group: click.Command, name: str = "traitbench") -> Iterator[str]:
    yield name
    for word, each in commands(group).items() if isinstance(group, click.Group) else ():
        yield from _names(each, f"{name} {word}")


def transcript(service: Service, namespace: str, home: Path) -> str:
    """What the examples print that can run here, with `$` before a command and `!` before a line of stderr."""
    ask, shown = asking(service, home, namespace), []
    make_files()
    with Client(service.base_url, service.issue(namespaces=(namespace,))) as client:
        for name, lines in EXAMPLES.items():
            if name == "train":  # a discovered trait has no test samples, so `gate` could not judge it
                for trait in client.traits.list(f"{namespace}.tone"):
                    if trait.kind == "intrinsic":
                        client.traits.delete(f"{namespace}.tone", trait.key)
            if name == "promote":
                assert ask("train", f"{namespace}.tone-next", "--effort", "low", "--wait")[0] == 0
            for line in lines if name not in ONLY_READ else ():
                words = words_of(line)
                ids = [sample.id for sample in client.samples.list(f"{namespace}.tone")] if "17" in words else []
                known = {"17": str(ids[0]), "18": str(ids[1])} if ids else {}
                if "23" in words:
                    known["23"] = str(client.samples.list(f"{namespace}.tone").change_id)
                code, out, err = ask(*(known.get(word, word.replace("local", namespace)) for word in words))
                assert code == 0, (line, err)
                if name not in NOT_SHOWN and "--json" not in words:
                    printed = [*(f"! {each}" for each in err.splitlines()), *out.splitlines()]
                    said = [each.replace(namespace, "local") for each in printed if not _PROGRESS.fullmatch(each)]
                    shown += [f"$ {line}", *map(masked, said), ""]
    return "\n".join(shown)


def masked(line: str) -> str:
    """A line without what differs from run to run or with the processor."""
    for pattern, mark in _MASKS:
        line = pattern.sub(mark, line)
    return line.rstrip()


def make_files() -> None:
    """The files of the examples, in the current folder."""
    rows = [f"{quality},warmth,{text!r}" for quality, texts in ((1, WARM), (0, COLD)) for text in texts]
    Path("letters.csv").write_text("\n".join(("quality,trait,text", *(row.replace("'", '"') for row in rows))))
    rated = (("What a joy!", "good", "good"), ("Be gone.", "poor", "poor"), ("It is fine.", "good", "fair"))
    Path("rated.csv").write_text("\n".join(("text,anna,ben", *map(",".join, rated))))
    openings = ("Thank you, dear friend", "How lovely", "Welcome home", "Denied", "Sign the form", "No reply is needed")
    things = ("letter", "parcel", "meeting", "garden", "bill", "tea", "form", "plan", "visit", "answer")
    values = [
        f'"{opening}: the {thing}.",{0.95 - 0.17 * place + 0.003 * number:.3f}'
        for number, thing in enumerate(things)
        for place, opening in enumerate(openings)
    ]
    Path("perspective.csv").write_text("\n".join(("text,COMPASSION", *values)))
    Path("letter.txt").write_text("Do not call again.")
    Path("readme.md").write_text("# For letters")
    Path("encoder").mkdir()


def words_of(line: str) -> list[str]:
    """The words after `traitbench`."""
    words = shlex.split(line.removeprefix('eval "$(').removesuffix(')"'))
    return words[len(words) - words[::-1].index("traitbench") :]


def record() -> None:
    """Write both files."""
    HELP.write_text(helps(), "utf-8")
    with tempfile.TemporaryDirectory() as name, chdir(name):
        home = Path(name) / "service"
        home.mkdir()
        link_cache(home)
        settings = Settings(
            home=home, database_url=f"sqlite:///{home / 'traitbench.db'}", port=free_port(), encoder=ENCODER
        )
        with own_service(settings) as service:
            TRANSCRIPT.write_text(transcript(service, "recorded", Path(name) / "home"), "utf-8")


if __name__ == "__main__":
    record()
