"""Twenty callers at the same moment, over the socket: one run, one id, and the same answer for everybody.

Without a worker, runs stay live and the answers are exact; with one, its speed must not matter. Trainings that race
each other or new samples are in `tests/faults/test_races.py`.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Barrier, Event
from time import sleep
from typing import Any

import pytest

from tests.conftest import COLD, WARM, make_draft, not_none, train
from tests.contexts import ON_SQLITE, done_here, until
from tests.contract.world import World
from tests.size import sized
from traitbench.client import Traitbench
from traitbench.contract.models import VersionRetentionPolicy
from traitbench.contract.samples import SampleInput
from traitbench.errors import FeatureUnavailable, TraitbenchError, Unavailable
from traitbench.operations.context import Context

THREADS = 20
_ATTEMPTS = 30
ROUNDS = sized(1, 3)


@dataclass(frozen=True)
class Outcome:
    """A caller's answer: a code (empty if it succeeded) and a run."""

    code: str
    run_id: str | None = None
    value: Any = None


@pytest.fixture
def standing(still: World, namespace: str) -> Iterator[Traitbench]:
    """A client of the service without a worker."""
    with Traitbench(still.base_url, still.issue("authoring", namespace)) as client:
        yield client


def _at_once(*calls: Callable[[], Any], threads: int = THREADS) -> list[Outcome]:
    """The answers to many threads; the calls are distributed among them in turn.

    On a busy machine the service may answer 503: then nothing has happened, and the caller asks again.
    """
    barrier = Barrier(threads)

    def one(number: int) -> Outcome:
        barrier.wait()
        for _ in range(_ATTEMPTS):
            with suppress(Unavailable):
                return ask(calls[number % len(calls)])
            sleep(1)
        return Outcome(Unavailable.code)

    def ask(call: Callable[[], Any]) -> Outcome:
        try:
            value = call()
        except Unavailable:
            raise
        except TraitbenchError as error:
            return Outcome(error.code, error.headers.get("X-Run-Id"))
        return Outcome("", getattr(value, "run_id", None), value)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, range(threads)))


def _drafts(client: Traitbench, namespace: str) -> Iterator[str]:
    """New models that can be trained, discovered in and synthesized for."""
    for number in range(ROUNDS):
        handle = f"{namespace}.m{number}"
        make_draft(client, handle)
        yield handle


def _codes(content: list[Outcome]) -> Counter[str]:
    return Counter(each.code for each in content)


# ---- what is begun stays in flight -----------------------------------------------------------------------------------

ONE_BEGINS = {"": 1, "duplicate_run": THREADS - 1}
ALL_BEGIN = {"": THREADS}
# A request, and the answers: to twenty callers at the same moment, and to twenty more when the run is done. Then the
# run is the same one, another one or none.
SAME_REQUESTS: dict[str, tuple[Callable[[Traitbench, str], Any], dict[str, int], dict[str, int], str]] = {
    "discover": (lambda c, h: c.traits.discover(h, effort="low"), ONE_BEGINS, {"duplicate_run": THREADS}, "same"),
    "synthesize": (lambda c, h: c.samples.synthesize(h, effort="low"), ONE_BEGINS, ONE_BEGINS, "other"),
    "train": (lambda c, h: c.models.train(h, effort="low"), ALL_BEGIN, ALL_BEGIN, "none"),
    "retune": (lambda c, h: c.models.train(h, effort="low", reoptimize_params=True), ALL_BEGIN, ALL_BEGIN, "other"),
    "retrain": (lambda c, h: c.models.retrain(h), ALL_BEGIN, ALL_BEGIN, "none"),
}


@pytest.mark.parametrize("name", SAME_REQUESTS)
def test_of_twenty_equal_requests_one_begins_a_run_and_all_are_told_which(
    standing: Traitbench, context: Context, namespace: str, name: str
) -> None:
    request, answers, later, next_run = SAME_REQUESTS[name]
    for handle in _drafts(standing, namespace):
        if name in ("retune", "retrain"):
            _train_here(standing, context, handle)
            standing.scores.score(handle, "Said once.", feedback={"warmth": 1})
        outcomes = _at_once(partial(request, standing, handle))
        [run_id] = {each.run_id for each in outcomes}
        assert (_codes(outcomes), run_id is None) == (answers, False)
        done_here(context, run_id)
        again = _at_once(partial(request, standing, handle))
        [second] = {each.run_id for each in again}
        assert _codes(again) == later
        assert ("none" if second is None else "same" if second == run_id else "other") == next_run
        standing.models.delete(handle)


