"""The file of texts to label that earlier releases wrote: read for one person, removed without a trace."""

from pathlib import Path

import pytest

from tests.app.workspace.earlier import write_earlier
from traitbench.contract.samples import text_hash
from traitbench_app.workspace import earlier_pool
from traitbench_app.workspace.earlier_pool import EarlierPool, PoolOwner

MINE = PoolOwner("http://here", "lab.tone", "operator")
OTHERS = (
    PoolOwner("http://there", "lab.tone", "operator"),
    PoolOwner("http://here", "lab.other", "operator"),
    PoolOwner("http://here", "lab.tone", "p1"),
)


def write(path: Path, owner: PoolOwner) -> None:
    decided = [("warmth", "one", 1.0, None), ("warmth", "two", None, None), ("haste", "one", 0.5, 7)]
    write_earlier(path, owner.service, owner.model, owner.owner, ["one", "two"], f"{owner.owner}.csv", decided)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "heaps.db"


def test_a_person_gets_their_texts_and_what_was_not_saved(path: Path) -> None:
    for owner in (MINE, *OTHERS):
        write(path, owner)
    assert earlier_pool.read(path, MINE) == EarlierPool(
        {text_hash(each): (each, "operator.csv") for each in ("one", "two")},
        {("warmth", text_hash("one")): 1.0, ("warmth", text_hash("two")): None},
    )
    earlier_pool.remove(path, MINE)
    assert earlier_pool.read(path, MINE) is None
    assert all(earlier_pool.read(path, owner) for owner in OTHERS)


def test_the_file_goes_with_its_last_text_and_no_text_stays_in_it(path: Path) -> None:
    write(path, MINE)
    write_earlier(path, "http://here", "lab.other", "operator", ["another sentence"], "")
    earlier_pool.remove_of(path, ["lab.other", "lab.none"], service="http://here")
    assert b"another sentence" not in path.read_bytes()
    earlier_pool.remove(path, MINE)
    assert not path.exists()
    assert earlier_pool.read(path, MINE) is None
    earlier_pool.remove_of(path, ["lab.tone"], service="http://here")
