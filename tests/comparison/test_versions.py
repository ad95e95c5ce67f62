"""The verdict on two versions, by trait and over all traits."""

import pytest

from traitbench.comparison.paired import Verdict
from traitbench.comparison.versions import overall, side_changed
from traitbench.contract.comparisons import MustPass, TraitDifference


def result(verdict: Verdict, count: int = 60, *, newly_failed: int = 0) -> TraitDifference:
    """A trait with this verdict, measured on so many samples."""
    must_pass = MustPass(
        samples=newly_failed, failed_a=0, failed_b=newly_failed, newly_failed=newly_failed, sample_ids=[]
    )
    return TraitDifference(
        auroc=None,
        error=None,
        n=count,
        positive=count // 2,
        negative=count // 2,
        measured_on="",
        must_pass=must_pass,
        verdict=verdict,
        reason="",
    )


@pytest.mark.parametrize(
    ("verdicts", "expected", "reason"),
    [
        (["better"], "better", "Better. Measured on 60 test samples."),
        (["no_difference"], "no_difference", "No difference shown. Measured on 60 test samples."),
        (["better", "better"], "better", "Better on both traits. Measured on 120 test samples."),
        (["worse"] * 3, "worse", "Worse on all 3 traits. Measured on 180 test samples."),
        (
            ["better", "no_difference", "better"],
            "better",
            "Better on 2 of 3 traits; no difference shown on 1. Measured on 180 test samples.",
        ),
        (
            ["better", "worse", "unknown"],
            "worse",
            "Worse on 1 of 3 traits; better on 1; not known on 1. Measured on 180 test samples.",
        ),
        (
            ["no_difference", "unknown"],
            "no_difference",
            "No difference shown on 1 of 2 traits; not known on 1. Measured on 120 test samples.",
        ),
    ],
)
def test_the_verdict_of_all_traits(verdicts: list[Verdict], expected: str, reason: str) -> None:
    results = {f"trait{place}": result(verdict) for place, verdict in enumerate(verdicts)}
    assert overall(results) == (expected, reason)


def test_samples_that_must_pass_and_fail_now_are_counted_in_the_reason() -> None:
    results = {"one": result("worse", newly_failed=2), "two": result("better")}
    assert overall(results) == (
        "worse",
        "Worse on 1 of 2 traits; better on 1. 2 test samples that must pass fail now. Measured on 120 test samples.",
    )


def test_nothing_measured_cannot_be_told() -> None:
    assert overall({"one": result("unknown", 0)})[0] == "unknown"
    assert overall({}) == ("unknown", "Not known: the versions have no trait in common.")
    assert overall({}, same=True)[0] == "no_difference"


@pytest.mark.parametrize(
    ("a", "b", "changed"), [(49, 51, True), (51, 100, False), (0, 49, False), (50, 51, True), (50, 50, False)]
)
def test_a_side_changes_across_the_middle(a: int, b: int, changed: bool) -> None:
    assert side_changed(a, b) is changed
