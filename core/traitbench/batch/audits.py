"""Audits of a batch: what a person decided about a sample of its texts, and reading the files that a batch wrote.

All files of `traitbench score --batch`, of the Batch page, and frames of `tb.score` are read, those of earlier releases
too. Rows without a score are counted, not read.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from traitbench.analysis.condition import says_nothing
from traitbench.display.scored_rows import ROW, SCORE, SIDE, VERSION, ScoredColumns, scored_keys
from traitbench.tables.rows import Table, as_text
from traitbench.tables.sample_files import as_number

_OLD = ("line", "composite", "confidence", "confidence_reason", "version", "error")
_OLD_KINDS = (" tier", " confidence", " confidence reason")
_NEW = re.compile(r"(?: \(new\))+$")  # how earlier releases named a column that was there already
_MIDDLE = 50


@dataclass(frozen=True)
class Audit:
    """A drawn sample: `rows` are places in the batch, in the order of labelling; `labels` has None for a skip.

    `whole` says that it was drawn from all texts with a score, those that say nothing too, as earlier releases did.
    """

    trait: str
    seed: int
    rows: Sequence[int]
    by: str | None = None
    labels: Mapping[int, float | None] | None = None
    whole: bool = True

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
    """The rows with a score of a trait, in the order of the file; `unscored` rows have none.

    `rows` are the numbers of the data rows, from 1, in the file that was scored. `lines` are the lines of that file
    instead, which only files of earlier releases have. `poles` has the names of the poles that the scores claim, by
    whether it is the positive one. `versions` is the version of each row, empty if it is unknown.
    """

    trait: str
    rows: Sequence[int]
    texts: Sequence[str]
    scores: Sequence[float]
    columns: Mapping[str, Sequence[str]]
    unscored: int
    lines: Sequence[int] | None
    versions: Sequence[str]
    poles: Mapping[bool, str]

    @property
    def opinions(self) -> "ScoredRows":
        """The rows whose texts say something; all of them if none does."""
        some = [position for position, text in enumerate(self.texts) if not says_nothing(text)]
        if not some or len(some) == len(self.texts):
            return self
        return replace(
            self,
            rows=[self.rows[position] for position in some],
            texts=[self.texts[position] for position in some],
            scores=[self.scores[position] for position in some],
            columns={name: [cells[position] for position in some] for name, cells in self.columns.items()},
            lines=self.lines and [self.lines[position] for position in some],
            versions=[self.versions[position] for position in some],
        )

    def column(self, name: str) -> Sequence[str]:
        """Return the cells of a column of the input; raise `NotScored` if there is none."""
        if name not in self.columns:
            raise NotScored(f"The file has no column {name}; it has {', '.join(self.columns)}.")
        return self.columns[name]


def read_scored(table: Table, *, trait: str | None = None, text: str | None = None) -> ScoredRows:
    """Return the scores of a trait; of the only one if none is named. Raise `NotScored` if that is impossible.

    If a file was scored several times, its last scores are read.
    """
    layout = _layout(table)
    key = _chosen(layout.traits, trait)
    own = [name for name in layout.columns if name not in layout.ours]
    column = text or _text_column(own, layout.cells)
    if column not in layout.columns:
        raise NotScored(f"The file has no column {column}; it has {', '.join(own)}.")
    score, side = layout.traits[key]
    scores = [as_number(cells.get(score, "")) for cells in layout.cells]
    able = [position for position, each in enumerate(scores) if each is not None]
    if not able:
        raise NotScored(f"No row has a score of {key}.")
    numbers = _numbers(layout.cells, layout.row) or [position + 1 for position in range(len(layout.cells))]
    lines = _numbers(layout.cells, layout.line) if layout.line else None
    known = [score for score in scores if score is not None]
    sides = [layout.cells[position].get(side, "").strip() for position in able] if side else []
    return ScoredRows(
        key,
        [numbers[position] for position in able],
        [layout.cells[position].get(column, "") for position in able],
        known,
        {name: [layout.cells[position].get(name, "") for position in able] for name in own},
        len(scores) - len(able),
        [lines[position] for position in able] if lines else None,
        [layout.cells[position].get(layout.version, "") for position in able],
        {each > _MIDDLE: name for each, name in zip(known, sides, strict=False) if name},
    )


@dataclass(frozen=True)
class _Layout:
    """Where a file has what: the columns of the score and the side of each trait, and the other columns of ours.

    `ours` are all columns that are not of the input. A column without a name is not there.
    """

    columns: Sequence[str]
    cells: Sequence[Mapping[str, str]]
    traits: Mapping[str, tuple[str, str]]
    ours: frozenset[str]
    row: str = ""
    line: str = ""
    version: str = ""


def _layout(table: Table) -> _Layout:
    cells = [row.cells for row in table.rows]
    columns = list(table.columns)
    if keys := scored_keys(columns):
        # An input may have had a column `composite`, which stands before ours.
        behind = columns[columns.index(ROW) :] if ROW in columns else columns
        ours = frozenset(ScoredColumns(keys, ("tier", "composite")).names) & {*behind}
        traits = {key: (f"{key}_{SCORE}", f"{key}_{SIDE}") for key in keys}
        row, version = (name if name in columns else "" for name in (ROW, VERSION))
        return _Layout(columns, cells, traits, ours, row=row, version=version)
    return _nested(table) or _flat(columns, cells)


def _nested(table: Table) -> _Layout | None:
    """Return the layout of the JSONL that earlier commands wrote, with the row and its card inside; None of others."""
    flat, keys = list[Mapping[str, str]](), dict[str, None]()
    for row in table.rows:
        inside, card = ((row.record or {}).get(name) for name in ("row", "card"))
        card = card if isinstance(card, Mapping) else {}
        scores = dict(card.get("scores") or {})
        keys |= dict.fromkeys(scores)
        version = (card.get("metadata") or {}).get("version_id") or ""
        came_in = inside if isinstance(inside, Mapping) else {}
        flat.append(
            {name: as_text(value) for name, value in came_in.items()}
            # No column of an input is called like these.
            | {f"\0{key}": str(score) for key, score in scores.items()}
            | {"\0line": row.cells.get("line", ""), "\0version": version}
        )
    if not keys:
        return None
    columns = list(dict.fromkeys(name for cells in flat for name in cells))
    ours = frozenset(name for name in columns if name.startswith("\0"))
    traits = {key: (f"\0{key}", "") for key in keys}
    return _Layout(columns, flat, traits, ours, line="\0line", version="\0version")


def _flat(columns: Sequence[str], cells: Sequence[Mapping[str, str]]) -> _Layout:
    """Return the layout of files of earlier releases: their columns are the last, from `line` to `composite` and on."""
    plain = [_NEW.sub("", name) for name in columns]
    ends = [at for at, name in enumerate(plain) if name == "composite"]
    begins = [at for at, name in enumerate(plain) if name == "line" and ends and at < ends[-1]]
    if not begins:
        return _Layout(columns, cells, {}, frozenset())
    first, last = begins[-1], ends[-1]
    between = range(first + 1, last)
    traits = {plain[at]: (columns[at], "") for at in between if not plain[at].endswith(_OLD_KINDS)}
    behind = [at for at in range(last, len(columns)) if plain[at] in _OLD]
    ours = frozenset(columns[at] for at in (first, *between, *behind))
    version = next((columns[at] for at in behind if plain[at] == "version"), "")
    return _Layout(columns, cells, traits, ours, line=columns[first], version=version)


def _chosen(traits: Mapping[str, object], trait: str | None) -> str:
    if not traits:
        raise NotScored(
            "This is not the output of a batch. Score the texts first: traitbench score MODEL --batch FILE."
        )
    if trait is None and len(traits) > 1:
        raise NotScored(f"The file has several traits. Name one: {', '.join(traits)}.")
    if trait is not None and trait not in traits:
        raise NotScored(f"The file has no trait {trait}; it has {', '.join(traits)}.")
    return trait or next(iter(traits))


def _numbers(cells: Sequence[Mapping[str, str]], column: str) -> list[int] | None:
    """Return the whole numbers in a column; None if one is missing or twice there, as in files put together."""
    numbers = [as_number(each.get(column, "")) for each in cells] if column else []
    whole = [int(number) for number in numbers if number is not None and number == int(number)]
    return whole if whole and len({*whole}) == len(cells) else None


def _text_column(own: Sequence[str], cells: Sequence[Mapping[str, str]]) -> str:
    """Return the column that is called a text, else the one with the longest cells."""
    if not own:
        raise NotScored("The file has no column of texts.")
    named = next((name for name in own if name.lower() in ("text", "texts")), None)
    return named or max(own, key=lambda name: sum(len(each.get(name, "")) for each in cells[:200]))
