"""Feedback under control: it can be withdrawn and learned now, and a version that it made worse does not serve."""

from collections.abc import Iterable
from typing import Any

import pytest
from sqlalchemy import select

from tests.contexts import AUTHOR, COLD, ON_SQLITE, WARM, done_here, draft, export_of, new_handle, trained_here
from tests.operations.test_retraining import TEN, _fail, _let_wait, _retrains, _row, _say, _sweep, _waiting
from traitbench.contract.models import Model, ModelUpdate, TrainRequest, VersionRetentionPolicy
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.scores import ScoreRequest
from traitbench.contract.versions import VersionActivate
from traitbench.errors import InsufficientSamples, ModelBusy, ModelNotDraft, SampleNotFound, SamplesPurged
from traitbench.operations import bundles, models, retraining, samples, scores, training, versions
from traitbench.operations.context import Context
from traitbench.store import tables
from traitbench.store.database import reading

HOLD = ModelUpdate(hold_if_worse=True)


def _model(context: Context, handle: str) -> Model:
    return models.get(context, AUTHOR, handle)


def _feed(context: Context, handle: str, texts: Iterable[tuple[str, float]]) -> list[int]:
    return [
        sample_id
        for text, quality in texts
        for sample_id in scores.score(
            context, AUTHOR, handle, ScoreRequest(content=text, feedback={"warmth": quality}), request_id="req"
        ).metadata.sample_ids
    ]


def _wrong(count: int, *, first: int = 100) -> list[tuple[str, float]]:
    """Texts like the samples, with the label of the other pole."""
    both = [pair for at in range(4) for pair in ((WARM[at], 0.0), (COLD[at], 1.0))]
    return [(f"{both[i % 8][0]} {first + i}", both[i % 8][1]) for i in range(count)]


def _right(count: int, *, first: int = 200) -> list[tuple[str, float]]:
    return [(text, 1 - quality) for text, quality in _wrong(count, first=first)]


def _holding(context: Context, *, warm: int = 8, cold: int = 8) -> str:
    handle = trained_here(context, warm=warm, cold=cold)
    models.update(context, AUTHOR, handle, HOLD)
    return handle


def _held(context: Context, *, count: int = TEN) -> str:
    """A model whose v2, made from wrong feedback, is on hold."""
    handle = _holding(context)
    _feed(context, handle, _wrong(count))
    done_here(context, _row(context, handle).run_id)
    return handle


def _retrain(context: Context, handle: str) -> None:
    done_here(context, retraining.start(context, AUTHOR, handle)[0].run_id)


# ---- withdraw, retrain now -------------------------------------------------------------------------------------------


def test_feedback_that_waits_is_listed_with_the_score_then_and_can_be_withdrawn(context: Context) -> None:
    handle = trained_here(context)
    card = scores.score(
        context, AUTHOR, handle, ScoreRequest(content="a kind word", feedback={"Warmth": "good"}), request_id="req"
    )
    [sample] = samples.list_samples(context, AUTHOR, handle, pending=True).items
    assert (sample.text, sample.quality, sample.score_then) == ("a kind word", 1.0, card.scores["warmth"])
    others = samples.list_samples(context, AUTHOR, handle, pending=False).items
    assert sample.id not in {each.id for each in others}
    assert {(each.pending, each.score_then) for each in others} == {(False, None)}
    samples.delete(context, AUTHOR, handle, sample.id)
    assert samples.list_samples(context, AUTHOR, handle, pending=True).items == []
    assert _model(context, handle).state == "ready"
    with pytest.raises(SampleNotFound):
        samples.delete(context, AUTHOR, handle, sample.id)


@ON_SQLITE
def test_what_a_version_was_trained_with_cannot_be_withdrawn(context: Context) -> None:
    handle = trained_here(context)
    [given] = _say(context, handle)
    _retrain(context, handle)
    with pytest.raises(ModelNotDraft):
        samples.delete(context, AUTHOR, handle, given)
    [authored, *_] = samples.list_samples(context, AUTHOR, handle).items
    with pytest.raises(ModelNotDraft):
        samples.delete(context, AUTHOR, handle, authored.id)


def test_a_busy_model_lets_nothing_be_withdrawn(context: Context) -> None:
    handle = trained_here(context)
    [given] = _say(context, handle)
    retraining.start(context, AUTHOR, handle)
    with pytest.raises(ModelBusy):
        samples.delete(context, AUTHOR, handle, given)
    _fail(context, handle)
    samples.delete(context, AUTHOR, handle, given)
    assert _waiting(context, handle) == 0


