"""How a fitted estimator looks in a notebook, and its learning curve: what fewer or more samples would give."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from traitbench.contract.metrics import CurvePoint, Feed, Forecast, TraitMetrics
from traitbench.contract.rounding import in_decimals
from traitbench.display import frames
from traitbench.display.html import bar, bold, line, small, table
from traitbench.local.version import LocalVersion

_HEADS = ("trait", "poles", "AUROC", "95 %", "labels − and +", "measured on")


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


def fitted_html(title: str, version: LocalVersion, keys: Sequence[str]) -> str:
    """Return a fitted estimator as HTML that loads nothing."""
    rows = [_figures_row(trait, version.metrics) for trait in version.traits if trait.key in keys]
    about = f"{version.samples:,} labels · {version.snapshot.encoder.id} · {version.param_hash[:19]}…"
    head = line(bold(title), "fitted", f"effort {version.metrics['effort']}")
    return head + "".join(_shortcuts(version, keys)) + table(_HEADS, rows) + small(about)


def _shortcuts(version: LocalVersion, keys: Sequence[str]) -> Iterator[str]:
    """What alone tells the poles of a trait apart, before any figure."""
    for trait in version.traits:
        figures = TraitMetrics.model_validate(version.metrics["traits"][trait.key])
        if trait.key in keys and figures.shortcut is not None:
            yield line(bold(trait.name), figures.shortcut.says, "check names it")


def _figures_row(trait: Any, metrics: dict[str, Any]) -> tuple[object, ...]:
    figures = TraitMetrics.model_validate(metrics["traits"][trait.key])
    counts = figures.counts
    return (
        bold(trait.name),
        f"{trait.negative_label} … {trait.positive_label}",
        "–" if figures.auroc is None else in_decimals(figures.auroc, 3),
        " to ".join(in_decimals(end, 3) for end in figures.auroc_interval or ()),
        f"{counts.get('negative', 0)} and {counts.get('positive', 0)}",
        figures.measured_on or "",
    )
