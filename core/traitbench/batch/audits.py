"""Audits of a batch: what a person decided about a sample of its texts, and reading the files that a batch wrote.

The three layouts of `traitbench score --batch` and of the Batch page are read. Lines without a score are counted, not
read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from traitbench.tables.rows import Table
from traitbench.tables.sample_files import as_number

_OURS = ("line", "composite", "confidence", "confidence_reason", "version", "error")
_KINDS = ("tier", "confidence", "confidence reason")


@dataclass(frozen=True)
class Audit:
    """A drawn sample: `rows` are places in the batch, in the order of labelling; `labels` has None for a skip."""

    trait: str
    seed: int
    rows: Sequence[int]
    by: str | None = None
    labels: Mapping[int, float | None] | None = None

    @property
    def decided(self) -> Mapping[int, float | None]:
        """The decisions so far, in the order in which they were made."""
        return self.labels or {}

    @property
    def judged(self) -> dict[int, float]:
        """The labels, without skipped texts."""
        return {row: label for row, label in self.decided.items() if label is not None}

    @property
    def open_rows(self) -> list[int]:
        """The rows without a decision, in order."""
        return [row for row in self.rows if row not in self.decided]

    @property
    def last(self) -> int | None:
        """The row that was decided last."""
        return next(reversed(list(self.decided)), None)

    def undo(self, row: int) -> "Audit":
        """Return the audit without the decision about a row."""
        return replace(self, labels={position: label for position, label in self.decided.items() if position != row})


# ---- what a batch wrote ----------------------------------------------------------------------------------------------


class NotScored(ValueError):
    """The table is not the output of a batch, or has no such trait; the message says what to do."""


@dataclass(frozen=True)
class ScoredRows:
    """The lines with a score, in the order of the file; `unscored` lines have none."""

    trait: str
    lines: Sequence[int]
    texts: Sequence[str]
    scores: Sequence[float]
    columns: Mapping[str, Sequence[str]]
    unscored: int

    def column(self, name: str) -> Sequence[str]:
        """Return the cells of a column of the input; raise `NotScored` if there is none."""
        if name not in self.columns:
            raise NotScored(f"The file has no column {name}; it has {', '.join(self.columns)}.")
        return self.columns[name]


def read_scored(table: Table, *, trait: str | None = None, text: str | None = None) -> ScoredRows:
    """Return the scores of a trait; of the only one if none is named. Raise `NotScored` if that is impossible."""
    flat = [_flat(row.cells, row.record) for row in table.rows]
    known = list(dict.fromkeys(name for cells, _ in flat for name in cells)) or list(table.columns)
    traits = _traits(table, flat)
    key = _chosen(traits, trait)
    own = [name for name in known if name not in traits and not _is_ours(name, traits)]
    column = text or _text_column(own, flat)
    if column not in known:
        raise NotScored(f"The file has no column {column}; it has {', '.join(own)}.")
    figures = [(position, cells, as_number(scores.get(key, ""))) for position, (cells, scores) in enumerate(flat)]
    rows = [(position, cells, score) for position, cells, score in figures if score is not None]
    if not rows:
        raise NotScored(f"No row has a score of {key}.")
    lines = [as_number(cells.get("line", "")) or table.rows[position].number for position, cells, _ in rows]
    return ScoredRows(
        key,
        [int(line) for line in lines],
        [cells.get(column, "") for _, cells, _ in rows],
        [score for _, _, score in rows],
        {name: [cells.get(name, "") for _, cells, _ in rows] for name in own},
        len(flat) - len(rows),
    )


def _flat(cells: Mapping[str, str], record: Mapping[str, Any] | None) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the cells of the input and the cells that may be scores; the JSONL of the command nests both."""
    card, row = (record or {}).get("card"), (record or {}).get("row")
    if not isinstance(card, Mapping) and not isinstance(row, Mapping):
        return cells, cells
    inside = {name: "" if value is None else str(value) for name, value in (row or {}).items()}
    scores = (card or {}).get("scores") or {}
    return {**inside, "line": cells.get("line", "")}, {name: str(score) for name, score in scores.items()}


def _traits(table: Table, flat: Sequence[tuple[Mapping[str, str], Mapping[str, str]]]) -> list[str]:
    """Return the keys of the traits: those of nested cards, else the columns between `line` and `composite`."""
    nested = dict.fromkeys(name for cells, scores in flat if scores is not cells for name in scores)
    if nested:
        return list(nested)
    if "line" not in table.columns or "composite" not in table.columns:
        return []
    columns = list(table.columns)
    between = columns[columns.index("line") + 1 : columns.index("composite")]
    return [name for name in between if not name.endswith((" tier", " confidence", " confidence reason"))]


def _chosen(traits: Sequence[str], trait: str | None) -> str:
    if not traits:
        raise NotScored(
            "This is not the output of a batch. Score the texts first: traitbench score MODEL --batch FILE."
        )
    if trait is None and len(traits) > 1:
        raise NotScored(f"The file has several traits. Name one: {', '.join(traits)}.")
    if trait is not None and trait not in traits:
        raise NotScored(f"The file has no trait {trait}; it has {', '.join(traits)}.")
    return trait or traits[0]


def _is_ours(name: str, traits: Sequence[str]) -> bool:
    return name in _OURS or any(name == f"{key} {kind}" for key in traits for kind in _KINDS)


def _text_column(own: Sequence[str], flat: Sequence[tuple[Mapping[str, str], Mapping[str, str]]]) -> str:
    """Return the column that is called a text, else the one with the longest cells."""
    rows = [cells for cells, _ in flat[:200]]
    if not own:
        raise NotScored("The file has no column of texts.")
    named = next((name for name in own if name.lower() in ("text", "texts")), None)
    return named or max(own, key=lambda name: sum(len(cells.get(name, "")) for cells in rows))
