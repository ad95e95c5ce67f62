"""`traitbench score --batch`: every row of a table scored by itself, written in order as the answers come.

Rows that cannot be scored are told by their line, on stderr and beside the others, and do not stop them; what would
befall every row (no such model, nobody there) does. CSV out has the columns that came in, then ours; JSONL out has
`{"line", "row", "card"}` or `{"line", "row", "error"}`.
"""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any, cast

import click

from app.commands.asking import Refused, connected
from app.commands.files import is_json, read_table, tell_problems
from app.exporting import harmless
from app.importing import Problem, Row, Table, guess_columns
from core.contract.scores import Card
from core.errors import BodyTooLarge, InternalError, TraitbenchError, UrlNotFetchable, ValidationFailed

_AT_ONCE = 4
_OF_ONE_ROW = (BodyTooLarge, InternalError, UrlNotFetchable)


@dataclass(frozen=True)
class Scored:
    """What became of a line: its row if it was one, and its card or why there is none."""

    line: int
    row: Row | None
    card: Card | None
    code: str = ""
    reason: str = ""


def score_file(
    handle: str, name: str, *, traits: Sequence[str] | None, column: str | None, output: str | None, form: str | None
) -> None:
    """Score the rows of a file; `Refused` at the end when some could not be."""
    table = read_table(name)
    texts = _column(table, column)
    lines: list[Row | Problem] = sorted([*table.rows, *table.problems], key=_line)
    bad: list[Scored] = []
    with connected() as client, ThreadPoolExecutor(_AT_ONCE) as pool, _opened(output) as out:

        def score(text: str) -> Card:
            return client.scores.score(handle, text, traits=traits)

        scored = pool.map(lambda line: _scored(line, texts, score), lines)
        with _progress(_noting(scored, bad), len(lines)) as outcomes:
            for text in _FORMS[form or ("jsonl" if is_json(table) else "csv")](outcomes, table.columns):
                # Half of a surrogate pair is written as JSON escapes it.
                out.write(text.encode("utf-8", "backslashreplace"))
    if bad:
        tell_problems([(each.line, each.reason) for each in bad])
        raise Refused(f"{len(bad):,} of {len(lines):,} rows could not be scored.")


def _opened(output: str | None) -> AbstractContextManager[IO[bytes]]:
    try:
        return cast(IO[bytes], click.open_file(output or "-", "wb"))
    except OSError as error:
        raise Refused(f"{output} cannot be written: {error.strerror}.") from error


def _column(table: Table, name: str | None) -> str:
    if name is not None and name not in table.columns:
        raise click.UsageError(f"The file has no column {name}; it has {', '.join(table.columns)}.")
    return name or guess_columns(table, ())[0]


def _line(line: Row | Problem) -> int:
    return line.number if isinstance(line, Row) else line.row


def _scored(line: Row | Problem, column: str, score: Callable[[str], Card]) -> Scored:
    if isinstance(line, Problem):
        return Scored(line.row, None, None, "invalid_row", f"{line.column} {line.reason}".strip())
    try:
        return Scored(line.number, line, score(line.cells.get(column, "")))
    except TraitbenchError as error:
        if not _is_of_one_row(error):
            raise
        return Scored(line.number, line, None, error.code, error.message)


def _is_of_one_row(error: TraitbenchError) -> bool:
    """Whether another text may fare better."""
    if isinstance(error, ValidationFailed):
        return all(place["loc"][:1] == ["content"] for place in error.details.get("errors", ()))
    return isinstance(error, _OF_ONE_ROW)


def _noting(outcomes: Iterable[Scored], bad: list[Scored]) -> Iterator[Scored]:
    for outcome in outcomes:
        if outcome.card is None:
            bad.append(outcome)
        yield outcome


def _progress(outcomes: Iterator[Scored], length: int) -> AbstractContextManager[Iterable[Scored]]:
    """A bar on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        return nullcontext(outcomes)
    return click.progressbar(outcomes, length=length, label="Scoring", file=sys.stderr)


def _jsonl(outcomes: Iterable[Scored], _columns: Sequence[str]) -> Iterator[str]:
    for each in outcomes:
        row = {} if each.row is None else {"row": each.row.cells if each.row.record is None else each.row.record}
        error = {"code": each.code, "message": each.reason}
        result = {"error": error} if each.card is None else {"card": each.card.model_dump(mode="json")}
        yield json.dumps({"line": each.line, **row, **result}, ensure_ascii=False) + "\n"


def _csv(outcomes: Iterable[Scored], columns: Sequence[str]) -> Iterator[str]:
    keys, outcomes = _with_keys(iter(outcomes))
    ours = ("line", *keys, "composite", "confidence", "version", "error")
    yield _record((*columns, *(_unlike(columns, name) for name in ours)))
    for each in outcomes:
        cells = each.row.cells if each.row else {}
        yield _record((*(cells.get(column, "") for column in columns), each.line, *_figures(each, keys), each.reason))


def _with_keys(outcomes: Iterator[Scored]) -> tuple[Sequence[str], Iterable[Scored]]:
    """The traits that are scored, as the first card tells them; and all outcomes, those before it included."""
    seen: list[Scored] = []
    for outcome in outcomes:
        seen.append(outcome)
        if outcome.card is not None:
            return list(outcome.card.scores), chain(seen, outcomes)
    return (), seen


def _figures(outcome: Scored, keys: Sequence[str]) -> Sequence[object]:
    card = outcome.card
    if card is None:
        return [""] * (len(keys) + 3)
    return [*(card.scores.get(key, "") for key in keys), card.composite, card.confidence, card.metadata.version_id]


def _unlike(columns: Sequence[str], name: str) -> str:
    """The name, or one made from it that the file has no column of."""
    return name if name not in columns else _unlike(columns, f"{name} (new)")


def _record(cells: Iterable[object]) -> str:
    place = io.StringIO(newline="")
    csv.writer(place, lineterminator="\n").writerow([harmless(cell) for cell in cells])
    return place.getvalue()


_FORMS: Mapping[str, Callable[[Any, Sequence[str]], Iterator[str]]] = {"csv": _csv, "jsonl": _jsonl}
