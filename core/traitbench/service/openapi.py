"""The OpenAPI 3.1 document: what FastAPI derives from the endpoints, and what it cannot know.

Added from the table of operations are the bodies, which our own dependency reads; all errors of each operation with
their codes and headers; the security scheme; and the links.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, cast, get_args

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic.json_schema import models_json_schema
from starlette.responses import HTMLResponse, Response

from traitbench import errors
from traitbench.contract.envelope import DecisionError, ErrorEnvelope, PerspectiveError
from traitbench.contract.fields import Received, Returned
from traitbench.contract.operation import BODY, JSON, LINES, TEXT, ErrorForm, Failures, KeySource, Operation, Values
from traitbench.contract.operations import ROUTES
from traitbench.errors import TraitbenchError
from traitbench.service.errors import status_in
from traitbench.service.idempotency import HEADER, VALID
from traitbench.service.openapi_schemas import with_shared_schemas, without_doors

Json = dict[str, Any]

TITLE, VERSION = "Traitbench", "1.0.0"
TAGS: Mapping[str, str] = {
    "service": "The service about itself, and who has the key of a request.",
    "models": "Create, train, copy, promote, export and delete models.",
    "traits": "What a model measures: each trait has two poles.",
    "samples": "Texts with a label, from which a model is trained.",
    "texts": "Texts without a label, and what people decided about them.",
    "proposed": "Labels that other programs proposed; nothing is trained with them.",
    "attributes": "Which trait answers for a name that other programs use.",
    "versions": "Trained versions of a model: which one serves, and how good each one is.",
    "scores": "Score one text, two texts, or many.",
    "extract": "The readable text of a web page.",
    "decisions": "The wire of programs that ask a judge.",
    "guards": "The wires of programs that block or check texts.",
}
"""The groups of operations, in the order of the document."""

ANY: Failures = (
    *(errors.InvalidRequest, errors.HostNotAllowed, errors.OriginNotAllowed),
    *(errors.InvalidParameter, errors.MethodNotAllowed),
    *(errors.InternalError, errors.Unavailable),
)
KEYED: Failures = (errors.Unauthenticated, errors.NotAcceptable)
ON_MODEL: Failures = (errors.InvalidHandle, errors.ModelNotFound)
WITH_BODY: Failures = (
    errors.InvalidJson,
    errors.BodyTooLarge,
    errors.UnsupportedMediaType,
    errors.ValidationFailed,
)

ULID = "[0-9A-HJKMNP-TV-Z]{26}"
HEADERS: Mapping[str, tuple[str, Json]] = {
    "X-Request-Id": ("Id of the request, assigned by the service.", {"type": "string", "pattern": f"^req_{ULID}$"}),
    "X-Run-Id": ("Id of the run that was queued or is already active.", {"type": "string", "pattern": f"^run_{ULID}$"}),
    "Allow": ("The methods that the path supports.", {"type": "string"}),
    "Retry-After": ("Seconds to wait before trying again.", {"type": "integer", "minimum": 0}),
    "WWW-Authenticate": ("How to authenticate.", {"type": "string", "const": "Bearer"}),
}
SOMETIMES = "X-Run-Id"  # only in a 409 caused by a run; all other headers are always present where they are declared
ERRORS: Mapping[ErrorForm, type[Returned]] = {
    "envelope": ErrorEnvelope,
    "decision": DecisionError,
    "perspective": PerspectiveError,
}
KEYS: Mapping[KeySource, tuple[str, Json]] = {
    "bearer": ("ApiKey", {"type": "http", "scheme": "bearer", "description": "An API key."}),
    "basic": ("ApiKeyAsPassword", {"type": "http", "scheme": "basic", "description": "An API key as the password."}),
    "x-api-key": ("ApiKeyHeader", {"type": "apiKey", "in": "header", "name": "x-api-key"}),
    "query": ("ApiKeyInQuery", {"type": "apiKey", "in": "query", "name": "key"}),
}
_KEY_COMPONENT = "IdempotencyKey"
IDEMPOTENCY_KEY: Json = {
    "name": HEADER,
    "in": "header",
    "description": "A random key of the request, such as a UUID. For a day, a repeat with the same key gets the same"
    " answer and has no further effect. With another request it gets `idempotency_conflict`.",
    "schema": {"type": "string", "pattern": f"^{VALID.pattern}$"},
}
HEADER_OF_STATUS: Mapping[int, str] = {401: "WWW-Authenticate", 405: "Allow", 503: "Retry-After"}
WITH_RUN: Failures = (errors.ModelBusy, errors.DuplicateRun)

ABOUT = """\
Scoring models from labelled samples: create a model, add traits and samples, train it, score texts.

