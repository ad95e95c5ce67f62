"""Who may do what, as a table: operation x kind of key x whose namespace. And what is never told.

See core/docs/contract.md, section 3.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from tests.contract.access import FEEDBACK, HIDDEN, NAMESPACE, OK, SCOPE, TABLE
from tests.contract.declared import DECLARED, LOCAL, OPEN, request
from tests.contract.world import Answer, World, signed
from traitbench.contract.operation import Operation
from traitbench.operations import keys

HANDLES = ["mine.ready", "demo.ready", "other.ready", "mine.blank", "demo.blank", "other.blank"]
CASES = [
    pytest.param(operation, key, handle, expected, id=f"{operation.name}-{key}-{handle}")
    for operations, key, columns in TABLE
    for operation in operations
    for handle, expected in zip(HANDLES, columns, strict=True)
    if expected is not None
]


def ask(world: World, operation: Operation[Any], handle: str, key: str | None) -> Answer:
    method, path, body = request(operation, handle)
    return world.call(method, path, key=key, json=body, headers={"Accept": operation.offers[0]})


@pytest.mark.parametrize(("operation", "key", "handle", "expected"), CASES)
def test_the_table(world: World, operation: Operation[Any], key: str, handle: str, expected: tuple[int, str]) -> None:
    answer = ask(world, operation, handle, key)
    assert (answer.status, answer.code) == expected


@pytest.mark.parametrize("key", ["authoring", "scoring"])
@pytest.mark.parametrize(
    ("namespace", "expected"),
    [(None, OK), ("mine", OK), ("demo", NAMESPACE), ("other", NAMESPACE), ("gone", NAMESPACE)],
)
def test_listing(world: World, key: str, namespace: str | None, expected: tuple[int, str]) -> None:
    answer = world.call("GET", "/v1/models", key=key, params={} if namespace is None else {"namespace": namespace})
    assert (answer.status, answer.code) == expected


@pytest.mark.parametrize("key", ["authoring", "scoring"])
@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize(("handle", "expected"), [*zip(HANDLES, [OK, OK, HIDDEN, HIDDEN, HIDDEN, HIDDEN], strict=True)])
def test_versions_are_compared_by_whom_may_score_both(
    world: World, key: str, side: str, handle: str, expected: tuple[int, str]
) -> None:
    body = {"a": "mine.ready@v1", "b": "mine.ready@v1", side: handle}
    answer = world.call("POST", "/v1/versions/compare", key=key, json=body)
    assert (answer.status, answer.code) == expected
    if expected != OK:
        assert answer.details["side"] == side


@pytest.mark.parametrize(
    ("key", "handle", "expected"),
    [
        ("authoring", "mine.ready", OK),
        ("authoring", "demo.ready", NAMESPACE),
        ("authoring", "other.ready", HIDDEN),
        ("scoring", "mine.ready", SCOPE),
    ],
)
def test_what_moved_a_text_is_told_to_whom_may_list_the_samples_of_both(
    world: World, key: str, handle: str, expected: tuple[int, str]
) -> None:
    body = {"a": "mine.ready", "b": handle, "texts": ["a text"], "explain": True}
    answer = world.call("POST", "/v1/versions/compare", key=key, json=body)
    assert (answer.status, answer.code) == expected


@pytest.mark.parametrize("way", ["create", "import", "fork"])
@pytest.mark.parametrize(
    ("key", "handle", "expected"),
    [
        ("scoring", "mine.new", SCOPE),
        ("scoring", "other.new", SCOPE),
        ("authoring", "demo.new", NAMESPACE),
        ("authoring", "demo.ready", NAMESPACE),
        ("authoring", "other.new", NAMESPACE),
        ("authoring", "other.ready", NAMESPACE),
        ("authoring", "mine.ready", (409, "handle_taken")),
    ],
)
def test_making(world: World, way: str, key: str, handle: str, expected: tuple[int, str]) -> None:
    if way == "create":
        answer = world.call("POST", "/v1/models", key=key, json={"handle": handle})
    elif way == "fork":
        answer = world.call("POST", "/v1/models/mine.ready/fork", key=key, json={"handle": handle})
    else:
        bundle = signed(world.bundles["ready"])
        answer = world.call("POST", "/v1/models/import", key=key, params={"handle": handle}, json=bundle)
    assert (answer.status, answer.code) == expected


@pytest.mark.parametrize(
    ("key", "handle", "expected"),
    [
        ("scoring", "mine.draft", SCOPE),
        ("authoring", "demo.ready", NAMESPACE),
        ("authoring", "other.ready", NAMESPACE),
        ("authoring", "other.blank", NAMESPACE),
        ("authoring", "mine.blank", HIDDEN),
        ("authoring", "Mine", (422, "invalid_handle")),
        ("authoring", "mine.ready@v1", (422, "invalid_handle")),
        ("authoring", "mine.draft", (409, "model_not_trained")),
        ("authoring", "mine.busy", (409, "model_busy")),
        ("authoring", "mine.archived", (409, "model_archived")),
    ],
)
def test_which_model_may_be_promoted(world: World, key: str, handle: str, expected: tuple[int, str]) -> None:
    answer = world.call("POST", "/v1/models/mine.ready/promote", key=key, json={"from": handle})
    assert (answer.status, answer.code) == expected


@pytest.mark.parametrize("key", ["authoring", "scoring"])
def test_any_key_may_extract(world: World, key: str) -> None:
    answer = world.call("POST", "/v1/extract", key=key, json={"url": "https://nowhere.example/"})
    assert (answer.status, answer.code) == (422, "url_not_fetchable")


@pytest.mark.parametrize(("key", "expected"), [(None, OK), ("authoring", OK), ("scoring", SCOPE)])
@pytest.mark.parametrize("proxied", [{}, {"X-Forwarded-For": "127.0.0.1"}, {"Forwarded": "for=[::1]"}])
def test_metrics(world: World, key: str | None, expected: tuple[int, str], proxied: dict[str, str]) -> None:
    answer = world.call("GET", "/v1/metrics", key=key, headers=proxied)
    anonymous = (401, "unauthenticated")
    assert (answer.status, answer.code) == (anonymous if proxied and key is None else expected)


@pytest.fixture(scope="module")
def revoked(world: World) -> str:
    secret = world.issue("authoring", "mine", "demo")
    assert world.context is not None
    keys.revoke(world.context.engine, keys.every(world.context.engine).items()[-1].id)
    return secret


@pytest.mark.parametrize("operation", sorted(name for name in DECLARED if name.split()[1] not in OPEN))
def test_every_operation_needs_a_key_that_is_good(world: World, revoked: str, operation: str) -> None:
    method, path = operation.split()
    path = re.sub(r"\{\w+\}", "x", path.replace("{handle}", "mine.ready"))
    keys_given = (revoked, "tba_nobody") if path in LOCAL else (None, revoked, "tba_nobody")
    answers = [world.call(method, path, key=key) for key in keys_given]
    assert {(answer.status, answer.code) for answer in answers} == {(401, "unauthenticated")}
    assert len({seen_by_caller(answer, "") for answer in answers}) == 1


HIDING = [
    pytest.param(operation, key, id=f"{operation.name}-{key}")
    for operations, key, _ in TABLE
    for operation in operations
    if operations is not FEEDBACK or key == "authoring"
]


@pytest.mark.parametrize(("operation", "key"), HIDING)
def test_nothing_tells_whether_a_foreign_model_exists(world: World, operation: Operation[Any], key: str) -> None:
    """The same bytes but for name and request id, and the same questions to the database, in the same number."""
    results = []
    for handle in ("other.ready", "other.blank"):
        with questions(world) as asked_of_the_store:
            answer = ask(world, operation, handle, key)
        results.append((seen_by_caller(answer, handle), asked_of_the_store))
    assert results[0] == results[1]


def seen_by_caller(answer: Answer, handle: str) -> tuple[int, str, str]:
    """All that an answer tells, its id and the name that was asked for left out."""
    headers = sorted((name, value) for name, value in answer.headers.items() if name not in ("x-request-id", "date"))
    text = answer.text.replace(answer.headers["x-request-id"], "")
    return answer.status, str(headers), text.replace(handle, "") if handle else text


@contextmanager
def questions(world: World) -> Iterator[list[str]]:
    """What the store is asked meanwhile; of the key it is asked now and then, whatever it opens."""
    results: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        if statement.lstrip().upper().startswith("SELECT") and "FROM tb_keys" not in statement:
            results.append(statement)

    assert world.context is not None
    event.listen(world.context.engine, "before_cursor_execute", note)
    try:
        yield results
    finally:
        event.remove(world.context.engine, "before_cursor_execute", note)


def test_listing_without_a_namespace_is_the_public_ones(world: World) -> None:
    for key in ("authoring", "scoring"):
        answer = world.call("GET", "/v1/models", key=key)
        assert [model["handle"] for model in answer.body["items"]] == ["demo.ready"]


def test_archived_models_are_listed_only_when_asked_for(world: World) -> None:
    def listed(**query: str) -> list[str]:
        answer = world.call("GET", "/v1/models", params={"namespace": "mine", **query})
        return [model["handle"] for model in answer.body["items"]]

    assert "mine.archived" not in listed()
    assert "mine.archived" in listed(state="archived")
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
