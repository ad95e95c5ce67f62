"""The check of one trait: its samples, and how findings speak of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from traitbench.analysis.findings import CheckedSample, Finding, Fix, Kind, Pole, Severity, Wanted, quoted
from traitbench.analysis.nuisance import Counts
from traitbench.display.text import count, shortened
from traitbench.fitting.duplicates import Vectors, joined, near_duplicates, plain, together
from traitbench.scoring.inputs import Floats, TraitLike

LONGEST = 24
"""The most characters of a name or a label in a finding."""
FEWEST = 5
"""The fewest texts of each pole that show what else separates them."""

POLES: tuple[Pole, Pole] = ("positive", "negative")

Embed = Callable[[Sequence[str]], Vectors]
"""Texts to their vectors (n, d)."""


@dataclass(frozen=True, eq=False)
class TraitCheck:
    """The check of one trait: its samples, by id."""

    trait: TraitLike
    samples: Sequence[CheckedSample]
    X: Vectors
    y: Floats = field(init=False)
    made: NDArray[np.bool_] = field(init=False)
    same: NDArray[np.int64] = field(init=False)
    near: NDArray[np.int64] = field(init=False)
    texts: NDArray[np.int64] = field(init=False)
    groups: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        texts = [plain(sample.text) for sample in self.samples]
        numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        same = np.array([numbers[text] for text in texts], np.int64)
        near = near_duplicates(self.X)
        texts_once = joined(same, near)
        made = [sample.provenance == "synthesized" for sample in self.samples]
        for name, value in {
            "y": np.array([sample.quality for sample in self.samples], np.float64),
            "made": np.array(made, bool),
            "same": same,
            "near": near,
            "texts": texts_once,
            "groups": together(texts_once, [sample.group for sample in self.samples]),
        }.items():
            object.__setattr__(self, name, value)

    def at(self, pole: Pole) -> NDArray[np.bool_]:
        """(n,): whether a sample is at the pole."""
        return self.y > 0.5 if pole == "positive" else self.y < 0.5

    def distinct(self, pole: Pole) -> int:
        """The number of different real texts at the pole."""
        return len(np.unique(self.texts[self.at(pole) & ~self.made]))

    def label(self, pole: Pole) -> str:
        """The label of the pole."""
        return shortened(self.trait.positive_label if pole == "positive" else self.trait.negative_label, LONGEST)

    @property
    def name(self) -> str:
        """The name of the trait."""
        return shortened(self.trait.name, LONGEST)

    @property
    def instead(self) -> str:
        """What a difference between the poles may do to a model."""
        return f"a model may learn that instead of {self.name}"

    def label_of(self, row: int) -> str:
        """The label of the pole that the sample at this row is at."""
        y = float(self.y[row])
        return "no side" if y == 0.5 else self.label("positive" if y > 0.5 else "negative")

    def quote(self, row: int) -> str:
        """How the text at this row begins."""
        return quoted(self.samples[row].text)

    def sides(self, counts: Counts) -> str:
        """`23 of 25 warm and 22 of 25 cold`."""
        return " and ".join(
            f"{right:,} of {of:,} {self.label(pole)}" for pole, (right, of) in zip(POLES, counts, strict=True)
        )

    def ids(self, rows: Sequence[int] | NDArray[np.integer]) -> tuple[int, ...]:
        """The ids of the samples at these rows."""
        return tuple(self.samples[int(row)].id for row in rows)


def finding_on(
    check: TraitCheck,
    kind: Kind,
    severity: Severity,
    ids: tuple[int, ...],
    says: str,
    fix: Fix | None = None,
    *,
    several: str = "",
    more: str = "",
    texts: int = 0,
) -> Finding:
    """A finding; its sentence begins with a capital, and has no full stop after the ellipsis of a label."""
    says, more, several = (each.replace("….", "…") for each in (f"{says[0].upper()}{says[1:]}", more, several))
    return Finding(kind, check.trait.key, ids, severity, says, fix, more, texts, several=several)


def to_add(check: TraitCheck, pole: Pole, number: int, words: int | None = None, *, kind: str = "") -> Fix:
    """Return the fix that adds texts of a pole, of about so many words."""
    long = f" of about {count(words, 'word')}" if words else ""
    text = f"{kind} {check.label(pole)} text".strip()
    return Fix(f"Add {count(number, text)}{long}", add=Wanted(pole, number, words))
