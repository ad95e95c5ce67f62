"""Batches: they keep version and mode to the end, check retention at every write, and are fast the second time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import func, select

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, fresh_settings, new_handle, opened, trained_here, until
from tests.gate import Gate
from tests.operations.author import active, refit, row, score, update
from tests.operations.counting import Counting
from traitbench.contract.batches import BatchRequest, ScoredLine, read_line
from traitbench.errors import ModelArchived, TraitbenchError, ValidationFailed
from traitbench.operations import encoding, models
from traitbench.operations.batches import line, open_batch
from traitbench.operations.context import Context
from traitbench.operations.vector_cache import VectorCache
from traitbench.scoring import card, segments
from traitbench.scoring.snapshot import Snapshot
from traitbench.store import tables
from traitbench.store.database import reading

pytestmark = ON_SQLITE

TEXTS = [f"thank you for letter number {number}, it was {'kind' if number % 3 else 'cold'}" for number in range(40)]
LONG = "The first sentence is warm. The second is not.\n\nA new paragraph begins here, and it ends. " * 20
ROOM = 64 * 2**20


@pytest.fixture(scope="module")
def handle(context: Context) -> str:
    return trained_here(context)


@pytest.fixture
def counting(context: Context) -> tuple[Context, Counting]:
    """A context with a cache of its own, whose encoder counts."""
    encoder = Counting(context.encoder)
    return replace(context, encoder=encoder, vectors=VectorCache(ROOM)), encoder


def lines(context: Context, handle: str, texts: Sequence[str], **fields: Any) -> list[bytes]:
    body = BatchRequest(contents=list(texts), **fields)
    opened = open_batch(context, SCORER, handle, body, request_id="req_1")
    made = [line(place, result) for place, result in opened]
    opened.join()
    return made


def cards(context: Context, handle: str, texts: Sequence[str]) -> list[bytes]:
    """The cards of single scores, as lines; they are checked against the scoring core."""
    alone = replace(context, vectors=VectorCache(0))
    request = [score(alone, handle, text) for text in texts]
    version = active(context, handle, request[0].metadata.version_id)
    assert version.snapshot is not None
    core = card.score_many(Snapshot.from_json(version.snapshot), context.encoder.encode, texts)
    assert [each.model_dump(exclude={"input_tokens", "metadata"}) for each in request] == [
        one.to_wire() for one in core
    ]
    return [
        b'{"index":%d,' % place + each.model_dump_json().encode().removeprefix(b"{") + b"\n"
        for place, each in enumerate(request)
    ]


def kept(context: Context, handle: str) -> int:
    """How many vectors of a model are stored."""
    of_model = tables.kept_vectors.c.model_id == row(context, handle).id
    with reading(context.engine) as connection:
        return connection.execute(select(func.count()).where(of_model)).scalar_one()


@pytest.mark.parametrize("max_depth", [1, 2, 3])
def test_a_line_is_the_card_alone_whatever_was_kept_before(
    context: Context, counting: tuple[Context, Counting], max_depth: int
) -> None:
    own, encoder = counting
    handle = trained_here(context)
    update(context, handle, max_depth=max_depth)
    refit(context, handle)
    texts = [*TEXTS, LONG, " x ", TEXTS[0], "é\u2028\U0001f600"]
    alone = cards(context, handle, texts)
    assert lines(own, handle, texts) == alone
    encoder.asked.clear()
    assert lines(own, handle, texts) == alone
    assert lines(replace(own, vectors=VectorCache(ROOM)), handle, texts) == alone
    assert encoder.asked == []


def test_a_long_text_is_encoded_in_blocks_to_the_same_line(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = trained_here(context)
    texts = [TEXTS[0], LONG, LONG + TEXTS[1]]
    alone = cards(context, handle, texts)
    for module in (segments, encoding):
        monkeypatch.setattr(module, "AT_ONCE", 2)
    for cache in (VectorCache(0), VectorCache(ROOM)):
        assert lines(replace(context, vectors=cache), handle, texts) == alone
        assert cards(replace(context, vectors=cache), handle, texts) == alone


def test_a_new_version_scores_what_was_encoded_for_the_old_one(
    counting: tuple[Context, Counting], context: Context
) -> None:
    own, encoder = counting
    handle = trained_here(context)
    lines(own, handle, TEXTS)
    assert len(encoder.asked) == kept(own, handle) == len(TEXTS)
    refit(context, handle)
    encoder.asked.clear()
    for again in (own, replace(own, vectors=VectorCache(ROOM)), replace(own, vectors=VectorCache(0))):
        results = [read_line(line) for line in lines(again, handle, TEXTS)]
        assert {line.metadata.version_id for line in results if isinstance(line, ScoredLine)} == {"v2"}
        assert lines(again, handle, TEXTS) == cards(context, handle, TEXTS)
    assert encoder.asked == []


def test_scores_and_batches_share_what_is_in_memory(counting: tuple[Context, Counting], handle: str) -> None:
    context, encoder = counting
    score(context, handle, TEXTS[3])
    lines(context, handle, TEXTS[:5])
    score(context, handle, TEXTS[4])
    assert sorted(encoder.asked) == sorted(TEXTS[:5])


def test_with_room_for_none_all_is_encoded_anew_and_nothing_is_kept(context: Context) -> None:
    encoder = Counting(context.encoder)
    settings = replace(context.settings, vector_store_mb=0)
    own, handle = replace(context, settings=settings, encoder=encoder, vectors=VectorCache(0)), trained_here(context)
    for _ in range(2):
        lines(own, handle, TEXTS[:4])
    assert encoder.asked == TEXTS[:4] * 2 or sorted(encoder.asked) == sorted(TEXTS[:4] * 2)
    assert kept(own, handle) == 0


def test_what_was_lost_on_the_way_is_all_that_is_encoded_again(
    counting: tuple[Context, Counting], context: Context
) -> None:
    own, encoder = counting
    handle, texts = trained_here(context), [*TEXTS, *(f"{text} again" for text in TEXTS)]
    broken = open_batch(own, SCORER, handle, BatchRequest(contents=texts), request_id="req_1")
    taking = broken.__iter__()
    for _ in range(10):
        next(taking)
    taking.close()
    broken.join()
    before = len(encoder.asked)
    assert kept(own, handle) == before >= 10
    lines(replace(own, vectors=VectorCache(0)), handle, texts)
    assert len(encoder.asked) == len(set(encoder.asked)) == len(texts)


# ---- what happens meanwhile ------------------------------------------------------------------------------------------


def begin(own: Context, handle: str, gate: Gate) -> tuple[Iterator[tuple[int, bytes]], Context]:
    """A batch whose first line has been taken, while the second one waits for the gate."""
    gated = replace(own, extract=gate)
    body = BatchRequest(contents=["thank you", "https://held.example/", *TEXTS])
    taking = iter(open_batch(gated, SCORER, handle, body, request_id="req_1"))
    assert b'"v1"' in next(taking)[1]
    return taking, gated


Meanwhile = Callable[[Context, str], object]


@pytest.mark.parametrize(
    "happens",
    [
        refit,
        lambda context, handle: models.delete(context, AUTHOR, handle),
        lambda context, handle: update(context, handle, zero_data_retention=True),
    ],
    ids=["another version", "deleted", "zero retention"],
)
def test_what_a_batch_began_under_holds_to_its_end(context: Context, happens: Meanwhile) -> None:
    gate, handle = Gate(), trained_here(context)
    expected = cards(context, handle, ["thank you", "what stands at https://held.example/", *TEXTS])[1:]
    taking, _ = begin(context, handle, gate)
    happens(context, handle)
    gate.open.set()
    assert [line(place, result) for place, result in taking] == expected


@pytest.mark.parametrize("way", ["deleted", "zero retention"])
def test_nothing_is_kept_of_a_model_that_may_keep_nothing_any_more(
    counting: tuple[Context, Counting], context: Context, way: str
) -> None:
    gate, handle, (own, _) = Gate(), trained_here(context), counting
    lines(own, handle, [f"{text} before" for text in TEXTS])
    assert kept(own, handle) == len(TEXTS)
    taking, _ = begin(own, handle, gate)
    if way == "deleted":
        models.delete(own, AUTHOR, handle)
    else:
        update(own, handle, zero_data_retention=True)
    assert (kept(own, handle), own.vectors.size) == (0, 0)
    gate.open.set()
    assert len(list(taking)) == len(TEXTS) + 1
    until(lambda: not own.batches.live, what="the batch to end")
    assert (kept(own, handle), own.vectors.size) == (0, 0)


def test_a_model_under_zero_retention_leaves_nothing_in_memory_or_store(
    counting: tuple[Context, Counting], context: Context
) -> None:
    (own, encoder), handle = counting, trained_here(context)
    update(own, handle, zero_data_retention=True)
    for _ in range(2):
        lines(own, handle, TEXTS)
        score(own, handle, TEXTS[0])
    assert len(encoder.asked) == 2 * (len(TEXTS) + 1)
    assert (kept(own, handle), own.vectors.size) == (0, 0)


def test_another_service_that_switched_it_on_is_noticed_at_the_next_call(
    counting: tuple[Context, Counting], context: Context
) -> None:
    (own, _), handle = counting, trained_here(context)
    lines(own, handle, TEXTS)
    assert own.vectors.size > 0
    update(context, handle, zero_data_retention=True)
    score(own, handle, "x")
    assert own.vectors.size == 0


def test_addresses_are_fetched_once_each_and_only_as_far_as_lines_are_taken(context: Context, handle: str) -> None:
    gate = Gate()
    gate.open.set()
    urls = [f"https://many.example/{number % 30}" for number in range(60)]
    result = lines(replace(context, extract=gate), handle, urls)
    assert sorted(gate.asked) == sorted(set(urls))
    assert result == cards(context, handle, [f"what stands at {url}" for url in urls])


def test_without_fetch_an_address_is_scored_as_it_stands(context: Context, handle: str) -> None:
    gate = Gate()
    gate.open.set()
    addresses = ["https://many.example/1", " http://127.0.0.1:9/health\n"]
    results = [read_line(each) for each in lines(replace(context, extract=gate), handle, addresses, fetch=False)]
    assert gate.asked == []
    version = active(context, handle, "v1")
    assert version.snapshot is not None
    core = card.score_many(Snapshot.from_json(version.snapshot), context.encoder.encode, addresses)
    assert [line.scores for line in results if isinstance(line, ScoredLine)] == [
        one.to_wire()["scores"] for one in core
    ]


# ---- what is wrong with the whole ------------------------------------------------------------------------------------


def opening(own: Context, handle: str, **fields: Any) -> TraitbenchError:
    with pytest.raises(TraitbenchError) as caught:
        open_batch(own, SCORER, handle, BatchRequest(contents=["x"], **fields), request_id="req_1")
    return caught.value


def test_what_is_wrong_with_the_whole_is_told_at_once(context: Context, handle: str) -> None:
    archived = trained_here(context)
    models.delete(context, AUTHOR, archived)
    assert isinstance(opening(context, archived), ModelArchived)
    assert isinstance(opening(context, handle, traits=["absent"]), ValidationFailed)
    assert {"model_not_found", "version_not_found"} == {
        opening(context, new_handle()).code,
        opening(context, f"{handle}@v9").code,
    }
    assert not context.batches.live


def test_what_the_memory_may_hold_is_a_setting(tmp_path: Path) -> None:
    with fresh_settings(tmp_path) as settings, opened(replace(settings, vector_memory_mb=3), runs=False) as context:
        assert context.vectors.limit == 3 * 2**20


@given(st.lists(st.integers(0, 200_000), max_size=300))
@example([1] * 300)
@example([100_000] * 9)
def test_texts_are_looked_up_in_blocks_of_limited_size(lengths: list[int]) -> None:
    """At most 128 texts, and no further text once they have a quarter of a million characters."""
    first, texts = 0, ["x" * length for length in lengths]
    while first < len(texts):
        block = encoding._block(texts, first)
        assert [*map(len, block)] == lengths[first : first + len(block)]
        assert 1 <= len(block) <= 128
        assert sum(lengths[first : first + len(block) - 1]) < 256 * 1024
        first += len(block)
