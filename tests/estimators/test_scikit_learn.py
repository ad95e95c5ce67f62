"""The estimators follow scikit-learn's conventions: labels and texts of any kind, weights, and its tools around."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

import traitbench as tb
from tests.estimators.conftest import NAMES, TEXTS, score_card, scorer

QUALITIES = [1.0] * 8 + [0.0] * 8


def test_tags_say_that_the_input_is_text() -> None:
    for each in (tb.Scorer(), tb.ScoreCard()):
        tags = get_tags(each)
        assert (tags.input_tags.string, tags.input_tags.two_d_array, tags.requires_fit) == (True, False, True)
    assert get_tags(tb.Scorer()).estimator_type == "classifier"


def test_labels_come_out_as_they_went_in(fitted: tb.Scorer) -> None:
    assert fitted.predict(TEXTS).tolist() == NAMES
    assert fitted.classes_.tolist() == ["cold", "warm"]
    by_number = scorer().fit(TEXTS, [int(quality) for quality in QUALITIES])
    assert by_number.predict(TEXTS).tolist() == QUALITIES
    assert by_number.classes_.dtype == int
    graded = scorer().fit(TEXTS, [0.9 if quality else 0.2 for quality in QUALITIES])
    assert graded.predict(TEXTS).tolist() == QUALITIES
    assert by_number.param_hash_ == fitted.param_hash_ != graded.param_hash_


@pytest.mark.parametrize(
    ("low", "high", "poles"),
    [
        ("ham", "spam", ("ham", "spam")),
        (np.str_("a"), np.str_("b"), ("a", "b")),
        (1, 2, ("1", "2")),
        (-1.0, 1.0, ("-1", "1")),
        (np.int8(-1), np.int8(0), ("-1", "0")),
        (0, 1, ("negative", "positive")),
        (False, True, ("negative", "positive")),
    ],
)
def test_without_poles_two_classes_of_any_kind_are_in_sorted_order(
    low: Any, high: Any, poles: tuple[str, str], tmp_path: Path
) -> None:
    y = [high] * 8 + [low] * 8
    for labels in (y, np.array(y), np.array(y, object), pd.Series(y), pl.Series(y)):
        own = scorer(poles=None).fit(TEXTS, labels)
        assert (own.classes_.tolist(), own.poles_) == ([low, high], poles)
        assert own.predict(TEXTS).tolist() == y
        assert own.score(TEXTS, labels) == 1.0
    assert own.classes_.dtype.kind == np.array([low, high]).dtype.kind
    own.save(tmp_path / "own.json")
    loaded = tb.Scorer.load(tmp_path / "own.json")
    assert loaded.predict(TEXTS).tolist() == y
    assert loaded.score(TEXTS, y) == 1.0
    assert tb.share(TEXTS, dict(enumerate(y)), scorer=loaded, seed=1).share.labelled == 16


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b", "c"], "Only binary classification is supported. The type of the target is multiclass"),
        ([1, 2, 3], "Only binary classification is supported. The type of the target is multiclass"),
        ([1.5, 2.0, 0.0], "Unknown label type: continuous"),
        (["a", "a", "a"], "only one class is present: all labels are 'a'"),
        (["a", "b", None], "Row 2: the label is missing"),
        ([1, 2, float("nan")], "Row 2: the label is missing"),
        ([1, 2, float("inf")], "Row 2: inf is not a label"),
        (["a", "b", 1], "Row 2: 1 is not a label. Use two names, or two numbers"),
    ],
)
def test_without_poles_other_than_two_classes_are_refused(labels: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        scorer(poles=None).fit(TEXTS[:3], labels)


def test_a_fit_without_poles_scores_labels_of_its_classes_only() -> None:
    own = scorer(poles=None).fit(TEXTS, [1 + quality for quality in QUALITIES])
    with pytest.raises(ValueError, match=re.escape("Row 1: 0.0 is not a label. Use 1.0 and 2.0.")):
        own.score(TEXTS[:2], [1.0, 0.0])
    assert own.label(TEXTS[:2], queue="random").scorer.poles == ("1", "2")


def test_scikit_learn_measures_poles_right_whatever_the_order_of_their_names() -> None:
    poles = ("warm", "cold")  # the alphabet has the positive pole first
    other = scorer(poles=poles).fit(TEXTS, ["cold" if name == "warm" else "warm" for name in NAMES])
    assert other.classes_.tolist() == ["cold", "warm"]
    labels = other.predict(TEXTS)
    assert roc_auc_score(labels, other.decision_function(TEXTS)) == 1.0
    assert roc_auc_score(labels, other.predict_proba(TEXTS)[:, 1]) == 1.0
    assert (other.score_texts(TEXTS) > 50).tolist() == (labels == "cold").tolist()


def test_the_methods_agree_with_each_other(fitted: tb.Scorer) -> None:
    chances = fitted.predict_proba(TEXTS)
    assert np.allclose(chances.sum(axis=1), 1)
    assert ((fitted.decision_function(TEXTS) > 0) == (chances[:, 1] > 0.5)).all()
    assert (fitted.score_texts(TEXTS) == np.floor(100 * chances[:, 1] + 0.5)).all()
    assert np.allclose(fitted.transform(TEXTS)[:, 0], 100 * chances[:, 1])
    assert fitted.score(TEXTS, NAMES) == 1.0
    assert fitted.score(TEXTS, [*NAMES[:15], "warm"]) == 15 / 16
    assert fitted.score(TEXTS, [*NAMES[:15], "warm"], sample_weight=[1.0] * 15 + [0.0]) == 1.0


def test_the_order_of_the_texts_does_not_matter(fitted: tb.Scorer) -> None:
    order = np.random.default_rng(1).permutation(len(TEXTS))
    shuffled = scorer().fit([TEXTS[row] for row in order], [NAMES[row] for row in order])
    assert shuffled.param_hash_ == fitted.param_hash_
    assert shuffled.score_texts(TEXTS[:3]).tolist() == fitted.score_texts(TEXTS)[:3].tolist()


def test_before_a_fit_every_method_says_so(tmp_path: Any) -> None:
    for estimator in (scorer(), card()):
        for method in ("predict", "predict_proba", "score_texts", "transform", "cards"):
            with pytest.raises(NotFittedError, match="not fitted yet"):
                getattr(estimator, method)(TEXTS)
        with pytest.raises(NotFittedError):
            estimator.save(tmp_path / "nothing.json")
    assert not hasattr(scorer(), "auroc_")


def test_cross_validation_grid_search_and_pipelines() -> None:
    assert cross_val_score(scorer(), TEXTS, NAMES, cv=2).shape == (2,)
    assert cross_val_score(scorer(), TEXTS, QUALITIES, cv=2, scoring="roc_auc").mean() > 0.5
    assert cross_val_score(scorer(), TEXTS, NAMES, cv=2, scoring="neg_log_loss").mean() > -0.7
    assert cross_val_predict(scorer(), TEXTS, NAMES, cv=2, method="predict_proba").shape == (16, 2)
    pipeline = make_pipeline(FunctionTransformer(lambda texts: [text.lower() for text in texts]), scorer())
    search = GridSearchCV(pipeline, {"scorer__use_labels": [True, False], "scorer__max_depth": [1, 3]}, cv=2)
    search.fit(TEXTS, NAMES)
    assert set(search.predict(TEXTS)) == {"cold", "warm"}


def test_groups_are_passed_as_scikit_learn_passes_them() -> None:
    groups = [number // 2 for number in range(16)]
    fitted = scorer().fit(TEXTS, NAMES, groups=groups)
    assert "in 8 groups" in fitted.metrics_["traits"]["warmth"]["measured_on"]
    card = score_card(warmth=("cold", "warm"), manners=("rude", "polite"))
    card.fit(TEXTS, {"warmth": NAMES, "manners": QUALITIES}, groups=pd.Series(groups))
    assert all("in 8 groups" in each["measured_on"] for each in card.metrics_["traits"].values())
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(scorer().set_fit_request(groups=True))
        areas = cross_val_score(routed, TEXTS, QUALITIES, cv=GroupKFold(2), params={"groups": groups})
    assert areas.shape == (2,)


def test_a_weight_counts_within_its_pole_and_a_weight_of_zero_leaves_a_text_out(fitted: tb.Scorer) -> None:
    weights = np.ones(16)
    assert scorer().fit(TEXTS, NAMES, 3 * weights).param_hash_ == fitted.param_hash_
    weights[[0, 15]] = 0
    without = scorer().fit(TEXTS[1:15], NAMES[1:15])
    assert scorer().fit(TEXTS, NAMES, sample_weight=weights).param_hash_ == without.param_hash_
    heavy = scorer().fit(TEXTS, NAMES, sample_weight=pd.Series([20.0] + [1.0] * 15))
    pair = ["Thank you so much!", "Warm regards, always."]
    assert -np.diff(heavy.decision_function(pair)) > -np.diff(fitted.decision_function(pair)) + 0.5
    assert fitted.param_hash_ != heavy.param_hash_
    double = scorer().fit(TEXTS, NAMES, sample_weight=[40.0] + [2.0] * 15)
    assert np.allclose(double.decision_function(TEXTS), heavy.decision_function(TEXTS))


def test_many_texts_are_left_out_by_folds_if_their_weights_differ() -> None:
    rng = np.random.default_rng(1)
    texts = [f"{' '.join(rng.choice(['dear', 'kind', 'form', 'due'], 4))} {number}" for number in range(300)]
    y = ["warm" if "dear" in text else "cold" for text in texts]
    measured = [
        scorer().fit(texts, y, sample_weight=weights).metrics_["traits"]["warmth"]["measured_on"]
        for weights in (None, rng.uniform(1, 2, 300))
    ]
    assert "leave-one-out" in measured[0]
    assert "folds" in measured[1]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "sample_weight has the shape (1,). Pass one number for each of 16 texts"),
        ([-1.0] * 16, "Row 0: -1.0 is not a weight"),
        ([1.0] * 15 + [float("nan")], "Row 15: nan is not a weight"),
        ([0] * 16, "All values of sample_weight are zero"),
        ([1] * 8 + [0] * 8, "no text has the label 'cold' and a sample_weight above 0"),
    ],
)
def test_what_cannot_be_a_weight_is_named(weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        scorer().fit(TEXTS, NAMES, sample_weight=weights)
    with pytest.raises(ValueError, match=re.escape(message)):
        score_card(warmth=("cold", "warm")).fit(TEXTS, {"warmth": NAMES}, sample_weight=weights)


@pytest.mark.parametrize("groups", [[None, float("nan"), *[""] * 14], None])
def test_texts_that_belong_to_nothing_are_fitted_as_without_groups(fitted: tb.Scorer, groups: Any) -> None:
    assert scorer().fit(TEXTS, NAMES, groups=groups).param_hash_ == fitted.param_hash_


def test_groups_of_other_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="There are 3 groups for 16 texts"):
        scorer().fit(TEXTS, NAMES, groups=["a", "b", "c"])


def test_scores_are_features_for_other_estimators() -> None:
    union = make_union(scorer(), scorer("manners", poles=("rude", "polite")))
    with pytest.raises(ValueError, match="Row 0: 'warm' is not a label"):
        union.fit(TEXTS, NAMES)
    both = make_pipeline(union, LogisticRegression()).fit(TEXTS, QUALITIES)
    assert both[:-1].get_feature_names_out().tolist() == ["scorer-1__warmth", "scorer-2__manners"]
    assert both.predict(TEXTS).tolist() == QUALITIES


def test_output_as_pandas_keeps_the_index() -> None:
    series = pd.Series(TEXTS, index=[f"row {number}" for number in range(16)])
    frame = scorer().fit(series, NAMES).set_output(transform="pandas").transform(series)
    assert (frame.columns.tolist(), frame.index.tolist()) == (["warmth"], series.index.tolist())


def test_pickled_and_cloned_estimators_score_the_same(fitted: tb.Scorer, tmp_path: Any) -> None:
    assert pickle.loads(pickle.dumps(fitted)).score_texts(TEXTS).tolist() == fitted.score_texts(TEXTS).tolist()
    joblib.dump(fitted, tmp_path / "scorer.joblib")
    assert joblib.load(tmp_path / "scorer.joblib").param_hash_ == fitted.param_hash_
    assert not any(text.encode() in pickle.dumps(fitted) for text in TEXTS)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert copy.fit(TEXTS, NAMES).param_hash_ == fitted.param_hash_


class AsArray:
    """Nothing but `__array__`, as of a lazy column."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype)


