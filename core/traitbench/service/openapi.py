"""The OpenAPI 3.1 document: what FastAPI derives from the endpoints, and what it cannot know.

Added are the bodies, which our own dependency reads; all errors of each operation with their codes and headers; the
security scheme; and the links. The errors of an operation follow from its dependencies and from `FAILURES`.
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
from typing import Any, get_args

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, RouteContext, iter_route_contexts
from pydantic.json_schema import models_json_schema
from starlette.responses import HTMLResponse, Response

from traitbench import errors
from traitbench.contract.envelope import ErrorEnvelope
from traitbench.errors import TraitbenchError
from traitbench.operations.access import RULES
from traitbench.service.body import JSON, LINES, TEXT, Body
from traitbench.service.caller import CallerCheck

Json = dict[str, Any]
Failures = tuple[type[TraitbenchError], ...]

TITLE, VERSION = "Traitbench", "1.0.0"
TAGS = ("service", "models", "traits", "samples", "versions", "scores", "extract")  # in the order of the document

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
EDIT: Failures = (errors.ModelBusy, errors.ModelNotDraft, errors.ModelArchived)
RUN: Failures = (errors.DuplicateRun, errors.InsufficientSamples, *EDIT)
USE: Failures = (errors.ModelNotTrained, errors.ModelArchived)
COMPARE: Failures = (errors.VersionNotFound, *USE, errors.FeatureUnavailable)
SCORE: Failures = (errors.VersionNotFound, *USE, errors.FeatureUnavailable, errors.UrlNotFetchable)

FAILURES: Mapping[str, Failures] = {
    "models.create": (
        *(errors.InvalidHandle, errors.UnsupportedKind, errors.UnsupportedScoringMethod, errors.HandleTaken),
    ),
    "models.import": (errors.InvalidHandle, errors.UnsupportedScoringMethod, errors.HandleTaken),
    "models.fork": (errors.HandleTaken, errors.ModelBusy, errors.ModelArchived),
    "models.promote": (errors.ModelBusy, errors.PromotionConflict, *USE),
    "models.list": (errors.NamespaceForbidden, errors.InvalidCursor),
    "models.update": (errors.UnsupportedScoringMethod, errors.ModelArchived),
    "models.restore": (errors.ModelArchived,),
    "models.train": (
        *(errors.ModelBusy, errors.ModelArchived),
        *(errors.SamplesPurged, errors.InsufficientSamples, errors.FeatureUnavailable),
    ),
    "models.retrain": (
        *(errors.ModelBusy, errors.ModelNotTrained, errors.ModelArchived),
        *(errors.SamplesPurged, errors.InsufficientSamples),
    ),
    "traits.add": (errors.DuplicateTrait, *EDIT),
    "traits.update": (errors.DuplicateTrait, *EDIT),
    "traits.delete": EDIT,
    "traits.discover": (*RUN, errors.FeatureUnavailable),
    "samples.add": EDIT,
    "samples.list": (errors.TraitNotFound, errors.InvalidCursor),
    "samples.update": EDIT,
    "samples.delete": (errors.SampleNotFound, *EDIT),
    "samples.delete_many": EDIT,
    "samples.synthesize": (errors.UnsupportedSynthType, *RUN, errors.FeatureUnavailable),
    "samples.plan": (errors.UnsupportedSynthType,),
    "versions.list": (errors.InvalidCursor,),
    "versions.activations": (errors.InvalidCursor,),
    "versions.get": (errors.VersionNotFound,),
    "versions.tag": (errors.InvalidTag, errors.VersionNotFound, *USE),
    "versions.untag": (errors.InvalidTag, errors.TagNotFound, *USE),
    "versions.activate": (errors.VersionNotFound, errors.TagNotFound, *USE),
    "versions.compare": (errors.InsufficientScope, errors.NamespaceForbidden, *ON_MODEL, *COMPARE),
    "scores.score": (errors.InsufficientScope, errors.NamespaceForbidden, *SCORE),
    "scores.compare": SCORE,
    "scores.batch": (errors.VersionNotFound, *USE, errors.FeatureUnavailable),
    "extract": (errors.UrlNotFetchable,),
}

ULID = "[0-9A-HJKMNP-TV-Z]{26}"
HEADERS: Mapping[str, tuple[str, Json]] = {
    "X-Request-Id": ("Id of the request, assigned by the service.", {"type": "string", "pattern": f"^req_{ULID}$"}),
    "X-Run-Id": ("Id of the run that was queued or is already active.", {"type": "string", "pattern": f"^run_{ULID}$"}),
    "Allow": ("The methods that the path supports.", {"type": "string"}),
    "Retry-After": ("Seconds to wait before trying again.", {"type": "integer", "minimum": 0}),
    "WWW-Authenticate": ("How to authenticate.", {"type": "string", "const": "Bearer"}),
}
SOMETIMES = "X-Run-Id"  # only in a 409 caused by a run; all other headers are always present where they are declared
HEADER_OF_STATUS: Mapping[int, str] = {401: "WWW-Authenticate", 405: "Allow", 503: "Retry-After"}
WITH_RUN: Failures = (errors.ModelBusy, errors.DuplicateRun)

ABOUT = """\
Scoring models from labelled samples: create a model, add traits and samples, train it, score texts.

