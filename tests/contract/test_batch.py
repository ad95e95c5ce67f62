"""Batches over the socket: a line for each text, what is on it, and what is wrong with one or with all.

See core/docs/contract.md, section 8.
"""

import json
from typing import Any

import pytest

from tests.contract.world import Answer, World

BATCH = "/v1/models/mine.ready/score/batch"
TEXTS = [
    "A joy to read",
    'Ein schöner Tag, "sehr" warm \U0001f600\nund hell',
    "Thank you.\n\nIt was cold, and nobody came. " * 30,
    "  A joy to read ",
    "x",
    "line\u2028separator",
    "1234 !!! ???",
]
REFUSED = {
    "": "validation_failed",
    " \n\t": "validation_failed",
    "a\x00b": "validation_failed",
    "half \ud800": "validation_failed",
    "https://nowhere.example/page": "url_not_fetchable",
    " http://127.0.0.1:8501/v1/health ": "url_not_fetchable",
}


def ask(world: World, contents: Any, path: str = BATCH, **fields: Any) -> Answer:
    return world.call("POST", path, json={"contents": contents, **fields})


def test_each_line_is_the_card_of_its_text_byte_for_byte(world: World) -> None:
    answer = ask(world, TEXTS)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/x-ndjson")
    lines = answer.text.split("\n")
    assert lines.pop() == ""
    for index, (text, line) in enumerate(zip(TEXTS, lines, strict=True)):
        card = world.call("POST", "/v1/models/mine.ready/score", json={"content": text})
        named = card.text.replace(card.headers["x-request-id"], answer.headers["x-request-id"])
        assert line == f'{{"index":{index},{named.removeprefix("{")}'


@pytest.mark.parametrize("path", [BATCH, "/v1/models/mine.ready@v1/score/batch", "/v1/models/demo.ready/score/batch"])
def test_the_traits_asked_for_are_on_the_line_and_no_others(world: World, path: str) -> None:
    (line,) = ask(world, ["A joy to read"], path, traits=["Tone"]).lines
    assert [*line["scores"]] == [*line["detail"]] == ["tone"]
    assert line["metadata"]["version_id"] == "v1"


def test_equal_texts_have_equal_lines_in_the_order_sent(world: World) -> None:
    contents = ["a", "b", "a", "", "b", "a", ""]
    lines = ask(world, contents).lines
    assert [line.pop("index") for line in lines] == [*range(7)]
    by_text = dict(zip(contents, lines, strict=True))
    assert lines == [by_text[text] for text in contents]
    assert by_text["a"] != by_text["b"]


@pytest.mark.parametrize(("text", "code"), REFUSED.items())
def test_a_bad_text_has_the_error_it_would_have_alone_and_its_neighbours_have_cards(
    world: World, text: str, code: str
) -> None:
    raw = json.dumps({"contents": ["before", text, "behind"]}).encode()
    before, refused, behind = world.call("POST", BATCH, raw=raw).lines
    assert before["scores"]
    assert behind["scores"]
    alone = world.call("POST", "/v1/models/mine.ready/score", raw=json.dumps({"content": text}).encode())
    assert (refused["index"], refused["error"]["code"], alone.code) == (1, code, code)
    assert refused["error"]["details"] == alone.details
    assert set(refused["error"]) == {"code", "message", "details"}
    assert refused["error"]["message"].endswith(".")


def test_a_fault_at_one_text_is_told_on_its_line(world: World, caplog: pytest.LogCaptureFixture) -> None:
    good, fault, again = ask(world, ["good", "https://fault.example/", "again"]).lines
    assert good["scores"]
    assert again["scores"]
    assert fault["error"]["code"] == "internal_error"
    assert "ZeroDivisionError" in caplog.text
    assert "fault.example" not in caplog.text + json.dumps(fault)


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({}, ["contents"]),
        ({"contents": []}, ["contents"]),
        ({"contents": ["x"] * 1_001}, ["contents"]),
        ({"contents": "x"}, ["contents"]),
        ({"contents": ["x", 1]}, ["contents", 1]),
        ({"contents": ["x", None]}, ["contents", 1]),
        ({"contents": ["x"], "traits": []}, ["traits"]),
        ({"contents": ["x"], "traits": ["tone", "absent"]}, ["traits", 1]),
        ({"contents": ["x"], "traits": ["a\x00"]}, ["traits", 0]),
        ({"contents": ["x"], "mode": "fast"}, ["mode"]),
        ({"contents": ["x"], "feedback": {"tone": 1}}, ["feedback"]),
        ({"contents": ["x"], "content": "x"}, ["content"]),
    ],
)
def test_what_is_wrong_with_the_whole_comes_before_any_line(world: World, body: Any, loc: list[Any]) -> None:
    answer = world.call("POST", BATCH, json=body)
    assert (answer.status, answer.code) == (422, "validation_failed")
    assert loc in [error["loc"] for error in answer.details["errors"]]


def test_a_thousand_texts_are_one_batch(world: World) -> None:
    lines = ask(world, [f"text {index % 50}" for index in range(1_000)]).lines
    assert [line["index"] for line in lines] == [*range(1_000)]


def test_a_batch_under_zero_retention_is_scored_as_any_other(world: World) -> None:
    silent = ask(world, TEXTS, "/v1/models/mine.silent/score/batch").lines
    ready = ask(world, TEXTS).lines
    assert [line["scores"] for line in silent] == [line["scores"] for line in ready]


@pytest.fixture(scope="module")
def in_every_mode(world: World) -> str:
    """A model of the default encoder, which has modes of its own."""
    handle = world.make("mine.modes")
    assert (
        world.call("POST", f"/v1/models/{handle}/train", json={"effort": "low", "encoder": "multilingual"}).status
        == 202
    )
    world.run(handle)
    return f"/v1/models/{handle}/score/batch"


@pytest.mark.parametrize("mode", ["full", "layer6", "static"])
def test_a_version_scores_in_every_mode_that_it_was_trained_for(world: World, in_every_mode: str, mode: str) -> None:
    warm, cold = ask(world, ["A joy to read, well done", "A pain to read, badly done"], in_every_mode, mode=mode).lines
    assert warm["scores"]["tone"] > cold["scores"]["tone"]
    assert ask(world, ["A joy to read, well done"], in_every_mode, mode=mode).lines[0]["detail"] == warm["detail"]


def test_a_mode_of_another_encoder_is_refused_and_those_of_the_version_are_named(
    world: World, in_every_mode: str
) -> None:
    answer = ask(world, ["x"], in_every_mode, mode="layer4")
    assert (answer.status, answer.code) == (409, "feature_unavailable")
    assert answer.details == {"field": "mode", "mode": "layer4", "modes": ["full", "layer6", "static"]}


def test_a_mode_that_the_version_was_not_trained_for_names_those_it_was(world: World) -> None:
    assert ask(world, ["x"]).status == 200
    answer = ask(world, ["x"], mode="layer4")
    assert (answer.status, answer.code) == (409, "feature_unavailable")
    assert answer.details == {"field": "mode", "mode": "layer4", "modes": ["full"]}
