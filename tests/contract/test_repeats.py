"""Repeated requests (core/docs/contract.md, section 1): one key has one effect and one answer."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.conftest import not_none
from tests.contract.declared import request
from tests.contract.world import Answer, World, signed
from traitbench.contract import operations
from traitbench.contract.operation import Operation
from traitbench.contract.operations import ALL, ROUTES
from traitbench.operations import repeats, rules
from traitbench.store.database import reading
from traitbench.store.tables import metadata

SAMPLE = {"trait": "tone", "text": "Do come in", "quality": 1.0}
ELSEWHERE = {"tb_keys", "tb_workers"}  # written by the clock

Case = tuple[str, Any]


def send(world: World, path: str, body: Any = None, *, key: str, **more: Any) -> Answer:
    headers = {"Idempotency-Key": key, **more.pop("headers", {})}
    return world.call("POST", path, headers=headers, **({} if body is None else {"json": body}), **more)


def rows(world: World) -> Mapping[str, list[Any]]:
    with reading(not_none(world.context).engine) as connection:
        tables = [each for each in metadata.sorted_tables if each.name not in ELSEWHERE]
        return {each.name: [tuple(row) for row in connection.execute(each.select())] for each in tables}


def _added(world: World, handle: str) -> Any:
    return world.call("POST", f"/v1/models/{handle}/samples", json={"samples": [SAMPLE]}).body


def _import(world: World, handle: str) -> Case:
    return f"/v1/models/import?handle={handle}-in", signed(world.bundles["draft"])


def _restore(world: World, handle: str) -> Case:
    assert world.call("DELETE", f"/v1/models/{handle}").status == 200
    return f"/v1/models/{handle}/restore", None


def _retrain(world: World, handle: str) -> Case:
    for _ in range(2):
        world.call("POST", f"/v1/models/{handle}/score", json={"content": "So good", "feedback": {"tone": 1}})
    return f"/v1/models/{handle}/retrain", None


def _promote(world: World, handle: str) -> Case:
    assert world.call("POST", f"/v1/models/{handle}/fork", json={"handle": f"{handle}-f"}).status == 201
    assert world.call("POST", f"/v1/models/{handle}-f/train", json={"effort": "low"}).status == 202
    world.run(f"{handle}-f")
    return f"/v1/models/{handle}/promote", {"from": f"{handle}-f"}


def _apply(_: World, handle: str) -> Case:
    return f"/v1/models/{handle}/samples/changes", {"adds": [SAMPLE]}


def _undo(world: World, handle: str) -> Case:
    return f"/v1/models/{handle}/samples/changes/{_added(world, handle)['change_id']}/undo", None


def _delete_many(world: World, handle: str) -> Case:
    return f"/v1/models/{handle}/samples/delete", {"ids": _added(world, handle)["ids"]}


def _discover(world: World, handle: str) -> Case:
    return f"/v1/models/{handle}/traits/discover", {"texts": [f"A text about thing {each}" for each in range(20)]}


# Which model a request is for, and the request where it is not the one of `declared`.
CASES: Mapping[Operation[Any], tuple[str, Callable[[World, str], Case] | None]] = {
    operations.MODELS_CREATE: ("draft", lambda world, handle: ("/v1/models", {"handle": f"{handle}-new"})),
    operations.MODELS_IMPORT: ("draft", _import),
    operations.MODELS_RESTORE: ("draft", _restore),
    operations.MODELS_TRAIN: ("draft", None),
    operations.MODELS_RETRAIN: ("ready", _retrain),
    operations.MODELS_FORK: ("ready", lambda world, handle: (f"/v1/models/{handle}/fork", {"handle": f"{handle}-f"})),
    operations.MODELS_PROMOTE: ("ready", _promote),
    operations.TRAITS_ADD: ("draft", None),
    operations.TRAITS_DISCOVER: ("draft", _discover),
    operations.SAMPLES_ADD: ("draft", None),
    operations.SAMPLES_APPLY: ("draft", _apply),
    operations.SAMPLES_UNDO: ("draft", _undo),
    operations.SAMPLES_DELETE_MANY: ("draft", _delete_many),
    operations.SAMPLES_SYNTHESIZE: ("draft", None),
    operations.TEXTS_ADD: ("draft", None),
    operations.VERSIONS_TAG: ("ready", None),
    operations.SCORES_FEEDBACK: ("ready", None),
}  # fmt: skip


def test_every_post_that_writes_takes_a_key_and_is_here() -> None:
    writes = {each for each in ALL if each.rule.reach == "write" and each.method == "POST"}
    assert writes == CASES.keys()
    assert {each.within or each for each in writes} == {each for each in ROUTES.values() if each.takes_key}


@pytest.mark.parametrize("operation", CASES, ids=lambda each: each.name)
def test_a_repeat_has_no_effect_and_the_first_answer(world: World, operation: Operation[Any]) -> None:
    state, case = CASES[operation]
    handle = world.bring_in(f"mine.rep-{operation.name.replace('.', '-').replace('_', '-')}", world.bundles[state])
    _, path, body = request(operation, handle)
    if case is not None:
        path, body = case(world, handle)
    key = str(uuid4())
    first = send(world, path, body, key=key)
    assert first.status in operation.statuses, first.text
    before = rows(world)
    again = send(world, path, body, key=key)
    assert rows(world) == before
    for answer in (first, again):
        identity = answer.headers["x-request-id"]
        if operation is operations.SCORES_FEEDBACK:
            assert answer.body["metadata"]["request_id"] == identity
            answer.body["metadata"].pop("request_id")
        else:
            assert identity not in answer.text
    assert (again.status, again.body) == (first.status, first.body)
    for header in ("content-type", "x-run-id"):
        assert again.headers.get(header) == first.headers.get(header)


def test_a_key_belongs_to_one_request(world: World) -> None:
    """Of one API key on one route: another body, query or form of the answer is a conflict that changes nothing."""
    path = f"/v1/models/{world.bring_in('mine.rep-other', world.bundles['ready'])}/score"
    body, key = {"content": "Do come in", "feedback": {"tone": 1}}, str(uuid4())
    first = send(world, path, body, key=key)
    before = rows(world)
    others: list[dict[str, Any]] = [
        {"body": {**body, "feedback": {"tone": 0}}},
        {"body": body, "headers": {"Accept": "text/plain"}},
    ]
    for other in others:
        answer = send(world, path, key=key, **other)
        assert (answer.status, answer.code) == (409, "idempotency_conflict")
    assert rows(world) == before
    for caller, other_key in (("authoring", str(uuid4())), ("maker", key)):
        answer = world.call("POST", path, key=caller, json=body, headers={"Idempotency-Key": other_key})
        assert answer.body["metadata"]["sample_ids"] != first.body["metadata"]["sample_ids"]


def test_a_chart_is_repeated_as_a_chart(world: World) -> None:
    path = f"/v1/models/{world.bring_in('mine.rep-chart', world.bundles['ready'])}/score"
    body, key = {"content": "So good", "feedback": {"tone": 1}}, str(uuid4())
    first, again = (send(world, path, body, key=key, headers={"Accept": "text/plain"}) for _ in range(2))
    assert first.text == again.text
    assert first.headers["content-type"] == again.headers["content-type"] == "text/plain; charset=utf-8"


def test_what_failed_or_wrote_nothing_is_carried_out_again(world: World) -> None:
    path, key = f"/v1/models/{world.make('mine.rep-failed', samples=False)}", str(uuid4())
    assert send(world, f"{path}/train", {}, key=key).code == "insufficient_samples"
    _fill(world, path)
    assert send(world, f"{path}/train", {}, key=key).status == 202
    score = "/v1/models/mine.ready/score"
    cards = [send(world, score, {"content": text}, key=key) for text in ("So good", "So bad")]
    assert cards[0].body["scores"] != cards[1].body["scores"], "a score alone is not stored"


def _fill(world: World, path: str) -> None:
    samples = [{**SAMPLE, "text": f"{SAMPLE['text']} {each}", "quality": each % 2} for each in range(4)]
    assert world.call("POST", f"{path}/samples", json={"samples": samples}).status == 200


@pytest.mark.parametrize("keys", [[""], ["x" * 256], ["a b"], ["\xe9"], ["one", "two"]], ids=str)
def test_a_key_that_is_none_is_refused(world: World, keys: list[str]) -> None:
    headers = [("Authorization", f"Bearer {world.secrets['authoring']}")]
    headers += [("Idempotency-Key", each.encode("latin-1")) for each in keys]  # type: ignore[misc]
    answer = httpx.post(f"{world.base_url}/v1/models", json={"handle": "mine.rep-none"}, headers=headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "invalid_parameter")
    assert error["details"] == {"parameter": "Idempotency-Key", "max_length": 255}


def test_an_answer_is_given_for_a_day(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    path, key = f"/v1/models/{world.make('mine.rep-day')}/samples", str(uuid4())
    body, now, engine = {"samples": [SAMPLE]}, rules.now(), not_none(world.context).engine
    first = send(world, path, body, key=key)
    repeats.sweep(engine)
    assert send(world, path, body, key=key).body == first.body
    monkeypatch.setattr(rules, "now", lambda: now + repeats.ANSWERED_FOR * 1.01)
    second = send(world, path, body, key=key)
    assert second.body["ids"] > first.body["ids"], "carried out again"
    repeats.sweep(engine)
    assert len(rows(world)["tb_answers"]) == 1
    assert send(world, path, body, key=key).body == second.body
