"""The traits that the answers of a column make, and the samples of a file that they give.

Nothing here calls the service or draws. `traits_of` makes traits of a column's answers; `samples_of` makes the samples,
and names every row that gives none.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from traitbench.as_read import read_hash
from traitbench.contract.samples import SampleInput
from traitbench.display.text import is_address, shortened
from traitbench.tables.answer_words import is_no_text, says_yes, scale_of
from traitbench.tables.answers import ColumnAnswers, labelled_number, number_in
from traitbench.tables.header_words import ends_in
from traitbench.tables.rows import Problem, Table
from traitbench.tables.sample_files import (
    QUALITY_NAMES,
    FileLayout,
    FileSample,
    LabelColumn,
    check,
    folded,
    guess_words,
)

Shape = Literal["sides", "each", "order"]
"""How answers make traits: two sides and what is neither, one trait for each kind against the rest, or a scale."""

MOST_OF_A_COLUMN = 50
"""The most traits of one column."""

REST = "anything else"
"""The negative pole of a trait that tells one kind of text from the rest."""

REPEATS = "repeats a text with the same label; one copy stays"
CONTRADICTS = "has a text that another row labels otherwise"
BLANK = "has no label"
LEFT_OUT = "has only labels that are left out"
NO_TEXT = "says “{0}”, which is no text"
NO_ANSWER = "says “{0}”, which means no answer"
TWO_LABELS = "has two labels that contradict each other: {0}"

_RARE, _REST = 0.1, 0.2
_LONGEST_NAME, _LONGEST_POLE, _MOST_WORDS = 80, 40, 3
_NO_NAMES = {*QUALITY_NAMES} - {"sentiment", "rating"}
_NEGATIONS = ("un", "in", "im", "ir", "il", "dis", "non", "not", "no", "nicht", "kein", "keine")
_ASKED = re.compile(
    r"^(?:is|was|are|does|do|has|ist|hat|sind)[ _-]+"
    r"(?:(?:this|it|that|the text|the message|das|dies|der text)\s+)?(?:(?:about|a|an|ein|eine|einen)\s+)*",
    re.IGNORECASE,
)
_NUMBERING = re.compile(r"^(?:q(?:uestion)?\s*)?\d{1,3}\s*[.):]\s*(?=\D)", re.IGNORECASE)


@dataclass(frozen=True)
class TraitFound:
    """A trait that a column makes: its poles, the quality of each answer, and the answers at neither pole.

    With `any_of`, a cell with several answers has the highest quality of them; else answers that contradict each other
    give no label.
    """

    column: str
    name: str
    negative: str
    positive: str
    words: Mapping[str, float]
    neither: Mapping[str, int]
    answers: ColumnAnswers
    any_of: bool = False

    def swapped(self) -> "TraitFound":
        """Return the trait with its sides exchanged."""
        words = {word: 1.0 - quality for word, quality in self.words.items()}
        return replace(self, negative=self.positive, positive=self.negative, words=words)

    def quality(self, cell: str) -> float | None:
        """Return the quality of a cell of the column; None if it gives no label."""
        qualities = {self.words.get(each) for each in self.answers.cells.get(cell, ())}
        if self.any_of:
            # The first word is the answer itself; an exchange of the sides makes it the low end.
            own = next(iter(self.words.values()), None)
            return own if own in qualities else next(iter(qualities - {None}), None)
        return next(iter(qualities)) if len(qualities) == 1 else None


# ---- traits ----------------------------------------------------------------------------------------------------------


def shapes_of(counts: Mapping[str, int]) -> tuple[Shape, ...]:
    """Return how the kinds of a label column can make traits, the likeliest first; empty for less than two kinds."""
    if len(counts) < 2:
        return ()
    if len(counts) == 2:
        return ("sides",)
    sides = _sides_of(counts)
    if are_numbers(counts) or _scale_of(counts):
        return ("order", "each", "sides") if sides else ("order", "each")
    if not sides:
        return ("each", "order")
    known = guess_words(counts, ())
    others = sum(times for cell, times in counts.items() if cell not in sides and known[cell] is None)
    is_rest = others <= _REST * sum(counts.values())
    return ("sides", "each", "order") if is_rest else ("each", "order", "sides")


def order_of(counts: Mapping[str, int]) -> list[str]:
    """Return the kinds from the lowest to the highest, as far as that is known; others come in alphabetical order."""
    if are_numbers(counts):
        return sorted(counts, key=lambda cell: number_in(cell) or 0.0)
    scale, known = scale_of(counts), guess_words(counts, ())
    if scale:
        return sorted(counts, key=lambda cell: scale[cell])
    middle = {cell: 0.5 if quality is None else quality for cell, quality in known.items()}
    return sorted(counts, key=lambda cell: (middle[cell], folded(cell)))


def traits_of(
    name: str,
    answers: ColumnAnswers,
    shape: Shape,
    *,
    order: Sequence[str] | None = None,
    ends: tuple[float, float] | None = None,
    border: float | None = None,
) -> list[TraitFound]:
    """Return the traits that a label column makes; `order` has the kinds of a scale, the lowest first.

    `ends` are the lowest and highest number of a scale of numbers, `border` the number between the sides.
    """
    counts = answers.kinds
    if shape == "each":
        several = answers.form == "several" or answers.several > 0
        # What one row says, such as another answer in somebody's own words, makes no trait.
        often = [kind for kind, times in counts.items() if times > 1] if several else [*counts]
        return [
            TraitFound(
                *(name, _capital(shortened(_bare(kind), _LONGEST_NAME)), REST, shortened(kind, _LONGEST_NAME)),
                {kind: 1.0} | {each: 0.0 for each in counts if each != kind},
                {},
                answers,
                any_of=several,
            )
            for kind in (often if len(often) > 1 else [*counts])[:MOST_OF_A_COLUMN]
        ]
    if shape == "order":
        return [_scaled(name, answers, order_of(counts) if order is None else order, ends, border)]
    negative, positive = _sides_of(counts) or tuple(order_of(counts)[:: len(counts) - 1])
    neither = {cell: times for cell, times in counts.items() if cell not in (negative, positive)}
    words = {negative: 0.0, positive: 1.0}
    poles = _named_poles(name, negative, positive)
    return [TraitFound(name, _trait_name(name, poles), *poles, words, neither, answers)]


def about(question: str, name: str, words: Mapping[str, float], answers: ColumnAnswers) -> TraitFound:
    """Return the trait that a question is about: how `words` answer it with yes (1) or no (0)."""
    what = _bare(question)
    what = what.lower() if what.isupper() else what
    what = shortened(_ASKED.sub("", what).rstrip("? ") or what, _LONGEST_NAME - 4)
    neither = {word: times for word, times in answers.kinds.items() if word not in words}
    return TraitFound(name, _capital(what), f"not {what}", what, words, neither, answers)


def by_verdict(name: str, words: Mapping[str, float], answers: ColumnAnswers) -> TraitFound:
    """Return the trait of verdicts on a question that nothing names: its poles are the words that are most frequent."""
    low, high = (
        max((word for word in words if words[word] == quality), key=lambda word: answers.kinds.get(word, 0), default="")
        for quality in (0.0, 1.0)
    )
    trait = about(name, name, words, answers)
    if not (low and high):
        return trait
    return replace(trait, name=_capital(shortened(f"{high} or {low}", _LONGEST_NAME)), negative=low, positive=high)


def are_numbers(cells: Mapping[str, int]) -> bool:
    """Whether all answers are numbers, also with a word behind: `5 - Strongly agree`."""
    return bool(cells) and all(number_in(cell) is not None for cell in cells)


def ends_of(numbers: Sequence[float], name: str = "") -> tuple[float, float]:
    """Return the ends of a scale of numbers: those that the header names, 0 and 1, 0 and 100, or its extremes."""
    least, most = min(numbers), max(numbers)
    named = ends_in(name)
    if named and named[0] <= least and most <= named[1]:
        return named
    if least >= 0 and most <= 1:
        return 0.0, 1.0
    if least >= 0 and 50 < most <= 100:
        return 0.0, 100.0
    return least, most


def _scaled(
    name: str, answers: ColumnAnswers, order: Sequence[str], ends: tuple[float, float] | None, border: float | None
) -> TraitFound:
    counts = answers.kinds
    values = {cell: number for cell in order if (number := number_in(cell)) is not None}
    if len(values) == len(order) and len({*values.values()}) > 1 and [*values.values()] == sorted(values.values()):
        low, high = ends or ends_of([*values.values()], name)
        middle = (low + high) / 2 if border is None else border
        words = {cell: _placed(value, low, middle, high) for cell, value in values.items()}
        poles = _ends_in_words(order) or _low_and_high(name)
        if _falls(order):
            words, poles = {cell: 1.0 - quality for cell, quality in words.items()}, poles[::-1]
    else:
        levels = _scale_of(dict.fromkeys(order, 1)) or {}
        ranks = sorted({*levels.values()})
        ranked = [*order] == sorted(order, key=lambda cell: levels.get(cell, 0)) and len(ranks) > 1
        words = {
            cell: ranks.index(levels[cell]) / (len(ranks) - 1) if ranked else position / max(len(order) - 1, 1)
            for position, cell in enumerate(order)
        }
        poles = (order[0], order[-1]) if order else ("", "")
    neither = {cell: times for cell, times in counts.items() if cell not in words}
    return TraitFound(name, _trait_name(name, poles), poles[0], poles[1], words, neither, answers)


def _placed(value: float, low: float, middle: float, high: float) -> float:
    """Return where a number is between the ends, with the border at 0.5."""
    if high > low and middle == (low + high) / 2:
        return min(1.0, max(0.0, (value - low) / (high - low)))
    if value <= middle:
        return max(0.0, 0.5 * (value - low) / (middle - low)) if middle > low else 0.0
    return min(1.0, 0.5 + 0.5 * (value - middle) / (high - middle)) if high > middle else 1.0


def _falls(order: Sequence[str]) -> bool:
    """Whether the words behind rising numbers fall: from `1 - Strongly agree` to `5 - Strongly disagree`."""
    named = [labelled[1] for cell in order if (labelled := labelled_number(cell)) is not None]
    levels = scale_of(named) if len(named) > 1 else None
    return levels is not None and levels[named[0]] > levels[named[-1]]


def _ends_in_words(order: Sequence[str]) -> tuple[str, str] | None:
    """Return the words of the ends of `1 - Never` to `5 - Always`."""
    low, high = labelled_number(order[0]), labelled_number(order[-1])
    # Stars, points and the like are units.
    if low is None or high is None or folded(low[1]).rstrip("s") == folded(high[1]).rstrip("s"):
        return None
    return shortened(low[1], _LONGEST_NAME), shortened(high[1], _LONGEST_NAME)


def _low_and_high(name: str) -> tuple[str, str]:
    what = _bare(name).lower()
    if len(what.split()) > _MOST_WORDS or len(what) > _LONGEST_POLE or what.endswith("?"):
        return "low", "high"
    plural = what.endswith("s") and folded(name) not in _NO_NAMES
    low, high = ("few", "many") if plural else ("low", "high")
    return f"{low} {what}", f"{high} {what}"


def _sides_of(counts: Mapping[str, int]) -> tuple[str, str] | None:
    """Return the negative and the positive kind; None if more than two kinds could be sides."""
    known = guess_words(counts, ()) | {cell: float(said) for cell in counts if (said := says_yes(cell)) is not None}
    low, high = ([cell for cell in counts if known[cell] == quality] for quality in (0.0, 1.0))
    if len(low) == len(high) == 1 and not _scale_of(counts) and not (len(counts) > 2 and are_numbers(counts)):
        return low[0], high[0]
    total = sum(counts.values())
    main = [cell for cell, times in counts.items() if known[cell] != 0.5 and times > max(1, _RARE * total)]
    if len(counts) == 2:
        main = list(counts)
    elif len(main) != 2 or are_numbers(counts):
        return None
    first, second = order_of(dict.fromkeys(main, 1))
    return (second, first) if negates(second, first) else (first, second)


def negates(kind: str, other: str) -> bool:
    """Whether a kind is the other one with a negation in front: `unhappy`, `not happy`."""
    start, base, end = folded(kind).rpartition(folded(other))
    return bool(base) and not end and start.strip(" -_") in _NEGATIONS


def _scale_of(counts: Mapping[str, int]) -> dict[str, int] | None:
    """Return the places of at least three kinds on a known scale that has all of them."""
    return scale_of(counts) if len(counts) > 2 else None


def _named_poles(name: str, negative: str, positive: str) -> tuple[str, str]:
    """Return the names of the poles: the labels, or the column's own name if they are only yes and no."""
    if folded(name) in _NO_NAMES or says_yes(negative) is None or says_yes(positive) is None:
        return shortened(negative, _LONGEST_NAME), shortened(positive, _LONGEST_NAME)
    what = re.sub(r"^(is|has|ist|hat)[ _-]+", "", _bare(name), flags=re.IGNORECASE)
    if len(what) > _LONGEST_POLE or what.endswith("?"):
        return shortened(negative, _LONGEST_NAME), shortened(positive, _LONGEST_NAME)
    return f"not {what}", what


