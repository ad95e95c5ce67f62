"""Batches in the home folder: they come back as they were, for their owner only, and no kill loses a row."""

import errno
import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.processes import eventually
from tests.conftest import COLD, WARM, Service, Trained
from tests.size import sized
from traitbench.batch.audits import Audit
from traitbench.batch.parts import Parts
from traitbench.client import Traitbench
from traitbench.contract.batches import BatchSettings, ScoredLine
from traitbench.tables.source import opened
from traitbench_app.workspace import stored_batches
from traitbench_app.workspace.batches import Batch

SERVICE = "http://127.0.0.1:1"
LINES = b'{"text": "half \\ud83d", "stars": 5}\nno json\n{"text": "Thank you, my dear.", "stars": 1}\n'


def a_batch(client: Traitbench, handle: str, *, owner: str = "ann", lines: bytes = LINES) -> Batch:
    source = opened("a.jsonl", io.BytesIO(lines))
    return Batch(client, BatchSettings(f"{handle}@v1"), source, "text", name="a.jsonl", keys=["warmth"], owner=owner)


def begun(folder: Path, client: Traitbench, handle: str, *, owner: str = "ann", lines: bytes = LINES) -> Batch:
    batch = a_batch(client, handle, owner=owner, lines=lines)
    stored_batches.begin(folder, batch, service=SERVICE)
    return batch


def scored(batch: Batch) -> Batch:
    batch.start()
    assert eventually(lambda: batch.state != "running")
    return batch


@pytest.fixture
def batch(tmp_path: Path, trained: Trained) -> Batch:
    return scored(begun(tmp_path, trained.client, trained.handle))


def loaded(folder: Path, trained: Trained, batch_id: str | None, owner: str = "ann", at: str = SERVICE) -> Batch | None:
    return stored_batches.load(folder, batch_id, owner=owner, service=at, client=trained.client)


def listed(folder: Path) -> list[str]:
    return [each.id for each in stored_batches.listing(folder, owner="ann", service=SERVICE)]


SAME = ("id", "handle", "version", "name", "columns", "state", "texts", "others", "lines", "errors", "done", "failed")


def test_a_batch_comes_back_as_it_was(tmp_path: Path, trained: Trained, batch: Batch) -> None:
    assert (batch.state, batch.failed) == ("done", 2)
    batch.audits["warmth"] = Audit("warmth", 7, [2, 0], None, {0: 1.0, 2: None})
    stored_batches.keep_audits(batch)
    [line] = trained.client.scores.batch(trained.handle, [WARM[2]])
    assert isinstance(line, ScoredLine)
    stored_batches.correct(batch, 0, WARM[2], line)
    read = loaded(tmp_path, trained, batch.id)
    assert read is not None
    assert {name: getattr(read, name) for name in SAME} == {name: getattr(batch, name) for name in SAME}
    assert vars(read.traits["warmth"]) == vars(batch.traits["warmth"])
    assert (read.texts[0], read.failed, read.composites[0]) == (WARM[2], 1, line.composite)
    assert read.audits["warmth"].judged == {0: 1.0}
    assert list(read.audits["warmth"].decided) == [0, 2]
    assert all(path.stat().st_mode & 0o077 == 0 for path in [*tmp_path.rglob("*"), *tmp_path.glob("*/*")])


@pytest.mark.parametrize(
    ("owner", "address", "folder"),
    [("ben", SERVICE, ""), ("ann", "http://other", ""), ("ann", SERVICE, "../")],
    ids=["another person", "another service", "another folder"],
)
def test_it_is_there_for_its_owner_only(
    tmp_path: Path, trained: Trained, batch: Batch, owner: str, address: str, folder: str
) -> None:
    assert loaded(tmp_path, trained, f"{folder}{batch.id}", owner, address) is None


def test_the_newest_stay_and_damage_hides_nothing_else(
    tmp_path: Path, trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_batches, "MOST_STORED", 2)
    _, _, third, fourth = (scored(begun(tmp_path, trained.client, trained.handle)) for _ in range(4))
    for part in (tmp_path / fourth.id).glob("rows-*"):
        part.write_bytes(b"damaged")
    (tmp_path / "zzzzzzzz").mkdir()
    (tmp_path / "zzzzzzzz" / "request.json").write_text("{", "utf-8")
    assert listed(tmp_path) == [fourth.id, third.id]
    assert loaded(tmp_path, trained, fourth.id) is None
    assert loaded(tmp_path, trained, third.id) is not None


