"""The order of checks: each request is wrong in every way from some step on; the first step answers.

See core/docs/contract.md, section 1.
"""

from typing import Any

import pytest

from tests.contract.declared import request
from tests.contract.world import World
from traitbench.contract.operations import ROUTES

MALFORMED: dict[str, Any] = {"raw": b"{"}
_WITH_BODY = [each for each in ROUTES.values() if each.body is not None and "{handle}" in each.path]
WITH_BODY = [request(each, "{}")[:2] for each in _WITH_BODY]
WRITES = [request(each, "{}")[:2] for each in _WITH_BODY if each.rule.reach == "write"]


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
        ("POST", "/v1/models/mine.archived/traits/discover", {}),
        ("POST", "/v1/models/mine.archived/samples/synthesize", {}),
        ("POST", "/v1/models/mine.archived/fork", {"handle": "mine.ready"}),
        ("POST", "/v1/models/mine.archived/promote", {"from": "mine.busy"}),
        ("POST", "/v1/models/mine.archived/score", {"content": "x"}),
        ("POST", "/v1/models/mine.archived/compare", {"a": "x", "b": "y"}),
        ("POST", "/v1/models/mine.archived/score/batch", {"contents": ["x"]}),
    ],
)
def test_7_the_state(world: World, method: str, path: str, body: Any) -> None:
    assert code(world.call(method, path, json=body)) == (409, "model_archived")


@pytest.mark.parametrize("path", ["train", "traits/discover", "samples/synthesize"])
def test_insufficient_samples_comes_last(world: World, path: str) -> None:
    """An archived model without samples is archived first of all."""
    empty = world.make(f"mine.order-{path.replace('/', '-')}", samples=False)
    body = {"synth_type": "diversify"} if path == "samples/synthesize" else {}
    ask = f"/v1/models/{empty}/{path}"
    assert code(world.call("POST", ask, json={"effort": "huge"}))[1] == "validation_failed"
    assert code(world.call("POST", ask, json=body)) == (422, "insufficient_samples")
    assert world.call("DELETE", f"/v1/models/{empty}").status == 200
    assert code(world.call("POST", ask, json=body)) == (409, "model_archived")


def test_an_unknown_synth_type_comes_before_the_state(world: World) -> None:
    for name in ("ready", "archived", "busy"):
        answer = world.call("POST", f"/v1/models/mine.{name}/samples/synthesize", json={"synth_type": "enrich"})
        assert code(answer) == (422, "unsupported_synth_type")


def test_a_bundle_is_looked_at_when_scope_and_namespace_let_it_in(world: World) -> None:
    path = "/v1/models/import?handle="
    tampered = {**world.bundles["draft"], "sha256": "0" * 64}
    assert code(world.call("POST", path + "other.new", key="scoring", **MALFORMED)) == (403, "insufficient_scope")
    assert code(world.call("POST", path + "other.new", **MALFORMED)) == (400, "invalid_json")
    assert code(world.call("POST", path + "Bad", json=tampered)) == (422, "invalid_handle")
    assert code(world.call("POST", path + "other.new", json=tampered)) == (403, "namespace_forbidden")
    assert code(world.call("POST", path + "mine.ready", json=tampered)) == (422, "validation_failed")


def test_a_large_body_is_not_read_for_a_stranger(world: World) -> None:
    assert code(world.call("POST", "/v1/models", key=None, raw=b"x" * 5_000_000)) == (401, "unauthenticated")