def _trait_name(name: str, poles: Sequence[str]) -> str:
    if folded(name) in _NO_NAMES:
        return _capital(shortened(" or ".join(reversed(poles)), _LONGEST_NAME))
    return _capital(shortened(_bare(name), _LONGEST_NAME))


def _bare(name: str) -> str:
    """Return a header on one line, without underscores and the number of a question."""
    words = " ".join(re.split(r"[\s_]+", name.strip()))
    return _NUMBERING.sub("", words) or words


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


# ---- samples ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FileSamples:
    """The samples of a file, the rows that they are from, and the problem of every other row.

    `entries` has each label that is used; the labels that people gave to the same text make one sample.
    """

    samples: tuple[SampleInput, ...]
    entries: tuple[FileSample, ...]
    problems: tuple[Problem, ...]

    @property
    def lines(self) -> tuple[int, ...]:
        """The line of each label that is used."""
        return tuple(each.line for each in self.entries)


def layout_of(
    text: str, traits: Sequence[TraitFound], *, test: str | None = None, must_pass: str | None = None
) -> FileLayout:
    """Return where the labels of the traits are, each by its position; empty cells and other labels give no sample."""
    labels = [
        LabelColumn(
            trait.column, str(position), {cell: trait.quality(cell) for cell in trait.answers.cells} | {"": None}
        )
        for position, trait in enumerate(traits)
    ]
    return FileLayout(text, tuple(labels), held_out=test, must_pass=must_pass)


