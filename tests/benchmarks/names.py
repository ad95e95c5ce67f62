"""How often the names of two poles alone put a text on the right side, without a single label.

    python -m tests.benchmarks.names [--quick]

Ten pairs of poles, each with ten texts for either pole, in `names.txt`: written for this, before anything was measured.
`side` is the share of texts on the right side of 50, `claimed` the share with a side in words, `right` that of these
which are on the right one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.benchmarks.page import Measured, Table, run
from traitbench.fitting.auroc import auroc
from traitbench.local.names import scorer_by_names

_FILE = Path(__file__).with_name("names.txt")


@dataclass(frozen=True)
class Pair:
    """Two poles, and texts for each."""

    negative: str
    positive: str
    texts: tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True)
class Figures:
    """What the names of a pair gave."""

    pair: Pair
    auroc: float
    side: float
    claimed: float
    right: float


def pairs() -> list[Pair]:
    """The pairs of the file."""
    read = []
    for block in _FILE.read_text("utf-8").split("# ")[1:]:
        head, *lines = block.strip().splitlines()
        middle = lines.index("|")
        negative, positive = head.split(" | ")
        read.append(Pair(negative, positive, (lines[:middle], lines[middle + 1 :])))
    return read


def figures(pair: Pair) -> Figures:
    """The figures of one pair; a text at 50 is half right."""
    at = scorer_by_names(pair.negative, pair.positive).score([*pair.texts[0], *pair.texts[1]])
    positive = np.repeat([False, True], [len(own) for own in pair.texts])
    scores = np.array([each.score for each in at], float)
    right = np.where(scores == 50, 0.5, (scores > 50) == positive)
    claimed = np.array([each.positive is not None for each in at])
    return Figures(pair, auroc(scores, positive.astype(float)), right.mean(), claimed.mean(), right[claimed].mean())


def measure() -> Measured:
    """All pairs."""
    known = [figures(pair) for pair in pairs()]
    names = ("auroc", "side", "claimed", "right")
    rows = [
        [f"{each.pair.negative} - {each.pair.positive}", *(f"{getattr(each, name):.2f}" for name in names)]
        for each in known
    ]
    means = {name: float(np.mean([getattr(each, name) for each in known])) for name in names}
    rows.append(["mean", *(f"{each:.2f}" for each in means.values())])
    return Measured([Table("Names alone", ["poles", "AUROC", *names[1:]], rows)], means)


if __name__ == "__main__":
    run("names", measure, quick={}, whole={})
