"""Columns whose rows belong together: a value repeats, and rows that share it have the same label more than chance
gives.

Turns of a conversation, texts of an author, answers of a respondent and sentences of a document are not independent.
If they are on both sides of a fold, a fit that recognises the conversation seems to know the label.

The label is compared within and between values by a one-way analysis of variance. The intraclass correlation (Shrout
and Fleiss, Psychological Bulletin 86, 1979, 420-428, ICC(1) with the mean size of unequal groups of Snedecor and
Cochran) is 1 where all rows of a value have one label, and 0 where sharing a value says nothing.
"""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from traitbench.fitting.auroc import auroc
from traitbench.scoring.inputs import Floats

_CHANCE = 0.001
_FEWEST_ROWS, _FEWEST_VALUES, _MANY_VALUES = 2.0, 6, 20
# A few values that predict the label a little are groups to compare, such as regions.
_FEW_PREDICT, _MANY_PREDICT = 0.5, 0.2
_ORDERED = 0.8
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b.*")


@dataclass(frozen=True)
class Belonging:
    """A column whose rows belong together.

    `values` repeat and have `rows` in all; of `one_label` of them, all rows have one label, which chance gives to
    `by_chance`. `correlation` is the intraclass correlation of the labels.
    """

    column: str
    values: int
    rows: int
    one_label: int
    by_chance: float
    correlation: float

    @property
    def says(self) -> str:
        """What was found, as one sentence."""
        return (
            f"Rows share {self.values:,} values of “{self.column}”. For {self.one_label:,} of them all rows have one"
            f" label, by chance for {self.by_chance:,.0f}."
        )


def belonging(
    columns: Mapping[str, Sequence[str | None]], y: Sequence[float | None], texts: Sequence[Hashable]
) -> Belonging | None:
    """Return the column whose rows belong together most likely; None if there is none.

    `columns` have a cell for each row, `y` (n,) are qualities, None for rows without one, and `texts` (n,) are equal
    for equal texts: a text that is there twice counts once. A column of numbers whose order tells the labels apart is a
    score, and one of a few values a group to compare.
    """
    matches = [each for name, cells in columns.items() if (each := _of_column(name, cells, y, texts)) is not None]
    # Conversations rather than their authors: the more values, the more of the texts may still be told apart.
    return max(matches, key=lambda each: (round(each.correlation, 1), each.values), default=None)


def _of_column(
    name: str, cells: Sequence[str | None], y: Sequence[float | None], texts: Sequence[Hashable]
) -> Belonging | None:
    different = {*cells} - {None, ""}
    if len(different) < _FEWEST_VALUES or _FEWEST_ROWS * len(different) > len(cells):
        return None
    rows = {
        (cell, text): quality
        for cell, quality, text in zip(cells, y, texts, strict=True)
        if cell and cell.strip() and quality is not None
    }
    names = [cell for cell, _ in rows]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    labels, of = np.array([*rows.values()], np.float64), np.array([numbers[each] for each in names], np.int64)
    sizes = np.bincount(of)
    repeated = int((sizes > 1).sum())
    if repeated < _FEWEST_VALUES or len(of) < _FEWEST_ROWS * len(sizes) or _is_order([*numbers], of, labels):
        return None
    correlation, chance = _correlation(labels, of, sizes)
    least = _MANY_PREDICT if repeated >= _MANY_VALUES else _FEW_PREDICT
    if correlation < least or chance >= _CHANCE:
        return None
    return Belonging(name, repeated, int(sizes[sizes > 1].sum()), *_one_label(labels, of, sizes), correlation)


def _correlation(y: Floats, of: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[float, float]:
    """The intraclass correlation of labels (n,) in groups (n,), and how likely chance gives so much."""
    n, groups = len(y), len(sizes)
    if n <= groups:
        return 0.0, 1.0
    means = np.bincount(of, weights=y) / sizes
    between = float(sizes @ np.square(means - y.mean())) / (groups - 1)
    within = float(np.square(y - means[of]).sum()) / (n - groups)
    if between == 0:
        return 0.0, 1.0
    size = (n - float(np.square(sizes).sum()) / n) / (groups - 1)
    correlation = (between - within) / (between + (size - 1) * within)
    return correlation, 0.0 if within == 0 else float(fdtrc(groups - 1, n - groups, between / within))


def _one_label(y: Floats, of: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[int, float]:
    """Of how many repeated values all rows have one label, and of how many by chance."""
    lowest, highest = np.full(len(sizes), np.inf), np.full(len(sizes), -np.inf)
    np.minimum.at(lowest, of, y)
    np.maximum.at(highest, of, y)
    repeated = sizes > 1
    _, counts = np.unique(y, return_counts=True)
    expected = np.power.outer(counts / len(y), sizes[repeated]).sum()
    return int((lowest == highest)[repeated].sum()), float(expected)


def _is_order(names: Sequence[str], of: NDArray[np.int64], y: Floats) -> bool:
    """Whether the values are dates or fractions, or numbers whose order tells the labels apart, as a score does."""
    if all(_DATE.fullmatch(name.strip()) for name in names):
        return True
    if not all(_NUMBER.fullmatch(name.strip()) for name in names):
        return False
    values = np.array([float(name.replace(",", ".")) for name in names])
    if (values != np.round(values)).any():
        return True
    sided = y != 0.5
    positive = y[sided] > 0.5
    if not positive.any() or positive.all():
        return True
    area = auroc(values[of][sided], y[sided])
    return max(area, 1 - area) >= _ORDERED
