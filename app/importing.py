"""A file of samples on its way in: bytes, then a table, then samples or, row by row, the reasons why not.

Nothing here asks the service or draws. A file is taken as a whole: `check` says for every row what it would become, and
`problems` is empty only when all of it can be sent. What a problem says never repeats the text of the row.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.contract.samples import SampleInput
from core.contract.traits import Trait

MOST_MEGABYTES = 25
MOST_CHARACTERS = 50_000
MOST_WORDS = 24
"""So many different labels are offered for a mapping; a column with more is no label column."""

_STRAY = 0.05
_LOOKED_AT = 200
_DELIMITERS = (",", ";", "\t", "|")
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_TEXT_NAMES = ("text", "content", "sample", "sentence", "message", "review", "comment", "body")
_QUALITY_NAMES = ("quality", "label", "pole", "score", "class", "sentiment", "rating", "target", "y")
_GOOD = ("positive", "pos", "good", "yes", "high", "strong", "excellent", "true")
_FAIR = ("neutral", "fair", "moderate", "mixed", "medium")
_POOR = ("negative", "neg", "poor", "no", "low", "weak", "bad", "false")


class Unreadable(ValueError):
    """The file is no table at all; the message says what would be."""


@dataclass(frozen=True)
class Row:
    """One record; `number` is the line it begins on, `record` what stood there when the file was JSON."""

    number: int
    cells: Mapping[str, str]
    record: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Problem:
    """Why a row cannot go in."""

    row: int
    column: str
    reason: str


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
    """The table in a CSV, TSV, JSONL or JSON file; raise `Unreadable` when there is none."""
    text, notes = _decoded(content)
    if not text.strip():
        raise Unreadable("The file is empty.")
    if name.lower().endswith((".jsonl", ".ndjson", ".json")):
        return _json_table(text, notes)
    return _csv_table(text, notes, header=header)


def _decoded(content: bytes) -> tuple[str, tuple[str, ...]]:
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            try:
                return content.decode(encoding), ()
            except UnicodeDecodeError as error:
                raise Unreadable(f"The file says it is {encoding.upper()} but is not. Save it as UTF-8.") from error
    try:
        return content.decode("utf-8"), ()
    except UnicodeDecodeError:
        pass
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError as error:
        raise Unreadable("The file is neither UTF-8 nor Windows-1252. Save it as UTF-8 and try again.") from error
    return text, ("Not UTF-8, so it was read as Windows-1252. Look at accents and quotation marks in the preview.",)


def _csv_table(text: str, notes: tuple[str, ...], *, header: bool) -> Table:
    records = list(_records(text, _delimiter(text)))
    if not records:
        raise Unreadable("The file has no rows.")
    width = max(len(cells) for _, cells in records) if not header else len(records[0][1])
    columns = _column_names(records[0][1] if header else [""] * width)
    rows, problems = [], []
    for number, cells in records[1 if header else 0 :]:
        if any(cell.strip() for cell in cells[len(columns) :]):
            reason = f"has {len(cells)} cells where the header has {len(columns)}; quote cells that hold a separator"
            problems.append(Problem(number, "", reason))
        else:
            rows.append(Row(number, dict(zip(columns, [*cells, *[""] * len(columns)], strict=False))))
    if not rows and not problems:
        raise Unreadable("The file has a header and no rows. Is its first row a header?")
    return Table(columns, tuple(rows), tuple(problems), notes)


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The records that are not blank, each with the line it begins on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    begins = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield begins, cells
            begins = reader.line_num + 1
    except csv.Error as error:
        raise Unreadable(f"Line {begins} cannot be read: {error}. A quotation mark may be left open there.") from error


def _delimiter(text: str) -> str:
    """The separator under which the first records have the same number of cells, and more than one."""
    return max(_DELIMITERS, key=lambda delimiter: _regularity(text, delimiter))


def _regularity(text: str, delimiter: str) -> tuple[bool, float]:
    widths: Counter[int] = Counter()
    try:
        for _, cells in _records(text[:100_000], delimiter):
            widths[len(cells)] += 1
            if widths.total() == 50:
                break
    except Unreadable:
        return False, 0.0
    width, times = widths.most_common(1)[0] if widths else (0, 0)
    return width > 1, times / max(widths.total(), 1)


def _column_names(cells: Sequence[str]) -> tuple[str, ...]:
    names: list[str] = []
    for position, cell in enumerate(cells, start=1):
        name = cell.strip() or f"Column {position}"
        names.append(name if name not in names else f"{name} ({position})")
    return tuple(names)


def _json_table(text: str, notes: tuple[str, ...]) -> Table:
    rows, problems = [], []
    columns: dict[str, None] = {}
    for number, value in _json_values(text):
        if isinstance(value, Problem):
            problems.append(value)
        elif not isinstance(value, dict):
            problems.append(Problem(number, "", 'is not an object like {"text": "..."}'))
        else:
            rows.append(Row(number, {key: _cell(each) for key, each in value.items()}, value))
            columns |= dict.fromkeys(rows[-1].cells)
    if not rows:
        raise Unreadable('No line is a JSON object. Each line should look like {"text": "...", "quality": 1}.')
    return Table(tuple(columns), tuple(rows), tuple(problems), notes)


def _json_values(text: str) -> Iterator[tuple[int, Any]]:
    """The values by line; a file that is one JSON array counts by element."""
    if text.lstrip().startswith("["):
        try:
            yield from enumerate(json.loads(text), start=1)
        except (ValueError, RecursionError) as error:
            raise Unreadable("The file begins like a JSON array but is not one.") from error
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, Problem(number, "", "is not JSON")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
    meanings: dict[str, set[float]] = {}
    for quality, vocabulary in ((1.0, _GOOD), (0.5, _FAIR), (0.0, _POOR)):
        for word in vocabulary:
            meanings[word] = {quality}
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
    if len(text) > MOST_CHARACTERS:
        return Problem(row.number, column, f"has {len(text):,} characters; a sample has at most {MOST_CHARACTERS:,}")
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
