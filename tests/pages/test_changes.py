"""Changes of samples from a page: all of them or none, and an undo that brings back what was there."""

import pytest

from tests.conftest import COLD, Service
from tests.pages.drive import Workbench, texts
from tests.pages.mute_proxy import from_change, proxied
from tests.pages.test_synthesis import synthesized as synthesized
from traitbench.client import Traitbench
from traitbench.contract.samples import MOST_SAMPLES, Sample, SampleInput, text_hash
from traitbench.errors import FeatureUnavailable, TraitbenchError, Unreachable, ValidationFailed
from traitbench_app.label import saving
from traitbench_app.label.saving import LabelConflict
from traitbench_app.workspace import pool
from traitbench_app.workspace.changes import Changes, as_input, save, take_back, undo_of
from traitbench_app.workspace.pool import Decision
from traitbench_app.workspace.samples import all_samples


def ignore(_done: int, _of: int) -> None:
    """A progress that nobody looks at."""


def _samples(client: Traitbench, handle: str) -> list[Sample]:
    """All samples, but for their revisions."""
    return [each.model_copy(update={"revision": 1}) for each in client.samples.list(handle, limit=MOST_SAMPLES)]


def _many(client: Traitbench, draft: str) -> tuple[list[Sample], Changes]:
    """The samples of a draft, and changes that need two requests."""
    more = [SampleInput(trait="warmth", text=f"Old {number}", quality=1.0) for number in range(MOST_SAMPLES)]
    client.samples.add(draft, more)
    samples = list(client.samples.list(draft, limit=MOST_SAMPLES))
    edits = {each.id: as_input(each).model_copy(update={"quality": 0.0}) for each in samples[:2]}
    return samples, Changes(edits, frozenset(each.id for each in samples[2 : MOST_SAMPLES + 2]))


def test_an_undo_brings_back_ids_order_and_origin(
    own_workbench: Workbench, client: Traitbench, synthesized: str
) -> None:
    before = _samples(client, synthesized)
    written, edited, deleted, marked = before[:4]
    edits = {edited.id: as_input(edited).model_copy(update={"text": "Mine.", "group": "g"})}
    changes = Changes(edits, frozenset({written.id, deleted.id}), {marked.id: (True, True)})
    undo = save(synthesized, before, changes, progress=ignore)
    assert undo.what == "1 edited and 2 deleted and 1 marked"
    after = {each.id: each for each in _samples(client, synthesized)}
    assert (after[edited.id].text, after[edited.id].provenance) == ("Mine.", "synthesized")
    assert (after[marked.id].held_out, after[marked.id].must_pass) == (True, True)
    take_back(undo)
    assert _samples(client, synthesized) == before


def test_a_refused_save_leaves_no_marks(own_workbench: Workbench, client: Traitbench, draft: str) -> None:
    before = _samples(client, draft)
    edits = {before[0].id: as_input(before[0]).model_copy(update={"trait": "none"})}
    with pytest.raises(ValidationFailed):
        save(draft, before, Changes(edits, marks={before[1].id: (True, False)}), progress=ignore)
    assert _samples(client, draft) == before


@pytest.mark.parametrize("refused", [1, 2])
def test_a_save_of_which_a_request_is_refused_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, namespace: str, draft: str, refused: int
) -> None:
    samples, changes = _many(client, draft)
    before = _samples(client, draft)
    with proxied(service.base_url, refuse=from_change(refused)) as address:
        Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)), base_url=address)
        with pytest.raises(TraitbenchError):
            save(draft, samples, changes, progress=ignore)
    assert _samples(client, draft) == before


def test_a_save_whose_answer_is_lost_loses_no_text(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, namespace: str, draft: str
) -> None:
    samples, changes = _many(client, draft)
    before = _samples(client, draft)
    with proxied(service.base_url, mute=from_change(2)) as address:
        Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)), base_url=address)
        with pytest.raises(Unreachable):
            save(draft, samples, changes, progress=ignore)
    # It may have been applied: then the history has it, and its undo brings back every text.
    for change in list(client.samples.changes(draft)):
        if change.deletes and not change.undone and change.undoes is None:
            client.samples.undo(draft, change.id)
    assert _samples(client, draft) == before


