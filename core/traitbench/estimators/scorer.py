"""A scikit-learn classifier of texts on one trait."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from traitbench.contract.bundles import BundleInvalid
from traitbench.contract.explanations import Explanation
from traitbench.contract.models import DEFAULT_EFFORT
from traitbench.contract.samples import text_hash
from traitbench.display.scored_rows import UNNAMED
from traitbench.encoders import Encoder
from traitbench.estimators.displays import LearningCurve
from traitbench.estimators.fitted import Fitted
from traitbench.estimators.labels import Labels, chances, check_poles, log_odds, qualities_of, read_labels, sides
from traitbench.install import require
from traitbench.local import version_files
from traitbench.local.checks import Findings, check_samples, read_sources
from traitbench.local.samples import LocalSample, LocalTrait, local_trait, read_groups, read_weights
from traitbench.local.texts import column_name, read_texts
from traitbench.local.training import find_encoder, label_axes, settings_of
from traitbench.local.version import LocalVersion
from traitbench.scoring.card import in_points
from traitbench.settings import read_settings

if TYPE_CHECKING:
    from traitbench.estimators.label_widget import Labeller, Queue


class Scorer(Fitted, ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Score texts on one trait, from its negative pole (0) to its positive one (100).

    Trains as the service does: the same texts and labels give the same `param_hash_` and the same scores.

    Parameters
    ----------
    trait : str
        The name of the trait. Its words help a training with few texts.
    poles : (str, str) or None
        The names of the negative and of the positive pole. None: those of the two classes in `y`, in sorted order, or
        "negative" and "positive" if `y` has numbers from 0 to 1.
    description : str
        What the trait measures, in a sentence.
    key : str or None
        The key of the trait, by default made from its name.
    aggregation : "mean", "max", "min" or "none"
        How the scores of a text's parts are combined if `max_depth` is above 1.
    effort : "low", "medium", "high" or "max"
        How many settings a training tries.
    use_labels : bool
        Whether a training also uses the words of the trait and its poles.
    scoring_method : "balanced_cosine"
        The scoring method.
    max_depth : 1, 2 or 3
        1 scores a text as a whole, 2 by paragraph, 3 by sentence.
    encoder : str or None
        The name or folder of an encoder, by default that of `TRAITBENCH_ENCODER` or the best one installed.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels that `predict` answers with, sorted and of the type of `y`: both classes or names of the poles, or 0
        and 1 if `y` had qualities.
    poles_ : (str, str)
        The names of the negative and of the positive pole.
    auroc_, auroc_interval_ : float and (float, float), or None
        How well the scores of texts that the fit did not see tell the poles apart, with the 95 % interval.
    learning_curve_ : LearningCurve
        How good fewer samples would have been, and a forecast for more.
    snapshot_, param_hash_, metrics_, n_samples_, fitted_at_
        Parameters, their hash, all figures, the number of labels, and the time of the training.
    feature_names_in_ : ndarray of shape (1,)
        The name of the column, if `X` was a frame with one column.

    Examples
    --------
    >>> import traitbench as tb
    >>> texts = ["Thank you so much!", "How kind of you.", "Send the form.", "Request denied."]
    >>> scorer = tb.Scorer("warmth", poles=("cold", "warm"), effort="low")
    >>> scorer.fit(texts, ["warm", "warm", "cold", "cold"]).predict(["Thanks, dear friend!"]).tolist()
    ['warm']
    """

    def __init__(
        self,
        trait: str = "trait",
        *,
        poles: tuple[str, str] | None = None,
        description: str = "",
        key: str | None = None,
        aggregation: str = "mean",
        effort: str = DEFAULT_EFFORT,
        use_labels: bool = True,
        scoring_method: str = "balanced_cosine",
        max_depth: int = 1,
        encoder: str | None = None,
    ) -> None:
        self.trait = trait
        self.poles = poles
        self.description = description
        self.key = key
        self.aggregation = aggregation
        self.effort = effort
        self.use_labels = use_labels
        self.scoring_method = scoring_method
        self.max_depth = max_depth
        self.encoder = encoder

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Train on texts with labels: names of the poles, or qualities from 0 (negative) to 1 (positive).

        Without `poles`, `y` may have any two classes. `sample_weight` (n,) says how much each text counts beside the
        others of its pole; both poles always weigh the same, and equal texts count once. A weight of 0 leaves a text
        out. Figures such as `auroc_` count every text alike.

        `groups` (n,) are equal for texts that belong together, such as those of a conversation or an author, None for a
        text that belongs to nothing: out-of-fold figures come from fits that saw no text of the group. To
        cross-validate the scorer itself, pass them to `GroupKFold` too. Raise `ValueError` that names the row of a text
        or a label that cannot be used.
        """
        texts = read_texts(X, to_train=True)
        labels = read_labels(y, self._given_poles())
        trait = self._local_trait(labels.poles)
        samples, weights = _samples(trait, texts, labels, groups), read_weights(sample_weight, texts)
        check_poles(labels.qualities, trait.poles, weights)
        self._train([trait], samples, weights.tolist())
        self.classes_, self.key_ = labels.classes, trait.key
        if (column := column_name(X)) is not None:
            self.feature_names_in_ = np.array([column], object)
        # As scikit-learn does: the name of an earlier fit does not describe this one.
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return (n,) the side of each text, as one of `classes_`."""
        positions = self._positions(X)[:, 0]
        return sides(positions, self.classes_, self.poles_)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return (n, 2) the chance of each of `classes_`, if both poles are equally common.

        It is the score before rounding: a sigmoid whose slope and offset were calibrated on texts that the fits did not
        see (Platt scaling). `metrics_` has its Brier score and its calibration error. A text unlike all samples has a
        number too; its card says that its side is less sure.
        """
        positions = self._positions(X)[:, 0]
        return chances(positions, self.classes_, self.poles_)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return (n,) the log odds of `classes_[1]`: above 0 where `predict` answers `classes_[1]`."""
        return log_odds(self._positions(X)[:, 0], self.classes_, self.poles_)

    def score_texts(self, X: Any) -> NDArray[np.int64]:
        """Return (n,) the scores as the service gives them: 0 is `poles[0]`, 100 is `poles[1]`."""
        return in_points(self._positions(X)[:, 0])

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return (n, 1) the scores from 0 to 100 before rounding, as a feature for other estimators."""
        return 100 * self._positions(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the name of the feature that `transform` makes: the key of the trait."""
        check_is_fitted(self)
        return np.array([self.key_], object)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of texts on the side of their label, leaving out labels of 0.5.

        For the AUROC, use `cross_val_score(..., scoring="roc_auc")`, or `auroc_` of the training.
        """
        # Imported here: a training needs no metrics of scikit-learn, and they take a tenth of a second.
        from sklearn.metrics import accuracy_score

        check_is_fitted(self)
        qualities = qualities_of(y, self.classes_, self.poles_)
        positive = self._positions(X)[:, 0] > 0.5
        check_consistent_length(positive, qualities, sample_weight)
        sided = qualities != 0.5
        if not sided.any():
            raise ValueError("All labels are 0.5, so no text has a side to be right about.")
        weights = None if sample_weight is None else np.asarray(sample_weight)[sided]
        return float(accuracy_score(qualities[sided] > 0.5, positive[sided], sample_weight=weights))

    def check(self, X: Any, y: Any, *, sources: Any = None, groups: Any = None) -> Findings:
        """Return what to check in labelled texts before a fit: shortcuts, labels that look wrong, duplicates.

        `sources` says where each text is from: an address, or any name of its source. `groups` are as for `fit`.
        """
        texts, labels = read_texts(X, to_train=True), read_labels(y, self._given_poles())
        trait = self._local_trait(labels.poles)
        own = _samples(trait, texts, labels, groups)
        return check_samples([trait], own, self.encoder, read_sources(sources, texts))

    def label(self, texts: Any, *, queue: "Queue" = "uncertain", labels: Any = None, blind: bool = False) -> "Labeller":
        """Return a widget for notebooks that labels texts by keys; its `samples` are the labelled texts.

        `queue` says which texts come first: "uncertain" (those that teach most), "random", "top" or "bottom" (the
        highest or the lowest scores). Without a fit, the words of the trait say which. `labels` are those that some
        texts have already, as for `fit`, with NaN or None for the others. `blind` hides scores, for a fair judgment.

        This scorer stays as it is: `scorer` of the widget is a copy, fitted again after each decision.
        """
        require("anywidget")
        from traitbench.estimators.label_widget import Labeller, scorer_learner

        judge = self if hasattr(self, "version_") else None
        trait = self._named_trait() if judge is None else self._own_trait()
        blank = clone(self).set_params(poles=trait.poles)
        learner = scorer_learner(trait, lambda: clone(blank), judge, self._labelling_encoder, self._label_axis)
        return Labeller(trait, learner, clone(blank), texts, queue=queue, labels=labels, blind=blind)

    def explain(self, text: str) -> Explanation:
        """Return why a text has its score: the contributions of its parts and words, which add up."""
        return self._explained(text)[self.key_]

    @property
    def auroc_(self) -> float | None:
        """The AUROC on texts that the fit did not see; None if a pole has fewer than two texts."""
        area: float | None = self._figures()["auroc"]
        return area

    @property
    def auroc_interval_(self) -> tuple[float, float] | None:
        """The 95 % interval of `auroc_`."""
        ends = self._figures()["auroc_interval"]
        return None if ends is None else (ends[0], ends[1])

    @property
    def learning_curve_(self) -> LearningCurve:
        """How good fewer samples would have been, and a forecast for more."""
        return LearningCurve.of(self._own_trait(), self._figures())

    @property
    def poles_(self) -> tuple[str, str]:
        """The names of the negative and of the positive pole at the fit, whatever parameters were set since."""
        return self._own_trait().poles

    def save(self, path: str | Path, *, handle: str | None = None) -> None:
        """Write the scorer as a bundle: JSON that `load` reads and that a service imports. It holds no text.

        `handle` is the name that the model gets in a service.
        """
        check_is_fitted(self)
        version_files.write(path, self.version_, {self.key_: self.classes_}, handle=handle)

    @classmethod
    def load(cls, path: str | Path, *, trait: str | None = None, version: str | None = None) -> Self:
        """Return the scorer in a file that `save` wrote, or in a model exported from a service.

        `trait` is the key or name of one of several traits; `version` is `vN` or a tag, by default the active one.
        Raise `BundleInvalid` (a `ValueError`) if the file was changed, and `ValueError` if its encoder is missing here.
        """
        saved, classes = version_files.read(path, version=version)
        own = _choose(saved, trait, path)
        scorer = cls(
            own.name,
            poles=own.poles,
            description=own.description,
            key=own.given_key,
            aggregation=own.aggregation,
            **vars(settings_of(saved)),
        )
        scorer._keep(saved)
        scorer.classes_ = classes.get(own.key, np.unique(np.array(own.poles)))
        scorer.key_ = own.key
        _ = scorer.loaded
        return scorer

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        assert tags.classifier_tags is not None
        tags.classifier_tags.multi_class = False
        return tags

    def trait_keys(self) -> list[str]:
        """Return the key of the trait, as a list of one."""
        return [self.key_]

    def _figures(self) -> dict[str, Any]:
        figures: dict[str, Any] = self.metrics_["traits"][self.key_]
        return figures

    def _labelling_encoder(self) -> Encoder:
        return self.loaded.encoder if hasattr(self, "version_") else find_encoder(self.encoder)

    def _label_axis(self) -> NDArray[np.float32] | None:
        axes = label_axes(self._labelling_encoder(), read_settings().cache)
        return axes.of(self._named_trait()) if self.use_labels else None

    def _own_trait(self) -> LocalTrait:
        return next(trait for trait in self.traits_ if trait.key == self.key_)

    def _given_poles(self) -> tuple[str, str] | None:
        return None if self.poles is None else self._local_trait(self.poles).poles

    def _named_trait(self) -> LocalTrait:
        return self._local_trait(UNNAMED if self.poles is None else self.poles)

    def _local_trait(self, poles: tuple[str, str]) -> LocalTrait:
        return local_trait(self.trait, poles, key=self.key, description=self.description, aggregation=self.aggregation)


def _samples(trait: LocalTrait, texts: Sequence[str], labels: Labels, groups: Any) -> list[LocalSample]:
    check_consistent_length(texts, labels.qualities)
    names = read_groups(groups, texts)
    return [
        LocalSample(row, trait.key, text, quality, text_hash(text), group=name)
        for row, (text, quality, name) in enumerate(zip(texts, labels.qualities.tolist(), names, strict=True))
    ]


def _choose(version: LocalVersion, trait: str | None, path: str | Path) -> LocalTrait:
    if trait is None and len(version.traits) == 1:
        return version.traits[0]
    known = ", ".join(each.key for each in version.traits)
    if trait is None:
        raise BundleInvalid(
            f"{path} has several traits: {known}. Choose one with Scorer.load(..., trait=...), or use ScoreCard.load."
        )
    for by in ("key", "name"):
        for each in version.traits:
            if getattr(each, by) == trait:
                return each
    raise BundleInvalid(f"{path} has no trait {trait!r}. It has: {known}.")
