"""Backups restore everything, on either database; a backup that cannot be restored changes nothing."""

import json
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.contexts import (
    AUTHOR,
    DATABASES,
    ON_BOTH_IN_SOAK,
    ON_SQLITE,
    draft,
    fresh_settings,
    on,
    opened,
    settled,
    trained_here,
    until,
)
from tests.store.of_0_2_0 import make_0_2_0
from traitbench.contract.models import TrainRequest
from traitbench.contract.scores import ScoreRequest
from traitbench.operations import keys, models, samples, scores, training, versions
from traitbench.operations.backups import BackupRefused, backup, restore
from traitbench.operations.context import Context
from traitbench.settings import Settings
from traitbench.store.backups import _digest
from traitbench.store.backups import opened as opened_backup
from traitbench.store.database import reading, writing

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Context]:
    """A service with a trained model, a queued run, a deleted sample and a key; it has no worker."""
    with fresh_settings(tmp_path_factory.mktemp("source")) as settings, opened(settings, runs=False) as context:
        keys.create(context.engine, scope="scoring", namespaces=("local",), name="CI")
        trained_here(context)
        waiting = draft(context, warm=3, cold=3)
        last = samples.list_samples(context, AUTHOR, waiting).items[-1]
        samples.delete(context, AUTHOR, waiting, last.id)
        training.start(context, AUTHOR, waiting, TrainRequest(effort="low"))
        yield context