def test_a_retrain_now_learns_one_line_even_after_one_that_failed(context: Context) -> None:
    handle = trained_here(context)
    assert retraining.start(context, AUTHOR, handle)[0].run_id is None
    _say(context, handle)
    started, new = retraining.start(context, AUTHOR, handle)
    assert (new, retraining.start(context, AUTHOR, handle)) == (True, (started, True))
    _fail(context, handle)
    _retrain(context, handle)
    second = versions.get(context, AUTHOR, handle, "v2")
    assert (second.triggered_by, second.sample_count, _waiting(context, handle)) == ("retrain_buffered", 5, 0)


def test_a_retrain_now_forgets_no_purged_samples(context: Context) -> None:
    handle = trained_here(context, warm=3, cold=3)
    for switch in (True, False):
        models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=switch))
    assert retraining.start(context, AUTHOR, handle)[0].run_id is None
    _say(context, handle)
    with pytest.raises(InsufficientSamples):
        retraining.start(context, AUTHOR, handle)
    _say(context, handle, first=1)
    with pytest.raises(SamplesPurged):
        retraining.start(context, AUTHOR, handle)
    assert _model(context, handle).state == "ready"


# ---- hold ------------------------------------------------------------------------------------------------------------


def test_a_retrain_that_is_worse_is_kept_and_not_activated(context: Context) -> None:
    handle = _held(context)
    model = _model(context, handle)
    assert (model.state, model.version_no, model.held_version_no, _waiting(context, handle)) == ("ready", 1, 2, TEN)
    metrics = versions.get(context, AUTHOR, handle, "v2").metrics
    assert metrics.held is not None
    [figures] = metrics.held.traits.values()
    assert (metrics.held.measured_on, metrics.held.compared_with, figures.samples) == ("out_of_fold", 1, 16)
    assert figures.before - figures.after > 0.01
    assert metrics.held.because.startswith("The AUROC of warmth out of fold fell from ")
    assert len(versions.list_activations(context, AUTHOR, handle).items) == 1
    pinned = scores.score(context, AUTHOR, f"{handle}@v2", ScoreRequest(content="how kind"), request_id="req")
    assert pinned.metadata.version_id == "v2"


@ON_SQLITE
def test_without_the_setting_the_same_feedback_serves_at_once(context: Context) -> None:
    handle = trained_here(context, warm=8, cold=8)
    _feed(context, handle, _wrong(TEN))
    done_here(context, _row(context, handle).run_id)
    assert (_model(context, handle).version_no, _model(context, handle).held_version_no) == (2, None)
    assert versions.get(context, AUTHOR, handle, "v2").metrics.held is None


@ON_SQLITE
def test_a_retrain_that_is_not_worse_serves(context: Context) -> None:
    handle = _holding(context)
    _feed(context, handle, _right(TEN))
    done_here(context, _row(context, handle).run_id)
    assert (_model(context, handle).version_no, _model(context, handle).held_version_no) == (2, None)
    assert _waiting(context, handle) == 0


@ON_SQLITE
def test_a_search_on_request_is_never_held(context: Context) -> None:
    handle = _holding(context)
    _feed(context, handle, _wrong(TEN - 1))
    request = TrainRequest(effort="low", reoptimize_params=True)
    done_here(context, training.start(context, AUTHOR, handle, request)[0].run_id)
    assert (_model(context, handle).version_no, _model(context, handle).held_version_no) == (2, None)


def test_only_feedback_after_the_hold_makes_a_retrain_due(context: Context) -> None:
    handle = _held(context)
    _let_wait(context, handle, context.settings.retrain_after_seconds + 1)
    _sweep(context)
    assert len(_retrains(context, handle)) == 1
    _feed(context, handle, _wrong(TEN - 1, first=300))
    assert len(_retrains(context, handle)) == 1
    _feed(context, handle, _wrong(1, first=400))
    assert len(_retrains(context, handle)) == 2
    done_here(context, _row(context, handle).run_id)
    assert (_model(context, handle).version_no, _model(context, handle).held_version_no) == (1, 3)


def test_activating_the_held_version_learns_its_feedback_and_no_other(context: Context) -> None:
    handle = _held(context)
    [later] = _feed(context, handle, _wrong(1, first=300))
    versions.activate(context, AUTHOR, handle, VersionActivate(version="v2"))
    assert (_model(context, handle).version_no, _model(context, handle).held_version_no) == (2, None)
    [waiting] = samples.list_samples(context, AUTHOR, handle, pending=True).items
    assert waiting.id == later
    assert versions.list_activations(context, AUTHOR, handle).items[0].cause == "activate"


