"""A batch that ends before its end is gone on with: nothing is lost, nothing comes twice, and one version scores it."""

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from tests.app.processes import COMMAND, eventually
from tests.cli.asking import Ask
from tests.conftest import COLD, WARM, Service, Trained
from tests.pages.drive import add_version
from tests.size import sized
from traitbench.cli import resuming
from traitbench.cli.resuming import log_of, part_of
from traitbench.client import Traitbench
from traitbench.tables.source import opened

ROWS, BAD = 400, 200


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
        return [int(line) for line in parquet.read_table(out).column("line").to_pylist()]
    return [int(row["line"]) for row in csv.DictReader(io.StringIO(out.read_text("utf-8"), newline=""))]


@pytest.mark.parametrize("form", sized(["csv"], ["csv", "parquet"]))
def test_a_killed_command_is_gone_on_with_by_the_same_command(
    ask: Ask, service: Service, trained: Trained, tmp_path: Path, form: str
) -> None:
    texts = [f"{(*WARM, *COLD)[number % 16]} As {form}, number {number}." for number in range(ROWS)]
    table = written(tmp_path / "letters.csv", [*texts[:BAD], "", *texts[BAD:]])
    out, whole = tmp_path / f"out.{form}", tmp_path / f"whole.{form}"
    environment = {**os.environ, "TRAITBENCH_HOME": str(tmp_path), "TRAITBENCH_API_URL": service.base_url}
    environment["TRAITBENCH_API_KEY"] = service.issue(namespaces=("trained",))
    command = ["score", trained.handle, "--batch", str(table), "-o"]
    with subprocess.Popen([COMMAND, *command, str(out)], env=environment, stderr=subprocess.DEVNULL) as process:
        assert eventually(lambda: part_of(out).exists() and part_of(out).stat().st_size > 0)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not out.exists()
    code, _, output = ask(*command, str(out), "--resume")
    assert (code, f"1 of {ROWS + 1} rows could not be scored" in output) == (1, True)
    assert lines_of(out) == list(range(2, ROWS + 3))
    assert ask(*command, str(whole))[0] == 1
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.glob("out.*")) == [out.name]


# ---- what a kill leaves ----------------------------------------------------------------------------------------------


def left(out: Path, rows: int, behind: bytes = b"", **other: object) -> None:
    """Make of a complete output what a kill would have left: so many records vouched for, and what came behind."""
    records = list(csv.reader(io.StringIO(out.read_text("utf-8"), newline="")))
    kept = io.StringIO(newline="")
    csv.writer(kept, lineterminator="\n").writerows(records[: 1 + rows])
    size = len(kept.getvalue().encode())
    part_of(out).write_bytes(kept.getvalue().encode() + behind)
    document = json.loads(log_of(out).read_text("utf-8")) | other
    log_of(out).write_text(f"{json.dumps(document)}\n{json.dumps([rows, size, 1])}\n", "utf-8")
    out.unlink()


@pytest.fixture
def interrupted(ask: Ask, trained: Trained, few: Path, tmp_path: Path) -> Path:
    """A complete output, with the log that it had when it was interrupted."""
    out = tmp_path / "out.csv"
    ask("score", trained.handle, "--batch", str(few), "-o", str(out))
    log_of(out).write_text(f"{json.dumps(header(trained.client, trained.handle, few))}\n", "utf-8")
    return out


def header(client: Traitbench, handle: str, file: Path) -> dict[str, object]:
    return {
        "handle": handle,
        "version": "v1",
        "parameters": client.versions.get(handle, "v1").param_hash,
        "keys": ["warmth"],
        "traits": None,
        "mode": "full",
        "input": opened(file.name, io.BytesIO(file.read_bytes())).survey.digest,
        "column": "text",
        "form": "csv",
        "layout": "line, traits, composite, confidence, confidence_reason, version, error",
    }


Resume = Callable[..., tuple[int, str]]


@pytest.fixture
def resume(ask: Ask, trained: Trained, few: Path, tmp_path: Path) -> Resume:
    """The command again, with `--resume`: its exit code and what it says."""

    def run(*arguments: str) -> tuple[int, str]:
        out = str(tmp_path / "out.csv")
        return ask("score", trained.handle, "--batch", str(few), "-o", out, "--resume", *arguments)[::2]

    return run


@pytest.mark.parametrize("behind", [b"", b'4,"  ",7,', b"9,Come in!,6,50,50,low,overlap,v1,\n", b'3,"Come'])
def test_what_was_written_behind_the_log_is_done_again(resume: Resume, interrupted: Path, behind: bytes) -> None:
    whole = interrupted.read_bytes()
    left(interrupted, 3, behind)
    code, said = resume()
    assert (code, "2 of 6 rows could not be scored" in said) == (1, True)
    assert interrupted.read_bytes() == whole


