"""The progress of a fit inside its traits, weighted by the work that `cost` expects of every step."""

from collections.abc import Mapping, Sequence
from typing import Protocol

Step = str


class ProgressListener(Protocol):
    """Hears of the progress of a fit; it may raise to stop it."""

    def __call__(self, done: int, total: int, share: float, /) -> None:
        """`done` of `total` traits are fitted; `share` (0 to 1) is the share of all work that is done."""
        ...


class FitProgress:
    """Adds up the work of the steps. `work` is that of each trait, by step in order; `rest` comes after all traits."""

    def __init__(self, work: Sequence[Mapping[Step, float]], rest: float, tell: ProgressListener) -> None:
        self._work, self._tell = work, tell
        self._total = sum(sum(steps.values()) for steps in work) + rest
        self._done, self._traits, self._share = 0.0, 0, 0.0
        self._report(0.0)

    def part(self, step: Step, done: int, total: int) -> None:
        """So many parts of a step of the present trait are done; they may be more than were expected."""
        self._report(self._work[self._traits].get(step, 0.0) * done / max(1, total))

    def finished(self, step: Step) -> None:
        """A step of the present trait is done."""
        self._done += self._work[self._traits].get(step, 0.0)
        self._report(0.0)

    def trait_finished(self) -> None:
        """All steps of the present trait are done."""
        self._traits += 1
        self._done = sum(sum(steps.values()) for steps in self._work[: self._traits])
        self._report(0.0)

    def all_finished(self) -> None:
        """Everything is done."""
        self._tell(len(self._work), len(self._work), 1.0)

    def _report(self, part: float) -> None:
        share = (self._done + part) / self._total if self._total > 0 else 1.0
        self._share = min(1.0, max(self._share, share))  # sums in another order may round down
        self._tell(self._traits, len(self._work), self._share)
