"""One reading of a file: what each column means, the traits that its labels make, and the rows that are left out.

`read_columns` looks at a table, guesses a reading for every column and says it in a sentence. A person or a command can
give a reading instead. Nothing here calls the service or draws.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from traitbench.display.text import count, shortened
from traitbench.tables.answer_words import VERDICT_COLUMNS, folded_word, verdict_of
from traitbench.tables.answers import Answers, answers_of, number_in
from traitbench.tables.column_kinds import (
    MOST_GROUPS,
    MOST_KINDS,
    READINGS,
    Kind,
    Reading,
    Strength,
    is_conversation,
    kind_of,
    missing_said,
)
from traitbench.tables.conversations import Turn
from traitbench.tables.header_words import names
from traitbench.tables.labelled import (
    FileSamples,
    Shape,
    TraitFound,
    about,
    are_numbers,
    layout_of,
    samples_of,
    shapes_of,
    traits_of,
    unlabelled,
)
from traitbench.tables.rows import Row, Table
from traitbench.tables.sample_files import FileLayout, guess_test_columns, guess_text_column

__all__ = ["READINGS", "ColumnReading", "FileReading", "Reading", "Turn", "read_columns"]

MOST_LABELS = 8
"""The most columns that are guessed as labels at once."""

_MESSAGES = Kind("messages", "Conversations: messages with roles.", Answers({}, {}, {}))
_IDENTIFIES = Kind("identifier", "Identifies each text.", Answers({}, {}, {}))
_MAKING: tuple[Reading, ...] = ("labels", "several_answers", "scale", "verdicts", "number")
_MOST_PEOPLE, _FEWEST_EACH = 50, 2
_PROSE_LETTERS, _PROSE_WORDS, _DENSE_LETTERS = 20, 4, 8
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
    answers: Answers
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
        return layout_of(self.column or "", traits, test=self.test, must_pass=self.must_pass)

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
        place = {number: position for position, number in enumerate(sorted(numbers), start=1)}
        reasons: dict[str, list[int]] = {}
        for each in read.problems:
            what = f"“{shortened(each.column, 60)}” " if each.column else ""
            reasons.setdefault(f"{what}{each.reason}".strip(), []).append(place[each.row])
        return [{"rows": [*dict.fromkeys(rows)], "reason": reason} for reason, rows in reasons.items()]

    def _blank(self) -> FileSamples:
        """Without traits, only rows without a text are left out."""
        read = samples_of(self.table, self.layout(()), ())
        return replace(read, problems=tuple(each for each in read.problems if each.column == self.column))


# ---- the reading -----------------------------------------------------------------------------------------------------


def read_columns(
    table: Table,
    *,
    given: Mapping[str, Reading] | None = None,
    column: str | None = None,
    turn: Turn | None = None,
    groups: bool = True,
    kept: Collection[str] = (),
) -> FileReading:
    """Return what each column of a table means.

    `given` has readings that a person chose, `column` names the texts, `turn` says whose messages of a conversation are
    the text. Without `groups`, rows with the same author or conversation are not kept together. `kept` are words that
    are answers here, although they usually mean none: `NA`.

    Raise `ValueError` with the choices if a column or a reading does not exist.
    """
    chosen = checked_readings(table.columns, given or {})
    if column is not None:
        chosen = {**checked_readings(table.columns, {column: "text"}), **chosen, column: "text"}
    cells = {name: _cells(table, name) for name in table.columns}
    rising = {name: _rises(table, name) for name in table.columns}
    kinds = {
        name: _MESSAGES
        if name in table.conversations
        else kind_of(name, cells[name], len(table.rows), kept=kept, rising=rising[name])
        for name in table.columns
    }
    first, also, text_said = _texts_of(table, kinds, cells, chosen, column)
    kinds |= dict.fromkeys(_of_each_text(table, first, kinds, cells), _IDENTIFIES)
    tests = _tests(table, chosen)
    people = _people(table, first, kinds, cells, chosen, tests)
    used = {first, *also, *tests, people}
    together = None if not groups else _together(table, first, kinds, cells, chosen, used)
    labels = _labels(kinds, chosen, {*used, together})
    table, verdicts = _verdicts(table, kinds, chosen)
    source = next(
        (name for name, kind in kinds.items() if name not in used and kind.said.startswith("Has addresses")), None
    )
    columns = []
    for name, kind in kinds.items():
        reading, said = chosen.get(name, kind.reading), kind.said
        traits: tuple[TraitFound, ...] = ()
        shapes = _shapes(kind, chosen.get(name))
        if name == first or name in also:
            reading, said = "text", text_said[name]
        elif name in tests:
            reading, said = "test", f"Marks test samples{' that must pass' if name in tests[1:] else ''}."
        elif name == people:
            reading, said = "people", _people_said(table, first, name, kinds, labels)
        elif name == together:
            values = count(len(cells[name]), "value")
            reading, said = "rows_together", f"Rows with the same value belong together: {values}."
        elif name in labels:
            reading = chosen.get(name, kind.reading)
            traits = verdicts.get(name) or _traits(name, kind, shapes, reading)
            said = _labels_said(kind, reading, traits) if name in chosen or name in verdicts else kind.said
        elif name in chosen:
            said = _given_said(reading, kind)
        elif kind.strength != "none" and kind.reading != "number":
            reading, said = _demoted(kind)
        columns.append(ColumnReading(name, reading, said, kind.answers, shapes, traits, _offered(kind, reading)))
    notes = _notes(first, also, tuple(columns), people, together)
    return FileReading(
        table,
        first,
        also,
        (turn or "user") if first is not None and kinds[first].reading == "messages" else None,
        tuple(columns),
        together,
        people,
        source if source is not None and chosen.get(source, "identifier") == "identifier" else None,
        tests[0] if tests else None,
        tests[1] if tests[1:] else None,
        notes,
        chosen,
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


def _cells(table: Table, name: str) -> Mapping[str, int]:
    return Counter(cell for row in table.rows if (cell := row.cells.get(name, "").strip()))


def _rises(table: Table, name: str) -> bool:
    """Whether the first cells of a column are whole numbers that grow from row to row."""
    some = [number_in(row.cells.get(name, "").strip()) for row in table.rows[:_LOOKED_AT]]
    numbers = [each for each in some if each is not None and each.is_integer()]
    return len(numbers) == len(some) and all(first < second for first, second in pairwise(numbers))


# ---- texts -----------------------------------------------------------------------------------------------------------


def _texts_of(
    table: Table,
    kinds: Mapping[str, Kind],
    cells: Mapping[str, Mapping[str, int]],
    chosen: Mapping[str, Reading],
    column: str | None,
) -> tuple[str | None, tuple[str, ...], dict[str, str]]:
    """Return the column of the texts, further columns of texts, and a sentence for each."""
    free = [name for name in table.columns if chosen.get(name, "text") == "text" and _may_be_text(kinds[name])]
    named = [name for name in table.columns if chosen.get(name) == "text"]
    messages = [name for name in table.columns if kinds[name].reading == "messages" and name not in chosen]
    guess = guess_text_column(replace(table, columns=tuple(free))) if free else None
    if guess is not None and messages and not names(guess, "text"):
        guess = None
    first = column or (named[0] if named else None) or guess or next(iter(messages), None)
    also = tuple(
        name
        for name in table.columns
        if name != first and (name in named or (name in free and name not in chosen and _is_prose(cells[name])))
    )
    said = dict.fromkeys(also, "Texts too. One column of texts is used at a time.")
    if first is not None:
        of_messages = kinds[first].reading == "messages"
        said[first] = "The texts: messages of conversations." if of_messages else "The texts."
    return first, also, said


def _may_be_text(kind: Kind) -> bool:
    return kind.reading in (
        "not_used",
        "identifier",
        "labels",
        "group",
        "scale",
        "verdicts",
        "several_answers",
    ) and not (
        kind.said.startswith(("Has JSON", "Has addresses", "Has e-mail", "Has long", "Has numbers"))
        or kind.reading == "several_answers"
        or (kind.reading in ("labels", "scale", "verdicts") and kind.strength == "certain")
    )


def _of_each_text(
    table: Table, text: str | None, kinds: Mapping[str, Kind], cells: Mapping[str, Mapping[str, int]]
) -> list[str]:
    """Return the columns that number the different texts, some of which occur several times."""
    if text is None or not len(cells[text]) < sum(cells[text].values()):
        return []
    found = []
    for name, kind in kinds.items():
        if name == text or kind.strength == "certain" or len(cells[name]) != len(cells[text]):
            continue
        pairs = {(row.cells.get(text, "").strip(), row.cells.get(name, "").strip()) for row in table.rows}
        if len({pair for pair in pairs if all(pair)}) == len(cells[text]):
            found.append(name)
    return found


def _is_prose(cells: Mapping[str, int]) -> bool:
    """Whether cells are sentences that mostly differ: another open question."""
    some, rows = [*cells][:_LOOKED_AT], sum(cells.values())
    if len(some) < 2 or len(cells) < 0.6 * rows or any(map(is_conversation, some[:1])):
        return False
    long = sum(_is_sentence(cell) for cell in some)
    return long > 0.5 * len(some)


def _is_sentence(cell: str) -> bool:
    words, letters = len(cell.split()), sum(map(str.isalpha, cell))
    dense = any("\u2e80" < char < "\ud7b0" or "\u0e00" <= char < "\u1100" for char in cell)
    return letters >= (_DENSE_LETTERS if dense else _PROSE_LETTERS) and (dense or words >= _PROSE_WORDS)


# ---- tests, people, rows that belong together ------------------------------------------------------------------------


def _tests(table: Table, chosen: Mapping[str, Reading]) -> tuple[str, ...]:
    held_out, must_pass = guess_test_columns(table)
    named = [name for name in table.columns if chosen.get(name) == "test"]
    free = [name for name in (held_out, must_pass) if name is not None and name not in chosen]
    found = dict.fromkeys((*named, *(free if held_out in free or named else ())))
    return tuple(found)[:2]


def _people(
    table: Table,
    text: str | None,
    kinds: Mapping[str, Kind],
    cells: Mapping[str, Mapping[str, int]],
    chosen: Mapping[str, Reading],
    tests: Sequence[str],
) -> str | None:
    """Return the column of the people who labelled the same texts, one row for each text and person."""
    named = [name for name in table.columns if chosen.get(name) == "people"]
    if named or text is None:
        return named[0] if named else None
    texts = [row.cells.get(text, "").strip() for row in table.rows]
    repeated = {cell for cell, times in Counter(texts).items() if cell and times > 1}
    if len(repeated) < 2 or 2 * sum(cell in repeated for cell in texts) < len(texts):
        return None
    candidates = [
        name
        for name in table.columns
        if name not in (text, *tests) and name not in chosen and _may_be_people(name, kinds[name], cells[name])
    ]
    candidates.sort(key=lambda name: not names(name, "person"))
    return next((name for name in candidates if _each_once(table, text, name, repeated)), None)


def _may_be_people(name: str, kind: Kind, cells: Mapping[str, int]) -> bool:
    if names(name, "trait") or (kind.strength == "certain" and not names(name, "person")):
        return False
    return 2 <= len(cells) <= _MOST_PEOPLE and sum(cells.values()) >= _FEWEST_EACH * len(cells)


def _each_once(table: Table, text: str, name: str, repeated: Collection[str]) -> bool:
    """Whether each person has each text at most once, and most repeated texts have several people."""
    pairs = Counter(
        (cell, row.cells.get(name, "").strip()) for row in table.rows if (cell := row.cells.get(text, "").strip())
    )
    people = Counter(cell for cell, person in pairs if person)
    several = sum(people[cell] > 1 for cell in repeated)
    return max(pairs.values()) == 1 and several >= 0.9 * len(repeated)


def _people_said(table: Table, text: str | None, name: str, kinds: Mapping[str, Kind], labels: Collection[str]) -> str:
    """Say how many people labelled how many texts, and on how many they agree."""
    persons = len({cell for row in table.rows if (cell := row.cells.get(name, "").strip())})
    by_text: dict[str, list[tuple[str, ...]]] = {}
    label = next((each for each in kinds if each in labels), None)
    answers = kinds[label].answers.cells if label is not None else {}
    for row in table.rows:
        if cell := row.cells.get(text or "", "").strip():
            by_text.setdefault(cell, []).append(answers.get(row.cells.get(label or "", "").strip(), ()))
    shared = {cell: own for cell, own in by_text.items() if len(own) > 1}
    start = f"{count(persons, 'person', 'people')} labelled the same {count(len(shared), 'text')}."
    if label is None:
        return start
    unclear = [own for own in shared.values() if any(len(each) != 1 for each in own)]
    clear = [own for own in shared.values() if all(len(each) == 1 for each in own)]
    agree = sum(len({*own}) == 1 for own in clear)
    more = f" {count(len(unclear), 'text has', 'texts have')} a row with several labels or none." if unclear else ""
    differ = len(clear) - agree
    return f"{start} All agree on {agree} and differ on {differ}.{more} Compare labels shows how far they agree."


def _together(
    table: Table,
    text: str | None,
    kinds: Mapping[str, Kind],
    cells: Mapping[str, Mapping[str, int]],
    chosen: Mapping[str, Reading],
    used: Collection[str | None],
) -> str | None:
    """Return the column whose rows belong together: an author, a conversation, a document that repeats."""
    named = [name for name in table.columns if chosen.get(name) == "rows_together"]
    if named or text is None:
        return named[0] if named else None
    for name in table.columns:
        kind, own = kinds[name], cells[name]
        if name in used or name in chosen or kind.strength == "certain" or len(own) < 2:
            continue
        repeats = sum(own.values()) >= 1.5 * len(own)
        if repeats and names(name, "together") and not names(name, "person") and kind.reading != "number":
            return name
    return None


# ---- labels ----------------------------------------------------------------------------------------------------------


def _labels(kinds: Mapping[str, Kind], chosen: Mapping[str, Reading], used: Collection[str | None]) -> set[str]:
    """Return the columns that make traits."""
    given = {name for name, reading in chosen.items() if reading in _MAKING}
    free = {name: kind for name, kind in kinds.items() if name not in used and name not in chosen}

    def named(strength: Strength, *, graded: bool) -> list[str]:
        return [
            name
            for name, kind in free.items()
            if kind.strength == strength and kind.reading in _MAKING and (kind.reading == "number") is graded
        ]

    found = [*named("certain", graded=False), *named("likely", graded=False)]
    if not found and not given:
        possible = [name for name in named("possible", graded=False) if kinds[name].reading == "labels"]
        scales = [name for name in named("possible", graded=False) if kinds[name].reading == "scale"]
        graded = [*named("certain", graded=True)] or [*named("possible", graded=True)]
        found = scales or graded or (possible if len(possible) == 1 else [])
    elif not any(kinds[name].reading in ("labels", "verdicts", "several_answers") for name in found):
        found += named("certain", graded=True)
    places = {name: place for place, name in enumerate(kinds)}
    return given | {*sorted(found, key=lambda name: places[name])[:MOST_LABELS]}


def _shapes(kind: Kind, given: Reading | None) -> tuple[Shape, ...]:
    """Return how the answers of a column can make traits, the likeliest first."""
    kinds = kind.answers.kinds
    reading = given or kind.reading
    if reading == "several_answers" or (kind.reading == "several_answers" and given in (None, "labels")):
        return ("each",) if kinds else ()
    if reading in ("number", "scale"):
        return (
            ("order",)
            if len(kinds) > MOST_KINDS
            else ("order", *(each for each in shapes_of(kinds) if each != "order"))
        )
    if given == "labels" and len(kinds) > 2 and are_numbers(kinds):
        return ("each", "order")
    if not 2 <= len(kinds) <= (MOST_GROUPS if given else MOST_KINDS):
        return ()
    return shapes_of(kinds)


def _traits(name: str, kind: Kind, shapes: Sequence[Shape], reading: Reading) -> tuple[TraitFound, ...]:
    if not shapes or len(kind.answers.kinds) < 2:
        return ()
    if reading == "several_answers" and kind.answers.form == "one":
        kind = replace(kind, answers=_as_several(kind.answers))
    return tuple(traits_of(name, kind.answers, shapes[0]))


def _as_several(answers: Answers) -> Answers:
    """Read cells with one answer each as cells with several, because a person says so."""
    return replace(answers, form="several")


def _verdicts(
    table: Table, kinds: Mapping[str, Kind], chosen: Mapping[str, Reading]
) -> tuple[Table, dict[str, tuple[TraitFound, ...]]]:
    """Return the traits of each column of verdicts, one for each question; the table gets a column for each."""
    traits: dict[str, tuple[TraitFound, ...]] = {}
    for name, kind in kinds.items():
        if chosen.get(name, kind.reading) != "verdicts":
            continue
        answers = kind.answers
        words = {word: verdict for word in answers.kinds if (verdict := _verdict(word)) is not None}
        answers = answers.without({word for word in answers.kinds if word not in words})
        question = _question(name, kinds, table)
        if question is None:
            traits[name] = (about(name, name, words, answers),)
            continue
        asked = list(kinds[question].answers.kinds) or list(kinds[question].answers.rows)
        if len(asked) == 1:
            traits[name] = (about(asked[0], name, words, answers),)
            continue
        own = []
        for each in asked[:MOST_KINDS]:
            table, column = _with_question(table, name, question, each)
            own.append(about(each, column, words, answers_of(_cells(table, column)).without(_rest(answers, words))))
        traits[name] = tuple(own)
    return table, traits


def _verdict(word: str) -> float | None:
    verdict = verdict_of(word)
    if verdict is None and folded_word(word) in ("yes", "no", "true", "false", "1", "0", "1.0", "0.0", "y", "n"):
        return float(folded_word(word) in ("yes", "true", "1", "1.0", "y"))
    return verdict


def _rest(answers: Answers, words: Mapping[str, float]) -> set[str]:
    return {cell for cell in answers.cells if cell not in words}


def _question(name: str, kinds: Mapping[str, Kind], table: Table) -> str | None:
    """Return the column that says what was asked, if the name of the column of verdicts does not."""
    if folded_word(name) not in VERDICT_COLUMNS:
        return None
    titles = ("label", "question", "category", "class", "labels", "prompt", "trait", "task", "topic", "query")
    named = [each for each in table.columns if folded_word(each) in titles and each != name]
    few = [each for each in named if 1 <= len(kinds[each].answers.rows) <= MOST_KINDS]
    return few[0] if few else None


def _with_question(table: Table, name: str, question: str, asked: str) -> tuple[Table, str]:
    """Return the table with a column of the verdicts on one question only."""
    column = f"{name} [{asked}]"
    rows = tuple(
        replace(row, cells={**row.cells, column: row.cells.get(name, "") if _asks(row, question, asked) else ""})
        for row in table.rows
    )
    return replace(table, rows=rows), column


def _asks(row: Row, question: str, asked: str) -> bool:
    return folded_word(row.cells.get(question, "")) == folded_word(asked)


# ---- sentences -------------------------------------------------------------------------------------------------------


def _labels_said(kind: Kind, reading: Reading, traits: Sequence[TraitFound]) -> str:
    if not traits:
        return f"{_given_said(reading, kind)} It makes no trait, because it has no two sides."
    if reading == "verdicts":
        asked = ", ".join(f"“{shortened(each.positive, 40)}”" for each in traits)
        missing = missing_said(traits[0].answers)
        return f"Verdicts on {asked}: accepted is the positive side, rejected the negative.{missing}"
    return _given_said(reading, kind)


def _given_said(reading: Reading, kind: Kind) -> str:
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
    return f"{sentences[reading]}{missing_said(kind.answers) if reading in _MAKING else ''}"


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


def _notes(
    first: str | None, also: Sequence[str], columns: Sequence[ColumnReading], people: str | None, together: str | None
) -> tuple[str, ...]:
    notes = []
    if first is None:
        notes.append("No column looks like texts. Name it.")
    if also:
        others = " and ".join(f"“{shortened(name, 60)}”" for name in also)
        have = "has" if len(also) == 1 else "have"
        notes.append(f"Texts are taken from “{shortened(first or '', 60)}”. {others} {have} texts too.")
    if people:
        said = next(each.said for each in columns if each.name == people)
        notes.append(f"“{people}”: {said}")
    if together:
        notes.append(f"Rows with the same “{shortened(together, 60)}” are kept together.")
    return tuple(notes)
