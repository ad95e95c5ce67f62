"""What would make a trait better follows from what is known about it."""

from collections.abc import Mapping
from typing import Any

import pytest

from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.traits import Trait
from traitbench_app.parts.advice import advice_on

MOOD = Trait.model_construct(
    key="mood", name="Mood", kind="extrinsic", positive_label="happy", negative_label="unhappy"
)
DISCOVERED = MOOD.model_copy(update={"kind": "intrinsic"})


def figures(wrong: int = 0, of: int = 600, **changes: Any) -> TraitMetrics:
    """The figures of so many samples at both poles, of which some are wrong."""
    negative, positive = [0] * 101, [0] * 101
    negative[10], positive[90], positive[20] = of // 2, of // 2 - wrong, wrong
    sure = {"high": {"samples": of, "right": of - wrong}}
    known: Mapping[str, Any] = {
        "auroc": 0.9,
        "auroc_interval": (0.88, 0.92),
        "confidence": sure,
        "score_counts": {"negative": negative, "positive": positive},
        "forecast": {"samples": of + 20, "auroc": 0.905, "interval": (0.88, 0.93), "more": 20},
    }
    return TraitMetrics.model_validate({**known, **changes})


def level(upper: float) -> Mapping[str, Any]:
    """A forecast that may reach this at most."""
    return {"forecast": {"samples": 620, "auroc": 0.9, "interval": (0.88, upper), "more": 20}}


@pytest.mark.parametrize(
    ("known", "samples", "way", "at", "said"),
    [
        (None, (0, 0), "add", None, "Add texts on both sides first: 0 of each are too few"),
        (figures(3, 20), (10, 10), "add", None, "Add texts on both sides first: 10 of each are too few"),
        (
            figures(3, 40),
            (9, 31),
            "add",
            "negative",
            "Add *unhappy* texts first: 9 are too few to tell how good it is.",
        ),
        (figures(3, 40), (31, 1), "add", "positive", "Add *happy* texts first: 1 is too few to tell how good it is."),
        (None, (30, 30), None, None, ""),
        (figures(20, 60, auroc_interval=(0.48, 0.8)), (30, 30), "check", None, "It does not tell its sides apart yet."),
        (
            figures(60),
            (300, 300),
            "review",
            None,
            "First look at its 60 mistakes in 600 samples; then add texts like them.",
        ),
        (figures(1), (300, 300), "review", None, "First look at its 1 mistake in 600 samples; then add texts like it."),
        (
            figures(60, feed={"pole": "negative"}),
            (300, 300),
            "review",
            "negative",
            "First look at its 60 mistakes in 600 samples; then add texts like them, *unhappy* ones first.",
        ),
        (
            figures(60, **level(0.92)),
            (300, 300),
            "review",
            None,
            "First look at its 60 mistakes in 600 samples; then add texts like",
        ),
        (
            figures(60, **level(0.905)),
            (300, 300),
            "review",
            None,
            "More texts like these would not help: review its 60",
        ),
        (figures(0, **level(0.905)), (300, 300), "score", None, "More texts like these would not help."),
        (figures(9, 44, **level(0.905)), (22, 22), "review", None, "First look at its 9 mistakes in 44 samples; then"),
        (figures(0, 44), (22, 22), "score", None, "It makes no mistakes on its samples."),
        (figures(9, shortcut={"kind": "token", "auroc": 1.0}), (5, 9), "check", None, "One word alone"),
    ],
)
def test_advice_follows_the_evidence(
    known: TraitMetrics | None, samples: tuple[int, int], way: str | None, at: str | None, said: str
) -> None:
    advice = advice_on(MOOD, known, negatives=samples[0], positives=samples[1])
    assert (advice and advice.way, advice and advice.at) == (way, at)
    assert (advice.sentence if advice else "").startswith(said)


def test_a_discovered_trait_needs_no_samples_at_its_poles() -> None:
    assert advice_on(DISCOVERED, None, negatives=0, positives=0) is None
