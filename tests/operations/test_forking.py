"""Forks: what a draft made from a model has, what it was made from, and what is refused."""

import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import select, text

from tests.contexts import (
    AUTHOR,
    ON_BOTH,
    ON_SQLITE,
    SCORER,
    STRANGER,
    done_here,
    draft,
    export_of,
    new_handle,
    trained_here,
)
from tests.operations import author
from tests.size import sized
from traitbench import errors
from traitbench.contract.models import ForkedFrom, ForkRequest
from traitbench.contract.samples import Sample, SynthesizeRequest
from traitbench.contract.traits import DiscoverRequest
from traitbench.operations import discovery, models, promotion, samples, synthesis, training, traits
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import tables
from traitbench.store.database import reading, writing

# ---- what is copied --------------------------------------------------------------------------------------------------


@ON_BOTH
def test_a_fork_trained_without_a_change_has_the_parameters_of_the_original(context: Context) -> None:
    handle = draft(context, warm=6, cold=5)
    author.add_test_samples(context, handle)
    original = author.train(context, handle)
    copy = author.fork(context, handle)
    assert (copy.state, copy.version_no, copy.last_operation) == ("draft", None, None)
    # So that the training encodes nothing again.
    assert author.vectors_of(context, copy.handle) == author.vectors_of(context, handle) == 13
    again = author.train(context, copy.handle)
    assert again.param_hash == original.param_hash
    assert (again.sample_count, again.snapshot) == (original.sample_count, original.snapshot)


def test_a_fork_says_what_it_was_made_from(context: Context) -> None:
    handle = trained_here(context)
    author.refit(context, handle)
    copy = author.fork(context, handle)
    assert copy.forked_from == ForkedFrom(handle=handle, version_no=2)
    assert models.get(context, SCORER, copy.handle).forked_from == copy.forked_from
    assert author.get(context, handle).forked_from is None
    assert author.fork(context, copy.handle).forked_from == ForkedFrom(handle=copy.handle, version_no=None)


def test_a_fork_has_the_settings_of_the_original(context: Context) -> None:
    handle = draft(context)
    original = author.update(
        context,
        handle,
        description="How warm.",
        max_depth=3,
        additional_terms="None.",
        upstream_sources=[{"name": "ours"}],
        readme_markdown="# Read me",
        version_retention_policy={"keep_unnamed": 3},
        hold_if_worse=True,
        main_trait="warmth",
        demo_texts=["How kind!"],
    )
    own = {"handle", "forked_from"}
    assert author.fork(context, handle).model_dump(exclude=own) == original.model_dump(exclude=own)


def _without_ids(listed: Sequence[Sample]) -> list[dict[str, Any]]:
    """Samples with positions in place of ids."""
    places: dict[int | None, int] = {sample.id: place for place, sample in enumerate(listed)}
    return [
        sample.model_dump(exclude={"id"}) | {"seed_sample_id": places.get(sample.seed_sample_id)} for sample in listed
    ]


@ON_BOTH
def test_samples_are_copied_in_their_order_with_new_ids_that_are_never_used_again(context: Context) -> None:
    handle = author.warmth(context, *author.LETTERS)
    vary = SynthesizeRequest(effort="low", synth_type="diversify")
    done_here(context, synthesis.start(context, AUTHOR, handle, vary).run_id)
    author.add_samples(context, handle, [("a test", 1.0)], held_out=True, must_pass=True, source_url="https://x")
    gone = author.samples_of(context, handle)[0]
    samples.delete(context, AUTHOR, handle, gone.id)
    before = author.samples_of(context, handle)
    assert any(sample.seed_sample_id == gone.id for sample in before)
    copy = author.fork(context, handle).handle
    copied = author.samples_of(context, copy)
    assert _without_ids(copied) == _without_ids(before)
    assert any(sample.seed_sample_id for sample in copied)
    ids = [sample.id for sample in copied]
    assert ids == sorted(ids)
    assert ids[0] > max(sample.id for sample in before)
    assert author.samples_of(context, handle) == before
    for sample_id in ids:
        samples.delete(context, AUTHOR, copy, sample_id)
    assert not {*ids} & {sample.id for sample in author.samples_of(context, author.fork(context, handle).handle)}


def test_feedback_that_waits_is_an_ordinary_sample_of_the_fork(context: Context) -> None:
    handle = trained_here(context)
    author.give_feedback(context, handle)
    copy = author.fork(context, handle).handle
    exported = export_of(context, AUTHOR, copy).samples or []
    assert [(each.provenance, each.pending) for each in exported[-1:]] == [("score_feedback", False)]
    assert author.train(context, copy).sample_count == 5
    assert [each.pending for each in export_of(context, AUTHOR, handle).samples or []] == [False] * 4 + [True]


