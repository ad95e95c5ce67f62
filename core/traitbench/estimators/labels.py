"""Labels as people pass them to an estimator: qualities from 0 to 1, names of the poles, or two classes of any kind.

scikit-learn expects the labels that come out of `predict` to be those that went in, and `classes_` to be sorted. Its
metrics sort labels themselves, and an unsorted `classes_` would turn an AUROC of 0.9 into 0.1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from traitbench.contract.texts import is_missing
from traitbench.display.scored_rows import UNNAMED
from traitbench.local.samples import LocalTrait

Floats = NDArray[np.float64]
Poles = tuple[str, str]
"""The names of the negative and of the positive pole."""

_PLAIN = np.frompyfunc(lambda value: value.item() if isinstance(value, np.generic) else value, 1, 1)

Column = tuple[list[int], NDArray[Any]]
"""The rows that have a label, and their labels."""

_NEARLY = np.finfo(np.float64).eps
_MISSING = "the label is missing. Leave the row out."


@dataclass(frozen=True, eq=False)
class Labels:
    """The qualities (n,) of texts, the sorted classes (2,) that `predict` answers with, and the names of the poles."""

    qualities: Floats
    classes: NDArray[Any]
    poles: Poles


def read_labels(y: Any, poles: Poles | None, *, rows: Sequence[int] | None = None) -> Labels:
    """Return labels as qualities; raise `ValueError` that names the row of one that is neither.

    Without `poles`, numbers from 0 to 1 are qualities; other labels are two classes, the first in sorted order the
    negative pole. `rows` are the numbers of the rows for errors, by default from 0.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: pass a label for each text.")
    values = column_or_1d(as_array(y), warn=True)
    rows = range(len(values)) if rows is None else rows
    named, known = any(isinstance(value, str) for value in values), poles or UNNAMED
    if poles is None and (named or _are_classes(values)):
        return _of_classes(values, rows)
    if values.dtype.kind in "biuf":
        return Labels(_checked(values, known, rows), np.array([0, 1]).astype(values.dtype), known)
    if named:
        return Labels(_of_names(values.tolist(), known, rows), np.unique(np.array(known)), known)
    return Labels(_checked(_as_floats(values, rows), known, rows), np.array([0.0, 1.0]), known)


def qualities_of(y: Any, classes: NDArray[Any], poles: Poles, *, rows: Sequence[int] | None = None) -> Floats:
    """Return labels for a fitted estimator as qualities (n,): its `classes`, or what `read_labels` takes."""
    numbers = classes.tolist()
    if classes.dtype.kind not in "iuf" or numbers == [0, 1]:
        return read_labels(y, poles, rows=rows).qualities
    values = column_or_1d(as_array(y)).tolist()
    for row, value in zip(range(len(values)) if rows is None else rows, values, strict=True):
        if value not in numbers:
            problem = _MISSING if is_missing(value) else f"{value!r} is not a label. Use {numbers[0]} and {numbers[1]}."
            raise ValueError(f"Row {row}: {problem}")
    return np.array([numbers.index(value) for value in values], np.float64)


def check_poles(qualities: Floats, poles: Poles, weights: Floats, *, of: str = "") -> None:
    """Raise `ValueError` unless both poles have a text with a weight above 0."""
    for name, has in zip(poles, (qualities < 0.5, qualities > 0.5), strict=True):
        if not (has & (weights > 0)).any():
            condition = " and a sample_weight above 0" if has.any() else ""
            raise ValueError(
                f"Classifier can't train when only one class is present{of}: no text has the label {name!r}{condition}."
                f" Add texts of both poles: {poles[0]!r} (quality below 0.5) and {poles[1]!r} (above 0.5)."
            )


def chances(positive: Floats, classes: NDArray[Any], poles: Poles) -> Floats:
    """Return (n, 2) the chances of the classes, from positions in 0..1."""
    columns = [1 - positive, positive]
    return np.stack(columns if positive_column(classes, poles) == 1 else columns[::-1], axis=1)


def log_odds(positive: Floats, classes: NDArray[Any], poles: Poles) -> Floats:
    """Return (n,) the log odds of `classes[1]`, from positions in 0..1; finite, as a position may round to 0 or 1."""
    odds: Floats = logit(np.clip(positive, _NEARLY, 1 - _NEARLY))
    return odds if positive_column(classes, poles) == 1 else -odds


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
    array = np.asarray(values, object) if mixed else array
    return array if array.dtype.kind != "O" else np.asarray(_PLAIN(array))


def _are_classes(values: NDArray[Any]) -> bool:
    """Whether labels are numbers that cannot be qualities; missing ones count for neither."""
    return any(isinstance(each, int | float) and not 0 <= each <= 1 and each == each for each in values.tolist())


def _of_classes(values: NDArray[Any], rows: Sequence[int]) -> Labels:
    labels = values.tolist()
    for row, label in zip(rows, labels, strict=True):
        if is_missing(label):
            raise ValueError(f"Row {row}: {_MISSING}")
        same_kind = isinstance(label, str) == isinstance(labels[0], str)
        if not same_kind or not isinstance(label, str | int | float) or label in (math.inf, -math.inf):
            raise ValueError(f"Row {row}: {label!r} is not a label. Use two names, or two numbers, in all rows.")
    classes, sides_of = np.unique(np.array(labels), return_inverse=True)
    kind = type_of_target(np.array(labels))
    if kind == "continuous":
        raise ValueError(
            f"Unknown label type: continuous. Pass two classes, or qualities from 0 to 1; y has {classes}."
        )
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}: it has {len(classes)} classes."
            " Fit a Scorer for each class, with the labels `y == class`."
        )
    if len(classes) < 2:
        raise ValueError(f"Classifier can't train when only one class is present: all labels are {labels[0]!r}.")
    negative, positive = (each if isinstance(each, str) else f"{each:g}" for each in classes.tolist())
    return Labels(sides_of.astype(np.float64), classes, (negative, positive))


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


def _as_floats(values: NDArray[Any], rows: Sequence[int]) -> Floats:
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
