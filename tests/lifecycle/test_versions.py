import pytest

from tests.benches import AUTHOR, SCORER, new_handle
from traitbench.contract.models import ModelCreate
from traitbench.contract.versions import VersionActivate
from traitbench.errors import (
    InvalidCursor,
    InvalidParameter,
    InvalidTag,
    TagNotFound,
    TraitbenchError,
    ValidationFailed,
    VersionNotFound,
)
from traitbench.lifecycle import models, rules, versions
from traitbench.lifecycle.bench import Bench
from traitbench.lifecycle.callers import Caller
from traitbench.store import models as stored
from traitbench.store import versions as stored_versions
from traitbench.store.engine import writing

DEMO = Caller("key_demo", "authoring", frozenset({"demo"}))


def _with_versions(bench: Bench, count: int, *, handle: str, owner: Caller) -> str:
    models.create(bench, owner, ModelCreate(handle=handle))
    with writing(bench.engine) as connection:
        for number in range(1, count + 1):
            model = stored.hold(connection, handle)
            assert model is not None
            version_id = stored_versions.add(
                connection,
                snapshot={"made": number},
                model_id=model.id,
                version_no=stored.next_version_no(connection, model.id),
                triggered_by="train",
                param_hash=f"sha256:{number}",
                sample_count=2,
                run_id=f"{handle}{number}",
                metrics={"auroc": None},
                created_at=rules.now(),
            )
            stored.move(connection, model, "ready", now=rules.now(), active_version_id=version_id)
    return handle


@pytest.fixture
def handle(bench: Bench) -> str:
    return _with_versions(bench, 3, handle=new_handle(), owner=AUTHOR)


def test_versions_are_listed_newest_first_without_snapshots(bench: Bench, handle: str) -> None:
    first = versions.list_versions(bench, AUTHOR, handle, limit=2)
    assert [version.version_no for version in first.items] == [3, 2]
    assert all(version.snapshot is None for version in first.items)
    second = versions.list_versions(bench, SCORER, handle, limit=2, cursor=first.next_cursor)
    assert [version.version_no for version in second.items] == [1]
    assert second.next_cursor is None


@pytest.mark.parametrize(
    ("asked", "error"),
    [({"limit": 0}, InvalidParameter), ({"limit": 251}, InvalidParameter), ({"cursor": "x"}, InvalidCursor)],
)
def test_a_listing_that_makes_no_sense_is_refused(
    bench: Bench, handle: str, asked: dict[str, int], error: type[TraitbenchError]
) -> None:
    with pytest.raises(error):
        versions.list_versions(bench, AUTHOR, handle, **asked)  # type: ignore[arg-type]


def test_a_version_is_found_by_number_by_tag_and_as_the_active_one(bench: Bench, handle: str) -> None:
    versions.activate(bench, AUTHOR, handle, VersionActivate(version="v2"))
    versions.tag(bench, AUTHOR, handle, "good")
    for name, number in (("v1", 1), ("good", 2), ("active", 2), ("v3", 3)):
        assert versions.get(bench, AUTHOR, handle, name).version_no == number


@pytest.mark.parametrize("name", ["v4", "v0", "v99999999999999999999", "V1", "1", "nightly"])
def test_a_version_that_is_not_there_is_not_found(bench: Bench, handle: str, name: str) -> None:
    with pytest.raises(VersionNotFound):
        versions.get(bench, AUTHOR, handle, name)


def test_a_draft_has_no_active_version(bench: Bench) -> None:
    handle = new_handle()
    models.create(bench, AUTHOR, ModelCreate(handle=handle))
    assert versions.list_versions(bench, AUTHOR, handle).items == []
    with pytest.raises(VersionNotFound):
        versions.get(bench, AUTHOR, handle, "active")


def test_the_snapshot_is_shown_to_authors_who_own_the_namespace(bench: Bench, handle: str) -> None:
    assert versions.get(bench, AUTHOR, handle, "v3").snapshot == {"made": 3}
    assert versions.get(bench, SCORER, handle, "v3").snapshot is None
    public = _with_versions(bench, 1, handle=new_handle().replace("local.", "demo."), owner=DEMO)
    assert versions.get(bench, DEMO, public, "v1").snapshot == {"made": 1}
    assert versions.get(bench, AUTHOR, public, "v1").snapshot is None


def test_a_tag_moves_to_the_active_version_and_shows_on_both_ends(bench: Bench, handle: str) -> None:
    assert versions.tag(bench, AUTHOR, handle, "stable").version_no == 3
    versions.activate(bench, AUTHOR, handle, VersionActivate(version="v1"))
    assert models.get(bench, AUTHOR, handle).version_tags == []
    assert versions.tag(bench, AUTHOR, handle, "stable").version_no == 1
    versions.tag(bench, AUTHOR, handle, "a")
    assert models.get(bench, AUTHOR, handle).version_tags == ["a", "stable"]
    assert [version.tags for version in versions.list_versions(bench, AUTHOR, handle).items] == [
        [],
        [],
        ["a", "stable"],
    ]
    assert versions.untag(bench, AUTHOR, handle, "a").deleted
    with pytest.raises(TagNotFound):
        versions.untag(bench, AUTHOR, handle, "a")


@pytest.mark.parametrize("name", ["v1", "active", "", ".x", "a b", "é", "x" * 65])
def test_a_name_that_cannot_be_a_tag_is_refused(bench: Bench, handle: str, name: str) -> None:
    with pytest.raises(InvalidTag):
        versions.tag(bench, AUTHOR, handle, name)
    with pytest.raises(InvalidTag):
        versions.untag(bench, AUTHOR, handle, name)


def test_activating_changes_the_version_that_serves(bench: Bench, handle: str) -> None:
    versions.tag(bench, AUTHOR, handle, "third")
    assert versions.activate(bench, AUTHOR, handle, VersionActivate(version="v1")).version_no == 1
    assert models.get(bench, AUTHOR, handle).version_no == 1
    assert versions.activate(bench, AUTHOR, handle, VersionActivate(tag="third")).version_no == 3
    assert models.get(bench, AUTHOR, handle).version_no == 3


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (VersionActivate(version="v9"), VersionNotFound),
        (VersionActivate(version="third"), ValidationFailed),
        (VersionActivate(tag="missing"), TagNotFound),
        (VersionActivate(tag="v1"), InvalidTag),
    ],
)
def test_what_cannot_be_activated_changes_nothing(
    bench: Bench, handle: str, body: VersionActivate, error: type[TraitbenchError]
) -> None:
    with pytest.raises(error):
        versions.activate(bench, AUTHOR, handle, body)
    assert models.get(bench, AUTHOR, handle).version_no == 3
