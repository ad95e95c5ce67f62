"""The labels of several traits: one column for each, with missing values where a text is no sample of a trait."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.estimators.labels import as_array
from traitbench.local.samples import LocalTrait

Column = tuple[list[int], NDArray[Any]]
"""The rows that have a label, and their labels."""


def labelled_columns(y: Any, traits: Sequence[LocalTrait]) -> list[Column]:
    """Return the labels of each trait; raise `ValueError` if a column is missing or belongs to no trait."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: pass a column of labels for each trait.")
    # An Arrow table has values in `columns`.
    names = list(y if isinstance(y, Mapping) else getattr(y, "column_names", ()) or getattr(y, "columns", ()))
    if not names:
        return _of_array(as_array(y), traits)
    columns = [_column_of(trait, names) for trait in traits]
    strange = [name for name in names if name not in columns]
    if strange:
        known = ", ".join(trait.key for trait in traits)
        raise ValueError(f"The column {strange[0]!r} is the label of no trait. The traits are: {known}.")
    return [_labelled(as_array(y[name])) for name in columns]


def _of_array(values: NDArray[Any], traits: Sequence[LocalTrait]) -> list[Column]:
    values = values[:, np.newaxis] if values.ndim == 1 else values
    if values.ndim != 2 or values.shape[1] != len(traits):
        raise ValueError(f"y needs a column for each of the {len(traits)} traits; its shape is {values.shape}.")
    return [_labelled(values[:, at]) for at in range(len(traits))]


def _column_of(trait: LocalTrait, names: Sequence[Any]) -> Any:
    for name in (trait.key, trait.name):
        if name in names:
            return name
    raise ValueError(f"y has no column for the trait {trait.key!r}. It has: {', '.join(map(str, names))}.")


def _labelled(values: NDArray[Any]) -> Column:
    rows = [row for row, value in enumerate(values.tolist()) if value is not None and value == value]
    own = values[rows]
    is_number = own.dtype.kind == "O" and all(isinstance(value, int | float) for value in own)
    return rows, own.astype(np.float64) if is_number else own