def test_discovered_traits_keep_their_axes_and_the_copies_of_their_anchors(context: Context) -> None:
    handle = author.headlines(context)
    done_here(context, discovery.start(context, AUTHOR, handle, DiscoverRequest(effort="low")).run_id)
    copy = author.fork(context, handle).handle
    left, right = (export_of(context, AUTHOR, each) for each in (handle, copy))
    assert (left.traits, left.samples) == (right.traits, right.samples)
    own = {sample.id for sample in author.samples_of(context, copy)}
    found = [trait for trait in traits.list_traits(context, AUTHOR, copy).traits if trait.kind == "intrinsic"]
    assert found
    for trait in found:
        assert trait.anchor_sample_ids is not None
        assert trait.anchor_sample_ids.positive
        assert {*trait.anchor_sample_ids.positive, *trait.anchor_sample_ids.negative} <= own
    assert author.train(context, copy).param_hash == author.train(context, handle).param_hash


def test_a_change_of_the_fork_leaves_the_original_alone(context: Context) -> None:
    handle = trained_here(context)
    before = export_of(context, AUTHOR, handle)
    copy = author.fork(context, handle).handle
    traits.delete(context, AUTHOR, copy, "warmth")
    models.delete(context, AUTHOR, copy)
    assert export_of(context, AUTHOR, handle) == before


@pytest.mark.parametrize("is_trained", [False, True])
def test_under_zero_retention_a_fork_has_traits_and_settings_only(context: Context, is_trained: bool) -> None:
    """A draft keeps its samples until it is trained, but they are not copied either."""
    handle = trained_here(context) if is_trained else draft(context)
    author.update(context, handle, zero_data_retention=True, description="Silent.")
    if not is_trained:
        author.add_samples(context, handle, [("kept until the training", 1.0)])
    copy = author.fork(context, handle)
    assert (copy.zero_data_retention, copy.description, copy.traits) == (True, "Silent.", ["Warmth"])
    assert (author.samples_of(context, copy.handle), author.vectors_of(context, copy.handle)) == ([], 0)


# ---- refusals --------------------------------------------------------------------------------------------------------


def test_a_handle_that_is_taken_is_refused_also_by_an_archived_model(context: Context) -> None:
    handle, other = draft(context, warm=1), draft(context)
    models.delete(context, AUTHOR, other)
    for taken in (handle, other):
        with pytest.raises(errors.HandleTaken):
            author.fork(context, handle, taken)
    assert len(author.samples_of(context, handle)) == 1


@pytest.mark.parametrize(
    ("caller", "to", "error"),
    [
        (SCORER, "local.copy", errors.InsufficientScope),
        (STRANGER, "elsewhere.copy", errors.NamespaceForbidden),
        (AUTHOR, "elsewhere.copy", errors.NamespaceForbidden),
        (AUTHOR, "Bad", errors.InvalidHandle),
    ],
)
def test_both_namespaces_have_to_be_the_callers(
    context: Context, caller: Caller, to: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        promotion.fork(context, caller, draft(context), ForkRequest(handle=to))
    assert to not in [model.handle for model in models.list_models(context, AUTHOR, namespace="local").items]


def test_a_model_that_is_busy_archived_or_absent_is_not_forked(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    training.start(context, AUTHOR, handle, author.QUICK)
    with pytest.raises(errors.ModelBusy):
        author.fork(context, handle)
    models.delete(context, AUTHOR, handle)
    with pytest.raises(errors.ModelArchived):
        author.fork(context, handle)
    with pytest.raises(errors.ModelNotFound):
        author.fork(context, new_handle())


# ---- size ------------------------------------------------------------------------------------------------------------


MANY = sized(5_000, 20_000)
_ADD_SAMPLES = """
    INSERT INTO tb_samples (model_id, trait_id, text, quality, provenance, content_sha256, created_at)
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < :many - 1)
    SELECT m.id, t.id, n || hex(zeroblob(400)), n % 2, 'authored', n, n
    FROM numbers JOIN tb_models m ON m.handle = :handle JOIN tb_traits t ON t.model_id = m.id ORDER BY n
"""
_ADD_VECTORS = """
    INSERT INTO tb_vectors (sample_id, encoder_digest, vector)
    SELECT s.id, '0', CAST(printf('%0800d', s.content_sha256) AS BLOB)
    FROM tb_samples s JOIN tb_models m ON m.id = s.model_id WHERE m.handle = :handle
"""


@ON_SQLITE
def test_many_samples_are_copied_without_being_in_memory(context: Context) -> None:
    handle = draft(context)
    with writing(context.engine) as connection:
        connection.execute(text(_ADD_SAMPLES), {"handle": handle, "many": MANY})
        connection.execute(text(_ADD_VECTORS), {"handle": handle})
    tracemalloc.start()
    copy = author.fork(context, handle).handle
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6_000_000 < MANY * 1_600
    assert author.vectors_of(context, copy) == MANY
    columns = tables.samples.c
    joined = select(columns.text, tables.vectors.c.vector).join(
        tables.vectors, tables.vectors.c.sample_id == columns.id
    )
    with reading(context.engine) as connection:
        of_copy = joined.where(columns.model_id == author.row(context, copy).id)
        last = connection.execute(of_copy.order_by(columns.id.desc())).first()
    assert last is not None
    assert (last.text, int(last.vector)) == (f"{MANY - 1}{'00' * 400}", MANY - 1)
