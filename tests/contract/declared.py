"""The operations of the table as tests ask for them, and the routes that the specification names."""

from collections.abc import Mapping
from typing import Any

from traitbench.contract import operations
from traitbench.contract.operation import Operation
from traitbench.contract.operations import ALL, ROUTES


def route(operation: Operation[Any]) -> str:
    return f"{operation.method} {operation.full_path}"


# What has a description of its own has forms of its own too, and tests beside its own (`tests/doors`).
_OURS = [each for each in ALL if each.in_openapi]
OPEN = {each.full_path for each in _OURS if each.rule.scope == "none"}
LOCAL = {each.full_path for each in _OURS if each.rule.locally_open}  # tests are on the machine of the service
DECLARED = {route(each) for each in ROUTES.values() if each.in_openapi}
KEYED = [each for each in _OURS if each.rule.scope != "none"]

# The specification's own list, whatever the table says.
SPECIFIED = {
    "POST /v1/models",
    "GET /v1/models",
    "GET /v1/models/{handle}",
    "PATCH /v1/models/{handle}",
    "DELETE /v1/models/{handle}",
    "POST /v1/models/{handle}/train",
    "POST /v1/models/{handle}/traits/discover",
    "POST /v1/models/{handle}/traits",
    "PATCH /v1/models/{handle}/traits/{key}",
    "DELETE /v1/models/{handle}/traits/{key}",
    "GET /v1/models/{handle}/traits",
    "POST /v1/models/{handle}/samples",
    "GET /v1/models/{handle}/samples",
    "POST /v1/models/{handle}/samples/synthesize",
    "GET /v1/models/{handle}/versions/{name}",
    "POST /v1/models/{handle}/versions/{name}",
    "DELETE /v1/models/{handle}/versions/{name}",
    "POST /v1/models/{handle}/score",
}

# A valid body of each operation that takes one. Tests fail for an operation that has none here.
BODIES: Mapping[Operation[Any], dict[str, Any]] = {
    operations.MODELS_CREATE: {"handle": "mine.bodies"},
    operations.MODELS_IMPORT: {"format": "traitbench-bundle-1"},
    operations.MODELS_UPDATE: {"description": ""},
    operations.MODELS_TRAIN: {"effort": "low"},
    operations.MODELS_FORK: {"handle": "mine.new"},
    operations.MODELS_PROMOTE: {"from": "mine.ready"},
    operations.TRAITS_ADD: {"traits": [{"name": "Tone"}]},
    operations.TRAITS_UPDATE: {"description": ""},
    operations.TRAITS_DISCOVER: {"effort": "low"},
    operations.ATTRIBUTES_PUT: {"handle": "mine.ready", "trait": "tone"},
    operations.SAMPLES_ADD: {"samples": [{"trait": "tone", "text": "x", "quality": 1.0}]},
    operations.SAMPLES_UPDATE: {"ids": [1], "held_out": True},
    operations.SAMPLES_CHANGE: {"quality": 0.5},
    operations.SAMPLES_APPLY: {"deletes": [{"id": 1}]},
    operations.SAMPLES_DELETE_MANY: {"ids": [1]},
    operations.TEXTS_ADD: {"texts": [{"text": "x"}]},
    operations.TEXTS_DECIDE: {"quality": 1.0},
    operations.SAMPLES_SYNTHESIZE: {"effort": "low"},
    operations.VERSIONS_TAG: {"version": "v1"},
    operations.VERSIONS_ACTIVATE: {"version": "v1"},
    operations.VERSIONS_COMPARE: {"a": "mine.ready", "b": "mine.ready@v1"},
    operations.SCORES_SCORE: {"content": "a text"},
    operations.SCORES_FEEDBACK: {"content": "a text", "feedback": {"tone": 1}},
    operations.SCORES_COMPARE: {"a": "a text", "b": "another"},
    operations.SCORES_BATCH: {"contents": ["a text", "another"]},
    operations.EXTRACT: {"url": "https://nowhere.example"},
    operations.DECISIONS_ANSWER: {
        "model": "mine.ready",
        "state": "a text",
        "questions": {"q": {"type": "noul", "instructions": "Is it warm?"}},
    },
    operations.GUARDS_LITELLM: {
        "texts": ["a text"],
        "additional_provider_specific_params": {"model": "mine.ready", "trait": "tone", "block": "warm"},
    },
    operations.GUARDS_WEBHOOK: {"output": "a text"},
}


def parameters(described: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parameters of its own that the document gives an operation, without those that operations share."""
    return [each for each in described.get("parameters", ()) if "$ref" not in each]


_VALUES = {"key": "tone", "sample_id": 1, "text_id": 1, "change_id": 1, "name": "v1", "namespace": "mine"}
_TAG, _ATTRIBUTE = {"name": "best"}, {"name": "TONE"}
_QUERIES = {operations.GUARDS_WEBHOOK: "?trait=tone&side=warm"}


def request(operation: Operation[Any], handle: str) -> tuple[str, str, Any]:
    """Method, path and body of a request that is valid for a model with the trait `tone` and one version."""
    is_of_tag = operation in (operations.VERSIONS_TAG, operations.VERSIONS_UNTAG)
    names = _TAG if is_of_tag else _ATTRIBUTE if "{namespace}" in operation.path else {}
    values = {**_VALUES, **names, "handle": handle}
    path = operation.full_path.format_map(values) + _QUERIES.get(operation, "")
    return operation.method, path, BODIES.get(operation)
