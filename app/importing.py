"""A file of samples on its way in: bytes, then a table, then samples or, row by row, the reasons why not.

Nothing here asks the service or draws. A file is taken as a whole: `check` says for every row what it would become, and
`problems` is empty only when all of it can be sent. What a problem says never repeats the text of the row.
"""

import io
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from traitbench.app.tables import Problem, Row, Source, opened
from traitbench.contract.samples import LONGEST_TEXT, SampleInput
from traitbench.contract.scores import FEEDBACK_WORDS
from traitbench.contract.traits import Trait

MOST_MEGABYTES = 25
MOST_WORDS = 24
"""So many different labels are offered for a mapping; a column with more is no label column."""

_STRAY = 0.05
_LOOKED_AT = 200
_TEXT_NAMES = ("text", "content", "sample", "sentence", "message", "review", "comment", "body")
_QUALITY_NAMES = ("quality", "label", "pole", "score", "class", "sentiment", "rating", "target", "y")
_WORDS = {**FEEDBACK_WORDS, "pos": 1.0, "true": 1.0, "neutral": 0.5, "neg": 0.0, "false": 0.0}


@dataclass(frozen=True)
class Table:
    """What was read: rows under named columns, what was wrong already, and what a person should know."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """Which column is what, what stands in for an empty or absent one, and what the words mean."""

    text: str
    trait: str | None
    default_trait: str | None
    quality: str | None
    default_quality: float | None
    words: Mapping[str, float]


@dataclass(frozen=True)
class Checked:
    """The samples in file order with the lines they came from, and the problems of the other rows."""

    samples: tuple[SampleInput, ...]
    lines: tuple[int, ...]
    problems: tuple[Problem, ...]


# ---- bytes to table ----------------------------------------------------------------------------------------------


def read(name: str, content: bytes, *, header: bool = True) -> Table:
    """The table in a CSV, TSV, JSONL, JSON or Parquet file; raise `tables.Unreadable` when there is none."""
    return table_of(opened(name, io.BytesIO(content), header=header, keep=sys.maxsize))


def table_of(source: Source) -> Table:
    """What was kept of a file that was looked through."""
    rows = tuple(line for line in source.first if isinstance(line, Row))
    problems = tuple(line for line in source.first if isinstance(line, Problem))
    return Table(source.columns, rows, problems, source.notes)


# ---- guesses -----------------------------------------------------------------------------------------------------


def guess_columns(table: Table, traits: Sequence[Trait]) -> tuple[str, str | None, str | None]:
    """The columns that look like text, trait and quality, by their names or by what stands in them.

    Only the text is always there: a column that is named like a trait and holds none is none.
    """
    keys = _trait_keys(traits)
    text = _named(table, _TEXT_NAMES) or max(table.columns, key=lambda column: _total_length(table, column))
    others = [column for column in table.columns if column != text]
    trait = next((column for column in others if _share(table, column, lambda cell: cell in keys) > 0.5), None)
    others = [column for column in others if column != trait]
    quality = _named(table, _QUALITY_NAMES, among=others) or next(
        (column for column in others if _means_poles(table, column, traits)), None
    )
    return text, trait, quality


def _named(table: Table, names: Sequence[str], *, among: Sequence[str] | None = None) -> str | None:
    columns = table.columns if among is None else among
    return next((column for name in names for column in columns if column.strip().casefold() == name), None)


def _means_poles(table: Table, column: str, traits: Sequence[Trait]) -> bool:
    cells = {row.cells.get(column, "").strip() for row in table.rows[:_LOOKED_AT]}
    meanings = guess_words(cells, traits)
    return _share(table, column, lambda cell: meanings.get(cell) is not None, folded=False) > 0.3


def _share(table: Table, column: str, holds: Callable[[str], bool], *, folded: bool = True) -> float:
    """How many of the cells that are not empty hold what is asked for."""
    cells = [cell for row in table.rows[:_LOOKED_AT] if (cell := row.cells.get(column, "").strip())]
    return sum(holds(cell.casefold() if folded else cell) for cell in cells) / max(len(cells), 1)


def _total_length(table: Table, column: str) -> int:
    return sum(len(row.cells.get(column, "")) for row in table.rows[:_LOOKED_AT])


def words(table: Table, column: str) -> dict[str, int]:
    """What stands in a label column other than qualities, with how often; empty when it is all numbers from 0 to 1.

    Numbers count as qualities only when hardly any lies outside: the 1 of a scale from 1 to 5 is no positive pole.
    """
    cells = Counter(row.cells.get(column, "").strip() for row in table.rows)
    del cells[""]
    if _numbers_are_qualities(cells.elements()):
        cells = Counter({cell: times for cell, times in cells.items() if _number(cell) is None})
    return dict(cells.most_common())


def guess_words(found: Iterable[str], traits: Sequence[Trait]) -> dict[str, float | None]:
    """What each word may mean: a trait's own label, or a word that means it everywhere; None when nobody knows."""
    meanings = {word: {quality} for word, quality in _WORDS.items()}
    for trait in traits:
        for label, quality in ((trait.positive_label, 1.0), (trait.negative_label, 0.0)):
            own = meanings.setdefault(label.strip().casefold(), set())
            own.add(quality)
    by_word = {word: meanings.get(word.strip().casefold(), set()) for word in found}
    return {word: next(iter(known)) if len(known) == 1 else None for word, known in by_word.items()}


