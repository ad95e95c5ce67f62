"""What is said of a version's figures: its gain against the one before, and what was measured on what."""

from datetime import UTC, datetime
from typing import Any

import pytest

from traitbench.app.presentation.figures import (
    measured_on,
    names_of,
    outcome,
    pair_on_tests,
    series,
    sets_of_tests,
)
from traitbench.contract import held_out
from traitbench.contract.metrics import HeldOutFigures, Metrics
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version

NAMES = {"warmth": "Warmth", "clarity": "Clarity"}


def test_equal_parameters_are_no_change() -> None:
    text = outcome(version(1, warmth=(0.9, 0.8, 0.95)), version(2, param_hash="sha256:1"), NAMES)
    assert text == "v2 has the same parameters as v1, so both give every text the same score."


WIDE, NARROW = (0.9, 0.8, 0.95), (0.9, 0.89, 0.91)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (WIDE, (0.7, 0.65, 0.75), "worse (change −0.20, 95 % interval −0.27 to −0.09)"),
        (WIDE, (0.99, 0.97, 1.0), "better (change +0.09, 95 % interval +0.04 to +0.19)"),
        (WIDE, (0.95, 0.88, 0.98), "about equally well (change +0.05, 95 % interval −0.04 to +0.15)"),
        (WIDE, (0.86, 0.75, 0.93), "about equally well (change −0.04, 95 % interval −0.16 to +0.08)"),
        (WIDE, WIDE, "about equally well (change 0.00, 95 % interval −0.11 to +0.11)"),
        # Intervals that overlap a little, and a difference that is beyond noise all the same.
        ((0.8, 0.74, 0.85), (0.89, 0.84, 0.93), "better (change +0.09, 95 % interval +0.02 to +0.16)"),
        # More samples than anyone has: beyond noise, and still equal as far as the figures are shown.
        (NARROW, (0.904, 0.9039, 0.9041), "about equally well (change 0.00, 95 % interval −0.01 to +0.01)"),
        (
            (0.9651, 0.965, 0.966),
            (0.9749, 0.974, 0.975),
            "about equally well (change +0.01, 95 % interval +0.01 to +0.01)",
        ),
        ((0.97, 0.9, 0.99), (0.9651, 0.89, 0.99), "about equally well (change 0.00, 95 % interval −0.08 to +0.07)"),
    ],
)
def test_only_a_change_beyond_noise_is_better_or_worse(
    before: tuple[float, float, float], after: tuple[float, float, float], words: str
) -> None:
    text = outcome(version(1, warmth=before), version(2, warmth=after), NAMES)
    assert text == f"Mean AUROC **{before[0]:.2f} → {after[0]:.2f}**: v2 separates the poles {words}."


def test_the_same_change_backwards_has_the_opposite_verdict() -> None:
    low, high = version(1, warmth=(0.7, 0.65, 0.75)), version(2, warmth=(0.99, 0.97, 1.0))
    assert "v2 separates the poles better (change +0.29" in outcome(low, high, NAMES)
    assert "v1 separates the poles worse (change −0.29" in outcome(high, low, NAMES)


def test_a_change_without_an_interval_is_shown_and_not_judged() -> None:
    text = outcome(version(1, warmth=(0.9, None, None)), version(2, warmth=WIDE), NAMES)
    assert text == "Mean AUROC **0.90 → 0.90**."


def test_traits_that_changed_beyond_noise_are_named() -> None:
    before = version(1, warmth=(0.7, 0.65, 0.75), clarity=WIDE)
    up, mixed = (version(2, warmth=(0.99, 0.97, 1.0), clarity=clarity) for clarity in (WIDE, (0.6, 0.5, 0.7)))
    assert outcome(before, up, NAMES).endswith(" Better: Warmth.")
    assert outcome(before, mixed, NAMES).endswith(" Better: Warmth. Worse: Clarity.")
    assert outcome(before, version(2, warmth=(0.7, 0.65, 0.75), clarity=(0.91, 0.8, 0.95)), NAMES).endswith(
        "No trait changed by more than chance."
    )


@pytest.mark.parametrize(
    ("samples", "words"),
    [(30, "with 10 more samples"), (19, "with 1 fewer sample"), (20, "")],
)
def test_other_samples_are_not_directly_comparable(samples: int, words: str) -> None:
    before, after = version(1, warmth=WIDE), version(2, samples=samples, warmth=WIDE)
    notice = f"v2 was measured {words}, so the figures are not directly comparable."
    assert outcome(before, after, NAMES).endswith(notice) is bool(words)


def test_other_samples_of_a_trait_are_noticed_if_the_total_is_the_same() -> None:
    before, after = version(1, warmth=WIDE), version(2, warmth=WIDE)
    before.metrics.traits["warmth"].counts["positive"] = 10
    after.metrics.traits["warmth"].counts["positive"] = 9
    assert "v2 was measured with other samples, so the figures are not directly comparable." in outcome(
        before, after, NAMES
    )


def test_means_over_other_traits_are_not_compared() -> None:
    before, after = version(1, warmth=WIDE), version(2, warmth=WIDE, clarity=(0.6, 0.5, 0.7))
    text = outcome(before, after, NAMES)
    assert text.startswith("The two versions measure different traits, so their means are not compared.")
    assert "better" not in text
    assert "worse" not in text


def test_nothing_is_claimed_of_what_was_not_measured() -> None:
    assert outcome(version(1), version(2), NAMES) == ""
    assert measured_on(series(version(1, warmth=None), NAMES)) == ""
    assert measured_on(series(version(1, warmth=None, clarity=(0.9, 0.8, 1.0)), NAMES)).endswith(" (Clarity).")


