"""Versions: listed, found, tagged and activated."""

import pytest

from tests.contexts import AUTHOR, SCORER, new_handle
from tests.operations.author import activate, active, get, new_model
from traitbench import errors
from traitbench.contract.versions import VersionActivate, VersionTag
from traitbench.operations import rules, versions
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import models as stored
from traitbench.store import versions as stored_versions
from traitbench.store.database import writing

DEMO = Caller("key_demo", "authoring", frozenset({"demo"}))


def _with_versions(context: Context, count: int, *, handle: str, owner: Caller) -> str:
    new_model(context, caller=owner, handle=handle)
    with writing(context.engine) as connection:
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
def handle(context: Context) -> str:
    return _with_versions(context, 3, handle=new_handle(), owner=AUTHOR)


def test_versions_are_listed_newest_first_without_snapshots(context: Context, handle: str) -> None:
    first = versions.list_versions(context, AUTHOR, handle, limit=2)
    assert [version.version_no for version in first.items] == [3, 2]
    assert all(version.snapshot is None for version in first.items)
    second = versions.list_versions(context, SCORER, handle, limit=2, cursor=first.next_cursor)
    assert [version.version_no for version in second.items] == [1]
    assert second.next_cursor is None


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"limit": 0}, errors.InvalidParameter),
        ({"limit": 251}, errors.InvalidParameter),
        ({"cursor": "x"}, errors.InvalidCursor),
    ],
)
def test_a_listing_that_makes_no_sense_is_refused(
    context: Context, handle: str, asked: dict[str, int], error: type[errors.TraitbenchError]
) -> None:
    with pytest.raises(error):
        versions.list_versions(context, AUTHOR, handle, **asked)  # type: ignore[arg-type]


def test_a_version_is_found_by_number_by_tag_and_as_the_active_one(context: Context, handle: str) -> None:
    activate(context, handle, "v2")
    versions.tag(context, AUTHOR, handle, "good")
    for name, number in (("v1", 1), ("good", 2), ("active", 2), ("v3", 3)):
        assert active(context, handle, name).version_no == number


@pytest.mark.parametrize("name", ["v4", "v0", "v99999999999999999999", "V1", "1", "nightly"])
def test_a_version_that_is_not_there_is_not_found(context: Context, handle: str, name: str) -> None:
    with pytest.raises(errors.VersionNotFound):
        active(context, handle, name)


def test_a_draft_has_no_active_version(context: Context) -> None:
    handle = new_model(context)
    assert versions.list_versions(context, AUTHOR, handle).items == []
    with pytest.raises(errors.VersionNotFound):
        active(context, handle, "active")


def test_the_snapshot_is_shown_to_authors_who_own_the_namespace(context: Context, handle: str) -> None:
    assert active(context, handle, "v3").snapshot == {"made": 3}
    assert versions.get(context, SCORER, handle, "v3").snapshot is None
    public = _with_versions(context, 1, handle=new_handle().replace("local.", "demo."), owner=DEMO)
    assert versions.get(context, DEMO, public, "v1").snapshot == {"made": 1}
    assert versions.get(context, AUTHOR, public, "v1").snapshot is None


def test_a_tag_moves_to_the_active_version_and_shows_on_both_ends(context: Context, handle: str) -> None:
    assert versions.tag(context, AUTHOR, handle, "stable").version_no == 3
    activate(context, handle, "v1")
    assert get(context, handle).version_tags == []
    assert versions.tag(context, AUTHOR, handle, "stable").version_no == 1
    versions.tag(context, AUTHOR, handle, "a")
    assert get(context, handle).version_tags == ["a", "stable"]
    assert [version.tags for version in versions.list_versions(context, AUTHOR, handle).items] == [
        [],
        [],
        ["a", "stable"],
    ]
    assert versions.untag(context, AUTHOR, handle, "a").deleted
    with pytest.raises(errors.TagNotFound):
        versions.untag(context, AUTHOR, handle, "a")


def test_any_version_can_be_tagged_and_the_note_is_the_one_that_was_sent_last(context: Context, handle: str) -> None:
    def notes(version: str) -> tuple[list[str], dict[str, str]]:
        shown = versions.get(context, SCORER, handle, version)
        return shown.tags, shown.tag_notes

    versions.tag(context, AUTHOR, handle, "good", VersionTag(version="v2", note="Checked by hand."))
    versions.tag(context, AUTHOR, handle, "plain", VersionTag(version="v2"))
    assert notes("v2") == (["good", "plain"], {"good": "Checked by hand."})
    versions.tag(context, AUTHOR, handle, "good", VersionTag(version="v1"))
    assert (notes("v2"), notes("v1")) == ((["plain"], {}), (["good"], {}))
    for missing, error in (("v9", errors.VersionNotFound), ("good", errors.ValidationFailed)):
        with pytest.raises(error):
            versions.tag(context, AUTHOR, handle, "good", VersionTag(version=missing))
    assert notes("v1") == (["good"], {})


@pytest.mark.parametrize("name", ["v1", "active", "", ".x", "a b", "é", "x" * 65])
def test_a_name_that_cannot_be_a_tag_is_refused(context: Context, handle: str, name: str) -> None:
    with pytest.raises(errors.InvalidTag):
        versions.tag(context, AUTHOR, handle, name)
    with pytest.raises(errors.InvalidTag):
        versions.untag(context, AUTHOR, handle, name)


def test_activating_changes_the_version_that_serves(context: Context, handle: str) -> None:
    versions.tag(context, AUTHOR, handle, "third")
    assert versions.activate(context, AUTHOR, handle, VersionActivate(version="v1")).version_no == 1
    assert get(context, handle).version_no == 1
    assert versions.activate(context, AUTHOR, handle, VersionActivate(tag="third")).version_no == 3
    assert get(context, handle).version_no == 3


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (VersionActivate(version="v9"), errors.VersionNotFound),
        (VersionActivate(version="third"), errors.ValidationFailed),
        (VersionActivate(tag="missing"), errors.TagNotFound),
        (VersionActivate(tag="v1"), errors.InvalidTag),
    ],
)
def test_what_cannot_be_activated_changes_nothing(
    context: Context, handle: str, body: VersionActivate, error: type[errors.TraitbenchError]
) -> None:
    with pytest.raises(error):
        versions.activate(context, AUTHOR, handle, body)
    assert get(context, handle).version_no == 3
