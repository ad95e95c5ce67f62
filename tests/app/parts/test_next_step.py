"""The next step of a model: each row is a state with its sentence and button; earlier rows come before later ones."""

from typing import Any

import pytest

from traitbench.display.quality import Evidence
from traitbench_app.parts.next_step import Sides, StepFacts, as_word, next_step


def sides(negatives: int, positives: int, trait: str = "Mood") -> Sides:
    return Sides(trait, "unhappy", "happy", negatives, positives)


def evidence(right: int, of: int, *, larger: int = 0, auroc: float = 0.95, **more: Any) -> Evidence:
    return Evidence(right, of, False, auroc, (0.9, 0.99), larger=larger or of // 2, **more)


GOOD = evidence(270, 300)
ONE = {"sides": [sides(10, 10)], "samples": 20}
TWO = {"traits": 2, "sides": [sides(30, 10), sides(4, 30, "*Tone*")], "samples": 74}
FEW = {"sides": [sides(9, 31)], "samples": 40}
DRAFT_OF = {"state": "draft", "origin": "tone v1"}
V1: dict[str, Any] = {"state": "ready", "version": "v1", "evidence": GOOD, "sides": [sides(60, 60)], "samples": 120}
# All that may wait at once: each row of a version takes away what came first in the row before.
EVERYTHING = V1 | FEW | {"failed": "retune", "held": "v2", "origin": "tone v1", "corrections": 3}

ROWS: list[tuple[dict[str, Any], str, str, str | None, bool]] = [
    # Facts, sentence, button, page, primary.
    ({"state": "draft", "traits": 0}, "This model has no traits yet.", "Add traits", "traits", True),
    ({"state": "draft", "traits": 0, "suggestions": 4}, "4 suggested traits.", "Decide", "traits", True),
    ({"state": "draft", "sides": [sides(0, 0)]}, "Add about 10 texts for each side.", "Add samples", "samples", True),
    (
        {"state": "draft", "sides": [sides(0, 9)], "samples": 9},
        "No unhappy texts yet.",
        "Add unhappy texts",
        "samples",
        True,
    ),
    (
        {"state": "draft", "sides": [sides(12, 3)], "samples": 15},
        "3 of about 10 happy texts.",
        "Add happy texts",
        "samples",
        True,
    ),
    ({"state": "draft"} | TWO, "\\*Tone\\*: 4 of about 10 unhappy texts.", "Add unhappy texts", "samples", True),
    ({"state": "draft"} | ONE, "10 + 10 samples.", "Train", "train", True),
    ({"state": "draft", "suggestions": 4} | ONE, "10 + 10 samples.", "Train", "train", True),
    ({"state": "draft"} | ONE | {"traits": 2}, "20 samples.", "Train", "train", True),
    ({"state": "draft", "samples": 20}, "20 samples.", "Train", "train", True),
    ({"state": "draft", "sides": [sides(50, 12)], "samples": 62}, "50 + 12 samples.", "Train", "train", True),
    (DRAFT_OF | FEW, "9 of about 10 unhappy texts.", "Add unhappy texts", "samples", True),
    (
        DRAFT_OF | {"sides": [sides(50, 12)], "samples": 62},
        "Few happy texts (12 of 62).",
        "Label more happy texts",
        "label",
        True,
    ),
    (DRAFT_OF | ONE | {"differs": True}, "Differs from tone v1.", "Train and compare", "train", True),
    (DRAFT_OF | ONE, "As many samples as tone v1.", "Change its samples", "samples", False),
    ({"state": "draft", "may_change": False} | ONE, "This model is not trained yet.", "", None, False),
    ({"state": "draft", "may_change": False, "traits": 0}, "This model has no traits yet.", "", None, False),
    ({"state": "busy", "time_left": "about 4 s left"}, "Training: about 4 s left.", "Watch", "train", False),
    (
        V1 | {"state": "busy", "run": "discover", "time_left": "nearly done"},
        "Discovering traits: nearly done.",
        "Watch",
        "train",
        False,
    ),
    ({"state": "failed", "failed": "train"} | ONE, "The first training failed.", "See why", "train", False),
    (V1 | {"is_readable": False, "evidence": None}, "v1 cannot be read.", "View versions", "versions", False),
    (EVERYTHING, "Training again failed.", "See why", "train", False),
    (EVERYTHING | {"failed": "discover"}, "v2 is on hold.", "Decide", "samples", True),
    (
        EVERYTHING | {"failed": None, "held": ""},
        "Few unhappy texts (9 of 40).",
        "Label more unhappy texts",
        "label",
        True,
    ),
    (
        EVERYTHING | {"failed": None, "held": "", "takes_labels": False},
        "Is it better than tone v1?",
        "Compare",
        "train",
        True,
    ),
    (V1 | {"corrections": 3}, "3 corrections wait.", "Learn them", "samples", True),
    (V1 | {"corrections": 1}, "1 correction waits.", "Learn them", "samples", True),
    (V1 | {"sides": [sides(20, 90)]}, "Trained: about 9 in 10 right.", "Score a file", "batch", True),
    (EVERYTHING | {"may_change": False}, "Trained: about 9 in 10 right.", "Score a file", "batch", True),
    (
        V1 | {"evidence": evidence(18, 20)},
        "Trained: about 9 in 10 right, from few samples.",
        "Score a file",
        "batch",
        False,
    ),
    (V1 | {"evidence": evidence(270, 300, larger=270)}, "No better than a guess.", "Label more texts", "label", False),
    (
        V1 | {"evidence": evidence(270, 300, larger=270), "takes_labels": False},
        "No better than a guess.",
        "See why",
        "train",
        False,
    ),
    (V1 | {"evidence": None}, "How often it is right is not known.", "See why", "train", False),
    ({"state": "archived", "archived": "It can be restored."}, "It can be restored.", "", None, False),
]


@pytest.mark.parametrize(("facts", "sentence", "label", "page", "primary"), ROWS, ids=[row[1] for row in ROWS])
def test_the_first_step_that_fits_is_next(
    facts: dict[str, Any], sentence: str, label: str, page: str | None, *, primary: bool
) -> None:
    step = next_step(StepFacts(**facts))
    assert (step.sentence, step.label, step.page, step.primary) == (sentence, label, page, primary)


def test_figures_that_a_shortcut_flatters_are_no_reason_to_go_on() -> None:
    class Shared(Evidence):
        is_shared = True

    step = next_step(StepFacts(**V1 | {"evidence": Shared(270, 300, False, 0.95, (0.9, 0.99), larger=150)}))
    assert step.sentence == "Trained: about 9 in 10 right on texts with its shortcut."
    assert (step.label, step.primary) == ("See what it is", False)


def test_a_pole_of_several_words_is_quoted() -> None:
    assert [as_word(each) for each in ("urgent", "can wait")] == ["urgent", "“can wait”"]


def test_a_button_opens_the_trait_that_needs_labels() -> None:
    lopsided = {"traits": 2, "sides": [sides(60, 60), sides(9, 31, "Tone")]}
    assert next_step(StepFacts(**V1 | lopsided)).query == {"trait": "Tone"}
    assert next_step(StepFacts(**V1 | FEW)).query == {}