Every operation except health and these descriptions needs an API key: `Authorization: Bearer <key>`. Bodies are JSON in
UTF-8. Objects have no duplicate keys, numbers are finite, whole numbers fit into 64 bits, strings do not contain
U+0000, and unknown fields are rejected. Every response has the header `X-Request-Id`. Every response other than 2xx is
the error envelope; its `code` says what was wrong, such as `route_not_found` for a path that is not listed. Every path
that supports `GET` also supports `HEAD`. To read all pages of a listing, follow `next_cursor` until it is null.

The operator limits the traits of a model (64 by default), its samples (200,000), and the bytes of a body (10 MiB;
256 MiB for an import).

Long operations answer 202 with the id of a run; `GET /v1/models/{handle}` shows its progress. A model runs one
operation at a time. While one is running, others get a 409 that names the run in `X-Run-Id`."""

Values = Mapping[str, Any]  # by the name of a parameter, or BODY


def document(app: FastAPI) -> Json:
    """Return the OpenAPI document of an application; it is built once."""
    if app.openapi_schema is None:
        app.openapi_schema = _described(app)
    return app.openapi_schema


_building = Lock()


def content(app: FastAPI) -> bytes:
    """Return the document as JSON, written once: anyone may ask for it, and it has 370 kB."""
    with _building:
        if not hasattr(app.state, "openapi"):
            app.state.openapi = json.dumps(document(app), ensure_ascii=False, separators=(",", ":")).encode()
    written: bytes = app.state.openapi
    return written


def _described(app: FastAPI) -> Json:
    every = (route for route in iter_route_contexts(app.routes) if isinstance(route.original_route, APIRoute))
    routes = [route for route in every if route.include_in_schema]
    description = get_openapi(
        title=TITLE, version=VERSION, openapi_version="3.1.0", description=ABOUT, routes=app.routes
    )
    for route in routes:
        for method in route.methods or ():
            _complete(description["paths"][route.path_format][method.lower()], route)
    description["paths"] = dict(sorted(description["paths"].items(), key=_chapter))
    components = description["components"]
    components["schemas"] = dict(sorted({**_ours(components["schemas"]), **_schemas(routes)}.items()))
    components["headers"] = {
        name: {"description": text, "required": name != SOMETIMES, "schema": schema}
        for name, (text, schema) in HEADERS.items()
    }
    components["securitySchemes"] = {"ApiKey": {"type": "http", "scheme": "bearer", "description": "An API key."}}
    return description


def _chapter(path: tuple[str, Json]) -> int:
    operation = next(iter(path[1].values()))
    return TAGS.index(operation["tags"][0])


def failures(route: RouteContext) -> Iterator[type[TraitbenchError]]:
    """Yield every error that the operation may return."""
    name = str(route.name)
    yield from ANY
    if _dependency(route, CallerCheck):
        yield from KEYED
        rule = RULES[name]  # type: ignore[index]
        yield from (errors.InsufficientScope,) if rule.scope == "authoring" else ()
        yield from (errors.NamespaceForbidden,) if rule.reach != "read" else ()
    yield from ON_MODEL if "{handle}" in str(route.path_format) else ()
    yield from (errors.TraitNotFound,) if "{key}" in str(route.path_format) else ()
    if body := _dependency(route, Body):
        yield from WITH_BODY
        yield from (errors.EmptyBody,) if body.needed else ()
    yield from FAILURES.get(name, ())


def _complete(operation: Json, route: RouteContext) -> None:
    operation["operationId"] = _id(str(route.name))
    operation["summary"] = str(route.name)
    operation["responses"].pop("422", None)
    for parameter in operation.get("parameters", ()):
        parameter["schema"] = _never_null(parameter["schema"])
    if body := _dependency(route, Body):
        operation["requestBody"] = {"required": body.needed, "content": _content(body)}
    if admission := _dependency(route, CallerCheck):
        operation["security"] = [*([{}] if admission.optional else []), {"ApiKey": []}]
        for offer in admission.offers[1:]:
            operation["responses"]["200"]["content"][offer] = {"schema": {"type": "string"}}
        if admission.offers == (LINES,):
            operation["responses"]["200"]["content"][LINES] = {"schema": _lines(route)}
    links = _links(str(route.name))
    for status, answer in operation["responses"].items():
        answer["description"] = HTTPStatus(int(status)).phrase
        answer["headers"] = _headers("X-Request-Id", *(("X-Run-Id",) if status == "202" else ()))
        answer |= {"links": links} if links else {}
    add_examples(str(route.name), operation)
    operation["responses"].update(_errors(tuple(failures(route))))


def _lines(route: RouteContext) -> Json:
    """Return the schema of a stream of lines: a string to OpenAPI 3.1, with `contentSchema` for each line."""
    kinds = get_args(route.response_model)
    line = {"anyOf": [{"$ref": f"#/components/schemas/{kind.__name__}"} for kind in kinds]}
    return {"type": "string", "contentMediaType": LINES, "contentSchema": line}


def _never_null(schema: Json) -> Json:
    """Return the schema of a parameter without null: a parameter can be absent, but paths and queries have no null."""
    (given,) = [choice for choice in schema.get("anyOf", ({},)) if choice.get("type") != "null"]
    return {**given, **{name: value for name, value in schema.items() if name != "anyOf"}}


def _links(name: str) -> Json:
    return {_id(target): _link(target, values) for target, values in LINKS.get(name, {}).items()}


def _link(target: str, values: Values) -> Json:
    parameters = {name: value for name, value in values.items() if name != BODY}
    body = {BODY: values[BODY]} if BODY in values else {}
    return {"operationId": _id(target), "parameters": parameters, **body}


def _id(name: str) -> str:
    return name.replace(".", "_")


def _content(body: Body[Any]) -> Json:
    plain = {TEXT: {"schema": body.kind.model_json_schema()["properties"][body.text_as]}} if body.text_as else {}
    return {JSON: {"schema": {"$ref": f"#/components/schemas/{body.kind.__name__}"}}, **plain}


def _errors(raised: Failures) -> Json:
    by_status: dict[int, list[type[TraitbenchError]]] = {}
    for error in sorted(set(raised), key=lambda error: (error.status, error.code)):
        by_status.setdefault(error.status, []).append(error)
    return {str(status): _error(status, members) for status, members in by_status.items()}


def _error(status: int, members: Sequence[type[TraitbenchError]]) -> Json:
    codes = [error.code for error in members]
    lines = [HTTPStatus(status).phrase, "", *(f"- `{error.code}`: {_about(error)}" for error in members)]
    names = [name for name in (HEADER_OF_STATUS.get(status),) if name]
    names += ["X-Run-Id"] if any(error in WITH_RUN for error in members) else []
    narrowed = {"properties": {"error": {"properties": {"code": {"enum": codes}}}}}
    return {
        "description": "\n".join(lines),
        "headers": _headers("X-Request-Id", *names),
        "content": {JSON: {"schema": {"allOf": [{"$ref": "#/components/schemas/ErrorEnvelope"}, narrowed]}}},
    }


def _about(error: type[TraitbenchError]) -> str:
    """Return the docstring of an error class, without the status."""
    text = str(error.__doc__).removeprefix(f"{error.status}: ")
    return text[0].upper() + text[1:]


def _headers(*names: str) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _dependency(route: RouteContext, kind: type[Any]) -> Any:
    """Return the endpoint's dependency of a type, or None."""
    return next((each.call for each in route.dependant.dependencies if isinstance(each.call, kind)), None)


