"""A version's metrics for people: figures per trait with what they were measured on, and the parameters."""

from collections.abc import Collection, Mapping, Sequence
from math import hypot
from typing import Literal, NamedTuple

import pandas as pd

from traitbench.app.charts.intervals import Measured, Series
from traitbench.app.shell.text import ago, count, plain
from traitbench.app.shell.theme import DISCOVERED_SIGN
from traitbench.contract import held_out
from traitbench.contract.metrics import HeldOutFigures, TraitMetrics
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version

Names = Mapping[str, str]
"""Trait names by key."""

_VERDICTS = {1: "better", -1: "worse", 0: "about equally well"}
"""How well a version separates the poles, by the sign of a change beyond chance."""

TRIGGERS = {
    "train": "First training",
    "retune": "Refit",
    "retrain_buffered": "Feedback",
    "backfill": "Import",
}
"""What started the training of a version, by `triggered_by`."""


class Change(NamedTuple):
    """An AUROC before and after, and the 95 % interval of the change."""

    before: float
    after: float
    lowest: float
    highest: float

    @property
    def sign(self) -> int:
        """1 or -1 if the change is beyond chance and visible with two decimals, else 0."""
        looks_equal = round(self.before, 2) == round(self.after, 2) or round(self.after - self.before, 2) == 0
        if looks_equal or self.lowest <= 0 <= self.highest:
            return 0
        return 1 if self.after > self.before else -1

    @property
    def text(self) -> str:
        """`change +0.05, 95 % interval −0.04 to +0.15`."""
        change, lowest, highest = map(_signed, (self.after - self.before, self.lowest, self.highest))
        return f"change {change}, 95 % interval {lowest} to {highest}"


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


def sets_of_tests(versions: Sequence[Version]) -> dict[str, str]:
    """How many test samples each version was measured on, with a letter for the set, by label; "" without tests.

    `24, set A`: versions with the same letter were measured on the same samples. The oldest set is A.
    """
    letters: dict[object, str] = {}
    named = {}
    for each in reversed(versions):
        own = held_out.measured_sets(each.metrics)
        samples = sum(test.samples for test in held_out.by_trait(each.metrics).values())
        known = all(digest for _, digest in own)
        letter = letters.setdefault(own if known else label(each), _letter(len(letters))) if own else ""
        named[label(each)] = f"{samples:,}, set {letter}" if own else ""
    return named


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place + 1)


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


def outcome(before: Version, after: Version, names: Names) -> str:
    """Compare a version with the previous one, in Markdown; only differences beyond chance are better or worse."""
    a, b = label(before), label(after)
    if before.param_hash == after.param_hash:
        return f"{b} has the same parameters as {a}, so both give every text the same score."
    parts = [_on_same_tests(before, after), *_changes(before, after, names), _other_samples(before, after)]
    return " ".join(part for part in parts if part)


def _on_same_tests(before: Version, after: Version) -> str:
    """The figures on test samples, if both versions were measured on the same; else that they are not compared."""
    old, new = held_out.by_trait(before.metrics), held_out.by_trait(after.metrics)
    if not new:
        return ""
    same = [key for key in held_out.comparable(before.metrics, after.metrics) if new[key].auroc is not None]
    if not same:
        return f"**On test samples:** {label(before)} and {label(after)} were {held_out.OTHER_TESTS}." if old else ""
    means = [sum(each[key].auroc or 0.0 for key in same) / len(same) for each in (old, new)]
    samples = count(sum(new[key].samples for key in same), "test sample")
    several = "Mean AUROC" if len(same) > 1 else "AUROC"
    return f"{several} on the same {samples} **{means[0]:.2f} → {means[1]:.2f}**. Out of fold:"


def _changes(before: Version, after: Version, names: Names) -> list[str]:
    """The change of the mean and the traits that changed beyond chance."""
    old, new = (_measured_traits(version) for version in (before, after))
    if not old or not new:
        return []
    changes = {key: _change(old[key], new[key]) for key in new if key in old}
    several = len(changes) > 1
    if old.keys() != new.keys():
        return ["The two versions measure different traits, so their means are not compared.", _named(changes, names)]
    mean = f"Mean AUROC **{_mean(old.values()):.2f} → {_mean(new.values()):.2f}**"
    known = [change for change in changes.values() if change]
    if len(known) < len(changes):
        return [f"{mean}.", _named(changes, names) if several else ""]
    # The mean of the ends is wider than the interval of the mean unless all traits err alike.
    change = Change(*(sum(figures) / len(known) for figures in zip(*known, strict=True)))
    words = f"{mean}: {label(after)} separates the poles {_VERDICTS[change.sign]} ({change.text})."
    return [words, _named(changes, names) if several else ""]


def _measured_traits(version: Version) -> dict[str, TraitMetrics]:
    return {key: each for key, each in version.metrics.traits.items() if each.auroc is not None}


def _named(changes: Mapping[str, Change | None], names: Names) -> str:
    """The traits that changed beyond chance, or that there are none."""
    by_sign: dict[int, list[str]] = {
        sign: [plain(names.get(key, key)) for key, change in changes.items() if change and change.sign == sign]
        for sign in _VERDICTS
        if sign
    }
    said = [f"{_VERDICTS[sign].capitalize()}: {', '.join(traits)}." for sign, traits in by_sign.items() if traits]
    return " ".join(said) or ("No trait changed by more than chance." if all(changes.values()) and changes else "")


def _other_samples(before: Version, after: Version) -> str:
    """Say that both were measured on different samples, if their numbers differ."""
    more = after.sample_count - before.sample_count
    old, new = before.metrics.traits, after.metrics.traits
    if more:
        how = f"with {abs(more):,} {'more' if more > 0 else 'fewer'} sample{'' if abs(more) == 1 else 's'}"
    elif any(old[key].counts != new[key].counts for key in new if key in old):
        how = "with other samples"
    else:
        return ""
    return f"{label(after)} was measured {how}, so the figures are not directly comparable."


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


def _change(before: TraitMetrics, after: TraitMetrics) -> Change | None:
    """The change of the AUROC; None if one of them has no interval.

    The interval adds the squares of both sides (MOVER; Zou and Donner, Statistics in Medicine 27, 2008). That is right
    for different samples; of the same samples, whose errors go together, it is too wide rather than too narrow.
    """
    if before.auroc is None or after.auroc is None or not before.auroc_interval or not after.auroc_interval:
        return None
    (low, high), (new_low, new_high) = before.auroc_interval, after.auroc_interval
    change = after.auroc - before.auroc
    down, up = hypot(after.auroc - new_low, high - before.auroc), hypot(new_high - after.auroc, before.auroc - low)
    return Change(before.auroc, after.auroc, change - down, change + up)


def _mean(figures: Collection[TraitMetrics]) -> float:
    values = [each.auroc for each in figures if each.auroc is not None]
    return sum(values) / len(values)


def _signed(change: float) -> str:
    """`+0.05`, `−0.20`, or `0.00` without a sign."""
    rounded = round(change, 2)
    return f"{rounded:+.2f}".replace("-", "−") if rounded else "0.00"


def _on_tests(name: str, test: HeldOutFigures) -> Measured:
    return Measured(name, test.auroc, test.auroc_interval, test.measured_on or "unknown")


def _measured(name: str, figures: TraitMetrics) -> Measured:
    return Measured(name, figures.auroc, figures.auroc_interval, figures.measured_on or "unknown", figures.missing)
