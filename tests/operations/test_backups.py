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
    ON_BOTH,
    ON_BOTH_IN_SOAK,
    ON_SQLITE,
    done_here,
    draft,
    fresh_settings,
    on,
    opened,
    settled,
    trained_here,
)
from tests.operations.author import QUICK, get, samples_of, score
from tests.size import sized
from tests.store.of_0_2_0 import make_0_2_0
from traitbench.contract.attributes import AttributePut
from traitbench.contract.operations import SCORES_SCORE
from traitbench.operations import attributes, keys, models, proposed, samples, training, versions
from traitbench.operations.backups import BackupRefused, backup, restore
from traitbench.operations.context import Context
from traitbench.settings import Settings
from traitbench.store.backups import _digest
from traitbench.store.backups import opened as opened_backup
from traitbench.store.database import reading, writing

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Context]:
    """A service with a trained model, an alias, a proposed label, a queued run, a deleted sample and a key.

    It has no worker.
    """
    with fresh_settings(tmp_path_factory.mktemp("source")) as settings, opened(settings, runs=False) as context:
        keys.create(context.engine, scope="scoring", namespaces=("local",), name="CI")
        trained = trained_here(context)
        attributes.put(context, AUTHOR, "local", "WARMTH", AttributePut(handle=trained, trait="warmth"))
        proposed.propose(context, AUTHOR, SCORES_SCORE, trained, trait="warmth", text="how kind", value=1.0)
        waiting = draft(context, warm=3, cold=3)
        samples.delete(context, AUTHOR, waiting, samples_of(context, waiting)[-1].id)
        training.start(context, AUTHOR, waiting, QUICK)
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


def _parts(path: Path) -> dict[str, str]:
    with opened_backup(path) as result:
        return {part.name: part.sha256 for part in result.manifest.parts}


# ---- what is there again ---------------------------------------------------------------------------------------------


@ON_BOTH
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
            assert [key.name for key in keys.every(context.engine).items()] == ["CI"]
            assert attributes.resolve(context, AUTHOR, "WARMTH") == attributes.resolve(source, AUTHOR, "WARMTH")
            for handle in _handles(source):
                before = get(source, handle)
                assert get(context, handle) == before
                if before.state == "ready":
                    assert [each.text for each in proposed.list_proposed(context, AUTHOR, handle).items] == ["how kind"]
                    assert score(context, handle).scores == score(source, handle).scores
            # The last sample of the source was deleted: its id is not used again.
            with reading(source.engine) as connection:
                newest = connection.execute(text("SELECT max(id) FROM tb_samples")).scalar_one()
            assert [sample.id for sample in samples_of(context, draft(context, warm=1))] == [newest + 2]
            # The run that had not ended is executed once.
            [handle] = [each for each in _handles(context) if get(context, each).state == "busy"]
            run_id = getattr(get(context, handle).last_operation, "run_id", None)
            done_here(context, run_id)
            [version] = versions.list_versions(context, AUTHOR, handle).items
            assert (get(context, handle).state, version.version_no, version.run_id) == ("ready", 1, run_id)


@ON_BOTH_IN_SOAK
def test_a_run_that_ended_after_the_backup_is_executed_again(target: Settings, tmp_path: Path) -> None:
    """The run engine still has it as done; after the restore it has to run once more."""
    with opened(target, runs=True) as context:
        handle = draft(context, warm=2, cold=2)
        run_id = training.start(context, AUTHOR, handle, QUICK)[0].run_id
        backup(target, tmp_path / "one.backup")
        assert settled(context, handle).state == "ready"
        # On SQLite the worker holds a lock; on PostgreSQL its connections are visible.
        with pytest.raises(BackupRefused, match="stop"):
            restore(target, tmp_path / "one.backup", replace=True)
    restore(target, tmp_path / "one.backup", replace=True)
    with opened(target, runs=True) as context:
        assert settled(context, handle).state == "ready"
        [version] = versions.list_versions(context, AUTHOR, handle).items
        assert (version.version_no, version.run_id) == (1, run_id)


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
            archived_at = get(context, gone).archived_at
            make_0_2_0(context.engine)
        assert backup(settings, tmp_path / "older.backup").schema == "0005"
    restore(target, tmp_path / "older.backup")
    with opened(target, runs=False) as context:
        assert _handles(context) == [handle]
        model = get(context, handle)
        assert (model.zero_data_retention, model.hold_if_worse, model.main_trait) == (False, False, None)
        assert len(samples_of(context, handle)) == 2
        assert get(context, gone).archived_at == archived_at


