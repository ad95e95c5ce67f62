"""Batches: they keep version and mode to the end, check retention at every write, and are fast the second time."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import func, select

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, done_here, fresh_settings, new_handle, opened, trained_here, until
from traitbench.contract.batches import BatchRequest, ScoredLine, read_line
from traitbench.contract.models import ModelUpdate, TrainRequest
from traitbench.contract.scores import ScoreRequest
from traitbench.encoders import FULL, Encoder, Vectors, counted_apart
from traitbench.errors import ModelArchived, TraitbenchError, ValidationFailed
from traitbench.extract import Extracted
from traitbench.operations import encoding, models, scores, training, versions
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


class Counting:
    """An encoder that records which texts it encodes."""

    def __init__(self, encoder: Encoder) -> None:
        self.id, self.dimension, self.digest, self.modes = encoder.id, encoder.dimension, encoder.digest, encoder.modes
        self.count_tokens, self.words = encoder.count_tokens, encoder.words
        self.asked: list[str] = []
        self._encoder = encoder

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        self.asked += texts
        return self._encoder.encode(texts, mode=mode)

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        return counted_apart(self, texts, mode=mode)


class Gate:
    """Addresses whose texts become available once the gate is open."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.open = Event()

    def __call__(self, url: str) -> Extracted:
        self.asked.append(url)
        self.open.wait()
        return Extracted(url, f"what stands at {url}", "0" * 64, datetime.now(UTC))


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    with fresh_settings(tmp_path_factory.mktemp("batches")) as settings, opened(settings, runs=False) as context:
        yield context


@pytest.fixture(scope="module")
def handle(quiet: Context) -> str:
    return trained_here(quiet)


@pytest.fixture
def counting(quiet: Context) -> tuple[Context, Counting]:
    """A context with a cache of its own, whose encoder counts."""
    encoder = Counting(quiet.encoder)
    return replace(quiet, encoder=encoder, vectors=VectorCache(ROOM)), encoder


def lines(context: Context, handle: str, texts: Sequence[str], **fields: Any) -> list[bytes]:
    body = BatchRequest(contents=list(texts), **fields)
    opened = open_batch(context, SCORER, handle, body, request_id="req_1")
    made = [line(place, result) for place, result in opened]
    opened.join()
    return made


def cards(context: Context, handle: str, texts: Sequence[str]) -> list[bytes]:
    """The cards of single scores, as lines; they are checked against the scoring core."""
    alone = replace(context, vectors=VectorCache(0))
    request = [scores.score(alone, SCORER, handle, ScoreRequest(content=text), request_id="req_1") for text in texts]
    version = versions.get(context, AUTHOR, handle, request[0].metadata.version_id)
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
    columns = tables.kept_vectors.c
    of_model = columns.model_id == select(tables.models.c.id).where(tables.models.c.handle == handle).scalar_subquery()
    with reading(context.engine) as connection:
        return connection.execute(select(func.count()).where(of_model)).scalar_one()


@pytest.mark.parametrize("max_depth", [1, 2, 3])
def test_a_line_is_the_card_alone_whatever_was_kept_before(
    quiet: Context, counting: tuple[Context, Counting], max_depth: int
) -> None:
    context, encoder = counting
    handle = trained_here(quiet)
    models.update(quiet, AUTHOR, handle, ModelUpdate(max_depth=max_depth))
    done_here(
        quiet,
        training.start(quiet, AUTHOR, handle, TrainRequest(effort="low", reoptimize_params=True))[0].run_id,
    )
    texts = [*TEXTS, LONG, " x ", TEXTS[0], "é\u2028\U0001f600"]
    alone = cards(quiet, handle, texts)
    assert lines(context, handle, texts) == alone
    encoder.asked.clear()
    assert lines(context, handle, texts) == alone
    assert lines(replace(context, vectors=VectorCache(ROOM)), handle, texts) == alone
    assert encoder.asked == []


