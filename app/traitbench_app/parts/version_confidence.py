"""The confidence of a version for people: what its held-out samples show, and the traits that are never sure."""

from collections.abc import Sequence
from typing import get_args

import pandas as pd

from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.scores import Confidence, ConfidenceReason
from traitbench.contract.versions import Version
from traitbench_app.parts.version_figures import Names

LEVELS: Sequence[Confidence] = get_args(Confidence)


def low_everywhere(version: Version) -> dict[ConfidenceReason, list[str]]:
    """Return the keys of the traits that have low confidence for every text, by the reason."""
    traits: dict[ConfidenceReason, list[str]] = {}
    for key, each in version.metrics.traits.items():
        if each.confidence_reason:
            traits.setdefault(each.confidence_reason, []).append(key)
    return traits


def confidence_table(version: Version, names: Names) -> pd.DataFrame:
    """Return how many held-out samples have each confidence and how many of these are right, one row per trait."""
    return pd.DataFrame(
        [{"Trait": names.get(key, key), **_counts(each)} for key, each in version.metrics.traits.items()]
    )


def _counts(figures: TraitMetrics) -> dict[str, int | None]:
    known = figures.confidence or {}
    cells: dict[str, int | None] = {}
    for level in LEVELS:
        each = known.get(level)
        cells[level.capitalize()] = each.samples if each else None
        cells[f"{level.capitalize()}, right"] = each.right if each else None
    return cells
