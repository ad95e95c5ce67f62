"""What the cells of a column answer: one answer, several, none, or a list as labelling tools write it.

Nothing here knows what a column is for. `answers_of` reads all cells of a column together, because `1,3` is two answers
in one column and a number in another.
"""

import json
import re
from ast import literal_eval
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, Literal

from traitbench.names import canonical
from traitbench.tables.answer_words import is_no_answer

Form = Literal["one", "several", "lists"]
"""Whether cells have one answer, several with a separator between them, or lists in JSON."""

MOST_ANSWERS = 60
"""The most different answers of a column whose cells have several."""

_STRONG, _WEAK = (";", "|", "\n", "\t", "；", "::", "||"), (",", "、", "，", "/", "+", "&")
_LONGEST_ANSWER = 60
_FEW, _OFTEN = 0.05, 0.7
_MOST_LOOKED_AT, _LONGEST_LIST = 2_000, 10_000
_LIST_KEYS = ("choices", "choice", "labels", "label", "values", "value", "rating", "taxonomy")
_LEADING = re.compile(
    r"[\[(]?\s{0,3}([-+−]?\d{1,4}(?:[.,]\d{1,4})?)(?:\s{0,3}[-–—=:.)\]]{1,3}\s{0,3}|\s{1,3})(\S.*)", re.DOTALL
)
_TRAILING = re.compile(r"\s{0,3}(?:[\[(]\s?([-+−]?\d{1,4})\s?[\])]|\s[-–—=:]\s{0,3}(\d{1,4}))$")
_OF = re.compile(
    r"(\d{1,4}(?:[.,]\d{1,4})?)\s{0,3}(?:/|of|out of|von|sur|de|из|av|van|su)\s{0,3}(\d{1,4})", re.IGNORECASE
)
_STARS = re.compile("([★⭐🌟]+)\ufe0f?[☆]*")
_WHOLE = re.compile(r"\d{1,2}")


@dataclass(frozen=True)
class ColumnAnswers:
    """The answers of a column: those of each different cell, and in how many rows each answer occurs.

    A cell without an answer has the empty tuple; `missing` counts the rows of each such word or code. `separator` is
    between the answers of a cell.
    """

    cells: Mapping[str, tuple[str, ...]]
    rows: Mapping[str, int]
    missing: Mapping[str, int]
    form: Form = "one"
    separator: str = ""

    @cached_property
    def kinds(self) -> dict[str, int]:
        """In how many rows each answer occurs, the most frequent first; one that never stands alone is no label."""
        counts: Counter[str] = Counter()
        for cell, answers in self.cells.items():
            for answer in answers if len(answers) == 1 or self.form == "several" else ():
                counts[answer] += self.rows[cell]
        return dict(counts.most_common())

    @property
    def answered(self) -> int:
        """The number of rows with an answer."""
        return sum(times for cell, times in self.rows.items() if self.cells[cell])

    @property
    def several(self) -> int:
        """The number of rows with more than one answer."""
        return sum(times for cell, times in self.rows.items() if len(self.cells[cell]) > 1)

    def without(self, words: Collection[str]) -> "ColumnAnswers":
        """Return the same answers without some, which are missing then."""
        cells = {cell: tuple(each for each in own if each not in words) for cell, own in self.cells.items()}
        gone = Counter(dict(self.missing))
        for cell, own in self.cells.items():
            if own and not cells[cell]:
                gone[own[0]] += self.rows[cell]
        return ColumnAnswers(cells, self.rows, dict(gone), self.form, self.separator)


def answers_of(cells: Mapping[str, int], *, as_answers: Collection[str] = ()) -> ColumnAnswers:
    """Return the answers of a column by its different cells, which are stripped and not empty, with their rows.

    Words for no answer are missing, except those in `as_answers`.
    """
    lists = {cell: items for cell in cells if (items := listed(cell)) is not None}
    if lists and sum(cells[cell] for cell in lists) > sum(cells.values()) / 2:
        given = {cell: lists.get(cell, (cell,)) for cell in cells}
        form: Form = "lists"
    elif any(lists.values()) and len(lists) < len(cells):
        # A few cells with several choices, among single ones.
        given, form = {cell: lists.get(cell, (cell,)) for cell in cells}, "one"
    else:
        given, form = {cell: (cell,) for cell in cells}, "one"
    separator = separator_of(cells, as_answers=as_answers) if form == "one" else ""
    if separator:
        given, form = {cell: tuple(split(cell, separator)) for cell in cells}, "several"
    answers = _folded(given, cells, form, separator, as_answers)
    if form == "lists" and answers.several > max(1, _FEW * answers.answered):
        return replace(answers, form="several")
    return answers


