"""How a fitted estimator looks in a notebook: its traits with their figures, and what it was trained with."""

from collections.abc import Iterator, Sequence
from typing import Any

from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.rounding import in_decimals
from traitbench.display.html import bold, line, small, table
from traitbench.local.training import LocalTraining

_HEADS = ("trait", "poles", "AUROC", "95 %", "labels − and +", "measured on")


def fitted_html(title: str, training: LocalTraining, param_hash: str, keys: Sequence[str]) -> str:
    """Return a fitted estimator as HTML that loads nothing."""
    rows = [_row(trait, training.metrics) for trait in training.traits if trait.key in keys]
    about = f"{training.samples:,} labels · {training.snapshot.encoder.id} · {param_hash[:19]}…"
    head = line(bold(title), "fitted", f"effort {training.metrics['effort']}")
    return head + "".join(_shortcuts(training, keys)) + table(_HEADS, rows) + small(about)


def _shortcuts(training: LocalTraining, keys: Sequence[str]) -> Iterator[str]:
    """What alone tells the poles of a trait apart, before any figure."""
    for trait in training.traits:
        figures = TraitMetrics.model_validate(training.metrics["traits"][trait.key])
        if trait.key in keys and figures.shortcut is not None:
            yield line(bold(trait.name), figures.shortcut.says, "check names it")


def _row(trait: Any, metrics: dict[str, Any]) -> tuple[object, ...]:
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
