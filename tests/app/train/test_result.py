"""What is said after a training: advice that its own figures bear out."""

import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis.strategies import integers

from traitbench.contract.metrics import Forecast, TraitMetrics
from traitbench.contract.rounding import in_decimals
from traitbench.contract.traits import Trait
from traitbench_app.train.result import advice

TONE = Trait.model_construct(key="tone", name="Tone", created_at=datetime(2026, 1, 1, tzinfo=UTC))


@given(now=integers(600, 970), gain=integers(4, 12))
def test_more_samples_are_only_advised_for_a_figure_above_the_one_shown(now: int, gain: int) -> None:
    forecast = Forecast(samples=60, auroc=(now + gain) / 1000, more=20)
    figures = TraitMetrics(auroc=now / 1000, forecast=forecast)
    said = advice(TONE, figures)
    promised = re.search(r"may raise AUROC to ([\d.]+)\.", said)
    if promised is None:
        assert "hardly help" in said
    else:
        assert float(promised[1]) > float(in_decimals(now / 1000))
