"""The description of Perspective's wire from which Google's client libraries make their methods (a discovery document,
https://developers.google.com/discovery/v1/reference/apis). The types are those of `traitbench.contract.perspective`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from pydantic.json_schema import models_json_schema

from traitbench.contract import operations
from traitbench.contract.operation import Operation

Json = dict[str, Any]

_NAME, _VERSION = "commentanalyzer", "v1alpha1"
_METHODS: Mapping[str, Operation[Any]] = {
    "analyze": operations.COMMENTS_ANALYZE,
    "suggestscore": operations.COMMENTS_SUGGESTSCORE,
}
_PARAMETERS: Mapping[str, tuple[str, str]] = {
    "key": ("string", "A key of Traitbench."),
    **dict.fromkeys(("alt", "fields", "quotaUser", "userIp"), ("string", "Ignored.")),
    "prettyPrint": ("boolean", "Ignored."),
}
_FORMATS: Mapping[str, str] = {"integer": "int32", "number": "double"}


def document(root_url: str) -> Json:
    """Return the document of a service that is reached at this address, which ends with a slash."""
    return {
        **{"kind": "discovery#restDescription", "discoveryVersion": "v1", "protocol": "rest"},
        **{"id": f"{_NAME}:{_VERSION}", "name": _NAME, "version": _VERSION},
        "title": "Traitbench on Perspective's wire",
        "description": "Attributes of comments as probabilities, by traits that you taught.",
        **{"rootUrl": root_url, "servicePath": "", "baseUrl": root_url, "basePath": ""},
        # Batches are not answered; below this path, the library is told so in a form that it reads.
        "batchPath": "v1alpha1/batch",
        "parameters": {
            name: {"type": kind, "location": "query", "description": description}
            for name, (kind, description) in _PARAMETERS.items()
        },
        "schemas": _schemas(),
        "resources": {"comments": {"methods": {name: _method(name, row) for name, row in _METHODS.items()}}},
    }


def _method(name: str, row: Operation[Any]) -> Json:
    assert row.body is not None
    path = row.full_path.removeprefix("/")
    return {
        "id": f"{_NAME}.comments.{name}",
        "description": row.body.__doc__,
        **{"httpMethod": row.method, "path": path, "flatPath": path, "parameters": {}, "parameterOrder": []},
        "request": {"$ref": row.body.__name__},
        "response": {"$ref": row.answer.__name__},
    }


@cache
def _schemas() -> Json:
    types: list[tuple[Any, Literal["validation", "serialization"]]] = []
    for row in _METHODS.values():
        types += [(row.body, "validation"), (row.answer, "serialization")]
    _, described = models_json_schema(types, by_alias=True, ref_template="{model}")
    return {name: {"id": name, **_as_theirs(schema)} for name, schema in described["$defs"].items()}


def _as_theirs(schema: Json) -> Json:
    """Return a JSON schema in the form of discovery documents: a subset of its draft 3."""
    [schema] = [each for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    theirs: Json = {key: schema[key] for key in ("type", "description", "enum") if key in schema}
    if "const" in schema:
        theirs["enum"] = [schema["const"]]
    if theirs["type"] in _FORMATS:
        theirs["format"] = _FORMATS[theirs["type"]]
    if "items" in schema:
        theirs["items"] = _as_theirs(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        theirs["additionalProperties"] = _as_theirs(schema["additionalProperties"])
    if "properties" in schema:
        theirs["properties"] = {name: _as_theirs(each) for name, each in schema["properties"].items()}
    return theirs
