"""What fitted estimators share: they are faces of a version in memory (`local.version`).

A fitted estimator holds no text. Its encoder is found again by its digest, so a pickled estimator scores on another
machine with the same numbers, or says which encoder is missing.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags, estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from traitbench.contract.explanations import Explanation
from traitbench.contract.fields import with_known
from traitbench.contract.scores import Card
from traitbench.display.scored_rows import poles_of
from traitbench.estimators.displays import fitted_html
from traitbench.fitting.collect import NO_WEIGHTS
from traitbench.local.samples import LocalSample, LocalTrait
from traitbench.local.texts import read_texts, scored_size
from traitbench.local.training import TrainingSettings, train
from traitbench.local.version import LocalVersion
from traitbench.scoring import card
from traitbench.scoring.snapshot import Snapshot


def _of_version(name: str) -> Any:
    """An attribute that is there once `version_` is."""
    return property(attrgetter(f"version_.{name}"))


class Fitted:
    """The fitted part of an estimator.

    Attributes after `fit` or `load`: `version_` is the trained version, `traits_` are its traits with their poles,
    `snapshot_` is everything that scoring needs. `param_hash_` is its hash as the service computes it, `metrics_` are
    the figures of the training, `n_samples_` the number of labels, and `fitted_at_` the time of the training.
    """

    effort: str
    use_labels: bool
    scoring_method: str
    max_depth: int
    encoder: str | None
    version_: LocalVersion

    traits_: Sequence[LocalTrait] = _of_version("traits")
    snapshot_: Snapshot = _of_version("snapshot")
    param_hash_: str = _of_version("param_hash")
    metrics_: dict[str, Any] = _of_version("metrics")
    n_samples_: int = _of_version("samples")
    fitted_at_: datetime = _of_version("finished_at")

    @property
    def loaded(self) -> LocalVersion:
        """The version with its encoder; raise `ValueError` if that is not installed here."""
        if self.version_.configured != self.encoder:
            self.version_ = replace(self.version_, configured=self.encoder)
        _ = self.version_.encoder
        return self.version_

    def check_fitted(self) -> None:
        """Raise `NotFittedError` before `fit` or `load`."""
        check_is_fitted(self)

    def trait_keys(self) -> list[str]:
        """Return the keys of the traits that this estimator scores."""
        return [trait.key for trait in self.traits_]

    def cards(self, X: Any) -> list[Card]:
        """Return the score card of each text, as the service gives it: score, tier, confidence and why."""
        check_is_fitted(self)
        poles = poles_of(self.traits_)
        return [with_known(card, poles=poles) for card in self.loaded.score(self.read(X), traits=self.trait_keys())]

    def read(self, X: Any) -> list[str]:
        """Return the texts; raise `ValueError` for the first that the service would not score."""
        return read_texts(X, too_large=scored_size(self.loaded.encoder.count_tokens))

    def _train(self, traits: Sequence[LocalTrait], samples: Sequence[LocalSample], weights: Sequence[float]) -> None:
        """Train on the samples (n) with a weight (n,) above 0."""
        used = {sample.id: weight for sample, weight in zip(samples, weights, strict=True) if weight}
        own = [sample for sample in samples if sample.id in used]
        unequal = used if len({*used.values()}) > 1 else NO_WEIGHTS
        settings = TrainingSettings(self.effort, self.use_labels, self.scoring_method, self.max_depth, self.encoder)
        self._keep(train(traits, own, settings, weights=unequal))

    def _keep(self, version: LocalVersion) -> None:
        self.version_ = replace(version, configured=self.encoder, keeps_vectors=True)

    def _html_repr(self) -> str:
        """The estimator in a notebook: after a fit its figures, and scikit-learn's diagram of its parameters."""
        diagram: str = estimator_html_repr(self)
        if not hasattr(self, "version_"):
            return diagram
        return fitted_html(type(self).__name__, self.version_, self.trait_keys(), diagram)

    def _explained(self, text: str) -> dict[str, Explanation]:
        """The explanations of a text by trait key."""
        check_is_fitted(self)
        if not isinstance(text, str):
            raise ValueError("explain takes one text, not a list.")
        if problem := self.loaded.problems([text])[0]:
            raise ValueError(f"This text cannot be explained: {problem}")
        reasons = self.loaded.explain(text)
        poles = poles_of(self.traits_)
        return {key: with_known(reasons[key].with_text(text), poles={key: poles[key]}) for key in self.trait_keys()}

    def _positions(self, X: Any) -> NDArray[np.float64]:
        """(n, n_traits): positions in 0..1, the scores before rounding."""
        check_is_fitted(self)
        placed = self.loaded.project(self.read(X))
        chosen = card.choose(self.snapshot_, self.trait_keys())
        return np.array([[each.positions[index] for index in chosen] for each in placed], np.float64)

    def __sklearn_tags__(self) -> Tags:
        # Defined by scikit-learn's BaseEstimator, which the estimators inherit beside this class.
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        return tags
