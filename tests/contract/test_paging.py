"""Pages: keyset, complete, stable under writes; a cursor is good for its own listing only.

See core/docs/contract.md, section 1.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.world import World


def pages(world: World, path: str, **query: Any) -> Iterator[dict[str, Any]]:
    cursor: dict[str, str] = {}
    while True:
        page = world.call("GET", path, params={**query, **cursor}).body
        yield page
        if page["next_cursor"] is None:
            return
        cursor = {"cursor": page["next_cursor"]}


@pytest.fixture(scope="module")
def five(world: World) -> list[str]:
    """Five models, made in another order than that of their handles."""
    for name in "bdace":
        world.call("POST", "/v1/models", json={"handle": f"paging.{name}"})
    return [f"paging.{name}" for name in "abcde"]


@pytest.mark.parametrize(("limit", "sizes"), [(1, [1] * 5), (2, [2, 2, 1]), (3, [3, 2]), (5, [5]), (250, [5])])
def test_models_by_handle(world: World, five: list[str], limit: int, sizes: list[int]) -> None:
    results = list(pages(world, "/v1/models", namespace="paging", limit=limit))
    assert [len(page["items"]) for page in results] == sizes
    assert {page["limit"] for page in results} == {limit}
    assert [model["handle"] for page in results for model in page["items"]] == five


def test_a_write_between_two_pages_neither_repeats_nor_drops(world: World, five: list[str]) -> None:
    walk = pages(world, "/v1/models", namespace="paging", limit=2)
    first = next(walk)["items"]
    world.call("POST", "/v1/models", json={"handle": "paging.aa"})
    world.call("DELETE", "/v1/models/paging.b")
    world.call("POST", "/v1/models", json={"handle": "paging.cc"})
    rest = [model for page in walk for model in page["items"]]
    assert [model["handle"] for model in (*first, *rest)] == [
        f"paging.{name}" for name in ("a", "b", "c", "cc", "d", "e")
    ]


def test_samples_by_id(world: World) -> None:
    sent = [{"trait": "tone", "text": f"text {number}", "quality": 1} for number in range(7)]
    world.make("mine.paged", key="authoring", samples=False)
    ids = world.call("POST", "/v1/models/mine.paged/samples", json={"samples": sent}).body["ids"]
    results = list(pages(world, "/v1/models/mine.paged/samples", limit=3))
    assert [len(page["items"]) for page in results] == [3, 3, 1]
    assert [(sample["id"], sample["text"]) for page in results for sample in page["items"]] == [
        (id_, sample["text"]) for id_, sample in zip(ids, sent, strict=True)
    ]


def test_samples_are_listed_by_the_ids_that_are_asked_for(world: World) -> None:
    sent = [{"trait": "tone", "text": f"text {number}", "quality": number % 2} for number in range(7)]
    handles = [world.make(f"mine.{name}", key="authoring", samples=False) for name in ("chosen", "strange")]
    path, other = (f"/v1/models/{handle}/samples" for handle in handles)
    ids, others = (world.call("POST", each, json={"samples": sent}).body["ids"] for each in (path, other))

    def listed(*chosen: int, **query: str) -> list[int]:
        walk = pages(world, path, limit=2, ids=",".join(map(str, chosen)), **query)
        return [sample["id"] for page in walk for sample in page["items"]]

    assert listed(ids[4], ids[1], ids[1], ids[6]) == [ids[1], ids[4], ids[6]], "each once, by id"
    assert listed(ids[2], others[0], 2**53) == [ids[2]], "what the model does not have is left out"
    assert listed() == []
    assert listed(*ids, pole="positive", newest_first="true") == [ids[5], ids[3], ids[1]]
    assert listed(*ids, *range(2**50, 2**50 + 493)) == ids
    page = world.call("GET", path, params={"limit": 1, "ids": f"{ids[3]},{ids[0]}"}).body
    again = {"limit": 1, "cursor": page["next_cursor"]}
    assert world.call("GET", path, params={**again, "ids": f"{ids[0]},{ids[3]}"}).status == 200, "the same ids"
    assert world.call("GET", path, params={**again, "ids": f"{ids[0]}"}).code == "invalid_cursor"
    for bad in ("x", "1,", ",1", "1, 2", "0", "-1", "1.0", "1;2", "٣", "1" * 17, ",".join(["1"] * 501)):
        assert world.call("GET", path, params={"ids": bad}).code == "invalid_parameter", bad[:9]


@pytest.fixture(scope="module")
def labelled(world: World) -> str:
    """A path to samples of all labels, with letters beyond ASCII and signs that a database could take for its own."""
    texts = ("The Über-bread", "über 100%", "ÜBER_100", "a\\b", "Plain bread", "plain water")
    qualities = (1, 0, 0.5, 1, 0, 0.8)
    world.make("mine.words", key="authoring", samples=False)
    sent = [{"trait": "tone", "text": text, "quality": at} for text, at in zip(texts, qualities, strict=True)]
    sent[3]["group"] = "C:"
    world.call("POST", "/v1/models/mine.words/samples", json={"samples": sent})
    return "/v1/models/mine.words/samples"


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ({"text": "BREAD"}, ["The Über-bread", "Plain bread"]),
        ({"text": "bread plain"}, ["Plain bread"]),
        ({"text": "über"}, ["The Über-bread", "über 100%", "ÜBER_100"]),
        ({"text": "absent"}, []),
        ({"text": " "}, ["The Über-bread", "über 100%", "ÜBER_100", "a\\b", "Plain bread", "plain water"]),
        ({"pole": "positive"}, ["The Über-bread", "a\\b", "plain water"]),
        ({"pole": "negative", "text": "plain"}, ["Plain bread"]),
        ({"pole": "between"}, ["ÜBER_100"]),
        ({"provenance": "authored", "pole": "between"}, ["ÜBER_100"]),
        ({"provenance": "synthesized"}, []),
        ({"grouped": "true"}, ["a\\b"]),
        ({"grouped": "false", "pole": "positive"}, ["The Über-bread", "plain water"]),
    ],
)
def test_samples_are_searched_and_counted(world: World, labelled: str, query: dict[str, str], texts: list[str]) -> None:
    results = list(pages(world, labelled, limit=2, count="true", **query))
    assert [sample["text"] for page in results for sample in page["items"]] == texts
    assert {page["count"] for page in results} == {len(texts)}
    newest = list(pages(world, labelled, limit=2, newest_first="true", **query))
    assert [sample["text"] for page in newest for sample in page["items"]] == texts[::-1]
    assert not [page for page in newest if "count" in page], "a count is made only for those who ask"


def test_a_page_in_the_middle_is_reached_at_once(world: World, labelled: str) -> None:
    listed = {"newest_first": "true", "limit": 2}
    body = world.call("GET", labelled, params={**listed, "offset": 3}).body
    assert [sample["text"] for sample in body["items"]] == ["ÜBER_100", "über 100%"]
    after = world.call("GET", labelled, params={**listed, "cursor": body["next_cursor"]}).body
    assert [sample["text"] for sample in after["items"]] == ["The Über-bread"]
    other = world.call("GET", labelled, params={"limit": 2, "cursor": body["next_cursor"]})
    assert other.body["error"]["code"] == "invalid_cursor", "a cursor belongs to one order"
    assert world.call("GET", labelled, params={"offset": 6}).body["items"] == []


@pytest.mark.parametrize(
    ("path", "default", "most"),
    [
        ("/v1/models", 50, 250),
        ("/v1/models/mine.ready/samples", 100, 500),
        ("/v1/models/mine.ready/versions", 50, 250),
        ("/v1/models/mine.ready/activations", 50, 250),
        ("/v1/models/mine.ready/versions/active/samples", 500, 5_000),
    ],
)
def test_a_page_has_a_default_and_bounds(world: World, path: str, default: int, most: int) -> None:
    assert world.call("GET", path).body["limit"] == default
    for limit, status in ((0, 400), (1, 200), (most, 200), (most + 1, 400)):
        assert world.call("GET", path, params={"limit": limit}).status == status


def test_a_cursor_is_good_for_its_listing_only(world: World, five: list[str]) -> None:
    cursor = world.call("GET", "/v1/models", params={"namespace": "paging", "limit": 2}).body["next_cursor"]
    wrong = [
        ("/v1/models", {"namespace": "paging", "cursor": cursor[:-2]}),
        ("/v1/models", {"namespace": "paging", "cursor": cursor + "AA"}),
        ("/v1/models", {"namespace": "paging", "cursor": ""}),
        ("/v1/models", {"namespace": "paging", "cursor": "é\U0001f600"}),
        ("/v1/models", {"namespace": "mine", "cursor": cursor}),
        ("/v1/models", {"namespace": "paging", "state": "ready", "cursor": cursor}),
        ("/v1/models/mine.draft/samples", {"cursor": cursor}),
        ("/v1/models/mine.ready/versions", {"cursor": cursor}),
        ("/v1/models/mine.ready/activations", {"cursor": cursor}),
        ("/v1/models/mine.ready/versions/active/samples", {"cursor": cursor}),
    ]
    for path, query in wrong:
        answer = world.call("GET", path, params=query)
        assert (answer.status, answer.code) == (400, "invalid_cursor"), (path, query)