# ---- table to samples --------------------------------------------------------------------------------------------


def check(table: Table, choice: Choice, traits: Sequence[Trait]) -> Checked:
    """What every row becomes under this choice, or why it cannot."""
    column = choice.quality
    numeric = column is not None and _numbers_are_qualities(row.cells.get(column, "").strip() for row in table.rows)
    keys = _trait_keys(traits)
    samples, lines, problems = [], [], list(table.problems)
    for row in table.rows:
        trait = _trait_of(row, choice, keys)
        quality = _quality_of(row, choice, numeric=numeric)
        text = row.cells.get(choice.text, "")
        found = [each for each in (_text_problem(row, choice.text, text), trait, quality) if isinstance(each, Problem)]
        problems += found
        if not found and isinstance(trait, str) and isinstance(quality, float):
            samples.append(SampleInput(trait=trait, text=text, quality=quality))
            lines.append(row.number)
    return Checked(tuple(samples), tuple(lines), tuple(sorted(problems, key=lambda problem: problem.row)))


def _text_problem(row: Row, column: str, text: str) -> Problem | None:
    if not text.strip():
        return Problem(row.number, column, "is empty")
    if len(text) > LONGEST_TEXT:
        return Problem(row.number, column, f"has {len(text):,} characters; a sample has at most {LONGEST_TEXT:,}")
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        return Problem(row.number, column, "holds a character that is none (U+0000 or half of a pair)")
    return None


def _trait_of(row: Row, choice: Choice, keys: Mapping[str, str]) -> str | Problem:
    cell = row.cells.get(choice.trait, "").strip() if choice.trait else ""
    if not cell:
        return choice.default_trait or Problem(row.number, choice.trait or "", "names no trait, and none stands in")
    key = keys.get(cell) or keys.get(cell.casefold())
    return key or Problem(row.number, choice.trait or "", "is not the name or key of a trait of this model")


def _trait_keys(traits: Sequence[Trait]) -> dict[str, str]:
    """Keys by whatever may stand for a trait: its key before its name, exact before folded."""
    return (
        {trait.name.strip().casefold(): trait.key for trait in traits}
        | {trait.key.casefold(): trait.key for trait in traits}
        | {trait.name.strip(): trait.key for trait in traits}
        | {trait.key: trait.key for trait in traits}
    )


def _quality_of(row: Row, choice: Choice, *, numeric: bool) -> float | Problem:
    column = choice.quality
    cell = row.cells.get(column, "").strip() if column else ""
    if not cell:
        if choice.default_quality is not None:
            return choice.default_quality
        return Problem(row.number, column or "", "is empty, and no pole stands in")
    if cell in choice.words:
        return choice.words[cell]
    number = _number(cell) if numeric else None
    if number is not None and 0.0 <= number <= 1.0:
        return number
    return Problem(row.number, column or "", "is neither a number from 0 to 1 nor a word that stands for a pole")


def _numbers_are_qualities(cells: Iterable[str]) -> bool:
    numbers = [number for number in map(_number, cells) if number is not None]
    outside = sum(not 0.0 <= number <= 1.0 for number in numbers)
    return outside <= _STRAY * len(numbers)


def _number(cell: str) -> float | None:
    """A plain number, with a point or a decimal comma."""
    try:
        number = float(cell.replace(",", "."))
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None
