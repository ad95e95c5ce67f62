"""Synthesized samples: from the request to the samples, and the answers that start no synthesis."""

import hashlib
from collections import Counter
from dataclasses import replace

import pytest
from sqlalchemy import select

from tests.contexts import AUTHOR, ON_BOTH, done_here, draft
from tests.operations import author
from traitbench import errors
from traitbench.contract.models import SynthesisOutcome, TrainRequest
from traitbench.contract.samples import Sample, SamplesDelete, SynthesizeRequest
from traitbench.contract.traits import TraitInput
from traitbench.operations import models, samples, synthesis, training
from traitbench.operations.context import Context
from traitbench.store import tables
from traitbench.store.database import reading

LOW = SynthesizeRequest(effort="low")
VARY = SynthesizeRequest(effort="low", synth_type="diversify")


def _synthesize(context: Context, handle: str, body: SynthesizeRequest = LOW) -> list[Sample]:
    """The samples that a synthesis added."""
    before = {sample.id for sample in author.samples_of(context, handle)}
    done_here(context, synthesis.start(context, AUTHOR, handle, body).run_id)
    operation = author.last_operation(context, handle)
    assert (author.get(context, handle).state, operation.status) == ("draft", "succeeded"), operation.error
    return [sample for sample in author.samples_of(context, handle) if sample.id not in before]


def _ended_with(context: Context, handle: str, body: SynthesizeRequest) -> tuple[str, str]:
    """The code and the message of a synthesis that fails and leaves a draft."""
    done_here(context, synthesis.start(context, AUTHOR, handle, body).run_id)
    error = author.last_operation(context, handle).error
    assert error is not None
    assert author.get(context, handle).state == "draft"
    return error.code, error.message


def _outcome(context: Context, handle: str) -> SynthesisOutcome:
    progress = author.last_operation(context, handle).progress
    assert progress is not None
    assert progress.synthesis is not None
    return progress.synthesis


def _delete(context: Context, handle: str, gone: list[Sample]) -> None:
    samples.delete_many(context, AUTHOR, handle, SamplesDelete(ids=[each.id for each in gone]))


# ---- what is made ----------------------------------------------------------------------------------------------------


def test_the_words_of_a_trait_become_samples_at_both_poles(context: Context) -> None:
    handle = author.warmth(context)
    made = _synthesize(context, handle)
    assert {(sample.provenance, sample.generator) for sample in made} == {("synthesized", "offline")}
    counts = [sum(sample.quality == quality for sample in made) for quality in (1.0, 0.0)]
    assert counts[0] == counts[1] > 0
    assert sum(counts) == len({sample.text for sample in made})
    assert all(sample.content_sha256 == hashlib.sha256(sample.text.encode()).hexdigest() for sample in made)
    done = author.last_operation(context, handle)
    assert done.progress is not None
    assert (done.kind, done.progress.phase, done.progress.fraction) == ("synthesize", "writing", 1.0)
    assert not {sample.text for sample in made} & {sample.text for sample in _synthesize(context, handle)}
    _delete(context, handle, author.samples_of(context, handle))
    assert [each.text for each in _synthesize(context, handle)] == [each.text for each in made]


def test_what_the_exam_rejected_is_counted_and_nothing_like_a_test_sample_is_added(context: Context) -> None:
    handle = author.warmth(context)
    first = _synthesize(context, handle)
    _delete(context, handle, first)
    for number, each in enumerate(first):
        author.add_samples(context, handle, [(each.text.upper(), each.quality)], held_out=number > 0)
    second = _synthesize(context, handle)
    assert not {each.text for each in first} & {each.text for each in second}
    outcome = _outcome(context, handle)
    assert (outcome.generator, outcome.added) == ("offline", len(second))
    assert outcome.rejected["copy"] >= len(first) / 2


@ON_BOTH
def test_rejected_texts_can_be_read_until_the_next_run(context: Context) -> None:
    handle = author.warmth(context, *author.LETTERS)
    seeds = {each.id: each for each in author.samples_of(context, handle)}
    made = _synthesize(context, handle, VARY)
    listed = synthesis.rejected(context, AUTHOR, handle).items
    assert Counter(each.reason for each in listed) == _outcome(context, handle).rejected
    assert not {each.text for each in listed} & {each.text for each in made}
    for each in listed:
        assert each.seed_sample_id is not None
        assert (each.trait, each.generator) == ("warmth", "offline")
        assert each.quality == seeds[each.seed_sample_id].quality
    gone = listed[0].seed_sample_id
    assert gone is not None
    samples.delete(context, AUTHOR, handle, gone)
    left = [each for each in listed if each.seed_sample_id != gone]
    assert synthesis.rejected(context, AUTHOR, handle).items == left
    training.start(context, AUTHOR, handle, TrainRequest(effort="low"))
    assert synthesis.rejected(context, AUTHOR, handle).items == []


def test_zero_retention_keeps_no_rejected_text(context: Context) -> None:
    kept, never = (
        author.warmth(context, *author.LETTERS),
        author.warmth(context, *author.LETTERS, zero_data_retention=True),
    )
    for handle in (kept, never):
        _synthesize(context, handle, VARY)
    assert synthesis.rejected(context, AUTHOR, kept).items
    author.update(context, kept, zero_data_retention=True)
    assert [synthesis.rejected(context, AUTHOR, each).items for each in (kept, never)] == [[], []]


