"""Which rows at the top of a sheet or CSV file name its columns.

Most files have one such row. Exports of surveys have two or three: the question, the answer that was offered, and
sometimes an identifier for programs. Reports have a title above.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from traitbench.tables.rows import Cells, column_names, refuse_if_wide

LOOKED_AT = 60
"""The number of records at the top that are looked at."""

_MOST_TITLES = 5
_FEWEST_FOR_A_GAP = 4
_FEWEST_COLUMNS_BELOW_A_TITLE = 3
_IDENTIFIER = re.compile(r'\{\s*"ImportId"\s*:')  # how Qualtrics ends its header
_ANSWER_ROW = {"response", "open-ended response"}  # how SurveyMonkey ends it
_IS_WORD = re.compile(r"[^\W\d_]")
_BETWEEN = " - "


@dataclass(frozen=True)
class Heading:
    """The names of the columns, the number of records before the first row of data, and what to say about them."""

    names: tuple[str, ...]
    records: int
    notes: tuple[str, ...] = ()


def heading_of(first: Sequence[Cells]) -> Heading:
    """Return the heading of a table by its first records, none of which is blank."""
    width = _width(first)
    refuse_if_wide(width)
    titles = _titles(first, width)
    rows = [_padded(cells, width) for _, cells in first[titles:]]
    depth = _depth(rows)
    notes = []
    if titles:
        numbers = _numbers([number for number, _ in first[:titles]])
        notes.append(f"{numbers} {'is' if titles == 1 else 'are'} read as a title.")
    if depth > 1:
        numbers = _numbers([number for number, _ in first[titles : titles + depth]])
        notes.append(f"{numbers} are read as the header, because exports of surveys have one of several lines.")
    elif (gap := _gap(rows)) is not None:
        notes.append(
            f"Line {first[titles + 1][0]:,} has nothing in the column {rows[0][gap].strip()}, where all other rows "
            "have something. If it belongs to the header, delete it."
        )
    naming = [row for row in rows[:depth] if not _is_for_programs(row)]
    names = naming[0] if len(naming) == 1 or all(map(str.strip, naming[0])) else _joined(*naming)
    below = [cells for _, cells in first[titles + 1 :]]
    shift = len(first[titles][1]) == width - 1 and all(len(cells) == width for cells in below)
    if shift and any(cells[-1].strip() for cells in below):
        notes.append("The header has one name fewer than the rows have cells. The first column has no name.")
        names = ["", *names[:-1]]
    return Heading(column_names(names), titles + depth, tuple(notes))


def _width(first: Sequence[Cells]) -> int:
    """Return the number of columns: those of the first record, unless most others agree on more."""
    own = len(first[0][1])
    others = Counter(len(cells) for _, cells in first[1:])
    if not others:
        return own
    most, times = others.most_common(1)[0]
    return most if most > own and times > others.total() / 2 else own


def _titles(first: Sequence[Cells], width: int) -> int:
    """Return the number of records at the top with one cell only, above a table with several columns."""
    if width < _FEWEST_COLUMNS_BELOW_A_TITLE:
        return 0
    single = [sum(bool(cell.strip()) for cell in cells) == 1 for _, cells in first[: _MOST_TITLES + 2]]
    titles = single.index(False) if False in single else len(single)
    if titles > _MOST_TITLES or titles + 1 >= len(first):
        return 0
    names = [cell for cell in first[titles][1] if cell.strip()]
    return titles if all(map(_IS_WORD.search, names)) else 0


def _depth(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of records that name the columns."""
    for depth in (2, 3):
        if len(rows) > depth and _is_for_programs(rows[depth - 1]):
            return depth
    if len(rows) < 3:
        return 1
    top, below = rows[:2]
    named = [cell.strip().casefold() for cell in below if cell.strip()]
    if named and not {*named} - _ANSWER_ROW:
        return 2
    # A question stands above its first answer only; the answers stand below, and not below columns such as the id.
    gaps = [position for position, cell in enumerate(top) if not cell.strip()]
    filled = all(_IS_WORD.search(below[position]) for position in gaps)
    return 2 if gaps and filled and _gap(rows) is not None else 1


def _gap(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the first column in which only the second row is empty; None for a table of few rows."""
    if len(rows) < _FEWEST_FOR_A_GAP:
        return None
    below, data = rows[1], rows[2:]
    positions = (position for position, cell in enumerate(below) if not cell.strip())
    return next((position for position in positions if all(row[position].strip() for row in data)), None)


def _joined(top: Sequence[str], below: Sequence[str]) -> list[str]:
    """Return a name of each column from two rows: a question is repeated for each of its answers."""
    names, question = [], ""
    for above, under in zip((cell.strip() for cell in top), (cell.strip() for cell in below), strict=True):
        question = above or question
        extra = under if under.casefold() not in _ANSWER_ROW and under != question else ""
        names.append(_BETWEEN.join(part for part in (question, extra) if part))
    return names


def _is_for_programs(row: Sequence[str]) -> bool:
    """Whether most cells of a row are identifiers that no person reads."""
    filled = [cell.strip() for cell in row if cell.strip()]
    return sum(bool(_IDENTIFIER.match(cell)) for cell in filled) > len(filled) / 2


def _padded(cells: Sequence[str], width: int) -> list[str]:
    return [*cells[:width], *[""] * (width - len(cells))]


def _numbers(numbers: Sequence[int]) -> str:
    return f"Line {numbers[0]:,}" if len(numbers) == 1 else f"Lines {numbers[0]:,} to {numbers[-1]:,}"
