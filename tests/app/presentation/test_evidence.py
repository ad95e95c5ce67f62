"""How often a version is right, in plain words: from counts, with what they were counted on."""

import pytest

from traitbench.app.presentation.evidence import Evidence, by_trait, evidence_on, wilson
from traitbench.contract.metrics import HeldOutFigures, Metrics, Sureness, TraitMetrics


@pytest.mark.parametrize(
    ("right", "samples", "words"),
    [
        (20, 20, "all 20"),
        (999, 1000, "nearly all"),
        (95, 100, "about 19 in 20"),
        (91, 100, "about 9 in 10"),
        (50, 100, "about 5 in 10"),
    ],
)
def test_a_share_is_named_as_a_person_would(right: int, samples: int, words: str) -> None:
    assert Evidence(right, samples, False, None, None).in_words == words


def test_test_samples_count_and_out_of_fold_scores_only_without_them() -> None:
    metrics = Metrics(traits={"warmth": trait(right=50, samples=60), "clarity": trait(right=30, samples=60, wrong=2)})
    known = by_trait(metrics)
    assert list(known) == ["warmth", "clarity"], "the weakest comes first"
    assert (known["clarity"].right, known["clarity"].samples, known["clarity"].on_tests) == (18, 20, True)
    assert (
        known["warmth"].measured_on
        == "50 of 60 samples are on the side of their label, each scored by a fit without it"
    )
    both = evidence_on(known)
    assert both is not None
    assert (both.right, both.samples, both.measured_on) == (
        18,
        20,
        "18 of 20 test samples are on the side of their label. No version learns from these",
    )


def test_several_traits_are_counted_together_and_their_auroc_is_a_mean() -> None:
    both = evidence_on(by_trait(Metrics(traits={"a": trait(right=50, samples=60), "b": trait(right=60, samples=60)})))
    assert both is not None
    assert (both.right, both.samples, both.figure) == (110, 120, "mean AUROC 0.92 of 2 traits")


def test_what_was_not_measured_is_not_claimed() -> None:
    assert evidence_on(by_trait(Metrics(traits={"a": TraitMetrics(measured_on="not measured: one text")}))) is None


def test_little_evidence_is_said_with_the_range_of_the_true_share() -> None:
    few = Evidence(18, 20, False, 0.9, (0.7, 0.98))
    assert few.figure == "AUROC 0.90, 0.70 to 0.98"
    assert few.doubt == (
        "This is little evidence: with 20 samples, the true share may be anywhere from 70 to 97 in 100."
    )
    assert Evidence(180, 200, False, 0.9, None).doubt == ""
    assert wilson(0, 10) == pytest.approx((0.0, 0.278), abs=0.001)


def trait(*, right: int, samples: int, wrong: int | None = None) -> TraitMetrics:
    test = None if wrong is None else HeldOutFigures(auroc=0.95, error=wrong / 20, positive=10, negative=10)
    return TraitMetrics(auroc=0.92, confidence={"high": Sureness(samples=samples, right=right)}, test=test)
