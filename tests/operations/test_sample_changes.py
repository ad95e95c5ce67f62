"""Samples change, and a change can be undone: ids, origin, marks and order come back, and nobody loses a word."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from tests.contexts import AUTHOR, ON_BOTH, draft, trained_here
from tests.operations.author import add_samples, fork, give_feedback, row, samples_of, vectors_of
from tests.operations.author import update as update_model
from traitbench.contract.sample_changes import KEPT_FOR, SampleChange, SampleFields, SamplesApply
from traitbench.contract.samples import Sample, SamplesDelete, SamplesUpdate, text_hash
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.errors import (
    ChangeNotFound,
    FeatureUnavailable,
    ModelNotDraft,
    SampleChanged,
    SampleNotFound,
    ValidationFailed,
)
from traitbench.operations import keys, sample_changes, samples, traits
from traitbench.operations.context import Context
from traitbench.store import sample_changes as stored
from traitbench.store import tables
from traitbench.store.database import reading, writing

ANNA, BEN = replace(AUTHOR, name="Anna"), replace(AUTHOR, name="Ben")


def _apply(context: Context, handle: str, **body: Any) -> SampleChange:
    return sample_changes.apply(context, ANNA, handle, SamplesApply.model_validate(body))


def _undo(context: Context, handle: str, change: int | None) -> SampleChange:
    assert change is not None
    return sample_changes.undo(context, BEN, handle, change)


def _new(text: str, quality: float = 1.0, **fields: Any) -> dict[str, Any]:
    return {"trait": "warmth", "text": text, "quality": quality, **fields}


def _without_revision(every: list[Sample]) -> list[Sample]:
    return [each.model_copy(update={"revision": 1}) for each in every]


def _synthesized(context: Context, handle: str) -> int:
    """Make the second sample of a model a variation of the first; return its id."""
    first, second = samples_of(context, handle)[:2]
    with writing(context.engine) as connection:
        made = {"provenance": "synthesized", "generator": "offline", "seed_sample_id": first.id}
        connection.execute(update(tables.samples).where(tables.samples.c.id == second.id).values(**made))
    return second.id


def _kept(context: Context) -> int:
    with reading(context.engine) as connection:
        return connection.execute(select(func.count()).select_from(tables.undo_samples)).scalar_one()


@ON_BOTH
def test_an_undo_brings_back_ids_origin_marks_groups_and_order(context: Context) -> None:
    handle = draft(context, warm=3, cold=2)
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name="Haste")]))
    made = _synthesized(context, handle)
    marked: dict[str, Any] = {"held_out": True, "must_pass": True, "group": "Gespräch 7", "source_url": "https://a.b"}
    marked["note"] = "Ein Gruß"
    add_samples(context, handle, [("naïve ☕ \u2028 שלום", 0.25)], **marked)
    before = samples_of(context, handle)
    first, _, third, fourth, fifth, tested = (each.id for each in before)
    done = _apply(
        context,
        handle,
        adds=[_new("good morning"), _new("no", 0.0, group="b")],
        updates=[
            {"id": made, "text": "so kind of you", "quality": 0.75, "revision": 1},
            {"id": third, "trait": "haste", "held_out": True},
            {"id": tested, "held_out": False, "group": " ", "note": " "},
        ],
        deletes=[{"id": first}, {"id": fourth, "revision": 1}],
        note="read again",
    )
    assert (done.updates, done.deletes, done.by, done.note) == (
        [made, third, tested],
        [first, fourth],
        "Anna",
        "read again",
    )
    after = {each.id: each for each in samples_of(context, handle)}
    assert list(after) == [made, third, fifth, tested, *done.adds]
    assert after[made].model_dump() == before[1].model_dump() | {
        "text": "so kind of you",
        "quality": 0.75,
        "content_sha256": text_hash("so kind of you"),
        "revision": 2,
    }
    assert (after[third].trait, after[third].held_out, after[third].text) == ("haste", True, before[2].text)
    assert (after[tested].held_out, after[tested].must_pass) == (False, False)
    assert (after[tested].group, after[tested].note) == (None, None)

    undone = _undo(context, handle, done.id)
    assert (undone.undoes, undone.by, undone.adds, undone.deletes) == (done.id, "Ben", [first, fourth], done.adds)
    assert _without_revision(samples_of(context, handle)) == before
    # An undo is a change, so it can be undone, by whoever pressed it by mistake.
    _undo(context, handle, undone.id)
    assert _without_revision(samples_of(context, handle)) == _without_revision([*after.values()])


@ON_BOTH
def test_every_write_of_samples_is_recorded_and_can_be_undone(context: Context) -> None:
    handle = draft(context, warm=2, cold=2)
    before = samples_of(context, handle)
    ids = [each.id for each in before]
    changes = [
        samples.update(context, ANNA, handle, SamplesUpdate(ids=ids[:2], held_out=True, group="x")).change_id,
        samples.delete(context, ANNA, handle, ids[0]).change_id,
        samples.delete_many(context, ANNA, handle, SamplesDelete(ids=[ids[1], ids[2], ids[1]])).change_id,
        traits.delete(context, ANNA, handle, "warmth").change_id,
    ]
    assert samples_of(context, handle) == []
    with pytest.raises(SampleChanged) as caught:
        _undo(context, handle, changes[-1])
    assert caught.value.details["traits"] == ["warmth"]
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name="Warmth")]))
    # The last change first, as a person presses Undo.
    for change in reversed(changes):
        _undo(context, handle, change)
    assert _without_revision(samples_of(context, handle)) == before
    listed = sample_changes.history(context, AUTHOR, handle, limit=100).items
    assert [each.by for each in listed] == ["Ben"] * 4 + ["Anna"] * 4 + ["key_author"]
    assert [each.undone for each in listed] == [False] * 4 + [True] * 4 + [False]
    _undo(context, handle, listed[-1].id)
    assert samples_of(context, handle) == []


def test_the_history_says_who_changed_what_when_by_sample_and_by_page(context: Context) -> None:
    handle = draft(context, warm=1, cold=2)
    one, two, three = (each.id for each in samples_of(context, handle))
    sample_changes.change(context, BEN, handle, two, SampleFields(quality=0.5, text="else"))
    _apply(context, handle, updates=[{"id": three, "group": "g"}], deletes=[{"id": two}])
    told = [
        [(each.kind, each.quality_before, each.quality_after, each.changed) for each in change.samples]
        for change in sample_changes.history(context, AUTHOR, handle, sample_ids=[two]).items
    ]
    assert told == [[("delete", 0.5, None, [])], [("update", 0.0, 0.5, ["text", "quality"])], [("add", None, 0.0, [])]]
    assert sample_changes.history(context, AUTHOR, handle, sample_ids=[three + 1]).items == []
    first = sample_changes.history(context, AUTHOR, handle, limit=1, sample_ids=[two])
    second = sample_changes.history(context, AUTHOR, handle, limit=2, sample_ids=[two], cursor=first.next_cursor)
    assert [len(page.items) for page in (first, second)] == [1, 2]
    assert second.next_cursor is None
    assert one in sample_changes.history(context, AUTHOR, handle, limit=3).items[-1].adds
    of_two = sample_changes.history(context, AUTHOR, handle, sample_ids=[one, three]).items
    assert [[each.sample_id for each in change.samples] for change in of_two] == [[three], [one, three]]
    assert sample_changes.history(context, AUTHOR, handle, sample_ids=[]).items == []


def test_a_person_who_signs_in_again_has_one_name_in_the_history(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    for _ in range(2):
        issued = keys.create_for_session(
            context.engine,
            person="0a1b",
            scope="authoring",
            namespaces=("local",),
            name="ana@example.org",
            longest=timedelta(days=1),
        )
        caller = keys.caller(context, issued.secret)
        own = samples_of(context, handle)[0]
        sample_changes.change(context, caller, handle, own.id, SampleFields(quality=0.5 + own.revision / 10))
    history = sample_changes.history(context, AUTHOR, handle, limit=2).items
    assert [change.by for change in history] == ["ana@example.org"] * 2


@ON_BOTH
def test_of_two_people_who_edit_at_once_the_second_gets_the_words_of_the_first(context: Context) -> None:
    handle = draft(context, warm=2, cold=1)
    one, two, _ = samples_of(context, handle)
    _apply(context, handle, updates=[{"id": one.id, "text": "Anna's words", "revision": 1}], deletes=[{"id": two.id}])
    before = samples_of(context, handle)
    mine = {"updates": [{"id": one.id, "text": "Ben's words", "revision": 1}], "adds": [_new("new")]}
    with pytest.raises(SampleChanged) as caught:
        _apply(context, handle, **mine)
    [shown] = caught.value.details["samples"]
    assert (shown["text"], shown["revision"], shown["by"]) == ("Anna's words", 2, "Anna")
    assert samples_of(context, handle) == before
    for deleted in ({"deletes": [{"id": two.id}]}, {"updates": [{"id": two.id, "quality": 0.5}]}):
        with pytest.raises(SampleChanged) as caught:
            _apply(context, handle, **deleted)
        [shown] = caught.value.details["samples"]
        assert (shown["id"], shown["deleted"], shown["by"]) == (two.id, True, "Anna")
    with pytest.raises(SampleChanged):
        sample_changes.change(context, BEN, handle, one.id, SampleFields(quality=0.0, revision=1))
    # Having seen Anna's words, Ben decides.
    assert sample_changes.change(context, BEN, handle, one.id, SampleFields(quality=0.0, revision=2)).revision == 3


def test_an_undo_is_refused_whole_once_one_of_its_samples_has_moved(context: Context) -> None:
    handle = draft(context, warm=2, cold=2)
    one, two, *_ = (each.id for each in samples_of(context, handle))
    both = _apply(context, handle, updates=[{"id": one, "quality": 0.5}, {"id": two, "quality": 0.5}])
    later = _apply(context, handle, updates=[{"id": two, "text": "later"}])
    before = samples_of(context, handle)
    with pytest.raises(SampleChanged) as caught:
        _undo(context, handle, both.id)
    assert [(each["id"], each["text"]) for each in caught.value.details["samples"]] == [(two, "later")]
    assert samples_of(context, handle) == before
    _undo(context, handle, later.id)
    assert _undo(context, handle, both.id).updates == [one, two]
    # Pressed twice, or sent again because the answer was lost: it is undone once.
    assert _undo(context, handle, both.id).undoes == both.id
    assert [each.quality for each in samples_of(context, handle)] == [1.0, 1.0, 0.0, 0.0]
    with pytest.raises(ChangeNotFound):
        _undo(context, handle, both.id + 999)


@ON_BOTH
def test_of_500_changes_with_a_bad_one_none_is_applied_and_each_fault_is_named(context: Context) -> None:
    handle = draft(context, warm=2, cold=1)
    ids = [each.id for each in samples_of(context, handle)]
    before = samples_of(context, handle)
    many = [_new(f"text {number}") for number in range(496)]
    faults: list[tuple[dict[str, Any], list[Any], str]] = [
        ({"updates": [{"id": ids[-1] + 999, "quality": 0.5}]}, ["updates", 0, "id"], "unknown_sample"),
        ({"updates": [{"id": ids[0], "trait": "none"}]}, ["updates", 0, "trait"], "unknown_trait"),
        ({"updates": [{"id": ids[0], "must_pass": True}]}, ["updates", 0, "must_pass"], "not_held_out"),
        ({"updates": [{"id": ids[0]}], "deletes": [{"id": ids[0]}]}, ["deletes", 0, "id"], "duplicate_sample"),
        ({"deletes": [{"id": ids[0]}, {"id": ids[0]}]}, ["deletes", 1, "id"], "duplicate_sample"),
        ({"adds": [*many, _new("x", trait="none")]}, ["adds", 496, "trait"], "unknown_trait"),
        ({"deletes": [{"id": each} for each in range(1, 6)]}, ["adds"], "too_long"),
    ]
    for body, loc, kind in faults:
        with pytest.raises(ValidationFailed) as caught:
            _apply(context, handle, **{"adds": many, **body})
        assert [(each["loc"], each["type"]) for each in caught.value.details["errors"]] == [(loc, kind)]
    with pytest.raises(ValidationFailed):
        _apply(context, handle)
    with pytest.raises(SampleNotFound):
        sample_changes.change(context, ANNA, handle, 2**70, SampleFields(quality=1.0))
    assert samples_of(context, handle) == before
    assert len(sample_changes.history(context, AUTHOR, handle).items) == 1


@ON_BOTH
def test_a_new_text_loses_its_vector_and_a_new_label_does_not(context: Context) -> None:
    handle = fork(context, trained_here(context)).handle
    one, two = (each.id for each in samples_of(context, handle)[:2])
    assert vectors_of(context, handle) == 4
    done = _apply(context, handle, updates=[{"id": one, "text": "else"}, {"id": two, "quality": 0.5}])
    assert vectors_of(context, handle) == 3
    _undo(context, handle, done.id)
    assert vectors_of(context, handle) == 3


def test_in_a_trained_model_only_feedback_that_waits_changes(context: Context) -> None:
    handle = trained_here(context)
    learned = samples_of(context, handle)[0].id
    said = give_feedback(context, handle)
    for body in ({"adds": [_new("x")]}, {"updates": [{"id": learned, "quality": 0.5}]}, {"deletes": [{"id": learned}]}):
        with pytest.raises(ModelNotDraft):
            _apply(context, handle, **body)
    with pytest.raises(ModelNotDraft):
        _apply(context, handle, updates=[{"id": said, "held_out": True}])
    changed = sample_changes.change(context, ANNA, handle, said, SampleFields(quality=0.25))
    assert (changed.quality, changed.pending, changed.score_then is None) == (0.25, True, False)
    withdrawn = samples.delete(context, ANNA, handle, said)
    _undo(context, handle, withdrawn.change_id)
    assert samples_of(context, handle, pending=True) == [changed.model_copy(update={"revision": 3})]


@ON_BOTH
def test_after_a_day_only_ids_and_labels_remain(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    one, two = (each.id for each in samples_of(context, handle))
    done = _apply(context, handle, updates=[{"id": one, "text": "else"}], deletes=[{"id": two}], note="of Zqärn")
    assert done.undoable_until == done.at + KEPT_FOR
    assert done.undoable_until is not None
    kept = _kept(context)
    sample_changes.sweep(context.engine)
    assert _kept(context) == kept
    with writing(context.engine) as connection:
        stored.expire(connection, done.undoable_until)
    assert _kept(context) == 0
    shown = sample_changes.history(context, AUTHOR, handle).items[0]
    assert (shown.undoable_until, shown.note, shown.deletes, shown.by) == (None, None, [two], "Anna")
    with pytest.raises(FeatureUnavailable) as caught:
        _undo(context, handle, done.id)
    assert caught.value.details["reason"] == "expired"
    # Between two sweeps an undo that is over is refused all the same, and a clock that ran ahead keeps nothing longer.
    late = _apply(context, handle, deletes=[{"id": one}])
    for moved in (timedelta(hours=-25), timedelta(days=400)):
        with writing(context.engine) as connection:
            changes = tables.sample_changes
            until = {"undoable_until": late.at + KEPT_FOR + moved}
            connection.execute(update(changes).where(changes.c.id == late.id).values(**until))
        if moved < timedelta(0):
            with pytest.raises(FeatureUnavailable):
                _undo(context, handle, late.id)
    sample_changes.sweep(context.engine)
    assert _kept(context) == 0


@ON_BOTH
def test_under_zero_retention_nothing_is_kept_and_there_is_no_undo(context: Context) -> None:
    handle = draft(context, warm=2, cold=1)
    one, two, _ = (each.id for each in samples_of(context, handle))
    earlier, kept = _apply(context, handle, deletes=[{"id": one}]), _kept(context)
    update_model(context, handle, zero_data_retention=True)
    assert _kept(context) == kept - 1
    assert sample_changes.history(context, AUTHOR, handle).items == []
    with pytest.raises(ChangeNotFound):
        _undo(context, handle, earlier.id)
    add_samples(context, handle, [("a", 1.0), ("b", 0.0)])
    one, two = (each.id for each in samples_of(context, handle))
    done = _apply(context, handle, updates=[{"id": one, "text": "else"}], deletes=[{"id": two}], note="words")
    assert (done.undoable_until, done.note, _kept(context)) == (None, None, kept - 1)
    with pytest.raises(FeatureUnavailable) as caught:
        _undo(context, handle, done.id)
    assert caught.value.details["reason"] == "zero_retention"


def test_a_fork_begins_without_a_history(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    _apply(context, handle, updates=[{"id": samples_of(context, handle)[0].id, "quality": 0.5}])
    copy = fork(context, handle).handle
    assert [each.revision for each in samples_of(context, copy)] == [1, 1]
    assert sample_changes.history(context, AUTHOR, copy).items == []
    assert row(context, copy).id != row(context, handle).id
