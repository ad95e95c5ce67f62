"""Columns whose rows belong together, and those that only look like it."""

from collections.abc import Sequence

import numpy as np
import pytest

from traitbench.analysis.belonging import belonging

ROWS = 144
PER_VALUE = np.repeat(np.tile([0.0, 1.0], 12), 6)
BY_TEXT = np.random.default_rng(1).permuted(PER_VALUE)


def one(cells: Sequence[str | None], y: Sequence[float | None], texts: Sequence[object] = range(ROWS)) -> str | None:
    found = belonging({"column": cells}, y, [str(each) for each in texts])
    return None if found is None else found.column


def values(count: int, name: str = "value {}") -> list[str]:
    return [name.format(row * count // ROWS) for row in range(ROWS)]


def noisy(share: float) -> list[float]:
    """Labels of the values, of which a share is that of the text."""
    is_own = np.random.default_rng(2).random(ROWS) < share
    return [float(each) for each in np.where(is_own, BY_TEXT, PER_VALUE)]


@pytest.mark.parametrize(
    ("cells", "y"),
    [
        (values(24), PER_VALUE.tolist()),
        (values(24), noisy(0.4)),
        (values(24, "{}"), np.random.default_rng(3).permuted(np.tile([0.0, 1.0], 12)).repeat(6).tolist()),
        (values(24, "対話 {}"), [0.2 + 0.6 * each for each in PER_VALUE]),
        (values(8), np.tile([0.0, 1.0], 4).repeat(18).tolist()),
    ],
    ids=[
        "conversations",
        "authors that predict it often",
        "numbers of respondents",
        "graded labels",
        "eight documents",
    ],
)
def test_rows_of_a_value_that_repeats_and_predicts_the_label_belong_together(cells: list[str], y: list[float]) -> None:
    assert one(cells, y) == "column"


@pytest.mark.parametrize(
    ("cells", "y", "texts"),
    [
        (values(24), BY_TEXT.tolist(), range(ROWS)),
        (["north", "south"] * 72, PER_VALUE.tolist(), range(ROWS)),
        (values(4), noisy(0.2), range(ROWS)),
        (values(ROWS), PER_VALUE.tolist(), range(ROWS)),
        ([str(int(10 * each) + row % 5) for row, each in enumerate(PER_VALUE)], PER_VALUE.tolist(), range(ROWS)),
        (values(24, "2026-01-{:02}"), PER_VALUE.tolist(), range(ROWS)),
        (values(24), PER_VALUE.tolist(), [row // 6 for row in range(ROWS)]),
        ([None, ""] * 72, PER_VALUE.tolist(), range(ROWS)),
        (values(24), [None] * ROWS, range(ROWS)),
        ([], [], []),
    ],
    ids=[
        "labels of the texts",
        "two regions",
        "a few topics",
        "one row each",
        "a score",
        "days",
        "one text, judged by several",
        "nothing at all",
        "no labels",
        "no rows",
    ],
)
def test_other_columns_are_left_alone(cells: list[str | None], y: list[float | None], texts: Sequence[int]) -> None:
    assert one(cells, y, texts) is None


def test_the_figures_are_said() -> None:
    found = belonging({"region": ["n", "s"] * 72, "thread": values(24)}, PER_VALUE.tolist(), range(ROWS))
    assert found is not None
    assert (found.values, found.rows, found.one_label, found.correlation) == (24, ROWS, 24, 1.0)
    assert found.says == ("Rows share 24 values of “thread”. For 24 of them all rows have one label, by chance for 1.")


@pytest.mark.parametrize("seed", range(3))
def test_chance_is_rarely_taken_for_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hits = sum(one(values(48), rng.permuted(PER_VALUE).tolist()) is not None for _ in range(200))
    assert hits <= 2
