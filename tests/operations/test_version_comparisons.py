"""Two versions compared: on the same test samples, by what changed, and on texts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select

from tests.comparing import COLD_TESTS, FLIPPED, LEARNED, TESTS, WARM_TESTS, inputs
from tests.conftest import COLD, WARM
from tests.contexts import AUTHOR, ON_SQLITE, SCORER, STRANGER, export_of, new_handle
from tests.operations.author import new_model, score, train, update
from tests.operations.counting import Counting
from traitbench import errors
from traitbench.contract.batches import FailedLine
from traitbench.contract.bundles import digest
from traitbench.contract.comparisons import ComparedText, SampleChanges, VersionsCompareRequest, VersionsComparison
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput
from traitbench.operations import bundles, comparisons, models, samples
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import samples as stored_samples
from traitbench.store import tables
from traitbench.store.database import reading

pytestmark = ON_SQLITE

WARMTH, HASTE = TraitInput(name="Warmth"), TraitInput(name="Haste", aggregation="max")
ALL_TESTS = inputs(TESTS, held_out=True)


def _trained(context: Context, given: Sequence[SampleInput], own: Sequence[TraitInput] = (WARMTH,)) -> str:
    handle = new_model(context, *own)
    samples.add(context, AUTHOR, handle, SamplesCreate(samples=list(given)))
    train(context, handle)
    return handle


def _compare(context: Context, a: str, b: str, *, caller: Caller = AUTHOR, **fields: Any) -> VersionsComparison:
    return comparisons.compare(context, caller, VersionsCompareRequest(a=a, b=b, **fields))


def _warmth(context: Context, a: str, b: str, **fields: Any) -> Any:
    """The figures of the trait that both versions have."""
    return _compare(context, a, b, **fields).traits["warmth"]


def _moved_by(context: Context, a: str, b: str, text: str) -> list[Any]:
    """The samples that explain why a text moved."""
    lines = _compare(context, a, b, texts=[text, " "], explain=True).texts
    assert lines is not None
    assert isinstance(lines[0], ComparedText)
    assert isinstance(lines[1], FailedLine), "it has nothing to explain"
    return lines[0].moved_by or []


@pytest.fixture(scope="module")
def good(context: Context) -> str:
    """A version that was trained with right labels."""
    return _trained(context, [*inputs(LEARNED), *ALL_TESTS])


@pytest.fixture(scope="module")
def hasty(context: Context) -> str:
    """A version with a second trait, some other samples, and other words for the first trait."""
    more = [*inputs([*LEARNED[1:], ("A new text for you, dear friend.", 1.0)]), *ALL_TESTS[1:]]
    renamed = TraitInput(name="Warmth of tone", key="warmth", positive_label="warm", aggregation="min")
    return _trained(context, [*more, *inputs(LEARNED, "haste")], [renamed, HASTE])


@pytest.fixture(scope="module")
def wrong(context: Context) -> str:
    """A version that was trained with the opposite labels, with the same test samples."""
    return _trained(context, [*inputs(FLIPPED), *ALL_TESTS])


# ---- on test samples -------------------------------------------------------------------------------------------------


def test_the_same_test_samples_decide_which_version_is_better(context: Context, good: str, wrong: str) -> None:
    worse, better = _compare(context, good, wrong), _compare(context, wrong, good)
    assert (worse.verdict, better.verdict) == ("worse", "better")
    assert worse.reason == "Worse. Measured on 12 test samples."
    for compared, sign in ((worse, -1), (better, 1)):
        trait = compared.traits["warmth"]
        assert (trait.verdict, trait.n, trait.positive, trait.negative) == (compared.verdict, 12, 6, 6)
        assert trait.measured_on == "12 test samples (6 positive, 6 negative)"
        auroc, error = trait.auroc, trait.error
        assert auroc is not None
        assert auroc.interval is not None
        assert error is not None
        assert error.interval is not None
        assert auroc.delta == auroc.b - auroc.a
        assert (auroc.delta * sign > 0, error.delta * sign < 0) == (True, True)
        assert auroc.interval[0] <= auroc.delta <= auroc.interval[1]
        assert {bound > 0 for bound in auroc.interval} == {sign > 0}
        assert "AUROC" in trait.reason
        assert "error" in trait.reason


def test_the_errors_are_those_that_a_score_shows(context: Context, good: str) -> None:
    shown = [(score(context, good, text).scores["warmth"], quality) for text, quality in TESTS]
    wrong = sum(not (points > 50 if quality else points < 50) for points, quality in shown)
    assert _warmth(context, good, good).error.a == pytest.approx(wrong / len(TESTS))


def test_a_version_compared_with_itself_does_not_differ(context: Context, good: str) -> None:
    compared = _compare(context, f"{good}@v1", good)
    assert compared.verdict == "no_difference"
    assert compared.reason == "Both versions have the same parameters, so they give the same scores."
    auroc = compared.traits["warmth"].auroc
    assert auroc is not None
    assert (auroc.delta, auroc.interval) == (0.0, [0.0, 0.0])
    assert compared.changed.samples == SampleChanges(added=0, removed=0, relabelled=0)
    assert compared.changed.parameters == []
    assert _moved_by(context, good, f"{good}@v1", WARM[0]) == []


def test_without_test_samples_nothing_can_be_told(context: Context, wrong: str) -> None:
    untested = [_trained(context, inputs(some)) for some in (LEARNED, LEARNED[2:])]
    compared = _compare(context, *untested)
    reason = "Not known: there are no test samples that both versions were measured on."
    assert (compared.verdict, compared.reason) == ("unknown", reason)
    trait = compared.traits["warmth"]
    assert (trait.verdict, trait.n, trait.auroc, trait.error) == ("unknown", 0, None, None)
    assert _warmth(context, untested[0], wrong).n == 12, "the test samples of either model count"


def test_too_few_test_samples_give_figures_without_a_verdict(context: Context) -> None:
    few = [_trained(context, [*inputs(some), *ALL_TESTS[:3], *ALL_TESTS[6:]]) for some in (LEARNED, FLIPPED)]
    trait = _warmth(context, *few)
    assert trait.verdict == "unknown"
    assert trait.reason == "Not known: there are only 9 test samples (3 positive, 6 negative), and a pole needs 5."
    assert (trait.auroc.interval, trait.auroc.delta < 0) == (None, True)


@pytest.mark.parametrize(
    ("given", "left", "note"),
    [
        (inputs([*LEARNED, *TESTS[:2]]), 10, "; 2 left out: a version was trained with the text"),
        (
            [*inputs(LEARNED), *inputs([(TESTS[0][0], 0.0), *TESTS[1:]], held_out=True)],
            11,
            "; 1 left out: the text has different labels",
        ),
    ],
    ids=["trained with", "two labels"],
)
def test_a_text_that_a_version_knows_or_with_two_labels_is_no_test(
    context: Context, good: str, given: list[SampleInput], left: int, note: str
) -> None:
    trait = _warmth(context, good, _trained(context, given))
    assert trait.n == left
    assert trait.measured_on.endswith(note)


def test_near_duplicates_count_once(context: Context) -> None:
    copies = inputs([(f"{text}{mark}", quality) for text, quality in TESTS for mark in ("", "!")], held_out=True)
    both = [_trained(context, [*inputs(some), *copies]) for some in (LEARNED, FLIPPED)]
    measured_on = _warmth(context, *both).measured_on
    assert measured_on.startswith("24 test samples (12 positive, 12 negative), ")
    assert "of them nearly the same as another" in measured_on


def test_a_sample_that_must_pass_and_fails_now_makes_the_trait_worse(context: Context) -> None:
    strict = [*ALL_TESTS[1:-6], *inputs([(COLD_TESTS[0], 1.0)], held_out=True, must_pass=True)]
    handles = [_trained(context, [*inputs(some), *strict]) for some in (FLIPPED, LEARNED)]
    compared = _compare(context, *handles)
    must = compared.traits["warmth"].must_pass
    assert (must.samples, must.failed_a, must.failed_b, must.newly_failed) == (1, 0, 1, 1)
    assert compared.verdict == "worse"
    assert "1 test sample that must pass fails now." in compared.reason
    assert len(must.sample_ids) == 1
    assert _warmth(context, *handles, caller=SCORER).must_pass.sample_ids == []
    assert _warmth(context, *reversed(handles)).must_pass.newly_failed == 0


# ---- what changed ----------------------------------------------------------------------------------------------------


def test_what_changed_is_counted(context: Context, good: str, hasty: str, wrong: str) -> None:
    changed, back = _compare(context, good, hasty).changed, _compare(context, hasty, good).changed
    assert changed.samples == SampleChanges(added=1 + len(LEARNED), removed=1, relabelled=0)
    assert changed.held_out == SampleChanges(added=0, removed=1, relabelled=0)
    assert (changed.traits_added, changed.traits_removed) == (["haste"], [])
    assert {each.name: (each.trait, each.a, each.b) for each in changed.traits_changed} == {
        "name": ("warmth", "Warmth", "Warmth of tone"),
        "positive_label": ("warmth", "positive", "warm"),
        "aggregation": ("warmth", "mean", "min"),
    }
    assert back.samples == SampleChanges(added=1, removed=1 + len(LEARNED), relabelled=0)
    assert (back.traits_added, back.traits_removed) == ([], ["haste"])
    relabelled = _compare(context, good, wrong).changed.samples
    assert relabelled == SampleChanges(added=0, removed=0, relabelled=len(LEARNED))


def test_a_version_without_a_record_says_why(context: Context, good: str) -> None:
    exported = export_of(context, AUTHOR, good)
    unrecorded = [each.model_copy(update={"samples": None}) for each in exported.versions]
    without = exported.model_copy(update={"versions": unrecorded})
    signed = without.model_copy(update={"sha256": digest(without)})
    imported = bundles.import_(context, AUTHOR, signed, new_handle()).handle
    changed = _compare(context, good, imported).changed
    assert (changed.samples, changed.held_out) == (None, None)
    assert changed.unrecorded == (
        f"The samples of {imported}@v1 are not recorded: it was imported, or made by an older release."
    )


# ---- on texts --------------------------------------------------------------------------------------------------------


def test_texts_get_the_scores_of_both_versions(context: Context, good: str, wrong: str) -> None:
    texts, bad = [WARM[0], WARM_TESTS[0], COLD[0], WARM[0]], ["", " ", "a\x00b", "https://example.org/page", "\ud800"]
    lines = _compare(context, good, wrong, texts=[*texts, *bad]).texts
    assert lines is not None
    assert [line.index for line in lines] == [*range(len(texts) + len(bad))]
    for text, line in zip(texts, lines, strict=False):
        assert isinstance(line, ComparedText)
        a, b = (score(context, each, text) for each in (good, wrong))
        own = line.traits["warmth"]
        assert (own.a, own.b, own.delta) == (a.scores["warmth"], b.scores["warmth"], b.scores["warmth"] - own.a)
        assert (own.tier_a, own.tier_b) == (a.detail["warmth"].label, b.detail["warmth"].label)
        assert (line.composite.a, line.composite.b) == (a.composite, b.composite)
        assert own.side_changed
    failed = [line.error.code for line in lines if isinstance(line, FailedLine)]
    assert failed == ["validation_failed"] * len(bad)


def test_the_changed_samples_that_moved_a_text_are_named(context: Context, good: str) -> None:
    text, wrong = "You are always welcome at our house, and there is coffee.", (WARM[4], 0.0)
    other = _trained(context, [*inputs([each for each in LEARNED if each[0] != WARM[4]]), *inputs([wrong])])
    [moved] = _moved_by(context, good, other, text)
    assert (moved.trait, moved.change, moved.quality_a, moved.quality_b) == ("warmth", "relabelled", 1.0, 0.0)
    assert moved.similarity > 0.5
    assert moved.shift < 0, "the wrong label made the text colder"
    with reading(context.engine) as connection:
        assert stored_samples.texts(connection, [moved.sample_id]) == {moved.sample_id: WARM[4]}


def test_added_and_removed_samples_are_named_too(context: Context, good: str) -> None:
    less = _trained(context, inputs(LEARNED[1:]))
    [removed], [added] = (_moved_by(context, *handles, WARM[0]) for handles in ((good, less), (less, good)))
    assert (removed.change, removed.quality_a, removed.quality_b) == ("removed", 1.0, None)
    assert (added.change, added.quality_a, added.quality_b) == ("added", None, 1.0)
    assert removed.similarity == added.similarity == 1.0
    assert removed.shift < 0 < added.shift


def test_an_explanation_is_for_those_who_may_read_the_samples_and_for_few_texts(context: Context, good: str) -> None:
    with pytest.raises(errors.InsufficientScope):
        _compare(context, good, good, caller=SCORER, texts=["text"], explain=True)
    for texts in (None, ["text"] * 11):
        with pytest.raises(errors.ValidationFailed):
            _compare(context, good, good, texts=texts, explain=True)


def test_the_vectors_of_both_versions_are_shared(context: Context, good: str, wrong: str) -> None:
    text = "A sentence that was never scored by any of the two before."
    _compare(context, good, wrong)
    encoder = Counting(context.encoder)
    _compare(replace(context, encoder=encoder), good, wrong, texts=[text])
    assert encoder.asked == [text]


# ---- refusals and limits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "error", "side"),
    [
        ("local.absent", "{}", errors.ModelNotFound, "a"),
        ("{}", "local.absent", errors.ModelNotFound, "b"),
        ("{}", "{}@v7", errors.VersionNotFound, "b"),
        ("{}@first", "{}", errors.VersionNotFound, "a"),
        ("Bad", "{}", errors.InvalidHandle, "a"),
        ("{}", "{}@", errors.InvalidHandle, "b"),
    ],
)
def test_errors_name_the_side(
    context: Context, good: str, a: str, b: str, error: type[errors.TraitbenchError], side: str
) -> None:
    with pytest.raises(error) as raised:
        _compare(context, a.format(good), b.format(good))
    assert raised.value.details["side"] == side


def test_both_models_are_the_callers_trained_and_not_archived(context: Context, good: str) -> None:
    empty, gone = new_model(context), new_model(context)
    models.delete(context, AUTHOR, gone)
    for handle, error in ((empty, errors.ModelNotTrained), (gone, errors.ModelArchived)):
        with pytest.raises(error) as raised:
            _compare(context, good, handle)
        assert raised.value.details["side"] == "b"
    with pytest.raises(errors.ModelNotFound):
        _compare(context, good, good, caller=STRANGER)


def test_only_traits_that_both_versions_have_are_compared(context: Context, good: str, hasty: str) -> None:
    assert [*_compare(context, good, hasty).traits] == ["warmth"]
    assert [*_compare(context, good, hasty, traits=["warmth"]).traits] == ["warmth"]
    with pytest.raises(errors.ValidationFailed) as raised:
        _compare(context, good, hasty, traits=["haste"])
    assert raised.value.details["side"] == "a"
    other = _compare(context, good, _trained(context, inputs(LEARNED, "haste"), [HASTE]), texts=[WARM[0]])
    assert (other.verdict, other.traits) == ("unknown", {})
    assert other.reason == "Not known: the versions have no trait in common."


def test_under_zero_retention_nothing_is_stored_and_nothing_can_be_told(context: Context, good: str) -> None:
    def stored() -> int:
        with reading(context.engine) as connection:
            return connection.execute(select(func.count()).select_from(tables.kept_vectors)).scalar_one()

    silent = _trained(context, [*inputs(FLIPPED), *ALL_TESTS])
    update(context, silent, zero_data_retention=True)
    before = stored()
    compared = _compare(context, good, silent, texts=["A text that nobody has sent before."])
    assert stored() == before
    assert compared.traits["warmth"].n == 12, "the other model still has its test samples"
    assert compared.changed.unrecorded is not None
    assert "zero data retention" in compared.changed.unrecorded
    assert _warmth(context, silent, f"{silent}@v1").n == 0
