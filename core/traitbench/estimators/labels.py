"""Labels as people pass them to an estimator: qualities from 0 to 1, or names of the poles.

scikit-learn expects the labels that come out of `predict` to be those that went in, and `classes_` to be sorted. Its
metrics sort labels themselves, and an unsorted `classes_` would turn an AUROC of 0.9 into 0.1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from traitbench.contract.texts import is_missing
from traitbench.local.samples import LocalTrait

Floats = NDArray[np.float64]
Poles = tuple[str, str]
"""The names of the negative and of the positive pole."""

Column = tuple[list[int], NDArray[Any]]
"""The rows that have a label, and their labels."""

_MISSING = "the label is missing. Leave the row out."


@dataclass(frozen=True, eq=False)
class Labels:
    """The qualities (n,) of texts, and the sorted classes (2,) that `predict` answers with."""

    qualities: Floats
    classes: NDArray[Any]


def read_labels(y: Any, poles: Poles, *, rows: Sequence[int] | None = None) -> Labels:
    """Return labels as qualities; raise `ValueError` that names the row of one that is neither.

    `rows` are the numbers of the rows for errors, by default from 0.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: pass a label for each text.")
    values = column_or_1d(as_array(y), warn=True)
    rows = range(len(values)) if rows is None else rows
    if values.dtype.kind in "biuf":
        return Labels(_checked(values, poles, rows), np.array([0, 1]).astype(values.dtype))
    if any(isinstance(value, str) for value in values):
        return Labels(_of_names(values.tolist(), poles, rows), np.unique(np.array(poles)))
    return Labels(_checked(_as_floats(values, poles, rows), poles, rows), np.array([0.0, 1.0]))


def check_poles(qualities: Floats, poles: Poles, *, of: str = "") -> None:
    """Raise `ValueError` unless both poles have a text."""
    for name, has in zip(poles, (qualities < 0.5, qualities > 0.5), strict=True):
        if not has.any():
            raise ValueError(
                f"Classifier can't train when only one class is present{of}: no text has the label {name!r}. Add texts"
                f" of both poles: {poles[0]!r} (quality below 0.5) and {poles[1]!r} (above 0.5)."
            )


def chances(positive: Floats, classes: NDArray[Any], poles: Poles) -> Floats:
    """Return (n, 2) the chances of the classes, from positions in 0..1."""
    columns = [1 - positive, positive]
    return np.stack(columns if positive_column(classes, poles) == 1 else columns[::-1], axis=1)


def sides(positive: Floats, classes: NDArray[Any], poles: Poles) -> NDArray[Any]:
    """Return (n,) the class on whose side each position in 0..1 is; the middle counts as negative."""
    index = positive_column(classes, poles)
    answer: NDArray[Any] = classes[np.where(positive > 0.5, index, 1 - index)]
    return answer


def positive_column(classes: NDArray[Any], poles: Poles) -> int:
    """Return the place of the positive pole in `classes`: 1, but 0 if its name comes first in the alphabet."""
    return int(np.flatnonzero(classes == poles[1])[0]) if classes.dtype.kind == "U" else 1


def as_array(y: Any) -> NDArray[Any]:
    """Return labels as an array, without turning numbers beside names into texts."""
    values = y.to_pylist() if hasattr(y, "to_pylist") else y
    array = np.asarray(values)
    # numpy would turn 1 beside "warm" into the text "1".
    mixed = array.dtype.kind in "US" and not isinstance(values, np.ndarray)
    return np.asarray(values, object) if mixed else array


def _checked(values: NDArray[Any], poles: Poles, rows: Sequence[int]) -> Floats:
    qualities = values.astype(np.float64)
    wrong = np.flatnonzero(~((qualities >= 0) & (qualities <= 1)))
    if len(wrong):
        value = values[wrong[0]].item() if values.dtype.kind != "O" else values[wrong[0]]
        # Only NaN differs from itself.
        problem = _MISSING if value != value else f"{value!r} is not a label. {_allowed(poles)}"
        raise ValueError(f"Row {rows[int(wrong[0])]}: {problem}")
    return qualities


def _of_names(names: Sequence[Any], poles: Poles, rows: Sequence[int]) -> Floats:
    quality = dict(zip(poles, (0.0, 1.0), strict=True))
    for row, name in zip(rows, names, strict=True):
        if is_missing(name):
            raise ValueError(f"Row {row}: {_MISSING}")
        if not isinstance(name, str):
            raise ValueError(f"Row {row}: {name!r} is a number among names of poles. Use names or numbers in all rows.")
        if name not in quality:
            raise ValueError(f"Row {row}: {name!r} is not a label. {_allowed(poles)}")
    return np.array([quality[name] for name in names], np.float64)


def _as_floats(values: NDArray[Any], poles: Poles, rows: Sequence[int]) -> Floats:
    for row, value in zip(rows, values.tolist(), strict=True):
        if value is None or not isinstance(value, int | float):
            raise ValueError(f"Row {row}: {_MISSING if is_missing(value) else f'{value!r} is not a label.'}")
    return values.astype(np.float64)


def _allowed(poles: Poles) -> str:
    return f"Use {poles[0]!r} and {poles[1]!r}, or numbers from 0 ({poles[0]}) to 1 ({poles[1]})."


# ---- labels of several traits: one column for each, with missing values where a text is no sample of a trait ---------


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
