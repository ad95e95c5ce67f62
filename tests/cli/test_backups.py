"""`traitbench backup` and `restore`, and what a copy of the database file is worth."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.asking import call
from tests.contexts import AUTHOR, draft, fresh_settings, opened
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.operations import keys, samples
from traitbench.operations.backups import backup


def test_a_home_is_backed_up_while_it_is_open_and_restored_to_another(tmp_path: Path) -> None:
    home, other, file = tmp_path / "home", tmp_path / "other", tmp_path / "all.backup"
    with fresh_settings(home) as settings, opened(settings, runs=False) as context:
        handle = draft(context, warm=10, cold=10)
        keys.first_key(context)
        code, out, err = call(home, "backup", str(file))
        assert (code, err) == (0, "")
        assert out.startswith("Backed up ")
        assert "1 key to " in out
    code, out, err = call(other, "restore", str(file))
    assert (code, err) == (0, "")
    assert out.startswith("Restored ")
    with fresh_settings(other) as settings, opened(settings, runs=False) as context:
        assert len(samples.list_samples(context, AUTHOR, handle).items) == 20
        keys.first_key(context)
    assert (other / "first.key").read_text() != (home / "first.key").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["backup", "{there}"], "exists already: choose another name, or add --overwrite."),
        (["backup", "{tmp}/new"], "There is nothing to back up: {tmp}/home/traitbench.db does not exist."),
        (["restore", "{tmp}/none"], "{tmp}/none cannot be read: No such file or directory."),
        (["restore", "{there}"], "{there} is not a Traitbench backup, or it is damaged: use another copy."),
    ],
    ids=["name taken", "nothing there", "no such file", "no backup"],
)
def test_what_cannot_be_done_is_said_in_a_sentence(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    (there := tmp_path / "there").write_text("no backup")
    names = {"tmp": tmp_path, "there": there}
    code, out, err = call(tmp_path / "home", *(each.format(**names) for each in arguments))
    assert (code, out) == (1, "")
    assert sentence.format(**names) in err
    assert err.count("\n") == 1
    assert there.read_text() == "no backup"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    call(tmp_path / "home", "key", "list")
    code, _, err = call(tmp_path / "home", "backup", str(tmp_path / "none" / "all.backup"))
    assert (code, err) == (1, f"Error: {tmp_path}/none/all.backup cannot be written: No such file or directory.\n")


def test_a_copy_of_the_file_alone_loses_what_is_in_the_log_and_a_backup_does_not(tmp_path: Path) -> None:
    with fresh_settings(tmp_path / "home") as settings, opened(settings, runs=False) as context:
        handle = draft(context)
        with closing(sqlite3.connect(settings.home / "traitbench.db")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
        texts = [f"acknowledged {number}" for number in range(600)]
        sent = [SampleInput(trait="warmth", text=text, quality=1.0) for text in texts]
        for first in (0, 300):
            samples.add(context, AUTHOR, handle, SamplesCreate(samples=sent[first : first + 300]))
        shutil.copy(settings.home / "traitbench.db", tmp_path / "copy.db")
        with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
            assert connection.execute("SELECT count(*) FROM tb_samples").fetchone() == (0,)
        assert backup(settings, tmp_path / "all.backup").count("tb_samples") == 600
