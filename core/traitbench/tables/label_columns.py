"""Which columns of a file have labels, and the traits that they make."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from traitbench.tables.answer_words import VERDICT_COLUMNS, folded_word, says_yes, verdict_of
from traitbench.tables.answers import ColumnAnswers, answers_of, number_in
from traitbench.tables.column_kinds import MOST_GROUPS, MOST_KINDS, Kind, Reading, Strength
from traitbench.tables.labelled import Shape, TraitFound, about, are_numbers, by_verdict, shapes_of, traits_of
from traitbench.tables.row_structure import cells_of
from traitbench.tables.rows import Row, Table
from traitbench.tables.sample_files import QUALITY_NAMES

MOST_LABELS = 8
"""The most columns that are guessed as labels at once."""

_TRAIT = "trait"
MAKING: tuple[Reading, ...] = ("labels", "several_answers", "scale", "verdicts", "number")
"""The readings of columns that make traits."""


def label_columns(kinds: Mapping[str, Kind], chosen: Mapping[str, Reading], used: Collection[str | None]) -> set[str]:
    """Return the columns that make traits."""
    given = {name for name, reading in chosen.items() if reading in MAKING}
    free = {name: kind for name, kind in kinds.items() if name not in used and name not in chosen}

    def named(strength: Strength, *, graded: bool) -> list[str]:
        return [
            name
            for name, kind in free.items()
            if kind.strength == strength and kind.reading in MAKING and (kind.reading == "number") is graded
        ]

    chosen_labels = [*named("certain", graded=False), *named("likely", graded=False)]
    if not chosen_labels and not given:
        possible = [name for name in named("possible", graded=False) if kinds[name].reading == "labels"]
        scales = [name for name in named("possible", graded=False) if kinds[name].reading == "scale"]
        graded = [*named("certain", graded=True)] or [*named("possible", graded=True)]
        chosen_labels = scales or graded or (possible if len(possible) == 1 else [])
    elif not any(kinds[name].reading in ("labels", "verdicts", "several_answers") for name in chosen_labels):
        chosen_labels += named("certain", graded=True)
    positions = {name: position for position, name in enumerate(kinds)}
    return given | {*sorted(chosen_labels, key=lambda name: positions[name])[:MOST_LABELS]}


def shapes_as(kind: Kind, given: Reading | None) -> tuple[Shape, ...]:
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
    if reading == "labels" and len(kinds) > 2 and are_numbers(kinds):
        return ("each", "order")
    if not 2 <= len(kinds) <= (MOST_GROUPS if given else MOST_KINDS):
        return ()
    return shapes_of(kinds)


def traits_as(name: str, kind: Kind, shapes: Sequence[Shape], reading: Reading) -> tuple[TraitFound, ...]:
    """Return the traits that a column makes with this reading, in the first of the shapes."""
    if not shapes or len(kind.answers.kinds) < 2:
        return ()
    if reading == "several_answers" and kind.answers.form == "one":
        kind = replace(kind, answers=_as_several(kind.answers))
    return tuple(traits_of(name, kind.answers, shapes[0]))


def _as_several(answers: ColumnAnswers) -> ColumnAnswers:
    """Read cells with one answer each as cells with several, because a person says so."""
    return replace(answers, form="several")


def verdicts_of(
    table: Table, kinds: Mapping[str, Kind], chosen: Mapping[str, Reading]
) -> tuple[Table, dict[str, tuple[TraitFound, ...]], set[str]]:
    """Return the traits of each column of verdicts, and the columns with their questions.

    Each question makes a trait, and the table gets a column with its verdicts.
    """
    questions = set[str]()
    traits: dict[str, tuple[TraitFound, ...]] = {}
    for name, kind in kinds.items():
        is_verdict = chosen.get(name, kind.reading) == "verdicts"
        if not is_verdict and not (name not in chosen and _answers_a_question(name, kind, kinds, table)):
            continue
        answers = kind.answers
        words = {word: verdict for word in answers.kinds if (verdict := _verdict(word)) is not None}
        if (choice := _choice(name, kinds)) is not None and name not in chosen:
            # The verdict is on the row as a whole: only what was accepted has labels.
            accepted = {cell for cell in answers.cells if _verdict(cell) == 1.0}
            table = _only(table, choice, name, accepted)
            traits[name] = ()
            continue
        if not words or (len({*words.values()}) == 1 and name not in chosen):
            traits[name] = ()
            continue
        answers = answers.without({word for word in answers.kinds if word not in words})
        question = _question(name, kinds, table)
        if question is None:
            unnamed = folded_word(name) in VERDICT_COLUMNS
            traits[name] = (by_verdict(name, words, answers) if unnamed else about(name, name, words, answers),)
            continue
        questions.add(question)
        asked = list(kinds[question].answers.kinds) or list(kinds[question].answers.rows)
        if len(asked) == 1:
            traits[name] = (about(asked[0], name, words, answers),)
            continue
        own = []
        for each in asked[:MOST_KINDS]:
            table, column = _with_question(table, name, question, each)
            own.append(about(each, column, words, answers_of(cells_of(table, column)).without(_rest(answers, words))))
        traits[name] = tuple(own)
    return table, traits, questions


def _choice(name: str, kinds: Mapping[str, Kind]) -> str | None:
    """Return the column of the labels that were chosen in a task whose verdict is `answer`, as Prodigy writes it."""
    if folded_word(name) not in VERDICT_COLUMNS:
        return None
    return next((each for each in kinds if each == "accept" and kinds[each].strength == "certain"), None)


def _only(table: Table, column: str, verdict: str, accepted: Collection[str]) -> Table:
    """Return the table without the labels of rows that were not accepted."""
    rows = tuple(
        row if row.cells.get(verdict, "").strip() in accepted else replace(row, cells={**row.cells, column: ""})
        for row in table.rows
    )
    return replace(table, rows=rows)


def _answers_a_question(name: str, kind: Kind, kinds: Mapping[str, Kind], table: Table) -> bool:
    """Whether yes and no answer the question in another column, or numbers are qualities of the trait in it."""
    question = _question(name, kinds, table)
    if question is None or kind.reading not in ("labels", "number", "scale", "group"):
        return False
    return all(says_yes(word) is not None or (question == _TRAIT and _is_quality(word)) for word in kind.answers.kinds)


def _is_quality(word: str) -> bool:
    number = number_in(word)
    return number is not None and 0 <= number <= 1


def _verdict(word: str) -> float | None:
    verdict, said = verdict_of(word), says_yes(word)
    if verdict is None and said is None and _is_quality(word):
        return number_in(word)
    return float(said) if verdict is None and said is not None else verdict


def _rest(answers: ColumnAnswers, words: Mapping[str, float]) -> set[str]:
    return {cell for cell in answers.cells if cell not in words}


def _question(name: str, kinds: Mapping[str, Kind], table: Table) -> str | None:
    """Return the column that says what was asked, if the name of the column of verdicts does not."""
    if name in QUALITY_NAMES and _TRAIT in kinds and 1 <= len(kinds[_TRAIT].answers.rows) <= MOST_KINDS:
        return _TRAIT
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
