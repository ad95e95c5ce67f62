"""Success codes and headers (CONTRACT 1, 5), and what an answer's media type is."""

from typing import Any

from core.barchart import draw
from core.contract.scores import Card
from tests.contract.world import World


def test_the_codes_along_the_life_of_a_model(world: World) -> None:
    created = world.call("POST", "/v1/models", json={"handle": "mine.life"})
    assert (created.status, created.body["state"]) == (201, "draft")
    base = "/v1/models/mine.life"
    assert world.call("GET", base).status == 200
    assert world.call("PATCH", base, json={"description": "Its life."}).body["description"] == "Its life."

    traits = [{"name": "Tone"}, {"name": "Pro/Con", "key": "pro-con"}]
    added = world.call("POST", f"{base}/traits", json={"traits": traits})
    assert (added.status, [trait["key"] for trait in added.body["traits"]]) == (200, ["tone", "pro-con"])
    assert world.call("POST", f"{base}/traits", json={"traits": traits}).status == 200
    assert world.call("PATCH", f"{base}/traits/Tone", json={"name": "Warmth"}).body["traits"][0]["key"] == "tone"
    assert world.call("GET", f"{base}/traits/Warmth").body["key"] == "tone"
    assert world.call("DELETE", f"{base}/traits/Pro%2FCon").body == {"handle": "mine.life", "deleted": True}

    samples = [{"trait": "Warmth", "text": f"text {index}", "quality": index % 2} for index in range(4)]
    sent = world.call("POST", f"{base}/samples", json={"samples": samples})
    assert (sent.status, sent.body["ids"]) == (200, sorted(sent.body["ids"]))
    assert world.call("DELETE", f"{base}/samples/{sent.body['ids'][0]}").status == 200

    started = world.call("POST", f"{base}/train", json={"effort": "low"})
    assert (started.status, started.body["state"]) == (202, "busy")
    assert started.headers["x-run-id"] == started.body["run_id"]
    again = world.call("POST", f"{base}/train", json={"effort": "low"})
    assert (again.status, again.body) == (202, started.body)
    other = world.call("POST", f"{base}/train", json={"effort": "max"})
    assert (other.status, other.code, other.headers["x-run-id"]) == (409, "model_busy", started.body["run_id"])

    for _ in range(2):
        assert world.call("DELETE", base).body == {"handle": "mine.life", "deleted": True}
    assert world.call("GET", base).body["state"] == "archived"


def test_a_train_of_a_ready_model_is_a_no_op(world: World) -> None:
    for request in ({}, {"json": {}}, {"json": {"effort": None, "reoptimize_params": False}}, {"raw": b""}):
        answer = world.call("POST", "/v1/models/mine.ready/train", **request)
        assert (answer.status, answer.body) == (200, {"state": "ready", "run_id": None})
        assert "x-run-id" not in answer.headers


def test_the_codes_of_versions_and_tags(world: World) -> None:
    base = "/v1/models/mine.ready/versions"
    for _ in range(2):
        tagged = world.call("POST", f"{base}/best.one")
        assert (tagged.status, tagged.body) == (201, {"handle": "mine.ready", "tag": "best.one", "version_no": 1})
    assert world.call("GET", f"{base}/best.one").body["tags"] == ["best.one"]
    assert world.call("GET", "/v1/models/mine.ready").body["version_tags"] == ["best.one"]
    for body in ({"version": "v1"}, {"tag": "best.one"}):
        active = world.call("PUT", f"{base}/active", json=body)
        assert (active.status, active.body) == (200, {"handle": "mine.ready", "version_no": 1})
    untagged = world.call("DELETE", f"{base}/best.one")
    assert untagged.body == {"handle": "mine.ready", "tag": "best.one", "deleted": True}


def test_values_equal_to_the_default_of_what_is_not_offered_change_nothing(world: World) -> None:
    defaults = {"zero_data_retention": False, "version_retention_policy": None}
    assert world.call("PATCH", "/v1/models/mine.draft", json=defaults).status == 200
    answer = world.call("POST", "/v1/models/mine.ready/score", json={"content": "x", "feedback": None, "traits": None})
    assert answer.status == 200


def test_a_text_is_scored_the_same_however_it_is_sent(world: World) -> None:
    text = 'Ein schöner Tag, "sehr" warm \U0001f600\nund hell'
    plain = {"content": text.encode(), "headers": {"Content-Type": "text/plain"}}
    charset = {"content": text.encode(), "headers": {"Content-Type": 'Text/Plain; charset="UTF-8"'}}
    pinned = "/v1/models/mine.ready@v1/score"
    answers = [
        world.call("POST", "/v1/models/mine.ready/score", json={"content": text}),
        world.call("POST", "/v1/models/mine.ready/score", **plain),
        world.call("POST", "/v1/models/mine.ready/score", **charset),
        world.call("POST", pinned, json={"content": text, "traits": ["Tone"]}),
    ]
    for answer in answers:
        assert answer.status == 200
        assert answer.body["metadata"].pop("request_id") == answer.headers["x-request-id"]
    assert all(answer.body == answers[0].body for answer in answers)


def test_a_card_drawn_is_the_card_sent(world: World) -> None:
    request: dict[str, Any] = {"json": {"content": "A joy to read"}}
    card = world.call("POST", "/v1/models/mine.ready/score", **request)
    chart = world.call("POST", "/v1/models/mine.ready/score", headers={"Accept": "text/plain"}, **request)
    assert chart.headers["content-type"] == "text/plain; charset=utf-8"
    assert chart.text == draw(Card.model_validate(card.body))


def test_an_error_is_json_whatever_is_accepted(world: World) -> None:
    answer = world.call("POST", "/v1/models/mine.draft/score", json={"content": "x"}, headers={"Accept": "text/plain"})
    assert (answer.status, answer.headers["content-type"]) == (409, "application/json")
