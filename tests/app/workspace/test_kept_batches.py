"""Batches in the home folder: what is written comes back, for its owner only, and damage hides nothing else."""

import io
import json
from itertools import islice
from pathlib import Path

import pytest

from tests.app.processes import eventually
from tests.conftest import COLD, WARM, Trained
from traitbench.batch.audits import Audit
from traitbench.batch.outcomes import outcomes, probe
from traitbench.contract.asked import Asked
from traitbench.tables.source import opened
from traitbench_app.workspace import batches, kept_batches
from traitbench_app.workspace.batches import Job, Restored

SERVICE = "http://127.0.0.1:1"


def batch(job_id: str, *, owner: str = "ann", handle: str = "a.b@v1") -> Restored:
    """Two rows; the second could not be scored."""
    about = {"columns": ("text", "stars"), "name": "a.csv", "keys": ["tone"], "owner": owner, "total": 2}
    job = Restored(Asked(handle, ["tone"], "full"), "text", **about)  # type: ignore[arg-type]
    job.restore(job_id, "done", 2.5)
    job.lines.extend([2, 3])
    job.texts = ["half \\ud83d of a pair", "x"]
    job.others = [("5",), ("",)]
    job.composites.extend([80, -1])
    job.confidences.extend([2, -1])
    job.reasons = ["", ""]
    job.errors = {1: "too long"}
    for name, values in (("scores", [80, -1]), ("tiers", [3, -1]), ("confidences", [2, -1]), ("reasons", [-1, -1])):
        getattr(job.traits["tone"], name).extend(values)
    job.done, job.failed = 2, 1
    job.audits["tone"] = Audit("tone", 7, [1, 0], None, {0: 1.0, 1: None})
    return job


def listed(folder: Path) -> list[str]:
    return [each.id for each in kept_batches.listing(folder, owner="ann", service=SERVICE)]


def test_a_batch_comes_back_as_it_was(tmp_path: Path) -> None:
    job = batch("abcdefgh")
    kept_batches.keep(tmp_path, job, service=SERVICE)
    read = kept_batches.load(tmp_path, "abcdefgh", owner="ann", service=SERVICE)
    assert read is not None
    about = ("id", "handle", "version", "name", "columns", "state")
    same = (*about, "texts", "others", "lines", "errors", "done", "failed")
    assert {name: getattr(read, name) for name in same} == {name: getattr(job, name) for name in same}
    assert read.seconds == job.seconds
    assert read.traits["tone"].scores == job.traits["tone"].scores
    assert read.audits["tone"].judged == {0: 1.0}
    assert list(read.audits["tone"].decided) == [0, 1]
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.glob("*.json*"))


@pytest.mark.parametrize(
    ("job_id", "owner", "service"),
    [
        ("abcdefgh", "ben", SERVICE),
        ("abcdefgh", "ann", "http://other"),
        ("../abcdefgh", "ann", SERVICE),
        (None, "ann", ""),
    ],
    ids=["another person", "another service", "another folder", "no id"],
)
def test_it_is_there_for_its_owner_only(tmp_path: Path, job_id: str | None, owner: str, service: str) -> None:
    kept_batches.keep(tmp_path, batch("abcdefgh"), service=SERVICE)
    assert kept_batches.load(tmp_path, job_id, owner=owner, service=service) is None


def test_the_newest_stay_and_damage_hides_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_batches, "MOST_KEPT", 2)
    for number in range(4):
        kept_batches.keep(tmp_path, batch(f"abcdefg{number}"), service=SERVICE)
    (tmp_path / "abcdefg3.json.gz").write_bytes(b"damaged")
    (tmp_path / "zzzzzzzz.head.json").write_text("{", "utf-8")
    assert listed(tmp_path) == ["abcdefg3", "abcdefg2"]
    assert kept_batches.load(tmp_path, "abcdefg3", owner="ann", service=SERVICE) is None
    assert kept_batches.load(tmp_path, "abcdefg2", owner="ann", service=SERVICE) is not None


def test_all_of_a_model_are_removed(tmp_path: Path) -> None:
    kept_batches.keep(tmp_path, batch("abcdefgh"), service=SERVICE)
    kept_batches.keep(tmp_path, batch("bcdefghi", handle="a.c@v1"), service=SERVICE)
    kept_batches.remove_of(tmp_path, "a.b")
    assert listed(tmp_path) == ["bcdefghi"]


@pytest.mark.parametrize("name", ["texts.csv", "texts.jsonl"])
def test_a_batch_that_was_killed_goes_on_where_it_was(
    name: str, tmp_path: Path, trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [*WARM[:6], *COLD[:6]]
    lines = [f'"{text}"' if name == "texts.csv" else json.dumps({"column": text}) for text in texts]
    content = "".join(f"{line}\n" for line in lines).encode()
    asked = Asked(trained.handle)
    card = probe(trained.client, asked)
    asked = batches.pinned(asked, card)
    source = opened(name, io.BytesIO(content), header=False)
    job = Job(trained.client, asked, source, source.columns[0], name=name, keys=tuple(card.scores))
    job.keep = lambda: kept_batches.keep(tmp_path, job, service=SERVICE)
    job.keep()
    monkeypatch.setattr(batches, "KEPT_EVERY_S", 0.0)
    monkeypatch.setattr(batches, "_SHARE_OF_WRITING", 1e9)

    def killed_after_five(*asked: object) -> object:
        yield from islice(outcomes(*asked), 5)  # type: ignore[arg-type]
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(batches, "outcomes", killed_after_five)
        with pytest.raises(SystemExit):
            job.work()

    read = kept_batches.load(tmp_path, job.id, owner=job.owner, service=SERVICE, client=trained.client)
    assert read is not None
    assert (read.state, read.done, read.total) == ("stopped", 5, 12)
    read.on_end = lambda: kept_batches.keep(tmp_path, read, service=SERVICE)
    read.start()
    assert eventually(lambda: read.state != "running")
    assert (read.state, read.done, read.texts) == ("done", 12, texts)
    assert eventually(lambda: not (tmp_path / f"{job.id}.input").exists())
    again = kept_batches.load(tmp_path, job.id, owner=job.owner, service=SERVICE, client=trained.client)
    assert again is not None
    assert (again.state, again.done, again.source) == ("done", 12, None)
