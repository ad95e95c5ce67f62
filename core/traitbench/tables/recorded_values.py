"""Read the values that Perspective, or a service like it, once gave to texts: a column for each attribute.

A column is an attribute if its name is: `TOXICITY`, `severe toxicity`, `perspective_insult_score`, or the path of a
recorded answer, `attributeScores.TOXICITY.summaryScore.value`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from traitbench.analysis.condition import says_nothing
from traitbench.contract.attributes import ATTRIBUTE
from traitbench.tables.answer_words import is_missing
from traitbench.tables.rows import Line, Problem, Row
from traitbench.tables.sample_files import as_number

ATTRIBUTES = frozenset(
    (
        *("TOXICITY", "SEVERE_TOXICITY", "IDENTITY_ATTACK", "INSULT", "PROFANITY", "THREAT", "SEXUALLY_EXPLICIT"),
        *("FLIRTATION", "OBSCENE", "SPAM", "ATTACK_ON_AUTHOR", "ATTACK_ON_COMMENTER", "INCOHERENT", "INFLAMMATORY"),
        *("LIKELY_TO_REJECT", "UNSUBSTANTIAL"),
        *("AFFINITY", "COMPASSION", "CURIOSITY", "NUANCE", "PERSONAL_STORY", "REASONING", "RESPECT"),
    )
)
"""The names that the service gave its attributes, without `_EXPERIMENTAL`."""

_EXPERIMENTAL = "_EXPERIMENTAL"
_PATH_OF_ANSWER = (("summaryScore", "value"), ("value",), ("score",))
_REQUEST = "requestedAttributes"
"""Where a recorded request names the attributes, without values."""

_BEGIN, _ENDS = "PERSPECTIVE_", ("_SCORE", "_VALUE", "_PROBABILITY")


def is_attribute(name: str) -> bool:
    """Whether a text can be the name of an attribute."""
    return ATTRIBUTE.fullmatch(name) is not None


def value_columns(columns: Iterable[str], named: Collection[str] = ()) -> dict[str, list[str]]:
    """Return the columns that are called like an attribute, by attribute; `named` are further names of attributes."""
    known = ATTRIBUTES | {*named}
    matches: dict[str, list[str]] = {}
    for column in columns:
        if (name := _attribute_of(column, known)) is not None:
            matches.setdefault(name, []).append(column)
    return matches


def _attribute_of(column: str, known: Collection[str]) -> str | None:
    if column in known:
        return column
    path = tuple(column.strip().split("."))
    if _REQUEST in path:
        return None
    end = next((end for end in _PATH_OF_ANSWER if len(path) > len(end) and path[-len(end) :] == end), ())
    name = re.sub(r"[\s-]+", "_", path[: len(path) - len(end)][-1].strip()).upper().removeprefix(_BEGIN)
    for word in _ENDS:
        name = name if name in known else name.removesuffix(word)
    return name if name in known or name.removesuffix(_EXPERIMENTAL) in known else None


@dataclass(frozen=True)
class RecordedRow:
    """A row with a text; `values` has the recorded value of each attribute that has one."""

    line: int
    text: str
    cells: Mapping[str, str]
    values: Mapping[str, float]


@dataclass(frozen=True)
class RecordedFile:
    """The rows of a file in their order. `rows` have a text; the numbers say why the others have none.

    `missing` and `invalid` count, by attribute, the rows with a text whose value is missing or not from 0 to 1.
    `problems` names lines that cannot be read and values that are not from 0 to 1.
    """

    rows: Sequence[RecordedRow]
    unreadable: int
    blank: int
    nothing: int
    missing: Mapping[str, int]
    invalid: Mapping[str, int]
    problems: Sequence[Problem]


def read_values(lines: Iterable[Line], text: str, columns: Mapping[str, str], *, whole: bool = False) -> RecordedFile:
    """Return the texts in the column `text` with the values in `columns`, by attribute.

    Texts that say nothing, such as `n/a`, are left out unless `whole`.
    """
    rows = list[RecordedRow]()
    problems = list[Problem]()
    unreadable = blank = nothing = 0
    missing, invalid = dict.fromkeys(columns, 0), dict.fromkeys(columns, 0)
    for line in lines:
        if isinstance(line, Problem):
            unreadable += 1
            problems.append(line)
            continue
        content = line.cells.get(text, "")
        if not content.strip():
            blank += 1
        elif not whole and says_nothing(content):
            nothing += 1
        else:
            values = dict[str, float]()
            for name, value in _values(line, columns):
                if isinstance(value, float):
                    values[name] = value
                elif value is None:
                    missing[name] += 1
                else:
                    invalid[name] += 1
                    problems.append(value)
            rows.append(RecordedRow(line.number, content, line.cells, values))
    return RecordedFile(rows, unreadable, blank, nothing, missing, invalid, problems)


def _values(row: Row, columns: Mapping[str, str]) -> Iterator[tuple[str, float | Problem | None]]:
    for name, column in columns.items():
        cell = row.cells.get(column, "").strip()
        number = as_number(cell)
        if not cell or (number is None and is_missing(cell)):
            yield name, None
        elif number is None or not 0 <= number <= 1:
            yield name, Problem(row.number, column, "is not a number from 0 to 1")
        else:
            yield name, number