def test_of_runs_of_every_kind_one_begins_and_everybody_is_told_which(standing: Traitbench, namespace: str) -> None:
    for handle in _drafts(standing, namespace):
        outcomes = _at_once(
            partial(standing.models.train, handle, effort="low"),
            partial(standing.traits.discover, handle, effort="low"),
            partial(standing.traits.discover, handle, effort="high"),
            partial(standing.samples.synthesize, handle, effort="low"),
            partial(standing.samples.synthesize, handle, effort="low", synth_type="diversify"),
        )
        operation = not_none(standing.models.get(handle).last_operation)
        assert {each.run_id for each in outcomes} == {operation.run_id}
        alike = THREADS // 5
        trained = {"": alike, "model_busy": THREADS - alike}
        derived = {"": 1, "duplicate_run": alike - 1, "model_busy": THREADS - alike}
        assert _codes(outcomes) == (trained if operation.kind == "train" else derived)
        standing.models.delete(handle)


def test_feedback_that_is_withdrawn_during_a_retrain_is_gone_or_in_the_version(
    standing: Traitbench, context: Context, namespace: str
) -> None:
    for handle in _drafts(standing, namespace):
        _train_here(standing, context, handle)
        cards = [standing.scores.score(handle, f"Said {n}", feedback={"warmth": n}) for n in range(2)]
        given = [sample_id for card in cards for sample_id in card.metadata.sample_ids]
        calls: list[Callable[[], Any]] = [
            partial(standing.models.retrain, handle),
            *(partial(standing.samples.delete, handle, each) for each in given),
        ]
        outcomes = _at_once(*calls, threads=3)
        assert _codes(outcomes).keys() <= {"", "model_busy"}
        gone = {each for each, outcome in zip(given, outcomes[1:], strict=True) if not outcome.code}
        if outcomes[0].run_id:
            done_here(context, outcomes[0].run_id)
        there = [sample.id for sample in standing.samples.list(handle, limit=500)]
        assert set(given) - set(there) == gone
        assert standing.versions.list(handle).items[0].sample_count == len(there)
        assert list(standing.samples.list(handle, pending=True)) == []


# ---- a worker does what is begun: the service of the session, on SQLite ----------------------------------------------


@ON_SQLITE
def test_of_twenty_that_discover_one_has_begun_however_soon_it_is_done(client: Traitbench, namespace: str) -> None:
    for handle in _drafts(client, namespace):
        outcomes = _at_once(partial(client.traits.discover, handle, effort="low"))
        assert _codes(outcomes) == {"": 1, "duplicate_run": THREADS - 1}
        [run_id] = {each.run_id for each in outcomes}
        operation = not_none(client.models.wait(handle).last_operation)
        assert (operation.run_id, operation.status) == (run_id, "succeeded")