def test_what_a_person_should_know_of_the_texts_is_said(context: Context) -> None:
    handle = author.new_model(context, TraitInput(name="Sport", positive_label="sport", negative_label="not sport"))
    _synthesize(context, handle)
    progress = author.last_operation(context, handle).progress
    assert progress is not None
    assert any("only says what a text is not" in note for note in progress.notes or [])


def test_a_variation_keeps_quality_and_seed(context: Context) -> None:
    handle = author.warmth(context, *author.LETTERS)
    seeds = {sample.id: sample for sample in author.samples_of(context, handle)}
    made = _synthesize(context, handle, VARY)
    columns = tables.samples.c
    with reading(context.engine) as connection:
        origin = {row.id: row.origin_run_id for row in connection.execute(select(columns.id, columns.origin_run_id))}
    assert made
    for sample in made:
        assert sample.seed_sample_id is not None
        seed = seeds[sample.seed_sample_id]
        assert sample.text != seed.text
        assert (sample.trait, sample.quality, sample.provenance) == (seed.trait, seed.quality, "synthesized")
        assert (sample.generator, origin[sample.id]) == ("offline", author.last_operation(context, handle).run_id)
    assert len({(sample.trait, sample.text) for sample in author.samples_of(context, handle)}) == len(made) + len(seeds)
    assert {seed.seed_sample_id for seed in seeds.values()} == {None}


def test_synthesized_samples_teach_but_do_not_judge(context: Context) -> None:
    handle = author.warmth(context, *author.LETTERS)
    made = _synthesize(context, handle)
    version = author.train(context, handle)
    assert version.sample_count == len(made) + len(author.LETTERS)
    figures = version.metrics.traits["warmth"]
    assert figures.counts["synthesized"] == len(made)
    assert "4 distinct" in str(figures.measured_on) or "5 distinct" in str(figures.measured_on)


# ---- what starts none ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("synth_type", ["enrich", "", "From_traits"])
def test_another_type_is_refused_whatever_the_model_does(context: Context, synth_type: str) -> None:
    handle = draft(context, warm=1, cold=1)
    for _ in range(2):
        with pytest.raises(errors.UnsupportedSynthType) as caught:
            synthesis.start(context, AUTHOR, handle, SynthesizeRequest(synth_type=synth_type))
        assert caught.value.details["choices"] == ["from_traits", "diversify"]
        models.delete(context, AUTHOR, handle)


def test_without_a_text_there_is_nothing_to_vary_and_without_a_trait_nothing_to_write(context: Context) -> None:
    handle = author.warmth(context, ("So so.", 0.5))
    with pytest.raises(errors.InsufficientSamples) as caught:
        synthesis.start(context, AUTHOR, handle, VARY)
    assert caught.value.details["traits"] == {"warmth": 0}
    assert (author.get(context, handle).state, author.get(context, handle).last_operation) == ("draft", None)
    with pytest.raises(errors.InsufficientSamples):
        synthesis.start(context, AUTHOR, author.new_model(context), SynthesizeRequest())


def test_the_same_synthesis_in_flight_is_named_and_another_finds_the_model_busy(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    started = synthesis.start(context, AUTHOR, handle, SynthesizeRequest())
    assert started.state == "busy"
    for body, error in [
        (SynthesizeRequest(), errors.DuplicateRun),
        (SynthesizeRequest(effort="high"), errors.DuplicateRun),
        (LOW, errors.ModelBusy),
        (SynthesizeRequest(synth_type="diversify"), errors.ModelBusy),
    ]:
        with pytest.raises(error) as caught:
            synthesis.start(context, AUTHOR, handle, body)
        assert caught.value.headers == {"X-Run-Id": started.run_id}
    author.fail(context, handle)
    assert author.get(context, handle).state == "draft"
    assert synthesis.start(context, AUTHOR, handle, SynthesizeRequest()).run_id != started.run_id


def test_texts_that_do_not_all_have_room_are_not_added_at_all(context: Context) -> None:
    handle = author.warmth(context, *author.LETTERS)
    narrow, full = (
        replace(context, settings=replace(context.settings, max_samples=len(author.LETTERS) + more)) for more in (1, 0)
    )
    assert _ended_with(narrow, handle, LOW)[0] == "validation_failed"
    assert len(author.samples_of(context, handle)) == len(author.LETTERS)
    with pytest.raises(errors.ValidationFailed):
        synthesis.start(full, AUTHOR, handle, LOW)


def test_a_text_that_cannot_be_varied_ends_the_run_with_the_reason(context: Context) -> None:
    code, message = _ended_with(context, author.warmth(context, ("Hello", 1.0)), VARY)
    assert code == "nothing_synthesized"
    assert "Hello" not in message


def test_only_a_draft_gets_samples(context: Context, toned: str) -> None:
    with pytest.raises(errors.ModelNotDraft):
        synthesis.start(context, AUTHOR, toned, SynthesizeRequest())