@pytest.mark.parametrize(
    "texts",
    [
        np.array(TEXTS),
        AsArray(TEXTS),
        np.array(TEXTS, object)[:, np.newaxis],
        tuple(TEXTS),
        pd.Series(TEXTS),
        pd.DataFrame({"text": TEXTS}),
        pl.Series(TEXTS),
        pl.DataFrame({"text": TEXTS}),
        pa.chunked_array([TEXTS]),
        pa.table({"text": TEXTS}),
    ],
    ids=lambda texts: f"{type(texts).__module__.partition('.')[0]}.{type(texts).__name__}",
)
def test_texts_may_come_as_any_column(fitted: tb.Scorer, texts: Any) -> None:
    own = scorer().fit(texts, NAMES)
    assert own.param_hash_ == fitted.param_hash_
    assert own.score_texts(texts).tolist() == fitted.score_texts(TEXTS).tolist()
    assert getattr(own, "feature_names_in_", np.array(["text"])).tolist() == ["text"]


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, pa.array, AsArray])
def test_labels_may_come_as_any_column(fitted: tb.Scorer, kind: Callable[[list[Any]], Any]) -> None:
    assert scorer().fit(TEXTS, kind(NAMES)).param_hash_ == fitted.param_hash_
    assert scorer().fit(TEXTS, kind(QUALITIES)).param_hash_ == fitted.param_hash_
    assert scorer().fit(TEXTS, kind(NAMES), groups=kind([*range(16)])).n_samples_ == 16


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        ("one text", ["warm"], "not a single str"),
        ({"one": 1, "two": 0}, [1, 0], "not as dict"),
        ({"one", "two"}, [1, 0], "not as set"),
        ([], [], "Found array with 0 sample(s)"),
        (["a", None], [1, 0], "Row 1: the text is missing"),
        (["a", float("nan")], [1, 0], "Row 1: the text is missing"),
        (["a", " \n"], [1, 0], "Row 1: the text is blank"),
        (["a", 7], [1, 0], "Row 1: a text is needed, not int"),
        (["a", b"b"], [1, 0], "Row 1: a text is needed, not bytes"),
        (["a", "\ud800"], [1, 0], "Row 1: the text has half of a surrogate pair"),
        (["a", "b\0"], [1, 0], "Row 1: the text has the character U+0000"),
        (["a", "b" * 50_001], [1, 0], "Row 1: the text has 50,001 characters"),
        (pd.DataFrame({"a": ["a"], "b": ["b"]}), [1], "The frame has 2 columns"),
        (np.array([["a", "b"]]), [1], "Expected 1D array of texts"),
        (["a", "b"], None, "requires y to be passed"),
        (["a", "b"], [1, 0, 1], "inconsistent numbers of samples"),
        (["a", "b"], ["warm", "hot"], "Row 1: 'hot' is not a label. Use 'cold' and 'warm', or numbers from 0 (cold)"),
        (["a", "b"], [1, -1], "Row 1: -1 is not a label"),
        (["a", "b"], [1, float("nan")], "Row 1: the label is missing"),
        (["a", "b"], ["warm", None], "Row 1: the label is missing"),
        (["a", "b"], [1, "warm"], "Row 0: 1 is a number among names of poles"),
        (["a", "b"], ["warm", "warm"], "no text has the label 'cold'"),
        (["a", "b"], [0.5, 0.4], "no text has the label 'warm'"),
    ],
)
def test_bad_input_is_named_by_its_row(texts: Any, labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        scorer().fit(texts, labels)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"poles": ("warm", "warm")}, "Both poles are named 'warm'"),
        ({"poles": "cold"}, "Pass two names, the negative pole first"),
        ({"poles": ("cold", " ")}, "positive_label"),
        ({"effort": "hig"}, "The parameter 'effort' is 'hig'. Use one of: 'low', 'medium', 'high', 'max'."),
        ({"max_depth": 4}, "The parameter 'max_depth' is 4"),
        ({"aggregation": "median"}, "aggregation"),
        ({"encoder": "nothing"}, "There is no encoder 'nothing'"),
        ({"key": "a b"}, "key"),
        ({"trait": "!"}, "no letter or digit"),
    ],
)
def test_a_bad_parameter_is_named_when_it_is_used(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        scorer().set_params(**given).fit(TEXTS, NAMES)


# ---- several traits ----------------------------------------------------------------------------------------------


def card() -> tb.ScoreCard:
    return score_card(warmth=("cold", "warm"), thanks=("none", "some"))


def test_a_score_card_reads_its_columns_by_key_or_name_or_place() -> None:
    thanks = [1.0, *[np.nan] * 7, *[0.0] * 8]
    by_name = card().fit(TEXTS, pd.DataFrame({"thanks": thanks, "warmth": QUALITIES}))
    by_place = card().fit(TEXTS, np.array([QUALITIES, thanks]).T)
    by_arrow = card().fit(TEXTS, pa.table({"warmth": NAMES, "thanks": [None if x != x else x for x in thanks]}))
    assert by_name.param_hash_ == by_place.param_hash_ == by_arrow.param_hash_
    assert by_name.n_samples_ == 16 + 9
    assert by_arrow.predict(TEXTS[:1]).tolist() == [["warm", 1]]
    assert by_name.predict_proba(TEXTS)[1].shape == (16, 2)
    assert by_name.score(TEXTS, {"warmth": QUALITIES, "thanks": thanks}) == 1.0
    assert set(by_name.auroc_) == set(by_name.explain(TEXTS[0])) == {"warmth", "thanks"}
    odds = by_name.decision_function(TEXTS)
    assert ((odds > 0) == np.stack([each[:, 1] > 0.5 for each in by_name.predict_proba(TEXTS)], axis=1)).all()
    frame = by_name.set_output(transform="pandas").transform(TEXTS)
    assert frame.columns.tolist() == ["warmth", "thanks"]


@pytest.mark.parametrize("dtype", [int, float, bool, object])
def test_a_score_card_answers_in_integers_so_metrics_of_several_labels_work(dtype: Any) -> None:
    y = np.array([QUALITIES, [1, 0] * 8]).T.astype(dtype)
    own = card().fit(TEXTS, y)
    assert own.predict(TEXTS).dtype.kind == ("b" if dtype is bool else "i")
    assert f1_score(y.astype(int), own.predict(TEXTS), average="macro") > 0.9
    mixed = np.random.default_rng(1).permutation(16)
    shuffled = [TEXTS[row] for row in mixed], y[mixed].astype(int)
    for scoring in ("f1_macro", "accuracy", None):
        assert cross_val_score(card(), *shuffled, cv=2, scoring=scoring).shape == (2,)


def test_a_score_card_of_names_answers_with_texts() -> None:
    named = score_card(warmth=("cold", "warm"), haste=("slow", "fast"))
    sides = named.fit(TEXTS, {"warmth": NAMES, "haste": ["slow", "fast"] * 8}).predict(TEXTS)
    assert (sides.dtype.kind, sides[0].tolist()) == ("U", ["warm", "slow"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "pass a column of labels for each trait"),
        ({"warmth": QUALITIES}, "y has no column for the trait 'thanks'"),
        ({"warmth": QUALITIES, "thanks": QUALITIES, "x": QUALITIES}, "The column 'x' is the label of no trait"),
        (QUALITIES, "y needs a column for each of the 2 traits"),
        ({"warmth": QUALITIES, "thanks": [None] * 15 + [3]}, "Row 15: 3"),
        ({"warmth": QUALITIES, "thanks": [1] * 16}, "no text has the label 'none'"),
        ({"warmth": QUALITIES[:-1], "thanks": QUALITIES}, "inconsistent numbers of samples"),
    ],
)
def test_bad_labels_of_several_traits_are_named(labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        card().fit(TEXTS, labels)


def test_a_score_card_needs_traits_with_different_keys() -> None:
    with pytest.raises(ValueError, match="There are no traits"):
        tb.ScoreCard().fit(TEXTS, {})
    with pytest.raises(ValueError, match="Two traits have the key 'a_b'"):
        tb.ScoreCard({"A b": ("c", "d"), "a B": ("c", "d")}).fit(TEXTS, {})
