"""Success codes and headers (core/docs/contract.md, sections 1 and 5), and what an answer's media type is."""

import copy
import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.world import World
from traitbench.contract.scores import Card, Comparison
from traitbench.display.barchart import draw, draw_pair
from traitbench.scoring.snapshot import Snapshot, param_hash


def test_a_train_of_a_ready_model_is_a_no_op(world: World) -> None:
    full = {"effort": None, "reoptimize_params": False}
    requests: list[dict[str, Any]] = [{}, {"json": {}}, {"json": full}, {"raw": b""}]
    for request in requests:
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


def test_settings_of_a_model_are_changed_and_reset(world: World) -> None:
    path = f"/v1/models/{world.bring_in('mine.settings', world.bundles['ready'])}"
    changed = world.call("PATCH", path, json={"version_retention_policy": {"keep_unnamed": 7}})
    assert changed.body["version_retention_policy"] == {"keep_unnamed": 7, "keep_first_of_month": True}
    assert world.call("PATCH", path, json={"version_retention_policy": None}).body["version_retention_policy"] is None
    assert world.call("PATCH", path, json={"zero_data_retention": True}).body["zero_data_retention"] is True
    assert world.call("GET", f"{path}/samples").body["items"] == []
    assert world.call("PATCH", path, json={"zero_data_retention": None}).body["zero_data_retention"] is False
    assert world.call("GET", path).body["state"] == "ready"


def test_feedback_answers_with_the_samples_it_has_become(world: World) -> None:
    path = f"/v1/models/{world.bring_in('mine.fed', world.bundles['ready'])}"
    body = {"content": "I like it here", "feedback": {"Tone": "good"}}
    plain = world.call("POST", f"{path}/score", json={**body, "feedback": None})
    answer = world.call("POST", f"{path}/score", json=body)
    (sample,) = world.call("GET", f"{path}/samples", params={"limit": 500}).body["items"][-1:]
    assert answer.body["metadata"]["sample_ids"] == [sample["id"]]
    assert (sample["text"], sample["quality"], sample["provenance"]) == (body["content"], 1.0, "score_feedback")
    assert answer.body["scores"] == plain.body["scores"]
    assert plain.body["metadata"]["sample_ids"] == []


def test_a_pair_compared_is_two_cards_of_one_request(world: World) -> None:
    request: dict[str, Any] = {"json": {"a": "A pain to read", "b": "A joy to read", "traits": ["Tone"]}}
    answer = world.call("POST", "/v1/models/mine.ready@v1/compare", **request)
    assert answer.status == 200
    for name, text in (("a", "A pain to read"), ("b", "A joy to read")):
        card = world.call("POST", "/v1/models/mine.ready/score", json={"content": text}).body
        card["metadata"]["request_id"] = answer.headers["x-request-id"]
        assert answer.body[name] == card
    a, b = (answer.body[name]["scores"]["tone"] for name in "ab")
    certain = answer.body["certain"]
    assert answer.body["per_trait"] == {"tone": {"a": a, "b": b, "delta": b - a, "certain": certain}}
    assert answer.body["improvement"] == b - a > 0
    assert certain is False, "few samples make no difference certain"


@pytest.mark.parametrize(("least", "verdict"), [(0.01, True), (9.0, False), (None, False)], ids=str)
def test_a_difference_is_certain_if_it_is_larger_than_the_version_needs(
    world: World, least: float | None, verdict: bool
) -> None:
    handle = f"mine.difference-{str(least).replace('.', '-').lower()}"
    bundle = copy.deepcopy(world.bundles["ready"])
    [version] = bundle["versions"]
    for axis in version["snapshot"]["traits"]:
        # Without samples by the dozen nothing is certain, so the version is given what many samples would prove.
        axis["certainty"] |= {"limit": None, "difference": least}
    version["param_hash"] = param_hash(Snapshot.from_json(version["snapshot"]))
    world.bring_in(handle, bundle)
    pair = {"a": "A pain to read", "b": "A joy to read"}
    answer = world.call("POST", f"/v1/models/{handle}/compare", json=pair).body
    assert (answer["per_trait"]["tone"]["certain"], answer["certain"]) == (verdict, verdict)
    same = world.call("POST", f"/v1/models/{handle}/compare", json={**pair, "b": pair["a"]}).body
    assert same["certain"] is False


