"""The routes of the API as its page lists them, read from the OpenAPI document and the table of operations."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from tests.contract.declared import parameters
from traitbench.contract.operation import PREFIX
from traitbench.contract.operations import ROUTES
from traitbench.service import openapi
from traitbench.service.app import create_app
from traitbench.service.openapi_schemas import SHARED
from traitbench.service.request_id import RequestIdMiddleware

Json = Mapping[str, Any]

JSON = "application/json"
NONE = "-"


@cache
def document() -> Json:
    """The OpenAPI document of a service that is not open yet."""
    app = create_app(lambda: None)
    assert isinstance(app, RequestIdMiddleware)
    return openapi.document(app._app)  # type: ignore[arg-type]


def operations() -> Iterator[tuple[str, str, Json]]:
    """Method, path, and description of every operation, in the order of the document; our own paths are below `/v1`."""
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            row = ROUTES[operation["summary"]]
            yield method.upper(), row.path if row.prefix == PREFIX else path, operation


def rows() -> Iterator[dict[str, str]]:
    """The table of routes."""
    for method, path, operation in operations():
        name = operation["summary"]
        rule = ROUTES[name].rule
        success = {status: answer for status, answer in operation["responses"].items() if status < "300"}
        yield {
            "Method": method,
            "Path": f"`{path}`",
            "Operation": f"`{name}`",
            "Key": rule.scope,
            "Reach": rule.reach or NONE,
            "Success": ", ".join(success),
            "Body": _types(operation.get("requestBody", {}).get("content", {})),
            "Answer": _types(next(iter(success.values()))["content"]),
        }


def query_rows() -> Iterator[dict[str, str]]:
    """The table of query parameters."""
    for method, path, operation in operations():
        for parameter in parameters(operation):
            if parameter["in"] == "query":
                schema = parameter["schema"]
                yield {
                    "Route": f"`{method} {path}`",
                    "Parameter": f"`{parameter['name']}`",
                    "Type": _written(schema),
                    "Default": f"`{schema['default']}`" if "default" in schema else "none",
                }


def named_types(cell: str) -> list[str]:
    """The wire types that a cell names."""
    return re.findall(r"`([A-Z][A-Za-z]+)`", cell)


def _types(content: Json) -> str:
    """Names of wire types for JSON, names of media types for the rest."""
    names = {media: each["schema"].get("$ref", "").rpartition("/")[2] for media, each in content.items()}
    written = [f"`{name if name and name not in SHARED and media == JSON else media}`" for media, name in names.items()]
    return ", ".join(written) or NONE


def _written(schema: Json) -> str:
    if "$ref" in schema:
        schema = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "enum" in schema or "const" in schema:
        return " / ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    bounds = f" ({schema['minimum']}-{schema['maximum']})" if "minimum" in schema else ""
    return f"{schema['type']}{bounds}"
