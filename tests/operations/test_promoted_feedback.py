"""Feedback and reasons across a promotion: what waits is carried along once, and each version keeps its samples."""

from dataclasses import replace

import pytest
from sqlalchemy import delete

from tests.contexts import AUTHOR, ON_BOTH, done_here, draft, export_of, trained_here
from tests.operations import author
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.errors import ValidationFailed
from traitbench.fitting.fit import fit
from traitbench.operations import feedback, training, traits
from traitbench.operations.context import Context
from traitbench.store import tables, version_samples
from traitbench.store.database import reading, writing


@ON_BOTH
def test_feedback_that_came_meanwhile_is_carried_along_with_its_id_and_learned_next(context: Context) -> None:
    handle = trained_here(context)
    before = author.give_feedback(context, handle, "Said before the fork.")
    copy = author.improved(context, handle)
    after = author.give_feedback(context, handle, "Said after the fork.")
    on_fork = author.give_feedback(context, copy, "Said to the fork.")
    promoted = author.promote(context, handle, copy)
    assert promoted.metrics.promoted_from is not None
    assert promoted.metrics.promoted_from.feedback_carried == 1
    exported = export_of(context, AUTHOR, handle).samples or []
    assert {each.text for each in exported if each.pending} == {"Said after the fork.", "Said to the fork."}
    assert sum(each.text == "Said before the fork." for each in exported) == 1
    ids = {sample.id for sample in author.samples_of(context, handle)}
    assert after in ids
    assert not {before, on_fork} & ids
    author.sweep(replace(context, settings=replace(context.settings, retrain_after_seconds=0)))
    assert author.finish(context, handle).kind == "retrain"
    retrained = author.active(context, handle)
    assert (retrained.version_no, retrained.sample_count) == (3, promoted.sample_count + 2)


def test_feedback_that_was_learned_meanwhile_waits_again_and_is_carried_only_once(context: Context) -> None:
    handle = trained_here(context)
    author.give_feedback(context, handle, "Said before both forks.")
    first, second = author.improved(context, handle), author.improved(context, handle)
    author.give_feedback(context, handle, "Said after both forks.")
    author.refit(context, handle)
    for copy in (first, second):
        promoted = author.promote(context, handle, copy, force=True)
        assert promoted.metrics.promoted_from is not None
        assert promoted.metrics.promoted_from.feedback_carried == 1
        exported = export_of(context, AUTHOR, handle).samples or []
        said = [(each.text, each.pending) for each in exported if each.provenance == "score_feedback"]
        assert sorted(said) == [("Said after both forks.", True), ("Said before both forks.", False)]


def test_feedback_that_was_scored_before_and_stored_after_a_promotion_finds_its_trait(context: Context) -> None:
    handle = trained_here(context)
    with reading(context.engine) as connection:
        items, _ = feedback.understood(connection, author.row(context, handle), {"warmth": 1.0})
    copy = author.fork(context, handle).handle
    traits.add(context, AUTHOR, copy, TraitsCreate(traits=[TraitInput(name="Length")]))
    author.add_samples(context, copy, [(f"text {number}", number % 2) for number in range(4)], trait="length")
    author.train(context, copy)
    author.promote(context, handle, copy, keep=True)
    (sample_id,) = feedback.store_feedback(context, handle, "Said late.", items, scores={})
    assert sample_id in {sample.id for sample in author.samples_of(context, handle)}
    again = author.fork(context, handle).handle
    traits.delete(context, AUTHOR, again, "warmth")
    author.train(context, again)
    author.promote(context, handle, again)
    with pytest.raises(ValidationFailed, match="warmth"):
        feedback.store_feedback(context, handle, "Said too late.", items, scores={})


def _nearest(context: Context, handle: str) -> set[str | None]:
    """The samples next to a text."""
    nearest = author.explained(context, handle, "so glad")["warmth"].nearest
    assert nearest is not None
    return {near.text for near in (*nearest.positive, *nearest.negative)}


@pytest.mark.parametrize("recorded", [True, False])
def test_each_version_is_explained_by_the_samples_that_it_was_trained_with(context: Context, recorded: bool) -> None:
    """Whether its samples were recorded by the training or, as those of earlier releases, by the promotion."""
    handle = trained_here(context)
    feedback_id = author.give_feedback(context, handle, "so glad to hear")
    gone = author.samples_of(context, handle)[0].text
    if not recorded:
        with writing(context.engine) as connection:
            connection.execute(delete(tables.version_samples))
    first = _nearest(context, handle)
    author.promote(context, handle, author.improved(context, handle))
    assert gone in first
    assert _nearest(context, f"{handle}@v1") == first - {gone}
    new = _nearest(context, handle)
    assert {"so glad 0", "so glad 1", "so glad 2"} <= new
    late = author.give_feedback(context, handle, "so glad once more")
    assert _nearest(context, handle) == new
    ids = {sample.id for sample in author.samples_of(context, handle)}
    assert (feedback_id in ids, late in ids) == (False, True)


def test_a_version_whose_samples_are_not_known_has_none_after_a_promotion(context: Context) -> None:
    handle, other = trained_here(context), draft(context, warm=6, cold=6)
    for on in (True, False):
        author.update(context, handle, zero_data_retention=on)
    author.train(context, other)
    author.promote(context, handle, other, force=True)
    notes = [author.explained(context, each, "so glad")["warmth"].note for each in (f"{handle}@v1", handle)]
    assert ["no longer exist" in (note or "") for note in notes] == [True, False]


def test_feedback_that_came_during_a_training_is_not_recorded_as_learned(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = trained_here(context)
    run_id = training.start(context, AUTHOR, handle, author.REFIT)[0].run_id
    monkeypatch.setattr(
        training, "fit", lambda *given, **named: (fit(*given, **named), author.give_feedback(context, handle))[0]
    )
    done_here(context, run_id)
    version = author.active(context, handle)
    with reading(context.engine) as connection:
        record = version_samples.read(connection, version.version_id)
    assert record is not None
    assert (version.version_no, version.sample_count, len(record)) == (2, 4, 4)
