"""From answers to saved labels: decisions are stored first, then sent, and undone where they are saved.

A draft takes labels as samples, a trained model as feedback. Every answer is stored with the pool before it is sent, so
that a failed save or a reload loses none. A label counts as saved only when the service gave the id of its sample.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from traitbench.contract.models import Model
from traitbench.contract.sample_changes import SampleEdit
from traitbench.contract.samples import Sample, SampleInput
from traitbench.contract.texts import is_url
from traitbench.errors import SampleNotFound, TraitbenchError, ValidationFailed
from traitbench.local.label_session import item_id
from traitbench.local.labeller import LabelAnswer, decide
from traitbench_app.shell.service import client
from traitbench_app.workspace import pool
from traitbench_app.workspace.pool import Decision
from traitbench_app.workspace.samples import all_samples

ALREADY_THERE = 0
"""The sample id of a label that somebody had given the same text before. To undo the decision removes no sample."""

_SAME = 1e-9
_ADDRESS = "A web address cannot be feedback, because the service would fetch its page. Undo its label and skip it."


@dataclass(frozen=True)
class LabelConflict:
    """A label that was not saved, because the text has another one that somebody saved meanwhile."""

    decision: Decision
    sample: Sample


@dataclass(frozen=True)
class SaveOutcome:
    """What became of some answers: `error` is the first that the service gave, `left` whether the person leaves."""

    saved: int = 0
    conflicts: Sequence[LabelConflict] = field(default=())
    error: TraitbenchError | None = None
    left: bool = False


def take(model: Model, answers: Sequence[LabelAnswer]) -> SaveOutcome:
    """Store the answers and undo what they take back; an undo that fails leaves the label as it was."""
    known = {item_id(each.hash, each.trait): each for each in pool.decisions(model)}
    after = decide({item: each.quality for item, each in known.items()}, answers)
    new = {item: quality for item, quality in after.items() if not _is_the_same(known.get(item), quality)}
    removed = [each for item, each in known.items() if item not in after or item in new]
    pool.decide(model, [Decision(item.rpartition(":")[2], item.rpartition(":")[0], new[item]) for item in new])
    error = _take_back(model, removed, stays=new.keys())
    return SaveOutcome(error=error, left=any(answer.action == "leave" for answer in answers))


def save(model: Model, texts: Mapping[str, str]) -> SaveOutcome:
    """Send the labels that are not saved yet; `texts` has the texts of the pool by hash."""
    pending = [each for each in pool.decisions(model) if each.pending and each.hash in texts]
    if not pending:
        return SaveOutcome()
    try:
        given = _labels(model)
    except TraitbenchError as error:
        return SaveOutcome(error=error)
    there, conflicts, new = [], list[LabelConflict](), list[Decision]()
    for each in pending:
        sample = given.get((each.trait, each.hash))
        if sample is None:
            new.append(each)
        elif _is_the_same(each, sample.quality):
            there.append(Decision(each.trait, each.hash, each.quality, ALREADY_THERE))
        else:
            conflicts.append(LabelConflict(each, sample))
    pool.saved(model, there)
    send = _send_samples if model.version_no is None else _send_feedback
    saved, problem = send(model, new, texts)
    pool.saved(model, saved)
    return SaveOutcome(len(saved) + len(there), conflicts, problem)


def keep_theirs(model: Model, conflict: LabelConflict) -> None:
    """Give the label of a conflict up: the sample of the other person stays."""
    own = conflict.decision
    pool.saved(model, [Decision(own.trait, own.hash, own.quality, ALREADY_THERE)])


def use_mine(model: Model, conflict: LabelConflict) -> None:
    """Give the sample of the other person this label, if they have not changed it since; raise the service's error."""
    own, theirs = conflict.decision, conflict.sample
    edit = SampleEdit(id=theirs.id, revision=theirs.revision, quality=own.quality)
    client().samples.apply(model.handle, updates=[edit])
    pool.saved(model, [Decision(own.trait, own.hash, own.quality, theirs.id)])


def _is_the_same(one: Decision | None, quality: float | None) -> bool:
    if one is None or one.quality is None or quality is None:
        return one is not None and one.quality == quality
    return abs(one.quality - quality) < _SAME


def _take_back(model: Model, removed: Sequence[Decision], *, stays: AbstractSet[str]) -> TraitbenchError | None:
    """Delete the samples of decisions, then the decisions, unless another one replaced them."""
    first: TraitbenchError | None = None
    for decision in removed:
        try:
            if decision.sample_id:
                client().samples.delete(model.handle, decision.sample_id)
        # Somebody else deleted it, which is what was wanted.
        except SampleNotFound:
            pass
        except TraitbenchError as error:
            first = first or error
            # The sample is still there, so the decision has to be.
            pool.decide(model, [decision])
            continue
        if item_id(decision.hash, decision.trait) not in stays:
            pool.undo(model, decision)
    return first


def _labels(model: Model) -> Mapping[tuple[str, str], Sample]:
    """Return the newest sample of every trait and text."""
    traits = client().traits.list(model.handle)
    return {(each.trait, each.content_sha256): each for each in all_samples(model.handle, traits)}


def _send_samples(
    model: Model, new: Sequence[Decision], texts: Mapping[str, str]
) -> tuple[list[Decision], TraitbenchError | None]:
    """Add samples to a draft: all or none."""
    inputs = [SampleInput(trait=each.trait, text=texts[each.hash], quality=each.quality or 0.0) for each in new]
    try:
        ids = client().samples.add(model.handle, inputs) if inputs else []
    except TraitbenchError as error:
        return [], error
    return [Decision(each.trait, each.hash, each.quality, own) for each, own in zip(new, ids, strict=True)], None


def _send_feedback(
    model: Model, new: Sequence[Decision], texts: Mapping[str, str]
) -> tuple[list[Decision], TraitbenchError | None]:
    """Send feedback one text after another, until one fails. A web address is not sent: its page would be fetched."""
    saved, refused = list[Decision](), None
    for each in new:
        text = texts[each.hash]
        if is_url(text):
            refused = ValidationFailed(_ADDRESS)
            continue
        try:
            card = client().scores.score(model.handle, text, feedback={each.trait: each.quality or 0.0})
        except TraitbenchError as error:
            return saved, error
        ids = card.metadata.sample_ids
        saved.append(Decision(each.trait, each.hash, each.quality, ids[0] if ids else ALREADY_THERE))
    return saved, refused
