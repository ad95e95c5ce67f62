"""How good a model is, for a list of models: the AUROC of one trait, with its interval and its number of samples.

A mean over unrelated traits says little, so the figure is that of one trait: the model's main trait, or else the
weakest. The lower end of the interval decides the order, so that little evidence never looks better than much.
"""

from dataclasses import dataclass

from traitbench.contract.metrics import POLES, Interval, ShortcutFigures, TraitMetrics
from traitbench.contract.rounding import in_decimals
from traitbench.contract.versions import Version

_WIDE = 0.15
"""An interval that is wider leaves open how good the trait is."""


@dataclass(frozen=True)
class Standing:
    """The figure of one trait, on test samples or out of fold; `among` is how many traits were measured.

    `shortcut` is what alone tells the poles of the trait apart.
    """

    trait: str
    auroc: float
    interval: Interval | None
    samples: int
    on_tests: bool
    among: int
    is_main: bool
    shortcut: ShortcutFigures | None = None

    @property
    def at_least(self) -> float:
        """The lower end of the interval; chance if there is none."""
        return self.interval[0] if self.interval else 0.5

    @property
    def is_open(self) -> bool:
        """Whether there is too little evidence to say how good the trait is."""
        return self.interval is None or self.interval[1] - self.interval[0] > _WIDE

    @property
    def figure(self) -> str:
        """`0.93`; with little evidence the interval, `0.76 to 0.99`."""
        return self.span if self.is_open and self.interval else self.point

    @property
    def point(self) -> str:
        """`0.93`."""
        return in_decimals(self.auroc)

    @property
    def span(self) -> str:
        """`0.92 to 0.94`; empty without an interval."""
        return " to ".join(map(in_decimals, self.interval)) if self.interval else ""


def standing(version: Version, main_trait: str | None) -> Standing | None:
    """The figure to show for a version; None if nothing was measured."""
    measured = [each for key, own in version.metrics.traits.items() if (each := _of_trait(key, own))]
    if not measured:
        return None
    main = next((each for each in measured if each[0] == main_trait), None)
    key, auroc, interval, samples, on_tests = main or min(measured, key=lambda each: each[2][0] if each[2] else 0.5)
    shortcut = version.metrics.traits[key].shortcut
    return Standing(key, auroc, interval, samples, on_tests, len(measured), main is not None, shortcut)


def _of_trait(key: str, figures: TraitMetrics) -> tuple[str, float, Interval | None, int, bool] | None:
    test = figures.test
    if test is not None and test.auroc is not None:
        return key, test.auroc, test.auroc_interval, test.samples, True
    if figures.auroc is None:
        return None
    scored = sum(each.samples for each in (figures.confidence or {}).values())
    samples = scored or sum(figures.counts.get(pole, 0) for pole in POLES)
    return key, figures.auroc, figures.auroc_interval, samples, False


def order(shown: Standing | None) -> float:
    """What sorts models from good to unknown: the best lower end first, models without a figure last."""
    return -shown.at_least if shown else 1.0


def share_of_range(value: float) -> float:
    """The place of an AUROC between chance (0) and perfect (1)."""
    return min(max((value - 0.5) / 0.5, 0.0), 1.0)
