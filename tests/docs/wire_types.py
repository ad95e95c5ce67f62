"""The fields of a wire type as the API page writes them: name, type, default."""

import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from traitbench import contract
from traitbench.contract.fields import Received, Wire

Json = Mapping[str, Any]

BASES = {"Wire", "Received", "Lenient", "Returned", "Page"}


def every() -> Iterator[type[Wire]]:
    """Every wire type of the contract package, bases left out."""
    for module in pkgutil.iter_modules(contract.__path__):
        loaded = import_module(f"{contract.__name__}.{module.name}")
        for name, each in inspect.getmembers(loaded, inspect.isclass):
            if not name.isidentifier() or name.startswith("_") or name in BASES:
                continue
            if issubclass(each, Wire) and each.__module__ == loaded.__name__:
                yield each


def third_column(wire_type: type[BaseModel]) -> str:
    """The name of the column behind the type."""
    return "Default" if issubclass(wire_type, Received) else "Present"


def fields(wire_type: type[BaseModel]) -> Iterator[tuple[str, str, str]]:
    """Name, type, and the default of a received field or whether a returned one is always there."""
    properties = wire_type.model_json_schema()["properties"]
    default = _default if issubclass(wire_type, Received) else _presence
    for name, field in wire_type.model_fields.items():
        on_the_wire = field.alias or name
        yield on_the_wire, written(properties[on_the_wire]), default(field.default)


def written(schema: Json) -> str:
    """A JSON schema in a few words: `string (1-200 characters) or null`."""
    if choices := schema.get("anyOf", schema.get("oneOf")):
        return " or ".join(written(each) for each in choices)
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "enum" in schema or "const" in schema:
        return " / ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    return _OF_TYPE[schema["type"]](schema) if "type" in schema else "any"


def _string(schema: Json) -> str:
    if schema.get("format") == "date-time":
        return "time"
    return "string" + _span(schema.get("minLength"), schema.get("maxLength"), " characters")


def _number(schema: Json) -> str:
    return str(schema["type"]) + _span(schema.get("minimum"), schema.get("maximum"))


def _array(schema: Json) -> str:
    if "prefixItems" in schema:
        return f"list of {len(schema['prefixItems'])} {written(schema['prefixItems'][0])}"
    return "list" + _span(schema.get("minItems"), schema.get("maxItems")) + f" of {written(schema['items'])}"


def _object(schema: Json) -> str:
    values = schema.get("additionalProperties")
    return f"map of {written(values)}" if isinstance(values, Mapping) else "object"


_OF_TYPE: Mapping[str, Callable[[Json], str]] = {
    "string": _string,
    "integer": _number,
    "number": _number,
    "array": _array,
    "object": _object,
    "boolean": lambda _: "boolean",
    "null": lambda _: "null",
}


def _span(least: float | None, most: float | None, unit: str = "") -> str:
    if least is None and most is None:
        return ""
    if most is None:
        return " (not empty)" if unit and least == 1 else f" (at least {least:,.0f}{unit})"
    if least is None:
        return f" (at most {most:,.0f}{unit})"
    between = "-" if least >= 0 else " to "
    return f" ({least:,.0f}{between}{most:,.0f}{unit})" if least < most else f" (exactly {most:,.0f}{unit})"


def _presence(value: Any) -> str:
    return "always" if value is PydanticUndefined else "if any"


def _default(value: Any) -> str:
    if value is PydanticUndefined:
        return "required"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "`true`", False: "`false`"}[value]
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"
