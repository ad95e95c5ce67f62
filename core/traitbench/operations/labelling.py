"""Texts without labels: bring, list, delete, and decide about them, one call for each label.

A label makes a sample of a draft at once, and feedback of a model that has a version. The decision and its sample are
written in one transaction. Nobody's label is replaced unasked: where the text has another one, the decision is stored
without a sample, and the answer has the other one.

See core/docs/contract.md, "Texts without labels".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection

from traitbench.contract import operations
from traitbench.contract.labelling import (
    MOST_TEXTS,
    DecisionPut,
    TextDecision,
    TextsAdd,
    TextsAdded,
    TextsDeleted,
    UnlabelledText,
)
from traitbench.contract.page import LARGEST_POSITION_PAGE, DecisionPage, TextPage
from traitbench.contract.samples import Sample, SampleInput, text_hash
from traitbench.errors import FeatureUnavailable, SampleChanged, TextNotFound
from traitbench.operations import access, feedback, rules, samples, scores, serving
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.operations.feedback import FeedbackItem
from traitbench.store import sample_changes, texts
from traitbench.store import samples as stored_samples
from traitbench.store.cursors import PageRequest
from traitbench.store.models import ModelRow
from traitbench.store.sample_changes import Writes
from traitbench.store.texts import StoredDecision

_SAME = 1e-9
_LARGEST_ID = 2**53


class _Labelled(NamedTuple):
    """The sample that a decision ends with, and whether the decision made it; or the one with another label."""

    sample_id: int | None
    made: bool = False
    conflict: Sample | None = None


# ---- texts -----------------------------------------------------------------------------------------------------------


def add(context: Context, caller: Caller, handle: str, body: TextsAdd) -> TextsAdded:
    """Add texts to label, all of them or none. Those that the model has already stay as they are.

    Raise `ValidationFailed` for too many, and `FeatureUnavailable` under zero retention.
    """
    given = {text_hash(each.text): each for each in reversed(body.texts)}
    with access.to_change(context, caller, operations.TEXTS_ADD, handle) as (connection, model):
        rules.require("update", model)
        owner = texts.owner(connection, model)
        _check_stores(model, owner)
        new = texts.new_of(connection, owner.id, given)
        count = texts.count(connection, owner.id) + len(new)
        if count > MOST_TEXTS:
            message = f"the model would have {count:,} texts without labels; at most {MOST_TEXTS:,} are allowed"
            raise rules.invalid([rules.problem(["texts"], "too_many", message)], thing="The texts")
        if new:
            common = {"source": body.source, "added_at": rules.now(), "by": caller.label}
            rows = [
                {"text": each.text, "content_sha256": digest, "group": each.group, **common}
                for digest, each in reversed(given.items())
                if digest in new
            ]
            texts.add(connection, owner.id, rows)
    return TextsAdded(
        handle=model.handle, added=len(new), known=len(body.texts) - len(new), count=count, most=MOST_TEXTS
    )


def list_texts(
    context: Context, caller: Caller, handle: str, *, after: int = 0, limit: int = 100, cursor: str | None = None
) -> TextPage:
    """One page of the texts that were brought to be labelled, whether they have labels now or not, by id.

    With `after`, only those with a higher id.
    """
    with access.to_read(context, caller, operations.TEXTS_LIST, handle) as (connection, model):
        owner = texts.owner(connection, model)
        asked = PageRequest.of(int, f"texts {owner.id} {after}", limit, cursor, most=LARGEST_POSITION_PAGE)
        rows = texts.page(connection, owner.id, asked, after=after)
        return TextPage(**asked.fields(rows), count=texts.count(connection, owner.id))


def delete(context: Context, caller: Caller, handle: str, *, ids: tuple[int, ...] | None = None) -> TextsDeleted:
    """Delete texts with the decisions about them: all, or those with these ids. Samples that were made of them stay."""
    with access.to_change(context, caller, operations.TEXTS_DELETE, handle) as (connection, model):
        count = texts.remove(connection, texts.owner(connection, model).id, ids)
    return TextsDeleted(handle=model.handle, count=count)


# ---- decisions -------------------------------------------------------------------------------------------------------


def list_decisions(
    context: Context,
    caller: Caller,
    handle: str,
    *,
    everyone: bool = False,
    limit: int = 100,
    cursor: str | None = None,
) -> DecisionPage:
    """One page of the caller's decisions, or of everybody's, by id."""
    person = None if everyone else caller.person
    with access.to_read(context, caller, operations.TEXTS_DECISIONS, handle) as (connection, model):
        owner = texts.owner(connection, model)
        asked = PageRequest.of(int, f"decisions {owner.id} {person}", limit, cursor, most=LARGEST_POSITION_PAGE)
        return DecisionPage(**asked.fields(texts.decisions(connection, owner.id, asked, person=person)))


def decide(
    context: Context, caller: Caller, handle: str, text_id: int, trait: str, body: DecisionPut, *, request_id: str
) -> TextDecision:
    """Label a text, or skip it; a decision of the same person before is replaced, with the sample that it made."""
    points = _scores(context, caller, handle, text_id, trait, body, request_id=request_id)
    with access.to_change(context, caller, operations.TEXTS_DECIDE, handle) as (connection, model):
        rules.require("update", model)
        _check_stores(model, texts.owner(connection, model))
        at = _at(context, connection, caller, model, text_id, trait)
        if body.quality is None:
            _unmake(at)
            labelled = _Labelled(None)
        else:
            labelled = _label(at, body.quality, body, points)
        own = (at.text.id, at.trait, caller.person)
        said = {"quality": body.quality, "note": body.note, "by": caller.label, "decided_at": rules.now()}
        decision = texts.decide(connection, *own, {**said, "sample_id": labelled.sample_id, "made": labelled.made})
    return decision.model_copy(update={"conflict": labelled.conflict})


def take_back(context: Context, caller: Caller, handle: str, text_id: int, trait: str) -> TextDecision:
    """Remove the caller's decision with the sample that it made; return it as it was.

    Raise `TextNotFound` if there is none.
    """
    with access.to_change(context, caller, operations.TEXTS_TAKE_BACK, handle) as (connection, model):
        at = _at(context, connection, caller, model, text_id, trait)
        if at.before is None:
            raise TextNotFound(
                f"You have decided nothing about text {text_id} and {rules.quoted(at.trait)}.",
                details={"text_id": text_id, "trait": at.trait},
            )
        shown = texts.decision(connection, at.before.id)
        _unmake(at)
        texts.take_back(connection, at.before.id)
    return shown


@dataclass(frozen=True)
class _At:
    """A text and the key of a trait of a locked model, and what the caller has decided about them before."""

    context: Context
    connection: Connection
    caller: Caller
    model: ModelRow
    text: UnlabelledText
    trait: str
    before: StoredDecision | None


def _at(context: Context, connection: Connection, caller: Caller, model: ModelRow, text_id: int, trait: str) -> _At:
    text = _text(connection, model, text_id)
    key = access.trait_of(connection, model, trait).key
    before = texts.decided(connection, text.id, key, caller.person)
    return _At(context, connection, caller, model, text, key, before)


def _label(at: _At, quality: float, body: DecisionPut, points: Mapping[str, int]) -> _Labelled:
    """Make the label a sample, or change the sample that has it."""
    there = stored_samples.newest_of(at.connection, at.model.id, at.trait, at.text.content_sha256)
    if there is None:
        return _Labelled(_make(at, quality, body.note, points), made=True)
    own = at.before is not None and at.before.made and at.before.sample_id == there.id
    if abs(there.quality - quality) < _SAME:
        return _Labelled(there.id, made=own)
    if not own and body.replaces is None:
        return _Labelled(None, conflict=there)
    if not own and body.replaces != there.revision:
        raise SampleChanged(
            f"The sample {there.id} of {at.model.handle} was changed meanwhile. Nothing was changed.",
            details={"samples": [there.model_dump(mode="json")]},
        )
    _change(at, there, Writes(updates={there.id: {"quality": quality, "note": body.note}}))
    return _Labelled(there.id, made=own)


def _make(at: _At, quality: float, note: str | None, points: Mapping[str, int]) -> int:
    """Make a text a sample of a draft, or feedback for a model with a version; return the id."""
    context, text = at.context, at.text
    if at.model.active_version_id is None:
        sample = SampleInput(trait=at.trait, text=text.text, quality=quality, group=text.group, note=note)
        author, most = samples.author(at.caller), context.settings.max_samples
        return samples.add_to(at.connection, at.model, [sample], [text.content_sha256], most=most, author=author).ids[0]
    said = {"group": text.group, "note": note, "by": at.caller.label}
    verdicts = [FeedbackItem(at.trait, quality)]
    [sample_id] = feedback.add_to(context, at.connection, at.model, text.text, verdicts, scores=points, **said)
    return sample_id


def _unmake(at: _At) -> None:
    """Delete the sample that the decision before made, as long as it has that label."""
    before = at.before
    if before is None or not before.made or before.sample_id is None or before.quality is None:
        return
    there = stored_samples.some(at.connection, at.model.id, [before.sample_id]).get(before.sample_id)
    if there is not None and abs(there.quality - before.quality) < _SAME:
        _change(at, there, Writes(deletes=[there.id]))


def _change(at: _At, sample: Sample, writes: Writes) -> None:
    rules.require("withdraw" if sample.pending else "edit", at.model)
    sample_changes.write(at.connection, at.model, writes, samples.author(at.caller))
    if at.model.state != "ready":
        rules.edited(at.connection, at.model)


def _scores(
    context: Context, caller: Caller, handle: str, text_id: int, trait: str, body: DecisionPut, *, request_id: str
) -> Mapping[str, int]:
    """The scores that feedback is stored with; empty for a draft and a skip. The text is scored, never fetched."""
    if body.quality is None:
        return {}
    with access.to_read(context, caller, operations.TEXTS_DECIDE, handle) as (connection, model):
        access.trait_of(connection, model, trait)
        text = _text(connection, model, text_id)
    if model.active_version_id is None:
        return {}
    served = serving.now(context, model.handle, None)
    rules.require("use", served.model)
    return scores.card_of(context, served, text.text, None, request_id=request_id).scores


def _text(connection: Connection, model: ModelRow, text_id: int) -> UnlabelledText:
    owner = texts.owner(connection, model)
    text = texts.find(connection, owner.id, text_id) if 0 < text_id < _LARGEST_ID else None
    if text is None:
        raise TextNotFound(f"The model {model.handle} has no text {text_id} to label.", details={"text_id": text_id})
    return text


def _check_stores(model: ModelRow, owner: ModelRow) -> None:
    """Raise `FeatureUnavailable` if the model, or the one whose texts it has, may not store texts."""
    for each in (model, owner):
        if each.zero_data_retention:
            raise FeatureUnavailable(
                f"The model {each.handle} is under zero data retention and stores no texts. Label them in the workbench"
                " from the tab, or send labelled texts as samples.",
                details={"handle": each.handle, "reason": "zero_retention"},
            )
