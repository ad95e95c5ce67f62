"""The judge of histories is tested: it reports each kind of broken promise, and nothing that may happen."""

from dataclasses import replace
from typing import Any

import pytest

from tests.contexts import ON_SQLITE
from tests.faults.history import Event, How, judge

pytestmark = ON_SQLITE

H = "local.a"


def event(op: str, at: float, answer: Any = None, *, asked: Any = None, how: How = "ok", last: float = 0.5) -> Event:
    return Event(op, H, at, at + last, how, asked or {}, answer or {})


def got(
    at: float,
    state: str,
    run: str | None,
    status: str,
    *,
    kind: str = "train",
    version: int | None = None,
    code: str = "",
    handle: str = H,
) -> Event:
    error = {"code": code} if code else None
    last = run and {"run_id": run, "status": status, "kind": kind, "error": error}
    return Event("get", handle, at, at + 0.1, "ok", {}, {"state": state, "version_no": version, "last_operation": last})


def added(at: float, ids: list[int], texts: list[str], how: How = "ok") -> Event:
    return event("add samples", at, {"ids": ids} if how == "ok" else {}, asked={"texts": texts}, how=how)


def listed(at: float, **items: int) -> Event:
    return event("samples", at, {"items": [{"id": number, "text": text} for text, number in items.items()]})


def versions(at: float, *items: tuple[int, str, str | None]) -> Event:
    return event(
        "versions",
        at,
        {"items": [dict(zip(("version_no", "param_hash", "run_id"), each, strict=True)) for each in items]},
    )


def trained(at: float, run: str) -> Event:
    return event("train", at, {"run_id": run})


def scored(at: float, card: str, text: str = "t", version: str = "v1") -> Event:
    return event("score", at, {"version": version, "card": card}, asked={"text": text})


def put(at: float, value: str | None, how: How = "ok", last: float = 0.5) -> Event:
    return event("set", at, asked={"name": "tag best", "value": value}, how=how, last=last)


def read(at: float, value: str | None) -> Event:
    return event("read", at, {"value": value}, asked={"name": "tag best"})


def key(op: str, at: float, accepted: bool = True, how: How = "ok") -> Event:
    return Event(op, "", at, at + 0.1, how, {"id": "key_1"}, {"accepted": accepted})