def samples_of(
    table: Table,
    layout: FileLayout,
    traits: Sequence[TraitFound],
    *,
    source: str | None = None,
    people: bool = False,
) -> FileSamples:
    """Return the samples of a file, and a problem for every row that gives none.

    Of equal samples one stays, and none of those that contradict each other. With `people`, the rows are labels of
    several people: all labels of a text make one sample with their mean. `source` is a column of addresses.
    """
    empty = {row.number: cell for row in table.rows if is_no_text(cell := row.cells.get(layout.text, "").strip())}
    texts = replace(table, rows=tuple(row for row in table.rows if row.number not in empty)) if empty else table
    checked = check(texts, layout, None)
    sources = _sources(table, source)
    samples, entries, by_row = (
        _joined(checked.entries, sources) if people else _without_copies(checked.entries, sources)
    )
    by_row = {problem.row: problem for problem in checked.problems} | by_row
    by_row |= {line: Problem(line, layout.text, NO_TEXT.format(cell)) for line, cell in empty.items()}
    used = {each.line for each in entries}
    for row in table.rows:
        if row.number in used or row.number in by_row:
            continue
        if not row.cells.get(layout.text, "").strip():
            by_row[row.number] = Problem(row.number, layout.text, "is empty")
        else:
            by_row[row.number] = _unlabelled(row.number, row.cells, traits)
    return FileSamples(tuple(samples), tuple(entries), tuple(by_row[line] for line in sorted(by_row)))


