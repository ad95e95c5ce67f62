"""Promotion: what a model gets from its fork, what it keeps, what is refused, and what scores in between."""

from dataclasses import replace

import pytest

from tests.contexts import AUTHOR, ON_BOTH, SCORER, STRANGER, done_here, draft, export_of, new_handle, trained_here
from tests.operations import author
from traitbench import errors
from traitbench.contract.models import PromoteRequest
from traitbench.contract.scores import Card
from traitbench.contract.traits import DiscoverRequest, TraitInput
from traitbench.operations import bundles, discovery, models, promotion, training, traits, versions
from traitbench.operations.context import Context
from traitbench.store import tables, version_samples
from traitbench.store.database import reading, writing


def card(context: Context, handle: str) -> Card:
    """A card without the number of the version."""
    shown = author.score(context, handle, caller=SCORER)
    return shown.model_copy(update={"metadata": shown.metadata.model_copy(update={"version_id": ""})})


def _record(context: Context, version_id: int) -> bytes | None:
    """The record of the samples that a version was trained with."""
    with reading(context.engine) as connection:
        record = version_samples.read(connection, version_id)
    return None if record is None else record.tobytes()


def _discovered_fork(context: Context) -> tuple[str, str]:
    """A trained model with two traits, and a fork of it that discovered more."""
    handle = author.headlines(context)
    author.train(context, handle)
    copy = author.fork(context, handle).handle
    done_here(context, discovery.start(context, AUTHOR, copy, DiscoverRequest(effort="low")).run_id)
    return handle, copy


# ---- what the model gets ---------------------------------------------------------------------------------------------


@ON_BOTH
def test_the_fork_becomes_the_next_version_and_scores_switch_at_once(context: Context) -> None:
    handle = trained_here(context)
    copy = author.improved(context, handle)
    author.refit(context, copy)
    source = author.active(context, copy)
    old, new = card(context, handle), card(context, copy)
    assert old != new
    promoted = author.promote(context, handle, copy)
    assert (promoted.version_no, promoted.triggered_by, promoted.run_id) == (2, "backfill", None)
    assert card(context, handle) == card(context, f"{handle}@v2") == new
    assert card(context, f"{handle}@v1") == old
    model, shown = author.get(context, handle), author.active(context, handle)
    assert (model.state, model.version_no, model.current_version_id) == ("ready", 2, promoted.version_id)
    assert promoted == shown.model_copy(update={"snapshot": None})
    same = {"param_hash", "sample_count", "snapshot"}
    assert shown.model_dump(include=same) == source.model_dump(include=same)
    own = shown.metrics.model_dump()
    lineage = {"handle": copy, "version_no": 2, "feedback_carried": 0, "feedback_dropped": 0}
    assert own.pop("promoted_from") == lineage
    assert own == source.metrics.model_dump()
    assert _record(context, source.version_id)
    assert _record(context, shown.version_id) == _record(context, source.version_id)
    last = versions.list_activations(context, AUTHOR, handle).items[0]
    assert (last.version_no, last.previous_version_no, last.cause, last.by) == (2, 1, "promote", AUTHOR.key_id)
    assert author.get(context, copy).state == "archived"
    assert models.restore(context, AUTHOR, copy).state == "ready"


@ON_BOTH
def test_traits_samples_and_vectors_become_the_models_and_a_fork_that_is_kept_keeps_its_own(context: Context) -> None:
    handle = trained_here(context)
    old = {sample.id for sample in author.samples_of(context, handle)}
    copy = author.improved(context, handle)
    before = export_of(context, AUTHOR, copy)
    author.promote(context, handle, copy, keep=True)
    after = export_of(context, AUTHOR, handle)
    assert (after.samples, after.traits) == (before.samples, before.traits)
    assert (export_of(context, AUTHOR, copy), author.get(context, copy).state) == (before, "ready")
    new = {sample.id for sample in author.samples_of(context, handle)}
    assert not new & (old | {sample.id for sample in author.samples_of(context, copy)})
    assert author.vectors_of(context, handle) == author.vectors_of(context, copy) > 0
    assert author.refit(context, handle).param_hash == author.refit(context, copy).param_hash