CREATED = event("create", 0)
VALID = {
    "nothing": [],
    "a life": [
        CREATED,
        added(1, [1, 2], ["a", "b"]),
        trained(2, "run_1"),
        got(3, "busy", "run_1", "queued"),
        got(4, "busy", "run_1", "running"),
        got(5, "ready", "run_1", "succeeded", version=1),
        scored(6, "card"),
        scored(7, "card"),
        scored(7, "another", version="v2"),
        versions(8, (1, "h1", "run_1")),
        listed(9, a=1, b=2),
    ],
    "an unanswered addition that was made": [added(1, [], ["a"], "unknown"), listed(9, a=1)],
    "an unanswered addition that was not made": [added(1, [], ["a"], "unknown"), listed(9)],
    "an unanswered removal": [
        added(1, [1], ["a"]),
        event("remove sample", 2, asked={"id": 1}, how="unknown"),
        listed(9, a=1),
    ],
    "a removal": [added(1, [1], ["a"]), event("remove sample", 2, asked={"id": 1}), listed(9)],
    "an addition while it was listed": [listed(1), added(1.2, [1], ["a"])],
    "the same text twice, sent twice": [
        added(1, [1, 2], ["a", "a"]),
        event("samples", 9, {"items": [{"id": 1, "text": "a"}, {"id": 2, "text": "a"}]}),
    ],
    "one run after another": [
        got(1, "busy", "run_1", "running"),
        got(2, "ready", "run_1", "succeeded", version=1),
        got(3, "busy", "run_2", "running", kind="retune", version=1),
        got(4, "ready", "run_2", "succeeded", kind="retune", version=2),
    ],
    "a run that fails for a reason": [trained(1, "run_1"), got(2, "failed", "run_1", "failed", code="cancelled")],
    "a read beside a write": [put(1, "v1"), put(2, "v2", last=2.0), read(3, "v1"), read(3, "v2"), read(5, "v2")],
    "an unanswered write that comes late": [put(1, "v1"), put(2, "v2", "unknown"), read(3, "v1"), read(4, "v2")],
    "a tag that was removed": [put(1, "v1"), put(2, None), read(3, None)],
    "a tag that nobody has set": [read(3, None)],
    "keys": [key("issue key", 1), key("use key", 2), key("revoke key", 3), key("use key", 4, accepted=False)],
    "an unanswered revocation": [key("issue key", 1), key("revoke key", 2, how="unknown"), key("use key", 3)],
}
PLANTED = [
    ("lost", [CREATED, event("get", 2, {"missing": True})]),
    ("lost", [added(1, [1, 2], ["a", "b"]), listed(9, a=1)]),
    ("lost", [added(1, [1], ["a"]), listed(9, b=1)]),
    ("lost", [versions(1, (1, "h", None), (2, "i", None)), versions(2, (1, "h", None))]),
    ("lost", [trained(1, "run_1"), got(3, "ready", "run_2", "succeeded", version=1), versions(4, (1, "h", "run_2"))]),
    ("lost", [trained(1, "run_1"), got(3, "ready", "run_1", "succeeded", version=1), versions(4)]),
    ("doubled", [added(1, [1], ["a"]), event("samples", 9, {"items": [{"id": 1, "text": "a"}] * 2})]),
    ("doubled", [added(1, [1], ["a"]), event("samples", 9, {"items": [{"id": i, "text": "a"} for i in (1, 2)]})]),
    ("doubled", [added(1, [], ["a"], "refused"), listed(9, a=1)]),
    ("doubled", [added(1, [1], ["a"]), event("remove sample", 2, asked={"id": 1}), listed(9, a=1)]),
    ("versions", [versions(1, (1, "h", None), (3, "i", None))]),
    ("versions", [versions(1, (1, "h", None), (1, "i", None))]),
    ("versions", [versions(1, (2, "h", None))]),
    ("versions", [versions(1, (1, "h", "run_1"), (2, "i", "run_1"))]),
    ("versions", [versions(1, (1, "h", None)), versions(2, (1, "i", None))]),
    (
        "overlap",
        [got(1, "busy", "run_1", "running"), got(2, "busy", "run_2", "running"), got(3, "busy", "run_1", "running")],
    ),
    ("meaning", [got(1, "busy", "run_1", "running"), got(2, "busy", "run_1", "running", kind="discover")]),
    ("meaning", [got(1, "busy", "run_1", "running"), got(2, "busy", "run_1", "running", handle="local.b")]),
    ("meaning", [trained(1, "run_1"), got(2, "busy", "run_1", "running", handle="local.b")]),
    ("reopened", [got(1, "ready", "run_1", "succeeded", version=1), got(2, "busy", "run_1", "running", version=1)]),
    ("reopened", [got(1, "failed", "run_1", "failed", code="x"), got(2, "ready", "run_1", "succeeded", version=1)]),
    ("given up", [trained(1, "run_1"), got(2, "failed", "run_1", "failed", code="interrupted")]),
    ("scores", [scored(1, "card"), scored(2, "another")]),
    ("register", [put(1, "v1"), read(2, "v2")]),
    ("register", [put(1, "v1"), put(2, "v2"), read(3, "v1")]),
    ("register", [put(1, "v1"), put(2, None), read(3, "v1")]),
    ("register", [put(1, "v1"), read(3, None)]),
    ("register", [put(1, "v1", "refused"), read(3, "v1")]),
    ("register", [put(4, "v1"), read(2, "v1")]),
    ("state", [got(1, "busy", None, "")]),
    ("state", [got(1, "busy", "run_1", "succeeded")]),
    ("state", [got(1, "draft", "run_1", "running")]),
    ("state", [got(1, "ready", "run_1", "succeeded")]),
    ("state", [got(1, "draft", "run_1", "succeeded")]),
    ("key", [key("issue key", 1), key("use key", 2, accepted=False)]),
    ("key", [key("issue key", 1), key("revoke key", 2), key("use key", 3)]),
]


@pytest.mark.parametrize("name", VALID)
def test_what_may_happen_is_no_violation(name: str) -> None:
    assert judge(VALID[name]) == []


@pytest.mark.parametrize(("kind", "events"), PLANTED, ids=[f"{n}-{each[0]}" for n, each in enumerate(PLANTED)])
def test_a_planted_violation_is_found_alone_and_within_a_life(kind: str, events: list[Event]) -> None:
    assert kind in {violation.kind for violation in judge(events)}
    calm = [replace(each, handle="local.calm") for each in VALID["a life"]]
    result = judge([*calm, *events])
    assert kind in {violation.kind for violation in result}
    assert "local.calm" not in {violation.handle for violation in result if violation.kind != "meaning"}
