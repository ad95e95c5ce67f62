"""The workbench's charts as plain Plotly figures, for notebooks and reports: `traitbench.charts`.

Each takes what the client or an estimator returns. Figures set no text colour and no background, so that they follow
the theme of the page that shows them.
"""

from typing import Any

import plotly.graph_objects as go

from traitbench.contract.metrics import Metrics, TraitMetrics
from traitbench.display.charts import auroc as intervals
from traitbench.display.charts import curve, shares
from traitbench.display.charts.auroc import Measured, Series
from traitbench.display.charts.curve import Curve
from traitbench.display.charts.shares import ChartShare
from traitbench.display.colours import PALETTE, SIDES

__all__ = ["auroc", "learning_curve", "share"]


def auroc(*versions: Any) -> go.Figure:
    """Return the AUROC of every trait with its 95 % interval, of one or two versions or fitted estimators."""
    return _plain(intervals.figure([*map(_series, versions)], PALETTE))


def learning_curve(*versions: Any, trait: str | None = None) -> go.Figure:
    """Return the learning curve of a trait with its forecast, of one or two versions or fitted estimators.

    `trait` is the key of one of several traits. Raise `ValueError` if it is missing.
    """
    curves = []
    for version in versions:
        figures = _metrics(version).traits
        if trait is None and len(figures) > 1:
            raise ValueError(f"There are several traits. Choose one with trait=...: {', '.join(figures)}.")
        key = next(iter(figures)) if trait is None else trait
        if key not in figures:
            raise ValueError(f"There is no trait {key!r}. The traits are: {', '.join(figures)}.")
        curves.append(Curve(_label(version), figures[key].curve or (), figures[key].forecast))
    return _plain(curve.figure(curves, PALETTE))


def share(answer: Any) -> go.Figure:
    """Return the share of texts on a pole with its interval, beside what counting scores says; a row for each group.

    `answer` is that of `traitbench.corpus.answer`.
    """
    rows = [_share("All texts", answer.share), *(_share(group.name, group.share) for group in answer.groups)]
    return _plain(shares.figure(rows, SIDES[answer.positive].colour, PALETTE))


def _metrics(version: Any) -> Metrics:
    metrics = version.metrics_ if hasattr(version, "metrics_") else version.metrics
    return metrics if isinstance(metrics, Metrics) else Metrics.model_validate(metrics)


def _label(version: Any) -> str:
    return f"v{version.version_no}" if hasattr(version, "version_no") else f"{version.n_samples_:,} labels"


def _series(version: Any) -> Series:
    return Series(_label(version), [_measured(*each) for each in _metrics(version).traits.items()])


def _measured(key: str, figures: TraitMetrics) -> Measured:
    return Measured(key, figures.auroc, figures.auroc_interval, figures.measured_on or "unknown", figures.not_measured)


def _share(name: str, of: Any) -> ChartShare:
    return ChartShare(name, 100 * of.value, 100 * of.interval[0], 100 * of.interval[1], 100 * of.counted, of.labelled)


def _plain(figure: go.Figure) -> go.Figure:
    """Without the backgrounds of Plotly's own theme, and with a text colour that is readable on light and dark."""
    figure.update_xaxes(automargin=True)
    figure.update_yaxes(automargin=True)
    return figure.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": PALETTE.neutral},
    )
