"""Discovered traits: from the request to the traits, and the answers that start no search."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from tests.contexts import AUTHOR, ON_SQLITE, draft, new_handle, settled, until
from traitbench.contract.models import ModelCreate, ModelUpdate, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate, SynthesizeRequest, text_hash
from traitbench.contract.traits import MOST_UNLABELLED, DiscoverRequest, Trait, TraitInput, TraitsCreate, TraitUpdate
from traitbench.errors import (
    DuplicateRun,
    DuplicateTrait,
    InsufficientSamples,
    ModelArchived,
    ModelBusy,
    ModelNotDraft,
    TraitNotFound,
    ValidationFailed,
)
from traitbench.fitting.discover import EFFORTS, FEWEST_TEXTS, MOST_TEXTS
from traitbench.operations import discovery, model_runs, models, samples, synthesis, training, traits, versions
from traitbench.operations.context import Context
from traitbench.sample_data import demo_models
from traitbench.scoring.snapshot import Snapshot
from traitbench.store import models as stored
from traitbench.store import runs
from traitbench.store import traits as stored_traits
from traitbench.store.database import reading, writing
from traitbench.store.tables import run_texts

pytestmark = ON_SQLITE

LOW = DiscoverRequest(effort="low")
HEADLINES = next(model for model in demo_models() if model.handle == "demo.headlines")


def _headlines(context: Context) -> str:
    """A draft with two traits and texts on many subjects."""
    handle = new_handle()
    models.create(context, AUTHOR, ModelCreate(handle=handle))
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name="Clickbait"), TraitInput(name="Mood")]))
    results = [sample for sample in HEADLINES.samples if sample["trait"] in ("clickbait", "mood")]
    chosen = results[:: max(1, len(results) // 120)][:120]
    samples.add(
        context, AUTHOR, handle, SamplesCreate(samples=[SampleInput.model_validate(sample) for sample in chosen])
    )
    return handle


def _discovered(context: Context, handle: str) -> list[Trait]:
    return [trait for trait in traits.list_traits(context, AUTHOR, handle).traits if trait.kind == "intrinsic"]


def _discover(context: Context, handle: str, body: DiscoverRequest = LOW) -> list[Trait]:
    discovery.start(context, AUTHOR, handle, body)
    model = settled(context, handle)
    assert model.last_operation is not None
    assert (model.state, model.last_operation.status) == ("draft", "succeeded"), model.last_operation.error
    return _discovered(context, handle)


@pytest.fixture(scope="module")
def handle(working: Context) -> str:
    handle = _headlines(working)
    assert _discover(working, handle)
    return handle


def test_what_was_found_is_attached_and_the_model_is_a_draft_again(working: Context, handle: str) -> None:
    model = models.get(working, AUTHOR, handle)
    done = model.last_operation
    assert done is not None
    assert (model.state, done.kind, done.status, done.error) == ("draft", "discover", "succeeded", None)
    assert done.progress is not None
    assert (done.progress.phase, done.progress.fraction) == ("discovering", 1.0)
    assert model.traits[:2] == ["Clickbait", "Mood"]
    assert model.traits[2:] == [trait.name for trait in _discovered(working, handle)]


def test_a_found_trait_says_what_was_found_of_it(working: Context, handle: str) -> None:
    listed = samples.list_samples(working, AUTHOR, handle, limit=500).items
    ids, hashes = {sample.id for sample in listed}, {sample.content_sha256 for sample in listed}
    result = _discovered(working, handle)
    assert result
    for number, trait in enumerate(result, start=1):
        assert (trait.key, trait.sample_count) == (f"axis_{number}", 0)
        assert trait.discrimination is not None
        assert trait.explained_variance is not None
        assert trait.anchor_sample_ids is not None
        assert 0.5 < trait.discrimination <= 1
        assert 0 < trait.explained_variance < 1
        ends = [set(trait.anchor_sample_ids.positive), set(trait.anchor_sample_ids.negative)]
        assert all(end and end <= ids for end in ends)
        assert not ends[0] & ends[1]
        found = trait.discovered
        assert found is not None
        assert found.suggestion
        assert found.stability is not None
        assert 0.5 <= found.stability <= 1
        assert trait.name.startswith(", ".join(found.phrases.positive[:2]))
        assert sum(found.histogram) == found.texts
        typical = {*found.typical.positive, *found.typical.negative}
        assert len(typical) == len(ends[0] | ends[1])
        assert typical <= hashes
        assert {each.trait for each in found.overlaps} <= {"clickbait", "mood"}


def test_only_who_may_read_the_samples_sees_what_was_taken_from_them(working: Context, handle: str) -> None:
    reader = replace(AUTHOR, scope="scoring")
    shown = [each for each in traits.list_traits(working, reader, handle).traits if each.kind == "intrinsic"]
    assert shown
    assert not any(each.discovered for each in shown)
    assert traits.get(working, reader, handle, shown[0].key).discovered is None


def test_a_trait_that_somebody_defined_stays_as_it_is(working: Context, handle: str) -> None:
    trait = traits.get(working, AUTHOR, handle, "mood")
    assert (trait.kind, trait.discrimination, trait.explained_variance, trait.anchor_sample_ids) == (
        *("extrinsic", None, None),
        None,
    )


def test_training_keeps_the_axis_and_fits_its_calibration(working: Context) -> None:
    handle = _headlines(working)
    result = _discover(working, handle)
    assert result
    with reading(working.engine) as connection:
        model = stored.find(connection, handle)
        assert model is not None
        axes = stored_traits.axes(connection, model.id)
        keys = {row.key: row.id for row in stored_traits.rows(connection, model.id)}
    training.start(working, AUTHOR, handle, TrainRequest(effort="low"))
    assert settled(working, handle).state == "ready"
    shown = versions.get(working, AUTHOR, handle, "v1").snapshot
    assert shown is not None
    fields = {trait.key: trait for trait in Snapshot.from_json(shown).traits}
    for trait in result:
        vector, axis = fields[trait.key].vector.astype(float), axes[keys[trait.key]].vector.astype(float)
        assert vector @ axis / np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
        assert fields[trait.key].positive is not None


def test_the_same_discovery_that_has_succeeded_is_named(working: Context, handle: str) -> None:
    done = models.get(working, AUTHOR, handle).last_operation
    assert done is not None
    with pytest.raises(DuplicateRun) as caught:
        discovery.start(working, AUTHOR, handle, LOW)
    assert caught.value.headers == {"X-Run-Id": done.run_id}
    assert caught.value.details["status"] == "succeeded"


def test_the_same_discovery_in_flight_is_named_and_another_finds_the_model_busy(context: Context) -> None:
    handle = draft(context, warm=10, cold=10)
    started = discovery.start(context, AUTHOR, handle, DiscoverRequest())
    assert started.state == "busy"
    same: tuple[DiscoverRequest, ...] = (DiscoverRequest(), DiscoverRequest(effort="high"))
    for body, error in [*((each, DuplicateRun) for each in same), (LOW, ModelBusy)]:
        with pytest.raises(error) as caught:
            discovery.start(context, AUTHOR, handle, body)
        assert caught.value.headers == {"X-Run-Id": started.run_id}


def test_a_discovery_finds_a_training_busy(context: Context) -> None:
    handle = draft(context, warm=10, cold=10)
    started, _ = training.start(context, AUTHOR, handle, TrainRequest())
    with pytest.raises(ModelBusy) as caught:
        discovery.start(context, AUTHOR, handle, DiscoverRequest())
    assert caught.value.headers == {"X-Run-Id": started.run_id}


def test_a_failed_discovery_leaves_a_draft_and_may_be_repeated(context: Context) -> None:
    handle = draft(context, warm=10, cold=10)
    first = discovery.start(context, AUTHOR, handle, LOW)
    with writing(context.engine) as connection:
        run = runs.read(connection, str(first.run_id))
        assert run is not None
        assert model_runs.fail(connection, run, code="internal_error", message="It failed.")
    model = models.get(context, AUTHOR, handle)
    assert model.last_operation is not None
    assert (model.state, model.last_operation.status) == ("draft", "failed")
    assert discovery.start(context, AUTHOR, handle, LOW).run_id != first.run_id


def test_too_few_different_texts_are_refused_with_the_counts(context: Context) -> None:
    handle = draft(context, warm=FEWEST_TEXTS - 1)
    again = SampleInput(trait="warmth", text=samples.list_samples(context, AUTHOR, handle).items[0].text, quality=0.0)
    samples.add(context, AUTHOR, handle, SamplesCreate(samples=[again]))
    with pytest.raises(InsufficientSamples) as caught:
        discovery.start(context, AUTHOR, handle, DiscoverRequest())
    assert caught.value.details == {
        "distinct": FEWEST_TEXTS - 1,
        "needed": FEWEST_TEXTS,
        "samples": FEWEST_TEXTS,
        "traits": {"warmth": FEWEST_TEXTS},
    }
    model = models.get(context, AUTHOR, handle)
    assert (model.state, model.last_operation) == ("draft", None)


def test_texts_that_say_nothing_are_too_few_as_well(working: Context) -> None:
    handle = draft(working)
    silent = [SampleInput(trait="warmth", text="\u200b" * number, quality=1.0) for number in range(1, 31)]
    samples.add(working, AUTHOR, handle, SamplesCreate(samples=silent))
    discovery.start(working, AUTHOR, handle, LOW)
    model = settled(working, handle)
    assert model.last_operation is not None
    assert model.last_operation.error is not None
    assert (model.state, model.last_operation.error.code) == ("draft", "insufficient_samples")


def test_only_a_draft_is_searched(working: Context, toned: str) -> None:
    with pytest.raises(ModelNotDraft):
        discovery.start(working, AUTHOR, toned, DiscoverRequest())
    gone = draft(working, warm=10, cold=10)
    models.delete(working, AUTHOR, gone)
    with pytest.raises(ModelArchived):
        discovery.start(working, AUTHOR, gone, DiscoverRequest())


def test_a_later_discovery_replaces_the_suggestions_and_differs_from_the_traits_that_stay(working: Context) -> None:
    handle = _headlines(working)
    first = _discover(working, handle)
    assert len(first) > 1
    traits.update(working, AUTHOR, handle, first[0].key, TraitUpdate(name="Taken up"))
    later = _discover(working, handle, DiscoverRequest(effort="medium"))
    assert (later[0].key, later[0].name) == (first[0].key, "Taken up")
    assert len(later) <= 1 + EFFORTS["medium"].shown
    assert len({trait.name for trait in later}) == len({trait.key for trait in later}) == len(later)
    with reading(working.engine) as connection:
        model = stored.find(connection, handle)
        assert model is not None
        axes = np.array([axis.vector for axis in stored_traits.axes(connection, model.id).values()])
    alike = axes @ axes.T
    assert np.abs(alike[1:, :1]).max(initial=0) < 1e-3


def test_deleted_suggestions_are_found_again_in_the_same_order_and_direction(working: Context) -> None:
    handle = _headlines(working)
    first, ids = _discover(working, handle), _trait_ids(working, handle)
    for trait in first:
        traits.delete(working, AUTHOR, handle, trait.key)
    assert _discover(working, handle) == first
    assert not ids & _trait_ids(working, handle)
    with pytest.raises(DuplicateRun):
        discovery.start(working, AUTHOR, handle, LOW)


def test_a_trait_with_a_sample_or_chosen_as_the_main_trait_is_no_suggestion(working: Context) -> None:
    handle = _headlines(working)
    first = _discover(working, handle)
    samples.add(
        working,
        AUTHOR,
        handle,
        SamplesCreate(samples=[SampleInput(trait=first[0].key, text="Ten facts.", quality=1.0)]),
    )
    models.update(working, AUTHOR, handle, ModelUpdate(main_trait=first[1].key))
    later = _discover(working, handle)
    assert [trait.name for trait in later[:2]] == [trait.name for trait in first[:2]]


def test_a_flip_exchanges_the_poles_and_a_second_one_restores_them(working: Context) -> None:
    handle = _headlines(working)
    before = _discover(working, handle)[0]
    [flipped] = traits.update(working, AUTHOR, handle, before.key, TraitUpdate(flip=True)).traits
    assert (flipped.positive_label, flipped.negative_label) == (before.negative_label, before.positive_label)
    assert flipped.name == f"{before.negative_label} vs {before.positive_label}"
    assert flipped.anchor_sample_ids is not None
    assert before.anchor_sample_ids is not None
    assert flipped.anchor_sample_ids.positive == before.anchor_sample_ids.negative
    assert flipped.discovered is not None
    assert before.discovered is not None
    assert not flipped.discovered.suggestion
    assert flipped.discovered.phrases.positive == before.discovered.phrases.negative
    assert flipped.discovered.histogram == before.discovered.histogram[::-1]
    assert _axis(working, handle, before.key) @ _axis(working, handle, "axis_2") == pytest.approx(0, abs=1e-3)
    other_way = _axis(working, handle, before.key)
    [again] = traits.update(working, AUTHOR, handle, before.key, TraitUpdate(flip=True, suggestion=True)).traits
    assert again == before
    np.testing.assert_array_equal(_axis(working, handle, before.key), -other_way)
    traits.delete(working, AUTHOR, handle, before.key)
    assert traits.update(working, AUTHOR, handle, before.key, TraitUpdate(suggestion=True)).traits == [before]


def test_a_kept_suggestion_stays_and_a_dismissed_one_comes_back_until_the_next_run(working: Context) -> None:
    handle = _headlines(working)
    kept, dismissed, *_ = _discover(working, handle)
    traits.update(working, AUTHOR, handle, kept.key, TraitUpdate(suggestion=False))
    traits.delete(working, AUTHOR, handle, dismissed.key)
    assert dismissed.name not in models.get(working, AUTHOR, handle).traits
    assert dismissed.key not in {trait.key for trait in traits.list_traits(working, AUTHOR, handle).traits}
    [back] = traits.update(working, AUTHOR, handle, dismissed.key, TraitUpdate(suggestion=True)).traits
    assert back == dismissed
    traits.delete(working, AUTHOR, handle, dismissed.key)
    later = _discover(working, handle, DiscoverRequest(effort="medium"))
    assert (later[0].key, later[0].name) == (kept.key, kept.name)
    free = f"axis_{len(later) + 2}"
    with pytest.raises(TraitNotFound):
        traits.update(working, AUTHOR, handle, free, TraitUpdate(suggestion=True))


def test_a_recalled_suggestion_respects_names_and_a_labelled_trait_has_no_flip(working: Context) -> None:
    handle = _headlines(working)
    dismissed = _discover(working, handle)[0]
    traits.delete(working, AUTHOR, handle, dismissed.key)
    traits.add(working, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name=dismissed.name, key="own")]))
    with pytest.raises(DuplicateTrait):
        traits.update(working, AUTHOR, handle, dismissed.key, TraitUpdate(suggestion=True))
    with pytest.raises(ValidationFailed, match="only a discovered trait"):
        traits.update(working, AUTHOR, handle, "mood", TraitUpdate(flip=True))
    labelled = SampleInput(trait="axis_2", text="Ten facts.", quality=1.0)
    samples.add(working, AUTHOR, handle, SamplesCreate(samples=[labelled]))
    with pytest.raises(ValidationFailed, match="has samples"):
        traits.update(working, AUTHOR, handle, "axis_2", TraitUpdate(flip=True))


def _axis(context: Context, handle: str, key: str) -> np.ndarray[Any, Any]:
    with reading(context.engine) as connection:
        model = stored.find(connection, handle)
        assert model is not None
        [trait_id] = [row.id for row in stored_traits.rows(connection, model.id) if row.key == key]
        return stored_traits.axes(connection, model.id)[trait_id].vector


def _trait_ids(context: Context, handle: str) -> set[int]:
    with reading(context.engine) as connection:
        model = stored.find(connection, handle)
        assert model is not None
        return {row.id for row in stored_traits.rows(connection, model.id) if row.kind == "intrinsic"}


def test_texts_that_share_no_difference_give_no_trait_and_the_reason(working: Context) -> None:
    handle = draft(working)
    unrelated = [
        HEADLINES.samples[i]["text"] for i in np.random.default_rng(2).permutation(len(HEADLINES.samples))[:22]
    ]
    body = [SampleInput(trait="warmth", text=text, quality=0.5) for text in unrelated]
    samples.add(working, AUTHOR, handle, SamplesCreate(samples=body))
    assert _discover(working, handle) == []
    done = models.get(working, AUTHOR, handle).last_operation
    assert done is not None
    assert done.progress is not None
    assert done.progress.notes is not None
    assert done.progress.notes[0].startswith("No axis was found. Of 2 candidates, ")


UNLABELLED = DiscoverRequest(effort="low", texts=[sample["text"] for sample in HEADLINES.samples[:100]])


@pytest.mark.parametrize("zero", [False, True])
def test_a_draft_without_samples_is_discovered_from_unlabelled_texts_that_are_gone_then(
    working: Context, zero: bool
) -> None:
    handle = new_handle()
    models.create(working, AUTHOR, ModelCreate(handle=handle, zero_data_retention=zero))
    results = _discover(working, handle, UNLABELLED)
    assert results
    hashes = {text_hash(text) for text in UNLABELLED.texts}
    for trait in results:
        assert trait.discovered is not None
        assert trait.discovered.texts == len(hashes)
        assert {*trait.discovered.typical.positive, *trait.discovered.typical.negative} <= hashes
        assert trait.anchor_sample_ids is not None
        assert trait.anchor_sample_ids.positive == []
        assert bool(trait.discovered.phrases.positive) is not zero
    assert samples.list_samples(working, AUTHOR, handle).items == []
    with reading(working.engine) as connection:
        assert connection.execute(select(run_texts)).all() == []
    until(lambda: not _unsettled(working), what="removing the texts from the file")
    with pytest.raises(DuplicateRun):
        discovery.start(working, AUTHOR, handle, UNLABELLED)
    other = UNLABELLED.model_copy(update={"texts": UNLABELLED.texts[:60]})
    assert {trait.discovered.texts for trait in _discover(working, handle, other) if trait.discovered} == {60}


def _unsettled(context: Context) -> dict[int, Any]:
    with reading(context.engine) as connection:
        return dict(stored.unsettled_purges(connection))


def test_a_request_takes_as_many_texts_as_are_analysed() -> None:
    assert MOST_UNLABELLED == MOST_TEXTS


def test_unlabelled_texts_join_the_samples_and_go_with_a_failed_run(context: Context) -> None:
    handle = draft(context, warm=10, cold=5)
    with pytest.raises(InsufficientSamples):
        discovery.start(context, AUTHOR, handle, LOW)
    same = [sample.text for sample in samples.list_samples(context, AUTHOR, handle).items[:10]]
    with pytest.raises(InsufficientSamples, match="has 15"):
        discovery.start(context, AUTHOR, handle, DiscoverRequest(effort="low", texts=same))
    started = discovery.start(context, AUTHOR, handle, DiscoverRequest(effort="low", texts=[*same, *UNLABELLED.texts]))
    with writing(context.engine) as connection:
        assert len(connection.execute(select(run_texts)).all()) == len({*same, *UNLABELLED.texts})
        run = runs.read(connection, str(started.run_id))
        assert run is not None
        assert model_runs.fail(connection, run, code="internal_error", message="It failed.")
        assert connection.execute(select(run_texts)).all() == []


def test_a_model_gets_no_more_traits_than_the_operator_allows(working: Context) -> None:
    handle = _headlines(working)
    narrow = replace(working, settings=replace(working.settings, max_traits=3))
    assert len(_discover(narrow, handle)) == 1
    done = models.get(working, AUTHOR, handle).last_operation
    assert done is not None
    assert done.progress is not None
    assert done.progress.notes is not None
    assert "has reached its limit of traits" in done.progress.notes[0]


def test_under_zero_retention_nothing_is_named_after_words_of_the_texts(working: Context) -> None:
    handle = _headlines(working)
    models.update(working, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    results = [SampleInput.model_validate({**each, "trait": "mood"}) for each in HEADLINES.samples[:120]]
    samples.add(working, AUTHOR, handle, SamplesCreate(samples=results))
    text = " ".join(
        f"{trait.key} {trait.name} {trait.positive_label} {trait.negative_label} {trait.description}"
        for trait in _discover(working, handle)
    )
    assert text
    ours = "axis high low end found by discovery in different texts read the at both ends then rename the trait"
    assert set(re.findall("[a-z]+", text.lower())) <= set(ours.split())


def test_the_frames_of_synthesized_texts_are_not_looked_at(working: Context) -> None:
    handle = _headlines(working)
    synthesis.start(working, AUTHOR, handle, SynthesizeRequest(effort="low"))
    assert settled(working, handle).state == "draft"
    result = samples.list_samples(working, AUTHOR, handle, limit=500).items
    made = {sample.id for sample in result if sample.provenance == "synthesized"}
    assert made
    found = _discover(working, handle)
    assert found
    for trait in found:
        assert trait.anchor_sample_ids is not None
        assert not made & {*trait.anchor_sample_ids.positive, *trait.anchor_sample_ids.negative}