def _ours(schemas: Json) -> Json:
    return {name: schema for name, schema in schemas.items() if name not in ("HTTPValidationError", "ValidationError")}


def _schemas(routes: Sequence[RouteContext]) -> Json:
    kinds = {body.kind for route in routes if (body := _dependency(route, Body))}
    wanted = [(ErrorEnvelope, "serialization"), *((kind, "validation") for kind in kinds)]
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


Targets = Mapping[str, Values]

BODY = "requestBody"

_MADE = {"handle": "$response.body#/handle"}
_SAME = {"handle": "$request.path.handle"}

_OF_MODEL = (
    *("models.get", "models.update", "models.train", "models.retrain", "models.export", "models.delete", "models.fork"),
    *("traits.add", "traits.list", "traits.discover", "samples.add", "samples.list", "samples.synthesize"),
    *("samples.plan", "versions.list", "versions.activations", "scores.score", "scores.compare", "scores.batch"),
)
_TRAIT = ("traits.get", "traits.update", "traits.delete")


def _all(targets: tuple[str, ...], values: Values) -> Targets:
    return dict.fromkeys(targets, values)


LINKS: Mapping[str, Targets] = {
    "models.create": _all(_OF_MODEL, _MADE),
    "models.import": _all(_OF_MODEL, _MADE),
    "models.fork": {
        **_all(_OF_MODEL, _MADE),
        "models.promote": {**_SAME, BODY: {"from": "$response.body#/handle"}},
    },
    "models.promote": _all(("models.get", "versions.list", "scores.score"), _SAME),
    "models.update": _all(("models.get",), _MADE),
    "models.delete": _all(("models.restore",), _MADE),
    "models.restore": _all(("models.get", "models.train", "scores.score"), _MADE),
    "models.list": _all(("models.get",), {"handle": "$response.body#/items/0/handle"}),
    "models.export": {"models.import": {BODY: "$response.body"}},
    "models.train": _all(("models.get", "models.delete", "versions.list"), _SAME),
    "models.retrain": _all(("models.get", "versions.list"), _SAME),
    "traits.add": {
        **_all(_TRAIT, {**_SAME, "key": "$response.body#/traits/0/key"}),
        **_all(("traits.list", "samples.add", "samples.plan", "samples.synthesize"), _SAME),
    },
    "traits.discover": _all(("models.get", "traits.list"), _SAME),
    "samples.add": {
        "samples.update": {**_SAME, BODY: {"ids": "$response.body#/ids", "held_out": True}},
        "samples.delete": {**_SAME, "sample_id": "$response.body#/ids/0"},
        "samples.delete_many": {**_SAME, BODY: {"ids": "$response.body#/ids"}},
        **_all(("samples.list", "traits.discover", "models.train"), _SAME),
    },
    "samples.plan": _all(("samples.synthesize",), _SAME),
    "samples.synthesize": _all(("models.get", "samples.list", "samples.rejected"), _SAME),
    "versions.list": {
        "versions.get": {**_SAME, "name": "v{$response.body#/items/0/version_no}"},
        "versions.tag": {**_SAME, BODY: {"version": "v{$response.body#/items/0/version_no}"}},
    },
    "versions.tag": {
        **_all(("versions.get", "versions.untag"), {**_SAME, "name": "$response.body#/tag"}),
        "versions.activate": {**_SAME, BODY: {"tag": "$response.body#/tag"}},
    },
    "versions.activate": {
        **_all(("scores.score", "scores.compare", "scores.batch"), _SAME),
        "versions.compare": {BODY: {"a": "$response.body#/handle", "b": "$response.body#/handle"}},
    },
}


ASSETS = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript"}

# Without `validatorUrl: null` the page would ask a public server about the document.
_START = (
    "document.documentElement.classList.toggle('dark-mode', matchMedia('(prefers-color-scheme: dark)').matches);"
    " SwaggerUIBundle({ url: 'openapi.json', dom_id: '#page', deepLinking: true, docExpansion: 'list',"
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