def unlabelled(table: Table, layout: FileLayout, traits: Sequence[TraitFound]) -> list[str]:
    """Return the different texts of the rows in which no trait has an answer."""
    texts = (
        row.cells.get(layout.text, "").strip()
        for row in table.rows
        if not any(each.answers.cells.get(row.cells.get(each.column, "").strip()) for each in traits)
    )
    return [text for text in dict.fromkeys(texts) if text and not is_no_text(text)]


def _unlabelled(line: int, cells: Mapping[str, str], traits: Sequence[TraitFound]) -> Problem:
    """Return why a row gives no sample, although it has a text."""
    given = {each.column: cell for each in traits if (cell := cells.get(each.column, "").strip())}
    if not given:
        return Problem(line, "", BLANK)
    answers = {each.column: each.answers for each in traits}
    for column, cell in given.items():
        own = answers[column].cells.get(cell, ())
        if len(own) > 1:
            return Problem(line, column, TWO_LABELS.format(" and ".join(own)))
        if own:
            return Problem(line, "", LEFT_OUT)
    column, cell = next(iter(given.items()))
    is_blank = answers[column].form == "lists"
    return Problem(line, "", BLANK) if is_blank else Problem(line, column, NO_ANSWER.format(shortened(cell, 60)))


def _joined(
    entries: Sequence[FileSample], sources: Mapping[int, str]
) -> tuple[list[SampleInput], list[FileSample], dict[int, Problem]]:
    """Make one sample of all labels of a text, with their mean."""
    labels: dict[tuple[str, str], list[FileSample]] = {}
    for each in entries:
        labels.setdefault((each.sample.trait, each.sample.text), []).append(each)
    samples = []
    for own in labels.values():
        mean = sum(each.sample.quality for each in own) / len(own)
        marks = {name: any(getattr(each.sample, name) for each in own) for name in ("held_out", "must_pass")}
        address = next((sources[each.line] for each in own if each.line in sources), None)
        changes = {"quality": mean, "source_url": address} | {name: True for name, given in marks.items() if given}
        samples.append(own[0].sample.model_copy(update={k: v for k, v in changes.items() if v is not None}))
    return samples, [*entries], {}


