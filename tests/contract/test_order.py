"""The order of checks (CONTRACT 1): each request is wrong in every way from some step on; the first step answers."""

from typing import Any

import pytest

from tests.contract.world import World

MALFORMED = {"raw": b"{"}
WITH_BODY = [
    ("PATCH", "/v1/models/{}"),
    ("POST", "/v1/models/{}/train"),
    ("POST", "/v1/models/{}/traits"),
    ("PATCH", "/v1/models/{}/traits/tone"),
    ("POST", "/v1/models/{}/samples"),
    ("PUT", "/v1/models/{}/versions/active"),
    ("POST", "/v1/models/{}/score"),
]
WRITES = WITH_BODY[:-1]


def code(answer: Any) -> tuple[int, str]:
    return answer.status, answer.code


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/nothing"), ("PATCH", "/v1/models/x/y"), ("POST", "/v1/")])
def test_a_route_that_is_not_there_comes_before_the_key(world: World, method: str, path: str) -> None:
    assert code(world.call(method, path, key=None)) == (404, "route_not_found")


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/Bad/train", "/v1/health"])
def test_a_method_that_is_not_there_comes_before_the_key(world: World, path: str) -> None:
    assert code(world.call("PUT", path, key=None, **MALFORMED)) == (405, "method_not_allowed")


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_1_the_key(world: World, method: str, path: str) -> None:
    answer = world.call(method, path.format("Bad") + "?bad=1", key="nobody", headers={"Accept": "a/b"}, **MALFORMED)
    assert code(answer) == (401, "unauthenticated")


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_2_the_scope(world: World, method: str, path: str) -> None:
    answer = world.call(method, path.format("Bad"), key="scoring", **MALFORMED)
    assert code(answer) == (403, "insufficient_scope")


@pytest.mark.parametrize("handle", ["Bad", "mine", "mine.a.b", "mine.", ".a", "mine.-a", "other.A", "mine." + "a" * 65])
@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_3_the_handle(world: World, method: str, path: str, handle: str) -> None:
    assert code(world.call(method, path.format(handle), **MALFORMED)) == (422, "invalid_handle")


@pytest.mark.parametrize("handle", ["other.ready", "other.absent", "demo.ready", "demo.absent"])
@pytest.mark.parametrize(("method", "path"), WRITES)
def test_4_the_namespace(world: World, method: str, path: str, handle: str) -> None:
    assert code(world.call(method, path.format(handle), **MALFORMED)) == (403, "namespace_forbidden")


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_5_the_model(world: World, method: str, path: str) -> None:
    answer = world.call(method, path.format("mine.absent") + "?bad=1", headers={"Accept": "a/b"}, **MALFORMED)
    assert code(answer) == (404, "model_not_found")


def test_5_the_trait(world: World) -> None:
    assert code(world.call("PATCH", "/v1/models/mine.busy/traits/absent", **MALFORMED)) == (404, "trait_not_found")


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"raw": b"{"}, (400, "invalid_json")),
        ({"raw": b"x" * 100_000}, (413, "body_too_large")),
        ({"content": b"{}", "headers": {"Content-Type": "text/csv"}}, (415, "unsupported_media_type")),
        ({"json": {"unknown": 1}}, (422, "validation_failed")),
    ],
)
@pytest.mark.parametrize("handle", ["mine.busy", "mine.archived"])
@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_6_the_body(
    world: World, method: str, path: str, handle: str, request_: dict[str, Any], expected: tuple[int, str]
) -> None:
    assert code(world.call(method, path.format(handle), **request_)) == expected


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/v1/models/mine.archived", {}),
        ("POST", "/v1/models/mine.archived/train", {}),
        ("POST", "/v1/models/mine.archived/traits", {"traits": [{"name": "x"}]}),
        ("PATCH", "/v1/models/mine.archived/traits/tone", {}),
        ("POST", "/v1/models/mine.archived/samples", {"samples": [{"trait": "tone", "text": "x", "quality": 1}]}),
        ("DELETE", "/v1/models/mine.archived/traits/tone", None),
        ("POST", "/v1/models/mine.archived/versions/best", None),
        ("PUT", "/v1/models/mine.archived/versions/active", {"version": "v1"}),
        ("POST", "/v1/models/mine.archived/score", {"content": "x"}),
    ],
)
def test_7_the_state(world: World, method: str, path: str, body: Any) -> None:
    assert code(world.call(method, path, json=body)) == (409, "model_archived")


def test_insufficient_samples_comes_last(world: World) -> None:
    assert code(world.call("POST", "/v1/models/mine.empty/train", json={"effort": "huge"}))[1] == "validation_failed"
    answer = world.call("POST", "/v1/models/mine.empty/train", json={"reoptimize_params": True})
    assert code(answer) == (409, "feature_unavailable")


def test_a_large_body_is_not_read_for_a_stranger(world: World) -> None:
    assert code(world.call("POST", "/v1/models", key=None, raw=b"x" * 5_000_000)) == (401, "unauthenticated")
