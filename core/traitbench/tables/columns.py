"""One reading of a file: what each column means, the traits that its labels make, and the rows that are left out.

`read_columns` looks at a table, guesses a reading for every column and says it in a sentence. A person or a command can
give a reading instead. Nothing here calls the service or draws.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from traitbench.display.text import shortened
from traitbench.tables.answer_words import says_yes, verdict_of
from traitbench.tables.answers import ColumnAnswers, number_in
from traitbench.tables.column_kinds import MOST_GROUPS, MOST_KINDS, READINGS, Kind, Reading, kind_of, missing_said
from traitbench.tables.conversations import Turn
from traitbench.tables.label_columns import MAKING, label_columns, shapes_as, traits_as, verdicts_of
from traitbench.tables.labelled import (
    FileSamples,
    Shape,
    TraitFound,
    are_numbers,
    layout_of,
    samples_of,
    unlabelled,
)
from traitbench.tables.row_structure import (
    cells_of,
    find_numbers_of_texts,
    find_people,
    find_tests,
    find_texts,
    find_together,
    people_said,
)
from traitbench.tables.rows import Table
from traitbench.tables.sample_files import FileLayout

__all__ = ["READINGS", "ColumnReading", "FileReading", "Reading", "Turn", "read_columns"]

_MESSAGES = Kind("messages", "Conversations: messages with roles.", ColumnAnswers({}, {}, {}))
_IDENTIFIES = Kind("identifier", "Identifies each text.", ColumnAnswers({}, {}, {}))
_LOOKED_AT = 200
_MOST_NAMED = 20


@dataclass(frozen=True)
class ColumnReading:
    """A column with its reading and a sentence about it.

    `answers` are the answers of its cells; `shapes` how they can make traits, the likeliest first. `traits` are those
    that it makes. `offered` are the readings to choose from.
    """

    name: str
    reading: Reading
    said: str
    answers: ColumnAnswers
    shapes: tuple[Shape, ...] = ()
    traits: tuple[TraitFound, ...] = ()
    offered: tuple[Reading, ...] = ()


@dataclass(frozen=True)
class FileReading:
    """What a table means. `table` may have further columns: a column of verdicts for each question.

    `column` has the texts, `also` are further columns of texts, and `turn` says whose messages are the text of a
    conversation. `together`, `people`, `source`, `test` and `must_pass` name columns.
    """

    table: Table
    column: str | None
    also: tuple[str, ...]
    turn: Turn | None
    columns: tuple[ColumnReading, ...]
    together: str | None = None
    people: str | None = None
    source: str | None = None
    test: str | None = None
    must_pass: str | None = None
    notes: tuple[str, ...] = ()
    given: Mapping[str, Reading] = field(default_factory=dict)

    @property
    def traits(self) -> tuple[TraitFound, ...]:
        """The traits that the columns make, in the order of the columns."""
        return tuple(trait for each in self.columns for trait in each.traits)

    @property
    def rows(self) -> int:
        """The number of data rows, good and bad."""
        return len(self.table.rows) + len({each.row for each in self.table.problems})

    def named(self, *readings: Reading) -> list[str]:
        """Return the names of the columns with one of these readings."""
        return [each.name for each in self.columns if each.reading in readings]

    def layout(self, traits: Sequence[TraitFound]) -> FileLayout:
        """Return where the texts and the labels of the traits are."""
        layout = layout_of(self.column or "", traits, test=self.test, must_pass=self.must_pass)
        return replace(layout, group=self.together)

    def samples(self, traits: Sequence[TraitFound]) -> FileSamples:
        """Return the samples that the rows give for the traits, and why the other rows give none."""
        layout = self.layout(traits)
        return samples_of(self.table, layout, traits, source=self.source, people=self.people is not None)

    def unlabelled(self, traits: Sequence[TraitFound]) -> list[str]:
        """Return the different texts of the rows that have no label for any of the traits."""
        return unlabelled(self.table, self.layout(traits), traits)

    @cached_property
    def texts(self) -> list[str]:
        """The different texts of the file."""
        cells = (row.cells.get(self.column or "", "").strip() for row in self.table.rows)
        return [text for text in dict.fromkeys(cells) if text]

    @property
    def said(self) -> list[str]:
        """A sentence for each column: `“rating”: A scale from 1 to 5.`"""
        return [f"“{shortened(each.name, 60)}” ({each.reading}): {each.said}" for each in self.columns]

    @property
    def line(self) -> str:
        """The columns in one line: `columns: id (identifier), answer (text), mood (labels)`."""
        named = [f"{shortened(' '.join(each.name.split()), 40)} ({each.reading})" for each in self.columns]
        more = f" and {len(named) - _MOST_NAMED:,} more" if len(named) > _MOST_NAMED else ""
        return f"columns: {', '.join(named[:_MOST_NAMED])}{more}"

    def as_json(self) -> dict[str, Any]:
        """Return what `traitbench read --json` prints."""
        traits = self.traits
        read = self.samples(traits) if self.column is not None else FileSamples((), (), self.table.problems)
        own: dict[str, list[float]] = {str(position): [] for position in range(len(traits))}
        for entry in read.entries:
            own[entry.sample.trait].append(entry.sample.quality)
        return {
            "rows": self.rows,
            "texts": {"column": self.column, "also": [*self.also], "turn": self.turn},
            "columns": [{"name": each.name, "reading": each.reading, "said": each.said} for each in self.columns],
            "traits": [
                {
                    "name": trait.name,
                    "negative_label": trait.negative,
                    "positive_label": trait.positive,
                    "negative": sum(quality < 0.5 for quality in own[str(position)]),
                    "positive": sum(quality > 0.5 for quality in own[str(position)]),
                    "between": sum(quality == 0.5 for quality in own[str(position)]),
                    "unlabelled": self.without_answer(trait),
                }
                for position, trait in enumerate(traits)
            ],
            "left_out": self.left_out(read if traits or self.column is None else self._blank()),
            "notes": [*self.notes],
        }

    def without_answer(self, trait: TraitFound) -> int:
        """Return in how many rows the trait's column has no answer, although there is a text."""
        return sum(
            not trait.answers.cells.get(row.cells.get(trait.column, "").strip())
            for row in self.table.rows
            if row.cells.get(self.column or "", "").strip()
        )

    def left_out(self, read: FileSamples) -> list[dict[str, Any]]:
        """Return the rows that give no sample by their reason, with numbers of data rows from 1."""
        numbers = {*(row.number for row in self.table.rows), *(each.row for each in self.table.problems)}
        position_of = {number: position for position, number in enumerate(sorted(numbers), start=1)}
        reasons: dict[str, list[int]] = {}
        for each in read.problems:
            what = f"“{shortened(each.column, 60)}” " if each.column else ""
            reasons.setdefault(f"{what}{each.reason}".strip(), []).append(position_of[each.row])
        return [{"rows": [*dict.fromkeys(rows)], "reason": reason} for reason, rows in reasons.items()]

    def _blank(self) -> FileSamples:
        """Without traits, only rows without a text are left out."""
        read = samples_of(self.table, self.layout(()), ())
        return replace(read, problems=tuple(each for each in read.problems if each.column == self.column))