@pytest.mark.parametrize(
    ("path", "body", "drawn"),
    [
        ("score", {"content": "A joy to read"}, lambda card: draw(Card.model_validate(card))),
        ("compare", {"a": "A pain", "b": "A joy"}, lambda pair: draw_pair(Comparison.model_validate(pair))),
    ],
)
def test_a_chart_draws_the_card_sent_as_json(world: World, path: str, body: Any, drawn: Callable[[Any], str]) -> None:
    path = f"/v1/models/mine.ready/{path}"
    chart = world.call("POST", path, json=body, headers={"Accept": "text/plain"})
    assert chart.headers["content-type"] == "text/plain; charset=utf-8"
    assert chart.text == drawn(world.call("POST", path, json=body).body)


def test_a_model_read_as_markdown_is_its_card(world: World) -> None:
    card = world.call("GET", "/v1/models/mine.ready", headers={"Accept": "text/markdown"})
    assert (card.status, card.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
    assert "mine.ready" in card.text
    assert "Tone" in card.text
    for accept in ("*/*", "application/json, text/markdown", "text/markdown;q=0.5, application/json"):
        model = world.call("GET", "/v1/models/mine.ready", headers={"Accept": accept})
        assert model.headers["content-type"] == "application/json"


def test_what_a_discovery_found_is_listed_with_its_figures(world: World) -> None:
    traits = world.call("GET", "/v1/models/mine.discovered/traits").body["traits"]
    results = [trait for trait in traits if trait["kind"] == "intrinsic"]
    assert [trait["key"] for trait in traits if trait not in results] == ["tone"]
    assert results
    for trait in results:
        assert 0.5 <= trait["discrimination"] <= 1.0
        assert trait["explained_variance"] > 0
        assert set(trait["anchor_sample_ids"]) == {"positive", "negative"}


def test_what_a_synthesis_wrote_is_there_and_says_so(world: World) -> None:
    samples = world.call("GET", "/v1/models/mine.synthesized/samples", params={"limit": 500}).body["items"]
    assert {sample["provenance"] for sample in samples} == {"authored", "synthesized"}


def test_a_text_is_scored_the_same_however_it_is_sent(world: World) -> None:
    text = 'Ein schöner Tag, "sehr" warm \U0001f600\nund hell'
    plain: dict[str, Any] = {"content": text.encode(), "headers": {"Content-Type": "text/plain"}}
    charset: dict[str, Any] = {"content": text.encode(), "headers": {"Content-Type": 'Text/Plain; charset="UTF-8"'}}
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


def test_reasons_come_with_the_card_when_they_are_asked_for(world: World) -> None:
    path, text = "/v1/models/mine.ready/score", "A joy to read. Dull, though, in the middle."
    plain = world.call("POST", path, json={"content": text}).body
    assert "explanation" not in plain
    for explain in (False, True):
        body = world.call("POST", path, json={"content": text, "explain": explain}).body
        explanation = body.pop("explanation", {})
        assert set(explanation) == (set(body["scores"]) if explain else set())
        assert body | {"metadata": {}} == plain | {"metadata": {}}
        for key, reasons in explanation.items():
            assert set(reasons) == {
                *("unit", "position", "baseline", "parts", "refined", "decided_by", "nearest", "note"),
            }
            total = math.fsum([reasons["baseline"], *(part["contribution"] for part in reasons["parts"])])
            assert abs(total - reasons["position"]) < 1e-9
            polarity = body["detail"][key]["native"]["polarity"]
            assert abs(math.tanh(reasons["position"] / 2) - polarity) < 1e-9
            assert all(set(part) == {"start", "end", "contribution", "pieces"} for part in reasons["parts"])
    for wrong in ("true", 1, None):
        answer = world.call("POST", path, json={"content": text, "explain": wrong})
        assert (answer.status, answer.code) == (422, "validation_failed")


def test_a_chart_has_no_place_for_reasons(world: World) -> None:
    path, headers = "/v1/models/mine.ready/score", {"Accept": "text/plain"}
    drawn = [
        world.call("POST", path, json={"content": "x", **asked}, headers=headers) for asked in ({}, {"explain": True})
    ]
    assert drawn[0].text == drawn[1].text


def test_an_error_is_json_whatever_is_accepted(world: World) -> None:
    answer = world.call("POST", "/v1/models/mine.draft/score", json={"content": "x"}, headers={"Accept": "text/plain"})
    assert (answer.status, answer.headers["content-type"]) == (409, "application/json")
