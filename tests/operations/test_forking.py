"""Forks: what a draft made from a model has, what it was made from, and what is refused."""

import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import func, select, text

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, STRANGER, done_here, draft, export_of, new_handle, trained_here
from tests.operations.test_discovery import LOW, _headlines
from tests.operations.test_synthesis import VARY, _letters
from tests.size import sized
from traitbench.contract.models import ForkedFrom, ForkRequest, Model, ModelUpdate, TrainRequest, VersionRetentionPolicy
from traitbench.contract.samples import Sample, SampleInput, SamplesCreate
from traitbench.contract.scores import ScoreRequest
from traitbench.contract.versions import Version
from traitbench.errors import (
    HandleTaken,
    InsufficientScope,
    InvalidHandle,
    ModelArchived,
    ModelBusy,
    ModelNotFound,
    NamespaceForbidden,
)
from traitbench.operations import (
    access,
    discovery,
    forking,
    models,
    samples,
    scores,
    synthesis,
    training,
    traits,
    versions,
)
from traitbench.operations.context import Context
from traitbench.store import tables
from traitbench.store.database import reading, writing

QUICK = TrainRequest(effort="low")


def fork(context: Context, handle: str, to: str | None = None) -> Model:
    return forking.fork(context, AUTHOR, handle, ForkRequest(handle=to or new_handle()))


def trained(context: Context, handle: str) -> Version:
    """The version of a first training in this process."""
    done_here(context, training.start(context, AUTHOR, handle, QUICK)[0].run_id)
    return versions.get(context, AUTHOR, handle, "active")


def samples_of(context: Context, handle: str) -> list[Sample]:
    return samples.list_samples(context, AUTHOR, handle, limit=500).items


def without_ids(listed: Sequence[Sample]) -> list[dict[str, Any]]:
    """Samples with positions in place of ids."""
    places: dict[int | None, int] = {sample.id: place for place, sample in enumerate(listed)}
    return [
        sample.model_dump(exclude={"id"}) | {"seed_sample_id": places.get(sample.seed_sample_id)} for sample in listed
    ]


def vectors_of(context: Context, handle: str) -> int:
    statement = (
        select(func.count())
        .select_from(tables.vectors)
        .join(tables.samples, tables.samples.c.id == tables.vectors.c.sample_id)
        .join(tables.models, tables.models.c.id == tables.samples.c.model_id)
        .where(tables.models.c.handle == handle)
    )
    with reading(context.engine) as connection:
        return connection.execute(statement).scalar_one()


def give_feedback(context: Context, handle: str, text: str = "See you soon.", **verdicts: float) -> int:
    body = ScoreRequest(content=text, feedback=verdicts or {"warmth": 1.0})
    (sample_id,) = scores.score(context, AUTHOR, handle, body, request_id="req_1").metadata.sample_ids
    return sample_id


def add_test_samples(context: Context, handle: str) -> None:
    sent = [
        SampleInput(trait="warmth", text="a warm test", quality=1.0, held_out=True, must_pass=True),
        SampleInput(trait="warmth", text="a cold test", quality=0.0, held_out=True),
    ]
    samples.add(context, AUTHOR, handle, SamplesCreate(samples=sent))


# ---- what is copied --------------------------------------------------------------------------------------------------


def test_a_fork_trained_without_a_change_has_the_parameters_of_the_original(context: Context) -> None:
    handle = draft(context, warm=6, cold=5)
    add_test_samples(context, handle)
    original = trained(context, handle)
    copy = fork(context, handle)
    assert (copy.state, copy.version_no, copy.last_operation) == ("draft", None, None)
    again = trained(context, copy.handle)
    assert again.param_hash == original.param_hash
    assert (again.sample_count, again.snapshot) == (original.sample_count, original.snapshot)


def test_a_fork_says_what_it_was_made_from(context: Context) -> None:
    handle = trained_here(context)
    done_here(
        context, training.start(context, AUTHOR, handle, TrainRequest(effort="low", reoptimize_params=True))[0].run_id
    )
    copy = fork(context, handle)
    assert copy.forked_from == ForkedFrom(handle=handle, version_no=2)
    assert models.get(context, SCORER, copy.handle).forked_from == copy.forked_from
    assert models.get(context, AUTHOR, handle).forked_from is None
    again = fork(context, copy.handle)
    assert again.forked_from == ForkedFrom(handle=copy.handle, version_no=None)


