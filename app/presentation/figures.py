"""A version's metrics for people: figures per trait with what they were measured on, and the parameters."""

from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd

from traitbench.app.charts.intervals import Measured, Series
from traitbench.app.shell.text import ago, count, plain
from traitbench.app.shell.theme import DISCOVERED_SIGN
from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version

Names = Mapping[str, str]
"""Trait names by key."""

TRIGGERS = {
    "train": "First training",
    "retune": "Refit",
    "retrain_buffered": "Feedback",
    "backfill": "Import",
}
"""What started the training of a version, by `triggered_by`."""


def names_of(traits: Sequence[Trait]) -> Names:
    """Return the names by key; names of intrinsic traits have the sign of discovery."""
    return {trait.key: (f"{DISCOVERED_SIGN} " if trait.kind == "intrinsic" else "") + trait.name for trait in traits}


def label(version: Version) -> str:
    """`v3`."""
    return f"v{version.version_no}"


def series(version: Version, names: Names) -> Series:
    """Return the AUROC of each trait for the chart of intervals."""
    traits = version.metrics.traits
    return Series(label(version), [_measured(names.get(key, key), each) for key, each in traits.items()])


def auroc(version: Version) -> float | None:
    """Return the mean AUROC over the traits, or None if no trait was measured."""
    return version.metrics.auroc


def mean_of(version: Version, figure: Literal["brier", "calibration_error"]) -> float | None:
    """Return the unweighted mean of a figure over the traits that have it, or None."""
    traits = version.metrics.traits.values()
    values = [value for each in traits if (value := getattr(each, figure)) is not None]
    return sum(values) / len(values) if values else None


def figures_table(version: Version, names: Names) -> pd.DataFrame:
    """Return all figures of all traits and what they were measured on, one row per trait."""
    return pd.DataFrame(
        [
            {
                "Trait": names.get(key, key),
                "AUROC": each.auroc,
                "95 % from": each.auroc_interval[0] if each.auroc_interval else None,
                "95 % to": each.auroc_interval[1] if each.auroc_interval else None,
                "Brier": each.brier,
                "Calibration error": each.calibration_error,
                "Cross-entropy": each.cross_entropy,
                **{name.capitalize(): number for name, number in each.counts.items()},
                "Measured on": each.measured_on,
            }
            for key, each in version.metrics.traits.items()
        ]
    )


def measured_on(figures: Series) -> str:
    """Say in Markdown what the figures were measured on; traits with the same answer share a sentence."""
    traits: dict[str, list[str]] = {}
    for each in figures.figures:
        if each.value is not None:
            traits.setdefault(each.measured_on, []).append(plain(each.name))
    sentences = [f"{plain(what)} ({', '.join(names)})" for what, names in traits.items()]
    return f"Measured on: {'; '.join(sentences)}." if sentences else ""


def outcome(before: Version, after: Version, names: Names) -> str:
    """Compare a version with the previous one, in Markdown, and say which differences may be chance."""
    a, b = label(before), label(after)
    if before.param_hash == after.param_hash:
        return f"{b} has the same parameters as {a}, so both give every text the same score."
    parts = [_means(before, after), _by_trait(before, after, names)]
    if before.sample_count != after.sample_count:
        more = after.sample_count - before.sample_count
        few = f"{count(abs(more), 'sample')} {'more' if more > 0 else 'fewer'}"
        parts.append(f"{b} was measured on {few}, so part of the difference may come from the samples.")
    return " ".join(part for part in parts if part)


def _means(before: Version, after: Version) -> str:
    old, new = auroc(before), auroc(after)
    if old is None or new is None:
        return ""
    change = round(new - old, 2)
    verdict = "as well as before" if not change else "better" if change > 0 else "worse"
    return f"Mean AUROC **{old:.2f} → {new:.2f}**: it separates the poles {verdict}."


def _by_trait(before: Version, after: Version, names: Names) -> str:
    """Name the traits that changed by more than chance: those whose intervals do not overlap."""
    old = {measured.name: measured.interval for measured in series(before, names).figures}
    spans = [(each.name, old.get(each.name), each.interval) for each in series(after, names).figures]
    both = [(name, a, b) for name, a, b in spans if a and b]
    better = [plain(name) for name, a, b in both if b[0] > a[1]]
    worse = [plain(name) for name, a, b in both if b[1] < a[0]]
    if both and not better and not worse:
        return "The 95 % intervals overlap for every trait: the difference may be chance."
    sides = [
        f"clearly {word}: {', '.join(traits)}" for word, traits in (("better", better), ("worse", worse)) if traits
    ]
    return f"More than chance: {'; '.join(sides)}." if sides else ""


def search_of(version: Version) -> str:
    """Return the description of the parameter search."""
    return version.metrics.search or "unknown"


def parameters_table(version: Version, names: Names) -> pd.DataFrame:
    """Return the parameters that the search chose, one row per trait."""
    return pd.DataFrame(
        [{"Trait": names.get(key, key), **each.parameters} for key, each in version.metrics.traits.items()]
    )


def made_how(version: Version) -> str:
    """`First training 5 min ago: 248 samples, effort high, ...`, in Markdown."""
    return f"{TRIGGERS[version.triggered_by]} {ago(version.created_at)}: {plain(made_of(version))}."


def made_of(version: Version) -> str:
    """`248 samples, effort high, encoder minilm-l4f-int8-1, 3.2 s`."""
    metrics = version.metrics
    parts = [
        count(version.sample_count, "sample"),
        f"effort {metrics.effort}" if metrics.effort else "",
        f"encoder {metrics.encoder.id}" if metrics.encoder and metrics.encoder.id else "",
        "" if metrics.elapsed_s is None else f"{metrics.elapsed_s:.1f} s",
    ]
    return ", ".join(part for part in parts if part)


def _measured(name: str, figures: TraitMetrics) -> Measured:
    return Measured(name, figures.auroc, figures.auroc_interval, figures.measured_on or "unknown", figures.missing)
