"""Feedback under control: it can be withdrawn and learned now, and a version that it made worse does not serve."""

import pytest
from sqlalchemy import select

from tests.contexts import AUTHOR, COLD, ON_BOTH, WARM, draft, export_of, new_handle, trained_here
from tests.operations import author
from traitbench.contract.metrics import Held
from traitbench.errors import InsufficientSamples, ModelBusy, ModelNotDraft, SampleNotFound, SamplesPurged
from traitbench.operations import bundles, retraining, samples, versions
from traitbench.operations.context import Context
from traitbench.store import tables
from traitbench.store.database import reading


def _wrong(count: int, *, first: int = 100) -> list[tuple[str, float]]:
    """Texts like the samples, with the label of the other pole."""
    both = [pair for at in range(4) for pair in ((WARM[at], 0.0), (COLD[at], 1.0))]
    return [(f"{both[i % 8][0]} {first + i}", both[i % 8][1]) for i in range(count)]


def _right(count: int, *, first: int = 200) -> list[tuple[str, float]]:
    return [(text, 1 - quality) for text, quality in _wrong(count, first=first)]


def _feed(context: Context, handle: str, texts: list[tuple[str, float]]) -> list[int]:
    return [author.give_feedback(context, handle, text, warmth=quality) for text, quality in texts]


def _holding(context: Context) -> str:
    """A trained model that holds a version which is worse."""
    handle = trained_here(context, warm=8, cold=8)
    author.update(context, handle, hold_if_worse=True)
    return handle


def _held(context: Context) -> str:
    """A model whose v2, made from wrong feedback, is on hold."""
    handle = _holding(context)
    _feed(context, handle, _wrong(author.TEN))
    author.finish(context, handle)
    return handle


def _retrain(context: Context, handle: str) -> None:
    retraining.start(context, AUTHOR, handle)
    author.finish(context, handle)


def _numbers(context: Context, handle: str) -> tuple[int | None, int | None]:
    """The version that serves and the one on hold."""
    return author.get(context, handle).version_no, author.get(context, handle).held_version_no


# ---- withdraw, retrain now -------------------------------------------------------------------------------------------


@ON_BOTH
def test_feedback_that_waits_is_listed_with_the_score_then_and_can_be_withdrawn(context: Context) -> None:
    handle = trained_here(context)
    card = author.score(context, handle, "a kind word", feedback={"Warmth": "good"})
    [sample] = author.samples_of(context, handle, pending=True)
    assert (sample.text, sample.quality, sample.score_then) == ("a kind word", 1.0, card.scores["warmth"])
    others = author.samples_of(context, handle, pending=False)
    assert sample.id not in {each.id for each in others}
    assert {(each.pending, each.score_then) for each in others} == {(False, None)}
    samples.delete(context, AUTHOR, handle, sample.id)
    assert author.waiting(context, handle) == 0
    with pytest.raises(SampleNotFound):
        samples.delete(context, AUTHOR, handle, sample.id)


def test_what_a_version_was_trained_with_cannot_be_withdrawn(context: Context) -> None:
    handle = trained_here(context)
    [given] = author.say(context, handle)
    retraining.start(context, AUTHOR, handle)
    with pytest.raises(ModelBusy):
        samples.delete(context, AUTHOR, handle, given)
    author.finish(context, handle)
    for sample_id in (given, author.samples_of(context, handle)[0].id):
        with pytest.raises(ModelNotDraft):
            samples.delete(context, AUTHOR, handle, sample_id)


def test_a_retrain_now_learns_one_line_even_after_one_that_failed(context: Context) -> None:
    handle = trained_here(context)
    assert retraining.start(context, AUTHOR, handle)[0].run_id is None
    author.say(context, handle)
    started, new = retraining.start(context, AUTHOR, handle)
    assert (new, retraining.start(context, AUTHOR, handle)) == (True, (started, True))
    author.fail(context, handle)
    _retrain(context, handle)
    second = author.active(context, handle, "v2")
    assert (second.triggered_by, second.sample_count, author.waiting(context, handle)) == ("retrain_buffered", 5, 0)


def test_a_retrain_now_forgets_no_purged_samples(context: Context) -> None:
    handle = trained_here(context, warm=3, cold=3)
    for on in (True, False):
        author.update(context, handle, zero_data_retention=on)
    assert retraining.start(context, AUTHOR, handle)[0].run_id is None
    author.say(context, handle)
    with pytest.raises(InsufficientSamples):
        retraining.start(context, AUTHOR, handle)
    author.say(context, handle, first=1)
    with pytest.raises(SamplesPurged):
        retraining.start(context, AUTHOR, handle)
    assert author.get(context, handle).state == "ready"


# ---- hold ------------------------------------------------------------------------------------------------------------


@ON_BOTH
def test_a_retrain_that_is_worse_is_kept_and_not_activated(context: Context) -> None:
    handle = _held(context)
    assert (author.get(context, handle).state, _numbers(context, handle), author.waiting(context, handle)) == (
        "ready",
        (1, 2),
        author.TEN,
    )
    held = author.active(context, handle, "v2").metrics.held
    assert held is not None
    [figures] = held.traits.values()
    assert (held.measured_on, held.compared_with, figures.samples) == ("out_of_fold", 1, 16)
    assert figures.before - figures.after > 0.01
    assert held.because.startswith("The AUROC of warmth out of fold fell from ")
    assert len(versions.list_activations(context, AUTHOR, handle).items) == 1
    assert author.score(context, f"{handle}@v2").metadata.version_id == "v2"


