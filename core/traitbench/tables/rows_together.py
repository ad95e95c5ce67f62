"""Which column of a file of samples says what its rows belong to, for a model that has its traits already."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

from traitbench.analysis.belonging import belonging
from traitbench.contract.traits import Trait
from traitbench.tables.columns import read_columns
from traitbench.tables.rows import Table
from traitbench.tables.sample_files import FileLayout, read_labels

_LOOKED_AT = 2_000


def rows_together(
    table: Table, layout: FileLayout, traits: Sequence[Trait], *, without: Collection[str] = ()
) -> tuple[str, str] | None:
    """Return the column of a file whose rows belong together, with a sentence; None if there is none.

    Its name says so, or its values repeat and predict the labels of a trait. Columns that the layout uses, and those in
    `without`, are not looked at.
    """
    labels = {each.column for each in layout.labels}
    used = {layout.text, layout.trait, layout.held_out, layout.must_pass, layout.group, *labels}
    free = [column for column in table.columns if column not in used and column not in without]
    if not free:
        return None
    positions = {row.number: position for position, row in enumerate(table.rows)}
    qualities: dict[str, list[float | None]] = defaultdict(lambda: [None] * len(table.rows))
    for row, _, trait, quality in read_labels(table, layout, traits):
        if isinstance(trait, str) and isinstance(quality, float):
            qualities[trait][positions[row.number]] = quality
    texts = [row.cells.get(layout.text, "") for row in table.rows]
    columns = {column: [row.cells.get(column) for row in table.rows] for column in free}
    matches = [one for y in qualities.values() if (one := belonging(columns, y, texts)) is not None]
    best = max(matches, key=lambda each: (round(each.correlation, 1), each.values), default=None)
    if best is not None:
        return best.column, best.says
    # The first rows say what a name means.
    first = replace(table, rows=table.rows[:_LOOKED_AT])
    for named in read_columns(first, column=layout.text, given=dict.fromkeys(without, "not_used")).columns:
        if named.reading == "rows_together" and named.name in free:
            return named.name, f"“{named.name}”: Rows with the same value belong together."
    return None