@ON_BOTH
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


# ---- the file --------------------------------------------------------------------------------------------------------


def test_the_file_is_private_and_holds_no_secret(source: Context, file: Path) -> None:
    assert oct(file.stat().st_mode & 0o777) == "0o600"
    secret = keys.create(source.engine, scope="scoring", namespaces=("local",)).secret
    backup(source.settings, file, overwrite=True)
    with zipfile.ZipFile(file) as archive:
        assert not any(secret.encode() in archive.read(name) for name in archive.namelist())
    assert list(file.parent.iterdir()) == [file]


@ON_BOTH
def test_an_existing_file_is_kept_and_nothing_to_back_up_is_said(
    source: Context, tmp_path: Path, target: Settings
) -> None:
    path = tmp_path / "there"
    path.write_text("something else")
    with pytest.raises(BackupRefused, match="exists already"):
        backup(source.settings, path)
    assert path.read_text() == "something else"
    with pytest.raises(BackupRefused, match="There is nothing to back up"):
        backup(target, tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


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


# ---- kills -----------------------------------------------------------------------------------------------------------


_RESTORE_SLOWLY = """
import sys, time
from pathlib import Path
from traitbench.operations import backups
from traitbench.settings import Settings
from traitbench.store.backups import Backup
load = Backup._insert
def slowly(*content):
    print('inserting', flush=True)
    load(*content)
    time.sleep(0.1)
Backup._insert = slowly
backups.restore(Settings(home=Path(sys.argv[1]), database_url=sys.argv[2]), Path(sys.argv[3]), replace=True)
"""
_WRITE_FOREVER = """
import sys, time
from pathlib import Path
from traitbench.operations.backups import new_file
with new_file(Path(sys.argv[1]), Path(sys.argv[2])) as file:
    file.write(b"texts")
    file.flush()
    print("writing", flush=True)
    time.sleep(600)
"""


def _killed_after(lines: int, code: str, *arguments: object, before: Callable[[], object] = object) -> None:
    """Run a program, do something when it has printed this many lines, then kill it."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(lines):
            process.stdout.readline()
        before()
        process.send_signal(signal.SIGKILL)


@ON_BOTH
def test_a_restore_that_is_killed_leaves_the_old_or_the_new(file: Path, target: Settings) -> None:
    with opened(target, runs=False) as context:
        handle = draft(context, warm=4, cold=4)
    for lines in sized((7,), (2, 7)):
        _killed_after(lines, _RESTORE_SLOWLY, target.home, target.database_url, file)
        with opened(target, runs=False) as context:
            assert _handles(context) == [handle]
            assert len(samples_of(context, handle)) == 8
    restore(target, file, replace=True)


@ON_SQLITE
def test_the_file_of_a_killed_backup_is_removed_at_the_next_start(tmp_path: Path, target: Settings) -> None:
    path, part = tmp_path / "all.backup", tmp_path / "all.backup.part"

    def start_another() -> None:
        with opened(target, runs=False):
            assert part.read_bytes() == b"texts"

    _killed_after(1, _WRITE_FOREVER, target.home, path, before=start_another)
    assert part.exists()
    with opened(target, runs=False):
        assert not part.exists()
    backup(target, path)
    assert not list((target.home / "backups").iterdir())