def test_a_trait_that_discovery_found_bears_its_sign() -> None:
    assert names_of([trait("warmth", "extrinsic"), trait("axis_1", "intrinsic")]) == {
        "warmth": "warmth",
        "axis_1": "◇ axis_1",
    }


def trait(name: str, kind: Any) -> Trait:
    return Trait(
        key=name,
        name=name,
        positive_label="positive",
        negative_label="negative",
        sample_count=0,
        positive_samples=0,
        negative_samples=0,
        held_out_samples=0,
        description="",
        kind=kind,
        aggregation="mean",
        discrimination=None,
        explained_variance=None,
        anchor_sample_ids=None,
    )


def version(
    number: int, *, param_hash: str = "", samples: int = 20, **traits: tuple[float, float | None, float | None] | None
) -> Version:
    """A version with an AUROC and its interval for each trait."""
    figures = {
        key: {
            "auroc": result and result[0],
            "auroc_interval": list(result[1:]) if result and result[1] is not None else None,
            "measured_on": "10 folds",
        }
        for key, result in traits.items()
    }
    means = [result[0] for result in traits.values() if result]
    return Version(
        version_id=number,
        version_no=number,
        triggered_by="train",
        param_hash=param_hash or f"sha256:{number}",
        sample_count=samples,
        created_at=datetime(2026, 11, 21, tzinfo=UTC),
        run_id=None,
        metrics=Metrics.model_validate({"auroc": sum(means) / len(means) if means else None, "traits": figures}),
        tags=[],
    )


SET_A, SET_B = "a" * 64, "b" * 64


def with_tests(number: int, **tests: tuple[float, str | None]) -> Version:
    """A version with an AUROC on ten test samples of a set for each trait."""
    wide: dict[str, Any] = dict.fromkeys(tests, WIDE)
    made = version(number, **wide)
    for key, (area, test_set) in tests.items():
        made.metrics.traits[key] = made.metrics.traits[key].model_copy(
            update={
                "test": HeldOutFigures(
                    auroc=area, auroc_interval=(0.5, 1.0), positive=4, negative=6, error=0.1, test_set=test_set
                )
            }
        )
    return made


def test_figures_on_the_same_test_samples_are_compared_first() -> None:
    text = outcome(with_tests(1, warmth=(0.8, SET_A)), with_tests(2, warmth=(0.85, SET_A)), NAMES)
    assert text.startswith("AUROC on the same 10 test samples **0.80 → 0.85**. Out of fold: Mean AUROC")
    both = {"warmth": (0.8, SET_A), "clarity": (0.6, SET_B)}
    text = outcome(with_tests(1, **both), with_tests(2, **both), NAMES)
    assert text.startswith("Mean AUROC on the same 20 test samples **0.70 → 0.70**.")


@pytest.mark.parametrize("sets", [(SET_A, SET_B), (None, None), (SET_A, None)])
def test_figures_on_different_test_samples_are_never_compared(sets: tuple[str | None, str | None]) -> None:
    before, after = (with_tests(at, warmth=(0.8 + at / 100, each)) for at, each in enumerate(sets, start=1))
    text = outcome(before, after, NAMES)
    assert text.startswith(
        "**On test samples:** v1 and v2 were measured on different test samples, so these figures are not compared."
    )
    assert "0.81" not in text
    drawn, said = pair_on_tests(before, after, NAMES)
    assert [one.label for one in drawn] == ["v2"]
    assert said == "v1 was measured on different test samples, so these figures are not compared (Warmth)."


def test_only_the_traits_with_the_same_test_samples_are_drawn_together() -> None:
    before = with_tests(1, warmth=(0.8, SET_A), clarity=(0.7, SET_A))
    after = with_tests(2, warmth=(0.9, SET_A), clarity=(0.9, SET_B))
    drawn, said = pair_on_tests(before, after, NAMES)
    assert [(one.label, [each.name for each in one.figures]) for one in drawn] == [
        ("v1", ["Warmth"]),
        ("v2", ["Warmth", "Clarity"]),
    ]
    assert "(Clarity)" in said
    assert outcome(before, after, NAMES).startswith("AUROC on the same 10 test samples **0.80 → 0.90**.")


def test_versions_on_the_same_test_samples_share_a_letter() -> None:
    every = [
        with_tests(6, warmth=(0.8, None)),
        with_tests(5, warmth=(0.8, None)),
        with_tests(4, warmth=(0.8, SET_A)),
        with_tests(3, warmth=(0.8, SET_B)),
        version(2, warmth=WIDE),
        with_tests(1, warmth=(0.8, SET_A)),
    ]
    assert sets_of_tests(every) == {
        "v1": "10, set A",
        "v2": "",
        "v3": "10, set B",
        "v4": "10, set A",
        "v5": "10, set C",
        "v6": "10, set D",
    }


def test_words_on_test_samples_count_and_agree() -> None:
    metrics = with_tests(1, warmth=(0.8, SET_A)).metrics
    assert held_out.headline(metrics) == "AUROC 0.80 on 10 test samples"
    for failed, every, said in (
        (0, 0, ""),
        (0, 1, "1 must-pass sample passes"),
        (0, 2, "2 must-pass samples pass"),
        (1, 2, "1 of 2 must-pass samples fails"),
        (2, 3, "2 of 3 must-pass samples fail"),
    ):
        test = HeldOutFigures(must_pass=every, must_pass_failed=failed)
        metrics.traits["warmth"] = metrics.traits["warmth"].model_copy(update={"test": test})
        assert held_out.must_pass(metrics) == said
    assert held_out.headline(metrics) == ""
    assert held_out.headline(version(1, warmth=WIDE).metrics) == ""