@ON_SQLITE
def test_edits_that_race_a_training_are_in_it_whole_or_refused_whole(client: Traitbench, namespace: str) -> None:
    def add(handle: str, number: int) -> list[int]:
        texts = [f"{text} {number}" for text in (WARM[number % 10], COLD[number % 10], WARM[(number + 1) % 10])]
        return client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=1.0) for text in texts])

    def rename(handle: str, number: int) -> Any:
        fields: Any = {"positive_label": f"warm {number}", "negative_label": f"cold {number}"}
        return client.traits.update(handle, "warmth", **fields)

    for handle in _drafts(client, namespace):
        before = len(list(client.samples.list(handle)))
        calls: list[Callable[[], Any]] = [
            partial(rename if number % 2 else add, handle, number) for number in range(THREADS)
        ]
        calls[THREADS // 2] = partial(client.models.train, handle, effort="low")
        outcomes = _at_once(*calls)
        assert _codes(outcomes).keys() <= {"", "model_busy", "model_not_draft"}
        assert client.models.wait(handle).state == "ready"
        added = [each.value for each in outcomes if isinstance(each.value, list)]
        there = list(client.samples.list(handle, limit=500))
        version, [trait] = client.versions.get(handle, "v1"), client.traits.list(handle)
        assert version.sample_count == len(there) == before + 3 * len(added)
        assert {number for ids in added for number in ids} <= {sample.id for sample in there}
        assert trait.positive_label.removeprefix("warm") == trait.negative_label.removeprefix("cold")
        [trained] = not_none(version.snapshot)["traits"]
        assert (trained["positive_label"], trained["negative_label"]) == (trait.positive_label, trait.negative_label)


@ON_SQLITE
def test_feedback_that_races_zero_retention_leaves_nothing(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.tone"
    _trained(client, handle, partial(_train, client))
    on = Event()

    def switch() -> Any:
        model = client.models.update(handle, zero_data_retention=True)
        on.set()
        return model

    def say(number: int) -> bool:
        """Whether the first that was said when it was on for certain was refused."""
        for time in range(40):
            certain = on.is_set()
            try:
                client.scores.score(handle, f"Said {number} {time}", feedback={"warmth": number % 2})
            except FeatureUnavailable:
                return True
            assert not certain
        return False

    outcomes = _at_once(*(partial(say, number) for number in range(THREADS - 1)), switch)
    assert [each.value for each in outcomes[:-1]] == [True] * (THREADS - 1)
    assert client.models.wait(handle).state == "ready"
    assert client.samples.list(handle).items == []
    assert client.models.export(handle).samples is None
    client.models.update(handle, zero_data_retention=False)
    assert client.models.export(handle).samples == []


@ON_SQLITE
def test_a_tag_that_races_pruning_is_of_a_version_that_stays(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    policy = VersionRetentionPolicy(keep_unnamed=0, keep_first_of_month=False)
    client.models.update(handle, version_retention_policy=policy)
    _train(client, handle)

    def search() -> Any:
        for _ in range(3):
            train(client, handle, reoptimize_params=True)

    def tag(number: int) -> dict[str, int]:
        return {
            each: client.versions.tag(handle, each).version_no for each in (f"t{number}-{time}" for time in range(5))
        }

    outcomes = _at_once(*(partial(tag, number) for number in range(THREADS - 1)), search)
    assert _codes(outcomes) == {"": THREADS}
    tags = {name: number for each in outcomes[:-1] for name, number in each.value.items()}
    there = list(client.versions.list(handle))
    assert {name: version.version_no for version in there for name in version.tags} == tags
    assert {version.version_no for version in there} == {*tags.values(), 4}


# ---- promotions ------------------------------------------------------------------------------------------------------


def _train(client: Traitbench, handle: str) -> None:
    train(client, handle)


def _train_here(client: Traitbench, context: Context, handle: str) -> None:
    done_here(context, client.models.train(handle, effort="low").run_id)


def _trained(client: Traitbench, handle: str, train: Callable[[str], None]) -> str:
    make_draft(client, handle)
    train(handle)
    return handle


def _forked(client: Traitbench, handle: str, train: Callable[[str], None], number: int = 0) -> str:
    """A trained fork of a model, with a sample of its own."""
    name = f"{handle}-next{number}"
    client.models.fork(handle, name)
    client.samples.add(name, [SampleInput(trait="warmth", text=f"A new text {number}", quality=1.0)])
    train(name)
    return name


def test_of_twenty_that_promote_a_fork_one_does_and_the_others_find_it_archived(
    standing: Traitbench, context: Context, namespace: str
) -> None:
    client, train = standing, partial(_train_here, standing, context)
    handle = _trained(client, f"{namespace}.tone", train)
    first, second = (_forked(client, handle, train, number) for number in range(2))
    outcomes = _at_once(partial(client.models.promote, handle, from_=first))
    assert _codes(outcomes) == {"": 1, "model_archived": THREADS - 1}
    outcomes = _at_once(partial(client.models.promote, handle, from_=second, keep=True, force=True))
    assert _codes(outcomes) == {"": THREADS}
    assert client.models.get(handle).version_no == 2 + THREADS
    assert len(list(client.samples.list(handle))) == len(WARM) + len(COLD) + 1


def test_models_that_are_promoted_to_each_other_do_not_wait_for_each_other(
    standing: Traitbench, context: Context, namespace: str
) -> None:
    client, train = standing, partial(_train_here, standing, context)
    handles = [_trained(client, f"{namespace}.m{number}", train) for number in range(2)]
    there, back = (
        partial(client.models.promote, a, from_=b, force=True, keep=True) for a, b in (handles, handles[::-1])
    )
    assert _codes(_at_once(there, back)) == {"": THREADS}
    for handle in handles:
        assert client.models.get(handle).version_no == 1 + THREADS // 2
        assert len(list(client.samples.list(handle))) == len(WARM) + len(COLD)


@ON_SQLITE
def test_feedback_that_races_a_promotion_is_kept_and_learnt(client: Traitbench, namespace: str) -> None:
    handle = _trained(client, f"{namespace}.tone", partial(_train, client))
    fork = _forked(client, handle, partial(_train, client))

    def say(number: int) -> list[int]:
        cards = [
            client.scores.score(handle, f"Said {number} {time}", feedback={"warmth": number % 2}) for time in range(3)
        ]
        return [sample_id for card in cards for sample_id in card.metadata.sample_ids]

    def promote() -> Any:
        until(lambda: client.models.get(handle).state == "ready", what="a retrain to end")
        return client.models.promote(handle, from_=fork, force=True)

    search = partial(client.models.train, handle, effort="low", reoptimize_params=True)
    activate = partial(client.versions.activate, handle, version="v1")
    says = [partial(say, number) for number in range(THREADS - 3)]
    outcomes = _at_once(*says, promote, search, activate)
    assert _codes(outcomes[:-3]) == {"": THREADS - 3}
    assert {each.code for each in outcomes[-3:]} <= {"", "model_busy"}
    promoted = outcomes[-3].code == ""
    until(lambda: _waiting(client, handle) < 10 and client.models.get(handle).state == "ready", what="it to be learnt")
    given = {number for each in outcomes[:-3] for number in each.value}
    there = {sample.id for sample in client.samples.list(handle, limit=500)}
    assert given <= there
    assert len(there) == len(given) + len(WARM) + len(COLD) + promoted
    assert client.models.get(fork).state == ("archived" if promoted else "ready")
    versions = list(client.versions.list(handle))
    assert [version.metrics.promoted_from is not None for version in versions].count(True) == promoted
    assert [version.version_no for version in versions] == list(range(len(versions), 0, -1))


def test_a_deletion_that_races_a_promotion_comes_before_or_after_it(
    standing: Traitbench, context: Context, namespace: str
) -> None:
    client, train = standing, partial(_train_here, standing, context)
    handle = _trained(client, f"{namespace}.tone", train)
    for number, gone in enumerate((0, 1)):
        name = f"{handle}{number}"
        client.models.import_(client.models.export(handle), handle=name)
        both = (name, _forked(client, name, train))
        outcomes = _at_once(
            partial(client.models.promote, both[0], from_=both[1], keep=True, force=True),
            partial(client.models.delete, both[gone]),
            partial(client.scores.score, both[0], "Good day."),
        )
        codes = [each.code for each in outcomes]
        assert {*codes[::3], *codes[2::3]} <= {"", "model_archived"}
        assert {*codes[1::3]} == {""}
        made = codes[::3].count("")
        model = client.models.get(both[0])
        assert (model.state, model.version_no) == ("archived" if gone == 0 else "ready", 1 + made)


@ON_SQLITE
def test_a_retrain_against_activations_and_zero_retention_leaves_one_story(client: Traitbench, namespace: str) -> None:
    for switch in (False, True):
        handle = f"{namespace}.tone-{switch}".lower()
        _trained(client, handle, partial(_train, client))
        assert train(client, handle, reoptimize_params=True).version_no == 2
        for number in range(4):
            client.scores.score(handle, f"Said {number}", feedback={"warmth": number % 2})
        calls: list[Callable[[], Any]] = [
            partial(client.versions.activate, handle, version="v1"),
            partial(client.versions.activate, handle, version="v2"),
            partial(client.models.retrain, handle),
        ]
        if switch:
            calls.append(partial(client.models.update, handle, zero_data_retention=True))
        outcomes = _at_once(*calls)
        assert _codes(outcomes).keys() <= {""}
        model = client.models.wait(handle)
        assert model.state == "ready"
        record = list(client.versions.activations(handle))
        assert record[0].version_no == model.version_no
        # Each entry begins with the version at which the one before it ended.
        assert [each.previous_version_no for each in record[:-1]] == [each.version_no for each in record[1:]]
        assert record[-1].previous_version_no is None
        assert [each.version_no for each in record] != []
        assert list(client.samples.list(handle, pending=True)) == []


@ON_SQLITE
def test_a_model_deleted_during_a_retrain_stays_archived(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.tone"
    _trained(client, handle, partial(_train, client))
    client.scores.score(handle, "Said once", feedback={"warmth": 1})
    outcomes = _at_once(partial(client.models.retrain, handle), partial(client.models.delete, handle))
    assert _codes(outcomes).keys() <= {"", "model_archived"}
    model = client.models.get(handle)
    record = [each.version_no for each in client.versions.activations(handle)]
    assert (model.state, record) == ("archived", [1] if model.version_no == 1 else [2, 1])


def _waiting(client: Traitbench, handle: str) -> int:
    """How much feedback is pending."""
    return sum(sample.pending for sample in client.models.export(handle).samples or [])
