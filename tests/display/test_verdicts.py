"""Verdicts in words and as a picture: the title, what each verdict rests on, and the smallest difference that shows."""

import pytest

from traitbench.contract.comparisons import FigureDelta, MustPass, TraitDifference, VersionVerdict
from traitbench.display import verdicts
from traitbench.display.charts import versions
from traitbench.display.colours import PALETTE


def difference(
    verdict: VersionVerdict,
    error: tuple[float, float] = (0.25, 0.1),
    interval: tuple[float, float] | None = (-0.25, -0.05),
    *,
    n: int = 60,
    failing: int = 0,
) -> TraitDifference:
    """A trait with these shares of errors, and an AUROC of 0.8 and 0.9."""
    between = None if interval is None else [*interval]
    return TraitDifference(
        auroc=FigureDelta(a=0.8, b=0.9, delta=0.1, interval=None if interval is None else [0.02, 0.18]),
        error=FigureDelta(a=error[0], b=error[1], delta=error[1] - error[0], interval=between),
        n=n,
        positive=n // 2,
        negative=n - n // 2,
        measured_on=f"{n} test samples",
        must_pass=MustPass(samples=failing, failed_a=0, failed_b=failing, newly_failed=failing, sample_ids=[]),
        verdict=verdict,
        reason=f"{verdicts.title(verdict)}: there are only 4 test samples.",
    )


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ({"Warmth": "better"}, "v2 is better at Warmth"),
        (
            {"Warmth": "better", "Clarity": "no_difference", "Ownership": "unknown"},
            "v2 is better at Warmth. Clarity: no difference shown. Ownership: not known",
        ),
        ({"Warmth": "better", "Clarity": "worse"}, "v2 is worse at Clarity, better at Warmth"),
        ({"Warmth": "unknown", "Clarity": "unknown"}, "Not known whether v2 is better than v1"),
        ({"Warmth": "no_difference"}, "No difference shown between v1 and v2"),
        ({}, "Not known whether v2 is better than v1"),
        (
            {"Warmth": "better", **{f"T{number}": "no_difference" for number in range(9)}},
            "v2 is better at Warmth. 9 traits: no difference shown",
        ),
    ],
)
def test_the_title_says_every_verdict(given: dict[str, VersionVerdict], title: str) -> None:
    assert verdicts.sentence(given, "v1", "v2") == title


def test_a_draft_begins_the_title_in_upper_case() -> None:
    assert verdicts.sentence({"Warmth": "better"}, "v1", "the draft") == "The draft is better at Warmth"


def test_shown_differences_come_first_and_many_others_are_counted() -> None:
    traits = {f"t{number}": difference("no_difference") for number in range(9)} | {"worse": difference("worse")}
    shown, others = verdicts.shown_first(traits)
    assert (shown[0], len(shown), len(others)) == ("worse", 3, 7)
    assert verdicts.rest(traits, others) == "7 traits: no difference shown"
    assert verdicts.shown_first({"a": difference("unknown"), "b": difference("better")}) == (["b", "a"], [])


def test_no_difference_says_the_smallest_one_that_could_have_been_shown() -> None:
    wide, narrow = (difference("no_difference", (0.2, 0.2), (-half, half), n=56) for half in (0.1, 0.02))
    # Two figures are tested, so each at 97.5 %: 2.241 standard errors in place of 1.960.
    assert verdicts.notes({"a": wide})["a"] == "56 test texts can only show a difference of 12 in 100 or more."
    assert verdicts.notes({"a": narrow})["a"] == "56 test texts can only show a difference of 3 in 100 or more."
    assert wide.error is not None
    assert verdicts.least_shown(wide.error, 2) == pytest.approx(0.1 * 2.2414 / 1.96, abs=1e-4)
    assert verdicts.least_shown(wide.error, 24) > verdicts.least_shown(wide.error, 2)  # type: ignore[operator]


def test_a_difference_is_said_in_texts_and_with_its_interval() -> None:
    assert verdicts.notes({"a": difference("better")})["a"] == "9 more of 60 right. In 100: +15, from +4 to +26."
    worse = verdicts.notes({"a": difference("worse", failing=2)})["a"]
    assert worse.startswith("2 texts that should never be wrong are wrong now. ")


def test_a_verdict_by_the_order_alone_says_so() -> None:
    by_order = difference("better", (0.2, 0.18), (-0.1, 0.06), n=50)
    said = "Of 100 pairs of a text of each pole, 90 are in the right order, not 80."
    assert verdicts.notes({"a": by_order})["a"] == said


def test_without_an_interval_the_reason_of_the_service_stays() -> None:
    assert verdicts.notes({"a": difference("unknown", interval=None)})["a"] == "There are only 4 test samples."


def test_near_duplicates_are_no_counts() -> None:
    assert verdicts.counts(difference("better")) == (45, 54)
    assert verdicts.counts(difference("better", (0.251, 0.1))) is None


def test_only_a_shown_difference_has_a_colour() -> None:
    drawn = versions.figure(
        {
            "Warmth <b>": difference("better"),
            "Clarity": difference("no_difference", (0.2, 0.2), (-0.1, 0.1)),
            "Ownership": difference("unknown", interval=None),
        },
        "v1",
        "v2",
        2,
        PALETTE,
    )
    marks = next(trace for trace in drawn.data if trace.text and trace.text[0] == "B")
    assert list(marks.marker.color) == [PALETTE.accent, PALETTE.neutral, PALETTE.neutral]
    said = [each.text for each in drawn.layout.annotations]
    assert "<b>Warmth &lt;b&gt;</b>  45 → 54 of 60" in said
    assert said.count("no interval from so few texts") == 1


def test_the_alt_text_has_every_verdict_with_its_counts() -> None:
    traits = {"Warmth": difference("better")}
    said = versions.alt(traits, "v1", "v2", [*verdicts.notes(traits).values()])
    assert "v1 (A) and v2 (B)" in said
    assert "Warmth: Better, 45 → 54 of 60. 9 more of 60 right." in said
