"""Who may do what (CONTRACT 3), as a table: operation x kind of key x whose namespace."""

from typing import Any

import pytest

from tests.contract.world import World

OK = (200, "")
SCOPE = (403, "insufficient_scope")
NAMESPACE = (403, "namespace_forbidden")
HIDDEN = (404, "model_not_found")

TEXT = {"content": "a text"}
READS = [
    ("GET", "/v1/models/{}", None),
    ("GET", "/v1/models/{}/traits", None),
    ("GET", "/v1/models/{}/traits/tone", None),
    ("GET", "/v1/models/{}/versions", None),
    ("GET", "/v1/models/{}/versions/v1", None),
    ("POST", "/v1/models/{}/score", TEXT),
]
SAMPLES = [("GET", "/v1/models/{}/samples", None)]
WRITES = [
    ("PATCH", "/v1/models/{}", {}),
    ("DELETE", "/v1/models/{}", None),
    ("POST", "/v1/models/{}/train", {}),
    ("POST", "/v1/models/{}/traits", {"traits": [{"name": "x"}]}),
    ("PATCH", "/v1/models/{}/traits/tone", {}),
    ("DELETE", "/v1/models/{}/traits/tone", None),
    ("POST", "/v1/models/{}/samples", {"samples": [{"trait": "tone", "text": "x", "quality": 1}]}),
    ("DELETE", "/v1/models/{}/samples/1", None),
    ("POST", "/v1/models/{}/versions/best", None),
    ("DELETE", "/v1/models/{}/versions/best", None),
    ("PUT", "/v1/models/{}/versions/active", {"version": "v1"}),
]
FEEDBACK = [("POST", "/v1/models/{}/score", {**TEXT, "feedback": {"tone": 1}})]

# Rows: operations and key. Columns: an owned, a public, a foreign model; then one that is not there, the same.
TABLE: list[tuple[list[tuple[str, str, Any]], str, list[tuple[int, str] | None]]] = [
    (READS, "authoring", [OK, OK, HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
    (READS, "scoring", [OK, OK, HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
    (SAMPLES, "authoring", [OK, NAMESPACE, HIDDEN, HIDDEN, NAMESPACE, HIDDEN]),
    (SAMPLES, "scoring", [SCOPE] * 6),
    (WRITES, "authoring", [None, NAMESPACE, NAMESPACE, HIDDEN, NAMESPACE, NAMESPACE]),
    (WRITES, "scoring", [SCOPE] * 6),
    (FEEDBACK, "authoring", [(409, "feature_unavailable"), NAMESPACE, HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
    (FEEDBACK, "scoring", [SCOPE, SCOPE, HIDDEN, HIDDEN, HIDDEN, HIDDEN]),
]
HANDLES = ["mine.ready", "demo.ready", "other.ready", "mine.absent", "demo.absent", "other.absent"]
CASES = [
    pytest.param(method, path.format(handle), body, key, expected, id=f"{key}-{method}-{path.format(handle)}")
    for operations, key, columns in TABLE
    for method, path, body in operations
    for handle, expected in zip(HANDLES, columns, strict=True)
    if expected is not None
]


@pytest.mark.parametrize(("method", "path", "body", "key", "expected"), CASES)
def test_the_table(world: World, method: str, path: str, body: Any, key: str, expected: tuple[int, str]) -> None:
    answer = world.call(method, path, key=key, json=body)
    assert (answer.status, answer.code) == expected


@pytest.mark.parametrize("key", ["authoring", "scoring"])
@pytest.mark.parametrize(
    ("namespace", "expected"),
    [(None, OK), ("mine", OK), ("demo", NAMESPACE), ("other", NAMESPACE), ("gone", NAMESPACE)],
)
def test_listing(world: World, key: str, namespace: str | None, expected: tuple[int, str]) -> None:
    answer = world.call("GET", "/v1/models", key=key, params={} if namespace is None else {"namespace": namespace})
    assert (answer.status, answer.code) == expected


@pytest.mark.parametrize(
    ("key", "handle", "expected"),
    [
        ("scoring", "mine.new", SCOPE),
        ("scoring", "other.new", SCOPE),
        ("authoring", "demo.new", NAMESPACE),
        ("authoring", "other.new", NAMESPACE),
        ("authoring", "mine.draft", (409, "handle_taken")),
    ],
)
def test_creating(world: World, key: str, handle: str, expected: tuple[int, str]) -> None:
    answer = world.call("POST", "/v1/models", key=key, json={"handle": handle})
    assert (answer.status, answer.code) == expected


def test_listing_without_a_namespace_is_the_public_ones(world: World) -> None:
    for key in ("authoring", "scoring"):
        answer = world.call("GET", "/v1/models", key=key)
        assert [model["handle"] for model in answer.body["items"]] == ["demo.ready"]


def test_archived_models_are_listed_only_when_asked_for(world: World) -> None:
    def listed(**query: str) -> list[str]:
        answer = world.call("GET", "/v1/models", params={"namespace": "mine", **query})
        return [model["handle"] for model in answer.body["items"]]

    assert "mine.archived" not in listed()
    assert listed(state="archived") == ["mine.archived"]
    assert listed(state="busy") == ["mine.busy"]
    assert listed(state="failed") == ["mine.failed"]
    assert listed(kind="scoring") == listed()


@pytest.mark.parametrize(
    ("key", "handle", "shown"),
    [
        ("authoring", "mine.ready", True),
        ("scoring", "mine.ready", False),
        ("authoring", "demo.ready", False),
        ("scoring", "demo.ready", False),
    ],
)
def test_the_snapshot_is_for_authoring_keys_that_own_the_namespace(
    world: World, key: str, handle: str, shown: bool
) -> None:
    for name in ("v1", "active"):
        assert ("snapshot" in world.call("GET", f"/v1/models/{handle}/versions/{name}", key=key).body) is shown
    (listed,) = world.call("GET", f"/v1/models/{handle}/versions", key=key).body["items"]
    assert "snapshot" not in listed


@pytest.mark.parametrize("path", ["/v1/health", "/v1/openapi.json", "/v1/docs"])
@pytest.mark.parametrize("key", [None, "nobody"])
def test_the_open_routes_look_at_no_key(world: World, path: str, key: str | None) -> None:
    assert world.call("GET", path, key=key).status in (200, 503)
