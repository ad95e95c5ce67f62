"""How figures are shown: never better than they are, and equal figures with equal words."""

import pytest

from traitbench.contract.metrics import HeldOutFigures, Metrics, TraitMetrics
from traitbench.contract.rounding import in_decimals, rounded
from traitbench.display import held_out
from traitbench.display.charts import auroc, curve
from traitbench.display.charts.auroc import Measured, Series
from traitbench.display.colours import PALETTE
from traitbench.display.quality import how_well


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((1.0, "1.00"), (0.999, "0.99"), (0.995, "0.99"), (0.994, "0.99"), (0.926, "0.93")),
        *((0.504, "0.50"), (0.5, "0.50"), (0.499, "0.49"), (0.496, "0.49"), (0.494, "0.49"), (0.0, "0.00")),
    ],
)
def test_a_figure_is_not_rounded_up_to_perfect_or_to_chance(value: float, shown: str) -> None:
    assert in_decimals(value) == shown
    assert in_decimals(0.9996, 3) == "0.999"
    assert rounded(0.4996, 3) == 0.499


def test_charts_and_sentences_show_figures_that_way() -> None:
    assert Measured("Clarity", 0.9951, (0.9921, 0.9999), "x").text == "0.99 (0.99 to 0.99)"
    pair = [Series(label, [Measured("Clarity", 0.9951, None, "x")]) for label in ("v1", "v2")]
    assert [note.text for note in auroc.figure(pair, PALETTE).layout.annotations] == ["0.99 → 0.99"]
    assert "between 0.99 and 0.99" in curve.between((0.9921, 0.9999))
    tested = Metrics(traits={"clarity": TraitMetrics(test=HeldOutFigures(auroc=0.9951, positive=9, negative=9))})
    assert held_out.headline(tested) == "AUROC 0.99 on 18 test samples"


@pytest.mark.parametrize("value", [0.8951, 0.9, 0.9049])
def test_equal_figures_have_equal_words(value: float) -> None:
    assert in_decimals(value) == "0.90"
    assert how_well(value) == "very well"