def _folded(
    given: Mapping[str, tuple[str, ...]],
    rows: Mapping[str, int],
    form: Form,
    separator: str,
    as_answers: Collection[str],
) -> ColumnAnswers:
    """Give answers that differ in case or spelling the name of the most frequent one, and drop those for nothing."""
    counts: Counter[str] = Counter()
    for cell, own in given.items():
        for answer in own:
            counts[answer] += rows[cell]
    names: dict[str, str] = {}
    for answer, _ in counts.most_common():
        names.setdefault(_fold(answer), answer)
    cells, missing = dict[str, tuple[str, ...]](), Counter[str]()
    empty = {answer for answer in counts if answer not in as_answers and is_no_answer(answer)}
    for cell, own in given.items():
        cells[cell] = tuple(dict.fromkeys(names[_fold(each)] for each in own if each not in empty))
        if not cells[cell] and own:
            missing[names[_fold(own[0])]] += rows[cell]
    return ColumnAnswers(cells, dict(rows), dict(missing.most_common()), form, separator)


def _fold(name: str) -> str:
    return canonical(canonical(name.strip()).casefold())


# ---- lists -----------------------------------------------------------------------------------------------------------


def structure_of(cell: str) -> Any:
    """Return the list or object that a cell has in JSON or as Python prints it; None if it is neither."""
    if not cell or cell[0] not in "[{" or cell[-1] not in "]}":
        return None
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        if len(cell) > _LONGEST_LIST:
            return None
        try:
            value = literal_eval(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
    return value if isinstance(value, list | dict) else None


def listed(cell: str) -> tuple[str, ...] | None:
    """Return the labels of a list such as `["neg"]` or `{"choices": ["neg"]}`; None if the cell is no such list."""
    return _items(structure_of(cell))


def _items(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, dict):
        inner = next((value[key] for key in _LIST_KEYS if key in value), None)
        if inner is None or isinstance(inner, dict):
            return None
        return _items(inner if isinstance(inner, list) else [inner])
    if not isinstance(value, list):
        return None
    items: list[str] = []
    for each in value:
        if isinstance(each, dict):
            own = _items(each) if len(value) <= MOST_ANSWERS and not {"role", "content", "from"} & each.keys() else None
            if own is None or {"start", "end"} <= each.keys():
                return None
            items.extend(own)
        elif isinstance(each, list) or each is None:
            return None
        else:
            items.append(each.strip() if isinstance(each, str) else json.dumps(each))
    return tuple(dict.fromkeys(filter(None, items)))


# ---- several answers -------------------------------------------------------------------------------------------------


def split(cell: str, separator: str) -> list[str]:
    """Return the answers in a cell."""
    return [part for each in cell.split(separator) if (part := each.strip())]


def separator_of(cells: Mapping[str, int], *, as_answers: Collection[str] = ()) -> str:
    """Return what is between several answers in a cell of a column; empty if cells have one answer each."""
    some = [cell for cell in islice(cells, _MOST_LOOKED_AT) if cell in as_answers or not is_no_answer(cell)]
    for separator in (*_STRONG, *_WEAK, " "):
        parts = {cell: split(cell, separator) for cell in some}
        several = [own for own in parts.values() if len(own) > 1]
        if several and _separates(separator, parts, several):
            return separator
    return ""


def _separates(separator: str, parts: Mapping[str, list[str]], several: list[list[str]]) -> bool:
    if any(len({*own}) < len(own) for own in several):
        return False
    if all(_WHOLE.fullmatch(item) for own in several for item in own):
        return separator in _STRONG or separator == " " or _are_codes(separator, parts, several)
    if separator == "," and any(number_in(cell) is not None for cell in parts if separator in cell):
        return False
    items = {item for own in parts.values() for item in own}
    alone = {own[0] for own in parts.values() if len(own) == 1}
    seen = Counter(item for own in several for item in own)
    repeated = [item for item in seen if item in alone or seen[item] > 1]
    if not repeated or len(repeated) > MOST_ANSWERS or any(len(item) > _LONGEST_ANSWER for item in repeated):
        return False
    if separator == " ":
        # "very good" beside "good" is one answer, but "red blue" beside "red" and "blue" are two; hashtags always are.
        return (seen.keys() <= alone and len(several) > 1) or all(item[0] == "#" for item in items)
    often = sum(seen[item] for item in repeated) >= _OFTEN * seen.total()
    if separator in _STRONG:
        return often or len(items) < len(parts)
    if len(alone & seen.keys()) > 1 and often:
        return True
    return len(items) < len(parts) and len(repeated) >= len(seen) / 2


def _are_codes(separator: str, parts: Mapping[str, list[str]], several: list[list[str]]) -> bool:
    """Whether whole numbers with a comma or slash between them are answers, and no decimals or fractions."""
    if any(len(own) > 2 for own in several):
        return all(len({*own}) == len(own) for own in several)
    if separator == "/":
        return len({own[1] for own in several}) > 1 and all(int(first) < int(second) for first, second in several)
    if any(f"{separator} " in cell for cell in parts if len(parts[cell]) > 1):
        return True
    alone = {own[0] for own in parts.values() if len(own) == 1}
    if not alone or not all(item in alone or len(item) == 1 for own in several for item in own):
        return False
    if not all(int(first) < int(second) for first, second in several):
        return False
    firsts, seconds = ({own[position] for own in several} for position in (0, 1))
    if {item for own in several for item in own} <= alone:
        return seconds != {"5"} or len(alone) == 2
    return firsts != {"0"} and len(seconds) > 1


# ---- numbers ---------------------------------------------------------------------------------------------------------


def number_in(cell: str) -> float | None:
    """Return the number that a cell is: also `4,5`, `85 %`, `4/5`, `4 of 5`, `★★★☆☆`, `5 - Agree` and `Agree (5)`."""
    if len(cell) > 2 * _LONGEST_ANSWER:
        return None
    if (number := _plain_number(cell)) is not None:
        return number
    if (stars := _STARS.fullmatch(cell)) is not None:
        return float(len(stars[1]))
    if (of := _OF.fullmatch(cell)) is not None:
        return _plain_number(of[1]) if _fits(of[1], of[2]) else None
    labelled = labelled_number(cell)
    return None if labelled is None else labelled[0]


def is_rating(cell: str) -> bool:
    """Whether a cell is a number that says itself of how much: `4/5`, `4 of 5`, `★★★☆☆`."""
    return _STARS.fullmatch(cell) is not None or _OF.fullmatch(cell) is not None


def labelled_number(cell: str) -> tuple[float, str] | None:
    """Return the number and the word of a cell such as `5 - Strongly agree` or `Agree (4)`; None for any other."""
    if len(cell) > 2 * _LONGEST_ANSWER:
        return None
    if (leading := _LEADING.fullmatch(cell)) is not None and _begins_with_a_word(leading[2]):
        number, word = _plain_number(leading[1]), leading[2]
    elif (trailing := _TRAILING.search(cell)) is not None and any(map(str.isalpha, cell[: trailing.start()])):
        number, word = _plain_number(trailing[1] or trailing[2]), cell[: trailing.start()]
    else:
        return None
    return None if number is None or len(word) > _LONGEST_ANSWER else (number, word.strip())


def _begins_with_a_word(text: str) -> bool:
    """Whether the first letter or digit of a text is a letter."""
    return next((char.isalpha() for char in text if char.isalnum()), False)


def _fits(number: str, most: str) -> bool:
    value, top = _plain_number(number), _plain_number(most)
    return value is not None and top is not None and value <= top


def _plain_number(cell: str) -> float | None:
    """Parse a number with a decimal point or comma, a sign and perhaps a percent sign."""
    bare = cell.strip().strip("$€£¥₹ ").removesuffix("%").rstrip().replace("−", "-").replace(",", ".")
    try:
        number = float(bare)
    except ValueError:
        return None
    return number if abs(number) < float("inf") and "_" not in bare else None


# ---- codes for no answer ---------------------------------------------------------------------------------------------

_CODES = {sign * code for code in (77, 88, 96, 97, 98, 99, 777, 888, 996, 997, 998, 999) for sign in (1, -1)}
_CODES |= {9998, 9999, -9998, -9999, 99999, -99999, -1, -2, -3, -4, -5, -6, -7, -8, -9, 7, 8, 9}
_TIMES_BEYOND, _GAP, _SMALL, _MOST_SHARE = 3, 3, 5, 0.5


def missing_codes(numbers: Mapping[float, int]) -> set[float]:
    """Return the numbers of a column that are codes for no answer: far from all others, as 99 and -9 from 1 to 5.

    -1 beside 0 and 1, and 9 beside 8 or 7, are answers.
    """
    core = sorted(number for number in numbers if number not in _CODES)
    core += _runs_on(core, numbers)
    if len({*core}) < 2:
        return set()
    low, high = min(core), max(core)
    codes = {number for number in numbers.keys() - {*core} if _is_beyond(number, low, high)}
    share = sum(numbers[code] for code in codes) / sum(numbers.values())
    return codes if share <= _MOST_SHARE else set()


def _runs_on(core: Iterable[float], numbers: Mapping[float, int]) -> list[float]:
    """Return the numbers that continue a scale at its ends although they could be codes: 7, 8 and 9 after 6."""
    there, more = {*core}, list[float]()
    for step, start in ((1, max(there, default=6.0)), (-1, min(there, default=0.0))):
        last, skipped = start, 0
        while skipped <= (1 if step > 0 else 0):
            last += step
            if last in numbers and abs(last) < 10:
                more.append(last)
                skipped = 0
            else:
                skipped += 1
    return more


def _is_beyond(number: float, low: float, high: float) -> bool:
    if 0 < number < 10:
        return number - high >= _GAP and high <= _SMALL
    if -10 < number < 0:
        return low >= 0 and not (number == -1 and high <= 1 and low == 0 and float(high).is_integer())
    return abs(number) >= _TIMES_BEYOND * max(abs(low), abs(high))


def neighbours(numbers: Iterable[float]) -> int:
    """Return how many numbers follow each other in equal steps at most, such as 5 for 1 to 5 and for 0, 25, ... 100."""
    ordered = sorted({*numbers})
    if len(ordered) < 2:
        return len(ordered)
    step = min(after - before for before, after in pairwise(ordered))
    longest = run = 1
    for before, after in pairwise(ordered):
        run = run + 1 if abs(after - before - step) < 1e-9 else 1
        longest = max(longest, run)
    return longest