def test_discovered_traits_come_along_and_feedback_on_traits_that_are_gone_does_not(context: Context) -> None:
    handle, copy = _discovered_fork(context)
    traits.delete(context, AUTHOR, copy, "mood")
    author.train(context, copy)
    dropped = author.give_feedback(context, handle, "Said of the mood.", mood=1.0)
    carried = author.give_feedback(context, handle, "Said of clickbait.", clickbait=1.0)
    lineage = author.promote(context, handle, copy, keep=True).metrics.promoted_from
    assert lineage is not None
    assert (lineage.feedback_carried, lineage.feedback_dropped) == (1, 1)
    ids = {sample.id for sample in author.samples_of(context, handle)}
    assert (dropped in ids, carried in ids) == (False, True)
    left, right = (traits.list_traits(context, AUTHOR, each).traits for each in (handle, copy))
    assert [trait.key for trait in left] == [trait.key for trait in right]
    anchors = next(trait for trait in left if trait.kind == "intrinsic").anchor_sample_ids
    assert anchors is not None
    assert {*anchors.positive, *anchors.negative} <= ids
    assert anchors.positive or anchors.negative
    # Earlier versions keep their traits, and can be active again.
    assert "mood" in author.score(context, f"{handle}@v1").scores
    author.activate(context, handle, "v1")
    with pytest.raises(errors.ValidationFailed):
        author.give_feedback(context, handle, mood=1.0)
    assert bundles.import_(context, AUTHOR, export_of(context, AUTHOR, handle), new_handle()).version_no == 1


def test_the_model_keeps_its_settings_but_those_that_the_version_was_trained_with(context: Context) -> None:
    handle = trained_here(context)
    copy = author.fork(context, handle).handle
    author.update(
        context, copy, max_depth=2, description="of the fork", main_trait="warmth", demo_texts=["Of the fork."]
    )
    author.train(context, copy)
    author.update(context, copy, max_depth=3)
    author.update(context, handle, description="of the model")
    author.promote(context, handle, copy, keep=True)
    model = author.get(context, handle)
    assert (model.description, model.max_depth, model.forked_from) == ("of the model", 2, None)
    # How it is shown is taken over where the model has nothing of its own.
    assert (model.main_trait, model.demo_texts) == ("warmth", ["Of the fork."])
    author.update(context, handle, demo_texts=["Of the model."])
    author.promote(context, handle, copy, force=True)
    assert author.get(context, handle).demo_texts == ["Of the model."]


def test_old_versions_are_pruned_and_a_held_one_is_held_no_more(context: Context) -> None:
    handle = trained_here(context)
    copy, held = author.improved(context, handle), {"held_version_id": author.get(context, handle).current_version_id}
    author.update(context, handle, version_retention_policy={"keep_unnamed": 0, "keep_first_of_month": False})
    with writing(context.engine) as connection:
        mine = tables.models.update().where(tables.models.c.id == author.row(context, handle).id)
        connection.execute(mine.values(**held, held_up_to=1))
    assert author.get(context, handle).held_version_no == 1
    author.promote(context, handle, copy)
    assert author.get(context, handle).held_version_no is None
    assert [each.version_no for each in versions.list_versions(context, AUTHOR, handle).items] == [2]


# ---- zero retention --------------------------------------------------------------------------------------------------


@ON_BOTH
def test_a_model_under_zero_retention_gets_version_and_traits_only(context: Context) -> None:
    handle = trained_here(context)
    copy = author.improved(context, handle)
    author.update(context, handle, zero_data_retention=True)
    new = card(context, copy)
    promoted = author.promote(context, handle, copy)
    assert (author.samples_of(context, handle), author.vectors_of(context, handle)) == ([], 0)
    assert card(context, handle) == new
    assert _record(context, promoted.version_id) is None

    silent = author.fork(context, handle).handle
    author.add_samples(context, silent, [(f"text {number}", number % 2) for number in range(4)])
    author.train(context, silent)
    assert author.promote(context, handle, silent).version_no == 3
    assert author.samples_of(context, handle) == []


def test_words_that_discovery_took_from_the_forks_samples_do_not_come_along(context: Context) -> None:
    handle, copy = _discovered_fork(context)
    author.train(context, copy)
    author.update(context, handle, zero_data_retention=True)
    promoted = author.promote(context, handle, copy, keep=True)
    words = [trait.name for trait in traits.list_traits(context, AUTHOR, copy).traits if trait.kind == "intrinsic"]
    assert words
    mine = export_of(context, AUTHOR, handle).model_dump_json()
    assert not any(word in mine for word in words)
    assert promoted.param_hash == author.active(context, handle).param_hash != author.active(context, copy).param_hash


def test_a_fork_under_zero_retention_would_take_the_models_samples_away(context: Context) -> None:
    handle = trained_here(context)
    copy = author.improved(context, handle)
    author.give_feedback(context, handle, "Said meanwhile.")
    author.update(context, copy, zero_data_retention=True)
    _is_refused(context, handle, copy, "samples_lost", match="would lose its samples")
    assert len(author.samples_of(context, handle)) == 5
    author.promote(context, handle, copy, force=True)
    assert [sample.text for sample in author.samples_of(context, handle)] == ["Said meanwhile."]


# ---- refusals --------------------------------------------------------------------------------------------------------


def _is_refused(
    context: Context, handle: str, origin: str, reason: str, *, match: str | None = None, force: bool = False
) -> errors.PromotionConflict:
    with pytest.raises(errors.PromotionConflict, match=match) as caught:
        author.promote(context, handle, origin, force=force)
    assert [each["reason"] for each in caught.value.details["reasons"]] == [reason]
    return caught.value