def test_all_of_a_model_are_removed_also_those_of_an_earlier_release(tmp_path: Path, trained: Trained) -> None:
    begun(tmp_path, trained.client, trained.handle)
    other = begun(tmp_path, trained.client, "a.c")
    head = {"id": "abcdefgh", "handle": trained.handle, "owner": "ann", "service": SERVICE, "name": "a", "rows": 2}
    (tmp_path / "abcdefgh.head.json").write_text(json.dumps({**head, "at": "2026-01-01T00:00:00+00:00"}))
    (tmp_path / "abcdefgh.json.gz").write_bytes(b"texts")
    [old] = (each for each in stored_batches.listing(tmp_path, owner="ann", service=SERVICE) if each.is_old)
    assert (old.id, old.name) == ("abcdefgh", "a")
    stored_batches.remove_of(tmp_path, {trained.handle}, service="http://127.0.0.1:2")
    assert len(list(tmp_path.iterdir())) == 4, "those of another service stay"
    stored_batches.remove_of(tmp_path, {trained.handle}, service=SERVICE)
    assert [path.name for path in tmp_path.iterdir()] == [other.id]


def test_a_batch_that_cannot_be_written_is_scored_in_memory(
    tmp_path: Path, trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(parts: Parts, name: str, content: bytes) -> None:
        if name != "request.json":
            raise OSError(errno.ENOSPC, "No space left on device")
        write(parts, name, content)

    batch, write = a_batch(trained.client, trained.handle), Parts.write
    with monkeypatch.context() as patch:
        patch.setattr(Parts, "write", full)
        with pytest.raises(OSError, match="No space left"):
            stored_batches.begin(tmp_path, batch, service=SERVICE)
    assert list(tmp_path.iterdir()) == []
    assert (scored(batch).state, batch.done) == ("done", 3)


# ---- kills -----------------------------------------------------------------------------------------------------------

KILLS = sized(
    (("fsync", 1), ("replace", 4), ("unlink", 1_000)),
    (("fsync", 1), ("replace", 1), ("fsync", 2), ("replace", 4), ("fsync", 9), ("unlink", 1_000)),
)
"""The step of a process that writes parts, and the how-manieth of them, before which it is killed."""

PROCESS = """
import os, signal, sys
from pathlib import Path
import traitbench.batch.parts as parts
from traitbench.client import Traitbench
from traitbench_app.workspace import stored_batches

folder, batch_id, service, address, key, kind, left = sys.argv[1:]
left, real = int(left), getattr(os, kind)
batch = stored_batches.load(Path(folder), batch_id, owner="ann", service=service, client=Traitbench(address, key))

def step(*arguments, **named):
    global left
    left -= 1
    if not left:
        print(batch.done, batch.parts.rows, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **named)

setattr(os, kind, step)
parts._MOST_ROWS = 3
batch.work()
"""


def test_a_batch_that_is_killed_several_times_loses_no_row_and_has_none_twice(
    tmp_path: Path, service: Service, trained: Trained
) -> None:
    texts = [f"{text} This is number {number}." for number, text in enumerate((*WARM, *COLD) * 3)]
    lines = "".join(f"{json.dumps({'text': text})}\n" for text in texts).encode()
    batch_id = begun(tmp_path, trained.client, trained.handle, lines=lines).id
    key, shown = service.issue(namespaces=("trained",)), 0
    read: Batch | None = None
    for kind, number in KILLS:
        process = [
            sys.executable,
            "-c",
            PROCESS,
            str(tmp_path),
            batch_id,
            SERVICE,
            service.base_url,
            key,
            kind,
            str(number),
        ]
        done = subprocess.run(process, capture_output=True, text=True)
        if kind != "unlink":
            assert done.returncode == -signal.SIGKILL, done.stderr
            shown = int(done.stdout.split()[0])
        read = loaded(tmp_path, trained, batch_id)
        assert read is not None
        assert read.done >= shown, "what was reported as done stays"
        assert read.texts == texts[: read.done]
        assert list(read.lines) == list(range(1, read.done + 1))
    assert read is not None
    assert (read.state, read.done, read.source) == ("done", 60, None)
    cards = trained.client.scores.batch(trained.handle, texts)
    assert list(read.composites) == [card.composite for card in cards if isinstance(card, ScoredLine)]


def test_a_batch_that_was_stopped_goes_on_where_it_was(tmp_path: Path, trained: Trained) -> None:
    lines = "".join(f"{json.dumps({'text': text})}\n" for text in WARM).encode()
    batch = begun(tmp_path, trained.client, trained.handle, lines=lines)
    assert batch.parts is not None
    read = loaded(tmp_path, trained, batch.id)
    assert read is not None
    assert (read.state, read.done, read.total) == ("stopped", 0, 10)
    with batch.parts.locked():
        assert scored(read).state == "failed"
    assert "Another command is writing" in str(read.error)
    assert (scored(read).state, read.done, read.texts) == ("done", 10, list(WARM))
    assert scored(batch).state == "failed", "the parts have more than this process knows"
