"""Read a table of samples: what its columns are for, then its samples or the reasons why a row is not valid.

Nothing here calls the service or draws. `check` returns the sample or the problem of each row; `problems` is empty only
if the whole file can be sent. A problem never repeats the text of the row.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from traitbench.as_read import is_blank, read_hash
from traitbench.contract.samples import LONGEST_GROUP, LONGEST_NOTE, LONGEST_TEXT, Sample, SampleInput
from traitbench.contract.scores import FEEDBACK_WORDS
from traitbench.contract.traits import Trait
from traitbench.names import canonical
from traitbench.tables.answer_words import are_verdicts, verdict_of
from traitbench.tables.answers import ColumnAnswers, answers_of, missing_codes
from traitbench.tables.rows import TEXT_NAMES, Problem, Row, Table

MOST_MEGABYTES = 50
"""The largest file that a page takes, with labels or without."""

MOST_WORDS = 24
"""The maximum number of different words in a label column."""

_STRAY = 0.05
_LOOKED_AT = 200
_MOST_NAMED = 8
_UNKNOWN_TRAIT = "is not the name or key of a trait of this model"
_INVALID_CHARACTER = "contains an invalid character (U+0000 or a lone surrogate)"
_NOT_YES_NO = "is neither yes nor no"
_TEST_NAMES = ("held_out", "held out", "heldout", "test", "is_test", "test sample", "split")
_WRITTEN = {"trait", "quality", "provenance"}
"""Columns of a file of samples that Traitbench wrote."""

_MUST_PASS_NAMES = ("must_pass", "must pass", "mustpass")
YES_NO = {
    **dict.fromkeys(("1", "yes", "y", "true", "t", "x", "ja", "wahr"), True),
    **dict.fromkeys(("0", "no", "n", "false", "f", "nein", "falsch"), False),
}
"""What a cell says in a column of yes and no, case-folded."""

_MARKS = {**YES_NO, "": False, "train": False, "training": False}
_MARKS |= dict.fromkeys(("test", "testing", "held_out", "dev", "val", "valid", "validation", "eval"), True)
_IN_TEXTS = re.compile(r"[^\W\d_]|[\u2000-\U0010ffff]")
_INVALID = re.compile("[\x00\ud800-\udfff]")
_VARIANT = "\ufe0f"  # asks for the coloured form of an emoji
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}T[\d.:+-]{1,30}Z?")
QUALITY_NAMES = ("quality", "label", "pole", "score", "class", "sentiment", "rating", "target", "y")
"""Names of columns of labels that say nothing else about them."""

_WORDS = {
    **FEEDBACK_WORDS,
    **dict.fromkeys(("pos", "true", "ja", "wahr", "gut", "positiv", "👍", "😀", "😃", "🙂", "😊", "✅", "✓"), 1.0),
    **dict.fromkeys(("neutral", "gemischt", "mittel", "😐"), 0.5),
    **dict.fromkeys(("neg", "false", "nein", "falsch", "schlecht", "negativ", "👎", "🙁", "☹", "😞", "😠", "😡"), 0.0),
    **dict.fromkeys(("❌", "✗", "thumbs_down", "thumbs down", "thumbsdown", "downvote", "dislike"), 0.0),
    **dict.fromkeys(("thumbs_up", "thumbs up", "thumbsup", "upvote", "like"), 1.0),
}


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels. Without a `column`, every row has the label of an empty cell.

    `trait` is the key of the trait, for rows whose trait cell is empty. `words` has the quality of each word, and None
    for a word whose rows give no sample; an empty cell is the empty word. Any other cell must be a number from 0 to 1.
    """

    column: str | None
    trait: str | None
    words: Mapping[str, float | None]


@dataclass(frozen=True)
class FileLayout:
    """What the columns of a labelled file are for. A file has one column of labels, or one for each trait or rater.

    `trait` is the column of traits, `held_out` and `must_pass` are columns of yes and no; an empty cell is a no. Rows
    with the same cell of `group` belong together. `note` is the column of notes of a file that Traitbench wrote.
    """

    text: str
    labels: tuple[LabelColumn, ...]
    trait: str | None = None
    held_out: str | None = None
    must_pass: str | None = None
    group: str | None = None
    note: str | None = None


class FileSample(NamedTuple):
    """A sample with its line and the name of its column of labels."""

    line: int
    column: str | None
    sample: SampleInput


