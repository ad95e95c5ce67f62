"""Feedback and reasons across a promotion: what waits is carried along once, and each version keeps its samples."""

from dataclasses import replace

import pytest
from sqlalchemy import delete

from tests.contexts import AUTHOR, done_here, draft, export_of, trained_here
from tests.operations.promoting import REFIT, after, improved, promote, refit
from tests.operations.test_explaining import both, explained
from tests.operations.test_forking import fork, give_feedback, samples_of, trained
from traitbench.contract.models import ModelUpdate
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.errors import ValidationFailed
from traitbench.operations import feedback, models, retraining, samples, training, traits, versions
from traitbench.operations.context import Context
from traitbench.store import models as stored_models
from traitbench.store import tables, version_samples
from traitbench.store.database import reading, writing


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
