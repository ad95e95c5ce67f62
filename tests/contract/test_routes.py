"""Paths and methods: 404 and 405 in the envelope, complete `Allow`, HEAD, names in paths."""

import pytest

from tests.contract.world import World

ALLOW = {
    "/v1/health": "GET, HEAD",
    "/v1/docs": "GET, HEAD",
    "/v1/metrics": "GET, HEAD",
    "/v1/models": "GET, HEAD, POST",
    "/v1/models/mine.draft": "GET, HEAD, PATCH, DELETE",
    "/v1/models/import": "GET, HEAD, POST, PATCH, DELETE",
    "/v1/models/mine.draft/export": "GET, HEAD",
    "/v1/models/mine.draft/fork": "POST",
    "/v1/models/mine.draft/promote": "POST",
    "/v1/models/mine.draft/train": "POST",
    "/v1/models/mine.draft/restore": "POST",
    "/v1/models/mine.draft/traits": "GET, HEAD, POST",
    "/v1/models/mine.draft/traits/tone": "GET, HEAD, PATCH, DELETE",
    "/v1/models/mine.draft/traits/discover": "GET, HEAD, POST, PATCH, DELETE",
    "/v1/models/mine.draft/samples": "GET, HEAD, POST, PATCH",
    "/v1/models/mine.draft/samples/synthesize": "GET, HEAD, POST, PATCH, DELETE",
    "/v1/models/mine.draft/samples/changes": "GET, HEAD, POST, PATCH, DELETE",
    "/v1/models/mine.draft/samples/changes/1/undo": "POST",
    "/v1/models/mine.draft/samples/1": "PATCH, DELETE",
    "/v1/models/mine.draft/versions": "GET, HEAD",
    "/v1/models/mine.draft/versions/v1": "GET, HEAD, POST, DELETE",
    "/v1/models/mine.draft/versions/v1/samples": "GET, HEAD",
    "/v1/models/mine.draft/versions/active": "GET, HEAD, POST, PUT, DELETE",
    "/v1/models/mine.draft/score": "POST",
    "/v1/models/mine.draft/compare": "POST",
    "/v1/extract": "POST",
}
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"]
NOWHERE = [
    "/v1",
    "/v1/",
    "/v1//models",
    "/v1/models/",
    "/v1/models//traits",
    "/v1/models/mine.draft/",
    "/v1/Models",
    "/v1/models/mine.draft/traits/tone/more",
    "/v1/models/mine.draft%2Ftraits/tone/x",
    "/v1/docs/oauth2-redirect",
    "/v1/redoc",
    "/v1/%7F%00%ff",
    "/v2/models",
    "/openapi.json",
    "/",
]


@pytest.mark.parametrize("path", NOWHERE)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_path_that_is_not_there(world: World, method: str, path: str) -> None:
    answer = world.call(method, path)
    assert (answer.status, answer.code) == (404, "route_not_found")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [(method, path, allow) for path, allow in ALLOW.items() for method in METHODS if method not in allow.split(", ")],
)
def test_a_method_that_is_not_there_names_those_that_are(world: World, method: str, path: str, allow: str) -> None:
    answer = world.call(method, path, key=None)
    assert (answer.status, answer.code, answer.headers["allow"]) == (405, "method_not_allowed", allow)
    assert answer.details == {"allow": allow.split(", ")}


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/mine.draft", "/v1/openapi.json", "/v1/models/mine.absent"])
def test_head_is_get_without_the_body(world: World, path: str) -> None:
    read, head = world.call("GET", path), world.call("HEAD", path)
    assert (head.status, head.text) == (read.status, "")
    assert {**head.headers, "x-request-id": "", "date": ""} == {**read.headers, "x-request-id": "", "date": ""}


def test_head_needs_a_key_as_get_does(world: World) -> None:
    assert world.call("HEAD", "/v1/models", key=None).status == 401
    assert world.call("HEAD", "/v1/models/mine.draft/score").status == 405


def test_a_request_id_of_the_callers_is_not_taken(world: World) -> None:
    for path in ("/v1/models", "/v1/nothing"):
        answer = world.call("GET", path, headers={"X-Request-Id": "req_mine"})
        assert answer.headers.get_list("x-request-id") != ["req_mine"]
        assert len(answer.headers.get_list("x-request-id")) == 1


def test_names_in_paths_may_hold_anything(world: World) -> None:
    base = "/v1/models/mine.names/traits"
    world.call("POST", "/v1/models", json={"handle": "mine.names"})
    names = ["Pro/Con", "50% more?", "a#b&c=d", "..", "Größe \U0001f600", "x%2Fy", "a+b"]
    sent = [{"name": name, "key": f"key-{index}"} for index, name in enumerate(names)]
    assert world.call("POST", base, json={"traits": sent}).status == 200
    for index, quoted in enumerate(
        ["Pro%2fCon", "50%25%20more%3F", "a%23b%26c%3Dd", "%2E%2E", "Gr%C3%B6%C3%9Fe%20%F0%9F%98%80", "x%252Fy", "a+b"]
    ):
        assert world.call("GET", f"{base}/{quoted}").body["key"] == f"key-{index}"
        assert world.call("GET", f"{base}/key-{index}").body["name"] == names[index]
    for absent in ("Pro%00Con", "Pro", "x%2Fy", "%ff"):
        assert world.call("GET", f"{base}/{absent}").code == "trait_not_found"
