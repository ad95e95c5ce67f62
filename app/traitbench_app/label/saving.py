"""From answers to saved labels. A label is one call of the service, which stores the decision and makes its sample.

An answer that could not be saved stays with the browser, which sends it again. If the text has another label that
somebody else gave it, the decision is stored without a sample, and the person chooses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.errors import TraitbenchError
from traitbench.local.label_session import item_id
from traitbench.local.labeller import LabelAnswer, decide
from traitbench_app.workspace import pool
from traitbench_app.workspace.pool import Decided, Decision

_SAME = 1e-9


@dataclass(frozen=True)
class LabelConflict:
    """A label that is no sample, because the text has another one that somebody saved meanwhile."""

    decision: Decision
    sample: Sample


@dataclass(frozen=True)
class SaveOutcome:
    """What became of some answers: how many are not saved, the first error of the service, and whether they leave."""

    unsaved: int = 0
    conflicts: Sequence[LabelConflict] = field(default=())
    error: TraitbenchError | None = None
    left: bool = False


def take(model: Model, answers: Sequence[LabelAnswer]) -> SaveOutcome:
    """Save the answers and undo what they take back, each by itself; an undo that fails leaves the label as it was."""
    known = {item_id(each.hash, each.trait): each for each in pool.decisions(model)}
    after = decide({item: each.quality for item, each in known.items()}, answers)
    new = [
        Decision(item.rpartition(":")[2], item.rpartition(":")[0], quality)
        for item, quality in after.items()
        if not _is_the_same(known.get(item), quality)
    ]
    outcome = SaveOutcome(left=any(answer.action == "leave" for answer in answers))
    for decision in new:
        outcome = _tried(outcome, partial(pool.decide, model, decision))
    for item, decision in known.items():
        if item not in after:
            outcome = _tried(outcome, partial(pool.take_back, model, decision))
    return outcome


def resend(model: Model) -> SaveOutcome:
    """Send the labels again that were no samples, because their texts had others: perhaps they have none now."""
    outcome = SaveOutcome()
    for decision in pool.decisions(model):
        if decision.pending:
            outcome = _tried(outcome, partial(pool.decide, model, decision))
    return outcome


def keep_theirs(model: Model, conflict: LabelConflict) -> None:
    """Agree with the label of the other person."""
    pool.decide(model, replace(conflict.decision, quality=conflict.sample.quality))


def use_mine(model: Model, conflict: LabelConflict) -> None:
    """Give the sample of the other person this label, if they have not changed it since; raise the service's error."""
    pool.decide(model, conflict.decision, replaces=conflict.sample.revision)


def _tried(outcome: SaveOutcome, action: Callable[[], Decided | None]) -> SaveOutcome:
    """The outcome after one more answer."""
    try:
        decided = action()
    except TraitbenchError as error:
        return replace(outcome, unsaved=outcome.unsaved + 1, error=outcome.error or error)
    if decided is None or decided.conflict is None:
        return outcome
    return replace(outcome, conflicts=(*outcome.conflicts, LabelConflict(decided.decision, decided.conflict)))


def _is_the_same(one: Decision | None, quality: float | None) -> bool:
    if one is None or one.quality is None or quality is None:
        return one is not None and one.quality == quality
    return abs(one.quality - quality) < _SAME
