"""Bodies: what is malformed, what is not valid, and that no answer repeats what was sent.

See core/docs/contract.md, section 1.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.declared import request
from tests.contract.world import World, as_json, signed
from tests.size import sized
from traitbench.contract.operations import ROUTES

MARK = "Zyzzyva-quux"

OPERATIONS: dict[str, tuple[str, str, Any]] = {
    each.name: request(each, "mine.ready" if each.takes_version else "mine.draft")
    for each in ROUTES.values()
    if each.body is not None and not each.is_door
}
WITHOUT_BODY = ("models.train", "traits.discover", "samples.synthesize", "versions.tag")  # an empty one is {}
WITH_BODY = [name for name in OPERATIONS if name not in WITHOUT_BODY]
# What else is malformed: tests/service/test_strict_json.py.
MALFORMED = {"broken off": b'{"description": "', "key twice": b'{"description": "a", "description": "b"}'}
NO_OBJECT = [b"null", b"[{}]"]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("raw", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_json_is_invalid_json(world: World, operation: str, raw: bytes) -> None:
    method, path, _ = OPERATIONS[operation]
    answer = world.call(method, path, raw=raw)
    assert (answer.status, answer.code) == (400, "invalid_json")


@pytest.mark.parametrize("operation", WITH_BODY)
@pytest.mark.parametrize("headers", [{}, {"Content-Type": "application/json"}, {"Content-Type": "text/csv"}])
def test_an_empty_body_where_one_is_needed(world: World, operation: str, headers: dict[str, str]) -> None:
    method, path, _ = OPERATIONS[operation]
    answer = world.call(method, path, content=b"", headers=headers)
    assert (answer.status, answer.code) == (400, "empty_body")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("raw", NO_OBJECT)
def test_what_is_no_object_is_not_valid(world: World, operation: str, raw: bytes) -> None:
    method, path, _ = OPERATIONS[operation]
    answer = world.call(method, path, raw=raw)
    assert (answer.status, answer.code) == (422, "validation_failed")
    assert answer.details["errors"] == [{"loc": [], "type": "model_type", "msg": "Input should be an object"}]


OTHER_TYPES = [
    *("", "application", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp"),
    *("application/vnd.api+json", "application/json; charset=utf-16", "application/json; charset=latin-1", "text/json"),
]


@pytest.mark.parametrize(
    ("operation", "content_type"),
    [*((name, None) for name in OPERATIONS), *(("models.create", other) for other in OTHER_TYPES)],
)
def test_another_media_type_is_not_read(world: World, operation: str, content_type: str | None) -> None:
    method, path, _ = OPERATIONS[operation]
    answer = world.call(
        method, path, content=b"{}", headers={} if content_type is None else {"Content-Type": content_type}
    )
    assert (answer.status, answer.code) == (415, "unsupported_media_type")
    assert answer.details["media_types"][0] == "application/json"


@pytest.mark.parametrize("operation", WITH_BODY)
@pytest.mark.parametrize(
    "content_type", ["application/json;charset=UTF-8", "Application/JSON", 'application/json; charset="utf-8"; a=b']
)
def test_json_by_any_of_its_names_is_read(world: World, operation: str, content_type: str) -> None:
    method, path, _ = OPERATIONS[operation]
    answer = world.call(method, path, content=b'{"unknown": 1}', headers={"Content-Type": content_type})
    assert (answer.status, answer.code) == (422, "validation_failed")


def test_plain_text_is_read_by_score_only(world: World) -> None:
    for operation, (method, path, _) in OPERATIONS.items():
        answer = world.call(method, path, content=b"text", headers={"Content-Type": "text/plain"})
        assert answer.status == (200 if operation == "scores.score" else 415), operation


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate"])
def test_a_compressed_body_is_not_read(world: World, encoding: str) -> None:
    answer = world.call("POST", "/v1/models", raw=b"{}", headers={"Content-Encoding": encoding})
    assert (answer.status, answer.code) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", (400, "empty_body")),
        (b"\xff", (400, "invalid_json")),
        (b" \n\t", (422, "validation_failed")),
        (b"a\x00b", (422, "validation_failed")),
        (b" https://example.org/page\n", (422, "url_not_fetchable")),
        (b"see https://example.org/page", (200, "")),
        (b"x", (200, "")),
        ("\U0001f600".encode(), (200, "")),
    ],
)
def test_plain_text_has_its_bounds_too(world: World, content: bytes, expected: tuple[int, str]) -> None:
    answer = world.call("POST", "/v1/models/mine.ready/score", content=content, headers={"Content-Type": "text/plain"})
    assert (answer.status, answer.code) == expected


@pytest.mark.parametrize("operation", WITH_BODY)
@pytest.mark.parametrize(
    ("literal", "kind"),
    [
        (b"NaN", "finite_number"),
        (b'"a\\u0000b"', "string_nul"),
    ],
)
def test_what_json_should_not_carry_is_not_valid(world: World, operation: str, literal: bytes, kind: str) -> None:
    method, path, _ = OPERATIONS[operation]
    answer = world.call(method, path, raw=b'{"description": [1, ' + literal + b"]}")
    assert (answer.status, answer.code) == (422, "validation_failed")
    assert {"loc": ["description", 1], "type": kind} in [
        {"loc": error["loc"], "type": error["type"]} for error in answer.details["errors"]
    ]


@pytest.mark.parametrize("literal", [b"NaN", b"1" + b"0" * 30, b'"\\ud800"', b'"\\u0000"'])
def test_free_form_objects_are_no_exception(world: World, literal: bytes) -> None:
    raw = b'{"handle": "mine.free", "upstream_sources": [{"name": {"a": ' + literal + b"}}]}"
    answer = world.call("POST", "/v1/models", raw=raw)
    assert answer.code == "validation_failed"
    assert [error["loc"] for error in answer.details["errors"]] == [["upstream_sources", 0, "name", "a"]]


def test_every_bad_field_is_named_by_its_path(world: World) -> None:
    samples: list[Any] = [
        {"trait": "tone", "text": "good", "quality": 0.5},
        {"trait": "tone", "text": " ", "quality": True},
        {"trait": "tone", "text": "x" * 50_001, "quality": 1.5, "note": ""},
        {"text": 3, "quality": "1"},
        "a sample",
        {"trait": None, "text": "", "quality": -0.1, "content_sha256": "abc"},
    ]
    answer = world.call("POST", "/v1/models/mine.draft/samples", json={"samples": samples})
    assert answer.code == "validation_failed"
    assert {tuple(error["loc"]) for error in answer.details["errors"]} == {
        ("samples", 1, "text"),
        ("samples", 1, "quality"),
        ("samples", 2, "text"),
        ("samples", 2, "quality"),
        ("samples", 2, "note"),
        ("samples", 3, "trait"),
        ("samples", 3, "text"),
        ("samples", 3, "quality"),
        ("samples", 4),
        ("samples", 5, "trait"),
        ("samples", 5, "text"),
        ("samples", 5, "quality"),
        ("samples", 5, "content_sha256"),
    }
    assert all(set(error) == {"loc", "type", "msg"} and error["msg"] for error in answer.details["errors"])


def test_only_held_out_samples_must_pass_and_every_other_one_is_named(world: World) -> None:
    sample = {"trait": "tone", "text": "x", "quality": 1}
    samples: list[Any] = [
        {**sample, "must_pass": True},
        {**sample, "must_pass": True, "held_out": True},
        {**sample, "must_pass": True, "held_out": False, "trait": "absent"},
        {**sample, "must_pass": "yes", "held_out": None},
    ]
    answer = world.call("POST", "/v1/models/mine.draft/samples", json={"samples": samples})
    assert (answer.status, answer.code) == (422, "validation_failed")
    assert sorted((tuple(error["loc"][1:]), error["type"]) for error in answer.details["errors"]) == [
        ((0, "must_pass"), "value_error"),
        ((2, "must_pass"), "value_error"),
        ((2, "trait"), "unknown_trait"),
        ((3, "held_out"), "bool_type"),
        ((3, "must_pass"), "bool_type"),
    ]
    assert "set held_out too" in answer.body["error"]["message"]


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"ids": []}, ["ids"]),
        ({"ids": [1] * 501}, ["ids"]),
        ({"ids": [True]}, ["ids", 0]),
        ({"ids": [1, 0]}, ["ids", 1]),
        ({"ids": [1.5]}, ["ids", 0]),
        ({"ids": [999_999_999], "held_out": True}, ["ids", 0]),
        ({"ids": [1], "held_out": "true"}, ["held_out"]),
        ({"ids": [1], "quality": 1}, ["quality"]),
        ({"held_out": True}, ["ids"]),
    ],
)
def test_an_update_of_samples_that_is_not_valid_names_what_is_wrong(world: World, body: Any, loc: list[Any]) -> None:
    answer = world.call("PATCH", "/v1/models/mine.draft/samples", json=body)
    assert (answer.status, answer.code) == (422, "validation_failed")
    assert answer.details["errors"][0]["loc"] == loc


def test_one_answer_names_what_the_schema_and_what_the_store_find_wrong(world: World) -> None:
    samples: list[Any] = [
        {"trait": "absent", "text": "x", "quality": 1},
        {"trait": "tone", "text": "x", "quality": 2},
        {"trait": "Tone", "text": "x", "quality": 1, "content_sha256": "0" * 64},
        {"trait": "Warmht", "text": " ", "quality": 1, "content_sha256": "0" * 64},
        {"trait": "tone", "text": "x", "quality": 1},
        None,
    ]
    answer = world.call("POST", "/v1/models/mine.draft/samples", json={"samples": samples})
    assert (answer.status, answer.code) == (422, "validation_failed")
    found = [(tuple(error["loc"][1:]), error["type"]) for error in answer.details["errors"]]
    assert found == [
        ((0, "trait"), "unknown_trait"),
        ((1, "quality"), "less_than_equal"),
        ((2, "content_sha256"), "sha256_mismatch"),
        ((3, "text"), "string_pattern_mismatch"),
        ((3, "trait"), "unknown_trait"),
        ((3, "content_sha256"), "sha256_mismatch"),
        ((5,), "model_type"),
    ]
    assert [error["sent"] for error in answer.details["errors"] if "sent" in error] == ["absent", "Warmht"]
    assert answer.details["known_traits"] == [{"key": "tone", "name": "Tone"}]
    assert "(6 more in details.errors)" in answer.body["error"]["message"]


def test_score_names_every_bad_trait_and_all_feedback_that_is_not_valid(world: World) -> None:
    body = {"content": "x", "traits": ["tone", "Tonne"], "feedback": {"tone": "so so", "zeal": 1}}
    answer = world.call("POST", "/v1/models/mine.ready/score", json=body)
    assert (answer.status, answer.code) == (422, "validation_failed")
    assert [(error["loc"], error["type"]) for error in answer.details["errors"]] == [
        (["traits", 1], "unknown_trait"),
        (["feedback", "tone"], "not_a_verdict"),
        (["feedback", "zeal"], "unknown_trait"),
    ]
    bodies: dict[str, dict[str, Any]] = {"compare": {"a": "x", "b": "y"}, "score/batch": {"contents": ["x"]}}
    for path, texts in bodies.items():
        answer = world.call("POST", f"/v1/models/mine.ready/{path}", json={**texts, "traits": ["Tonne"]})
        assert answer.details["errors"][0]["sent"] == "Tonne"
        assert answer.details["known_traits"] == [{"key": "tone", "name": "Tone"}]
    answer = world.call("POST", "/v1/models/mine.ready/score", json={"content": "x", "traits": ["no"] * 2_000})
    assert (len(answer.details["errors"]), answer.details["more_errors"]) == (1_000, 1_000)


def test_more_faults_than_anyone_reads_are_counted(world: World) -> None:
    answer = world.call("POST", "/v1/models", json={f"k{number}": 1 for number in range(6_000)})
    assert answer.code == "validation_failed"
    assert [error["type"] for error in answer.details["errors"]] == ["too_many_errors"]
    assert "6001" in answer.body["error"]["message"]


@pytest.mark.parametrize(("count", "status"), [(0, 422), (1, 200), (500, 200), (501, 422)])
def test_a_batch_has_1_to_500_samples(world: World, count: int, status: int) -> None:
    samples = [{"trait": "tone", "text": "x", "quality": 1}] * count
    world.make("mine.batches", key="authoring", samples=False) if count == 0 else None
    answer = world.call("POST", "/v1/models/mine.batches/samples", json={"samples": samples})
    assert answer.status == status


def test_a_refused_batch_changes_nothing(world: World) -> None:
    before = world.call("GET", "/v1/models/mine.draft/samples").body
    samples = [{"trait": "tone", "text": "new", "quality": 1}, {"trait": "absent", "text": "new", "quality": 1}]
    assert world.call("POST", "/v1/models/mine.draft/samples", json={"samples": samples}).status == 422
    assert world.call("GET", "/v1/models/mine.draft/samples").body == before


def test_an_empty_body_is_an_empty_object_where_none_is_needed(world: World) -> None:
    bodies: list[dict[str, Any]] = [{}, {"json": {}}, {"raw": b""}, {"json": {"effort": None}}]
    for path in ("traits/discover", "samples/synthesize", "train"):
        answers = [world.call("POST", f"/v1/models/mine.archived/{path}", **body) for body in bodies]
        assert {answer.code for answer in answers} == {"model_archived"}


def test_a_bundle_has_a_limit_of_its_own(world: World) -> None:
    """Larger than any other body may be, and still looked at."""
    large = signed({**world.bundles["draft"], "handle": "mine.large-bundle"})
    large["model"]["readme_markdown"] = "x" * 99_000
    answer = world.call("POST", "/v1/models/import", json=signed(large))
    assert (answer.status, len(answer.body["readme_markdown"])) == (201, 99_000)
    assert world.call("PATCH", "/v1/models/mine.draft", json=large["model"]).code == "body_too_large"


@pytest.mark.parametrize("size", [96 * 1024, 96 * 1024 + 1])
@pytest.mark.parametrize("chunked", [False, True])
def test_the_limit_of_a_body_is_to_the_byte(world: World, size: int, chunked: bool) -> None:
    def chunks() -> Iterator[bytes]:
        yield from (body[start : start + 10_000] for start in range(0, size, 10_000))

    body = b'{"handle":"mine.large"' + b" " * (size - 23) + b"}"
    headers = {"Content-Type": "application/json"}
    answer = world.call("POST", "/v1/models", content=chunks() if chunked else body, headers=headers)
    if size > 96 * 1024:
        assert (answer.status, answer.code, answer.details) == (413, "body_too_large", {"max_bytes": 96 * 1024})
    else:
        assert answer.code in ("", "handle_taken")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_answer_repeats_what_was_sent(world: World, operation: str) -> None:
    method, path, body = OPERATIONS[operation]
    for sent in _spoiled(body):
        answer = world.call(method, path, json=sent)
        assert answer.status == 422
        assert MARK not in answer.text, sent


def _spoiled(body: dict[str, Any]) -> Iterator[Any]:
    """The body with the mark where a value, a key or an element should be something else."""
    yield {**body, f"{MARK} with blanks": 1}
    yield {**body, "unknown": MARK}
    yield {f"{MARK} and more": {MARK: MARK}}
    yield MARK
    yield [MARK]
    for name, value in body.items():
        yield {**body, name: {"a": MARK}}
        if isinstance(value, list):
            yield {**body, name: MARK}
            yield {**body, name: [[MARK] if isinstance(value[0], str) else MARK]}
            if isinstance(value[0], dict):
                yield {**body, name: [{field: [MARK] for field in value[0]}]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["handle", "description", "max_depth", "traits", "samples", "content", "version", "tag", "name", "effort", "state"]
)


@pytest.fixture(scope="module")
def spare(world: World) -> str:
    """A model that may be changed in any way."""
    return world.make("mine.spare", key="authoring", samples=False)


@settings(max_examples=sized(60, 150), deadline=None, derandomize=True)
@given(
    operation=st.sampled_from(sorted(OPERATIONS)),
    body=st.dictionaries(FIELDS, JSON, max_size=4) | JSON,
    raw=st.none() | st.binary(max_size=40),
)
def test_no_body_is_a_fault_of_the_service(
    world: World, spare: str, operation: str, body: Any, raw: bytes | None
) -> None:
    method, path, _ = OPERATIONS[operation]
    path = path.replace("mine.draft", spare)
    answer = world.call(method, path, raw=as_json(body) if raw is None else raw)
    assert answer.status < 500
