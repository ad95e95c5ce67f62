"""Who may do what: requests by kind of key and whose namespace (core/docs/contract.md, section 3)."""

from typing import Any

from tests.contract.declared import KEYED
from traitbench.contract import operations
from traitbench.contract.operation import Operation, Reach

OK = (200, "")
SCOPE = (403, "insufficient_scope")
NAMESPACE = (403, "namespace_forbidden")
HIDDEN = (404, "model_not_found")


def _of(reach: Reach) -> list[Operation[Any]]:
    return [each for each in KEYED if each.rule.reach == reach and "{handle}" in each.path]


FEEDBACK = [operations.SCORES_FEEDBACK]
READS, OWNED_READS = _of("read"), _of("owned read")
WRITES = [each for each in _of("write") if each not in FEEDBACK]

# Rows: operations and key. Columns: an owned, a public, a foreign model; then one that is not there, the same.
# What would change the owned model is walked in the table of states.
TABLE: list[tuple[list[Operation[Any]], str, list[tuple[int, str] | None]]] = [
    (READS, "authoring", [OK, OK, HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
    (READS, "scoring", [OK, OK, HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
    (OWNED_READS, "authoring", [OK, NAMESPACE, HIDDEN, HIDDEN, NAMESPACE, HIDDEN]),
    (OWNED_READS, "scoring", [SCOPE] * 6),
    (WRITES, "authoring", [None, NAMESPACE, NAMESPACE, HIDDEN, NAMESPACE, NAMESPACE]),
    (WRITES, "scoring", [SCOPE] * 6),
    (FEEDBACK, "authoring", [None, NAMESPACE, HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
    (FEEDBACK, "scoring", [SCOPE, SCOPE, HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
]
