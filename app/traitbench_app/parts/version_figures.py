"""A version's metrics for people: figures per trait, the parameters, and which versions the retention rule removes."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import HeldOutFigures, TraitMetrics
from traitbench.contract.models import Model, VersionRetentionPolicy
from traitbench.contract.rounding import rounded
from traitbench.contract.traits import Trait
from traitbench.contract.versions import PrunableVersion, Version, versions_to_keep
from traitbench.display import held_out
from traitbench.display.charts.auroc import Measured, Series
from traitbench.display.colours import DISCOVERED_SIGN
from traitbench.display.text import ago, count, plain
from traitbench_app.shell.navigation import page_link

Names = Mapping[str, str]
"""Trait names by key."""

TRIGGERS = {
    "train": "First training",
    "retune": "Trained again",
    "retrain_buffered": "Corrections",
    "backfill": "Imported or put in use",
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


def series_of_tests(version: Version, names: Names) -> Series:
    """Return the AUROC of each trait on its test samples, for the chart of intervals."""
    tests = held_out.by_trait(version.metrics)
    return Series(label(version), [_on_tests(names.get(key, key), each) for key, each in tests.items()])


def pair_on_tests(before: Version, after: Version, names: Names) -> tuple[list[Series], str]:
    """Return the test figures to draw of two versions, and what to say about those that are left out.

    The earlier version is drawn only for traits that were measured on the same test samples.
    """
    same = held_out.comparable(before.metrics, after.metrics)
    old, new = held_out.by_trait(before.metrics), held_out.by_trait(after.metrics)
    both = [Series(label(before), [_on_tests(names.get(key, key), old[key]) for key in same])] if same else []
    other = [plain(names.get(key, key)) for key in old if key in new and key not in same]
    said = f"{label(before)} was {held_out.OTHER_TESTS} ({', '.join(other)})." if other else ""
    return [*both, series_of_tests(after, names)], said


def figures_table(version: Version, names: Names) -> pd.DataFrame:
    """Return all figures of all traits and what they were measured on, one row per trait."""
    tested = bool(held_out.by_trait(version.metrics))
    return pd.DataFrame(
        [
            {
                "Trait": names.get(key, key),
                **(_test_columns(each.test) if tested else {}),
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


def _test_columns(test: HeldOutFigures | None) -> dict[str, object]:
    """The cells of a trait's test figures, which come first."""
    test = test or HeldOutFigures()
    return {
        "Test AUROC": test.auroc,
        "Test 95 % from": test.auroc_interval[0] if test.auroc_interval else None,
        "Test 95 % to": test.auroc_interval[1] if test.auroc_interval else None,
        "Test Brier": test.brier,
        "Test, wrong side": test.error,
        "Must-pass failed": test.must_pass_failed if test.must_pass else None,
        "Tested on": test.measured_on,
    }


def measured_on(figures: Series) -> str:
    """Say in Markdown what the figures were measured on; traits with the same answer share a sentence."""
    traits: dict[str, list[str]] = {}
    for each in figures.figures:
        if each.value is not None:
            traits.setdefault(each.measured_on, []).append(plain(each.name))
    sentences = [f"{plain(what)} ({', '.join(names)})" for what, names in traits.items()]
    return f"Measured on: {'; '.join(sentences)}." if sentences else ""


def on_screen(table: pd.DataFrame, columns: Iterable[str], digits: int) -> pd.DataFrame:
    """Return the table with these figures rounded as everywhere; a grid alone would round 0.998 up to 1.00."""
    rows: dict[str, Any] = {
        name: [None if pd.isna(value) else rounded(float(value), digits) for value in table[name]]
        for name in columns
        if name in table
    }
    return table.assign(**rows)


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


def _on_tests(name: str, test: HeldOutFigures) -> Measured:
    return Measured(name, test.auroc, test.auroc_interval, test.measured_on or "unknown")


def _measured(name: str, figures: TraitMetrics) -> Measured:
    return Measured(name, figures.auroc, figures.auroc_interval, figures.measured_on or "unknown", figures.not_measured)


def draw_keeping(model: Model, versions: Sequence[Version]) -> None:
    """Draw the versions that the rule removes next, if any, and a link to the rule; `versions` newest first."""
    going = goes_next(model, versions)
    if going:
        st.markdown(
            f":material/delete_sweep: **The next version removes {count(len(going), 'version')}: "
            f"{names_of_versions(going)}.** Tag a version to keep it."
        )
    page_link("model", "What is kept", icon=":material/inventory_2:", part="What is kept")


GOES = "removed unless tagged"


def policy_of(model: Model) -> VersionRetentionPolicy:
    """Return the model's own retention policy, or the default."""
    return model.version_retention_policy or VersionRetentionPolicy()


def goes_next(model: Model, versions: Sequence[Version], now: datetime | None = None) -> list[Version]:
    """Return the versions that pruning will remove after the next training if the tags do not change."""
    stay = _keep(_with_next(versions, now), policy_of(model))
    return [each for each in versions if each.version_id not in stay]


def fates(model: Model, versions: Sequence[Version], now: datetime | None = None) -> dict[int, str]:
    """Say by `version_id` whether pruning after the next training keeps a version, and why."""
    policy, following = policy_of(model), _with_next(versions, now)
    newest = _keep(following, policy.model_copy(update={"keep_first_of_month": False}))
    monthly = _keep(following, policy.model_copy(update={"keep_unnamed": 0}))
    reasons = {}
    for each in versions:
        if each.tags:
            reasons[each.version_id] = "kept (tagged)"
        elif each.version_id in newest:
            reasons[each.version_id] = f"kept (among the newest {policy.keep_unnamed:,})"
        elif each.version_id in monthly:
            reasons[each.version_id] = f"kept (first of {each.created_at.astimezone(UTC):%b %Y})"
        else:
            reasons[each.version_id] = GOES
    return reasons


def names_of_versions(versions: Sequence[Version], most: int = 6) -> str:
    """List names of versions: `v3, v2 and 4 more`."""
    names = ", ".join(label(each) for each in versions[:most])
    return names + (f" and {len(versions) - most} more" if len(versions) > most else "")


def _with_next(versions: Sequence[Version], now: datetime | None) -> list[PrunableVersion]:
    """Return the versions after the next training, whose version is active and has no tag."""
    there = [
        PrunableVersion(each.version_id, each.version_no, each.created_at, tagged=bool(each.tags), active=False)
        for each in versions
    ]
    number = max((each.version_no for each in versions), default=0) + 1
    return [*there, PrunableVersion(-1, number, now or datetime.now(UTC), tagged=False, active=True)]


def _keep(versions: Sequence[PrunableVersion], policy: VersionRetentionPolicy) -> frozenset[int]:
    return versions_to_keep(versions, keep_unnamed=policy.keep_unnamed, keep_first_of_month=policy.keep_first_of_month)
