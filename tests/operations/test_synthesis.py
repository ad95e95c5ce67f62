"""Synthesized samples: from the request to the samples, and the answers that start no synthesis."""

import hashlib
from collections import Counter
from dataclasses import replace

import pytest
from sqlalchemy import select

from tests.contexts import AUTHOR, ON_SQLITE, draft, new_handle, settled
from traitbench.contract.models import ModelCreate, ModelUpdate, TrainRequest
from traitbench.contract.samples import Sample, SampleInput, SamplesCreate, SynthesizeRequest
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.errors import (
    DuplicateRun,
    InsufficientSamples,
    ModelBusy,
    ModelNotDraft,
    UnsupportedSynthType,
    ValidationFailed,
)
from traitbench.operations import model_runs, models, samples, synthesis, training, traits, versions
from traitbench.operations.context import Context
from traitbench.store import runs, tables
from traitbench.store.database import reading, writing

pytestmark = ON_SQLITE

LOW = SynthesizeRequest(effort="low")
VARY = SynthesizeRequest(effort="low", synth_type="diversify")
LETTERS = (
    ("Thank you so much. I will not forget it. It is lovely to hear from you.", 1.0),
    ("We are happy to help. Maybe we can begin at 9 tomorrow. Do not worry.", 0.9),
    ("The office is shut. It does not open until 8. Do not call again.", 0.0),
    ("Your request was not approved. You have 3 days to reply. There is no appeal.", 0.1),
    ("The meeting is at 10.", 0.5),
)


def _defined(context: Context, *content: TraitInput) -> str:
    handle = new_handle()
    models.create(context, AUTHOR, ModelCreate(handle=handle))
    if content:
        traits.add(context, AUTHOR, handle, TraitsCreate(traits=list(content)))
    return handle


def _warmth(context: Context) -> str:
    return _defined(context, TraitInput(name="Warmth", positive_label="warm, kind", negative_label="cold, harsh"))


def _letters(context: Context) -> str:
    handle = _warmth(context)
    results = [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in LETTERS]
    samples.add(context, AUTHOR, handle, SamplesCreate(samples=results))
    return handle


def _samples(context: Context, handle: str) -> list[Sample]:
    return samples.list_samples(context, AUTHOR, handle, limit=500).items


def _synthesize(context: Context, handle: str, body: SynthesizeRequest = LOW) -> list[Sample]:
    """The samples that a synthesis added."""
    before = {sample.id for sample in _samples(context, handle)}
    synthesis.start(context, AUTHOR, handle, body)
    model = settled(context, handle)
    assert model.last_operation is not None
    assert (model.state, model.last_operation.status) == ("draft", "succeeded"), model.last_operation.error
    return [sample for sample in _samples(context, handle) if sample.id not in before]


def test_the_words_of_a_trait_become_samples_at_both_poles(working: Context) -> None:
    handle = _warmth(working)
    made = _synthesize(working, handle)
    assert {(sample.provenance, sample.generator) for sample in made} == {("synthesized", "offline")}
    counts = [sum(sample.quality == quality for sample in made) for quality in (1.0, 0.0)]
    assert counts[0] == counts[1] > 0
    assert sum(counts) == len({sample.text for sample in made})
    assert all(sample.content_sha256 == hashlib.sha256(sample.text.encode()).hexdigest() for sample in made)
    done = models.get(working, AUTHOR, handle).last_operation
    assert done is not None
    assert done.progress is not None
    assert (done.kind, done.progress.phase, done.progress.fraction) == ("synthesize", "writing", 1.0)


def test_what_the_exam_rejected_is_counted_and_nothing_like_a_test_sample_is_added(working: Context) -> None:
    handle = _warmth(working)
    first = _synthesize(working, handle)
    copies = [
        SampleInput(trait="warmth", text=each.text.upper(), quality=each.quality, held_out=number > 0)
        for number, each in enumerate(first)
    ]
    for each in first:
        samples.delete(working, AUTHOR, handle, each.id)
    samples.add(working, AUTHOR, handle, SamplesCreate(samples=copies))
    second = _synthesize(working, handle)
    assert not {each.text for each in first} & {each.text for each in second}
    done = models.get(working, AUTHOR, handle).last_operation
    assert done is not None
    assert done.progress is not None
    assert done.progress.synthesis is not None
    assert (done.progress.synthesis.generator, done.progress.synthesis.added) == ("offline", len(second))
    assert done.progress.synthesis.rejected["copy"] >= len(first) / 2


