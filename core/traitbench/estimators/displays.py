"""How a fitted estimator looks in a notebook, and its learning curve: what fewer or more samples would give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from traitbench.contract.metrics import CurvePoint, Feed, Forecast, TraitMetrics
from traitbench.contract.rounding import in_decimals
from traitbench.display import frames
from traitbench.display.html import draw
from traitbench.display.scored_rows import UNNAMED
from traitbench.local.samples import LocalTrait
from traitbench.local.version import LocalVersion


@dataclass(frozen=True)
class LearningCurve:
    """The measured points of a trait, fewest samples first; the forecast for more, None if there are too few samples.

    `feed` names the pole that more samples would help most. `charts.learning_curve` draws it.
    """

    trait: str
    points: Sequence[CurvePoint]
    forecast: Forecast | None
    feed: Feed | None
    poles: tuple[str, str] = UNNAMED

    @staticmethod
    def of(trait: LocalTrait, metrics: Any) -> "LearningCurve":
        """Return the curve in a trait's metrics."""
        figures = TraitMetrics.model_validate(metrics)
        return LearningCurve(trait.key, figures.curve or [], figures.forecast, figures.feed, trait.poles)

    @property
    def _points(self) -> list[CurvePoint]:
        """The measured points and the forecast."""
        return [*self.points, *([self.forecast] if self.forecast else [])]

    def __str__(self) -> str:
        lines = [f"{each.samples:>6} samples: AUROC {_figure(each)}{_says(each)}" for each in self._points]
        return "\n".join(lines or [_TOO_FEW])

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a frame with a row for each point, the forecast last."""
        return frames.frame([_row(each) for each in self._points], backend)

    def _repr_html_(self) -> str:
        points = [(each, _figure(each), _says(each)) for each in self._points]
        return draw("local", "curve", self, points) if points else draw("pieces", "line", [_TOO_FEW])


_TOO_FEW = "There are too few samples for a learning curve."


def _row(point: CurvePoint) -> dict[str, Any]:
    low, high = point.interval or (None, None)
    figures = {"samples": point.samples, "auroc": point.auroc, "low": low, "high": high}
    return figures | {"forecast": isinstance(point, Forecast)}


def _figure(point: CurvePoint) -> str:
    between = f" ({' to '.join(map(in_decimals, point.interval))})" if point.interval else ""
    return in_decimals(point.auroc) + between


def _says(point: CurvePoint) -> str:
    return f" (forecast with {point.more} more)" if isinstance(point, Forecast) else ""


def fitted_html(title: str, version: LocalVersion, keys: Sequence[str], parameters: str) -> str:
    """Return a fitted estimator as HTML that loads nothing; `parameters` is HTML too."""
    metrics = version.metrics["traits"]
    figures = [(each, TraitMetrics.model_validate(metrics[each.key])) for each in version.traits if each.key in keys]
    return draw("local", "fitted", title, version, figures, parameters)