def test_a_fork_has_the_settings_of_the_original(context: Context) -> None:
    handle = draft(context)
    given = ModelUpdate(
        description="How warm.",
        max_depth=3,
        additional_terms="None.",
        upstream_sources=[{"name": "ours"}],
        readme_markdown="# Read me",
        version_retention_policy=VersionRetentionPolicy(keep_unnamed=3),
        hold_if_worse=True,
    )
    original = models.update(context, AUTHOR, handle, given)
    copy = fork(context, handle)
    own = {"handle", "forked_from"}
    assert copy.model_dump(exclude=own) == original.model_dump(exclude=own)


def test_samples_are_copied_in_their_order_with_new_ids(context: Context) -> None:
    handle = _letters(context)
    done_here(context, synthesis.start(context, AUTHOR, handle, VARY).run_id)
    sent = [
        SampleInput(trait="warmth", text="a test", quality=1.0, held_out=True, must_pass=True, source_url="https://x")
    ]
    samples.add(context, AUTHOR, handle, SamplesCreate(samples=sent))
    gone = samples_of(context, handle)[0]
    samples.delete(context, AUTHOR, handle, gone.id)
    before = samples_of(context, handle)
    assert any(sample.seed_sample_id == gone.id for sample in before)
    copied = samples_of(context, fork(context, handle).handle)
    assert without_ids(copied) == without_ids(before)
    assert any(sample.seed_sample_id for sample in copied)
    ids = [sample.id for sample in copied]
    assert ids == sorted(ids)
    assert ids[0] > max(sample.id for sample in before)
    assert samples_of(context, handle) == before


def test_ids_of_copies_are_never_used_again(context: Context) -> None:
    handle = draft(context, warm=2, cold=2)
    first = fork(context, handle).handle
    ids = {sample.id for sample in samples_of(context, first)}
    for sample_id in ids:
        samples.delete(context, AUTHOR, first, sample_id)
    assert not ids & {sample.id for sample in samples_of(context, fork(context, handle).handle)}


def test_feedback_that_waits_is_an_ordinary_sample_of_the_fork(context: Context) -> None:
    handle = trained_here(context)
    give_feedback(context, handle)
    copy = fork(context, handle).handle
    exported = export_of(context, AUTHOR, copy).samples or []
    assert [(each.provenance, each.pending) for each in exported[-1:]] == [("score_feedback", False)]
    assert trained(context, copy).sample_count == 5
    assert [each.pending for each in export_of(context, AUTHOR, handle).samples or []] == [False] * 4 + [True]


def test_vectors_are_copied_so_that_the_training_encodes_nothing_again(context: Context) -> None:
    handle = trained_here(context)
    before = vectors_of(context, handle)
    assert before == 4
    assert vectors_of(context, fork(context, handle).handle) == before


@ON_SQLITE
def test_discovered_traits_keep_their_axes_and_the_copies_of_their_anchors(context: Context) -> None:
    handle = _headlines(context)
    done_here(context, discovery.start(context, AUTHOR, handle, LOW).run_id)
    copy = fork(context, handle).handle
    left, right = (export_of(context, AUTHOR, each) for each in (handle, copy))
    assert (left.traits, left.samples) == (right.traits, right.samples)
    own = {sample.id for sample in samples_of(context, copy)}
    found = [trait for trait in traits.list_traits(context, AUTHOR, copy).traits if trait.kind == "intrinsic"]
    assert found
    for trait in found:
        assert trait.anchor_sample_ids is not None
        assert trait.anchor_sample_ids.positive
        assert {*trait.anchor_sample_ids.positive, *trait.anchor_sample_ids.negative} <= own
    assert trained(context, copy).param_hash == trained(context, handle).param_hash


def test_a_change_of_the_fork_leaves_the_original_alone(context: Context) -> None:
    handle = trained_here(context)
    before = export_of(context, AUTHOR, handle)
    copy = fork(context, handle).handle
    traits.delete(context, AUTHOR, copy, "warmth")
    models.delete(context, AUTHOR, copy)
    assert export_of(context, AUTHOR, handle) == before


