"""All common checks of scikit-learn, on estimators that write each row of numbers as a text.

What fails needs columns of numbers, or something else that the list below says; a check of the list that passes is a
failure too.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.utils import InputTags, Tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import traitbench as tb

METHODS = ("fit", "predict", "predict_proba", "decision_function", "transform", "score")

NO_COLUMNS = "texts have no columns, so nothing counts or compares them"
MERGED = "equal texts are one sample, so a weight of 2 is not a text that is there twice"
A_LIST = "predict_proba is a list with a table for each trait, as that of MultiOutputClassifier"
EXPECTED = {
    "check_n_features_in": NO_COLUMNS,
    "check_n_features_in_after_fitting": NO_COLUMNS,
    "check_classifiers_train": f"its other steps pass; {NO_COLUMNS}",
    "check_transformer_general": f"its other steps pass; {NO_COLUMNS}",
    "check_estimators_empty_data_messages": "a row without numbers is a blank text, and the error says so",
    "check_fit2d_predict1d": "a list of texts has one dimension, so there is nothing to reshape",
    "check_estimators_nan_inf": "nan and inf are words like others",
    "check_complex_data": "the table that is written as texts here has real numbers",
    "check_sample_weight_equivalence_on_dense_data": MERGED,
}
OF_CARDS = {"check_methods_sample_order_invariance": A_LIST}


def words(X: Any) -> Any:
    """Each row of a table as a text, with a word for each number; a list stays."""
    if hasattr(X, "toarray"):
        raise TypeError("Sparse tables of numbers cannot be written as texts.")
    rows = np.asarray(X)
    if rows.ndim != 2:
        return X
    numbers = rows.astype(np.float64).tolist()
    return [" ".join(_word(at, number) for at, number in enumerate(row)) for row in numbers]


def _word(column: int, number: float) -> str:
    """Equal for numbers that differ by less than a half."""
    size = round(2 * abs(number)) if np.isfinite(number) else number
    return f"{'abcdefghijklmnopqrstuvwxyz'[column % 26]}{'up' if number > 0 else 'down'}{size}"


def two_sides(y: Any) -> Any:
    """Labels of any kind as two: the checks give three classes to whatever is no classifier."""
    return None if y is None else (np.asarray(y) > np.asarray(y).min()).astype(int)


def of_numbers(kind: type, labels: Callable[[Any], Any] = lambda y: y) -> Any:
    """The estimator for tables of numbers."""

    def reading(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def read(self: Any, X: Any, *targets: Any, **more: Any) -> Any:
            given = {name: labels(value) if name == "y" else value for name, value in more.items()}
            return method(self, words(X), *map(labels, targets[:1]), *targets[1:], **given)

        return read

    def tags(self: Any) -> Tags:
        own: Tags = kind.__sklearn_tags__(self)  # type: ignore[attr-defined]
        own.input_tags = InputTags()
        return own

    methods = {name: reading(getattr(kind, name)) for name in METHODS}
    return type(f"{kind.__name__}OfNumbers", (kind,), {**methods, "__sklearn_tags__": tags, "__module__": __name__})


ScorerOfNumbers = of_numbers(tb.Scorer)
ScoreCardOfNumbers = of_numbers(tb.ScoreCard, two_sides)


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        ScorerOfNumbers(encoder="ngrams", effort="low"),
        ScoreCardOfNumbers({"warmth": ("cold", "warm")}, encoder="ngrams", effort="low"),
    ],
    expected_failed_checks=lambda each: EXPECTED | (OF_CARDS if isinstance(each, tb.ScoreCard) else {}),
    xfail_strict=True,
)
def test_a_common_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
