"""How the search of a training is told, and what the faster modes cost."""

from typing import Any

from traitbench.contract.metrics import Metrics, TraitMetrics
from traitbench_app.parts.quality import modes_table, price
from traitbench_app.parts.training_report import labels_in_words, search_in_words

LEVELS = ({"level": "low", "tried": 2, "cross_entropy": 0.47}, {"level": "medium", "tried": 54, "cross_entropy": 0.45})


def figures(*, chosen: str = "medium", gained: float = 0.02) -> TraitMetrics:
    """The metrics of a trait whose search has chosen the settings of a level."""
    levels = [{**level, "chosen": level["level"] == chosen} for level in LEVELS]
    given: dict[str, Any] = {
        "auroc": 0.84,
        "search": {"says": "nine directions", "tried": 54, "chosen": {"shrinkage": 0.75}, "gained": gained},
        "labels": {"used": True, "share": 0.31, "gain": 0.01, "why": "they agree with the samples"},
        "modes": {"layer4": {"auroc": 0.834}, "static": {"auroc": None, "measured_on": "not measured: too few"}},
    }
    given["search"]["levels"] = levels
    return Metrics.model_validate({"traits": {"warmth": given}}).traits["warmth"]


def test_the_price_of_a_mode_is_what_it_loses_and_how_much_faster_it_is() -> None:
    traits = {"warmth": figures(), "clarity": figures()}
    loses = "**Layer 4 only**: a little worse on average over 2 traits"
    assert price(traits, "layer4", {"layer4": 1.52}) == f"{loses}, 1.5 times as fast."
    assert price(traits, "layer4", {}) == f"{loses}."
    assert price(traits, "static", {}) == ""
    rows = modes_table("v1", traits, {"warmth": "Warmth"})
    assert rows["Mode"].tolist() == ["Full", "Layer 4 only", "Static"] * 2
    assert rows["Trait"].tolist()[0] == "Warmth"


def test_the_search_and_the_labels_are_told_in_words() -> None:
    known = figures()
    assert known.search is not None
    assert known.labels is not None
    told = search_in_words(known.search)
    assert told.startswith("**54 settings tried.** Nine directions. Chosen: shrinkage\\: 0\\.75.")
    assert told.endswith("This improved held-out cross-entropy by 0.0200 over the next lower effort.")
    assert labels_in_words(known.labels).startswith("**Label weight: 31%.** They agree with the samples.")


def test_a_wider_search_that_found_nothing_better_is_said_to_have_kept_the_choice() -> None:
    search = figures(chosen="low", gained=0.0).search
    assert search is not None
    assert "The wider search (medium) found nothing better, so the choice of low was kept." in search_in_words(search)