@pytest.fixture(scope="module")
def file(source: Context, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of the source."""
    path = tmp_path_factory.mktemp("backup") / "all.backup"
    backup(source.settings, path)
    return path


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Settings]:
    """An empty home with an empty database."""
    with fresh_settings(tmp_path / "target", blank=True) as settings:
        yield settings


def _handles(context: Context) -> list[str]:
    return [model.handle for model in models.list_models(context, AUTHOR, namespace="local").items]


def _score(context: Context, handle: str) -> object:
    return scores.score(context, AUTHOR, handle, ScoreRequest(content="how kind"), request_id="req").scores


def _parts(path: Path) -> dict[str, str]:
    with opened_backup(path) as result:
        return {part.name: part.sha256 for part in result.manifest.parts}


@pytest.mark.parametrize("other", DATABASES)
def test_everything_is_there_again_on_either_database(source: Context, file: Path, tmp_path: Path, other: str) -> None:
    with on(other), fresh_settings(tmp_path / "other", blank=True) as settings:
        _, queued = restore(settings, file)
        assert queued == 1
        again = tmp_path / "again.backup"
        backup(settings, again)
        assert _parts(again) == _parts(file)
        with opened(settings, runs=False) as context:
            assert _handles(context) == _handles(source)
            assert [key.name for key in keys.list_keys(context.engine)] == ["CI"]
            for handle in _handles(source):
                before, after = models.get(source, AUTHOR, handle), models.get(context, AUTHOR, handle)
                assert after == before
                if after.state == "ready":
                    assert _score(context, handle) == _score(source, handle)


def test_a_run_that_had_not_ended_is_executed_once_after_the_restore(file: Path, target: Settings) -> None:
    restore(target, file)
    with opened(target, runs=True) as context:
        [handle] = [each for each in _handles(context) if models.get(context, AUTHOR, each).state == "busy"]
        before = models.get(context, AUTHOR, handle).last_operation
        model = settled(context, handle)
        assert (model.state, model.version_no) == ("ready", 1)
        assert model.last_operation is not None
        assert before is not None
        assert (model.last_operation.run_id, model.last_operation.status) == (before.run_id, "succeeded")


@ON_BOTH_IN_SOAK
def test_a_run_that_ended_after_the_backup_is_executed_again(source: Context, target: Settings, tmp_path: Path) -> None:
    """The run engine still has it as done; after the restore it has to run once more."""
    with opened(target, runs=True) as context:
        handle = draft(context, warm=2, cold=2)
        run_id = training.start(context, AUTHOR, handle, TrainRequest(effort="low"))[0].run_id
        backup(target, tmp_path / "one.backup")
        assert settled(context, handle).state == "ready"
    restore(target, tmp_path / "one.backup", replace=True)
    with opened(target, runs=True) as context:
        assert settled(context, handle).state == "ready"
        [version] = versions.list_versions(context, AUTHOR, handle).items
        assert (version.version_no, version.run_id) == (1, run_id)


def test_ids_that_were_given_out_are_not_given_again(source: Context, file: Path, target: Settings) -> None:
    restore(target, file)
    with opened(target, runs=False) as context:
        handle = draft(context, warm=1)
        [new] = samples.list_samples(context, AUTHOR, handle).items
    with reading(source.engine) as connection:
        newest = connection.execute(text("SELECT max(id) FROM tb_samples")).scalar_one()
    # The last sample of the source was deleted: its id is not reused.
    assert new.id == newest + 2


def test_the_file_is_private_and_holds_no_secret(source: Context, file: Path) -> None:
    assert oct(file.stat().st_mode & 0o777) == "0o600"
    secret = keys.create(source.engine, scope="scoring", namespaces=("local",)).secret
    backup(source.settings, file, overwrite=True)
    with zipfile.ZipFile(file) as archive:
        assert not any(secret.encode() in archive.read(name) for name in archive.namelist())
    assert list(file.parent.iterdir()) == [file]


def test_an_existing_file_is_kept_unless_told_otherwise(source: Context, tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_text("something else")
    with pytest.raises(BackupRefused, match="exists already"):
        backup(source.settings, path)
    assert path.read_text() == "something else"


@ON_SQLITE
@pytest.mark.parametrize("mask", [0x01, 0xFF])
def test_no_changed_byte_changes_what_is_restored(file: Path, target: Settings, tmp_path: Path, mask: int) -> None:
    """Changes every hundredth byte, and every byte at the end, which holds the zip's directory."""
    with opened_backup(file) as result:
        good = result.manifest
    raw, damaged, refused = file.read_bytes(), tmp_path / "damaged", 0
    for place in sorted({*range(0, len(raw), 1 + len(raw) // 100), *range(len(raw) - 300, len(raw))}):
        damaged.write_bytes(raw[:place] + bytes([raw[place] ^ mask]) + raw[place + 1 :])
        try:
            with opened_backup(damaged) as result:
                # Not every byte of a zip matters: times and sizes are stored twice.
                assert result.manifest == good
        except BackupRefused:
            refused += 1
            last = damaged.read_bytes()
    assert refused > 100
    damaged.write_bytes(last)
    with pytest.raises(BackupRefused):
        restore(target, damaged)
    assert not (target.home / "traitbench.db").exists()


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.99])
def test_a_file_that_was_cut_off_is_refused(file: Path, target: Settings, tmp_path: Path, keep: float) -> None:
    cut = tmp_path / "cut"
    cut.write_bytes(file.read_bytes()[: int(file.stat().st_size * keep)])
    with pytest.raises(BackupRefused, match="is not a Traitbench backup, or it is damaged"):
        restore(target, cut)


def _rewritten(file: Path, to: Path, change: Callable[[dict[str, object]], None]) -> Path:
    """The same backup with another manifest, and the right hash for it."""
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            raw = old.read(name)
            if name == "manifest.json":
                content = json.loads(raw)
                content.pop("sha256")
                change(content)
                raw = json.dumps({**content, "sha256": _digest(content)}).encode()
            new.writestr(name, raw)
    return to


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("format", 2, "newer"), ("schema", "9999", "newer"), ("schema", "0004", r"restore it with release 0\.2\.0")],
)
def test_a_backup_of_another_release_is_refused(
    file: Path, target: Settings, tmp_path: Path, name: str, value: object, words: str
) -> None:
    other = _rewritten(file, tmp_path / "other", lambda content: content.update({name: value}))
    with pytest.raises(BackupRefused, match=words):
        restore(target, other)


def test_a_database_before_0_2_0_is_not_backed_up(tmp_path: Path) -> None:
    with fresh_settings(tmp_path / "older") as settings:
        with opened(settings, runs=False) as context, writing(context.engine) as connection:
            connection.execute(text("UPDATE tb_schema SET version_num = '0004'"))
        with pytest.raises(BackupRefused, match=r"open it once with release 0\.2\.0"):
            backup(settings, tmp_path / "older.backup")


