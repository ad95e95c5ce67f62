"""Audits of a batch: a random sample that a person labels without seeing scores, and what it says about all texts.

An audit belongs to one trait of one batch. Its labels are kept with the batch and are never samples of the model.
"""

from collections.abc import Sequence
from dataclasses import replace

from traitbench.analysis import corpus
from traitbench.analysis.condition import says_nothing
from traitbench.analysis.corpus import Answer
from traitbench.batch.audits import Audit
from traitbench_app.workspace.batches import NONE, Batch

SIZES = (50, 100, 150, 200)
MOST_GROUPS = 12


def scored_rows(batch: Batch, trait: str, *, whole: bool = False) -> list[int]:
    """Return the rows with a score of the trait, without texts that say nothing unless `whole`, or all are such."""
    scores = batch.traits[trait].scores
    rows = [row for row in range(batch.done) if scores[row] != NONE]
    return rows if whole else [row for row in rows if not says_nothing(batch.texts[row])] or rows


def group_columns(batch: Batch) -> list[str]:
    """Return the columns of the input that divide the texts into 2 to `MOST_GROUPS` groups."""
    columns = []
    for position, name in enumerate(batch.other_columns):
        names = {cells[position] for cells in batch.others[: batch.done]}
        if 2 <= len(names) <= MOST_GROUPS:
            columns.append(name)
    return columns


def groups_of(batch: Batch, column: str, rows: Sequence[int]) -> list[str]:
    """Return the group of each row; an empty cell is a group too."""
    position = batch.other_columns.index(column)
    return [batch.others[row][position].strip() or "(empty)" for row in rows]


def drawn(batch: Batch, trait: str, *, size: int, seed: int, by: str | None, whole: bool = False) -> Audit:
    """Draw a new audit sample from the rows with a score; `whole` draws from texts that say nothing too."""
    rows = scored_rows(batch, trait, whole=whole)
    groups = None if by is None else groups_of(batch, by, rows)
    positions = corpus.draw(len(rows), size=size, seed=seed, groups=groups)
    return Audit(trait, seed, [rows[position] for position in positions], by, whole=whole)


def extended(batch: Batch, audit: Audit, size: int) -> Audit:
    """Return the audit with more texts; those drawn before stay, because a sample begins with every smaller one."""
    larger = drawn(batch, audit.trait, size=size, seed=audit.seed, by=audit.by, whole=audit.whole)
    return replace(audit, rows=larger.rows)


def answer_of(batch: Batch, audit: Audit, *, pole: str, positive: bool, promised: float) -> Answer:
    """Return what the labels so far say; raise `ValueError` if they are too few."""
    rows = scored_rows(batch, audit.trait, whole=audit.whole)
    position = {row: at for at, row in enumerate(rows)}
    scores = batch.traits[audit.trait].scores
    judged = audit.judged
    return corpus.answer(
        [scores[row] for row in rows],
        {position[row]: label for row, label in judged.items()},
        pole=pole,
        positive=positive,
        groups=None if audit.by is None else groups_of(batch, audit.by, rows),
        stratified=audit.by is not None,
        promised=promised,
        seed=audit.seed,
        skipped=len(audit.decided) - len(judged),
    )


def counted(batch: Batch, trait: str, *, positive: bool, whole: bool = False) -> float:
    """Return the share that counting scores above (or below) 50 gives."""
    scores = [batch.traits[trait].scores[row] for row in scored_rows(batch, trait, whole=whole)]
    on_side = sum(score > 50 if positive else score < 50 for score in scores)
    return on_side / len(scores) if scores else 0.0
