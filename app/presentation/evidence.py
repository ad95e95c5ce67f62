"""How often a version is right on texts it has not seen, in plain words: `about 9 in 10 right`.

The share is of test samples if there are any, else of samples that were scored out of fold.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt

from traitbench.app.shell.text import count
from traitbench.contract.metrics import Interval, Metrics, TraitMetrics
from traitbench.contract.rounding import in_decimals

_Z = 1.96
_UNSURE = 0.2
_NEARLY_ALL, _NINETEEN = 0.975, 0.925


@dataclass(frozen=True)
class Evidence:
    """How many of the samples that a version had not seen are on their pole's side.

    `auroc` is the mean over `traits` traits; `interval` is that of a single trait.
    """

    right: int
    samples: int
    on_tests: bool
    auroc: float | None
    interval: Interval | None
    traits: int = 1

    @property
    def share(self) -> float:
        """The share that is right."""
        return self.right / self.samples

    @property
    def wrong(self) -> int:
        """How many are on the wrong side."""
        return self.samples - self.right

    @property
    def in_words(self) -> str:
        """`about 9 in 10`, `nearly all`, or `all 20`."""
        if self.right == self.samples:
            return f"all {self.samples:,}"
        if self.share >= _NEARLY_ALL:
            return "nearly all"
        return "about 19 in 20" if self.share >= _NINETEEN else f"about {round(10 * self.share)} in 10"

    @property
    def figure(self) -> str:
        """`AUROC 0.92, 0.87 to 0.96`; empty if it was not measured."""
        if self.auroc is None:
            return ""
        if self.traits > 1:
            return f"mean AUROC {in_decimals(self.auroc)} of {self.traits} traits"
        between = f", {' to '.join(map(in_decimals, self.interval))}" if self.interval else ""
        return f"AUROC {in_decimals(self.auroc)}{between}"

    @property
    def measured_on(self) -> str:
        """`55 of 60 test samples are right`, with how they were scored."""
        of = f"{self.right:,} of {self.samples:,}"
        verb = "is" if self.right == 1 else "are"
        if self.on_tests:
            return f"{of} test samples {verb} on the side of their label. No version learns from these"
        return f"{of} samples {verb} on the side of their label, each scored by a fit without it"

    @property
    def doubt(self) -> str:
        """A sentence if there is so little evidence that the true share may be quite different; else empty."""
        low, high = wilson(self.right, self.samples)
        if high - low <= _UNSURE:
            return ""
        return (
            f"This is little evidence: with {count(self.samples, 'sample')}, the true share may be anywhere from "
            f"{round(100 * low)} to {round(100 * high)} in 100."
        )


def evidence_of(figures: TraitMetrics) -> Evidence | None:
    """The evidence on one trait; None if nothing was measured."""
    test = figures.test
    if test is not None and test.error is not None and test.samples:
        wrong = round(test.error * test.samples)
        return Evidence(test.samples - wrong, test.samples, True, test.auroc, test.auroc_interval)
    known = (figures.confidence or {}).values()
    samples = sum(each.samples for each in known)
    if not samples or figures.auroc is None:
        return None
    return Evidence(sum(each.right for each in known), samples, False, figures.auroc, figures.auroc_interval)


def by_trait(metrics: Metrics) -> dict[str, Evidence]:
    """The evidence by trait key, the weakest trait first; traits that were not measured are left out."""
    known = {key: evidence for key, each in metrics.traits.items() if (evidence := evidence_of(each))}
    return dict(sorted(known.items(), key=lambda each: (each[1].share, each[1].auroc or 0.0)))


def evidence_on(known: Mapping[str, Evidence]) -> Evidence | None:
    """The evidence on several traits together; None without any.

    If some traits have test samples, only these traits count.
    """
    tested = [each for each in known.values() if each.on_tests]
    return _together(tested or known.values())


def _together(parts: Iterable[Evidence]) -> Evidence | None:
    every = list(parts)
    if len(every) < 2:
        return every[0] if every else None
    areas = [each.auroc for each in every if each.auroc is not None]
    mean = sum(areas) / len(areas) if areas else None
    right, samples = sum(each.right for each in every), sum(each.samples for each in every)
    return Evidence(right, samples, every[0].on_tests, mean, None, len(every))


def wilson(right: int, samples: int) -> Interval:
    """The 95 % interval of a share (Wilson, 1927)."""
    share, spread = right / samples, _Z**2 / samples
    middle = (share + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * sqrt(share * (1 - share) / samples + spread / (4 * samples))
    return max(0.0, middle - half), min(1.0, middle + half)