def test_a_backup_of_0_2_0_is_brought_up_to_date(target: Settings, tmp_path: Path) -> None:
    with fresh_settings(tmp_path / "older") as settings:
        with opened(settings, runs=False) as context:
            handle, gone = draft(context, warm=2), draft(context)
            models.delete(context, AUTHOR, gone)
            archived_at = models.get(context, AUTHOR, gone).archived_at
            make_0_2_0(context.engine)
        assert backup(settings, tmp_path / "older.backup").schema == "0005"
    restore(target, tmp_path / "older.backup")
    with opened(target, runs=False) as context:
        assert _handles(context) == [handle]
        model = models.get(context, AUTHOR, handle)
        assert (model.zero_data_retention, model.hold_if_worse, model.main_trait) == (False, False, None)
        assert len(samples.list_samples(context, AUTHOR, handle).items) == 2
        assert models.get(context, AUTHOR, gone).archived_at == archived_at


def test_what_is_there_is_replaced_only_when_told_so(file: Path, target: Settings) -> None:
    with opened(target, runs=False) as context:
        handle = draft(context, warm=1)
    with pytest.raises(BackupRefused, match="not empty: add --replace"):
        restore(target, file)
    with opened(target, runs=False) as context:
        assert _handles(context) == [handle]
    restore(target, file, replace=True)
    with opened(target, runs=False) as context:
        assert handle not in _handles(context)
        assert len(_handles(context)) == 2


def test_a_service_that_runs_is_not_pulled_from_under(file: Path, working: Context) -> None:
    # On SQLite the worker holds a lock; on PostgreSQL its connections are visible.
    until(working.healthy, what="the worker to be up")
    before = _handles(working)
    with pytest.raises(BackupRefused, match="stop"):
        restore(working.settings, file, replace=True)
    assert _handles(working) == before


def test_a_restore_that_is_killed_leaves_the_old_or_the_new(file: Path, target: Settings) -> None:
    with opened(target, runs=False) as context:
        handle = draft(context, warm=4, cold=4)
    command = [
        sys.executable,
        "-c",
        "import sys; from pathlib import Path; from traitbench.settings import Settings;"
        " from traitbench.operations import backups;"
        " from traitbench.store.backups import Backup; load = Backup._insert; import time\n"
        "def slowly(*content): print('inserting', flush=True); load(*content); time.sleep(0.1)\n"
        "Backup._insert = slowly\n"
        "backups.restore(Settings(home=Path(sys.argv[1]), database_url=sys.argv[2]), Path(sys.argv[3]), replace=True)",
    ]
    for lines in (2, 7):
        process = subprocess.Popen(
            [*command, str(target.home), target.database_url, str(file)], cwd=ROOT, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        for _ in range(lines):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        with opened(target, runs=False) as context:
            assert _handles(context) == [handle]
            assert len(samples.list_samples(context, AUTHOR, handle).items) == 8
    restore(target, file, replace=True)


def test_nothing_to_back_up_is_said(tmp_path: Path, target: Settings) -> None:
    with pytest.raises(BackupRefused, match="There is nothing to back up"):
        backup(target, tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


_WRITE_FOREVER = """
import sys, time
from pathlib import Path
from traitbench.operations.backup_parts import new_file
with new_file(Path(sys.argv[1]), Path(sys.argv[2])) as file:
    file.write(b"texts")
    file.flush()
    print("writing", flush=True)
    time.sleep(600)
"""


@ON_SQLITE
def test_the_file_of_a_killed_backup_is_removed_at_the_next_start(tmp_path: Path, target: Settings) -> None:
    path, part = tmp_path / "all.backup", tmp_path / "all.backup.part"
    command = [sys.executable, "-c", _WRITE_FOREVER, str(target.home), str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with opened(target, runs=False):
            assert part.read_bytes() == b"texts"
        process.send_signal(signal.SIGKILL)
    assert part.exists()
    with opened(target, runs=False):
        assert not part.exists()
    backup(target, path)
    assert not list((target.home / "backups").iterdir())
