"""Labels that other programs propose for texts, such as the verdicts of moderators.

They wait for a person, who makes a sample of them or deletes them. Nothing is trained with them.

See core/docs/contract.md, "Proposed labels".
"""

from collections.abc import Iterator
from typing import Any

from traitbench.as_read import is_blank
from traitbench.contract import operations
from traitbench.contract.operation import Operation
from traitbench.contract.page import LARGEST_SAMPLE_PAGE, ProposedPage
from traitbench.contract.proposed import MOST_PROPOSED, ProposedDeleted
from traitbench.contract.samples import LONGEST_GROUP, LONGEST_TEXT
from traitbench.errors import FeatureUnavailable, NamespaceForbidden
from traitbench.names import parse_handle, unpin
from traitbench.operations import access, rules
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import proposed_labels
from traitbench.store.cursors import PageRequest

_TEXT = rules.Bounds(size=8 * LONGEST_TEXT, depth=0, text=LONGEST_TEXT)
_WORD = rules.Bounds(size=8 * LONGEST_GROUP, depth=0, text=LONGEST_GROUP)


def propose(
    context: Context,
    caller: Caller,
    operation: Operation[Any],
    handle: str,
    *,
    trait: str,
    text: str,
    value: float,
    community: str | None = None,
    client_token: str | None = None,
) -> None:
    """Store a label from 0 to 1 for a text; the handle may be pinned. Any key that owns the namespace may propose.

    The same trait and text with the same token replace the label before. The oldest labels go when a model has too
    many. Raise `ValidationFailed` for a text that cannot be a sample, and `FeatureUnavailable` under zero retention.
    """
    name = unpin(handle)[0]
    access.permit(context, caller, operation, name)
    if parse_handle(name).namespace not in caller.namespaces:
        raise NamespaceForbidden(
            f"The key does not own the namespace of {name}, so it cannot propose labels there.",
            details={"namespace": parse_handle(name).namespace},
        )
    given = {"text": (text, _TEXT), "community": (community, _WORD), "client_token": (client_token, _WORD)}
    problems = [
        rules.problem([field, *path], kind, message)
        for field, (sent, bounds) in given.items()
        for path, kind, message in rules.faults(sent, bounds)
    ]
    if problems := [*problems, *_problems(text, value)]:
        raise rules.invalid(problems, thing="The proposed label")
    with access.to_change(context, caller, operation, name) as (connection, model):
        key = access.trait_of(connection, model, trait).key
        rules.require("use", model)
        if model.zero_data_retention:
            raise FeatureUnavailable(
                f"The model {model.handle} is under zero data retention and stores no proposed labels.",
                details={"handle": model.handle, "reason": "zero_retention"},
            )
        proposed_labels.put(
            connection,
            model.id,
            trait=key,
            text=text,
            value=value,
            community=community,
            client_token=client_token,
            now=rules.now(),
            most=MOST_PROPOSED,
        )


def list_proposed(
    context: Context, caller: Caller, handle: str, *, limit: int = 100, cursor: str | None = None
) -> ProposedPage:
    """One page of the labels that were proposed for a model's texts, newest first."""
    with access.to_read(context, caller, operations.PROPOSED_LIST, handle) as (connection, model):
        asked = PageRequest.of(int, f"proposed {model.id}", limit, cursor, most=LARGEST_SAMPLE_PAGE)
        return ProposedPage(**asked.fields(proposed_labels.page(connection, model.id, asked)))


def delete(context: Context, caller: Caller, handle: str, *, ids: tuple[int, ...] | None = None) -> ProposedDeleted:
    """Delete proposed labels: all, or those with these ids. Ids that the model does not have are left out."""
    with access.to_change(context, caller, operations.PROPOSED_DELETE, handle) as (connection, model):
        count = proposed_labels.remove(connection, model.id, ids)
    return ProposedDeleted(handle=model.handle, count=count)


def _problems(text: str, value: float) -> Iterator[dict[str, Any]]:
    if is_blank(text):
        yield rules.problem(["text"], "blank", "a blank text has no label")
    if not 0 <= value <= 1:  # also NaN
        yield rules.problem(["value"], "out_of_range", "a number from 0 to 1 is needed")
