"""Which version served when: every change of the active version is recorded, and only an author learns by whose key."""

from dataclasses import replace

import pytest

from tests.contexts import AUTHOR, ON_BOTH, SCORER, STRANGER, done_here, export_of, new_handle, trained_here
from tests.operations.author import REFIT, TEN, fail, finish, refit, say
from traitbench.contract.bundles import Bundle, digest
from traitbench.contract.versions import VersionActivate
from traitbench.errors import InvalidParameter, ModelNotFound
from traitbench.operations import bundles, retraining, training, versions
from traitbench.operations.context import Context

ANNA = replace(AUTHOR, name="Anna")


def _shown(context: Context, handle: str) -> list[tuple[int, int | None, str, str | None]]:
    """What served, oldest first: version, the one before, cause and by whom."""
    items = versions.list_activations(context, AUTHOR, handle).items
    return [(each.version_no, each.previous_version_no, each.cause, each.by) for each in reversed(items)]


def _activate(context: Context, handle: str, number: int) -> None:
    versions.activate(context, ANNA, handle, VersionActivate(version=f"v{number}"))


def test_every_way_to_another_version_is_recorded_with_its_cause_and_key(context: Context) -> None:
    handle = trained_here(context, warm=6, cold=6)
    done_here(context, training.start(context, ANNA, handle, REFIT)[0].run_id)
    _activate(context, handle, 1)
    _activate(context, handle, 1)  # it serves already, which is no change
    say(context, handle, times=TEN)
    finish(context, handle)
    say(context, handle, first=TEN)
    done_here(context, retraining.start(context, ANNA, handle)[0].run_id)
    training.start(context, ANNA, handle, REFIT)
    fail(context, handle)
    assert _shown(context, handle) == [
        (1, None, "train", AUTHOR.key_id),
        (2, 1, "train", "Anna"),
        (1, 2, "activate", "Anna"),
        (3, 1, "retrain", None),
        (4, 3, "retrain", "Anna"),
    ]


def test_only_an_author_learns_by_whose_key(context: Context) -> None:
    handle = trained_here(context)
    public = replace(context, settings=replace(context.settings, public_namespaces=("local",)))
    for where, caller in ((context, SCORER), (public, STRANGER)):
        assert [each.by for each in versions.list_activations(where, caller, handle).items] == [None]
    with pytest.raises(ModelNotFound):
        versions.list_activations(context, STRANGER, handle)


@ON_BOTH
def test_pages_are_stable_while_versions_are_activated(context: Context) -> None:
    handle = trained_here(context)
    refit(context, handle)
    for number in (1, 2, 1, 2):
        _activate(context, handle, number)
    everything = versions.list_activations(context, ANNA, handle).items
    page = versions.list_activations(context, ANNA, handle, limit=2)
    walked = list(page.items)
    while page.next_cursor:
        _activate(context, handle, 1 + len(walked) % 2)
        page = versions.list_activations(context, ANNA, handle, limit=2, cursor=page.next_cursor)
        walked += page.items
    assert walked == everything
    assert [each.version_no for each in everything] == [2, 1, 2, 1, 2, 1]
    with pytest.raises(InvalidParameter):
        versions.list_activations(context, ANNA, handle, limit=251)


def test_a_bundle_keeps_the_record_and_the_import_is_its_last_entry(context: Context) -> None:
    handle, copy, draft = trained_here(context), new_handle(), new_handle()
    bundle = Bundle.model_validate_json(export_of(context, AUTHOR, handle).model_dump_json())
    bundles.import_(context, ANNA, bundle, copy)
    first, own = reversed(versions.list_activations(context, ANNA, copy).items)
    assert [first] == versions.list_activations(context, ANNA, handle).items
    assert (own.version_no, own.previous_version_no, own.cause, own.by) == (1, None, "import", "Anna")
    without = bundle.model_copy(update={"versions": []})
    bundles.import_(context, ANNA, without.model_copy(update={"sha256": digest(without)}), draft)
    assert _shown(context, draft) == []
