"""Columns that are known by how their rows go together: texts, test marks, people, and rows that belong together."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from traitbench.analysis.belonging import belonging
from traitbench.display.text import count
from traitbench.tables.column_kinds import Kind, Reading, is_conversation
from traitbench.tables.header_words import names
from traitbench.tables.labelled import TraitFound
from traitbench.tables.rows import Table
from traitbench.tables.sample_files import guess_test_columns, guess_text_column

_MOST_PEOPLE, _FEWEST_EACH = 50, 2
_LETTERS, _WORDS, _DENSE_LETTERS = 20, 4, 8
_FEWEST_TEXTS, _DIFFERENT = 2, 0.6
_FEWEST_TOGETHER, _FEWEST_ROWS = 6, 1.5
_LOOKED_AT = 200


def cells_of(table: Table, name: str) -> Mapping[str, int]:
    """Return the different cells of a column, stripped, with their rows; empty ones are left out."""
    return Counter(cell for row in table.rows if (cell := row.cells.get(name, "").strip()))


# ---- texts -----------------------------------------------------------------------------------------------------------


def find_texts(
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
        if name != first and (name in named or (name in free and name not in chosen and _is_prose(name, cells[name])))
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


def find_numbers_of_texts(
    table: Table, text: str | None, kinds: Mapping[str, Kind], cells: Mapping[str, Mapping[str, int]]
) -> list[str]:
    """Return the columns that number the different texts, some of which occur several times."""
    if text is None or not len(cells[text]) < sum(cells[text].values()):
        return []
    matches = []
    for name, kind in kinds.items():
        if name == text or kind.strength == "certain" or len(cells[name]) != len(cells[text]):
            continue
        pairs = {(row.cells.get(text, "").strip(), row.cells.get(name, "").strip()) for row in table.rows}
        if len({pair for pair in pairs if all(pair)}) == len(cells[text]):
            matches.append(name)
    return matches


def _is_prose(name: str, cells: Mapping[str, int]) -> bool:
    """Whether cells are sentences that mostly differ: another open question, whose answers may be short."""
    some, rows = [*cells][:_LOOKED_AT], sum(cells.values())
    if len(some) < _FEWEST_TEXTS or len(cells) < _DIFFERENT * rows or is_conversation(some[0]):
        return False
    is_asked = names(name, "text") or "?" in name
    return sum(_is_sentence(cell, is_short=is_asked) for cell in some) > len(some) / 2


def _is_sentence(cell: str, *, is_short: bool) -> bool:
    words, letters = len(cell.split()), sum(map(str.isalpha, cell))
    if any("\u2e80" < char < "\ud7b0" or "\u0e00" <= char < "\u1100" for char in cell):
        return letters >= _DENSE_LETTERS
    return words >= 2 and letters >= _DENSE_LETTERS if is_short else words >= _WORDS and letters >= _LETTERS


def find_tests(table: Table, chosen: Mapping[str, Reading]) -> tuple[str, ...]:
    """Return the column that marks test samples, and behind it the one of those that must pass."""
    held_out, must_pass = guess_test_columns(table)
    named = [name for name in table.columns if chosen.get(name) == "test"]
    free = [name for name in (held_out, must_pass) if name is not None and name not in chosen]
    matches = dict.fromkeys((*named, *(free if held_out in free or named else ())))
    return tuple(matches)[:2]


def find_people(
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


def people_said(table: Table, text: str | None, name: str, kinds: Mapping[str, Kind], labels: Collection[str]) -> str:
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


def find_together(
    table: Table,
    text: str | None,
    kinds: Mapping[str, Kind],
    cells: Mapping[str, Mapping[str, int]],
    chosen: Mapping[str, Reading],
    used: Collection[str | None],
    labels: Sequence[TraitFound],
) -> tuple[str, str] | None:
    """Return the column whose rows belong together, with a sentence: an author, a conversation, a document.

    Its values repeat. Its name says so, or rows with the same value have the same label more often than by chance.
    """
    free = [
        name
        for name in table.columns
        if name not in used and name not in chosen and kinds[name].reading not in ("date", "messages", "text")
    ]
    named = [name for name in table.columns if chosen.get(name) == "rows_together"] or [
        name
        for name in free
        if kinds[name].reading != "number"
        and names(name, "together")
        and not names(name, "group")
        and len(cells[name]) >= _FEWEST_TOGETHER
        and sum(cells[name].values()) >= _FEWEST_ROWS * len(cells[name])
    ]
    if named:
        return named[0], f"Rows with the same value belong together: {count(len(cells[named[0]]), 'value')}."
    if text is None or not labels:
        return None
    # Years, regions and the like are groups to compare, whatever they predict.
    free = [name for name in free if not names(name, "measure") and not names(name, "group")]
    texts = [row.cells.get(text, "").strip() for row in table.rows]
    y = [labels[0].quality(row.cells.get(labels[0].column, "").strip()) for row in table.rows]
    matches = belonging({name: [row.cells.get(name, "") for row in table.rows] for name in free}, y, texts)
    return None if matches is None else (matches.column, f"Rows with the same value belong together. {matches.says}")