@dataclass(frozen=True)
class Checked:
    """The samples in file order, the problems of other rows, and how many labels were left out."""

    entries: tuple[FileSample, ...]
    problems: tuple[Problem, ...]
    left_out: int = 0

    @cached_property
    def samples(self) -> tuple[SampleInput, ...]:
        """The samples in file order."""
        return tuple(each.sample for each in self.entries)

    @property
    def lines(self) -> tuple[int, ...]:
        """The line of each sample."""
        return tuple(each.line for each in self.entries)

    @property
    def bad_rows(self) -> tuple[int, ...]:
        """The lines of the rows that have a problem."""
        return tuple(sorted({problem.row for problem in self.problems}))


# ---- guesses -----------------------------------------------------------------------------------------------------


def guess_text_column(table: Table) -> str | None:
    """Guess the column of the texts by its name, else by the length of its texts; None if no cell looks like a text."""
    lengths = {column: _length_of_texts(table, column) for column in table.columns}
    # A blank column may still have its texts further below.
    fitting = [column for column in table.columns if lengths[column] or _is_blank(table, column)]
    longest = max(lengths, key=lambda column: lengths[column])
    return _named(table, TEXT_NAMES, among=fitting) or (longest if lengths[longest] else None)


def guess_columns(table: Table, traits: Sequence[Trait]) -> tuple[str | None, str | None, str | None]:
    """Guess the columns of text, trait and quality, by their names or their content; each may be None.

    A column is taken as the trait column only if most of its cells are traits of the model.
    """
    keys = trait_keys(traits)
    text = guess_text_column(table)
    others = [column for column in table.columns if column not in (text, *guess_test_columns(table))]
    trait = next((column for column in others if _share(table, column, lambda cell: cell in keys) > 0.5), None)
    others = [column for column in others if column != trait]
    quality = _named(table, QUALITY_NAMES, among=others) or next(
        (column for column in others if _means_poles(table, column, traits)), None
    )
    return text, trait, quality


def guess_wide(table: Table, traits: Sequence[Trait]) -> dict[str, str]:
    """Return the columns that are named like traits, with the keys of the traits; each trait has one column at most."""
    keys = trait_keys(traits)
    columns: dict[str, str] = {}
    for column in table.columns:
        key = keys.get(column.strip()) or keys.get(folded(column))
        if key is not None and key not in columns.values():
            columns[column] = key
    return columns


def guess_test_columns(table: Table) -> tuple[str | None, str | None]:
    """Guess the columns that mark test samples and those that must pass: by name, if they hold only yes and no."""
    held_out, must_pass = (
        next(
            (column for column in table.columns if column.strip().casefold() in names and _is_yes_no(table, column)),
            None,
        )
        for names in (_TEST_NAMES, _MUST_PASS_NAMES)
    )
    return held_out, must_pass


def guess_group_column(table: Table) -> str | None:
    """Return the column of groups in a file of samples that Traitbench wrote; elsewhere, a group is one to compare."""
    return "group" if {"group", *_WRITTEN} <= {*table.columns} else None


def guess_note_column(table: Table) -> str | None:
    """Return the column of notes in a file of samples that Traitbench wrote; elsewhere, a note may be the text."""
    return "note" if {"note", *_WRITTEN} <= {*table.columns} else None


def _is_yes_no(table: Table, column: str) -> bool:
    return all(row.cells.get(column, "").strip().casefold() in _MARKS for row in table.rows[:_LOOKED_AT])


def _named(table: Table, names: Sequence[str], *, among: Sequence[str] | None = None) -> str | None:
    columns = table.columns if among is None else among
    return next((column for name in names for column in columns if column.strip().casefold() == name), None)


def _means_poles(table: Table, column: str, traits: Sequence[Trait]) -> bool:
    cells = {row.cells.get(column, "").strip() for row in table.rows[:_LOOKED_AT]}
    meanings = guess_words(cells, traits)
    return _share(table, column, lambda cell: meanings.get(cell) is not None, fold=False) > 0.3


def _share(table: Table, column: str, holds: Callable[[str], bool], *, fold: bool = True) -> float:
    """Return the fraction of non-empty cells for which `holds` is true."""
    cells = [cell for row in table.rows[:_LOOKED_AT] if (cell := row.cells.get(column, "").strip())]
    return sum(holds(folded(cell) if fold else cell) for cell in cells) / max(len(cells), 1)