def test_killed_between_its_last_row_and_its_name_it_is_complete(resume: Resume, interrupted: Path) -> None:
    whole = interrupted.read_bytes()
    beginning = log_of(interrupted).read_text("utf-8")
    log_of(interrupted).write_text(f"{beginning}{json.dumps([6, len(whole), 2])}\n", "utf-8")
    code, said = resume()
    assert (code, "2 of 6 rows could not be scored" in said) == (1, True)
    assert (interrupted.read_bytes(), log_of(interrupted).exists()) == (whole, False)


def test_another_version_that_became_active_meanwhile_scores_none_of_it(
    ask: Ask, service: Service, client: Traitbench, own: str, few: Path, tmp_path: Path
) -> None:
    out = tmp_path / "moving.csv"
    batch = ("--batch", str(few), "-o", str(out))
    ask("score", f"{own}@v1", *batch)
    whole = out.read_bytes()
    log_of(out).write_text(f"{json.dumps(header(client, own, few))}\n", "utf-8")
    left(out, 1)
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
        ({}, ["--format", "jsonl"], "is in another format (csv)"),
        ({"input": "of another file"}, [], "has another input"),
        ({"layout": None}, [], "has the columns of another release"),
        ({"parameters": "sha256:another"}, [], "was scored by a version that has changed since"),
        ({"version": "v9"}, [], "was scored by that version. Remove the file"),
    ],
)
def test_what_was_started_otherwise_is_refused_and_stays(
    resume: Resume, interrupted: Path, started: dict[str, Any], arguments: list[str], sentence: str
) -> None:
    left(interrupted, 3, **started)
    code, said = resume(*arguments)
    assert (code, sentence in said) == (1, True), said
    assert not arguments or "remove out.csv.part and out.csv.part.log" in said
    assert lines_of(part_of(interrupted)) == [2, 5, 6], "what is there stays"


def test_another_input_is_noticed(resume: Resume, few: Path, interrupted: Path) -> None:
    left(interrupted, 3)
    written(few, ["Another", "file"])
    assert "has another input" in resume()[1]


def test_without_resume_nothing_is_thrown_away(ask: Ask, trained: Trained, few: Path, interrupted: Path) -> None:
    left(interrupted, 3)
    code, _, said = ask("score", trained.handle, "--batch", str(few), "-o", str(interrupted))
    assert (code, "holds 3 rows of an interrupted batch. Continue it with --resume" in said) == (1, True)


def test_what_is_complete_is_not_gone_on_with(resume: Resume) -> None:
    assert resume()[0] == 1, "where nothing is left behind, it begins"
    code, said = resume()
    assert (code, "is complete, so there is nothing to resume" in said) == (1, True)


def test_a_file_that_is_not_ours_stays(resume: Resume, tmp_path: Path) -> None:
    diary = part_of(tmp_path / "out.csv")
    diary.write_text("a diary")
    code, said = resume()
    assert (code, "is not an unfinished batch" in said, diary.read_text()) == (1, True, "a diary")


def test_what_is_refused_at_once_leaves_nothing_behind(ask: Ask, trained: Trained, few: Path, tmp_path: Path) -> None:
    assert ask("score", "trained.nobody", "--batch", str(few), "-o", str(tmp_path / "out.csv"))[0] == 1
    assert list(tmp_path.glob("out*")) == []
    code, _, said = ask("score", trained.handle, "--batch", str(few), "--resume")
    assert (code, "name it with -o" in said) == (2, True)


# ---- any rows, killed anywhere ---------------------------------------------------------------------------------------


@settings(max_examples=sized(20, 60), deadline=None)
@given(
    pieces=st.lists(st.binary(max_size=20), min_size=1, max_size=12),
    marks=st.sets(st.integers(1, 12)),
    cut=st.floats(0, 1),
    log_cut=st.floats(0, 1),
)
def test_whatever_a_kill_leaves_the_file_becomes_what_it_would_have_been(
    pieces: list[bytes], marks: set[int], cut: float, log_cut: float
) -> None:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as alive:
        header = {"input": "of this test"}
        part = resuming.begin(Path(alive) / "out", header)
        beginning = log_of(part.out).stat().st_size
        for rows, piece in enumerate(pieces, start=1):
            part.write(piece)
            if rows in marks:
                part.keep(rows, 0)
        part.file.flush()
        out = Path(shutil.copytree(alive, folder, dirs_exist_ok=True)) / "out"
        part.close()
        sizes = [0, *accumulate(map(len, pieces))]
        os.truncate(part_of(out), int(cut * sizes[-1]))
        os.truncate(log_of(out), beginning + int(log_cut * (log_of(out).stat().st_size - beginning)))
        assert resuming.left_behind(out) == header
        part = resuming.go_on(out, header)
        assert part.mark.size == sizes[part.mark.rows]
        for rows, piece in enumerate(pieces[part.mark.rows :], start=part.mark.rows + 1):
            part.write(piece)
            part.keep(rows, 0)
        part.finish()
        assert out.read_bytes() == b"".join(pieces)
        assert [path.name for path in Path(folder).iterdir()] == ["out"]
