"""What the workbench keeps of texts beside the service: gone from its files when zero data retention begins, whoever
switches it on, with no page open, and for all people."""

import io
import json
import os
import time
from pathlib import Path

import pytest

from tests.app.processes import serving
from tests.app.workspace.earlier import write_earlier
from tests.contexts import ON_SQLITE, until
from tests.retention.marks import files, mark, marks_in
from traitbench.client import Traitbench
from traitbench.contract.batches import BatchSettings
from traitbench.settings import read_settings
from traitbench.tables.source import opened
from traitbench_app.workspace import earlier_pool, kept_texts, stored_batches, unsaved
from traitbench_app.workspace.batches import Batch

HANDLE, HERE, PEOPLE = "local.kept", "http://127.0.0.1:1", ("operator", "ben")


def write(file: Path, word: str) -> None:
    """Unsaved edits as an earlier release left them."""
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"edits": {"1": {"text": word}}}), "utf-8")


def keep(home: Path, handle: str, service: str, word: str, *, owner: str) -> list[str]:
    """Let a person's texts of an earlier release, unsaved edits and batch hold a word; return these words."""
    words = [f"{word}pool", f"{word}unsaved", f"{word}batch"]
    write_earlier(home / earlier_pool.FILE, service, handle, owner, [words[0]], f"{words[0]}.csv")
    write(unsaved.file_of(home / unsaved.FOLDER, handle, service=service, owner=owner), words[1])
    source = opened("a.csv", io.BytesIO(f"text\n{words[2]}\n".encode()))
    about = BatchSettings(f"{handle}@v1")
    batch = Batch(Traitbench(service, ""), about, source, "text", name=f"{words[2]}.csv", keys=["warmth"], owner=owner)
    stored_batches.begin(home / stored_batches.FOLDER, batch, service=service)
    return words


@ON_SQLITE
def test_a_switch_by_api_empties_the_files_of_all_people_without_a_page(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serving(home) as process, process.client() as client:
        for handle in (HANDLE, "local.other"):
            client.models.create(handle)
        theirs = [
            word for one in PEOPLE for word in keep(home, HANDLE, process.base_url, mark(f"kept{one}"), owner=one)
        ]
        staying = keep(home, "local.other", process.base_url, mark("staying"), owner="ben")
        assert [word for word in theirs if not marks_in(files(home), [word])] == []
        client.models.update(HANDLE, zero_data_retention=True)
        until(lambda: not marks_in(files(home), theirs), what="the files to be emptied")
        assert [word for word in staying if not marks_in(files(home), [word])] == []


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRAITBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("TRAITBENCH_API_URL", HERE)
    return tmp_path


def test_other_models_and_other_services_keep_theirs(home: Path) -> None:
    for one in PEOPLE:
        keep(home, HANDLE, HERE, mark("gone"), owner=one)
    staying = [
        keep(home, HANDLE, "http://127.0.0.1:2", mark("service"), owner="ben"),
        keep(home, "local.other", HERE, mark("model"), owner="ben"),
    ]
    kept_texts.end({HANDLE}, read_settings())
    left = files(home)
    assert marks_in(left, [mark("gone")]) == []
    assert [word for words in staying for word in words if not marks_in(left, [word])] == []


@pytest.mark.parametrize("sign_in", ["none", "token"])
def test_edits_that_an_earlier_release_wrote_go_too(home: Path, monkeypatch: pytest.MonkeyPatch, sign_in: str) -> None:
    monkeypatch.setenv("TRAITBENCH_SIGN_IN", sign_in)
    for handle, owner in ((HANDLE, "operator"), ("local.other", "operator")):
        new = unsaved.file_of(home / unsaved.FOLDER, handle, service=HERE, owner=owner)
        write(new.with_name(new.name.split(".", 1)[1]), mark("old"))
    kept_texts.end({HANDLE}, read_settings())
    # Where several people may sign in, nobody can say whose an old file is.
    assert len(files(home / unsaved.FOLDER)) == (1 if sign_in == "none" else 0)


def test_unsaved_edits_of_an_earlier_release_go_after_some_days(home: Path) -> None:
    folder, old = home / unsaved.FOLDER, time.time() - (unsaved.STORED_DAYS + 1) * 86_400
    for name, at in (("old", old), ("new", time.time())):
        write(folder / f"{name}.json", mark(name))
        os.utime(folder / f"{name}.json", (at, at))
    unsaved.remove_old(folder)
    unsaved.remove_old(home / "not there")
    assert [file.name for file in folder.iterdir()] == ["new.json"]