def _length_of_texts(table: Table, column: str) -> int:
    """Return the number of characters in cells with a letter or a symbol: not in numbers, dates, lists and objects."""
    cells = (row.cells.get(column, "").strip() for row in table.rows[:_LOOKED_AT])
    return sum(
        len(cell)
        for cell in cells
        if _IN_TEXTS.search(cell) and not _DATE.fullmatch(cell) and not (cell[0] in "[{" and cell[-1] in "]}")
    )


def _is_blank(table: Table, column: str) -> bool:
    return not any(row.cells.get(column, "").strip() for row in table.rows[:_LOOKED_AT])


def words(table: Table, column: str) -> dict[str, int]:
    """Count the answers of a label column that are not qualities; empty if all cells are numbers from 0 to 1.

    Numbers count as qualities only if nearly all are from 0 to 1: on a scale from 1 to 5, a 1 is not the positive pole.
    Words for no answer are left out, and lists and cells with several answers are taken apart.
    """
    answers = label_answers(table, column)
    counts = answers.kinds
    if answers.form != "several" and _numbers_are_qualities(Counter(counts).elements()):
        return {cell: times for cell, times in counts.items() if as_number(cell) is None}
    return counts


def label_answers(table: Table, column: str) -> ColumnAnswers:
    """Return the answers of a label column, the codes and verdicts without an answer left out."""
    cells = Counter(row.cells.get(column, "").strip() for row in table.rows)
    del cells[""]
    answers = answers_of(cells)
    if are_verdicts(answers.kinds):
        return answers.without({word for word in answers.kinds if verdict_of(word) is None})
    numbers = {word: number for word in answers.kinds if (number := as_number(word)) is not None}
    if answers.form == "several" or len(numbers) < len(answers.kinds):
        return answers
    times: Counter[float] = Counter()
    for word, number in numbers.items():
        times[number] += answers.kinds[word]
    codes = missing_codes(times)
    return answers.without({word for word, number in numbers.items() if number in codes}) if codes else answers


def guess_words(cells: Iterable[str], traits: Sequence[Trait]) -> dict[str, float | None]:
    """Guess the quality of each word, from the traits' labels and common words; None if unknown or ambiguous."""
    meanings = {word: {quality} for word, quality in _WORDS.items()}
    for trait in traits:
        for label, quality in ((trait.positive_label, 1.0), (trait.negative_label, 0.0)):
            meanings.setdefault(folded(label), set()).add(quality)
    by_word = {word: meanings.get(folded(word).rstrip(_VARIANT)) or {verdict_of(word)} - {None} for word in cells}
    return {word: next(iter(known)) if len(known) == 1 else None for word, known in by_word.items()}


def without_answer(table: Table, labels: Iterable[LabelColumn]) -> dict[str, int]:
    """Return the words and codes that mean no answer in columns of labels, with the rows that are left out for them."""
    missing: Counter[str] = Counter()
    for label in labels:
        if label.column is not None:
            missing.update(
                {
                    word: times
                    for word, times in label_answers(table, label.column).missing.items()
                    if word not in label.words
                }
            )
    return dict(missing.most_common())


def known_words(table: Table, column: str, traits: Sequence[Trait]) -> dict[str, float]:
    """Return the quality of each word of a label column whose meaning can be guessed."""
    # A pole may be called like a word for nothing.
    guessed = guess_words({**words(table, column), **label_answers(table, column).missing}, traits)
    return {word: quality for word, quality in guessed.items() if quality is not None}


# ---- table to samples --------------------------------------------------------------------------------------------


def check(table: Table, layout: FileLayout, traits: Sequence[Trait] | None) -> Checked:
    """Return the samples and the problems of all rows; a problem of several columns of labels counts once.

    The traits in the file must be among `traits`; if that is None, their cells are taken as keys.
    """
    entries, problems, left_out = list[FileSample](), dict.fromkeys(table.problems), 0
    for row, column, trait, quality in read_labels(table, layout, traits):
        if quality is None:
            left_out += 1
            continue
        text = row.cells.get(layout.text, "")
        held_out, must_pass = (_yes_no(row, marks) for marks in (layout.held_out, layout.must_pass))
        if must_pass is True and held_out is False:
            must_pass = Problem(row.number, str(layout.must_pass), "is yes, but only test samples can be must-pass")
        group = _short(row, layout.group, LONGEST_GROUP, "group")
        note = _short(row, layout.note, LONGEST_NOTE, "note")
        cells = (_text_problem(row.number, layout.text, text), trait, quality, held_out, must_pass, group, note)
        wrong = [each for each in cells if isinstance(each, Problem)]
        problems |= dict.fromkeys(wrong)
        if not wrong and isinstance(trait, str) and isinstance(quality, float):
            sample = SampleInput(trait=trait, text=text, quality=quality)
            more = {"held_out": held_out is True, "must_pass": must_pass is True, "group": group, "note": note}
            sample = sample.model_copy(update={name: given for name, given in more.items() if given})
            entries.append(FileSample(row.number, column, sample))
    return Checked(tuple(entries), tuple(sorted(problems, key=lambda problem: problem.row)), left_out)


