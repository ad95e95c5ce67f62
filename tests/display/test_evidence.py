"""How often a version is right, in plain words: from counts, with what they were counted on."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import not_none
from traitbench.contract.metrics import HeldOutFigures, Metrics, ShortcutFigures, Sureness, TraitMetrics
from traitbench.contract.traits import Trait
from traitbench.display.quality import Evidence, by_trait, evidence_on, wilson


def on(known: Mapping[str, Evidence]) -> Evidence:
    """The evidence on a version that was measured."""
    evidence = not_none(evidence_on(known))
    return evidence


@pytest.mark.parametrize(
    ("right", "samples", "words"),
    [
        (20, 20, "all 20"),
        (999, 1000, "nearly all"),
        (96, 100, "more than 9 in 10"),
        (94, 100, "about 9 in 10"),
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
    assert known["warmth"].lead([]).startswith("50 of 60 samples fall on the side of their label.")
    both = on(known)
    assert (both.right, both.samples) == (18, 20)
    assert both.below([]) == f"{both.lead([])} {both.doubt}"
    assert both.lead([]).startswith("18 of 20 test samples fall on the side of their label.")
    assert both.says("v1", []) == "v1 gets about 9 in 10 right, from few test samples"


def test_several_traits_are_counted_together_and_their_auroc_is_a_mean() -> None:
    both = on(by_trait(Metrics(traits={"a": trait(right=50, samples=60), "b": trait(right=60, samples=60)})))
    assert (both.right, both.samples, both.figure) == (110, 120, "mean AUROC 0.92 of 2 traits")


def test_what_was_not_measured_is_not_claimed() -> None:
    assert evidence_on(by_trait(Metrics(traits={"a": TraitMetrics(measured_on="not measured: one text")}))) is None


@pytest.mark.parametrize(("right", "worst"), [(61, ", about 6 in 10 on its weakest trait"), (80, "")])
def test_a_trait_far_below_the_rest_is_said_in_the_title(right: int, worst: str) -> None:
    known = {"good": Evidence(92, 100, False, 0.95, None), "bad": Evidence(right, 100, False, 0.6, None)}
    assert on(known).title.endswith(f" right on texts it has not seen{worst}")
    assert on(known).in_short.endswith(f" right{worst}")


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


# ---- figures that flatter --------------------------------------------------------------------------------------------

MOOD = Trait.model_construct(key="mood", name="Mood", positive_label="happy", negative_label="sad")


def mood(**figures: Any) -> Evidence:
    """The evidence on a version with one trait."""
    given = {"auroc": 0.9, "auroc_interval": (0.86, 0.94), "confidence": {"low": {"samples": 100, "right": 80}}}
    return on(by_trait(Metrics.model_validate({"traits": {"mood": given | figures}})))


def tiers(positive: int, negative: int) -> dict[str, dict[str, int]]:
    return {
        pole: {"Weak": count, "Developing": 0, "Solid": 0, "Strong": 0}
        for pole, count in (("positive", positive), ("negative", negative))
    }


@pytest.mark.parametrize(
    ("right", "larger", "guessed"), [(80, 80, True), (84, 80, True), (80, 90, True), (90, 80, False)]
)
def test_a_share_that_always_answering_one_pole_gets_is_no_merit(right: int, larger: int, guessed: bool) -> None:
    confidence = {"low": {"samples": 100, "right": right}}
    evidence = mood(confidence=confidence, confusion=tiers(larger, 100 - larger))
    says = evidence.says("v1", [MOOD])
    assert ("v1 is no better than a guess: always answering “happy” gets" in says) == guessed
    assert ("on texts it has not seen" in says) == (not guessed)
    assert (evidence.in_short == "no better than a guess") == guessed
    sad = mood(confidence=confidence, confusion=tiers(100 - larger, larger)).says("v1", [MOOD])
    assert ("“sad”" in sad) == guessed


def test_a_share_below_a_guess_is_not_said_of_the_guess() -> None:
    evidence = mood(confidence={"low": {"samples": 120, "right": 45}}, confusion=tiers(64, 56))
    assert evidence.says("v1", [MOOD]) == (
        "v1 is no better than a guess: always answering “happy” gets about 5 in 10 right"
    )


def test_the_larger_pole_of_the_test_samples_counts_if_there_are_any() -> None:
    test = {"auroc": 0.8, "error": 0.2, "positive": 4, "negative": 16}
    assert "always answering “sad” gets about 8 in 10 right too" in mood(test=test).says("v1", [MOOD])


@pytest.mark.parametrize(
    ("positive", "right", "title", "guess"),
    [
        (50, 90, "About 9 in 10 right on texts it has not seen", "Always guessing one side would get 50."),
        (60, 90, "About 9 in 10 right on texts it has not seen", "Always guessing “happy” would get 60."),
        (20, 82, "No better than a guess", "Always guessing “sad” would get 80."),
    ],
)
def test_the_title_of_a_page_says_how_good_and_the_lead_says_what_guessing_gets(
    positive: int, right: int, title: str, guess: str
) -> None:
    confidence = {"low": {"samples": 100, "right": right}}
    evidence = mood(confidence=confidence, confusion=tiers(positive, 100 - positive))
    assert evidence.title == title
    assert evidence.lead([MOOD]) == f"{right} of 100 samples fall on the side of their label. {guess}"


def test_the_lead_counts_test_samples_and_several_traits() -> None:
    test = {"auroc": 0.8, "error": 0.1, "positive": 4, "negative": 6}
    assert mood(test=test).lead([MOOD]).startswith("9 of 10 test samples fall on")
    assert mood(confidence={"low": {"samples": 3, "right": 1}}).lead([MOOD]) == (
        "1 of 3 samples falls on the side of their label."
    )
    each = trait(right=90, samples=100).model_copy(update={"confusion": tiers(50, 50)})
    assert "Always guessing the larger side would get 100." in on(
        by_trait(Metrics(traits={"a": each, "b": each}))
    ).lead([])


def test_several_traits_are_no_better_than_a_guess_together() -> None:
    each = trait(right=80, samples=100).model_copy(update={"confusion": tiers(80, 20)})
    both = on(by_trait(Metrics(traits={"a": each, "b": each})))
    assert "always answering the more frequent pole gets about 8 in 10 right too" in both.says("v1", [MOOD])


SHORTCUT = {"kind": "token", "auroc": 0.98, "base": 1.0, "without": 0.55}


def test_texts_that_share_a_shortcut_are_not_called_unseen() -> None:
    evidence = mood(shortcut=SHORTCUT, confidence={"high": {"samples": 128, "right": 128}})
    assert evidence.says("v1", [MOOD]) == "v1 gets all 128 right, but only on texts that have the same shortcut"
    assert evidence.in_short == "all 128 right on texts with its shortcut"
    assert evidence.warnings([MOOD]) == ["Mood: One word alone tells the poles apart."]
    sides = {"positive": {"samples": 64, "right": 61}, "negative": {"samples": 64, "right": 64}}
    counted = mood(shortcut=SHORTCUT | {"sides": sides})
    said = f"61 of 64 {MOOD.positive_label} and 64 of 64 {MOOD.negative_label} texts"
    assert counted.warnings([MOOD]) == [f"Mood: One word alone gets {said} right."]
    assert counted.warnings([]) == ["mood: One word alone gets 61 of 64 positive and 64 of 64 negative texts right."]
    assert counted.shortcuts["mood"].says == (
        "One word alone gets 61 of 64 positive and 64 of 64 negative texts right (AUROC 0.98). "
        "Without that, AUROC is 0.55 instead of 1.00."
    )


@pytest.mark.parametrize(("in_tests", "says"), [(False, "on texts it has not seen"), (True, "the same shortcut")])
def test_test_samples_count_as_unseen_if_they_do_not_share_the_shortcut(in_tests: bool, says: str) -> None:
    test = {"auroc": 0.8, "error": 0.1, "positive": 100, "negative": 100}
    evidence = mood(shortcut=SHORTCUT | {"in_tests": in_tests}, test=test)
    assert says in evidence.says("v1", [MOOD])
    assert evidence.warnings([MOOD]), "what training learned is said anyway"
    assert ("that have the same shortcut" in evidence.title) == in_tests


def test_the_shortcut_of_a_trait_without_test_samples_is_said_too() -> None:
    shortcut = ShortcutFigures.model_validate(SHORTCUT)
    marked = trait(right=60, samples=60).model_copy(update={"shortcut": shortcut})
    both = on(by_trait(Metrics(traits={"a": trait(right=50, samples=60, wrong=2), "mood": marked})))
    assert both.samples == 20
    assert len(both.warnings([MOOD])) == 1
    assert both.says("v1", [MOOD]) == "v1 gets about 9 in 10 right, from few test samples"


def test_an_auroc_near_one_of_few_samples_is_said_with_the_lower_end_of_the_share() -> None:
    confidence = {"high": {"samples": 40, "right": 40}}
    evidence = mood(auroc=1.0, auroc_interval=(0.93, 1.0), confidence=confidence)
    assert evidence.doubt == (
        "With only 40 samples, this may be luck, or a shortcut that these texts share: the true share may be as low as "
        "91 in 100."
    )
    assert evidence.title == "All 40 right, from few samples"
    assert mood(auroc=1.0, auroc_interval=(0.99, 1.0), confidence=confidence).doubt == ""


@pytest.mark.parametrize(
    ("figures", "says"),
    [
        ({"kind": "link", "auroc": 0.95}, "Links alone tell the poles apart (AUROC 0.95). What is left without that"),
        (
            {"kind": "length", "auroc": 0.95, "base": 0.9, "without": 0.88},
            "Without that, AUROC is still 0.88 (0.90 now).",
        ),
        ({"kind": "of a later release", "auroc": 0.95}, "One mark alone tells the poles apart (AUROC 0.95)."),
    ],
)
def test_a_shortcut_in_words(figures: dict[str, Any], says: str) -> None:
    assert says in ShortcutFigures.model_validate(figures).says


# ---- samples that belong together ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "interval", "title"),
    [
        (72, (0.3, 0.7), "No better than a guess"),
        (104, (0.42, 0.88), "Not shown to be better than a guess"),
        (130, (0.82, 0.99), "About 9 in 10 right, from few groups"),
    ],
    ids=["labels that mean nothing", "labels that may mean nothing", "labels that mean something"],
)
def test_turns_of_conversations_tell_no_more_than_conversations(
    right: int, interval: tuple[float, float], title: str
) -> None:
    measured = trait(right=right, samples=144)
    known = by_trait(
        Metrics(
            traits={
                "warmth": measured.model_copy(
                    update={"auroc_interval": interval, "counts": {"groups": 24}, "confusion": tiers(72, 72)}
                )
            }
        )
    )
    turns = known["warmth"]
    assert turns.title == title
    assert turns.few == ", from few groups"
    assert f"{right} of 144 samples in 24 groups fall" in turns.lead([])
    assert "with 24 groups" in turns.doubt
    assert title[0] == "A" or "guess" in turns.says("v1", [])
    assert on(known | {"more": turns}).is_guessed == turns.is_guessed


def test_groups_of_test_samples_are_counted() -> None:
    test = HeldOutFigures(auroc=0.9, auroc_interval=(0.7, 1.0), error=0.1, positive=18, negative=18, groups=6)
    known = by_trait(Metrics(traits={"warmth": TraitMetrics(test=test)}))
    assert known["warmth"].groups == 6
    assert on(known | {"more": replace(known["warmth"], groups=0)}).groups == 6 + 36
