"""The OpenAPI document for programs that read it: generators of clients, and checks.

A generator makes a type of each choice and each map that it meets. So those of several fields are components with a
name. It makes methods of every route, so doors, for which programs have a client already, are left out. And a program
passes a bundle on as it is, so a bundle is an object without fields.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from traitbench.contract import metrics, models, samples, scores, traits, versions
from traitbench.contract.bundles import Bundle
from traitbench.contract.comparisons import VersionVerdict
from traitbench.contract.explanations import Explanation
from traitbench.contract.operations import ROUTES

Json = dict[str, Any]

SHARED: Mapping[str, Any] = {
    "ActivationCause": versions.ActivationCause,
    "Aggregation": traits.Aggregation,
    "Confidence": scores.Confidence,
    "ConfidenceReason": scores.ConfidenceReason,
    "Counts": dict[str, metrics.Count],
    "Effort": models.Effort,
    "Explanations": dict[str, Explanation],
    "JsonObject": dict[str, Any],
    "ModelState": models.State,
    "NotMeasured": metrics.NotMeasured,
    "Numbers": dict[str, float],
    "Provenance": samples.Provenance,
    "Scores": dict[str, scores.Points],
    "SynthesisType": samples.SynthesisType,
    "Tier": scores.Tier,
    "TraitScores": dict[str, scores.TraitScore],
    "TriggeredBy": versions.TriggeredBy,
    "VersionVerdict": VersionVerdict,
}
"""Types of several fields that have no class, by their names in the document."""

_BUNDLE = f"{Bundle.__doc__}\n\nIts fields are described with `?doors=true`."
_REFERENCE = "#/components/schemas/"
_REFERRED = re.compile(rf"{_REFERENCE}(\w+)")
_OF_THE_FIELD = ("title", "description", "default")


def with_shared_schemas(description: Json) -> Json:
    """Return the document with a reference in each place that has the schema of a shared type."""
    schemas = description["components"]["schemas"]
    schemas = {name: _replaced(each) for name, each in schemas.items()} | {
        name: _replaced_within(each) for name, each in _shared().items()
    }
    components = {**description["components"], "schemas": dict(sorted(schemas.items()))}
    return {**description, "paths": _replaced(description["paths"]), "components": components}


def without_doors(description: Json) -> Json:
    """Return the document without doors and the fields of a bundle, and without what only these need."""
    doors = {each["operationId"] for each in _operations(description["paths"]) if ROUTES[each["summary"]].is_door}
    paths = {
        path: {method: _without_links(each, doors) for method, each in methods.items()}
        for path, methods in description["paths"].items()
        if not any(each["operationId"] in doors for each in methods.values())
    }
    left = [*_operations(paths)]
    tags = {tag for each in left for tag in each["tags"]}
    schemes = {name for each in left for choice in each["security"] for name in choice}
    components = description["components"]
    every = {**components["schemas"], Bundle.__name__: {"type": "object", "description": _BUNDLE}}
    schemas = _referenced(paths, every)
    return {
        **description,
        "paths": paths,
        "tags": [each for each in description["tags"] if each["name"] in tags],
        "components": {
            **components,
            "schemas": {name: each for name, each in every.items() if name in schemas},
            "securitySchemes": {name: each for name, each in components["securitySchemes"].items() if name in schemes},
        },
    }


def _operations(paths: Json) -> Iterator[Json]:
    return (each for methods in paths.values() for each in methods.values())


@cache
def _shared() -> Mapping[str, Json]:
    adapted = {name: TypeAdapter(kind) for name, kind in SHARED.items()}
    schemas = {name: each.json_schema(ref_template=f"{_REFERENCE}{{model}}") for name, each in adapted.items()}
    return {name: {key: part for key, part in each.items() if key != "$defs"} for name, each in schemas.items()}


def _replaced(part: Any) -> Any:
    """Return a part of the document with references to the shared types; examples stay as they are."""
    if isinstance(part, list):
        return [_replaced(each) for each in part]
    if not isinstance(part, dict):
        return part
    alone = {key: each for key, each in part.items() if key not in _OF_THE_FIELD}
    for name, schema in _shared().items():
        if alone == schema:
            return {"$ref": f"{_REFERENCE}{name}", **{key: part[key] for key in _OF_THE_FIELD[1:] if key in part}}
    return _replaced_within(part)


def _replaced_within(part: Json) -> Json:
    return {key: each if key == "example" else _replaced(each) for key, each in part.items()}


def _without_links(operation: Json, targets: set[str]) -> Json:
    """Return an operation without links to others."""
    answers = {
        status: {
            **answer,
            "links": {name: each for name, each in answer["links"].items() if each["operationId"] not in targets},
        }
        if "links" in answer
        else answer
        for status, answer in operation["responses"].items()
    }
    return {**operation, "responses": answers}


def _referenced(part: Any, schemas: Json) -> set[str]:
    """Return the names of the schemas that a part refers to, and of those that these refer to."""
    names, new = set[str](), set(_REFERRED.findall(str(part)))
    while new:
        names |= new
        new = {name for each in new for name in _REFERRED.findall(str(schemas[each]))} - names
    return names