def read_labels(
    table: Table, layout: FileLayout, traits: Sequence[Trait] | None
) -> Iterator[tuple[Row, str | None, str | Problem, float | Problem | None]]:
    """Yield each row with each column of labels, its trait and its quality, which is None if it gives no sample."""
    keys = None if traits is None else trait_keys(traits)
    readers = [_LabelReader(table, each) for each in layout.labels]
    for row in table.rows:
        for reader in readers:
            trait = _trait_of(row, layout.trait, reader.label.trait, keys)
            yield row, reader.label.column, trait, reader.quality(row)


class _LabelReader:
    """Reads the cells of a column of labels."""

    def __init__(self, table: Table, label: LabelColumn) -> None:
        self._table, self.label = table, label
        self._words = {folded(word): quality for word, quality in label.words.items()} | dict(label.words)

    def _cell(self, row: Row) -> str:
        return row.cells.get(self.label.column, "").strip() if self.label.column else ""

    @cached_property
    def _answers(self) -> ColumnAnswers:
        return label_answers(self._table, self.label.column or "")

    @cached_property
    def _is_numeric(self) -> bool:
        return _numbers_are_qualities(Counter(self._answers.kinds).elements())

    def quality(self, row: Row) -> float | Problem | None:
        """Return the quality of a row, or None if it gives no sample."""
        cell, column = self._cell(row), self.label.column or ""
        if not (cell or "" in self._words):
            return Problem(row.number, column, "is empty, and there is no default")
        if (known := self._known(cell)) is not None:
            return known[0]
        answers = self._answers.cells.get(cell, (cell,))
        if not answers:
            return None
        if len(answers) > 1:
            qualities = {known[0] if (known := self._known(each)) else None for each in answers}
            same = next(iter(qualities)) if len(qualities) == 1 else None
            return (
                Problem(row.number, column, f"has several answers: {' and '.join(answers)}") if same is None else same
            )
        (answer,) = answers
        if (known := self._known(answer)) is not None:
            return known[0]
        number = quality_of(answer, {})
        if self._answers.form == "several":
            return Problem(row.number, column, "has several answers in some rows. Choose what each answer means")
        if number is None:
            return Problem(row.number, column, "is neither a number from 0 to 1 nor a known label")
        if self._is_numeric:
            return number
        reason = "is a number, but other numbers in the column are not from 0 to 1. Choose what each number means"
        return Problem(row.number, column, reason)

    def _known(self, word: str) -> tuple[float | None] | None:
        """Return the quality of a word, alone because it may be None; None for a word that is not known."""
        return next(((self._words[each],) for each in (word, folded(word)) if each in self._words), None)


def unlabelled(table: Table, layout: FileLayout) -> list[str]:
    """Return the texts of the rows that have no label, without repetitions."""
    columns = [each.column for each in layout.labels]
    texts = (
        row.cells.get(layout.text, "").strip()
        for row in table.rows
        if not any(column is None or row.cells.get(column, "").strip() for column in columns)
    )
    return [text for text in dict.fromkeys(texts) if text]


def to_mend(table: Table, problems: Iterable[Problem]) -> tuple[list[str], list[list[str]]]:
    """Return the header and the bad rows of a file as they were, each with its line and what is wrong with it."""
    reasons: dict[int, list[str]] = {}
    for problem in problems:
        reasons.setdefault(problem.row, []).append(f"{problem.column} {problem.reason}".strip())
    cells = {row.number: row.cells for row in table.rows}
    rows = [
        [*(cells.get(line, {}).get(column, "") for column in table.columns), str(line), "; ".join(why)]
        for line, why in sorted(reasons.items())
    ]
    return [*table.columns, "line", "error"], rows


