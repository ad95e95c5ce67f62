"""Access rules, row by row, and the order in which they are checked.

See core/docs/contract.md, section 3, and core/docs/contract.md, section 1.
"""

import pytest

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, STRANGER, draft
from traitbench.errors import (
    InsufficientScope,
    InvalidHandle,
    ModelNotFound,
    NamespaceForbidden,
    TraitbenchError,
    TraitNotFound,
)
from traitbench.operations import access
from traitbench.operations.access import Caller
from traitbench.operations.context import Context

pytestmark = ON_SQLITE

READS = (
    *("models.get", "models.card", "traits.list", "traits.get", "versions.list", "versions.get"),
    *("versions.activations", "versions.compare", "scores.score", "scores.compare", "scores.batch"),
)
SAMPLES = ("samples.list", "samples.plan", "samples.rejected", "models.export")
WRITES = (
    *("models.update", "models.delete", "models.restore", "models.train", "models.retrain", "models.fork"),
    *("models.promote", "traits.add", "traits.update", "traits.delete", "traits.discover", "samples.add"),
    *("samples.update", "samples.delete", "samples.delete_many", "samples.synthesize", "versions.tag"),
    *("versions.untag", "versions.activate", "scores.feedback"),
)
WITHOUT_A_MODEL: tuple[access.Operation, ...] = ("models.create", "models.list", "models.import", "extract", "metrics")

# Columns: an authoring key that owns the namespace, a scoring key that owns it, an authoring key that does not own it;
# then the last authoring key, and a scoring key, on a public namespace that neither owns.
TABLE = {
    **dict.fromkeys(READS, (None, None, ModelNotFound, None, None)),
    **dict.fromkeys(SAMPLES, (None, InsufficientScope, ModelNotFound, NamespaceForbidden, InsufficientScope)),
    **dict.fromkeys(WRITES, (None, InsufficientScope, NamespaceForbidden, NamespaceForbidden, InsufficientScope)),
}


def test_every_operation_is_in_the_table() -> None:
    assert sorted([*TABLE, *WITHOUT_A_MODEL]) == sorted(access.RULES)


@pytest.mark.parametrize(("operation", "expected"), TABLE.items(), ids=TABLE)
def test_operation_is_open_to_whom_the_contract_says(
    context: Context,
    public: str,
    operation: access.Operation,
    expected: tuple[type[TraitbenchError] | None, ...],
) -> None:
    private = draft(context)
    calls = ((AUTHOR, private), (SCORER, private), (STRANGER, private), (STRANGER, public), (SCORER, public))
    assert tuple(_refusal(context, caller, operation, handle) for caller, handle in calls) == expected


def test_a_handle_is_read_before_its_namespace_and_scope_before_both(context: Context) -> None:
    assert _refusal(context, AUTHOR, "models.update", "No Handle") is InvalidHandle
    assert _refusal(context, SCORER, "models.update", "No Handle") is InsufficientScope
    assert _refusal(context, STRANGER, "models.update", "local.missing") is NamespaceForbidden
    assert _refusal(context, AUTHOR, "models.update", "local.missing") is ModelNotFound


def test_only_scoring_takes_a_pinned_handle(context: Context) -> None:
    handle = draft(context)
    assert _refusal(context, SCORER, "scores.score", f"{handle}@v1") is None
    assert _refusal(context, SCORER, "models.get", f"{handle}@v1") is InvalidHandle


def test_a_trait_of_the_path_must_exist_before_the_body_is_read(context: Context) -> None:
    handle = draft(context)
    access.check(context, AUTHOR, "traits.update", handle, trait="warmth")
    access.check(context, AUTHOR, "traits.update", handle, trait="Warmth")
    with pytest.raises(TraitNotFound):
        access.check(context, AUTHOR, "traits.update", handle, trait="cold")


def test_making_a_model_and_reading_metrics_needs_an_authoring_key_and_listing_and_extracting_any() -> None:
    for caller, refused in ((AUTHOR, False), (SCORER, True)):
        result = tuple(_scope_refused(caller, operation) for operation in WITHOUT_A_MODEL)
        assert result == (refused, False, refused, False, refused)


def _refusal(
    context: Context, caller: Caller, operation: access.Operation, handle: str
) -> type[TraitbenchError] | None:
    try:
        access.check(context, caller, operation, handle)
    except TraitbenchError as error:
        return type(error)
    return None


def _scope_refused(caller: Caller, operation: access.Operation) -> bool:
    try:
        access.check_scope(caller, operation)
    except InsufficientScope:
        return True
    return False
