"""What fitted estimators share: they hold a snapshot, find its encoder, and place and explain texts with it.

A fitted estimator holds no text. Its encoder is found again by its digest, so a pickled estimator scores on another
machine with the same numbers, or says which encoder is missing.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from traitbench.contract.explanations import Explanation
from traitbench.contract.samples import text_hash
from traitbench.contract.scores import Card
from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.registry import load_encoder_of
from traitbench.estimators.display import fitted_html
from traitbench.local.texts import Problem, read_texts, scored_size, text_problem
from traitbench.local.training import LocalTraining, LocalTrait
from traitbench.local.vectors import vectors_of
from traitbench.scoring import card
from traitbench.scoring.explain import explain
from traitbench.scoring.repeats import shorten
from traitbench.scoring.snapshot import Snapshot, param_hash
from traitbench.settings import encoder_name, read_settings

_AT_ONCE = 512
_LOCAL = "local"
_NOT_COMPARED = "Similar samples are shown by the service only: an estimator holds no text."


class Fitted:
    """The fitted part of an estimator.

    Attributes after `fit` or `load`: `traits_` are the traits with their poles, `snapshot_` is everything that scoring
    needs, `param_hash_` its hash as the service computes it, `metrics_` the figures of the training, `n_samples_` the
    number of labels, and `fitted_at_` the time of the training.
    """

    encoder: str | None
    traits_: Sequence[LocalTrait]
    snapshot_: Snapshot
    param_hash_: str
    metrics_: dict[str, Any]
    n_samples_: int
    fitted_at_: datetime

    def _keep(self, training: LocalTraining) -> None:
        self.traits_, self.snapshot_, self.metrics_ = training.traits, training.snapshot, training.metrics
        self.param_hash_ = param_hash(training.snapshot)
        self.n_samples_, self.fitted_at_ = training.samples, training.finished_at

    def _training(self) -> LocalTraining:
        return LocalTraining(self.traits_, self.snapshot_, self.metrics_, self.n_samples_, self.fitted_at_)

    def check_fitted(self) -> None:
        """Raise `NotFittedError` before `fit` or `load`."""
        check_is_fitted(self)

    def trait_keys(self) -> list[str]:
        """Return the keys of the traits that this estimator scores."""
        return [trait.key for trait in self.traits_]

    def cards(self, X: Any) -> list[Card]:
        """Return the score card of each text, as the service gives it: score, tier, confidence and why."""
        check_is_fitted(self)
        texts = self.read(X)
        snapshot, encoder, chosen = (
            self.snapshot_,
            self.loaded_encoder(),
            card.choose(self.snapshot_, self.trait_keys()),
        )
        metadata = {"request_id": _LOCAL, "version_id": self.param_hash_, "sample_ids": []}
        return [
            Card.model_validate(
                {
                    **card.read(snapshot, chosen, placed).to_wire(),
                    "input_tokens": encoder.count_tokens(shorten(text).text),
                    "metadata": metadata,
                }
            )
            for text, placed in zip(texts, self.placed(texts), strict=True)
        ]

    def _html_repr(self) -> str:
        """The estimator in a notebook: its figures, or before a fit scikit-learn's diagram of its parameters."""
        if not hasattr(self, "snapshot_"):
            diagram: str = estimator_html_repr(self)
            return diagram
        return fitted_html(type(self).__name__, self._training(), self.param_hash_, self.trait_keys())

    def _explained(self, text: str) -> dict[str, Explanation]:
        """The explanations of a text by trait key."""
        check_is_fitted(self)
        if not isinstance(text, str):
            raise ValueError("explain takes one text, not a list.")
        if problem := self.problems([text])[0]:
            raise ValueError(f"This text cannot be explained: {problem}")
        left = {"nearest": None, "note": _NOT_COMPARED}
        reasons = explain(self.snapshot_, self.loaded_encoder().encode, text).traits
        return {
            key: Explanation.model_validate(reasons[key].to_wire() | left).with_text(text) for key in self.trait_keys()
        }

    def _positions(self, X: Any) -> NDArray[np.float64]:
        """(n, n_traits): positions in 0..1, the scores before rounding."""
        check_is_fitted(self)
        placed = self.placed(self.read(X))
        chosen = card.choose(self.snapshot_, self.trait_keys())
        return np.array([[each.positions[place] for place in chosen] for each in placed], np.float64)

    def problems(self, texts: Sequence[Any]) -> list[Problem]:
        """Return what is wrong with each text, for which the service would refuse it; None if nothing is."""
        too_large = scored_size(self.loaded_encoder().count_tokens)
        return [text_problem(text) or too_large(text) for text in texts]

    def read(self, X: Any) -> list[str]:
        """Return the texts; raise `ValueError` for the first that the service would not score."""
        return read_texts(X, too_large=scored_size(self.loaded_encoder().count_tokens))

    def placed(self, texts: Sequence[str]) -> list[card.Placed]:
        """Return the positions of checked texts on all traits of the snapshot."""
        encoder, distinct = self.loaded_encoder(), list(dict.fromkeys(texts))
        placed = dict(zip(distinct, _in_turns(self.snapshot_, encoder, distinct), strict=True))
        return [placed[text] for text in texts]

    def loaded_encoder(self) -> Encoder:
        """Return the encoder of the training; raise `ValueError` if it is not installed here."""
        settings = read_settings()
        configured = encoder_name(self.encoder) if self.encoder else settings.encoder
        try:
            return load_encoder_of(self.snapshot_.encoder, configured=configured, cache=settings.cache)
        except EncoderUnavailable as error:
            raise ValueError(str(error)) from error


def _in_turns(snapshot: Snapshot, encoder: Encoder, texts: Sequence[str]) -> Iterator[card.Placed]:
    for first in range(0, len(texts), _AT_ONCE):
        some = texts[first : first + _AT_ONCE]
        if not card.is_scored_whole(snapshot):
            yield from card.place(snapshot, encoder.encode, some)
            continue
        keys = [text_hash(text) for text in some]
        known = vectors_of(encoder, dict(zip(keys, some, strict=True)))
        vectors = np.array([known[key] for key in keys], np.float32)
        yield from card.place_whole(snapshot, [shorten(text).text for text in some], vectors)
