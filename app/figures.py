"""A version's metrics as people read them: figures per trait, each with what it was measured on, and the parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from app.charts.intervals import Measured, Series
from app.text import count, plain
from core.contract.traits import Trait
from core.contract.versions import Version

Names = Mapping[str, str]
"""Trait names by key."""

TRIGGERS = {
    "train": "Training",
    "retune": "New parameter search",
    "retrain_buffered": "Retraining on feedback",
    "backfill": "Import",
}


def names_of(traits: Sequence[Trait]) -> Names:
    """The names by key."""
    return {trait.key: trait.name for trait in traits}


def label(version: Version) -> str:
    """`v3`."""
    return f"v{version.version_no}"


def series(version: Version, names: Names) -> Series:
    """The AUROC of each trait, for the chart of intervals."""
    return Series(label(version), [_measured(names.get(key, key), each) for key, each in _traits(version).items()])


def auroc(version: Version) -> float | None:
    """The mean over the traits; None when no trait could be measured."""
    value = version.metrics.get("auroc")
    return float(value) if isinstance(value, int | float) else None


def figures_table(version: Version, names: Names) -> pd.DataFrame:
    """Every figure of every trait and what it was measured on."""
    return pd.DataFrame(
        [
            {
                "Trait": names.get(key, key),
                "AUROC": each.get("auroc"),
                "95 % from": (each.get("auroc_interval") or [None, None])[0],
                "95 % to": (each.get("auroc_interval") or [None, None])[1],
                "Brier": each.get("brier"),
                "Calibration error": each.get("calibration_error"),
                "Cross-entropy": each.get("cross_entropy"),
                **{name.capitalize(): number for name, number in (each.get("counts") or {}).items()},
                "Measured on": each.get("measured_on"),
            }
            for key, each in _traits(version).items()
        ]
    )


def measured_on(figures: Series) -> str:
    """What the figures were measured on, in markdown; traits of which the same is true share a sentence."""
    traits: dict[str, list[str]] = {}
    for each in figures.figures:
        traits.setdefault(each.measured_on, []).append(plain(each.name))
    return "Measured on: " + "; ".join(f"{plain(what)} ({', '.join(names)})" for what, names in traits.items()) + "."


def search_of(version: Version) -> str:
    """How the parameters were searched."""
    return str(version.metrics.get("search") or "not said")


def parameters_table(version: Version, names: Names) -> pd.DataFrame:
    """What the search chose, one row a trait."""
    return pd.DataFrame(
        [{"Trait": names.get(key, key), **(each.get("parameters") or {})} for key, each in _traits(version).items()]
    )


def made_of(version: Version) -> str:
    """`248 samples, effort high, encoder minilm-l4f-int8-1, 3.2 s`."""
    metrics = version.metrics
    encoder = metrics.get("encoder") or {}
    parts = [
        count(version.sample_count, "sample"),
        f"effort {metrics['effort']}" if metrics.get("effort") else "",
        f"encoder {encoder['id']}" if encoder.get("id") else "",
        f"{metrics['elapsed_s']:.1f} s" if isinstance(metrics.get("elapsed_s"), int | float) else "",
    ]
    return ", ".join(part for part in parts if part)


def _traits(version: Version) -> Mapping[str, dict[str, Any]]:
    found = version.metrics.get("traits")
    return found if isinstance(found, dict) else {}


def _measured(name: str, figures: Mapping[str, Any]) -> Measured:
    interval = figures.get("auroc_interval")
    return Measured(
        name,
        figures.get("auroc"),
        (float(interval[0]), float(interval[1])) if interval else None,
        str(figures.get("measured_on") or "not said"),
    )