# ---- zero retention --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_trained", [False, True])
def test_under_zero_retention_a_fork_has_traits_and_settings_only(context: Context, is_trained: bool) -> None:
    """A draft keeps its samples until it is trained, but they are not copied either."""
    handle = draft(context) if not is_trained else trained_here(context)
    models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True, description="Silent."))
    if not is_trained:
        sent = [SampleInput(trait="warmth", text="kept until the training", quality=1.0)]
        samples.add(context, AUTHOR, handle, SamplesCreate(samples=sent))
    copy = fork(context, handle)
    assert (copy.zero_data_retention, copy.description, copy.traits) == (True, "Silent.", ["Warmth"])
    assert samples_of(context, copy.handle) == []
    assert vectors_of(context, copy.handle) == 0


# ---- refusals --------------------------------------------------------------------------------------------------------


def test_a_handle_that_is_taken_is_refused_also_by_an_archived_model(context: Context) -> None:
    handle, other = draft(context, warm=1), draft(context)
    models.delete(context, AUTHOR, other)
    for taken in (handle, other):
        with pytest.raises(HandleTaken):
            fork(context, handle, taken)
    assert len(samples_of(context, handle)) == 1


def test_both_namespaces_have_to_be_the_callers(context: Context) -> None:
    handle = draft(context)
    for caller, source, to, error in (
        (SCORER, handle, new_handle(), InsufficientScope),
        (STRANGER, handle, "elsewhere.copy", NamespaceForbidden),
        (AUTHOR, handle, "elsewhere.copy", NamespaceForbidden),
        (AUTHOR, handle, "Bad", InvalidHandle),
        (AUTHOR, new_handle(), new_handle(), ModelNotFound),
    ):
        with pytest.raises(error):
            forking.fork(context, caller, source, ForkRequest(handle=to))
    with pytest.raises(ModelNotFound):
        models.get(context, access.Caller("key_x", "authoring", frozenset({"elsewhere"})), "elsewhere.copy")


def test_a_busy_or_archived_model_is_not_forked(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    training.start(context, AUTHOR, handle, QUICK)
    with pytest.raises(ModelBusy):
        fork(context, handle)
    models.delete(context, AUTHOR, handle)
    with pytest.raises(ModelArchived):
        fork(context, handle)


# ---- size ------------------------------------------------------------------------------------------------------------


MANY = sized(10_000, 20_000)
_ADD_SAMPLES = """
    INSERT INTO tb_samples (model_id, trait_id, text, quality, provenance, content_sha256, created_at)
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < :many - 1)
    SELECT m.id, t.id, n || hex(zeroblob(200)), n % 2, 'authored', n, n
    FROM numbers JOIN tb_models m ON m.handle = :handle JOIN tb_traits t ON t.model_id = m.id ORDER BY n
"""
_ADD_VECTORS = """
    INSERT INTO tb_vectors (sample_id, encoder_digest, vector)
    SELECT s.id, '0', CAST(printf('%0400d', s.content_sha256) AS BLOB)
    FROM tb_samples s JOIN tb_models m ON m.id = s.model_id WHERE m.handle = :handle
"""


@ON_SQLITE
def test_many_samples_are_copied_without_being_in_memory(context: Context) -> None:
    handle = draft(context)
    with writing(context.engine) as connection:
        given = {"handle": handle, "many": MANY}
        connection.execute(text(_ADD_SAMPLES), given)
        connection.execute(text(_ADD_VECTORS), given)
    tracemalloc.start()
    copy = fork(context, handle)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6_000_000 < MANY * 700
    assert vectors_of(context, copy.handle) == MANY
    with reading(context.engine) as connection:
        columns = tables.samples.c.text, tables.samples.c.id, tables.vectors.c.vector
        joined = select(*columns).join(tables.vectors, tables.vectors.c.sample_id == tables.samples.c.id)
        of_copy = joined.join(tables.models, tables.models.c.id == tables.samples.c.model_id)
        last = connection.execute(
            of_copy.where(tables.models.c.handle == copy.handle).order_by(columns[1].desc())
        ).first()
    assert last is not None
    assert last.text == f"{MANY - 1}{'00' * 200}"
    assert int(last.vector) == MANY - 1