def test_rejected_texts_can_be_read_until_the_next_run(working: Context) -> None:
    handle = _letters(working)
    seeds = {each.id: each for each in _samples(working, handle)}
    made = _synthesize(working, handle, VARY)
    listed = synthesis.rejected(working, AUTHOR, handle).items
    done = models.get(working, AUTHOR, handle).last_operation
    assert done is not None
    assert done.progress is not None
    assert done.progress.synthesis is not None
    assert Counter(each.reason for each in listed) == done.progress.synthesis.rejected
    assert not {each.text for each in listed} & {each.text for each in made}
    for each in listed:
        assert each.seed_sample_id is not None
        assert (each.trait, each.generator) == ("warmth", "offline")
        assert each.quality == seeds[each.seed_sample_id].quality
    gone = listed[0].seed_sample_id
    assert gone is not None
    samples.delete(working, AUTHOR, handle, gone)
    left = synthesis.rejected(working, AUTHOR, handle).items
    assert left == [each for each in listed if each.seed_sample_id != gone]
    training.start(working, AUTHOR, handle, TrainRequest(effort="low"))
    assert synthesis.rejected(working, AUTHOR, handle).items == []


def test_zero_retention_keeps_no_rejected_text(working: Context) -> None:
    kept, never = _letters(working), _warmth(working)
    models.update(working, AUTHOR, never, ModelUpdate(zero_data_retention=True))
    results = [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in LETTERS]
    samples.add(working, AUTHOR, never, SamplesCreate(samples=results))
    for handle in (kept, never):
        _synthesize(working, handle, VARY)
    assert synthesis.rejected(working, AUTHOR, kept).items
    assert not synthesis.rejected(working, AUTHOR, never).items
    models.update(working, AUTHOR, kept, ModelUpdate(zero_data_retention=True))
    assert not synthesis.rejected(working, AUTHOR, kept).items


def test_what_was_deleted_can_be_made_again(working: Context) -> None:
    handle = _warmth(working)
    first = _synthesize(working, handle)
    for each in first:
        samples.delete(working, AUTHOR, handle, each.id)
    assert [each.text for each in _synthesize(working, handle)] == [each.text for each in first]


def test_a_second_synthesis_gives_other_texts(working: Context) -> None:
    handle = _warmth(working)
    first, second = _synthesize(working, handle), _synthesize(working, handle)
    assert not {sample.text for sample in first} & {sample.text for sample in second}


def test_what_a_person_should_know_of_the_texts_is_said(working: Context) -> None:
    handle = _defined(working, TraitInput(name="Sport", positive_label="sport", negative_label="not sport"))
    synthesis.start(working, AUTHOR, handle, LOW)
    done = settled(working, handle).last_operation
    assert done is not None
    assert done.progress is not None
    assert any("only says what a text is not" in note for note in done.progress.notes or [])


def test_a_variation_keeps_quality_and_seed(working: Context) -> None:
    handle = _letters(working)
    seeds = {sample.id: sample for sample in _samples(working, handle)}
    made = _synthesize(working, handle, VARY)
    with reading(working.engine) as connection:
        columns = tables.samples.c
        statement = select(columns.id, columns.seed_sample_id, columns.origin_run_id)
        rows = {row.id: row for row in connection.execute(statement)}
    run = models.get(working, AUTHOR, handle).last_operation
    assert run is not None
    assert made
    for sample in made:
        assert sample.seed_sample_id == rows[sample.id].seed_sample_id
        assert sample.seed_sample_id is not None
        seed = seeds[sample.seed_sample_id]
        assert sample.text != seed.text
        assert (sample.trait, sample.quality, sample.provenance) == (seed.trait, seed.quality, "synthesized")
        assert (sample.generator, rows[sample.id].origin_run_id) == ("offline", run.run_id)
    assert len({(sample.trait, sample.text) for sample in _samples(working, handle)}) == len(made) + len(seeds)
    assert {seed.seed_sample_id for seed in seeds.values()} == {None}


