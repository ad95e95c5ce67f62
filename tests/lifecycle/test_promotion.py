"""Promotion: what a model gets from its fork, what it keeps, what is refused, and what scores in between."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import delete, select

from tests.contexts import (
    AUTHOR,
    ON_SQLITE,
    SCORER,
    STRANGER,
    done_here,
    draft,
    export_of,
    new_handle,
    trained_here,
)
from tests.lifecycle.test_discovery import LOW, _headlines
from tests.lifecycle.test_explaining import both, explained
from tests.lifecycle.test_forking import (
    QUICK,
    add_test_samples,
    fork,
    give_feedback,
    samples_of,
    trained,
    vectors_of,
    without_ids,
)
from traitbench.contract.models import (
    ModelUpdate,
    PromoteRequest,
    TrainRequest,
    VersionRetentionPolicy,
)
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.scores import Card, ScoreRequest
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.contract.versions import Version, VersionActivate
from traitbench.errors import (
    InsufficientScope,
    InvalidHandle,
    ModelArchived,
    ModelBusy,
    ModelNotFound,
    ModelNotTrained,
    NamespaceForbidden,
    PromotionConflict,
    ValidationFailed,
)
from traitbench.lifecycle import (
    bundles,
    discovery,
    feedback,
    models,
    promotion,
    retraining,
    samples,
    scores,
    training,
    traits,
    versions,
)
from traitbench.lifecycle.context import Context
from traitbench.store import models as stored_models
from traitbench.store import tables, version_samples
from traitbench.store.engine import reading, writing

TEXT = "Thank you for your letter, dear friend."
REFIT = TrainRequest(effort="low", reoptimize_params=True)


def promote(context: Context, handle: str, origin: str, **options: bool) -> Version:
    return promotion.promote(context, AUTHOR, handle, PromoteRequest.model_validate({"from": origin, **options}))


def refit(context: Context, handle: str) -> Version:
    done_here(context, training.start(context, AUTHOR, handle, REFIT)[0].run_id)
    return versions.get(context, AUTHOR, handle, "active")


def card(context: Context, handle: str) -> Card:
    shown = scores.score(context, SCORER, handle, ScoreRequest(content=TEXT), request_id="req_1")
    return shown.model_copy(update={"metadata": shown.metadata.model_copy(update={"version_id": ""})})


def improved(context: Context, handle: str) -> str:
    """A trained fork with samples of its own."""
    copy = fork(context, handle).handle
    sent = [SampleInput(trait="warmth", text=f"so glad {number}", quality=1.0) for number in range(3)]
    samples.add(context, AUTHOR, copy, SamplesCreate(samples=sent))
    samples.delete(context, AUTHOR, copy, samples_of(context, copy)[0].id)
    add_test_samples(context, copy)
    trained(context, copy)
    return copy


def activations(context: Context, handle: str) -> list[tuple[Any, ...]]:
    columns = tables.activations.c
    shown = select(columns.version_no, columns.previous_version_no, columns.cause, columns.by)
    joined = shown.join(tables.models, tables.models.c.id == columns.model_id)
    with reading(context.engine) as connection:
        rows = connection.execute(joined.where(tables.models.c.handle == handle).order_by(columns.id))
        return [tuple(row) for row in rows]


def reasons(error: PromotionConflict) -> list[str]:
    return [each["reason"] for each in error.details["reasons"]]


# ---- what the model gets ---------------------------------------------------------------------------------------------


def test_the_fork_becomes_the_next_version_and_scores_switch_at_once(context: Context) -> None:
    handle = trained_here(context)
    copy = improved(context, handle)
    old, new = card(context, handle), card(context, copy)
    assert old != new
    promoted = promote(context, handle, copy)
    assert (promoted.version_no, promoted.triggered_by, promoted.run_id) == (2, "backfill", None)
    assert promoted.snapshot is None
    assert card(context, handle) == card(context, f"{handle}@v2") == new
    assert card(context, f"{handle}@v1") == old
    model = models.get(context, AUTHOR, handle)
    assert (model.state, model.version_no, model.current_version_id) == ("ready", 2, promoted.version_id)
    assert activations(context, handle)[-1] == (2, 1, "promote", AUTHOR.key_id)


def test_the_version_is_that_of_the_fork_and_says_so(context: Context) -> None:
    handle = trained_here(context)
    copy = improved(context, handle)
    refit(context, copy)
    source = versions.get(context, AUTHOR, copy, "active")
    promoted = promote(context, handle, copy)
    shown = versions.get(context, AUTHOR, handle, "v2")
    assert shown.model_copy(update={"snapshot": None}) == promoted
    assert (shown.param_hash, shown.sample_count, shown.snapshot) == (
        source.param_hash,
        source.sample_count,
        source.snapshot,
    )
    own = shown.metrics.model_dump()
    lineage = {"handle": copy, "version_no": 2, "feedback_carried": 0, "feedback_dropped": 0}
    assert own.pop("promoted_from") == lineage
    assert own == source.metrics.model_dump()
    with reading(context.engine) as connection:
        left, right = (version_samples.read(connection, each.version_id) for each in (source, shown))
    assert left is not None
    assert right is not None
    assert left.tobytes() == right.tobytes()


def test_traits_samples_and_vectors_become_the_models_and_the_fork_keeps_its_own(context: Context) -> None:
    handle = trained_here(context)
    old = {sample.id for sample in samples_of(context, handle)}
    copy = improved(context, handle)
    before = export_of(context, AUTHOR, copy)
    promote(context, handle, copy, keep=True)
    after = export_of(context, AUTHOR, handle)
    assert (after.samples, after.traits) == (before.samples, before.traits)
    assert export_of(context, AUTHOR, copy) == before
    assert without_ids(samples_of(context, handle)) == without_ids(samples_of(context, copy))
    new = {sample.id for sample in samples_of(context, handle)}
    assert not new & (old | {sample.id for sample in samples_of(context, copy)})
    assert vectors_of(context, handle) == vectors_of(context, copy) > 0
    assert refit(context, handle).param_hash == refit(context, copy).param_hash


@ON_SQLITE
def test_discovered_traits_come_along(context: Context) -> None:
    handle = _headlines(context)
    done_here(context, training.start(context, AUTHOR, handle, QUICK)[0].run_id)
    copy = fork(context, handle).handle
    done_here(context, discovery.start(context, AUTHOR, copy, LOW).run_id)
    traits.delete(context, AUTHOR, copy, "mood")
    trained(context, copy)
    given = feedback_on(context, handle, mood=1.0), feedback_on(context, handle, clickbait=1.0)
    promoted = promote(context, handle, copy, keep=True)
    assert promoted.metrics.promoted_from is not None
    assert promoted.metrics.promoted_from.feedback_carried == 1
    assert promoted.metrics.promoted_from.feedback_dropped == 1
    ids = {sample.id for sample in samples_of(context, handle)}
    assert [sample_id in ids for sample_id in given] == [False, True]
    left, right = (traits.list_traits(context, AUTHOR, each).traits for each in (handle, copy))
    assert [trait.key for trait in left] == [trait.key for trait in right]
    found = next(trait for trait in left if trait.kind == "intrinsic")
    assert found.anchor_sample_ids is not None
    assert found.anchor_sample_ids.positive
    assert {*found.anchor_sample_ids.positive, *found.anchor_sample_ids.negative} <= ids
    # Earlier versions keep their traits, and can be active again.
    assert "mood" in scores.score(context, SCORER, f"{handle}@v1", ScoreRequest(content=TEXT), request_id="r").scores
    versions.activate(context, AUTHOR, handle, VersionActivate(version="v1"))
    with pytest.raises(ValidationFailed):
        feedback_on(context, handle, mood=1.0)
    bundle = export_of(context, AUTHOR, handle)
    assert bundles.import_(context, AUTHOR, bundle, new_handle()).version_no == 1


def feedback_on(context: Context, handle: str, **verdicts: float) -> int:
    return give_feedback(context, handle, f"Said of {', '.join(verdicts)}.", **verdicts)


def test_the_model_keeps_its_settings_but_those_that_the_version_was_trained_with(context: Context) -> None:
    handle = trained_here(context)
    copy = fork(context, handle).handle
    models.update(context, AUTHOR, copy, ModelUpdate(max_depth=2, description="of the fork"))
    trained(context, copy)
    models.update(context, AUTHOR, copy, ModelUpdate(max_depth=3))
    models.update(context, AUTHOR, handle, ModelUpdate(description="of the model"))
    promote(context, handle, copy)
    model = models.get(context, AUTHOR, handle)
    assert (model.description, model.max_depth, model.forked_from) == ("of the model", 2, None)


def test_the_main_trait_and_demo_texts_are_the_forks_where_the_model_has_none_of_its_own(context: Context) -> None:
    handle = trained_here(context)
    copy = fork(context, handle).handle
    shown = ModelUpdate(main_trait="warmth", demo_texts=["Of the fork."])
    models.update(context, AUTHOR, copy, shown)
    trained(context, copy)
    promote(context, handle, copy, keep=True)
    model = models.get(context, AUTHOR, handle)
    assert (model.main_trait, model.demo_texts) == ("warmth", ["Of the fork."])
    models.update(context, AUTHOR, handle, ModelUpdate(demo_texts=["Of the model."]))
    promote(context, handle, copy, force=True)
    model = models.get(context, AUTHOR, handle)
    assert (model.main_trait, model.demo_texts) == ("warmth", ["Of the model."])


@pytest.mark.parametrize("keep", [False, True])
def test_the_fork_is_archived_unless_it_is_kept(context: Context, keep: bool) -> None:
    handle = trained_here(context)
    copy = improved(context, handle)
    promote(context, handle, copy, keep=keep)
    assert models.get(context, AUTHOR, copy).state == ("ready" if keep else "archived")
    assert models.restore(context, AUTHOR, copy).state == "ready"


def test_old_versions_are_pruned_after_a_promotion(context: Context) -> None:
    handle = trained_here(context)
    policy = VersionRetentionPolicy(keep_unnamed=0, keep_first_of_month=False)
    models.update(context, AUTHOR, handle, ModelUpdate(version_retention_policy=policy))
    promote(context, handle, improved(context, handle))
    assert [each.version_no for each in versions.list_versions(context, AUTHOR, handle).items] == [2]


def test_a_held_version_is_held_no_more(context: Context) -> None:
    handle = trained_here(context)
    copy = improved(context, handle)
    model = models.get(context, AUTHOR, handle)
    with writing(context.engine) as connection:
        row = stored_models.find(connection, handle)
        assert row is not None
        held = {"held_version_id": model.current_version_id, "held_up_to": 1}
        connection.execute(tables.models.update().where(tables.models.c.id == row.id).values(**held))
    assert models.get(context, AUTHOR, handle).held_version_no == 1
    promote(context, handle, copy)
    assert models.get(context, AUTHOR, handle).held_version_no is None


# ---- feedback --------------------------------------------------------------------------------------------------------


def test_feedback_that_came_meanwhile_is_carried_along_with_its_id(context: Context) -> None:
    handle = trained_here(context)
    before = give_feedback(context, handle, "Said before the fork.")
    copy = improved(context, handle)
    after = give_feedback(context, handle, "Said after the fork.")
    on_fork = give_feedback(context, copy, "Said to the fork.")
    promoted = promote(context, handle, copy)
    assert promoted.metrics.promoted_from is not None
    assert promoted.metrics.promoted_from.feedback_carried == 1
    exported = export_of(context, AUTHOR, handle).samples or []
    assert {each.text for each in exported if each.pending} == {"Said after the fork.", "Said to the fork."}
    assert sum(each.text == "Said before the fork." for each in exported) == 1
    ids = {sample.id for sample in samples_of(context, handle)}
    assert after in ids
    assert not {before, on_fork} & ids


def test_the_next_retrain_learns_the_feedback_that_was_carried_along(context: Context) -> None:
    handle = trained_here(context)
    copy = improved(context, handle)
    give_feedback(context, handle)
    promoted = promote(context, handle, copy)
    eager = replace(context.settings, retrain_after_seconds=0)
    retraining.sweep(context.engine, context.runs, eager)
    operation = models.get(context, AUTHOR, handle).last_operation
    assert operation is not None
    assert operation.kind == "retrain"
    done_here(context, operation.run_id)
    retrained = versions.get(context, AUTHOR, handle, "active")
    assert (retrained.version_no, retrained.sample_count) == (3, promoted.sample_count + 1)


def test_feedback_that_was_learnt_meanwhile_waits_again_and_is_carried_only_once(context: Context) -> None:
    handle = trained_here(context)
    give_feedback(context, handle, "Said before both forks.")
    first, second = improved(context, handle), improved(context, handle)
    give_feedback(context, handle, "Said after both forks.")
    refit(context, handle)
    for copy in (first, second):
        promoted = promote(context, handle, copy, force=True)
        assert promoted.metrics.promoted_from is not None
        assert promoted.metrics.promoted_from.feedback_carried == 1
        exported = export_of(context, AUTHOR, handle).samples or []
        said = [(each.text, each.pending) for each in exported if each.provenance == "score_feedback"]
        assert sorted(said) == [("Said after both forks.", True), ("Said before both forks.", False)]


def test_feedback_that_was_scored_before_and_stored_after_a_promotion_finds_its_trait(context: Context) -> None:
    handle = trained_here(context)
    with reading(context.engine) as connection:
        row = stored_models.find(connection, handle)
        assert row is not None
        items, _ = feedback.understood(connection, row, {"warmth": 1.0})
    copy = fork(context, handle).handle
    traits.add(context, AUTHOR, copy, TraitsCreate(traits=[TraitInput(name="Length")]))
    sent = [SampleInput(trait="length", text=f"text {number}", quality=number % 2) for number in range(4)]
    samples.add(context, AUTHOR, copy, SamplesCreate(samples=sent))
    trained(context, copy)
    promote(context, handle, copy, keep=True)
    (sample_id,) = feedback.store_feedback(context, handle, "Said late.", items, scores={})
    assert sample_id in {sample.id for sample in samples_of(context, handle)}
    again = fork(context, handle).handle
    traits.delete(context, AUTHOR, again, "warmth")
    trained(context, again)
    promote(context, handle, again)
    with pytest.raises(ValidationFailed, match="warmth"):
        feedback.store_feedback(context, handle, "Said too late.", items, scores={})


# ---- reasons of earlier versions -------------------------------------------------------------------------------------


def nearest_texts(context: Context, handle: str, text: str) -> set[str | None]:
    return {near.text for near in both(explained(context, handle, text)["warmth"].nearest)}


@pytest.mark.parametrize("recorded", [True, False])
def test_each_version_is_explained_by_the_samples_that_it_was_trained_with(context: Context, recorded: bool) -> None:
    """Whether its samples were recorded by the training or, as those of earlier releases, by the promotion."""
    handle = trained_here(context)
    feedback_id = give_feedback(context, handle, "so glad to hear")
    gone = samples_of(context, handle)[0].text
    if not recorded:
        with writing(context.engine) as connection:
            connection.execute(delete(tables.version_samples))
    first = nearest_texts(context, handle, "so glad")
    promote(context, handle, improved(context, handle))
    assert gone in first
    assert nearest_texts(context, f"{handle}@v1", "so glad") == first - {gone}
    new = nearest_texts(context, handle, "so glad")
    assert {"so glad 0", "so glad 1", "so glad 2"} <= new
    late = give_feedback(context, handle, "so glad once more")
    assert nearest_texts(context, handle, "so glad") == new
    assert feedback_id not in {sample.id for sample in samples_of(context, handle)}
    assert late in {sample.id for sample in samples_of(context, handle)}


def test_a_version_whose_samples_are_not_known_has_none_after_a_promotion(context: Context) -> None:
    handle = trained_here(context)
    other = draft(context, warm=6, cold=6)
    for on in (True, False):
        models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=on))
    trained(context, other)
    promote(context, handle, other, force=True)
    note = explained(context, f"{handle}@v1")["warmth"].note
    assert note is not None
    assert "no longer exist" in note
    assert explained(context, handle)["warmth"].note is None


def test_feedback_that_came_during_a_training_is_not_recorded_as_learnt(context: Context) -> None:
    handle = trained_here(context)
    run_id = training.start(context, AUTHOR, handle, REFIT)[0].run_id
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_fit", after(training._fit, lambda: give_feedback(context, handle, "Said meanwhile.")))
        done_here(context, run_id)
    version = versions.get(context, AUTHOR, handle, "active")
    with reading(context.engine) as connection:
        record = version_samples.read(connection, version.version_id)
    assert record is not None
    assert (version.version_no, version.sample_count, len(record)) == (2, 4, 4)


def after(call: Any, then: Any) -> Any:
    def both_of(*arguments: Any) -> Any:
        result = call(*arguments)
        then()
        return result

    return both_of


# ---- zero retention --------------------------------------------------------------------------------------------------


def test_a_model_under_zero_retention_gets_version_and_traits_only(context: Context) -> None:
    handle = trained_here(context)
    copy = improved(context, handle)
    models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    new = card(context, copy)
    promoted = promote(context, handle, copy)
    assert samples_of(context, handle) == []
    assert vectors_of(context, handle) == 0
    assert card(context, handle) == new
    with reading(context.engine) as connection:
        assert version_samples.read(connection, promoted.version_id) is None


@ON_SQLITE
def test_words_that_discovery_took_from_the_forks_samples_do_not_come_along(context: Context) -> None:
    handle = _headlines(context)
    done_here(context, training.start(context, AUTHOR, handle, QUICK)[0].run_id)
    copy = fork(context, handle).handle
    done_here(context, discovery.start(context, AUTHOR, copy, LOW).run_id)
    trained(context, copy)
    models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    promoted = promote(context, handle, copy, keep=True)
    words = [trait.name for trait in traits.list_traits(context, AUTHOR, copy).traits if trait.kind == "intrinsic"]
    assert words
    mine = export_of(context, AUTHOR, handle).model_dump_json()
    assert not any(word in mine for word in words)
    assert promoted.param_hash == versions.get(context, AUTHOR, handle, "active").param_hash
    assert promoted.param_hash != versions.get(context, AUTHOR, copy, "active").param_hash


def test_a_fork_under_zero_retention_would_take_the_models_samples_away(context: Context) -> None:
    handle = trained_here(context)
    copy = improved(context, handle)
    give_feedback(context, handle, "Said meanwhile.")
    models.update(context, AUTHOR, copy, ModelUpdate(zero_data_retention=True))
    with pytest.raises(PromotionConflict, match="would lose its samples") as caught:
        promote(context, handle, copy)
    assert reasons(caught.value) == ["samples_lost"]
    assert len(samples_of(context, handle)) == 5
    promote(context, handle, copy, force=True)
    assert [sample.text for sample in samples_of(context, handle)] == ["Said meanwhile."]


def test_between_two_models_under_zero_retention_a_version_is_promoted(context: Context) -> None:
    handle = trained_here(context)
    models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    copy = fork(context, handle).handle
    sent = [SampleInput(trait="warmth", text=f"text {number}", quality=number % 2) for number in range(4)]
    samples.add(context, AUTHOR, copy, SamplesCreate(samples=sent))
    trained(context, copy)
    assert promote(context, handle, copy).version_no == 2
    assert samples_of(context, handle) == []


# ---- conflicts -------------------------------------------------------------------------------------------------------


def test_a_model_that_is_no_fork_is_promoted_only_by_force(context: Context) -> None:
    handle, other = trained_here(context), trained_here(context, warm=3, cold=3)
    waiting = give_feedback(context, handle)
    with pytest.raises(PromotionConflict, match="is not a fork of") as caught:
        promote(context, handle, other)
    assert reasons(caught.value) == ["not_a_fork"]
    assert caught.value.details["newer_versions"] == []
    promote(context, handle, other, force=True)
    ids = {sample.id for sample in samples_of(context, handle)}
    assert len(ids) == 7
    assert waiting in ids


def test_a_fork_of_the_fork_is_no_fork_of_the_model(context: Context) -> None:
    handle = trained_here(context)
    copy = fork(context, handle).handle
    again = fork(context, copy).handle
    trained(context, again)
    with pytest.raises(PromotionConflict):
        promote(context, handle, again)


def test_a_model_that_has_newer_versions_says_which(context: Context) -> None:
    handle = trained_here(context)
    copy = improved(context, handle)
    refit(context, handle)
    before = export_of(context, AUTHOR, handle)
    with pytest.raises(PromotionConflict, match=f"{handle} got v2 after") as caught:
        promote(context, handle, copy)
    refit(context, handle)
    with pytest.raises(PromotionConflict, match="got v2 to v3 after") as caught:
        promote(context, handle, copy)
    assert reasons(caught.value) == ["newer_versions"]
    assert caught.value.details["newer_versions"] == [2, 3]
    assert caught.value.details["forked_after_version_no"] == 1
    assert (models.get(context, AUTHOR, copy).state, len(before.versions)) == ("ready", 2)
    assert promote(context, handle, copy, force=True).version_no == 4


def test_going_back_to_an_earlier_version_is_no_conflict(context: Context) -> None:
    handle = trained_here(context)
    refit(context, handle)
    copy = improved(context, handle)
    versions.activate(context, AUTHOR, handle, VersionActivate(version="v1"))
    assert promote(context, handle, copy).version_no == 3
    assert activations(context, handle)[-1][:3] == (3, 1, "promote")


def test_an_imported_fork_does_not_know_what_happened_since(context: Context) -> None:
    handle = trained_here(context)
    bundle = export_of(context, AUTHOR, improved(context, handle))
    imported = bundles.import_(context, AUTHOR, bundle, new_handle())
    assert imported.forked_from is not None
    assert imported.forked_from.handle == handle
    with pytest.raises(PromotionConflict) as caught:
        promote(context, handle, imported.handle)
    assert reasons(caught.value) == ["imported"]
    assert promote(context, handle, imported.handle, force=True).version_no == 2


def test_a_version_with_other_traits_than_its_model_is_not_promoted(context: Context) -> None:
    handle = trained_here(context)
    copy = improved(context, handle)
    other = draft(context, warm=2, cold=2)
    traits.add(context, AUTHOR, other, TraitsCreate(traits=[TraitInput(name="Length")]))
    sent = [SampleInput(trait="length", text=f"text {number}", quality=number % 2) for number in range(4)]
    samples.add(context, AUTHOR, other, SamplesCreate(samples=sent))
    trained(context, other)
    promote(context, copy, other, force=True)
    versions.activate(context, AUTHOR, copy, VersionActivate(version="v1"))
    with pytest.raises(PromotionConflict, match="has other traits") as caught:
        promote(context, handle, copy, force=True)
    assert reasons(caught.value) == ["other_traits"]


# ---- refusals --------------------------------------------------------------------------------------------------------


def test_both_models_have_to_be_the_callers_and_ready(context: Context) -> None:
    handle, empty, busy, gone = trained_here(context), draft(context), draft(context, warm=1, cold=1), draft(context)
    training.start(context, AUTHOR, busy, QUICK)
    models.delete(context, AUTHOR, gone)
    for caller, target, origin, error in (
        (SCORER, handle, empty, InsufficientScope),
        (STRANGER, handle, "elsewhere.model", NamespaceForbidden),
        (AUTHOR, "elsewhere.model", handle, NamespaceForbidden),
        (AUTHOR, handle, "elsewhere.model", NamespaceForbidden),
        (AUTHOR, handle, "Bad", InvalidHandle),
        (AUTHOR, handle, f"{handle}@v1", InvalidHandle),
        (AUTHOR, handle, new_handle(), ModelNotFound),
        (AUTHOR, new_handle(), handle, ModelNotFound),
        (AUTHOR, handle, handle, ValidationFailed),
        (AUTHOR, handle, empty, ModelNotTrained),
        (AUTHOR, empty, handle, ModelNotTrained),
        (AUTHOR, handle, busy, ModelBusy),
        (AUTHOR, busy, handle, ModelBusy),
        (AUTHOR, handle, gone, ModelArchived),
        (AUTHOR, gone, handle, ModelArchived),
    ):
        body = PromoteRequest.model_validate({"from": origin, "force": True})
        with pytest.raises(error):
            promotion.promote(context, caller, target, body)
    assert models.get(context, AUTHOR, handle).version_no == 1


def test_a_promotion_that_would_exceed_the_limit_of_samples_changes_nothing(context: Context) -> None:
    handle = trained_here(context)
    copy = improved(context, handle)
    give_feedback(context, handle)
    before = export_of(context, AUTHOR, handle)
    narrow = replace(context, settings=replace(context.settings, max_samples=8))
    with pytest.raises(ValidationFailed, match="at most 8"):
        promote(narrow, handle, copy)
    assert export_of(context, AUTHOR, handle) == before