def test_a_long_text_is_encoded_in_blocks_to_the_same_line(quiet: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = trained_here(quiet)
    texts = [TEXTS[0], LONG, LONG + TEXTS[1]]
    alone = cards(quiet, handle, texts)
    for module in (segments, encoding):
        monkeypatch.setattr(module, "AT_ONCE", 2)
    for cache in (VectorCache(0), VectorCache(ROOM)):
        assert lines(replace(quiet, vectors=cache), handle, texts) == alone
        assert cards(replace(quiet, vectors=cache), handle, texts) == alone


def test_a_new_version_scores_what_was_encoded_for_the_old_one(
    counting: tuple[Context, Counting], quiet: Context
) -> None:
    context, encoder = counting
    handle = trained_here(quiet)
    lines(context, handle, TEXTS)
    assert len(encoder.asked) == kept(context, handle) == len(TEXTS)
    done_here(
        quiet, training.start(quiet, AUTHOR, handle, TrainRequest(effort="low", reoptimize_params=True))[0].run_id
    )
    encoder.asked.clear()
    for again in (context, replace(context, vectors=VectorCache(ROOM)), replace(context, vectors=VectorCache(0))):
        results = [read_line(line) for line in lines(again, handle, TEXTS)]
        assert {line.metadata.version_id for line in results if isinstance(line, ScoredLine)} == {"v2"}
        assert lines(again, handle, TEXTS) == cards(quiet, handle, TEXTS)
    assert encoder.asked == []


def test_scores_and_batches_share_what_is_in_memory(counting: tuple[Context, Counting], handle: str) -> None:
    context, encoder = counting
    scores.score(context, SCORER, handle, ScoreRequest(content=TEXTS[3]), request_id="req_1")
    lines(context, handle, TEXTS[:5])
    scores.score(context, SCORER, handle, ScoreRequest(content=TEXTS[4]), request_id="req_1")
    assert sorted(encoder.asked) == sorted(TEXTS[:5])


def test_with_room_for_none_all_is_encoded_anew_and_nothing_is_kept(quiet: Context) -> None:
    encoder = Counting(quiet.encoder)
    settings = replace(quiet.settings, vector_store_mb=0)
    context, handle = replace(quiet, settings=settings, encoder=encoder, vectors=VectorCache(0)), trained_here(quiet)
    for _ in range(2):
        lines(context, handle, TEXTS[:4])
    assert encoder.asked == TEXTS[:4] * 2 or sorted(encoder.asked) == sorted(TEXTS[:4] * 2)
    assert kept(context, handle) == 0


def test_what_was_lost_on_the_way_is_all_that_is_encoded_again(
    counting: tuple[Context, Counting], quiet: Context
) -> None:
    context, encoder = counting
    handle, texts = trained_here(quiet), [*TEXTS, *(f"{text} again" for text in TEXTS)]
    broken = open_batch(context, SCORER, handle, BatchRequest(contents=texts), request_id="req_1")
    taking = broken.__iter__()
    for _ in range(10):
        next(taking)
    taking.close()
    broken.join()
    before = len(encoder.asked)
    assert kept(context, handle) == before >= 10
    lines(replace(context, vectors=VectorCache(0)), handle, texts)
    assert len(encoder.asked) == len(set(encoder.asked)) == len(texts)


# ---- what happens meanwhile ------------------------------------------------------------------------------------------


def begin(context: Context, handle: str, gate: Gate) -> tuple[Iterator[tuple[int, bytes]], Context]:
    """A batch whose first line has been taken, while the second one waits for the gate."""
    gated = replace(context, extract=gate)
    body = BatchRequest(contents=["thank you", "https://held.example/", *TEXTS])
    taking = iter(open_batch(gated, SCORER, handle, body, request_id="req_1"))
    assert b'"v1"' in next(taking)[1]
    return taking, gated


Meanwhile = Callable[[Context, str], object]


def retrain(context: Context, handle: str) -> None:
    done_here(
        context, training.start(context, AUTHOR, handle, TrainRequest(effort="low", reoptimize_params=True))[0].run_id
    )
    assert models.get(context, AUTHOR, handle).version_no == 2


@pytest.mark.parametrize(
    "happens",
    [
        retrain,
        lambda context, handle: models.delete(context, AUTHOR, handle),
        lambda context, handle: models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True)),
    ],
    ids=["another version", "deleted", "zero retention"],
)
def test_what_a_batch_began_under_holds_to_its_end(quiet: Context, happens: Meanwhile) -> None:
    gate, handle = Gate(), trained_here(quiet)
    expected = cards(quiet, handle, ["thank you", "what stands at https://held.example/", *TEXTS])[1:]
    taking, _ = begin(quiet, handle, gate)
    happens(quiet, handle)
    gate.open.set()
    assert [line(place, result) for place, result in taking] == expected


