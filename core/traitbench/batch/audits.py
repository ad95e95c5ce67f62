"""An audit sample of a batch, and what a person decided about its texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Audit:
    """A drawn sample: `rows` are places in the batch, in the order of labelling; `labels` has None for a skip."""

    trait: str
    seed: int
    rows: Sequence[int]
    by: str | None = None
    labels: Mapping[int, float | None] | None = None

    @property
    def decided(self) -> Mapping[int, float | None]:
        """The decisions so far, in the order in which they were made."""
        return self.labels or {}

    @property
    def judged(self) -> dict[int, float]:
        """The labels, without skipped texts."""
        return {row: label for row, label in self.decided.items() if label is not None}

    @property
    def open_rows(self) -> list[int]:
        """The rows without a decision, in order."""
        return [row for row in self.rows if row not in self.decided]

    @property
    def last(self) -> int | None:
        """The row that was decided last."""
        return next(reversed(list(self.decided)), None)

    def decide(self, row: int, quality: float | None) -> "Audit":
        """Return the audit with a decision; a row that was not drawn changes nothing."""
        if row not in set(self.rows):
            return self
        others = {place: label for place, label in self.decided.items() if place != row}
        return replace(self, labels={**others, row: quality})

    def undo(self, row: int) -> "Audit":
        """Return the audit without the decision about a row."""
        return replace(self, labels={place: label for place, label in self.decided.items() if place != row})