def test_synthesized_samples_teach_but_do_not_judge(working: Context) -> None:
    handle = _letters(working)
    made = _synthesize(working, handle)
    training.start(working, AUTHOR, handle, TrainRequest(effort="low"))
    assert settled(working, handle).state == "ready"
    version = versions.get(working, AUTHOR, handle, "v1")
    assert version.sample_count == len(made) + len(LETTERS)
    figures = version.metrics.traits["warmth"].model_dump()
    assert figures["counts"]["synthesized"] == len(made)
    assert "4 distinct" in figures["measured_on"] or "5 distinct" in figures["measured_on"]


@pytest.mark.parametrize("synth_type", ["enrich", "", "From_traits"])
def test_another_type_is_refused_whatever_the_model_does(context: Context, synth_type: str) -> None:
    handle = draft(context, warm=1, cold=1)
    for _ in range(2):
        with pytest.raises(UnsupportedSynthType) as caught:
            synthesis.start(context, AUTHOR, handle, SynthesizeRequest(synth_type=synth_type))
        assert caught.value.details["choices"] == ["from_traits", "diversify"]
        models.delete(context, AUTHOR, handle)


def test_without_a_text_there_is_nothing_to_vary(context: Context) -> None:
    handle = draft(context)
    neutral = SamplesCreate(samples=[SampleInput(trait="warmth", text="So so.", quality=0.5)])
    samples.add(context, AUTHOR, handle, neutral)
    with pytest.raises(InsufficientSamples) as caught:
        synthesis.start(context, AUTHOR, handle, VARY)
    assert caught.value.details["traits"] == {"warmth": 0}
    model = models.get(context, AUTHOR, handle)
    assert (model.state, model.last_operation) == ("draft", None)


def test_without_a_trait_there_is_nothing_to_write(context: Context) -> None:
    with pytest.raises(InsufficientSamples):
        synthesis.start(context, AUTHOR, _defined(context), SynthesizeRequest())


def test_the_same_synthesis_in_flight_is_named_and_another_finds_the_model_busy(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    started = synthesis.start(context, AUTHOR, handle, SynthesizeRequest())
    assert started.state == "busy"
    for body, error in [
        (SynthesizeRequest(), DuplicateRun),
        (SynthesizeRequest(effort="high"), DuplicateRun),
        (LOW, ModelBusy),
        (SynthesizeRequest(synth_type="diversify"), ModelBusy),
    ]:
        with pytest.raises(error) as caught:
            synthesis.start(context, AUTHOR, handle, body)
        assert caught.value.headers == {"X-Run-Id": started.run_id}


def test_a_failed_synthesis_leaves_a_draft_and_may_be_repeated(context: Context) -> None:
    handle = draft(context)
    first = synthesis.start(context, AUTHOR, handle, LOW)
    with writing(context.engine) as connection:
        run = runs.read(connection, str(first.run_id))
        assert run is not None
        assert model_runs.fail(connection, run, code="internal_error", message="It failed.")
    assert models.get(context, AUTHOR, handle).state == "draft"
    assert synthesis.start(context, AUTHOR, handle, LOW).run_id != first.run_id


def test_texts_that_do_not_all_have_room_are_not_added_at_all(working: Context) -> None:
    handle = _letters(working)
    narrow = replace(working, settings=replace(working.settings, max_samples=len(LETTERS) + 1))
    synthesis.start(narrow, AUTHOR, handle, LOW)
    model = settled(working, handle)
    assert model.last_operation is not None
    assert model.last_operation.error is not None
    assert (model.state, model.last_operation.error.code) == ("draft", "validation_failed")
    assert len(_samples(working, handle)) == len(LETTERS)
    full = replace(working, settings=replace(working.settings, max_samples=len(LETTERS)))
    with pytest.raises(ValidationFailed):
        synthesis.start(full, AUTHOR, handle, LOW)


def test_a_text_that_cannot_be_varied_ends_the_run_with_the_reason(working: Context) -> None:
    handle = draft(working)
    samples.add(
        working, AUTHOR, handle, SamplesCreate(samples=[SampleInput(trait="warmth", text="Hello", quality=1.0)])
    )
    synthesis.start(working, AUTHOR, handle, VARY)
    model = settled(working, handle)
    assert model.last_operation is not None
    assert model.last_operation.error is not None
    assert (model.state, model.last_operation.error.code) == ("draft", "nothing_synthesized")
    assert "Hello" not in model.last_operation.error.message


def test_only_a_draft_gets_samples(working: Context, toned: str) -> None:
    with pytest.raises(ModelNotDraft):
        synthesis.start(working, AUTHOR, toned, SynthesizeRequest())