def _without_copies(
    entries: Sequence[FileSample], sources: Mapping[int, str]
) -> tuple[list[SampleInput], list[FileSample], dict[int, Problem]]:
    """Keep one of samples that look equal, and none of those that contradict each other; return these rows by line."""
    qualities: dict[tuple[str, str], set[float]] = {}
    for each in entries:
        qualities.setdefault((each.sample.trait, read_hash(each.sample.text)), set()).add(each.sample.quality)
    first, by_row = dict[tuple[str, str], FileSample](), dict[int, Problem]()
    for each in entries:
        what = (each.sample.trait, read_hash(each.sample.text))
        if len(qualities[what]) > 1:
            by_row[each.line] = Problem(each.line, "", CONTRADICTS)
        elif what not in first:
            address = sources.get(each.line)
            sample = each.sample.model_copy(update={"source_url": address}) if address else each.sample
            first[what] = each._replace(sample=sample)
    remaining = [*first.values()]
    copies = {each.line for each in entries} - {each.line for each in remaining} - {*by_row}
    return (
        [each.sample for each in remaining],
        remaining,
        by_row | {line: Problem(line, "", REPEATS) for line in copies},
    )


def _sources(table: Table, source: str | None) -> dict[int, str]:
    if source is None:
        return {}
    return {row.number: cell for row in table.rows if is_address(cell := row.cells.get(source, "").strip())}
