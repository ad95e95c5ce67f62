"""A scikit-learn estimator of texts on several traits."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from traitbench.contract.explanations import Explanation
from traitbench.contract.models import DEFAULT_EFFORT
from traitbench.contract.samples import text_hash
from traitbench.contract.traits import TraitInput
from traitbench.estimators.displays import LearningCurve
from traitbench.estimators.fitted import Fitted
from traitbench.estimators.labels import Poles, chances, check_poles, labelled_columns, log_odds, read_labels, sides
from traitbench.local import version_files
from traitbench.local.checks import Findings, check_samples, read_sources
from traitbench.local.samples import LocalSample, LocalTrait, local_trait, read_groups, read_weights
from traitbench.local.texts import read_texts
from traitbench.local.training import settings_of
from traitbench.scoring.card import in_points

TraitSpec = tuple[str, str] | TraitInput


class ScoreCard(Fitted, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Score texts on several traits, as one model of the service does.

    Parameters
    ----------
    traits : mapping of str to (str, str) or TraitInput
        The poles of each trait by its name, the negative pole first. A `TraitInput` sets description, key and
        aggregation too.
    effort, use_labels, scoring_method, max_depth, encoder
        As for `Scorer`.

    Attributes
    ----------
    classes_ : list of ndarray of shape (2,)
        For each trait the labels that `predict` answers with: names of the poles, or the integers 0 and 1.
    auroc_, auroc_interval_, learning_curve_ : dict
        By trait key, as for `Scorer`.
    traits_, snapshot_, param_hash_, metrics_, n_samples_, fitted_at_
        As for `Scorer`.

    Examples
    --------
    >>> import traitbench as tb
    >>> texts = ["Thank you so much!", "How kind of you.", "Send the form.", "Request denied."]
    >>> card = tb.ScoreCard({"warmth": ("cold", "warm"), "refusal": ("granted", "refused")}, effort="low")
    >>> card = card.fit(texts, {"warmth": [1, 1, 0, 0], "refusal": [0, None, 0, 1]})
    >>> card.score_texts(["Thanks, dear friend!"]).shape
    (1, 2)
    """

    def __init__(
        self,
        traits: Mapping[str, TraitSpec] | None = None,
        *,
        effort: str = DEFAULT_EFFORT,
        use_labels: bool = True,
        scoring_method: str = "balanced_cosine",
        max_depth: int = 1,
        encoder: str | None = None,
    ) -> None:
        self.traits = traits
        self.effort = effort
        self.use_labels = use_labels
        self.scoring_method = scoring_method
        self.max_depth = max_depth
        self.encoder = encoder

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Train on texts with labels: a frame or a mapping with a column for each trait, or an array (n, n_traits).

        Columns are keys or names of traits, in any order. A missing label (NaN, None) means that the text is no sample
        of that trait. `sample_weight` and `groups` are as for `Scorer.fit`.
        """
        texts, traits = read_texts(X, to_train=True), self._local_traits()
        weights, used = read_weights(sample_weight, texts), list[float]()
        names = read_groups(groups, texts)
        columns = labelled_columns(y, traits)
        samples, classes = list[LocalSample](), []
        for trait, (rows, values) in zip(traits, columns, strict=True):
            labels = read_labels(values, trait.poles, rows=rows)
            check_poles(labels.qualities, trait.poles, weights[rows], of=f" (trait {trait.key})")
            # A column with missing labels has floats, but sklearn's metrics of several labels take integers.
            classes.append(labels.classes.astype(int) if labels.classes.dtype.kind == "f" else labels.classes)
            used += weights[rows].tolist()
            check_consistent_length(texts, next(iter(y.values())) if isinstance(y, Mapping) else y)
            samples += [
                LocalSample(
                    len(samples) + index, trait.key, texts[row], quality, text_hash(texts[row]), group=names[row]
                )
                for index, (row, quality) in enumerate(zip(rows, labels.qualities.tolist(), strict=True))
            ]
        self._train(traits, samples, used)
        self.classes_ = classes
        return self

    def check(self, X: Any, y: Any, *, sources: Any = None, groups: Any = None) -> Findings:
        """Return what to check in labelled texts before a fit, as `Scorer.check` does; the rest as for `fit`."""
        texts, traits, samples = read_texts(X, to_train=True), self._local_traits(), list[LocalSample]()
        names = read_groups(groups, texts)
        for trait, (rows, values) in zip(traits, labelled_columns(y, traits), strict=True):
            qualities = read_labels(values, trait.poles, rows=rows).qualities
            samples += [
                LocalSample(row, trait.key, texts[row], quality, text_hash(texts[row]), group=names[row])
                for row, quality in zip(rows, qualities.tolist(), strict=True)
            ]
        return check_samples(traits, samples, self.encoder, read_sources(sources, texts))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return (n, n_traits) the side of each text on each trait, as one of its `classes_`.

        They are integers if all labels were numbers, texts if all were names, else objects.
        """
        columns = self._by_trait(sides, self._positions(X))
        same_kind = len({column.dtype.kind == "U" for column in columns}) == 1
        return np.stack([column if same_kind else column.astype(object) for column in columns], axis=1)

    def predict_proba(self, X: Any) -> list[NDArray[np.float64]]:
        """Return for each trait (n, 2) the chances of its `classes_`, as `Scorer.predict_proba` does."""
        return self._by_trait(chances, self._positions(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return (n, n_traits) the log odds of the second of each trait's `classes_`, as `Scorer.decision_function`."""
        return np.stack(self._by_trait(log_odds, self._positions(X)), axis=1)

    def score_texts(self, X: Any) -> NDArray[np.int64]:
        """Return (n, n_traits) the scores from 0 to 100, as the service gives them."""
        return in_points(self._positions(X))

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return (n, n_traits) the scores from 0 to 100 before rounding, as features for other estimators."""
        return 100 * self._positions(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features that `transform` makes: the keys of the traits."""
        check_is_fitted(self)
        return np.array(self.trait_keys(), object)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of labels on whose side the score is. Labels of 0.5 have no side and are left out."""
        check_is_fitted(self)
        texts = self.read(X)
        weights, positive = read_weights(sample_weight, texts), self._positions(texts) > 0.5
        right = total = 0.0
        for at, (trait, (rows, values)) in enumerate(zip(self.traits_, labelled_columns(y, self.traits_), strict=True)):
            qualities = read_labels(values, trait.poles, rows=rows).qualities
            own = weights[rows] * (qualities != 0.5)
            right += float(own @ ((qualities > 0.5) == positive[rows, at]))
            total += float(own.sum())
        if not total:
            raise ValueError("There is no label with a side: all are missing or 0.5.")
        return right / total

    def explain(self, text: str) -> dict[str, Explanation]:
        """Return by trait key why a text has its score."""
        return self._explained(text)

    @property
    def auroc_(self) -> dict[str, float | None]:
        """By trait key, the AUROC on texts that the fit did not see; None if a pole has fewer than two texts."""
        return {key: self.metrics_["traits"][key]["auroc"] for key in self.trait_keys()}

    @property
    def auroc_interval_(self) -> dict[str, tuple[float, float] | None]:
        """By trait key, the 95 % interval of `auroc_`."""
        ends = {key: self.metrics_["traits"][key]["auroc_interval"] for key in self.trait_keys()}
        return {key: None if each is None else (each[0], each[1]) for key, each in ends.items()}

    @property
    def learning_curve_(self) -> dict[str, LearningCurve]:
        """By trait key, how good fewer samples would have been, and a forecast for more."""
        return {each.key: LearningCurve.of(each, self.metrics_["traits"][each.key]) for each in self.traits_}

    def save(self, path: str | Path, *, handle: str | None = None) -> None:
        """Write a bundle, as `Scorer.save` does."""
        check_is_fitted(self)
        classes = dict(zip(self.trait_keys(), self.classes_, strict=True))
        version_files.write(path, self.version_, classes, handle=handle)

    @classmethod
    def load(cls, path: str | Path, *, version: str | None = None) -> Self:
        """Return the score card in a file that `save` wrote, or in a model exported from a service.

        `version` is `vN` or a tag, by default the active one. Errors are those of `Scorer.load`.
        """
        saved, classes = version_files.read(path, version=version)
        traits = saved.traits
        given = {trait.name: TraitInput.model_validate(vars(trait) | {"key": trait.given_key}) for trait in traits}
        card = cls(given, **vars(settings_of(saved)))
        card._keep(saved)
        card.classes_ = [classes.get(trait.key, np.unique(np.array(trait.poles))) for trait in traits]
        _ = card.loaded
        return card

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _by_trait(
        self, answer: Callable[[NDArray[np.float64], NDArray[Any], Poles], NDArray[Any]], positions: NDArray[np.float64]
    ) -> list[NDArray[Any]]:
        """The answer for each trait, from its positions, its classes and its poles."""
        known = zip(self.classes_, self.traits_, strict=True)
        return [answer(positions[:, at], classes, trait.poles) for at, (classes, trait) in enumerate(known)]

    def _local_traits(self) -> list[LocalTrait]:
        if not self.traits:
            raise ValueError('There are no traits. Pass the poles of each: ScoreCard({"warmth": ("cold", "warm")}).')
        traits = [_local(name, given) for name, given in self.traits.items()]
        for one in traits:
            if sum(other.key == one.key for other in traits) > 1:
                raise ValueError(f"Two traits have the key {one.key!r}. Set `key` in a TraitInput.")
        return traits


def _local(name: str, given: TraitSpec) -> LocalTrait:
    if isinstance(given, TraitInput):
        return local_trait(
            given.name,
            (given.negative_label, given.positive_label),
            key=given.key,
            description=given.description,
            aggregation=given.aggregation,
        )
    return local_trait(name, given)