def test_activating_the_version_that_serves_ends_the_hold_and_nothing_comes_back_by_itself(context: Context) -> None:
    handle = _held(context)
    versions.activate(context, AUTHOR, handle, VersionActivate(version="v1"))
    assert (_model(context, handle).version_no, _model(context, handle).held_version_no) == (1, None)
    assert _waiting(context, handle) == TEN
    _let_wait(context, handle, context.settings.retrain_after_seconds + 1)
    _sweep(context)
    assert len(_retrains(context, handle)) == 1
    assert versions.get(context, AUTHOR, handle, "v2").version_no == 2


@ON_SQLITE
def test_wrong_feedback_is_withdrawn_and_the_rest_learned(context: Context) -> None:
    handle = _held(context)
    _feed(context, handle, _right(2))
    for sample in samples.list_samples(context, AUTHOR, handle, pending=True).items[:TEN]:
        samples.delete(context, AUTHOR, handle, sample.id)
    _retrain(context, handle)
    model = _model(context, handle)
    assert (model.version_no, model.held_version_no, _waiting(context, handle)) == (3, None, 0)
    assert versions.get(context, AUTHOR, handle, "v3").sample_count == 16 + 2


def test_a_held_version_is_never_pruned(context: Context) -> None:
    handle = _held(context)
    nothing = VersionRetentionPolicy(keep_unnamed=0, keep_first_of_month=False)
    models.update(context, AUTHOR, handle, ModelUpdate(version_retention_policy=nothing))
    assert [each.version_no for each in versions.list_versions(context, AUTHOR, handle).items] == [2, 1]
    _feed(context, handle, _wrong(1, first=300))
    _retrain(context, handle)
    assert [each.version_no for each in versions.list_versions(context, AUTHOR, handle).items] == [3, 1]


def test_a_hold_survives_export_and_import(context: Context) -> None:
    handle, copy = _held(context), new_handle()
    _feed(context, handle, _wrong(1, first=300))
    model = bundles.import_(context, AUTHOR, export_of(context, AUTHOR, handle), copy)
    assert (model.version_no, model.held_version_no, model.hold_if_worse) == (1, 2, True)
    versions.activate(context, AUTHOR, copy, VersionActivate(version="v2"))
    assert _waiting(context, copy) == 1


def test_zero_retention_ends_no_hold_and_keeps_no_text(context: Context) -> None:
    handle = _held(context)
    models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    assert _model(context, handle).held_version_no == 2
    assert samples.list_samples(context, AUTHOR, handle).items == []
    with reading(context.engine) as connection:
        mine = select(tables.samples.c.score_then).where(tables.samples.c.model_id == _row(context, handle).id)
        assert connection.execute(mine).all() == []
    versions.activate(context, AUTHOR, handle, VersionActivate(version="v2"))
    assert (_model(context, handle).version_no, _model(context, handle).held_version_no) == (2, None)


# ---- test samples ----------------------------------------------------------------------------------------------------


def _tests(count: int, **fields: Any) -> list[SampleInput]:
    return [
        SampleInput(trait="warmth", text=text, quality=quality, held_out=True, **fields)
        for text, quality in _right(2 * count, first=500)
    ]


def _tested(context: Context, tests: list[SampleInput]) -> str:
    handle = draft(context, warm=8, cold=8)
    samples.add(context, AUTHOR, handle, SamplesCreate(samples=tests))
    done_here(context, training.start(context, AUTHOR, handle, TrainRequest(effort="low"))[0].run_id)
    models.update(context, AUTHOR, handle, HOLD)
    return handle


@ON_SQLITE
def test_test_samples_decide_where_there_are_five_at_each_pole(context: Context) -> None:
    handle = _tested(context, _tests(5))
    _feed(context, handle, _wrong(24))
    if _model(context, handle).state == "busy":
        done_here(context, _row(context, handle).run_id)
    _retrain(context, handle)
    held = versions.get(context, AUTHOR, handle, "v3").metrics.held
    assert held is not None
    assert (held.measured_on, held.traits["warmth"].samples) == ("held_out", 10)


@ON_SQLITE
def test_a_must_pass_sample_that_fails_holds_a_version(context: Context) -> None:
    handle = _tested(context, _tests(1, must_pass=True))
    _feed(context, handle, _wrong(24))
    if _model(context, handle).state == "busy":
        done_here(context, _row(context, handle).run_id)
    _retrain(context, handle)
    held = versions.get(context, AUTHOR, handle, "v3").metrics.held
    assert held is not None
    assert (held.measured_on, held.must_pass_failed > 0) == ("out_of_fold", True)
    assert held.because.startswith(f"{held.must_pass_failed} must-pass sample")