def test_a_model_that_is_no_fork_is_promoted_only_by_force(context: Context) -> None:
    handle, other = trained_here(context), trained_here(context, warm=3, cold=3)
    waiting = author.give_feedback(context, handle)
    refused = _is_refused(context, handle, other, "not_a_fork", match="is not a fork of")
    assert refused.details["newer_versions"] == []
    author.promote(context, handle, other, force=True)
    ids = {sample.id for sample in author.samples_of(context, handle)}
    assert (len(ids), waiting in ids) == (7, True)
    grandchild = author.fork(context, author.fork(context, handle).handle).handle
    author.train(context, grandchild)
    _is_refused(context, handle, grandchild, "not_a_fork")


def test_a_model_that_has_newer_versions_says_which(context: Context) -> None:
    handle = trained_here(context)
    copy = author.improved(context, handle)
    author.refit(context, handle)
    _is_refused(context, handle, copy, "newer_versions", match=f"{handle} got v2 after")
    author.refit(context, handle)
    refused = _is_refused(context, handle, copy, "newer_versions", match="got v2 to v3 after")
    assert (refused.details["newer_versions"], refused.details["forked_after_version_no"]) == ([2, 3], 1)
    assert author.get(context, copy).state == "ready"
    assert author.promote(context, handle, copy, force=True).version_no == 4


def test_going_back_to_an_earlier_version_is_no_conflict(context: Context) -> None:
    handle = trained_here(context)
    author.refit(context, handle)
    copy = author.improved(context, handle)
    author.activate(context, handle, "v1")
    assert author.promote(context, handle, copy).version_no == 3
    assert versions.list_activations(context, AUTHOR, handle).items[0].previous_version_no == 1


def test_an_imported_fork_does_not_know_what_happened_since(context: Context) -> None:
    handle = trained_here(context)
    bundle = export_of(context, AUTHOR, author.improved(context, handle))
    imported = bundles.import_(context, AUTHOR, bundle, new_handle())
    assert imported.forked_from is not None
    assert imported.forked_from.handle == handle
    _is_refused(context, handle, imported.handle, "imported")
    assert author.promote(context, handle, imported.handle, force=True).version_no == 2


def test_a_version_with_other_traits_than_its_model_is_not_promoted(context: Context) -> None:
    handle = trained_here(context)
    copy, other = author.improved(context, handle), author.new_model(context, TraitInput(name="Length"))
    author.add_samples(context, other, [(f"text {number}", number % 2) for number in range(4)], trait="length")
    author.train(context, other)
    author.promote(context, copy, other, force=True)
    author.activate(context, copy, "v1")
    _is_refused(context, handle, copy, "other_traits", match="has other traits", force=True)


def test_both_models_have_to_be_the_callers_and_ready(context: Context) -> None:
    handle, empty, busy, gone = trained_here(context), draft(context), draft(context, warm=1, cold=1), draft(context)
    training.start(context, AUTHOR, busy, author.QUICK)
    models.delete(context, AUTHOR, gone)
    for caller, target, origin, error in (
        (SCORER, handle, empty, errors.InsufficientScope),
        (STRANGER, handle, "elsewhere.model", errors.NamespaceForbidden),
        (AUTHOR, "elsewhere.model", handle, errors.NamespaceForbidden),
        (AUTHOR, handle, "elsewhere.model", errors.NamespaceForbidden),
        (AUTHOR, handle, "Bad", errors.InvalidHandle),
        (AUTHOR, handle, f"{handle}@v1", errors.InvalidHandle),
        (AUTHOR, handle, new_handle(), errors.ModelNotFound),
        (AUTHOR, new_handle(), handle, errors.ModelNotFound),
        (AUTHOR, handle, handle, errors.ValidationFailed),
        (AUTHOR, handle, empty, errors.ModelNotTrained),
        (AUTHOR, empty, handle, errors.ModelNotTrained),
        (AUTHOR, handle, busy, errors.ModelBusy),
        (AUTHOR, busy, handle, errors.ModelBusy),
        (AUTHOR, handle, gone, errors.ModelArchived),
        (AUTHOR, gone, handle, errors.ModelArchived),
    ):
        body = PromoteRequest.model_validate({"from": origin, "force": True})
        with pytest.raises(error):
            promotion.promote(context, caller, target, body)
    assert author.get(context, handle).version_no == 1


@ON_BOTH
def test_a_promotion_that_would_exceed_the_limit_of_samples_changes_nothing(context: Context) -> None:
    handle = trained_here(context)
    copy = author.improved(context, handle)
    author.give_feedback(context, handle)
    before = export_of(context, AUTHOR, handle)
    narrow = replace(context, settings=replace(context.settings, max_samples=8))
    with pytest.raises(errors.ValidationFailed, match="at most 8"):
        author.promote(narrow, handle, copy)
    assert export_of(context, AUTHOR, handle) == before
