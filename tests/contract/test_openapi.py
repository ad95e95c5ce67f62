"""The OpenAPI document: valid, complete, and true; and the page that is made of it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from tests.contract.declared import DECLARED, LOCAL, OPEN, SPECIFIED, parameters
from tests.contract.world import World
from traitbench.contract.operations import ROUTES
from traitbench.service import openapi
from traitbench.service.openapi_schemas import SHARED

REQUIRED = "must be sent"
QUERY: dict[str, dict[str, tuple[int | str | None, dict[str, Any]]]] = {
    "GET /v1/openapi.json": {"doors": (False, {"type": "boolean"})},
    "POST /v1/models/{handle}/webhook": {
        **dict.fromkeys(("trait", "side"), (REQUIRED, {"type": "string", "minLength": 1})),
        "from": (50, {"minimum": 0, "maximum": 100}),
    },
    "GET /v1/models": {
        "limit": (50, {"minimum": 1, "maximum": 250}),
        **dict.fromkeys(("cursor", "namespace", "state", "kind", "forked_from"), (None, {})),
    },
    "POST /v1/models/import": {"handle": (None, {"type": "string"})},
    "GET /v1/models/{handle}/samples/synthesize": {
        "synth_type": ("from_traits", {"$ref": "#/components/schemas/SynthesisType"}),
        **dict.fromkeys(("effort", "language_model"), (None, {})),
    },
    "GET /v1/models/{handle}/samples": {
        "limit": (100, {"minimum": 1, "maximum": 500}),
        "offset": (0, {"minimum": 0}),
        **dict.fromkeys(("newest_first", "count"), (False, {"type": "boolean"})),
        **dict.fromkeys(
            ("trait", "held_out", "cursor", "pending", "provenance", "pole", "text", "ids", "grouped"), (None, {})
        ),
    },
    "GET /v1/models/{handle}/samples/changes": {
        "limit": (20, {"minimum": 1, "maximum": 100}),
        **dict.fromkeys(("sample_id", "sample_ids", "cursor"), (None, {})),
    },
    "GET /v1/models/{handle}/proposed": {"limit": (100, {"minimum": 1, "maximum": 500}), "cursor": (None, {})},
    "DELETE /v1/models/{handle}/proposed": {"ids": (None, {})},
    "GET /v1/models/{handle}/texts": {
        "after": (0, {"minimum": 0}),
        "limit": (500, {"minimum": 1, "maximum": 5_000}),
        "cursor": (None, {}),
    },
    "DELETE /v1/models/{handle}/texts": {"ids": (None, {})},
    "GET /v1/models/{handle}/texts/decisions": {
        "everyone": (False, {"type": "boolean"}),
        "limit": (500, {"minimum": 1, "maximum": 5_000}),
        "cursor": (None, {}),
    },
    "GET /v1/namespaces/{namespace}/attributes": {"limit": (100, {"minimum": 1, "maximum": 250}), "cursor": (None, {})},
    "GET /v1/models/{handle}/versions": {"limit": (50, {"minimum": 1, "maximum": 250}), "cursor": (None, {})},
    "GET /v1/models/{handle}/versions/{name}/samples": {
        "limit": (500, {"minimum": 1, "maximum": 5_000}),
        "cursor": (None, {}),
    },
    "GET /v1/models/{handle}/activations": {"limit": (50, {"minimum": 1, "maximum": 250}), "cursor": (None, {})},
}


def operations(world: World) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in world.described["paths"].items()
        for method, operation in methods.items()
    }


def test_every_operation_of_the_table_and_no_other_is_served(world: World) -> None:
    assert set(operations(world)) == DECLARED


def test_the_service_has_every_route_of_the_specification() -> None:
    assert SPECIFIED <= DECLARED


def test_the_document_is_openapi_3_1_with_valid_schemas(world: World) -> None:
    assert world.described["openapi"] == "3.1.0"
    assert {"title", "version", "description"} <= set(world.described["info"])
    for schema in world.described["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_reference_leads_somewhere(world: World) -> None:
    references = set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(world.described)))
    assert len(references) > 50
    for reference in references:
        place = world.described
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]


def test_every_schema_is_used(world: World) -> None:
    text = json.dumps(world.described)
    unused = [name for name in world.described["components"]["schemas"] if f'schemas/{name}"' not in text]
    assert unused == []


def test_no_choice_and_no_map_is_described_twice(world: World) -> None:
    """Else generators make a type of each: with the errors of each operation, one made 1,488 files."""
    own = httpx.get(f"{world.base_url}/v1/openapi.json").json()
    schemas = own["components"]["schemas"]
    written = [*_choices_and_maps([own["paths"], schemas])]
    assert len(written) > 30
    repeated = [each for each in written if written.count(each) > 1]
    assert repeated == [], "name the type in SHARED of traitbench.service.openapi_schemas"


def _choices_and_maps(part: Any) -> Iterator[Any]:
    if isinstance(part, list):
        for each in part:
            yield from _choices_and_maps(each)
    elif isinstance(part, dict):
        schema = {key: each for key, each in part.items() if key not in ("title", "description", "default")}
        if isinstance(part.get("enum"), list) or (part.get("type") == "object" and "properties" not in part):
            yield schema
        for key, each in part.items():
            if key not in ("example", "propertyNames"):
                yield from _choices_and_maps(each)


def test_doors_are_described_only_if_asked_for(world: World) -> None:
    own = httpx.get(f"{world.base_url}/v1/openapi.json").json()
    doors = {f"{each.method} {each.full_path}" for each in ROUTES.values() if each.is_door}
    assert {f"{method.upper()} {path}" for path, methods in own["paths"].items() for method in methods} == (
        DECLARED - doors
    )
    text = json.dumps(own)
    assert {each["operationId"] for each in operations(world).values() if each["operationId"] in text} == {
        operation["operationId"] for methods in own["paths"].values() for operation in methods.values()
    }
    assert all(f'schemas/{name}"' in text for name in own["components"]["schemas"])
    assert own["components"]["securitySchemes"].keys() == {"ApiKey"}
    groups = {tag for methods in own["paths"].values() for operation in methods.values() for tag in operation["tags"]}
    assert {each["name"] for each in own["tags"]} == groups


def test_operation_ids_are_identifiers_of_their_own(world: World) -> None:
    ids = [operation["operationId"] for operation in operations(world).values()]
    assert len(set(ids)) == len(ids)
    assert all(id_.isidentifier() for id_ in ids)


def test_every_answer_has_a_request_id_and_every_error_the_envelope(world: World) -> None:
    for operation in operations(world).values():
        form = openapi.ERRORS[ROUTES[operation["summary"]].errors_as].__name__
        for status, answer in operation["responses"].items():
            assert "X-Request-Id" in answer["headers"]
            if status >= "400":
                assert answer["content"]["application/json"]["schema"] == {"$ref": f"#/components/schemas/{form}"}
                assert answer["x-error-codes"]
                assert all(f"`{code}`" in answer["description"] for code in answer["x-error-codes"])


@pytest.mark.parametrize(("status", "header"), [("401", "WWW-Authenticate"), ("405", "Allow"), ("503", "Retry-After")])
def test_headers_of_errors_are_declared(world: World, status: str, header: str) -> None:
    responses = [operation["responses"] for operation in operations(world).values()]
    answers = [each[status] for each in responses if status in each]
    assert answers
    assert all(header in answer["headers"] for answer in answers)


def test_the_run_is_named_where_one_is_started_or_met(world: World) -> None:
    named = {
        (name, status)
        for name, operation in operations(world).items()
        for status, answer in operation["responses"].items()
        if "X-Run-Id" in answer["headers"]
    }
    assert {name for name, status in named if status == "202"} == {
        "POST /v1/models/{handle}/train",
        "POST /v1/models/{handle}/retrain",
        "POST /v1/models/{handle}/traits/discover",
        "POST /v1/models/{handle}/samples/synthesize",
    }
    assert {status for _, status in named} == {"202", "409"}
    assert ("POST /v1/models/{handle}/samples", "409") in named


def test_all_but_the_open_routes_need_the_key(world: World) -> None:
    schemes = world.described["components"]["securitySchemes"]
    assert (schemes["ApiKey"]["type"], schemes["ApiKey"]["scheme"]) == ("http", "bearer")
    assert {source for each in ROUTES.values() if each.in_openapi for source in each.key_from} == {
        each.get("scheme", each.get("name")) for each in schemes.values()
    }
    for name, operation in operations(world).items():
        is_open = name.split()[1] in OPEN
        key = [{openapi.KEYS[source][0]: list[str]()} for source in ROUTES[operation["summary"]].key_from]
        assert operation["security"] == ([] if is_open else [{}, *key] if name.split()[1] in LOCAL else key)
        assert ("401" in operation["responses"]) is not is_open


@pytest.mark.parametrize("operation", sorted(DECLARED))
def test_parameters_stand_with_bounds_and_defaults(world: World, operation: str) -> None:
    described = operations(world)[operation]
    declared = parameters(described)
    path = [each["name"] for each in declared if each["in"] == "path"]
    assert path == re.findall(r"\{(\w+)\}", operation)
    query = {each["name"]: each for each in declared if each["in"] == "query"}
    expected = QUERY.get(operation, {})
    assert set(query) == set(expected)
    for name, (default, bounds) in expected.items():
        assert query[name]["required"] is (default == REQUIRED)
        assert query[name]["schema"].get("default") == (None if default == REQUIRED else default)
        assert bounds.items() <= query[name]["schema"].items()
    shared = [each for each in described.get("parameters", ()) if each not in declared]
    takes_key = ROUTES[described["summary"]].takes_key
    assert shared == ([{"$ref": "#/components/parameters/IdempotencyKey"}] if takes_key else [])


def test_a_body_is_json_and_needed_but_for_these(world: World) -> None:
    bodies = {name: each["requestBody"] for name, each in operations(world).items() if "requestBody" in each}
    without = {name for name in operations(world) if name.split()[0] in ("POST", "PUT", "PATCH")} - bodies.keys()
    undo = "POST /v1/models/{handle}/samples/changes/{change_id}/undo"
    assert without == {"POST /v1/models/{handle}/restore", "POST /v1/models/{handle}/retrain", undo}
    assert {name for name, body in bodies.items() if not body["required"]} == {
        "POST /v1/models/{handle}/train",
        "POST /v1/models/{handle}/traits/discover",
        "POST /v1/models/{handle}/samples/synthesize",
        "POST /v1/models/{handle}/versions/{name}",
    }
    assert {name: sorted(body["content"]) for name, body in bodies.items() if len(body["content"]) > 1} == {
        "POST /v1/models/{handle}/score": ["application/json", "text/plain"]
    }
    assert all("application/json" in body["content"] for body in bodies.values())


def test_fields_stand_with_bounds_and_defaults(world: World) -> None:
    schemas = world.described["components"]["schemas"]
    model, sample, trait = (schemas[name]["properties"] for name in ("ModelCreate", "SampleInput", "TraitInput"))
    assert all(schemas[name]["additionalProperties"] is False for name in ("ModelCreate", "SampleInput", "TraitInput"))
    assert schemas["ModelCreate"]["required"] == ["handle"]
    assert schemas["SamplesCreate"]["properties"]["samples"].items() >= {"minItems": 1, "maxItems": 500}.items()
    assert schemas["TraitsCreate"]["properties"]["traits"]["minItems"] == 1
    assert model["scoring_method"]["default"] == "balanced_cosine"
    assert model["max_depth"].items() >= {"default": 1, "minimum": 1, "maximum": 3}.items()
    assert model["description"]["maxLength"] == 2_000
    assert sample["text"].items() >= {"minLength": 1, "maxLength": 50_000}.items()
    assert sample["quality"].items() >= {"minimum": 0.0, "maximum": 1.0}.items()
    assert trait["aggregation"] == {"$ref": "#/components/schemas/Aggregation", "default": "mean"}
    assert schemas["Aggregation"] == {"type": "string", "enum": ["mean", "max", "min", "none"]}
    assert trait["name"].items() >= {"minLength": 1, "maxLength": 200}.items()
    assert schemas["SynthesisType"]["enum"] == ["from_traits", "diversify"]
    batch = schemas["BatchRequest"]["properties"]
    assert batch["contents"].items() >= {"minItems": 1, "maxItems": 1_000, "items": {"type": "string"}}.items()
    assert batch["mode"].items() >= {"default": "full", "enum": ["full", "layer4", "layer6", "static"]}.items()
    assert schemas["ScoreRequest"]["properties"]["explain"].items() >= {"default": False, "type": "boolean"}.items()
    assert "explanation" not in schemas["Card"]["required"]
    policy = schemas["VersionRetentionPolicy"]["properties"]
    assert policy["keep_unnamed"].items() >= {"default": 100, "minimum": 0}.items()
    assert policy["keep_first_of_month"]["default"] is True


def test_every_link_leads_to_an_operation_and_fills_parameters_that_it_has(world: World) -> None:
    by_id = {operation["operationId"]: operation for operation in operations(world).values()}
    links = [
        link
        for operation in by_id.values()
        for answer in operation["responses"].values()
        for link in answer.get("links", {}).values()
    ]
    assert len(links) > 50
    for link in links:
        target = by_id[link["operationId"]]
        assert set(link["parameters"]) <= {each["name"] for each in parameters(target)}
        assert "requestBody" not in link or "requestBody" in target


def test_no_operation_is_out_of_reach_of_the_links(world: World) -> None:
    by_id = {operation["operationId"]: name for name, operation in operations(world).items()}
    reached = {
        by_id[link["operationId"]]
        for operation in operations(world).values()
        for answer in operation["responses"].values()
        for link in answer.get("links", {}).values()
    }
    assert {
        *(name for name in DECLARED if "{" in name),
        "POST /v1/models/import",
        "POST /v1/versions/compare",
    } <= reached, "name it in `then` of an operation that it can follow"


def test_the_page_asks_nothing_of_any_other_server(world: World) -> None:
    answer = world.call("GET", "/v1/docs", key=None)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert not re.search(r"unsafe|http|\*", policy)
    assert "//" not in answer.text
    loaded = re.findall(r'(?:src|href)="(docs/[^"]*)"', answer.text)
    assert len(loaded) == 2
    for path in loaded:
        assert httpx.get(f"{world.base_url}/v1/{path}").status_code == 200


@pytest.mark.parametrize("name", ["redoc.standalone.js", "..%2fcore.py", "x"])
def test_no_other_file_of_the_package_is_served(world: World, name: str) -> None:
    answer = world.call("GET", f"/v1/docs/{name}", key=None)
    assert (answer.status, answer.code) == (404, "route_not_found")


# What a request may hold without a bound in its schema, and what bounds it instead.
UNBOUNDED = {
    "the body": {
        *("ScoreRequest.content", "CompareRequest.a", "CompareRequest.b", "BatchRequest.contents[]"),
        *("ScoreRequest.traits", "CompareRequest.traits", "BatchRequest.traits", "TraitsCreate.traits"),
        *("ScoreRequest.feedback", "VersionsCompareRequest.texts[]", "VersionsCompareRequest.traits"),
        *("DecisionRequest.state", "DecisionRequest.questions"),
        *("GuardrailRequest.texts[]", "WebhookRequest.output"),
    },
    "64 KiB": {
        *("ModelCreate.upstream_sources", "ModelCreate.upstream_sources[]"),
        *("ModelUpdate.upstream_sources", "ModelUpdate.upstream_sources[]"),
    },
    "the names of the model": {
        *("ScoreRequest.traits[]", "CompareRequest.traits[]", "BatchRequest.traits[]", "SampleInput.trait"),
        *("VersionsCompareRequest.traits[]", "SampleFields.trait", "SampleEdit.trait"),
        "AttributePut.trait",
    },
    "the words of feedback": {"ScoreRequest.feedback{}"},
    "64 bits": {"VersionRetentionPolicy.keep_unnamed", "VersionActivate.version", "VersionTag.version"},
}


def test_every_bound_of_a_request_stands_in_its_schema(world: World) -> None:
    schemas = world.described["components"]["schemas"]
    received = {
        each["schema"]["$ref"].rpartition("/")[2]
        for operation in operations(world).values()
        for each in operation.get("requestBody", {"content": {}})["content"].values()
        if "$ref" in each["schema"]
    } - {"Bundle"}  # checked as a whole: see the tests of bundles
    received |= {"TraitInput", "SampleInput", "SampleEdit", "SampleRemoval", "VersionRetentionPolicy"}
    found = {
        place
        for name in received
        for field, schema in schemas[name]["properties"].items()
        for place in _unbounded(f"{name}.{field}", _resolved(schema, schemas))
    }
    assert found == set().union(*UNBOUNDED.values())


def _resolved(schema: Any, schemas: dict[str, Any]) -> Any:
    """A schema with those of shared types in the places of references to them."""
    if isinstance(schema, list):
        return [_resolved(each, schemas) for each in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    return schemas[name] if name in SHARED else {key: _resolved(each, schemas) for key, each in schema.items()}


def _unbounded(place: str, schema: dict[str, Any]) -> list[str]:
    """The places in a schema that may be as large as anyone likes."""
    if "anyOf" in schema:
        return [each for choice in schema["anyOf"] for each in _unbounded(place, choice)]
    kind = schema.get("type")
    inner = {"array": ("items", "[]"), "object": ("additionalProperties", "{}")}
    has = {
        "string": {"maxLength", "enum", "const"} & schema.keys() or "{" in schema.get("pattern", ""),
        "integer": schema.keys() >= {"minimum", "maximum"},
        "number": schema.keys() >= {"minimum", "maximum"},
        "array": "maxItems" in schema,
        "object": False,
    }.get(str(kind), True)
    name, mark = inner.get(str(kind), ("", ""))
    below = schema.get(name)
    deeper = _unbounded(place + mark, below) if isinstance(below, dict) else []
    return [*([] if has or "$ref" in schema else [place]), *deeper]


@pytest.mark.parametrize(
    ("name", "field", "bounds"),
    [
        ("Card", "composite", {"minimum": 0, "maximum": 100}),
        ("TraitScore", "score", {"minimum": 0, "maximum": 100}),
        ("TraitScore", "band", {"minItems": 2, "maxItems": 2}),
        ("Native", "polarity", {"minimum": -1, "maximum": 1}),
        ("Comparison", "improvement", {"minimum": -100, "maximum": 100}),
        ("Progress", "fraction", {"minimum": 0, "maximum": 1}),
        ("Sample", "quality", {"minimum": 0, "maximum": 1}),
        ("Trait", "sample_count", {"minimum": 0}),
        ("SamplePage", "limit", {"minimum": 1, "maximum": 500}),
        ("SampleIds", "ids", {"minItems": 1, "maxItems": 500}),
    ],
)
def test_answers_stand_with_their_ranges(world: World, name: str, field: str, bounds: dict[str, int]) -> None:
    assert bounds.items() <= world.described["components"]["schemas"][name]["properties"][field].items()