# ---- the reading -----------------------------------------------------------------------------------------------------


def read_columns(
    table: Table,
    *,
    given: Mapping[str, str] | None = None,
    column: str | None = None,
    turn: Turn | None = None,
    groups: bool = True,
    as_answers: Collection[str] = (),
) -> FileReading:
    """Return what each column of a table means.

    `given` has readings that a person chose, `column` names the texts, `turn` says whose messages of a conversation are
    the text. Without `groups`, rows with the same author or conversation are not kept together. `as_answers` are
    words that are answers here, although they usually mean none: `NA`.

    Raise `ValueError` with the choices if a column or a reading does not exist.
    """
    chosen = checked_readings(table.columns, given or {})
    if column is not None:
        chosen |= checked_readings(table.columns, {column: "text"})
    cells = {name: cells_of(table, name) for name in table.columns}
    kinds = {name: _kind(table, name, cells[name], as_answers) for name in table.columns}
    first, also, text_said = find_texts(table, kinds, cells, chosen, column)
    kinds |= dict.fromkeys(find_numbers_of_texts(table, first, kinds, cells), _IDENTIFIES)
    tests = find_tests(table, chosen)
    people = find_people(table, first, kinds, cells, chosen, tests)
    used = {first, *also, *tests, people}
    table, verdicts, questions = verdicts_of(table, kinds, chosen)
    # Precedence: text, labels, people, rows that belong together, group.
    labels = {*label_columns(kinds, chosen, {*used, *(questions - {*chosen})}), *verdicts}
    traits = {
        name: verdicts[name]
        if name in verdicts
        else traits_as(name, kind, shapes_as(kind, chosen.get(name)), chosen.get(name, kind.reading))
        for name, kind in kinds.items()
        if name in labels
    }
    own = [trait for each in traits.values() for trait in each]
    together = find_together(table, first, kinds, cells, chosen, {*used, *labels}, own) if groups else None
    said = {**text_said, **dict.fromkeys(tests[:1], "Marks test samples.")}
    said |= dict.fromkeys(tests[1:], "Marks test samples that must pass.")
    if people is not None:
        said[people] = people_said(table, first, people, kinds, labels)
    if together is not None:
        said[together[0]] = together[1]
    by_rows: dict[str, Reading] = {**dict.fromkeys(text_said, "text"), **dict.fromkeys(tests, "test")}
    by_rows |= {people: "people"} if people is not None else {}
    by_rows |= {together[0]: "rows_together"} if together is not None else {}
    by_rows |= dict.fromkeys(verdicts, "verdicts")
    said |= {name: _verdicts_said(own) for name, own in verdicts.items()}
    for name in questions - {*chosen, *by_rows}:
        by_rows[name], said[name] = "not_used", "The question that the verdicts answer."
    columns = tuple(
        _column(name, kind, chosen.get(name), by_rows.get(name), said.get(name, ""), traits.get(name))
        for name, kind in kinds.items()
    )
    sources = [each.name for each in columns if each.reading == "identifier" and each.said.startswith("Has addresses")]
    return FileReading(
        table=table,
        column=first,
        also=also,
        turn=(turn or "user") if first is not None and kinds[first].reading == "messages" else None,
        columns=columns,
        together=together[0] if together is not None else None,
        people=people,
        source=next(iter(sources), None),
        test=next(iter(tests), None),
        must_pass=next(iter(tests[1:]), None),
        notes=(*_notes(first, also, said, people, together), *_raters_note(columns)),
        given=chosen,
    )


