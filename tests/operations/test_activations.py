"""Which version served when: every change of the active version is recorded, and only an author learns by whose key."""

from dataclasses import replace

import pytest

from tests.contexts import AUTHOR, SCORER, STRANGER, done_here, export_of, new_handle, trained_here
from tests.operations.test_retraining import TEN, _fail, _row, _say
from traitbench.contract.bundles import Bundle, digest
from traitbench.contract.models import TrainRequest
from traitbench.contract.versions import Activation, VersionActivate
from traitbench.errors import InvalidParameter, ModelNotFound
from traitbench.operations import bundles, retraining, training, versions
from traitbench.operations.context import Context

ANNA = replace(AUTHOR, name="Anna")


def _shown(context: Context, handle: str) -> list[tuple[int, int | None, str, str | None]]:
    """What served, oldest first: version, the one before, cause and by whom."""
    items = versions.list_activations(context, AUTHOR, handle).items
    return [(each.version_no, each.previous_version_no, each.cause, each.by) for each in reversed(items)]


def test_every_way_to_another_version_is_recorded_with_its_cause_and_key(context: Context) -> None:
    handle = trained_here(context, warm=6, cold=6)
    done_here(
        context, training.start(context, ANNA, handle, TrainRequest(effort="low", reoptimize_params=True))[0].run_id
    )
    versions.activate(context, ANNA, handle, VersionActivate(version="v1"))
    _say(context, handle, times=TEN)
    done_here(context, _row(context, handle).run_id)
    _say(context, handle, first=TEN)
    done_here(context, retraining.start(context, ANNA, handle)[0].run_id)
    assert _shown(context, handle) == [
        (1, None, "train", AUTHOR.key_id),
        (2, 1, "train", "Anna"),
        (1, 2, "activate", "Anna"),
        (3, 1, "retrain", None),
        (4, 3, "retrain", "Anna"),
    ]


def test_the_version_that_already_serves_is_not_recorded_again(context: Context) -> None:
    handle = trained_here(context)
    versions.activate(context, ANNA, handle, VersionActivate(version="v1"))
    assert len(_shown(context, handle)) == 1


def test_a_run_that_fails_activates_nothing(context: Context) -> None:
    handle = trained_here(context)
    training.start(context, ANNA, handle, TrainRequest(effort="low", reoptimize_params=True))
    _fail(context, handle)
    assert len(_shown(context, handle)) == 1


def test_only_an_author_learns_by_whose_key(context: Context) -> None:
    handle = trained_here(context)
    [by] = [each.by for each in versions.list_activations(context, SCORER, handle).items]
    assert by is None
    demo = replace(context, settings=replace(context.settings, public_namespaces=("local",)))
    [by] = [each.by for each in versions.list_activations(demo, STRANGER, handle).items]
    assert by is None
    with pytest.raises(ModelNotFound):
        versions.list_activations(context, STRANGER, handle)


def test_a_copy_without_versions_has_no_past(context: Context) -> None:
    bundle = export_of(context, AUTHOR, trained_here(context)).model_copy(update={"versions": []})
    copy = new_handle()
    bundles.import_(context, ANNA, bundle.model_copy(update={"sha256": digest(bundle)}), copy)
    assert _shown(context, copy) == []


def test_pages_are_stable_while_versions_are_activated(context: Context) -> None:
    handle = trained_here(context)
    done_here(
        context, training.start(context, ANNA, handle, TrainRequest(effort="low", reoptimize_params=True))[0].run_id
    )
    for number in (1, 2, 1, 2):
        versions.activate(context, ANNA, handle, VersionActivate(version=f"v{number}"))
    everything = versions.list_activations(context, ANNA, handle).items
    page = versions.list_activations(context, ANNA, handle, limit=2)
    walked = list(page.items)
    while page.next_cursor:
        versions.activate(context, ANNA, handle, VersionActivate(version=f"v{1 + len(walked) % 2}"))
        page = versions.list_activations(context, ANNA, handle, limit=2, cursor=page.next_cursor)
        walked += page.items
    assert walked == everything
    assert [each.version_no for each in everything] == [2, 1, 2, 1, 2, 1]
    with pytest.raises(InvalidParameter):
        versions.list_activations(context, ANNA, handle, limit=251)


def test_a_bundle_keeps_the_record_and_the_import_is_its_last_entry(context: Context) -> None:
    handle = trained_here(context)
    copy = new_handle()
    bundle = Bundle.model_validate_json(export_of(context, AUTHOR, handle).model_dump_json())
    bundles.import_(context, ANNA, bundle, copy)
    first, own = reversed(versions.list_activations(context, ANNA, copy).items)
    [original] = versions.list_activations(context, ANNA, handle).items
    assert first == original
    assert own.model_dump(exclude={"activated_at"}) == Activation(
        version_no=1, previous_version_no=None, activated_at=own.activated_at, cause="import", by="Anna"
    ).model_dump(exclude={"activated_at"})
