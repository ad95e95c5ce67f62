"""What is said of figures on test samples, in a sentence."""

import pytest

from traitbench.contract.metrics import HeldOutFigures, Metrics
from traitbench.display import held_out


def metrics(test: HeldOutFigures | None) -> Metrics:
    given = Metrics.model_validate({"traits": {"warmth": {"auroc": 0.9, "measured_on": "10 folds"}}})
    given.traits["warmth"] = given.traits["warmth"].model_copy(update={"test": test})
    return given


def test_the_headline_names_the_figure_and_the_number_of_test_samples() -> None:
    test = HeldOutFigures(auroc=0.8, auroc_interval=(0.5, 1.0), positive=4, negative=6, error=0.1, test_set="a" * 64)
    assert held_out.headline(metrics(test)) == "AUROC 0.80 on 10 test samples"
    assert held_out.headline(metrics(HeldOutFigures(must_pass=3))) == ""
    assert held_out.headline(metrics(None)) == ""


@pytest.mark.parametrize(
    ("failed", "every", "said"),
    [
        (0, 0, ""),
        (0, 1, "1 must-pass sample passes"),
        (0, 2, "2 must-pass samples pass"),
        (1, 2, "1 of 2 must-pass samples fails"),
        (2, 3, "2 of 3 must-pass samples fail"),
    ],
)
def test_must_pass_samples_are_counted_and_the_verb_agrees(failed: int, every: int, said: str) -> None:
    assert held_out.must_pass(metrics(HeldOutFigures(must_pass=every, must_pass_failed=failed))) == said
