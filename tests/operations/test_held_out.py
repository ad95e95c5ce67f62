"""Test samples: no version learns from them, and every version is measured on them."""

from collections.abc import Sequence

import pytest

from tests.conftest import COLD, WARM
from tests.contexts import AUTHOR, ON_SQLITE, done_here, export_of, new_handle
from tests.operations import author
from traitbench.contract.metrics import HeldOutFigures
from traitbench.contract.samples import SamplesUpdate, SynthesizeRequest
from traitbench.contract.traits import DiscoverRequest, TraitInput
from traitbench.contract.versions import Version
from traitbench.errors import InsufficientSamples
from traitbench.operations import bundles, discovery, samples, synthesis, training, traits
from traitbench.operations.context import Context
from traitbench.store import neighbours, version_samples
from traitbench.store.database import reading

pytestmark = ON_SQLITE

TRAINED = [*((text, 1.0) for text in WARM[:6]), *((text, 0.0) for text in COLD[:6])]
TESTED = [*((text, 1.0) for text in WARM[6:]), *((text, 0.0) for text in COLD[6:])]
VARY = SynthesizeRequest(synth_type="diversify", effort="low")
DISCOVER = DiscoverRequest(effort="low")

Rows = Sequence[tuple[str, float]]


def model_with(context: Context, trained: Rows, tested: Rows = (), *, depth: int = 1, retention: bool = False) -> str:
    handle = author.new_model(context, TraitInput(name="Warmth"), max_depth=depth, zero_data_retention=retention)
    for rows, held_out in ((trained, False), (tested, True)):
        if rows:
            author.add_samples(context, handle, rows, held_out=held_out)
    return handle


def figures(version: Version) -> HeldOutFigures:
    test = version.metrics.traits["warmth"].test
    assert test is not None
    return test


def measured(context: Context, trained: Rows, tested: Rows) -> HeldOutFigures:
    """The figures of a new model."""
    return figures(author.train(context, model_with(context, trained, tested)))


def by_hand(context: Context, handle: str, rows: Rows) -> tuple[float, float, float]:
    """AUROC, Brier score and share on the wrong side, from the answers to score calls."""
    scored = [(author.score(context, handle, text).scores["warmth"], quality) for text, quality in rows]
    above, below = ([points for points, quality in scored if quality == pole] for pole in (1.0, 0.0))
    wins = [(high > low) + 0.5 * (high == low) for high in above for low in below]
    squares = [[(points / 100 - pole) ** 2 for points in side] for side, pole in ((above, 1.0), (below, 0.0))]
    wrong = sum(points <= 50 for points in above) + sum(points >= 50 for points in below)
    brier = sum(sum(side) / len(side) for side in squares) / 2
    return sum(wins) / len(wins), brier, wrong / len(rows)


@pytest.fixture(scope="module")
def tested(context: Context) -> str:
    """A trained model with test samples, which tests only read."""
    handle = model_with(context, TRAINED, TESTED)
    author.train(context, handle)
    return handle


# ---- what is measured ------------------------------------------------------------------------------------------------


def test_a_version_is_the_same_with_and_without_test_samples(context: Context, tested: str) -> None:
    plain, version = author.train(context, model_with(context, TRAINED)), author.active(context, tested)
    assert version.param_hash == plain.param_hash
    assert version.snapshot == plain.snapshot
    assert version.sample_count == plain.sample_count == len(TRAINED)
    without, with_tests = (
        each.metrics.model_dump(mode="json", exclude={"elapsed_s"}) | {"elapsed_s": 0} for each in (plain, version)
    )
    assert with_tests["traits"]["warmth"].pop("test")["positive"] == 4
    assert with_tests == without
    assert "test" not in without["traits"]["warmth"]
    with reading(context.engine) as connection:
        records = version_samples.read(connection, version.version_id)
    assert records is not None
    assert (len(records), int(records["held_out"].sum())) == (20, 8)


@pytest.mark.parametrize("depth", [1, 3])
def test_the_figures_are_those_of_score_calls(context: Context, depth: int) -> None:
    rows = [(f"{text} It is a blue one.\n\nOn Monday.", quality) for text, quality in TESTED]
    handle = model_with(context, TRAINED, rows, depth=depth)
    test = figures(author.train(context, handle))
    assert (test.positive, test.negative, test.left_out, test.resembling) == (4, 4, 0, 0)
    assert (test.auroc, test.brier, test.error) == pytest.approx(by_hand(context, handle, rows))
    assert test.auroc_interval is not None
    assert test.auroc_interval[0] < (test.auroc or 0) <= test.auroc_interval[1]
    assert test.measured_on == "8 test samples"


