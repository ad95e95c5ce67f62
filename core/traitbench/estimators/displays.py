"""The learning curve of a training: how good fewer samples would have been, and what more would add."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from traitbench.contract.metrics import CurvePoint, Feed, Forecast, TraitMetrics
from traitbench.contract.rounding import in_decimals
from traitbench.display import frames
from traitbench.display.html import bar, line, small, table


@dataclass(frozen=True)
class LearningCurve:
    """The measured points of a trait, fewest samples first; the forecast for more, None if there are too few samples.

    `feed` names the pole that more samples would help most. `charts.learning_curve` draws it.
    """

    trait: str
    points: Sequence[CurvePoint]
    forecast: Forecast | None
    feed: Feed | None

    @staticmethod
    def of(trait: str, metrics: Any) -> "LearningCurve":
        """Return the curve in a trait's metrics."""
        figures = TraitMetrics.model_validate(metrics)
        return LearningCurve(trait, figures.curve or [], figures.forecast, figures.feed)

    def __str__(self) -> str:
        points = [*self.points, *([self.forecast] if self.forecast else [])]
        lines = [f"{each.samples:>6} samples: AUROC {_figure(each)}{_says(each)}" for each in points]
        return "\n".join(lines or [_TOO_FEW])

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a frame with a row for each point, the forecast last."""
        points = [*self.points, *([self.forecast] if self.forecast else [])]
        return frames.frame([_row(each) for each in points], backend)

    def _repr_html_(self) -> str:
        points = [*self.points, *([self.forecast] if self.forecast else [])]
        if not points:
            return line(_TOO_FEW)
        rows = [(each.samples, bar(round(100 * each.auroc)), _figure(each), _says(each)) for each in points]
        why = small(self.feed.why) if self.feed else ""
        return line(self.trait, "learning curve") + table(("samples", "", "AUROC", ""), rows) + why


_TOO_FEW = "There are too few samples for a learning curve."


def _row(point: CurvePoint) -> dict[str, Any]:
    low, high = point.interval or (None, None)
    place = {"samples": point.samples, "auroc": point.auroc, "low": low, "high": high}
    return place | {"forecast": isinstance(point, Forecast)}


def _figure(point: CurvePoint) -> str:
    between = f" ({' to '.join(map(in_decimals, point.interval))})" if point.interval else ""
    return in_decimals(point.auroc) + between


def _says(point: CurvePoint) -> str:
    return f" (forecast with {point.more} more)" if isinstance(point, Forecast) else ""