def test_a_version_serves_at_once_if_it_is_no_worse_if_nobody_asked_for_holds_or_after_a_refit(
    context: Context,
) -> None:
    better, careless, refitted = _holding(context), trained_here(context, warm=8, cold=8), _holding(context)
    _feed(context, better, _right(author.TEN))
    _feed(context, careless, _wrong(author.TEN))
    for handle in (better, careless):
        author.finish(context, handle)
        assert (_numbers(context, handle), author.waiting(context, handle)) == ((2, None), 0)
        assert author.active(context, handle).metrics.held is None
    _feed(context, refitted, _wrong(author.TEN - 1))
    author.refit(context, refitted)
    assert _numbers(context, refitted) == (2, None)


def test_only_feedback_after_the_hold_makes_a_retrain_due(context: Context) -> None:
    handle = _held(context)
    author.let_wait(context, handle, context.settings.retrain_after_seconds + 1)
    author.sweep(context)
    assert len(author.retrains(context, handle)) == 1
    _feed(context, handle, _wrong(author.TEN - 1, first=300))
    assert len(author.retrains(context, handle)) == 1
    _feed(context, handle, _wrong(1, first=400))
    assert len(author.retrains(context, handle)) == 2
    author.finish(context, handle)
    assert _numbers(context, handle) == (1, 3)


def test_activating_the_held_version_learns_its_feedback_and_no_other(context: Context) -> None:
    handle = _held(context)
    [later] = _feed(context, handle, _wrong(1, first=300))
    author.activate(context, handle, "v2")
    assert _numbers(context, handle) == (2, None)
    assert [sample.id for sample in author.samples_of(context, handle, pending=True)] == [later]
    assert versions.list_activations(context, AUTHOR, handle).items[0].cause == "activate"


def test_activating_the_version_that_serves_ends_the_hold_and_nothing_comes_back_by_itself(context: Context) -> None:
    handle = _held(context)
    author.activate(context, handle, "v1")
    assert (_numbers(context, handle), author.waiting(context, handle)) == ((1, None), author.TEN)
    author.let_wait(context, handle, context.settings.retrain_after_seconds + 1)
    author.sweep(context)
    assert len(author.retrains(context, handle)) == 1
    assert author.active(context, handle, "v2").version_no == 2


def test_wrong_feedback_is_withdrawn_and_the_rest_learned(context: Context) -> None:
    handle = _held(context)
    _feed(context, handle, _right(2))
    for sample in author.samples_of(context, handle, pending=True)[: author.TEN]:
        samples.delete(context, AUTHOR, handle, sample.id)
    _retrain(context, handle)
    assert (_numbers(context, handle), author.waiting(context, handle)) == ((3, None), 0)
    assert author.active(context, handle).sample_count == 16 + 2


def test_a_held_version_is_never_pruned(context: Context) -> None:
    def left() -> list[int]:
        return [each.version_no for each in versions.list_versions(context, AUTHOR, handle).items]

    handle = _held(context)
    author.update(context, handle, version_retention_policy={"keep_unnamed": 0, "keep_first_of_month": False})
    assert left() == [2, 1]
    _feed(context, handle, _wrong(1, first=300))
    _retrain(context, handle)
    assert left() == [3, 1]


def test_a_hold_survives_export_and_import(context: Context) -> None:
    handle, copy = _held(context), new_handle()
    _feed(context, handle, _wrong(1, first=300))
    model = bundles.import_(context, AUTHOR, export_of(context, AUTHOR, handle), copy)
    assert (model.version_no, model.held_version_no, model.hold_if_worse) == (1, 2, True)
    author.activate(context, copy, "v2")
    assert author.waiting(context, copy) == 1


def test_zero_retention_ends_no_hold_and_keeps_no_text(context: Context) -> None:
    handle = _held(context)
    author.update(context, handle, zero_data_retention=True)
    assert _numbers(context, handle) == (1, 2)
    with reading(context.engine) as connection:
        mine = select(tables.samples.c.score_then).where(tables.samples.c.model_id == author.row(context, handle).id)
        assert connection.execute(mine).all() == []
    author.activate(context, handle, "v2")
    assert _numbers(context, handle) == (2, None)


# ---- test samples ----------------------------------------------------------------------------------------------------


def _held_by_tests(context: Context, count: int, *, must_pass: bool = False) -> Held:
    """What holds the version that wrong feedback makes of a model with test samples."""
    handle = draft(context, warm=8, cold=8)
    author.add_samples(context, handle, _right(2 * count, first=500), held_out=True, must_pass=must_pass)
    author.train(context, handle)
    author.update(context, handle, hold_if_worse=True)
    _feed(context, handle, _wrong(24))
    if author.get(context, handle).state == "busy":
        author.finish(context, handle)
    _retrain(context, handle)
    held = author.active(context, handle, "v3").metrics.held
    assert held is not None
    return held


def test_test_samples_decide_where_there_are_five_at_each_pole(context: Context) -> None:
    held = _held_by_tests(context, 5)
    assert (held.measured_on, held.traits["warmth"].samples) == ("held_out", 10)


def test_a_must_pass_sample_that_fails_holds_a_version(context: Context) -> None:
    held = _held_by_tests(context, 1, must_pass=True)
    assert (held.measured_on, held.must_pass_failed > 0) == ("out_of_fold", True)
    assert held.because.startswith(f"{held.must_pass_failed} must-pass sample")
