"""The comparison of two versions in words and as a table: verdicts, figures on test samples, and what changed."""

from collections.abc import Mapping

import pandas as pd

from traitbench.contract.comparisons import (
    FigureDelta,
    SampleChanges,
    TraitDifference,
    VersionChanges,
    VersionsComparison,
)
from traitbench.display.text import count, plain
from traitbench.display.verdicts import title


def figures(comparison: VersionsComparison, names: Mapping[str, str], labels: tuple[str, str]) -> pd.DataFrame:
    """One row for each trait: the figures of both versions on the same test samples, and the verdict."""
    return pd.DataFrame([_row(names.get(key, key), each, labels) for key, each in comparison.traits.items()])


def changes(changed: VersionChanges, names: Mapping[str, str]) -> list[str]:
    """What changed between two versions, a sentence in Markdown each; empty if nothing did."""
    said = [
        _samples(changed.samples, "training sample", changed.unrecorded),
        _samples(changed.held_out, "test sample", None),
        _traits("New trait", changed.traits_added, names),
        _traits("Trait removed", changed.traits_removed, names),
    ]
    said += [
        f"{plain(names.get(str(each.trait), str(each.trait)))}: {plain(each.name.replace('_', ' '))} was"
        f" *{plain(str(each.a))}*, is *{plain(str(each.b))}*."
        for each in changed.traits_changed
    ]
    if changed.encoder is not None:
        said.append(f"Another encoder: {plain(str(changed.encoder.a))}, now {plain(str(changed.encoder.b))}.")
    if changed.parameters:
        said.append(f"Training chose {count(len(changed.parameters), 'other parameter')}.")
    return [each for each in said if each]


def _row(name: str, each: TraitDifference, labels: tuple[str, str]) -> dict[str, object]:
    a, b = labels
    auroc, error = each.auroc, each.error
    return {
        "Trait": name,
        "Verdict": title(each.verdict),
        f"AUROC {a}": auroc and auroc.a,
        f"AUROC {b}": auroc and auroc.b,
        "Change (95 % interval)": _change(auroc),
        f"Wrong side {a}": error and error.a,
        f"Wrong side {b}": error and error.b,
        "Change of wrong side (95 % interval)": _change(error),
        "Test samples": each.n,
        "Must pass, newly failed": each.must_pass.newly_failed if each.must_pass.samples else None,
        "Why": each.reason,
    }


def _change(figure: FigureDelta | None) -> str | None:
    if figure is None:
        return None
    if figure.interval is None:
        return f"{figure.delta:+.3f}"
    return f"{figure.delta:+.3f} ({figure.interval[0]:+.3f} to {figure.interval[1]:+.3f})"


def _samples(changed: SampleChanges | None, what: str, unrecorded: str | None) -> str:
    if changed is None:
        return f"Which samples changed is not known: {plain(unrecorded)}." if unrecorded else ""
    counts = {"added": changed.added, "removed": changed.removed, "relabelled": changed.relabelled}
    said = [f"{number:,} {how}" for how, number in counts.items() if number]
    return f"{what.capitalize()}s: {', '.join(said)}." if said else ""


def _traits(what: str, keys: list[str], names: Mapping[str, str]) -> str:
    return f"{what}: {', '.join(plain(names.get(key, key)) for key in keys)}." if keys else ""