def _kind(table: Table, name: str, cells: Mapping[str, int], as_answers: Collection[str]) -> Kind:
    if name in table.conversations:
        return _MESSAGES
    return kind_of(name, cells, len(table.rows), as_answers=as_answers, rising=_rises(table, name))


def _column(
    name: str,
    kind: Kind,
    given: Reading | None,
    by_rows: Reading | None,
    said: str,
    traits: tuple[TraitFound, ...] | None,
) -> ColumnReading:
    """Return a column with its reading: what was found among its rows, what a person said, or what it is on its own."""
    reading = by_rows or given or kind.reading
    sentence = said or kind.said
    if by_rows is None and traits is not None:
        sentence = _labels_said(kind, reading, traits) if given else kind.said
    elif by_rows is None and given is not None:
        sentence = given_said(given, kind)
    elif by_rows is None and kind.strength != "none" and kind.reading != "number":
        reading, sentence = _demoted(kind)
    return ColumnReading(
        name, reading, sentence, kind.answers, shapes_as(kind, given), traits or (), _offered(kind, reading)
    )


def checked_readings(columns: Iterable[str], given: Mapping[str, str]) -> dict[str, Reading]:
    """Return the readings that were given; raise `ValueError` with the choices if a column or reading is unknown."""
    there, readings = {*columns}, {each: each for each in READINGS}
    for name, reading in given.items():
        if name not in there:
            raise ValueError(f"The file has no column {name}; it has {', '.join(columns)}.")
        if reading not in readings:
            raise ValueError(f"{reading} is no reading of a column. Choose one of {', '.join(READINGS)}.")
    return {name: readings[reading] for name, reading in given.items() if reading in readings}


def _rises(table: Table, name: str) -> bool:
    """Whether the first cells of a column are whole numbers that grow from row to row."""
    some = [number_in(row.cells.get(name, "").strip()) for row in table.rows[:_LOOKED_AT]]
    numbers = [each for each in some if each is not None and each.is_integer()]
    return len(numbers) == len(some) and all(first < second for first, second in pairwise(numbers))


