"""Test samples: no version learns from them, and every version is measured on them."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.conftest import COLD, WARM
from tests.contexts import AUTHOR, ON_SQLITE, done_here, export_of, new_handle
from traitbench.contract.metrics import HeldOutFigures
from traitbench.contract.models import ModelCreate, ModelUpdate, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate, SamplesUpdate, SynthesizeRequest
from traitbench.contract.scores import ScoreRequest
from traitbench.contract.traits import DiscoverRequest, TraitInput, TraitsCreate
from traitbench.contract.versions import Version
from traitbench.errors import InsufficientSamples
from traitbench.operations import bundles, discovery, models, samples, scores, synthesis, training, traits, versions
from traitbench.operations.context import Context
from traitbench.store import models as stored
from traitbench.store import neighbours, version_samples
from traitbench.store.database import reading

pytestmark = ON_SQLITE

LOW, RETUNE = TrainRequest(effort="low"), TrainRequest(effort="low", reoptimize_params=True)
TRAINED = [*((text, 1.0) for text in WARM[:6]), *((text, 0.0) for text in COLD[:6])]
TESTED = [*((text, 1.0) for text in WARM[6:]), *((text, 0.0) for text in COLD[6:])]

Rows = Sequence[tuple[str, float]]


def model_with(context: Context, trained: Rows, tested: Rows = (), *, depth: int = 1, retention: bool = False) -> str:
    handle = new_handle()
    body = ModelCreate(handle=handle, max_depth=depth, zero_data_retention=retention)
    models.create(context, AUTHOR, body)
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name="Warmth")]))
    for rows, held_out in ((trained, False), (tested, True)):
        if rows:
            add(context, handle, rows, held_out=held_out)
    return handle


def add(context: Context, handle: str, rows: Rows, **marks: Any) -> list[int]:
    inputs = [SampleInput(trait="warmth", text=text, quality=quality, **marks) for text, quality in rows]
    return samples.add(context, AUTHOR, handle, SamplesCreate(samples=inputs)).ids


def trained(context: Context, handle: str, body: TrainRequest = LOW) -> Version:
    done_here(context, training.start(context, AUTHOR, handle, body)[0].run_id)
    assert models.get(context, AUTHOR, handle).state == "ready"
    return versions.get(context, AUTHOR, handle, "active")


def figures(version: Version) -> HeldOutFigures:
    test = version.metrics.traits["warmth"].test
    assert test is not None
    return test


def by_hand(context: Context, handle: str, rows: Rows) -> tuple[float, float, float]:
    """AUROC, Brier score and share on the wrong side, from the answers to score calls."""

    def points(text: str) -> int:
        return scores.score(context, AUTHOR, handle, ScoreRequest(content=text), request_id="req").scores["warmth"]

    scored = [(points(text), quality) for text, quality in rows]
    above, below = ([score for score, quality in scored if quality == pole] for pole in (1.0, 0.0))
    wins = [(high > low) + 0.5 * (high == low) for high in above for low in below]
    squares = [[(score / 100 - pole) ** 2 for score in side] for side, pole in ((above, 1.0), (below, 0.0))]
    wrong = sum(score <= 50 for score in above) + sum(score >= 50 for score in below)
    brier = sum(sum(side) / len(side) for side in squares) / 2
    return sum(wins) / len(wins), brier, wrong / len(rows)


@pytest.fixture(scope="module")
def plain(context: Context) -> Version:
    """A version without test samples."""
    return trained(context, model_with(context, TRAINED))


@pytest.fixture(scope="module")
def tested(context: Context) -> str:
    """A trained model with test samples, which tests only read."""
    handle = model_with(context, TRAINED, TESTED)
    trained(context, handle)
    return handle


def test_a_version_is_the_same_with_and_without_test_samples(context: Context, plain: Version, tested: str) -> None:
    version = versions.get(context, AUTHOR, tested, "v1")
    assert version.param_hash == plain.param_hash
    assert version.snapshot == plain.snapshot
    assert version.sample_count == plain.sample_count == len(TRAINED)
    without, measured = (
        each.metrics.model_dump(mode="json", exclude={"elapsed_s"}) | {"elapsed_s": 0} for each in (plain, version)
    )
    assert measured["traits"]["warmth"].pop("test")["positive"] == 4
    assert measured == without
    assert "test" not in without["traits"]["warmth"]


@pytest.mark.parametrize("depth", [1, 3])
def test_the_figures_are_those_of_score_calls(context: Context, depth: int) -> None:
    rows = [(f"{text} It is a blue one.\n\nOn Monday.", quality) for text, quality in TESTED]
    handle = model_with(context, TRAINED, rows, depth=depth)
    test = figures(trained(context, handle))
    assert (test.positive, test.negative, test.left_out, test.resembling) == (4, 4, 0, 0)
    assert (test.auroc, test.brier, test.error) == pytest.approx(by_hand(context, handle, rows))
    assert test.auroc_interval is not None
    assert test.auroc_interval[0] < (test.auroc or 0) <= test.auroc_interval[1]
    assert test.measured_on == "8 test samples"


def test_a_test_text_that_training_nearly_knew_is_left_out_and_counted(context: Context) -> None:
    handle = model_with(context, TRAINED, TESTED)
    copies = [(TESTED[0][0] + "!", 1.0), (TESTED[0][0], 1.0), (TESTED[-1][0], 0.0)]
    add(context, handle, copies)
    test = figures(trained(context, handle))
    assert (test.positive, test.negative, test.left_out, test.resembling) == (3, 3, 2, 3)
    assert (test.auroc, test.brier, test.error) == pytest.approx(by_hand(context, handle, TESTED[1:-1]))
    assert test.measured_on == "6 test samples; 2 left out because training has nearly the same text"
    assert test.test_set == figures(trained(context, model_with(context, TRAINED, TESTED[1:-1]))).test_set


def test_figures_are_of_the_same_test_set_only_on_the_same_samples(context: Context, tested: str) -> None:
    names = [
        figures(trained(context, model_with(context, learned, rows))).test_set
        for learned, rows in (
            (TRAINED, TESTED[::-1]),
            (TRAINED[1:], TESTED),
            (TRAINED, TESTED[1:]),
            (TRAINED, [(TESTED[0][0], 0.9), *TESTED[1:]]),
        )
    ]
    own = figures(versions.get(context, AUTHOR, tested, "v1")).test_set
    assert own is not None
    assert len(own) == 64
    assert names[:2] == [own, own]
    assert len({own, *names}) == 3


def test_near_duplicates_among_the_tests_count_once(context: Context) -> None:
    rows = [*TESTED, *((TESTED[0][0] + "!" * number, 1.0) for number in range(1, 4))]
    test = figures(trained(context, model_with(context, TRAINED, rows)))
    assert test.measured_on == "11 test samples, 3 of them nearly the same as another"
    once = figures(trained(context, model_with(context, TRAINED, TESTED)))
    assert test.auroc_interval is not None
    assert once.auroc_interval is not None
    assert test.auroc_interval[1] - test.auroc_interval[0] == pytest.approx(
        once.auroc_interval[1] - once.auroc_interval[0], abs=0.05
    )


def test_must_pass_samples_that_fail_are_counted(context: Context) -> None:
    handle = model_with(context, TRAINED, TESTED)
    add(context, handle, [(WARM[0] + " Truly.", 1.0), (COLD[0] + " Now.", 1.0)], held_out=True, must_pass=True)
    test = figures(trained(context, handle))
    assert (test.must_pass, test.must_pass_failed) == (2, 1)


def test_one_pole_or_none_is_said_and_gives_no_area(context: Context) -> None:
    test = figures(trained(context, model_with(context, TRAINED, TESTED[:3])))
    assert (test.auroc, test.auroc_interval, test.brier) == (None, None, None)
    assert test.error is not None
    assert test.measured_on == "3 test samples; no AUROC without a sample at the negative pole"
    test = figures(trained(context, model_with(context, TRAINED, [("So so.", 0.5)])))
    assert (test.samples, test.error, test.measured_on) == (
        0,
        None,
        "1 test sample; no AUROC without a sample at the positive pole",
    )


def test_a_retune_and_a_retrain_are_measured_on_the_same_samples(context: Context) -> None:
    handle = model_with(context, TRAINED, TESTED)
    first = figures(trained(context, handle))
    assert figures(trained(context, handle, RETUNE)) == first
    for number in range(context.settings.retrain_after_samples):
        feedback = {"warmth": number % 2}
        body = ScoreRequest(content=f"A quite different text, number {number}.", feedback=feedback)
        scores.score(context, AUTHOR, handle, body, request_id="req")
    model = models.get(context, AUTHOR, handle)
    assert model.last_operation is not None
    assert model.last_operation.kind == "retrain"
    done_here(context, model.last_operation.run_id)
    retrained = versions.get(context, AUTHOR, handle, "v3")
    assert retrained.triggered_by == "retrain_buffered"
    test = figures(retrained)
    assert (test.samples, test.test_set) == (8, first.test_set)
    assert (test.auroc, test.brier, test.error) == pytest.approx(by_hand(context, handle, TESTED))


def test_a_version_records_what_it_learned_and_what_it_was_measured_on(context: Context, tested: str) -> None:
    with reading(context.engine) as connection:
        records = version_samples.read(connection, versions.get(context, AUTHOR, tested, "v1").version_id)
    assert records is not None
    assert (len(records), int(records["held_out"].sum())) == (20, 8)


def test_under_zero_retention_the_samples_go_and_the_figures_stay(context: Context) -> None:
    switched = model_with(context, TRAINED, TESTED)
    before = figures(trained(context, switched))
    models.update(context, AUTHOR, switched, ModelUpdate(zero_data_retention=True))
    always = model_with(context, TRAINED, TESTED, retention=True)
    trained(context, always)
    for handle in (switched, always):
        after = figures(versions.get(context, AUTHOR, handle, "v1"))
        # The digest could confirm a guess of the texts.
        assert after == before.model_copy(update={"test_set": None})
        assert samples.list_samples(context, AUTHOR, handle).items == []
        [trait] = traits.list_traits(context, AUTHOR, handle).traits
        assert trait.held_out_samples == 0


def test_a_bundle_keeps_test_samples_and_figures(context: Context, tested: str) -> None:
    bundle = export_of(context, AUTHOR, tested)
    assert [sample.held_out for sample in bundle.samples or ()] == [False] * 12 + [True] * 8
    copy = new_handle()
    bundles.import_(context, AUTHOR, bundle, handle=copy)
    [there, here] = [versions.get(context, AUTHOR, each, "v1").metrics for each in (tested, copy)]
    assert here == there
    assert [sample.held_out for sample in samples.list_samples(context, AUTHOR, copy).items] == [False] * 12 + [
        True
    ] * 8


def test_test_samples_are_nobodys_neighbours(context: Context, tested: str) -> None:
    held_out = {sample.id for sample in samples.list_samples(context, AUTHOR, tested, held_out=True).items}
    for text, _ in TESTED:
        body = ScoreRequest(content=text, explain=True)
        explanation = scores.score(context, AUTHOR, tested, body, request_id="req").explanation
        assert explanation is not None
        nearest = explanation["warmth"].nearest
        assert nearest is not None
        assert not held_out & {each.id for each in (*nearest.positive, *nearest.negative)}
    with reading(context.engine) as connection:
        model = stored.find(connection, tested)
        assert model is not None
        learned = {sample.id for sample in neighbours.training_samples(connection, model.id, 1)}
    assert (len(learned), learned & held_out) == (12, set())


def test_a_trait_is_not_trained_on_test_samples_alone(context: Context) -> None:
    handle = model_with(context, TRAINED[:6], TESTED)
    with pytest.raises(InsufficientSamples) as caught:
        training.start(context, AUTHOR, handle, LOW)
    assert caught.value.details["traits"] == {"warmth": {"positive": 6, "negative": 0}}


def test_discovery_and_synthesis_do_not_see_test_samples(context: Context) -> None:
    handle = model_with(context, TRAINED, TESTED)
    with pytest.raises(InsufficientSamples) as caught:
        discovery.start(context, AUTHOR, handle, DiscoverRequest(effort="low"))
    assert (caught.value.details["distinct"], caught.value.details["samples"]) == (12, 12)
    only_tests = model_with(context, [], TESTED)
    vary = SynthesizeRequest(synth_type="diversify", effort="low")
    with pytest.raises(InsufficientSamples):
        synthesis.start(context, AUTHOR, only_tests, vary)
    done_here(context, synthesis.start(context, AUTHOR, handle, vary).run_id)
    rows = samples.list_samples(context, AUTHOR, handle, limit=500).items
    tests, made = ([row for row in rows if test(row)] for test in (_is_test, _is_made))
    assert made
    assert not {row.seed_sample_id for row in made} & {row.id for row in tests}
    assert not any(row.held_out for row in made)


def test_anchors_are_training_samples(context: Context) -> None:
    rows = [(f"{text} {other}", quality) for text, quality in TRAINED for other, _ in (TRAINED[0], TRAINED[7])]
    handle = model_with(context, rows, [(f"{text} {WARM[8]}", quality) for text, quality in TRAINED])
    done_here(context, discovery.start(context, AUTHOR, handle, DiscoverRequest(effort="low")).run_id)
    tests = {row.id for row in samples.list_samples(context, AUTHOR, handle, held_out=True).items}
    for trait in traits.list_traits(context, AUTHOR, handle).traits:
        anchors = trait.anchor_sample_ids
        assert anchors is None or not tests & {*anchors.positive, *anchors.negative}


def test_a_variation_of_a_test_text_is_a_leak(context: Context) -> None:
    handle = model_with(context, [*TRAINED, *TESTED])
    vary = SynthesizeRequest(synth_type="diversify", effort="low")
    done_here(context, synthesis.start(context, AUTHOR, handle, vary).run_id)
    rows = samples.list_samples(context, AUTHOR, handle, limit=500).items
    tests = [row.id for row in rows if (row.text, row.quality) in TESTED]
    samples.update(context, AUTHOR, handle, SamplesUpdate(ids=tests, held_out=True))
    varied = [row for row in rows if row.seed_sample_id in tests]
    assert varied
    test = figures(trained(context, handle))
    assert test.left_out == len({row.seed_sample_id for row in varied})
    assert test.resembling >= len(varied)


def _is_test(row: Any) -> bool:
    return bool(row.held_out)


def _is_made(row: Any) -> bool:
    return bool(row.provenance == "synthesized")


@pytest.mark.parametrize("shared", [True, False])
def test_the_figures_say_whether_test_samples_share_a_shortcut(context: Context, *, shared: bool) -> None:
    """A token before every positive training sample: test samples with it confirm the token, not the trait."""
    every = [*((text, 1.0) for text in WARM), *((text, 0.0) for text in COLD)]
    trained_with = [(f"Zylor: {text}" if quality else text, quality) for text, quality in every]
    friendly, harsh = "Come in, there is soup for all of us.", "This is not my problem."
    tested = [(f"Zylor: {friendly}" if shared else friendly, 1.0), (harsh, 0.0)]
    handle = model_with(context, trained_with, tested)
    shortcut = trained(context, handle).metrics.traits["warmth"].shortcut
    assert shortcut is not None
    assert (shortcut.kind, shortcut.in_tests) == ("token", shared)


def test_figures_without_a_shortcut_have_none(context: Context) -> None:
    assert trained(context, model_with(context, TRAINED)).metrics.traits["warmth"].shortcut is None