def test_a_test_text_that_training_nearly_knew_is_left_out_and_counted(context: Context) -> None:
    copies = [(TESTED[0][0] + "!", 1.0), TESTED[0], TESTED[-1]]
    handle = model_with(context, [*TRAINED, *copies], TESTED)
    test = figures(author.train(context, handle))
    assert (test.positive, test.negative, test.left_out, test.resembling) == (3, 3, 2, 3)
    assert (test.auroc, test.brier, test.error) == pytest.approx(by_hand(context, handle, TESTED[1:-1]))
    assert test.measured_on == "6 test samples; 2 left out because training has nearly the same text"
    assert test.test_set == measured(context, TRAINED, TESTED[1:-1]).test_set


def test_figures_are_of_the_same_test_set_only_on_the_same_samples(context: Context, tested: str) -> None:
    fewer, relabelled = TESTED[1:], [(TESTED[0][0], 0.9), *TESTED[1:]]
    same = [measured(context, *given).test_set for given in ((TRAINED, TESTED[::-1]), (TRAINED[1:], TESTED))]
    others = [measured(context, TRAINED, rows).test_set for rows in (fewer, relabelled)]
    own = figures(author.active(context, tested)).test_set
    assert own is not None
    assert len(own) == 64
    assert same == [own, own]
    assert len({own, *others}) == 3


def test_near_duplicates_among_the_tests_count_once(context: Context, tested: str) -> None:
    rows = [*TESTED, *((TESTED[0][0] + "!" * number, 1.0) for number in range(1, 4))]
    test, once = measured(context, TRAINED, rows), figures(author.active(context, tested))
    assert test.measured_on == "11 test samples, 3 of them nearly the same as another"
    assert test.auroc_interval is not None
    assert once.auroc_interval is not None
    widths = [upper - lower for lower, upper in (test.auroc_interval, once.auroc_interval)]
    assert widths[0] == pytest.approx(widths[1], abs=0.05)


def test_must_pass_samples_that_fail_are_counted(context: Context) -> None:
    handle, strict = model_with(context, TRAINED, TESTED), [(WARM[0] + " Truly.", 1.0), (COLD[0] + " Now.", 1.0)]
    author.add_samples(context, handle, strict, held_out=True, must_pass=True)
    test = figures(author.train(context, handle))
    assert (test.must_pass, test.must_pass_failed) == (2, 1)


def test_one_pole_or_none_is_said_and_gives_no_area(context: Context) -> None:
    one = measured(context, TRAINED, TESTED[:3])
    assert (one.auroc, one.auroc_interval, one.brier) == (None, None, None)
    assert one.error is not None
    assert one.measured_on == "3 test samples; no AUROC without a sample at the negative pole"
    none = measured(context, TRAINED, [("So so.", 0.5)])
    assert (none.samples, none.error) == (0, None)
    assert none.measured_on == "1 test sample; no AUROC without a sample at the positive pole"


def test_a_refit_and_a_retrain_are_measured_on_the_same_samples(context: Context) -> None:
    handle = model_with(context, TRAINED, TESTED)
    first = figures(author.train(context, handle))
    assert figures(author.refit(context, handle)) == first
    for number in range(context.settings.retrain_after_samples):
        author.give_feedback(context, handle, f"A quite different text, number {number}.", warmth=number % 2)
    assert author.finish(context, handle).kind == "retrain"
    test = figures(author.active(context, handle, "v3"))
    assert (test.samples, test.test_set) == (8, first.test_set)
    assert (test.auroc, test.brier, test.error) == pytest.approx(by_hand(context, handle, TESTED))


# ---- what becomes of them --------------------------------------------------------------------------------------------


def test_under_zero_retention_the_samples_go_and_the_figures_stay(context: Context) -> None:
    switched, always = (model_with(context, TRAINED, TESTED, retention=on) for on in (False, True))
    before = figures(author.train(context, switched))
    author.update(context, switched, zero_data_retention=True)
    author.train(context, always)
    for handle in (switched, always):
        # The digest could confirm a guess of the texts.
        assert figures(author.active(context, handle)) == before.model_copy(update={"test_set": None})
        assert author.samples_of(context, handle) == []
        [trait] = traits.list_traits(context, AUTHOR, handle).traits
        assert trait.held_out_samples == 0


def test_a_bundle_keeps_test_samples_and_figures(context: Context, tested: str) -> None:
    bundle, copy, marks = export_of(context, AUTHOR, tested), new_handle(), [False] * 12 + [True] * 8
    assert [sample.held_out for sample in bundle.samples or ()] == marks
    bundles.import_(context, AUTHOR, bundle, handle=copy)
    assert author.active(context, copy).metrics == author.active(context, tested).metrics
    assert [sample.held_out for sample in author.samples_of(context, copy)] == marks


def test_test_samples_are_nobodys_neighbours(context: Context, tested: str) -> None:
    held_out = {sample.id for sample in author.samples_of(context, tested, held_out=True)}
    for text, _ in TESTED:
        nearest = author.explained(context, tested, text)["warmth"].nearest
        assert nearest is not None
        assert not held_out & {each.id for each in (*nearest.positive, *nearest.negative)}
    with reading(context.engine) as connection:
        learned = {sample.id for sample in neighbours.training_samples(connection, author.row(context, tested).id, 1)}
    assert (len(learned), learned & held_out) == (12, set())


