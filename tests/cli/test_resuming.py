"""A batch that ends before its end is gone on with: nothing is lost, nothing comes twice, and one version scores it."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tests.cli.asking import Ask
from tests.conftest import COLD, WARM, Service, Trained
from tests.pages.drive import add_version
from tests.size import sized
from traitbench.batch.outcomes import outcomes
from traitbench.batch.parts import Parts
from traitbench.client import Traitbench
from traitbench.contract.batches import BatchSettings
from traitbench.tables.source import opened

ROWS, BAD = 400, 200
KILLS = sized(
    (("fsync", 1), ("replace", 2), ("fsync", 40), ("unlink", 7)),
    (("fsync", 1), ("fsync", 2), ("replace", 2), ("fsync", 3), ("replace", 6), ("fsync", 40), ("unlink", 7)),
)
"""The step of a process that writes parts, and the how-manieth of them, before which it is killed."""

DYING = """
import os, signal, sys
import traitbench.batch.parts as parts

kind, left = sys.argv[1], int(sys.argv[2])
real = getattr(os, kind)

def step(*arguments, **named):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **named)

setattr(os, kind, step)
parts._MOST_ROWS = 7
sys.argv[1:] = sys.argv[3:]
from traitbench.cli.main import main
main()
"""


@pytest.fixture
def few(tmp_path: Path) -> Path:
    return written(tmp_path / "few.csv", ["Thank you,\n\n=dear=.", "No.", "", "Come in!", "  ", "Go away."])


def written(file: Path, texts: list[str]) -> Path:
    with file.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("id", "text"), *enumerate(texts)])
    return file


def lines_of(out: Path) -> list[int]:
    """The lines of the input that an output tells of, in its order."""
    if out.suffix == ".parquet":
        return [int(line) for line in parquet.read_table(out).column("row").to_pylist()]
    return [int(row["row"]) for row in csv.DictReader(io.StringIO(out.read_text("utf-8"), newline=""))]


@pytest.mark.parametrize("form", sized(["csv"], ["csv", "jsonl", "parquet"]))
def test_a_command_that_is_killed_several_times_loses_no_row_and_writes_none_twice(
    ask: Ask, service: Service, trained: Trained, tmp_path: Path, form: str
) -> None:
    texts = [f"{(*WARM, *COLD)[number % 16]} As {form}, number {number}." for number in range(ROWS)]
    table = written(tmp_path / "letters.csv", [*texts[:BAD], "", *texts[BAD:]])
    out, whole = tmp_path / f"out.{form}", tmp_path / f"whole.{form}"
    environment = {**os.environ, "TRAITBENCH_HOME": str(tmp_path), "TRAITBENCH_API_URL": service.base_url}
    environment["TRAITBENCH_API_KEY"] = service.issue(namespaces=("trained",))
    command = ["score", trained.handle, "--batch", str(table), "-o"]
    before = 0
    for step, number in KILLS:
        dying = [sys.executable, "-c", DYING, step, str(number), *command, str(out), "--resume"]
        done = subprocess.run(dying, env=environment, stderr=subprocess.DEVNULL)
        assert done.returncode == -signal.SIGKILL
        if out.exists():
            continue  # the last kill is in the removal of what is not needed any more
        assert rows_in(out) >= before, "what was on disk stays"
        before = rows_in(out)
    assert 0 < before < ROWS
    code, _, output = ask(*command, str(out), "--resume")
    assert (code, f"1 of {ROWS + 1} rows could not be scored" in output) == (1, True)
    assert lines_of(out) == list(range(1, ROWS + 2))
    assert ask(*command, str(whole))[0] == 1
    if form == "jsonl":
        assert records(out) == records(whole)
    else:
        assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.glob("out.*")) == [out.name]


def rows_in(out: Path) -> int:
    """How many rows of an unfinished batch are on disk."""
    folder = part_of(out)
    return Parts(folder, {}).rows if folder.exists() else 0


def records(out: Path) -> list[dict[str, Any]]:
    """The lines of a JSONL file."""
    return [json.loads(line) for line in out.read_text("utf-8").strip().split("\n")]


# ---- what a kill leaves ----------------------------------------------------------------------------------------------


def part_of(out: Path) -> Path:
    """The folder of an unfinished batch."""
    return out.with_name(f"{out.name}.part")


def left(client: Traitbench, handle: str, file: Path, out: Path, rows: int, **other: object) -> Parts:
    """What a kill would have left after so many rows of a batch that began with other settings."""
    source = opened(file.name, io.BytesIO(file.read_bytes()))
    request = {
        "handle": handle,
        "version": "v1",
        "parameters": client.versions.get(handle, "v1").param_hash,
        "keys": ["warmth"],
        "traits": None,
        "mode": "full",
        "input": source.survey.digest,
        "column": "text",
    }
    parts = Parts.create(part_of(out), request | other)
    parts.append(list(islice(outcomes(client, BatchSettings(f"{handle}@v1"), source.lines(), "text"), rows)))
    return parts


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.csv"


Resume = Callable[..., tuple[int, str]]


@pytest.fixture
def resume(ask: Ask, trained: Trained, few: Path, tmp_path: Path) -> Resume:
    """The command again, with `--resume`: its exit code and what it says."""

    def run(*arguments: str) -> tuple[int, str]:
        out = str(tmp_path / "out.csv")
        return ask("score", trained.handle, "--batch", str(few), "-o", out, "--resume", *arguments)[::2]

    return run


@pytest.mark.parametrize("rows", [1, 3, 6])
@pytest.mark.parametrize("behind", ["", "rows-000000003-000000006-1.new", "rows-000000009-000000012-0", "output.new"])
def test_half_a_part_is_done_again(
    ask: Ask, resume: Resume, trained: Trained, few: Path, out: Path, rows: int, behind: str
) -> None:
    ask("score", trained.handle, "--batch", str(few), "-o", str(out))
    whole = out.read_bytes()
    out.unlink()
    parts = left(trained.client, trained.handle, few, out, rows)
    if behind:
        (parts.folder / behind).write_bytes(b"half")
    code, said = resume()
    assert (code, "2 of 6 rows could not be scored" in said) == (1, True)
    assert (out.read_bytes(), parts.folder.exists()) == (whole, False)


def test_killed_between_its_name_and_the_end_it_is_complete(
    ask: Ask, resume: Resume, trained: Trained, few: Path, out: Path
) -> None:
    ask("score", trained.handle, "--batch", str(few), "-o", str(out))
    whole = out.read_bytes()
    parts = left(trained.client, trained.handle, few, out, 6)
    assert "2 of 6 rows could not be scored" in resume()[1]
    assert (out.read_bytes(), parts.folder.exists()) == (whole, False)


def test_a_batch_is_resumed_into_another_format(ask: Ask, trained: Trained, few: Path, out: Path) -> None:
    left(trained.client, trained.handle, few, out, 3)
    ask("score", trained.handle, "--batch", str(few), "-o", str(out), "--resume", "--format", "jsonl")
    assert [record["row"] for record in records(out)] == [1, 2, 3, 4, 5, 6]


def test_another_version_that_became_active_meanwhile_scores_none_of_it(
    ask: Ask, service: Service, client: Traitbench, own: str, few: Path, tmp_path: Path
) -> None:
    out = tmp_path / "moving.csv"
    batch = ("--batch", str(few), "-o", str(out))
    ask("score", f"{own}@v1", *batch)
    whole = out.read_bytes()
    out.unlink()
    left(client, own, few, out, 1)
    assert add_version(service.context, own, client) == 2
    code, _, said = ask("score", f"{own}@v2", *batch, "--resume")
    assert (code, f"was scored by another model or version ({own})" in said) == (1, True)
    ask("score", own, *batch, "--resume")
    assert out.read_bytes() == whole


# ---- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("started", "arguments", "sentence"),
    [
        ({}, ["--traits", "warmth"], "has other traits"),
        ({}, ["--mode", "static"], "was scored in another mode (full)"),
        ({}, ["--column", "id"], "takes its texts from another column (text)"),
        ({"input": "of another file"}, [], "has another input"),
        ({"parameters": "sha256:another"}, [], "was scored by a version that has changed since"),
        ({"version": "v9"}, [], "was scored by that version. Remove it"),
    ],
)
def test_what_was_started_otherwise_is_refused_and_stays(
    resume: Resume, trained: Trained, few: Path, out: Path, started: dict[str, Any], arguments: list[str], sentence: str
) -> None:
    left(trained.client, trained.handle, few, out, 3, **started)
    code, said = resume(*arguments)
    assert (code, sentence in said) == (1, True), said
    assert not arguments or "remove out.csv.part." in said
    assert rows_in(out) == 3, "what is there stays"


def test_another_input_is_noticed(resume: Resume, trained: Trained, few: Path, out: Path) -> None:
    left(trained.client, trained.handle, few, out, 3)
    written(few, ["Another", "file"])
    assert "has another input" in resume()[1]


def test_without_resume_nothing_is_thrown_away(ask: Ask, trained: Trained, few: Path, out: Path) -> None:
    left(trained.client, trained.handle, few, out, 3)
    code, _, said = ask("score", trained.handle, "--batch", str(few), "-o", str(out))
    assert (code, "holds 3 rows of an interrupted batch. Continue it with --resume" in said) == (1, True)


def test_two_commands_do_not_write_one_batch(resume: Resume, trained: Trained, few: Path, out: Path) -> None:
    with left(trained.client, trained.handle, few, out, 3).locked():
        assert "Another command is writing" in resume()[1]
    assert resume()[0] == 1


def test_what_is_complete_is_not_gone_on_with(resume: Resume) -> None:
    assert resume()[0] == 1, "where nothing is left behind, it begins"
    code, said = resume()
    assert (code, "is complete, so there is nothing to resume" in said) == (1, True)


@pytest.mark.parametrize("folder", [False, True])
def test_a_file_that_is_not_ours_stays(resume: Resume, out: Path, folder: bool) -> None:
    diary = part_of(out)
    if folder:
        diary.mkdir()
        diary /= "diary"
    diary.write_text("a diary")
    code, said = resume()
    assert (code, "is not an unfinished batch" in said, diary.read_text()) == (1, True, "a diary")


def test_what_an_earlier_release_began_is_refused(resume: Resume, out: Path) -> None:
    part_of(out).write_text("id,text\n")
    part_of(out).with_name("out.csv.part.log").write_text("{}\n")
    assert "was begun by an earlier release. Finish it with that release, or start again" in resume()[1]


def test_what_is_refused_at_once_leaves_nothing_behind(ask: Ask, trained: Trained, few: Path, tmp_path: Path) -> None:
    assert ask("score", "trained.nobody", "--batch", str(few), "-o", str(tmp_path / "out.csv"))[0] == 1
    assert list(tmp_path.glob("out*")) == []
    code, _, said = ask("score", trained.handle, "--batch", str(few), "-o", str(tmp_path / "none" / "out.csv"))
    assert (code, "cannot be written" in said) == (1, True)
    code, _, said = ask("score", trained.handle, "--batch", str(few), "--resume")
    assert (code, "name it with -o" in said) == (2, True)