Every operation except health and these descriptions needs an API key: `Authorization: Bearer <key>`. Bodies are JSON in
UTF-8. Objects have no duplicate keys, numbers are finite, whole numbers fit into 64 bits, strings do not contain
U+0000, and unknown fields are rejected. Every response has the header `X-Request-Id`. Every response other than 2xx is
the error envelope; its `code` says what was wrong, such as `route_not_found` for a path that is not listed.
`x-error-codes` lists the codes of a response. Every path that supports `GET` also supports `HEAD`. To read all pages of
a listing, follow `next_cursor` until it is null.

With `?doors=true`, this document also has the routes that speak the wires of other programs, and the fields of a
bundle.

The operator limits the traits of a model (64 by default), its samples (200,000), and the bytes of a body (10 MiB;
256 MiB for an import).

Long operations answer 202 with the id of a run; `GET /v1/models/{handle}` shows its progress. A model runs one
operation at a time. While one is running, others get a 409 that names the run in `X-Run-Id`."""


def document(app: FastAPI) -> Json:
    """Return the OpenAPI document of an application, doors included; it is built once."""
    if app.openapi_schema is None:
        app.openapi_schema = _described(app)
    return app.openapi_schema


_building = Lock()


def content(app: FastAPI, *, doors: bool) -> bytes:
    """Return the document as JSON, with or without doors, written once: anyone may ask for it, and it has 400 kB."""
    with _building:
        if not hasattr(app.state, "openapi"):
            every = document(app)
            app.state.openapi = {True: _written(every), False: _written(without_doors(every))}
    written: bytes = app.state.openapi[doors]
    return written


def _written(description: Json) -> bytes:
    return json.dumps(description, ensure_ascii=False, separators=(",", ":")).encode()


def _described(app: FastAPI) -> Json:
    every = (route for route in iter_route_contexts(app.routes) if isinstance(route.original_route, APIRoute))
    routes = [route for route in every if route.include_in_schema]
    description = get_openapi(
        title=TITLE,
        version=VERSION,
        openapi_version="3.1.0",
        description=ABOUT,
        routes=app.routes,
        tags=[{"name": name, "description": text} for name, text in TAGS.items()],
        # Relative to the address of the document, which only its reader knows.
        servers=[{"url": "/", "description": "The service that this document comes from."}],
        license_info={"name": "MIT License", "identifier": "MIT"},
    )
    for route in routes:
        for method in route.methods or ():
            _complete(description["paths"][route.path_format][method.lower()], ROUTES[str(route.name)])
    description["paths"] = dict(sorted(description["paths"].items(), key=_chapter))
    components = description["components"]
    components["schemas"] = {**_ours(components["schemas"]), **_schemas()}
    components["headers"] = {
        name: {"description": text, "required": name != SOMETIMES, "schema": schema}
        for name, (text, schema) in HEADERS.items()
    }
    components["parameters"] = {_KEY_COMPONENT: IDEMPOTENCY_KEY}
    used = {source for each in _described_rows() for source in each.key_from}
    components["securitySchemes"] = dict(scheme for source, scheme in KEYS.items() if source in used)
    return with_shared_schemas(description)


def _chapter(path: tuple[str, Json]) -> int:
    operation = next(iter(path[1].values()))
    return [*TAGS].index(operation["tags"][0])


def failures(operation: Operation[Any]) -> Iterator[type[TraitbenchError]]:
    """Yield every error that the operation may return."""
    yield from ANY
    if operation.rule.scope != "none":
        yield from KEYED
        yield from (errors.InsufficientScope,) if operation.rule.scope == "authoring" else ()
        yield from (errors.NamespaceForbidden,) if operation.rule.reach != "read" else ()
    yield from ON_MODEL if "{handle}" in operation.path else ()
    yield from (errors.TraitNotFound,) if "{key}" in operation.path else ()
    yield from (errors.IdempotencyConflict,) if operation.takes_key else ()
    if operation.body is not None:
        yield from WITH_BODY
        yield from (errors.EmptyBody,) if operation.needs_body else ()
    yield from operation.refusals()


def _complete(described: Json, operation: Operation[Any]) -> None:
    described["operationId"] = _id(operation.name)
    described["summary"] = operation.name
    described["responses"].pop("422", None)
    for parameter in described.get("parameters", ()):
        parameter["schema"] = _never_null(parameter["schema"])
    if operation.body is not None:
        described["requestBody"] = {"required": operation.needs_body, "content": _content(operation)}
    described["security"] = []
    if operation.rule.scope != "none":
        described["security"] = [
            *([{}] if operation.rule.locally_open else []),
            *({KEYS[source][0]: []} for source in operation.key_from),
        ]
        for offer in operation.offers[1:]:
            described["responses"]["200"]["content"][offer] = {"schema": {"type": "string"}}
        if operation.offers == (LINES,):
            described["responses"]["200"]["content"][LINES] = {"schema": _lines(operation)}
    links = {_id(target): _link(target, values) for target, values in operation.then.items()}
    for status, answer in described["responses"].items():
        answer["description"] = HTTPStatus(int(status)).phrase
        answer["headers"] = _headers("X-Request-Id", *(("X-Run-Id",) if status == "202" else ()))
        answer |= {"links": links} if links else {}
    add_examples(operation.name, described)
    if operation.takes_key:
        described.setdefault("parameters", []).append({"$ref": f"#/components/parameters/{_KEY_COMPONENT}"})
    described["responses"].update(_errors(tuple(failures(operation)), operation.errors_as))


def _lines(operation: Operation[Any]) -> Json:
    """Return the schema of a stream of lines: a string to OpenAPI 3.1, with `contentSchema` for each line."""
    kinds = get_args(operation.answer)
    line = {"anyOf": [{"$ref": f"#/components/schemas/{kind.__name__}"} for kind in kinds]}
    return {"type": "string", "contentMediaType": LINES, "contentSchema": line}


def _never_null(schema: Json) -> Json:
    """Return the schema of a parameter without null: a parameter can be absent, but paths and queries have no null."""
    (given,) = [choice for choice in schema.get("anyOf", ({},)) if choice.get("type") != "null"]
    return {**given, **{name: value for name, value in schema.items() if name != "anyOf"}}


def _link(target: str, values: Values) -> Json:
    parameters = {name: value for name, value in values.items() if name != BODY}
    body = {BODY: values[BODY]} if BODY in values else {}
    return {"operationId": _id(target), "parameters": parameters, **body}


def _id(name: str) -> str:
    return name.replace(".", "_")


def _content(operation: Operation[Any]) -> Json:
    kind, text_as = cast("type[Received]", operation.body), operation.text_as
    plain = {TEXT: {"schema": kind.model_json_schema()["properties"][text_as]}} if text_as else {}
    return {JSON: {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}, **plain}


def _errors(raised: Failures, form: ErrorForm) -> Json:
    by_status: dict[int, list[type[TraitbenchError]]] = {}
    for error in sorted(set(raised), key=lambda error: (error.status, error.code)):
        by_status.setdefault(status_in(form, error), []).append(error)
    return {str(status): _error(status, members, form) for status, members in by_status.items()}


def _error(status: int, members: Sequence[type[TraitbenchError]], form: ErrorForm) -> Json:
    codes = [error.code for error in members]
    lines = [HTTPStatus(status).phrase, "", *(f"- `{error.code}`: {_about(error)}" for error in members)]
    names = [name for name in (HEADER_OF_STATUS.get(status),) if name]
    names += ["X-Run-Id"] if any(error in WITH_RUN for error in members) else []
    return {
        "description": "\n".join(lines),
        "headers": _headers("X-Request-Id", *names),
        # One schema for all errors: narrowed to these codes, it would be a type of its own in each generated client.
        "content": {JSON: {"schema": {"$ref": f"#/components/schemas/{ERRORS[form].__name__}"}}},
        "x-error-codes": codes,
    }


def _about(error: type[TraitbenchError]) -> str:
    """Return the docstring of an error class, without the status."""
    text = str(error.__doc__).removeprefix(f"{error.status}: ")
    return text[0].upper() + text[1:]


def _headers(*names: str) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _ours(schemas: Json) -> Json:
    return {name: schema for name, schema in schemas.items() if name not in ("HTTPValidationError", "ValidationError")}


def _described_rows() -> Iterator[Operation[Any]]:
    return (each for each in ROUTES.values() if each.in_openapi)


def _schemas() -> Json:
    kinds = {operation.body for operation in _described_rows() if operation.body is not None}
    forms = {ERRORS[operation.errors_as] for operation in _described_rows()}
    wanted = [*((form, "serialization") for form in forms), *((kind, "validation") for kind in kinds)]
    _, definitions = models_json_schema(wanted, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
    schemas: Json = definitions["$defs"]
    return schemas


# Recorded, because examples that are written by hand go stale.
FILE = Path(__file__).with_name("examples.json")

Step = dict[str, Any]


@cache
def _steps() -> tuple[Step, ...]:
    return tuple(json.loads(FILE.read_text(encoding="utf-8"))) if FILE.is_file() else ()


def add_examples(name: str, operation: dict[str, Any]) -> None:
    """Add the examples to an operation of the document, the first that suits each place."""
    for step in (each for each in _steps() if each["operation"] == name):
        for parameter in operation.get("parameters", ()):
            if parameter["name"] in step["parameters"]:
                parameter.setdefault("example", step["parameters"][parameter["name"]])
        if "body" in step:
            media_type = "text/plain" if isinstance(step["body"], str) else "application/json"
            operation["requestBody"]["content"][media_type].setdefault("example", step["body"])
        content = operation["responses"][str(step["status"])]["content"]
        content[step["media_type"]].setdefault("example", step["answer"])


ASSETS = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript"}

# Without `validatorUrl: null` the page would ask a public server about the document.
_START = (
    "document.documentElement.classList.toggle('dark-mode', matchMedia('(prefers-color-scheme: dark)').matches);"
    " SwaggerUIBundle({ url: 'openapi.json?doors=true', dom_id: '#page', deepLinking: true, docExpansion: 'list',"
    " defaultModelsExpandDepth: 0, validatorUrl: null })"
)
_STYLE = "body { margin: 0 } html:not(.dark-mode) body { background: #fafafa } #page p { line-height: 1.9 }"


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


_POLICY = (
    f"default-src 'none'; script-src 'self' {_hash(_START)}; style-src 'self' {_hash(_STYLE)}; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page() -> HTMLResponse:
    """The page of this API."""
    return HTMLResponse(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{TITLE} API</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="docs/swagger-ui.css">'
        f'<link rel="icon" href="data:,"><style>{_STYLE}</style></head><body><div id="page"></div>'
        f'<script src="docs/swagger-ui-bundle.js"></script><script>{_START}</script></body></html>',
        headers={"Content-Security-Policy": _POLICY},
    )


def asset(name: str, media_type: str) -> Response:
    """The response with a file of the page."""
    return Response(_file(name), media_type=media_type, headers={"Cache-Control": "max-age=86400"})


@cache
def _file(name: str) -> bytes:
    # The package is not imported, because only its files are needed.
    spec = find_spec("fastapi_offline")
    assert spec is not None, "fastapi-offline is one of our dependencies"
    assert spec.submodule_search_locations is not None
    return (Path(spec.submodule_search_locations[0]) / "static" / name).read_bytes()
