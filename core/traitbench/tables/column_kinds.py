"""What one column is on its own: by its name and its cells, without looking at other columns."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, get_args

from traitbench.display.text import count, is_address, shortened
from traitbench.tables.answer_words import are_verdicts, says_yes, scale_of, verdict_of
from traitbench.tables.answers import (
    ColumnAnswers,
    answers_of,
    is_rating,
    labelled_number,
    listed,
    missing_codes,
    neighbours,
    number_in,
    structure_of,
)
from traitbench.tables.header_words import ends_in, is_only, names, tokens_of
from traitbench.tables.labelled import are_numbers, negates, order_of, shapes_of
from traitbench.tables.sample_files import QUALITY_NAMES, folded, guess_words

Reading = Literal[
    "text",
    "labels",
    "several_answers",
    "scale",
    "verdicts",
    "people",
    "messages",
    "rows_together",
    "group",
    "date",
    "number",
    "identifier",
    "test",
    "not_used",
]
"""What a column of a file is: the closed list of readings."""

READINGS: tuple[Reading, ...] = get_args(Reading)

MOST_KINDS = 12
"""The most different labels in a column."""

MOST_GROUPS = 50
"""The most different values of a column of groups."""

Strength = Literal["none", "possible", "likely", "certain"]
"""How sure it is that a column has labels."""

_LOOKED_AT = 50
_FEW_NUMBERS = 12
_LONG = 10
_ROLE_KEYS = ({"role", "content"}, {"from", "value"}, {"speaker", "text"}, {"role", "text"}, {"author", "text"})
_MAIL = re.compile(r"[^\s@]{1,64}@[^\s@.]{1,64}(?:\.[^\s@.]{1,64}){1,8}")
_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|fév|avr|juin|juil|aoû|déc|ene|abr|ago|dic)"
)
_CLOCK = r"(?:[T ,]+\d{1,2}:\d\d.*)?"
_DATE = re.compile(
    rf"\d{{4}}[-/.]\d\d?[-/.]\d\d?{_CLOCK}|\d\d?[-/.]\d\d?[-/.]\d{{2,4}}{_CLOCK}|\d{{4}}年\d\d?月\d\d?日.*"
    rf"|\d\d?\.? {_MONTH}[a-zé]*\.?,? \d{{4}}{_CLOCK}|{_MONTH}[a-zé]*\.? \d\d?(?:st|nd|rd|th)?,? \d{{4}}{_CLOCK}"
    r"|\d\d?:\d\d(?::\d\d)?(?: ?[ap]m)?|\w{3}, \d\d? \w{3} \d{4} .*|\w{3} \w{3} \d\d? \d\d:\d\d:\d\d .*\d{4}",
    re.IGNORECASE,
)


# From 2001 to 2100, in seconds and in milliseconds.
_UNIX_TIMES = ((1e9, 4.1e9), (1e12, 4.1e12))


@dataclass(frozen=True)
class Kind:
    """What a column is on its own. `strength` says how sure it is that its answers are labels."""

    reading: Reading
    said: str
    answers: ColumnAnswers
    strength: Strength = "none"


def kind_of(
    name: str, cells: Mapping[str, int], rows: int, *, as_answers: Collection[str] = (), rising: bool = False
) -> Kind:
    """Return what a column is by its different cells, which are stripped and not empty, with their rows.

    `rows` is the number of all rows. `rising` says that its numbers grow from row to row. `as_answers` are words that
    mean an answer, although they usually mean none.
    """
    plain = ColumnAnswers({cell: (cell,) for cell in cells}, dict(cells), {})
    if not cells:
        return Kind("not_used", "Is empty.", plain)
    if name.startswith("_"):
        return Kind("not_used", "Its name begins with “_”: a field of the tool that wrote the file.", plain)
    for reading, judge in _BY_CELLS:
        if said := judge(name, cells):
            return Kind(reading, said, plain)
    # A region may be called NA, and a segment None.
    names_groups = names(name, "group") and not is_label_name(name)
    answers = answers_of(cells, as_answers=cells if names_groups else as_answers)
    if answers.form == "one" and are_numbers(answers.kinds):
        return _numbers(name, _without_codes(name, answers, as_answers), rising=rising)
    return _words(name, answers, rows)


def is_conversation(cell: str) -> bool:
    """Whether a cell is a list of messages with roles."""
    value = structure_of(cell)
    return isinstance(value, list) and bool(value) and all(_is_message(each) for each in value)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and any(keys <= value.keys() for keys in _ROLE_KEYS)


def is_structure(cell: str) -> bool:
    """Whether a cell is JSON that is no list of labels: objects, or lists of objects."""
    return structure_of(cell) is not None and listed(cell) is None


def _most(holds: Callable[[str], object], cells: Mapping[str, int], share: float = 0.8) -> bool:
    some = [*islice(cells, _LOOKED_AT)]
    return sum(bool(holds(cell)) for cell in some) >= share * len(some)


# ---- by the form of the cells ----------------------------------------------------------------------------------------


def _messages(_name: str, cells: Mapping[str, int]) -> str:
    return "Conversations: messages with roles." if _most(is_conversation, cells) else ""


def _objects(_name: str, cells: Mapping[str, int]) -> str:
    # Lists of labels, and single lists among plain labels, are read as labels.
    if not _most(is_structure, cells, 0.5):
        return ""
    fields = sorted({key for cell in islice(cells, _LOOKED_AT) for key in _keys(structure_of(cell))})[:6]
    inside = f" Its fields are {', '.join(fields)}." if fields else ""
    return f"Has JSON, which is neither a text nor a label.{inside}"


def _keys(value: Any) -> Collection[str]:
    first = value[0] if isinstance(value, list) and value else value
    return first.keys() if isinstance(first, dict) else ()


def _addresses(_name: str, cells: Mapping[str, int]) -> str:
    return "Has addresses: the source of each text." if all(map(is_address, cells)) else ""


def _mails(_name: str, cells: Mapping[str, int]) -> str:
    return "Has e-mail addresses, which are never labels." if _most(_MAIL.fullmatch, cells) else ""


def _dates(_name: str, cells: Mapping[str, int]) -> str:
    return "Has dates." if _most(_DATE.fullmatch, cells, 0.95) and not _most(number_in, cells) else ""


def _ids(name: str, cells: Mapping[str, int]) -> str:
    """Say why cells are identifiers: long numbers, and numbers with zeros in front."""
    digits = [cell for cell in cells if cell.isdigit()]
    if len(digits) < 0.9 * len(cells):
        return ""
    if all(len(cell) >= _LONG for cell in digits):
        return "Has long numbers, which identify something. They stay as they are, digit for digit."
    if any(cell[0] == "0" and len(cell) > 1 for cell in digits) and len({len(cell) for cell in digits}) == 1:
        return "Has numbers with zeros in front, which identify something. They stay as they are."
    return ""


_BY_CELLS: tuple[tuple[Reading, Callable[[str, Mapping[str, int]], str]], ...] = (
    ("messages", _messages),
    ("not_used", _objects),
    ("identifier", _addresses),
    ("identifier", _mails),
    ("date", _dates),
    ("identifier", _ids),
)


# ---- numbers ---------------------------------------------------------------------------------------------------------


def _without_codes(name: str, answers: ColumnAnswers, as_answers: Collection[str]) -> ColumnAnswers:
    numbers = {answer: number_in(answer) or 0.0 for answer in answers.kinds if answer not in as_answers}
    if (ends := ends_in(name)) is not None:
        outside = {number for number in numbers.values() if not ends[0] <= number <= ends[1]}
        words = {answer for answer, number in numbers.items() if number in outside}
        return answers.without(words) if len(words) < len(numbers) / 2 else answers
    rows: dict[float, int] = {}
    for answer, number in numbers.items():
        rows[number] = rows.get(number, 0) + answers.kinds[answer]
    codes = missing_codes(rows)
    return answers.without({answer for answer, number in numbers.items() if number in codes}) if codes else answers


def _numbers(name: str, answers: ColumnAnswers, *, rising: bool) -> Kind:
    kinds = answers.kinds
    values = sorted({number_in(answer) or 0.0 for answer in kinds})
    whole = all(value.is_integer() for value in values)
    said, known = missing_said(answers), is_scale_name(name) or all(map(is_rating, kinds))
    if len(values) == 1:
        return Kind("not_used", only_said(answers), answers)
    if any(low <= values[0] and values[-1] <= high for low, high in _UNIX_TIMES) and not known:
        return Kind("date", "Times, as programs count them since 1970.", answers)
    if whole and is_identifier(name, answers, rising=rising):
        return Kind("identifier", "Identifies each row.", answers)
    between = f"from {shown(values[0])} to {shown(values[-1])}"
    if len(values) == 2:
        if values == [0.0, 1.0] or values == [-1.0, 1.0] or is_label_name(name) or known:
            return Kind("labels", f"Labels: {_listed_kinds(answers)}.{said}", answers, "certain")
        return Kind("group", f"Two values, {_listed_kinds(answers)}: a group to compare.{said}", answers, "none")
    if whole and names(name, "identifier") and not known:
        return Kind("identifier", "Identifies something that repeats.", answers)
    if not (whole and len(values) <= _FEW_NUMBERS):
        graded = f"Numbers {between}.{said}"
        return Kind("number", graded, answers, "none" if names(name, "measure") else "certain" if known else "possible")
    ordered = neighbours(values) >= 5 or values == [-1.0, 0.0, 1.0] or (values[-1] == 100 and values[0] >= 0)
    if known or ends_in(name) or (ordered and not names(name, "measure")) or _have_ordered_words(answers):
        sure = known or ends_in(name) is not None or _have_ordered_words(answers)
        return Kind("scale", f"A scale {between}.{said}", answers, "certain" if sure else "possible")
    if any(labelled_number(answer) is not None for answer in kinds):
        # Words with a number that is no order, such as "refund (12)".
        return _words(name, answers, answers.answered)
    if names(name, "measure"):
        return Kind("number", f"Numbers {between}.{said}", answers)
    if is_label_name(name):
        some = f"Could be class codes, {_listed_kinds(answers)}: no order and no trait unless you say so."
        return Kind("not_used", f"{some} Read it as labels or as a scale.{said}", answers)
    return Kind("group", f"A few numbers, {_listed_kinds(answers)}, which may be codes: a group to compare.", answers)


def _have_ordered_words(answers: ColumnAnswers) -> bool:
    """Whether the words behind the numbers are a known scale: `1 - Never` to `3 - Always`."""
    words = [labelled[1] for answer in answers.kinds if (labelled := labelled_number(answer)) is not None]
    return len(words) > 1 and scale_of(words) is not None


def is_identifier(name: str, answers: ColumnAnswers, *, rising: bool) -> bool:
    """Whether the answers of a column differ in every row and are no measure: numbers in order, or named as ids."""
    if len(answers.kinds) < answers.answered or answers.answered < 2:
        return False
    if is_scale_name(name) or is_label_name(name) or names(name, "measure"):
        return False
    return rising or names(name, "identifier") or name.startswith(("Unnamed", "Column "))


def is_scale_name(name: str) -> bool:
    """Whether the header says that numbers are a scale."""
    return names(name, "scale") and not names(name, "identifier")


def is_label_name(name: str) -> bool:
    """Whether the header says that the column has labels."""
    sure = {"label", "labels", "sentiment", "annotation", "gold", "stance", "rating", "category", "mood", "emotion"}
    return is_only(name, "label") or bool(tokens_of(name) & sure and not names(name, "identifier"))


# ---- words -----------------------------------------------------------------------------------------------------------


def _words(name: str, answers: ColumnAnswers, rows: int) -> Kind:
    kinds, filled = answers.kinds, answers.answered
    said = missing_said(answers)
    if not kinds:
        return Kind("not_used", f"Has no answer in any row.{said}", answers)
    if answers.form == "several":
        separator = {"\n": "line break", "\t": "tab"}.get(answers.separator, f"“{answers.separator}”")
        between = f", separated by {separator}" if answers.separator else ""
        some = f"Several answers in a cell{between}: {_listed_kinds(answers)}."
        if len(kinds) < 2 or len(kinds) > 5 * MOST_KINDS:
            return Kind("not_used", f"{some} Their number, {len(kinds)}, makes no traits.", answers)
        return Kind("several_answers", f"{some} Each one becomes a trait against the rest.{said}", answers, "certain")
    if are_verdicts(kinds) and any(verdict_of(kind) is not None for kind in kinds):
        return Kind("verdicts", "Verdicts on one question.", answers, "certain")
    if len(kinds) == 1:
        return Kind("not_used", only_said(answers, rows), answers)
    if scale_of(kinds) and len(kinds) > 2:
        order = order_of(kinds)
        ends = f"from {shortened(order[0], 40)} to {shortened(order[-1], 40)}"
        return Kind("scale", f"A scale {ends}, {len(kinds)} words.{said}", answers, "certain")
    if len(kinds) == filled and len(kinds) > 2:
        return Kind("identifier", "Differs in every row, so it is neither a label nor a group.", answers)
    if len(kinds) > MOST_KINDS:
        if len(kinds) <= MOST_GROUPS and filled >= 2 * len(kinds):
            return Kind("group", f"A group to compare: {len(kinds)} values.", answers)
        return Kind("not_used", "Has too many different values for labels.", answers)
    if answers.form == "lists":
        return Kind("labels", f"Lists of labels: {_listed_kinds(answers)}.{said}", answers, "certain")
    if len(kinds) != 2 and filled < 2 * len(kinds):
        return Kind("not_used", "Has almost as many different values as rows.", answers)
    return _few_words(name, answers, said)


def _few_words(name: str, answers: ColumnAnswers, said: str) -> Kind:
    kinds = answers.kinds
    labels = f"Labels: {_listed_kinds(answers)}.{said}"
    group = f"A group to compare: {_listed_kinds(answers)}."
    if is_label_name(name) or folded(name) in QUALITY_NAMES:
        return Kind("labels", labels, answers, "certain")
    if names(name, "group") or names(name, "person") or names(name, "together"):
        return Kind("group", group, answers)
    if _are_sides(kinds):
        return Kind("labels", labels, answers, "certain")
    if names(name, "identifier"):
        return Kind("identifier", "Identifies something that repeats.", answers)
    if names(name, "measure"):
        return Kind("group", group, answers)
    if all(len(kind) == 1 and kind.isascii() and kind.isalpha() for kind in kinds) and all(
        says_yes(kind) is None for kind in kinds
    ):
        return Kind("group", group, answers, "none")
    return Kind("labels", labels, answers, "likely" if len(kinds) == 2 else "possible")


def _are_sides(kinds: Mapping[str, int]) -> bool:
    """Whether two of the answers are known poles, such as yes and no, or one negates the other."""
    known = guess_words(kinds, ()) | {kind: float(said) for kind in kinds if (said := says_yes(kind)) is not None}
    if {0.0, 1.0} <= {*known.values()} and "sides" in shapes_of(kinds):
        return True
    if len(kinds) != 2:
        return False
    levels = scale_of(kinds) or {}
    return len({*levels.values()}) == 2 or any(negates(one, other) for one in kinds for other in kinds if one != other)


# ---- sentences -------------------------------------------------------------------------------------------------------


def only_said(answers: ColumnAnswers, rows: int = 0) -> str:
    """Say that all rows have the same answer."""
    only = "in every row" if answers.answered == rows else "wherever it is filled"
    return f"Says “{shortened(next(iter(answers.kinds)), 60)}” {only}, so there is no other side to learn."


def missing_said(answers: ColumnAnswers) -> str:
    """Say which words and codes mean no answer, with a blank in front; empty without any."""
    if not answers.missing:
        return ""
    words = _joined([f"“{shortened(word, 40)}”" for word in [*answers.missing][:6]])
    verb = "means" if len(answers.missing) == 1 else "mean"
    return f" {words} {verb} no answer ({count(sum(answers.missing.values()), 'row')})."


def _listed_kinds(answers: ColumnAnswers) -> str:
    kinds = [shortened(kind, 40) for kind in answers.kinds]
    return _joined(kinds if len(kinds) <= 6 else [*kinds[:5], f"{len(kinds) - 5} more"])


def _joined(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def shown(number: float) -> str:
    """Return a number as a person writes it."""
    return json.dumps(int(number) if number.is_integer() else round(number, 6))