def test_training_discovery_and_synthesis_do_not_see_test_samples(context: Context) -> None:
    with pytest.raises(InsufficientSamples) as caught:
        training.start(context, AUTHOR, model_with(context, TRAINED[:6], TESTED), author.QUICK)
    assert caught.value.details["traits"] == {"warmth": {"positive": 6, "negative": 0}}
    handle = model_with(context, TRAINED, TESTED)
    with pytest.raises(InsufficientSamples) as caught:
        discovery.start(context, AUTHOR, handle, DISCOVER)
    assert (caught.value.details["distinct"], caught.value.details["samples"]) == (12, 12)
    with pytest.raises(InsufficientSamples):
        synthesis.start(context, AUTHOR, model_with(context, [], TESTED), VARY)
    done_here(context, synthesis.start(context, AUTHOR, handle, VARY).run_id)
    tests = {sample.id for sample in author.samples_of(context, handle, held_out=True)}
    made = [sample for sample in author.samples_of(context, handle) if sample.provenance == "synthesized"]
    assert made
    assert not {sample.seed_sample_id for sample in made} & tests
    assert not any(sample.held_out for sample in made)


def test_anchors_are_training_samples(context: Context) -> None:
    rows = [(f"{text} {other}", quality) for text, quality in TRAINED for other, _ in (TRAINED[0], TRAINED[7])]
    handle = model_with(context, rows, [(f"{text} {WARM[8]}", quality) for text, quality in TRAINED])
    done_here(context, discovery.start(context, AUTHOR, handle, DISCOVER).run_id)
    tests = {sample.id for sample in author.samples_of(context, handle, held_out=True)}
    for trait in traits.list_traits(context, AUTHOR, handle).traits:
        anchors = trait.anchor_sample_ids
        assert anchors is None or not tests & {*anchors.positive, *anchors.negative}


def test_a_variation_of_a_test_text_is_a_leak(context: Context) -> None:
    handle = model_with(context, [*TRAINED, *TESTED])
    done_here(context, synthesis.start(context, AUTHOR, handle, VARY).run_id)
    listed = author.samples_of(context, handle)
    tests = [sample.id for sample in listed if (sample.text, sample.quality) in TESTED]
    samples.update(context, AUTHOR, handle, SamplesUpdate(ids=tests, held_out=True))
    varied = [sample for sample in listed if sample.seed_sample_id in tests]
    assert varied
    test = figures(author.train(context, handle))
    assert test.left_out == len({sample.seed_sample_id for sample in varied})
    assert test.resembling >= len(varied)


@pytest.mark.parametrize("shared", [True, False])
def test_the_figures_say_whether_test_samples_share_a_shortcut(context: Context, *, shared: bool) -> None:
    """A token before every positive training sample: test samples with it confirm the token, not the trait."""
    trained_with = [*((f"Zylor: {text}", 1.0) for text in WARM), *((text, 0.0) for text in COLD)]
    friendly, harsh = "Come in, there is soup for all of us.", "This is not my problem."
    tests = [(f"Zylor: {friendly}" if shared else friendly, 1.0), (harsh, 0.0)]
    shortcut = author.train(context, model_with(context, trained_with, tests)).metrics.traits["warmth"].shortcut
    assert shortcut is not None
    assert (shortcut.kind, shortcut.in_tests) == ("token", shared)


def test_figures_without_a_shortcut_have_none(context: Context, tested: str) -> None:
    assert author.active(context, tested).metrics.traits["warmth"].shortcut is None


# ---- samples that belong together ------------------------------------------------------------------------------------


def test_groups_are_trained_with_copied_and_exported(context: Context) -> None:
    """Six conversations, of which training says that no fold divides them."""
    handle = author.new_model(context, TraitInput(name="Warmth"))
    for number, rows in enumerate(
        (TRAINED[0:2], TRAINED[2:4], TRAINED[4:6], TRAINED[6:8], TRAINED[8:10], TRAINED[10:])
    ):
        author.add_samples(context, handle, rows, group=f"conversation {number}")
    author.add_samples(context, handle, TESTED[:1], group="conversation 0", held_out=True)
    trained = author.train(context, handle).metrics.traits["warmth"]
    assert (trained.counts["distinct"], trained.counts["groups"], trained.folds) == (12, 6, 3)
    assert "12 distinct samples, in 6 groups" in (trained.measured_on or "")
    assert trained.test is not None
    assert trained.test.left_out == 1
    names = [sample.group for sample in author.samples_of(context, handle)]
    fork = author.fork(context, handle).handle
    assert [sample.group for sample in author.samples_of(context, fork)] == names
    assert [sample.group for sample in export_of(context, AUTHOR, handle).samples or ()] == names