# ---- sentences -------------------------------------------------------------------------------------------------------


def _labels_said(kind: Kind, reading: Reading, traits: Sequence[TraitFound]) -> str:
    missing = "" if traits else " It makes no trait, because it has no two sides."
    return f"{given_said(reading, kind)}{missing}"


def _verdicts_said(traits: Sequence[TraitFound]) -> str:
    if not traits:
        return "Verdicts that make no trait: they have one side, or say which rows of labels were accepted."
    asked = ", ".join(f"“{shortened(each.positive, 40)}”" for each in traits)
    return (
        f"Verdicts on {asked}: accepted is the positive side, rejected the negative.{missing_said(traits[0].answers)}"
    )


def given_said(reading: Reading, kind: Kind) -> str:
    """Say a reading that a person chose."""
    sentences: Mapping[Reading, str] = {
        "text": "The texts.",
        "labels": "Labels.",
        "several_answers": "Several answers in a cell. Each one becomes a trait against the rest.",
        "scale": "A scale.",
        "verdicts": "Verdicts on one question.",
        "people": "The people who labelled.",
        "messages": "Conversations: messages with roles.",
        "rows_together": "Rows with the same value belong together.",
        "group": "A group to compare.",
        "date": "Dates.",
        "number": "Numbers, a graded label.",
        "identifier": "Identifies each row.",
        "test": "Marks test samples.",
        "not_used": "You left it out.",
    }
    return f"{sentences[reading]}{missing_said(kind.answers) if reading in MAKING else ''}"


def _demoted(kind: Kind) -> tuple[Reading, str]:
    """Return the reading of a column that could have labels, but is not chosen."""
    few = len(kind.answers.kinds)
    if kind.reading == "scale":
        return "number", f"{kind.said} Not used as a label: read it as a scale to make a trait of it."
    return "group", f"A group to compare, or a label: it has {few} kinds."


def _offered(kind: Kind, reading: Reading) -> tuple[Reading, ...]:
    kinds = kind.answers.kinds
    offered: list[Reading] = ["text"]
    if len(kinds) > 1:
        offered += ["labels"] if len(kinds) <= MOST_GROUPS else []
        offered += ["several_answers"] if kind.answers.several else []
        offered += ["scale"] if len(kinds) <= MOST_GROUPS or are_numbers(kinds) else []
        offered += (
            ["verdicts"] if len(kinds) <= MOST_KINDS and any(verdict_of(each) is not None for each in kinds) else []
        )
        offered += ["people", "rows_together", "group"] if len(kinds) < sum(kinds.values()) else []
    return tuple(dict.fromkeys((*offered, kind.reading, reading, "identifier", "not_used")))


def _raters_note(columns: Sequence[ColumnReading]) -> list[str]:
    """Say that columns with the same labels may be of several people."""
    labels: dict[frozenset[str], list[str]] = {}
    for each in columns:
        if len(each.traits) == 1 and not any(says_yes(kind) is not None for kind in each.answers.kinds):
            labels.setdefault(frozenset(each.answers.kinds), []).append(f"“{shortened(each.name, 40)}”")
    return [
        f"{', '.join(names[:-1])} and {names[-1]} have the same labels. If they are people, use Compare labels."
        for names in labels.values()
        if len(names) > 1
    ]


def _notes(
    first: str | None,
    also: Sequence[str],
    said: Mapping[str, str],
    people: str | None,
    together: tuple[str, str] | None,
) -> tuple[str, ...]:
    notes = []
    if first is None:
        notes.append("No column looks like texts. Name the column of the texts.")
    elif also:
        others = " and ".join(f"“{shortened(name, 60)}”" for name in also)
        have = "has" if len(also) == 1 else "have"
        notes.append(f"Texts are taken from “{shortened(first, 60)}”. {others} {have} texts too.")
    if people is not None:
        notes.append(f"“{shortened(people, 60)}”: {said[people]}")
    if together is not None:
        notes.append(f"“{shortened(together[0], 60)}”: {together[1]}")
    return tuple(notes)
