"""The API's description as one page for people: plain HTML, made here, that asks nothing of any other server."""

import base64
import hashlib
import re
from collections.abc import Iterator
from html import escape
from typing import Any

from starlette.responses import HTMLResponse

Json = dict[str, Any]

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: light-dark(#1b5fa8, #8ab8f0) }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 6rem }
h1 { font-size: 1.9rem; margin: .5rem 0 } h2 { margin: 2.5rem 0 .5rem; text-transform: capitalize }
a { color: var(--link) } p { margin: .4rem 0 }
code { font: .9em/1.4 ui-monospace, monospace; background: var(--soft); border-radius: .25rem; padding: .05em .3em }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; padding: .1rem .9rem }
details > :last-child { margin-bottom: .8rem } summary { cursor: pointer; padding: .5rem 0 }
summary code { background: none; font-weight: 600 } h3 { font-size: 1rem; margin: 1rem 0 .2rem }
table { border-collapse: collapse; width: 100% } .wide { overflow-x: auto }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-top: 1px solid var(--line) }
th { font-weight: 500 }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} elements",
    "maxItems": "at most {} elements",
    "default": "default {!r}",
}


def page(description: Json) -> HTMLResponse:
    """The page of a description."""
    return HTMLResponse(html(description), headers={"Content-Security-Policy": _POLICY})


def html(description: Json) -> str:
    """The page's text."""
    info, schemas = description["info"], description["components"]["schemas"]
    about = "".join(f"<p>{_text(paragraph)}</p>" for paragraph in info["description"].split("\n\n"))
    groups = _by_tag(description["paths"])
    parts = "".join(
        f"<h2>{_text(tag)}</h2>{''.join(_operation(*each, schemas) for each in operations)}"
        for tag, operations in groups.items()
    )
    shapes = "".join(_shape(name, schema) for name, schema in schemas.items())
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{_text(info["title"])} API</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
        f'<h1>{_text(info["title"])} API</h1>{about}<p><a href="openapi.json">openapi.json</a></p>'
        f"{parts}<h2>Shapes</h2>{shapes}</body></html>"
    )


def _by_tag(paths: Json) -> dict[str, list[tuple[str, str, Json]]]:
    groups: dict[str, list[tuple[str, str, Json]]] = {}
    for path, methods in paths.items():
        for method, operation in methods.items():
            groups.setdefault(operation["tags"][0], []).append((method.upper(), path, operation))
    return groups


def _operation(method: str, path: str, operation: Json, schemas: Json) -> str:
    return (
        f'<details id="{_text(operation["operationId"])}"><summary><code>{method} {_text(path)}</code> '
        f"{_text(operation['description'])}</summary>{''.join(_inputs(operation, schemas))}"
        f"<h3>Answers</h3>{_table(_answers(operation['responses']))}</details>"
    )


def _inputs(operation: Json, schemas: Json) -> Iterator[str]:
    if parameters := operation.get("parameters"):
        rows = [
            (f"<code>{_text(each['name'])}</code>", f"{each['in']}{', required' if each['required'] else ''}",
             f"{_text(each.get('description', ''))} {_kind(each['schema'])}")
            for each in parameters
        ]  # fmt: skip
        yield f"<h3>Parameters</h3>{_table(rows)}"
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        name = str(content["schema"].get("$ref", "")).rpartition("/")[2]
        yield f"<h3>Body <code>{_text(media_type)}</code></h3>"
        yield _fields(schemas[name]) if name else f"<p>{_kind(content['schema'])}</p>"


def _answers(responses: Json) -> Iterator[tuple[str, ...]]:
    for status, answer in responses.items():
        text = "<br>".join(_text(line) for line in answer["description"].split("\n") if line)
        shapes = ", ".join(
            f"<code>{_text(media_type)}</code> {_kind(content['schema'])}"
            for media_type, content in answer.get("content", {}).items()
        )
        yield f"<code>{status}</code>", text, shapes


def _shape(name: str, schema: Json) -> str:
    return (
        f'<details open id="{_text(name)}"><summary><code>{_text(name)}</code> '
        f"{_text(schema.get('description', ''))}</summary>{_fields(schema)}</details>"
    )


def _fields(schema: Json) -> str:
    required = schema.get("required", ())
    return _table(
        (f"<code>{_text(name)}</code>", "required" if name in required else "", _kind(field))
        for name, field in schema.get("properties", {}).items()
    )


def _kind(schema: Json) -> str:
    """A schema in words: its type, its choices, its bounds."""
    if "$ref" in schema:
        name = _text(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    bounds = [_text(words.format(schema[bound])) for bound, words in _BOUNDS.items() if bound in schema]
    return ", ".join([_type(schema), *bounds])


def _type(schema: Json) -> str:
    if choices := schema.get("anyOf") or schema.get("allOf", ())[:1]:
        return " or ".join(_kind(choice) for choice in choices)
    if values := schema.get("enum") or [schema[word] for word in ("const",) if word in schema]:
        return " | ".join(f"<code>{_text(value)}</code>" for value in values)
    if "contentSchema" in schema:
        return f"lines, each {_kind(schema['contentSchema'])}"
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return _text(schema.get("type", "anything"))


def _table(rows: Any) -> str:
    body = "".join(f"<tr><th>{row[0]}</th>{''.join(f'<td>{cell}</td>' for cell in row[1:])}</tr>" for row in rows)
    return f'<div class="wide"><table>{body}</table></div>'


def _text(text: object) -> str:
    """Escaped, with `code` between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(str(text)))