@pytest.mark.parametrize("way", ["deleted", "zero retention"])
def test_nothing_is_kept_of_a_model_that_may_keep_nothing_any_more(
    counting: tuple[Context, Counting], quiet: Context, way: str
) -> None:
    gate, handle, (context, _) = Gate(), trained_here(quiet), counting
    lines(context, handle, [f"{text} before" for text in TEXTS])
    assert kept(context, handle) == len(TEXTS)
    taking, _ = begin(context, handle, gate)
    if way == "deleted":
        models.delete(context, AUTHOR, handle)
    else:
        models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    assert (kept(context, handle), context.vectors.size) == (0, 0)
    gate.open.set()
    assert len(list(taking)) == len(TEXTS) + 1
    until(lambda: not context.batches.live, what="the batch to end")
    assert (kept(context, handle), context.vectors.size) == (0, 0)


def test_a_model_under_zero_retention_leaves_nothing_in_memory_or_store(
    counting: tuple[Context, Counting], quiet: Context
) -> None:
    (context, encoder), handle = counting, trained_here(quiet)
    models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    for _ in range(2):
        lines(context, handle, TEXTS)
        scores.score(context, SCORER, handle, ScoreRequest(content=TEXTS[0]), request_id="req_1")
    assert len(encoder.asked) == 2 * (len(TEXTS) + 1)
    assert (kept(context, handle), context.vectors.size) == (0, 0)


def test_another_service_that_switched_it_on_is_noticed_at_the_next_call(
    counting: tuple[Context, Counting], quiet: Context
) -> None:
    (context, _), handle = counting, trained_here(quiet)
    lines(context, handle, TEXTS)
    assert context.vectors.size > 0
    models.update(quiet, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    scores.score(context, SCORER, handle, ScoreRequest(content="x"), request_id="req_1")
    assert context.vectors.size == 0


def test_addresses_are_fetched_once_each_and_only_as_far_as_lines_are_taken(quiet: Context, handle: str) -> None:
    gate = Gate()
    gate.open.set()
    urls = [f"https://many.example/{number % 30}" for number in range(60)]
    result = lines(replace(quiet, extract=gate), handle, urls)
    assert sorted(gate.asked) == sorted(set(urls))
    assert result == cards(quiet, handle, [f"what stands at {url}" for url in urls])


# ---- what is wrong with the whole ------------------------------------------------------------------------------------


def opening(context: Context, handle: str, **fields: Any) -> TraitbenchError:
    with pytest.raises(TraitbenchError) as caught:
        open_batch(context, SCORER, handle, BatchRequest(contents=["x"], **fields), request_id="req_1")
    return caught.value


def test_what_is_wrong_with_the_whole_is_told_at_once(quiet: Context, handle: str) -> None:
    archived = trained_here(quiet)
    models.delete(quiet, AUTHOR, archived)
    assert isinstance(opening(quiet, archived), ModelArchived)
    assert isinstance(opening(quiet, handle, traits=["absent"]), ValidationFailed)
    assert {"model_not_found", "version_not_found"} == {
        opening(quiet, new_handle()).code,
        opening(quiet, f"{handle}@v9").code,
    }
    assert not quiet.batches.live


def test_a_line_that_is_an_error_reads_as_one(quiet: Context, handle: str) -> None:
    good, bad = (json.loads(line) for line in lines(quiet, handle, ["good", ""]))
    assert "error" not in good
    assert set(bad) == {"index", "error"}


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
