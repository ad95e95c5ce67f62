"""Discovered traits: from the request to the traits, and the answers that start no search."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from tests.contexts import AUTHOR, ON_BOTH, done_here, draft
from tests.operations import author
from traitbench import errors
from traitbench.contract.models import TrainRequest
from traitbench.contract.samples import SynthesizeRequest, text_hash
from traitbench.contract.traits import MOST_UNLABELLED, DiscoverRequest, Trait, TraitInput, TraitsCreate, TraitUpdate
from traitbench.fitting.discover import EFFORTS, FEWEST_TEXTS, MOST_TEXTS
from traitbench.operations import discovery, models, synthesis, training, traits
from traitbench.operations.context import Context
from traitbench.scoring.snapshot import Snapshot
from traitbench.store import traits as stored_traits
from traitbench.store.database import reading
from traitbench.store.tables import run_texts

LOW = DiscoverRequest(effort="low")
UNLABELLED = DiscoverRequest(effort="low", texts=[sample["text"] for sample in author.HEADLINES.samples[:100]])


def _discovered(context: Context, handle: str) -> list[Trait]:
    return [trait for trait in traits.list_traits(context, AUTHOR, handle).traits if trait.kind == "intrinsic"]


def _discover(context: Context, handle: str, body: DiscoverRequest = LOW) -> list[Trait]:
    done_here(context, discovery.start(context, AUTHOR, handle, body).run_id)
    operation = author.last_operation(context, handle)
    assert (author.get(context, handle).state, operation.status) == ("draft", "succeeded"), operation.error
    return _discovered(context, handle)


def _change(context: Context, handle: str, trait: Trait, **fields: Any) -> Trait:
    [changed] = traits.update(context, AUTHOR, handle, trait.key, TraitUpdate(**fields)).traits
    return changed


def _notes(context: Context, handle: str) -> list[str]:
    progress = author.last_operation(context, handle).progress
    assert progress is not None
    return progress.notes or []


def _axes(context: Context, handle: str) -> dict[str, np.ndarray[Any, Any]]:
    """The axes of the discovered traits, by key."""
    model_id = author.row(context, handle).id
    with reading(context.engine) as connection:
        keys = {each.id: each.key for each in stored_traits.rows(connection, model_id)}
        return {keys[trait_id]: axis.vector for trait_id, axis in stored_traits.axes(connection, model_id).items()}


def _texts_of_runs(context: Context) -> int:
    with reading(context.engine) as connection:
        return len(connection.execute(select(run_texts)).all())


@pytest.fixture(scope="module")
def handle(context: Context) -> str:
    """A draft after a discovery, which tests only read."""
    handle = author.headlines(context)
    assert _discover(context, handle)
    return handle


# ---- what is found ---------------------------------------------------------------------------------------------------


def test_what_was_found_is_attached_and_the_model_is_a_draft_again(context: Context, handle: str) -> None:
    model, done = author.get(context, handle), author.last_operation(context, handle)
    assert (model.state, done.kind, done.status, done.error) == ("draft", "discover", "succeeded", None)
    assert done.progress is not None
    assert (done.progress.phase, done.progress.fraction) == ("discovering", 1.0)
    assert model.traits == ["Clickbait", "Mood", *(trait.name for trait in _discovered(context, handle))]
    mood = traits.get(context, AUTHOR, handle, "mood")
    assert (mood.kind, mood.discrimination, mood.anchor_sample_ids) == ("extrinsic", None, None)


def test_a_found_trait_says_what_was_found_of_it(context: Context, handle: str) -> None:
    listed = author.samples_of(context, handle)
    ids, hashes = {sample.id for sample in listed}, {sample.content_sha256 for sample in listed}
    for number, trait in enumerate(_discovered(context, handle), start=1):
        assert (trait.key, trait.sample_count) == (f"axis_{number}", 0)
        assert 0.5 < (trait.discrimination or 0) <= 1
        assert 0 < (trait.explained_variance or 0) < 1
        assert trait.anchor_sample_ids is not None
        ends = [set(trait.anchor_sample_ids.positive), set(trait.anchor_sample_ids.negative)]
        assert all(end and end <= ids for end in ends)
        assert not ends[0] & ends[1]
        found = trait.discovered
        assert found is not None
        assert found.suggestion
        assert 0.5 <= (found.stability or 0) <= 1
        assert trait.name == f"{trait.negative_label} – {trait.positive_label}"
        assert sum(found.histogram) == found.texts
        typical = {*found.typical.positive, *found.typical.negative}
        assert len(typical) == len(ends[0] | ends[1])
        assert typical <= hashes
        assert {each.trait for each in found.overlaps} <= {"clickbait", "mood"}


def test_only_who_may_read_the_samples_sees_what_was_taken_from_them(context: Context, handle: str) -> None:
    reader = replace(AUTHOR, scope="scoring")
    shown = [each for each in traits.list_traits(context, reader, handle).traits if each.kind == "intrinsic"]
    assert {each.discovered for each in shown} == {None}
    assert traits.get(context, reader, handle, shown[0].key).discovered is None


def test_training_keeps_the_axis_and_fits_its_calibration(context: Context) -> None:
    handle = author.headlines(context)
    assert _discover(context, handle)
    axes, snapshot = _axes(context, handle), author.train(context, handle).snapshot
    assert snapshot is not None
    fields = {trait.key: trait for trait in Snapshot.from_json(snapshot).traits}
    for key, axis in axes.items():
        vector = fields[key].vector.astype(float)
        assert vector @ axis.astype(float) / np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
        assert fields[key].positive is not None


def test_texts_that_share_no_difference_give_no_trait_and_the_reason(context: Context) -> None:
    handle = draft(context)
    chosen = np.random.default_rng(2).permutation(len(author.HEADLINES.samples))[:22]
    author.add_samples(context, handle, [(author.HEADLINES.samples[i]["text"], 0.5) for i in chosen])
    assert _discover(context, handle) == []
    assert _notes(context, handle)[0].startswith("No axis was found. Of 2 candidates, ")


def test_a_model_gets_no_more_traits_than_the_operator_allows(context: Context) -> None:
    handle = author.headlines(context)
    narrow = replace(context, settings=replace(context.settings, max_traits=3))
    assert len(_discover(narrow, handle)) == 1
    assert "has reached its limit of traits" in _notes(context, handle)[0]


def test_under_zero_retention_nothing_is_named_after_words_of_the_texts(context: Context) -> None:
    handle = author.headlines(context)
    author.update(context, handle, zero_data_retention=True)
    texts = [(each["text"], each["quality"]) for each in author.HEADLINES.samples[:120]]
    author.add_samples(context, handle, texts, trait="mood")
    found = [
        " ".join((trait.key, trait.name, trait.positive_label, trait.negative_label, trait.description))
        for trait in _discover(context, handle)
    ]
    assert found
    ours = "axis high low end found by discovery in different texts read the at both ends then rename the trait"
    assert set(re.findall("[a-z]+", " ".join(found).lower())) <= set(ours.split())


def test_the_frames_of_synthesized_texts_are_not_looked_at(context: Context) -> None:
    handle = author.headlines(context)
    done_here(context, synthesis.start(context, AUTHOR, handle, SynthesizeRequest(effort="low")).run_id)
    made = {sample.id for sample in author.samples_of(context, handle) if sample.provenance == "synthesized"}
    assert made
    for trait in _discover(context, handle):
        assert trait.anchor_sample_ids is not None
        assert not made & {*trait.anchor_sample_ids.positive, *trait.anchor_sample_ids.negative}


# ---- texts without labels --------------------------------------------------------------------------------------------


@ON_BOTH
@pytest.mark.parametrize("zero", [False, True], ids=["ordinary", "zero retention"])
def test_a_draft_without_samples_is_discovered_from_unlabelled_texts_that_are_gone_then(
    context: Context, zero: bool
) -> None:
    handle = author.new_model(context, zero_data_retention=zero)
    results = _discover(context, handle, UNLABELLED)
    assert results
    hashes = {text_hash(text) for text in UNLABELLED.texts}
    for trait in results:
        assert trait.discovered is not None
        assert trait.discovered.texts == len(hashes)
        assert {*trait.discovered.typical.positive, *trait.discovered.typical.negative} <= hashes
        assert trait.anchor_sample_ids is not None
        assert trait.anchor_sample_ids.positive == []
        assert bool(trait.discovered.phrases.positive) is not zero
    assert author.samples_of(context, handle) == []
    assert _texts_of_runs(context) == 0
    with pytest.raises(errors.DuplicateRun):
        discovery.start(context, AUTHOR, handle, UNLABELLED)
    other = UNLABELLED.model_copy(update={"texts": UNLABELLED.texts[:60]})
    assert {trait.discovered.texts for trait in _discover(context, handle, other) if trait.discovered} == {60}


def test_unlabelled_texts_join_the_samples_and_go_with_a_failed_run(context: Context) -> None:
    handle = draft(context, warm=10, cold=5)
    same = [sample.text for sample in author.samples_of(context, handle)[:10]]
    with pytest.raises(errors.InsufficientSamples, match="has 15"):
        discovery.start(context, AUTHOR, handle, DiscoverRequest(effort="low", texts=same))
    discovery.start(context, AUTHOR, handle, DiscoverRequest(effort="low", texts=[*same, *UNLABELLED.texts]))
    assert _texts_of_runs(context) == len({*same, *UNLABELLED.texts})
    author.fail(context, handle)
    assert _texts_of_runs(context) == 0


def test_a_request_takes_as_many_texts_as_are_analysed() -> None:
    assert MOST_UNLABELLED == MOST_TEXTS


# ---- suggestions -----------------------------------------------------------------------------------------------------


def test_a_later_discovery_replaces_the_suggestions_and_differs_from_the_traits_that_stay(context: Context) -> None:
    handle = author.headlines(context)
    first = _discover(context, handle)[0]
    _change(context, handle, first, name="Taken up")
    later = _discover(context, handle, DiscoverRequest(effort="medium"))
    assert (later[0].key, later[0].name) == (first.key, "Taken up")
    assert len(later) <= 1 + EFFORTS["medium"].shown
    assert len({trait.name for trait in later}) == len({trait.key for trait in later}) == len(later)
    taken_up, *others = _axes(context, handle).values()
    assert max((abs(axis @ taken_up) for axis in others), default=0) < 1e-3


def test_deleted_suggestions_are_found_again_in_the_same_order_and_direction(context: Context) -> None:
    handle = author.headlines(context)
    first = _discover(context, handle)
    for trait in first:
        traits.delete(context, AUTHOR, handle, trait.key)
    assert _discover(context, handle) == first
    with pytest.raises(errors.DuplicateRun) as caught:
        discovery.start(context, AUTHOR, handle, LOW)
    assert caught.value.headers == {"X-Run-Id": author.last_operation(context, handle).run_id}
    assert caught.value.details["status"] == "succeeded"


def test_a_trait_with_a_sample_or_chosen_as_the_main_trait_is_no_suggestion(context: Context) -> None:
    handle = author.headlines(context)
    labelled, main, *_ = _discover(context, handle)
    author.add_samples(context, handle, [("Ten facts.", 1.0)], trait=labelled.key)
    author.update(context, handle, main_trait=main.key)
    assert [trait.name for trait in _discover(context, handle)[:2]] == [labelled.name, main.name]
    with pytest.raises(errors.ValidationFailed, match="has samples"):
        _change(context, handle, labelled, flip=True)


@ON_BOTH
def test_a_flip_exchanges_the_poles_and_a_second_one_restores_them(context: Context) -> None:
    handle = author.headlines(context)
    before = _discover(context, handle)[0]
    axis = _axes(context, handle)[before.key]
    flipped = _change(context, handle, before, flip=True)
    assert (flipped.positive_label, flipped.negative_label) == (before.negative_label, before.positive_label)
    assert flipped.name == f"{before.positive_label} – {before.negative_label}"
    assert flipped.anchor_sample_ids is not None
    assert before.anchor_sample_ids is not None
    assert flipped.anchor_sample_ids.positive == before.anchor_sample_ids.negative
    assert flipped.discovered is not None
    assert before.discovered is not None
    assert not flipped.discovered.suggestion
    assert flipped.discovered.phrases.positive == before.discovered.phrases.negative
    assert flipped.discovered.histogram == before.discovered.histogram[::-1]
    np.testing.assert_array_equal(_axes(context, handle)[before.key], -axis)
    assert _change(context, handle, before, flip=True, suggestion=True) == before
    np.testing.assert_array_equal(_axes(context, handle)[before.key], axis)
    with pytest.raises(errors.ValidationFailed, match="only a discovered trait"):
        traits.update(context, AUTHOR, handle, "mood", TraitUpdate(flip=True))


@ON_BOTH
def test_a_kept_suggestion_stays_and_a_dismissed_one_comes_back_until_the_next_run(context: Context) -> None:
    handle = author.headlines(context)
    kept, dismissed, *_ = _discover(context, handle)
    _change(context, handle, kept, suggestion=False)
    traits.delete(context, AUTHOR, handle, dismissed.key)
    assert dismissed.name not in author.get(context, handle).traits
    assert dismissed.key not in {trait.key for trait in traits.list_traits(context, AUTHOR, handle).traits}
    assert _change(context, handle, dismissed, suggestion=True) == dismissed
    traits.delete(context, AUTHOR, handle, dismissed.key)
    later = _discover(context, handle, DiscoverRequest(effort="medium"))
    assert (later[0].key, later[0].name) == (kept.key, kept.name)
    with pytest.raises(errors.TraitNotFound):
        traits.update(context, AUTHOR, handle, f"axis_{len(later) + 2}", TraitUpdate(suggestion=True))


def test_a_recalled_suggestion_does_not_take_the_name_of_another_trait(context: Context) -> None:
    handle = author.headlines(context)
    dismissed = _discover(context, handle)[0]
    traits.delete(context, AUTHOR, handle, dismissed.key)
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name=dismissed.name, key="own")]))
    with pytest.raises(errors.DuplicateTrait):
        _change(context, handle, dismissed, suggestion=True)


# ---- what starts no search -------------------------------------------------------------------------------------------


def test_a_discovery_in_flight_is_named_to_the_same_request_and_makes_others_wait(context: Context) -> None:
    handle = draft(context, warm=10, cold=10)
    started = discovery.start(context, AUTHOR, handle, DiscoverRequest())
    assert started.state == "busy"
    same: tuple[DiscoverRequest, ...] = (DiscoverRequest(), DiscoverRequest(effort="high"))
    for body, error in [*((each, errors.DuplicateRun) for each in same), (LOW, errors.ModelBusy)]:
        with pytest.raises(error) as caught:
            discovery.start(context, AUTHOR, handle, body)
        assert caught.value.headers == {"X-Run-Id": started.run_id}


def test_a_discovery_finds_a_training_busy(context: Context) -> None:
    handle = draft(context, warm=10, cold=10)
    started, _ = training.start(context, AUTHOR, handle, TrainRequest())
    with pytest.raises(errors.ModelBusy) as caught:
        discovery.start(context, AUTHOR, handle, DiscoverRequest())
    assert caught.value.headers == {"X-Run-Id": started.run_id}


def test_a_failed_discovery_leaves_a_draft_and_may_be_repeated(context: Context) -> None:
    handle = draft(context, warm=10, cold=10)
    first = discovery.start(context, AUTHOR, handle, LOW)
    author.fail(context, handle)
    assert (author.get(context, handle).state, author.last_operation(context, handle).status) == ("draft", "failed")
    assert discovery.start(context, AUTHOR, handle, LOW).run_id != first.run_id


def test_too_few_different_texts_are_refused_with_the_counts(context: Context) -> None:
    handle = draft(context, warm=FEWEST_TEXTS - 1)
    author.add_samples(context, handle, [(author.samples_of(context, handle)[0].text, 0.0)])
    with pytest.raises(errors.InsufficientSamples) as caught:
        discovery.start(context, AUTHOR, handle, DiscoverRequest())
    assert caught.value.details == {
        "distinct": FEWEST_TEXTS - 1,
        "needed": FEWEST_TEXTS,
        "samples": FEWEST_TEXTS,
        "traits": {"warmth": FEWEST_TEXTS},
    }
    assert (author.get(context, handle).state, author.get(context, handle).last_operation) == ("draft", None)


def test_texts_that_say_nothing_are_too_few_as_well(context: Context) -> None:
    handle = draft(context)
    author.add_samples(context, handle, [("\u0301" * number, 1.0) for number in range(1, 31)])
    done_here(context, discovery.start(context, AUTHOR, handle, LOW).run_id)
    error = author.last_operation(context, handle).error
    assert error is not None
    assert (author.get(context, handle).state, error.code) == ("draft", "insufficient_samples")


def test_only_a_draft_is_searched(context: Context, toned: str) -> None:
    with pytest.raises(errors.ModelNotDraft):
        discovery.start(context, AUTHOR, toned, DiscoverRequest())
    gone = draft(context, warm=10, cold=10)
    models.delete(context, AUTHOR, gone)
    with pytest.raises(errors.ModelArchived):
        discovery.start(context, AUTHOR, gone, DiscoverRequest())
