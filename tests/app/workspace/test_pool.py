"""The file of the pools: what it keeps, for whom, and for how long."""

import stat
from pathlib import Path

import pytest

from traitbench.contract.samples import text_hash
from traitbench_app.workspace.pool import Decision, PoolFile, PoolOwner

MINE = PoolOwner("http://here", "lab.tone", "operator")
OTHERS = (
    PoolOwner("http://there", "lab.tone", "operator"),
    PoolOwner("http://here", "lab.other", "operator"),
    PoolOwner("http://here", "lab.tone", "p1"),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "heaps.db"


def test_a_text_is_kept_once_and_survives_a_restart(path: Path) -> None:
    assert PoolFile(path).add(MINE, ["b", "a", "b"], "one.csv") == 2
    again = PoolFile(path)
    assert again.add(MINE, ["a", "c"], "pasted") == 1
    assert list(again.texts(MINE).items()) == sorted((text_hash(text), text) for text in "abc")
    assert again.sources(MINE) == [("one.csv", 2), ("pasted", 1)]


def test_only_the_owner_of_the_file_can_read_it(path: Path) -> None:
    PoolFile(path).add(MINE, ["a"], "")
    files = [path, *path.parent.glob("heaps.db-*")]
    assert [stat.S_IMODE(each.stat().st_mode) for each in files] == [0o600] * len(files)


def test_pools_of_other_people_models_and_services_are_apart(path: Path) -> None:
    file = PoolFile(path)
    for place in (MINE, *OTHERS):
        assert file.add(place, ["a"], "") == 1
    file.decide(MINE, [Decision("warmth", "h", 1.0)])
    file.discard(MINE)
    assert (file.texts(MINE), file.decisions(MINE)) == ({}, [])
    assert all(len(file.texts(place)) == 1 for place in OTHERS)


def test_a_discarded_text_is_not_left_in_the_file(path: Path) -> None:
    file = PoolFile(path)
    file.add(MINE, ["a very secret sentence"], "")
    assert b"very secret" in path.read_bytes()
    file.discard_model(MINE.service, MINE.model)
    assert b"very secret" not in path.read_bytes()


def test_a_decision_waits_until_it_is_saved_and_can_be_undone(path: Path) -> None:
    file = PoolFile(path)
    skip, label = Decision("warmth", "h1", None), Decision("warmth", "h2", 0.67)
    file.decide(MINE, [skip, label])
    assert [each.pending for each in file.decisions(MINE)] == [False, True]
    file.saved(MINE, [Decision("warmth", "h2", 0.67, sample_id=12)])
    assert PoolFile(path).decisions(MINE) == [skip, Decision("warmth", "h2", 0.67, 12)]
    file.undo(MINE, "warmth", "h2")
    assert file.decisions(MINE) == [skip]


def test_without_a_path_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = PoolFile(None)
    assert file.add(MINE, ["a"], "") == 1
    assert len(file.texts(MINE)) == 1
    assert list(tmp_path.iterdir()) == []
