"""What the figures on test samples say, in words; pages, cards, the notebook and the command line share them."""

from collections.abc import Iterator

from traitbench.contract.metrics import HeldOutFigures, Metrics
from traitbench.contract.rounding import in_decimals

OTHER_TESTS = "measured on different test samples, so these figures are not compared"


def by_trait(metrics: Metrics) -> dict[str, HeldOutFigures]:
    """The figures on test samples by trait key, of the traits that have test samples."""
    return {key: each.test for key, each in metrics.traits.items() if each.test is not None}


def mean_auroc(metrics: Metrics) -> float | None:
    """The mean AUROC on test samples over the traits that have one, or None."""
    values = [each.auroc for each in by_trait(metrics).values() if each.auroc is not None]
    return sum(values) / len(values) if values else None


def headline(metrics: Metrics) -> str:
    """`AUROC 0.92 on 24 test samples`, as a mean over several traits; empty without a figure."""
    mean = mean_auroc(metrics)
    if mean is None:
        return ""
    measured = [each for each in by_trait(metrics).values() if each.auroc is not None]
    several = f" of {len(measured)} traits" if len(measured) > 1 else ""
    what = f"mean AUROC {in_decimals(mean)}" if several else f"AUROC {in_decimals(mean)}"
    return f"{what} on {_count(sum(each.samples for each in measured))}{several}"


def must_pass(metrics: Metrics) -> str:
    """`2 of 5 must-pass samples fail`, or that all pass; empty if there are none."""
    tests = by_trait(metrics).values()
    every, failed = sum(each.must_pass for each in tests), sum(each.must_pass_failed for each in tests)
    if not every:
        return ""
    plural = "" if every == 1 else "s"
    if failed:
        return f"{failed} of {every} must-pass sample{plural} fail{'s' if failed == 1 else ''}"
    return f"{every} must-pass sample{plural} pass{'es' if every == 1 else ''}"


def comparable(before: Metrics, after: Metrics) -> list[str]:
    """The traits whose test figures are of the same samples in both versions."""
    return list(_same(by_trait(before), by_trait(after)))


def measured_sets(metrics: Metrics) -> tuple[tuple[str, str | None], ...]:
    """Which test samples the version was measured on; equal for versions whose mean figures may be compared."""
    measured = by_trait(metrics).items()
    return tuple(sorted((key, each.test_set) for key, each in measured if each.auroc is not None))


def _same(before: dict[str, HeldOutFigures], after: dict[str, HeldOutFigures]) -> Iterator[str]:
    for key, own in after.items():
        other = before.get(key)
        if other is not None and own.test_set is not None and own.test_set == other.test_set:
            yield key


def _count(samples: int) -> str:
    return f"{samples:,} test sample{'' if samples == 1 else 's'}"