# ---- against what is there -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """The samples of a file, compared with those of the model and with each other.

    `same` have a sample with this text, trait and label already, or before them in the file. `other` have a sample
    with this text and trait but another label, by position. `new` are all others. All are positions in the file, and
    texts that look the same are one text.
    """

    new: tuple[int, ...]
    same: tuple[int, ...]
    other: Mapping[int, tuple[Sample, ...]]


def compared(checked: Checked, samples: Iterable[Sample]) -> Compared:
    """Compare the samples of a file with the samples that are there."""
    there: dict[tuple[str, str], list[Sample]] = {}
    for each in samples:
        there.setdefault((each.trait, read_hash(each.text)), []).append(each)
    seen: set[tuple[str, str, float]] = set()
    new, same, other = [], [], {}
    for position, sample in enumerate(checked.samples):
        what = (sample.trait, read_hash(sample.text))
        present = there.get(what, [])
        own = (*what, sample.quality)
        if own in seen or any(each.quality == sample.quality for each in present):
            same.append(position)
        elif present:
            other[position] = tuple(present)
        else:
            new.append(position)
        seen.add(own)
    return Compared(tuple(new), tuple(same), other)


def _yes_no(row: Row, column: str | None) -> bool | Problem:
    cell = row.cells.get(column, "").strip().casefold() if column else ""
    return _MARKS[cell] if cell in _MARKS else Problem(row.number, column or "", _NOT_YES_NO)


def _short(row: Row, column: str | None, most: int, what: str) -> str | Problem | None:
    cell = row.cells.get(column, "").strip() if column else ""
    if len(cell) > most:
        reason = f"has {len(cell):,} characters; a {what} has at most {most:,}"
        return Problem(row.number, column or "", reason)
    if _INVALID.search(cell):
        return Problem(row.number, column or "", _INVALID_CHARACTER)
    return cell or None


def _text_problem(row: int, column: str, text: str) -> Problem | None:
    if is_blank(text):
        return Problem(row, column, "is empty")
    if len(text) > LONGEST_TEXT:
        return Problem(row, column, f"has {len(text):,} characters; the maximum is {LONGEST_TEXT:,}")
    if _INVALID.search(text):
        return Problem(row, column, _INVALID_CHARACTER)
    return None


def _trait_of(row: Row, column: str | None, default: str | None, keys: Mapping[str, str] | None) -> str | Problem:
    cell = row.cells.get(column, "").strip() if column else ""
    if not cell:
        return default or Problem(row.number, column or "", "names no trait, and there is no default")
    key = cell if keys is None else keys.get(cell) or keys.get(folded(cell))
    return key or Problem(row.number, column or "", _UNKNOWN_TRAIT)


def known_traits(problems: Sequence[Problem], traits: Sequence[Trait]) -> str:
    """Return a sentence with the traits of the model if a row names another one, else an empty text."""
    if all(problem.reason != _UNKNOWN_TRAIT for problem in problems):
        return ""
    names = ", ".join(trait.name for trait in traits[:_MOST_NAMED])
    more = f" and {len(traits) - _MOST_NAMED:,} more" if len(traits) > _MOST_NAMED else ""
    return f"Traits of this model: {names}{more}."


def trait_keys(traits: Sequence[Trait]) -> dict[str, str]:
    """Map names and keys to keys. Keys precede names, and exact matches precede case-folded ones."""
    return (
        # Later entries win, so exact keys come last.
        {folded(trait.name): trait.key for trait in traits}
        | {folded(trait.key): trait.key for trait in traits}
        | {trait.name.strip(): trait.key for trait in traits}
        | {trait.key: trait.key for trait in traits}
    )


def folded(name: str) -> str:
    """Return a name without differences of case and of Unicode spelling: programs save accents in two ways."""
    return canonical(canonical(name.strip()).casefold())


def quality_of(label: str, words: Mapping[str, float | None]) -> float | None:
    """Return the quality that a label means: a number from 0 to 1, or that of a word; None if it is neither."""
    number = as_number(label)
    quality = words.get(label) if number is None else number
    return quality if quality is not None and 0.0 <= quality <= 1.0 else None


def _numbers_are_qualities(cells: Iterable[str]) -> bool:
    numbers = [number for number in map(as_number, cells) if number is not None]
    outside = sum(not 0.0 <= number <= 1.0 for number in numbers)
    return outside <= _STRAY * len(numbers)


def as_number(cell: str) -> float | None:
    """Parse a number with a decimal point or comma; None if it is not one."""
    try:
        number = float(cell.replace(",", "."))
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None
