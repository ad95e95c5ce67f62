"""The columns that a version answers with, as Arrow: four for each trait, then `composite` and `error`.

In a row without scores all columns are null but `error`, which says why.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from traitbench.scoring.card import ScoreCard

if TYPE_CHECKING:
    import pyarrow

_OF_A_TRAIT = ("score", "confidence", "tier", "reason")
COMPOSITE, ERROR = "composite", "error"


def names(keys: Sequence[str]) -> list[str]:
    """Return the names of the columns for traits with these keys, such as `warmth_score`."""
    return [*(f"{key}_{name}" for key in keys for name in _OF_A_TRAIT), COMPOSITE, ERROR]


def rows(cards: Iterable[ScoreCard | str], keys: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the values of the columns for each card, or for the sentence that stands in for one."""
    without = (None,) * (len(names(keys)) - 1)
    return [(*without, card) if isinstance(card, str) else (*_values(card, keys), None) for card in cards]


def schema(keys: Sequence[str]) -> "pyarrow.Schema":
    """Return the names and types of the columns: whole numbers for scores, text for the others."""
    import pyarrow

    kinds = {True: pyarrow.int32(), False: pyarrow.string()}
    return pyarrow.schema([(name, kinds[name == COMPOSITE or name.endswith("_score")]) for name in names(keys)])


def arrays(rows: Sequence[tuple[Any, ...]], schema: "pyarrow.Schema") -> list["pyarrow.Array"]:
    """Return the columns of the rows."""
    import pyarrow

    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return [pyarrow.array(column, field.type) for column, field in zip(columns, schema, strict=True)]


def _values(card: ScoreCard, keys: Sequence[str]) -> Iterable[Any]:
    for key in keys:
        trait = card.traits[key]
        yield from (trait.score, trait.confidence, trait.label, trait.confidence_reason)
    yield card.composite
