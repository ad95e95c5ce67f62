"""Promotions that are refused: conflicts, permissions and limits."""

from dataclasses import replace

import pytest

from tests.contexts import AUTHOR, SCORER, STRANGER, draft, export_of, new_handle, trained_here
from tests.operations.promoting import activations, improved, promote, reasons, refit
from tests.operations.test_forking import QUICK, fork, give_feedback, samples_of, trained
from traitbench.contract.models import PromoteRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.contract.versions import VersionActivate
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
from traitbench.operations import bundles, models, promotion, samples, training, traits, versions
from traitbench.operations.context import Context


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
