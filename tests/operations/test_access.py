"""Access rules, row by row, and the order in which they are checked.

See core/docs/contract.md, section 3, and core/docs/contract.md, section 1.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, STRANGER, draft
from tests.contract.declared import KEYED
from traitbench.contract import operations
from traitbench.contract.operation import Operation
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

# What a key that only scores may do; everything else needs an authoring key, which may change only what it owns.
FOR_ANY_KEY = {
    *("models.list", "models.get", "models.card", "traits.list", "traits.get", "versions.list", "versions.get"),
    *("versions.activations", "versions.compare", "scores.score", "scores.compare", "scores.batch", "extract"),
    *("guards.litellm", "guards.webhook"),
    *("service.me", "attributes.list", "attributes.get", "decisions.answer"),
}
OWNED_READS = {
    "samples.list",
    "samples.changes",
    "samples.plan",
    "samples.rejected",
    "proposed.list",
    "texts.list",
    "texts.decisions",
    "models.export",
    "versions.samples",
}
OF_A_MODEL = [each for each in KEYED if "{handle}" in each.path or each is operations.VERSIONS_COMPARE]

# Columns: an authoring key that owns the namespace, a scoring key that owns it, an authoring key that does not own it;
# then the last authoring key, and a scoring key, on a public namespace that neither owns.
TABLE: Mapping[str | None, tuple[type[TraitbenchError] | None, ...]] = {
    "read": (None, None, ModelNotFound, None, None),
    "owned read": (None, InsufficientScope, ModelNotFound, NamespaceForbidden, InsufficientScope),
    "write": (None, InsufficientScope, NamespaceForbidden, NamespaceForbidden, InsufficientScope),
}


def test_every_operation_has_the_rule_that_the_contract_gives_it() -> None:
    assert {each.name for each in KEYED if each.rule.scope == "any"} == FOR_ANY_KEY, "name it in FOR_ANY_KEY"
    assert {each.name for each in KEYED if each.rule.reach == "owned read"} == OWNED_READS, "name it in OWNED_READS"
    changing = {each.name for each in KEYED if each.name not in FOR_ANY_KEY | OWNED_READS | {"metrics"}}
    assert {each.name for each in KEYED if each.rule.reach == "write"} == changing


@pytest.mark.parametrize("operation", OF_A_MODEL, ids=[each.name for each in OF_A_MODEL])
def test_operation_is_open_to_whom_the_contract_says(context: Context, public: str, operation: Operation[Any]) -> None:
    private = draft(context)
    calls = ((AUTHOR, private), (SCORER, private), (STRANGER, private), (STRANGER, public), (SCORER, public))
    assert (
        tuple(_refusal(context, caller, operation, handle) for caller, handle in calls) == (TABLE[operation.rule.reach])
    )


def test_a_handle_is_read_before_its_namespace_and_scope_before_both(context: Context) -> None:
    assert _refusal(context, AUTHOR, operations.MODELS_UPDATE, "No Handle") is InvalidHandle
    assert _refusal(context, SCORER, operations.MODELS_UPDATE, "No Handle") is InsufficientScope
    assert _refusal(context, STRANGER, operations.MODELS_UPDATE, "local.missing") is NamespaceForbidden
    assert _refusal(context, AUTHOR, operations.MODELS_UPDATE, "local.missing") is ModelNotFound


def test_only_scoring_takes_a_pinned_handle(context: Context) -> None:
    handle = draft(context)
    assert _refusal(context, SCORER, operations.SCORES_SCORE, f"{handle}@v1") is None
    assert _refusal(context, SCORER, operations.MODELS_GET, f"{handle}@v1") is InvalidHandle


def test_a_trait_of_the_path_must_exist_before_the_body_is_read(context: Context) -> None:
    handle = draft(context)
    access.check(context, AUTHOR, operations.TRAITS_UPDATE, handle, trait="warmth")
    access.check(context, AUTHOR, operations.TRAITS_UPDATE, handle, trait="Warmth")
    with pytest.raises(TraitNotFound):
        access.check(context, AUTHOR, operations.TRAITS_UPDATE, handle, trait="cold")


def test_making_a_model_and_reading_metrics_needs_an_authoring_key_and_listing_and_extracting_any() -> None:
    for caller, refused in ((AUTHOR, False), (SCORER, True)):
        result = {each.name: _scope_refused(caller, each) for each in KEYED if each not in OF_A_MODEL}
        assert result == {
            **dict.fromkeys(("models.create", "models.import", "metrics"), refused),
            **dict.fromkeys(("attributes.put", "attributes.delete"), refused),
            **dict.fromkeys(("models.list", "extract", "service.me", "decisions.answer", "guards.litellm"), False),
            **dict.fromkeys(("attributes.list", "attributes.get"), False),
        }


def _refusal(context: Context, caller: Caller, operation: Operation[Any], handle: str) -> type[TraitbenchError] | None:
    try:
        access.check(context, caller, operation, handle)
    except TraitbenchError as error:
        return type(error)
    return None


def _scope_refused(caller: Caller, operation: Operation[Any]) -> bool:
    try:
        access.check_scope(caller, operation)
    except InsufficientScope:
        return True
    return False