def test_only_what_is_there_is_saved(own_workbench: Workbench, client: Traitbench, draft: str) -> None:
    samples = list(client.samples.list(draft))
    gone, edited, deleted, deleted_before, moved = samples[:5]
    client.samples.delete_many(draft, [gone.id, deleted_before.id])
    client.samples.change(draft, moved.id, text="Theirs.")
    edits = {each.id: as_input(each).model_copy(update={"text": f"New {each.id}"}) for each in (gone, edited, moved)}
    undo = save(draft, samples, Changes(edits, frozenset({deleted.id, deleted_before.id})), progress=ignore)
    assert undo.missing == {gone.id, moved.id}
    assert undo.what == "1 edited and 1 deleted"
    now = {text for text, _ in texts(client, draft)}
    assert {f"New {edited.id}", "Theirs."} <= now
    assert not {f"New {gone.id}", f"New {moved.id}", deleted.text} & now


def test_a_trait_that_was_deleted_comes_back_with_its_samples(
    own_workbench: Workbench, client: Traitbench, synthesized: str
) -> None:
    before = _samples(client, synthesized)
    trait = client.traits.get(synthesized, "warmth")
    undo = undo_of(synthesized, trait, client.traits.delete(synthesized, "warmth").change_id)
    assert _samples(client, synthesized) == []
    take_back(undo)
    assert _samples(client, synthesized) == before


def test_under_zero_retention_no_undo_is_offered(own_workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.models.update(draft, zero_data_retention=True)
    (added,) = client.samples.add(draft, [SampleInput(trait="warmth", text=COLD[0], quality=0.0)])
    undo = save(draft, client.samples.list(draft), Changes(deletions=frozenset({added})), progress=ignore)
    assert not undo.possible
    with pytest.raises(FeatureUnavailable):
        take_back(undo)


def test_the_other_label_stays_unless_mine_takes_its_place(
    own_workbench: Workbench, client: Traitbench, draft: str
) -> None:
    (added,) = client.samples.add(draft, [SampleInput(trait="warmth", text="Both read this.", quality=0.0)])
    theirs = next(each for each in client.samples.list(draft) if each.id == added)
    model = client.models.get(draft)
    client.texts.add(draft, [theirs.text])
    mine = Decision("warmth", text_hash(theirs.text), 1.0)
    assert pool.decide(model, mine).conflict == theirs
    client.samples.change(draft, theirs.id, quality=0.25)
    with pytest.raises(TraitbenchError):
        saving.use_mine(model, LabelConflict(mine, theirs))
    now = next(each for each in client.samples.list(draft) if each.id == added)
    assert now.quality == 0.25, "they have changed it since"
    saving.use_mine(model, LabelConflict(mine, now))
    assert [each.quality for each in client.samples.list(draft) if each.id == added] == [1.0]
    assert not any(each.pending for each in pool.decisions(model))


def test_what_another_person_changes_is_noticed(own_workbench: Workbench, client: Traitbench, draft: str) -> None:
    def read() -> list[Sample]:
        return all_samples(draft, client.traits.list(draft))

    first = read()
    assert read() is first
    client.samples.change(draft, first[0].id, text="Theirs.")
    assert read()[0].text == "Theirs."
    deleted = client.samples.delete(draft, first[1].id)
    # As many samples as before, but not the same ones.
    client.samples.add(draft, [SampleInput(trait="warmth", text="New.", quality=1.0)])
    assert [read()[1].id, read()[-1].text] == [first[2].id, "New."]
    client.samples.undo(draft, deleted.change_id or 0)
    client.samples.delete(draft, first[2].id)
    assert [each.id for each in read()][:3] == [first[0].id, first[1].id, first[3].id]
