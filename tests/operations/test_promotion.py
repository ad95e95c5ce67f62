"""Promotion: what a model gets from its fork, what it keeps, what is refused, and what scores in between."""

import pytest

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, done_here, export_of, new_handle, trained_here
from tests.operations.promoting import activations, improved, promote, reasons, refit
from tests.operations.test_discovery import LOW, _headlines
from tests.operations.test_forking import QUICK, fork, give_feedback, samples_of, trained, vectors_of, without_ids
from traitbench.contract.models import ModelUpdate, VersionRetentionPolicy
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.scores import Card, ScoreRequest
from traitbench.contract.versions import VersionActivate
from traitbench.errors import PromotionConflict, ValidationFailed
from traitbench.operations import bundles, discovery, models, samples, scores, training, traits, versions
from traitbench.operations.context import Context
from traitbench.store import models as stored_models
from traitbench.store import tables, version_samples
from traitbench.store.database import reading, writing

TEXT = "Thank you for your letter, dear friend."


def card(context: Context, handle: str) -> Card:
    shown = scores.score(context, SCORER, handle, ScoreRequest(content=TEXT), request_id="req_1")
    return shown.model_copy(update={"metadata": shown.metadata.model_copy(update={"version_id": ""})})


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
    anchors = {*found.anchor_sample_ids.positive, *found.anchor_sample_ids.negative}
    assert anchors
    assert anchors <= ids
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


# ---- refusals --------------------------------------------------------------------------------------------------------
