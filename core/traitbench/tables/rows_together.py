"""Which column of a file of samples says what its rows belong to, for a model that has its traits already."""

from collections import defaultdict
from collections.abc import Sequence

from traitbench.analysis.belonging import belonging
from traitbench.contract.traits import Trait
from traitbench.tables.columns import read_columns
from traitbench.tables.rows import Table
from traitbench.tables.sample_files import FileLayout, read_labels


def rows_together(table: Table, layout: FileLayout, traits: Sequence[Trait]) -> tuple[str, str] | None:
    """Return the column of a file whose rows belong together, with a sentence; None if there is none.

    Its name says so, or its values repeat and predict the labels of a trait. Columns that the layout uses are not
    looked at.
    """
    labels = {each.column for each in layout.labels}
    used = {layout.text, layout.trait, layout.held_out, layout.must_pass, layout.group, *labels}
    free = [column for column in table.columns if column not in used]
    if not free:
        return None
    for named in read_columns(table, column=layout.text).columns:
        if named.reading == "rows_together" and named.name in free:
            return named.name, f"“{named.name}”: {named.said}"
    positions = {row.number: position for position, row in enumerate(table.rows)}
    qualities: dict[str, list[float | None]] = defaultdict(lambda: [None] * len(table.rows))
    for row, _, trait, quality in read_labels(table, layout, traits):
        if isinstance(trait, str) and isinstance(quality, float):
            qualities[trait][positions[row.number]] = quality
    texts = [row.cells.get(layout.text, "") for row in table.rows]
    columns = {column: [row.cells.get(column) for row in table.rows] for column in free}
    matches = [one for y in qualities.values() if (one := belonging(columns, y, texts)) is not None]
    best = max(matches, key=lambda each: (round(each.correlation, 1), each.values), default=None)
    return None if best is None else (best.column, best.says)
