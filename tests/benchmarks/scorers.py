"""The methods that are compared: the product in its ways, and what one would do without it.

A scorer takes texts with their qualities, texts to score, and the trait, and gives scores in 0..1. Each is also one for
the benchmark by which the project was specified: `--scorer tests.benchmarks.scorers:ours`, run in the project's folder.
Baselines that know two classes only take a quality above the middle for the positive one.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline, make_union

from tests.benchmarks import kept
from tests.scoring.positions import positions
from traitbench.fitting.fit import EncoderIdentity, Trained, TraitSamples, fit
from traitbench.local.training import label_axes
from traitbench.scoring.spelling import spelling
from traitbench.synthesis import TraitPoles
from traitbench.synthesis.label_axis import LabelAxes

Scores = Sequence[float]
Scorer = Callable[..., Scores]

DEFAULT_EFFORT = "high"
EFFORTS = ("low", "medium", "high", "max")


def ours(
    train: Sequence[str],
    quality: Sequence[float],
    test: Sequence[str],
    *,
    trait: Mapping[str, str],
    effort: str = DEFAULT_EFFORT,
    labels: bool = True,
    mode: str = "full",
    encoder: str | None = None,
    **_: Any,
) -> Scores:
    """The product: its encoder, its training, its score before rounding."""
    trained = fitted(train, quality, trait=trait, effort=effort, labels=labels, encoder=encoder)
    snapshot = trained.snapshot if mode == "full" else trained.snapshot.in_mode(mode)
    encode = partial(kept.encoded, name=encoder, mode=mode)
    return [float(score) for score in positions(snapshot, encode, test)[:, 0]]


def fitted(
    train: Sequence[str],
    quality: Sequence[float],
    *,
    trait: Mapping[str, str],
    effort: str = DEFAULT_EFFORT,
    labels: bool = True,
    encoder: str | None = None,
    groups: Sequence[str] | None = None,
    synthesized: int = 0,
) -> Trained:
    """What the product's training gives; asked again for the last few, at once.

    Texts of one group are held out together: each text for itself if None. The last `synthesized` texts are made.
    """
    texts = tuple(train)
    return _fitted(
        texts,
        tuple(map(float, quality)),
        tuple(trait.items()),
        effort,
        labels,
        encoder,
        tuple(groups or texts),
        synthesized,
    )


@lru_cache(maxsize=16)
def _fitted(
    train: tuple[str, ...],
    quality: tuple[float, ...],
    trait: tuple[tuple[str, str], ...],
    effort: str,
    labels: bool,
    name: str | None,
    groups: tuple[str, ...],
    synthesized: int,
) -> Trained:
    result, encoder = dict(trait), kept.encoder(name)
    samples = TraitSamples(
        key="trait",
        name=result["name"],
        positive_label=result["positive_label"],
        negative_label=result["negative_label"],
        aggregation="mean",
        X=kept.vectors(train, name),
        y=np.array(quality, np.float64),
        groups=[hashlib.sha256(group.encode()).hexdigest() for group in groups],
        synthesized=np.arange(len(train)) >= len(train) - synthesized,
        label_axis=label_axis(result, name) if labels else None,
        spellings=spelling(train),
    )
    identity = EncoderIdentity(encoder.id, encoder.dimension, encoder.digest)
    return fit(
        [samples], encoder=identity, scoring_method="balanced_cosine", max_depth=1, effort=effort, modes=encoder.modes
    )


def label_axis(trait: Mapping[str, str], encoder: str | None = None) -> Any:
    """The label axis of a trait (d,), or None."""
    poles = trait["name"], trait["positive_label"], trait["negative_label"], trait.get("description", "")
    return _label_axes(encoder).of(TraitPoles("", *poles))


@cache
def _label_axes(name: str | None) -> LabelAxes:
    return label_axes(kept.encoder(name), kept.FOLDER)


# ---- baselines -----------------------------------------------------------------------------------------------------


def logistic_published(train: Sequence[str], quality: Sequence[float], test: Sequence[str], **_: Any) -> Scores:
    """Logistic regression on the published sentence vector."""
    return _by_classes(LogisticRegression(max_iter=2_000), kept.published, train, quality, test)


def logistic_ours(train: Sequence[str], quality: Sequence[float], test: Sequence[str], **_: Any) -> Scores:
    """Logistic regression on the product's vectors."""
    return _by_classes(LogisticRegression(C=10, max_iter=2_000), kept.vectors, train, quality, test)


def logistic_cv_ours(train: Sequence[str], quality: Sequence[float], test: Sequence[str], **_: Any) -> Scores:
    """The same, its strength chosen among ten by cross-validation."""
    folds = min(5, len(train) // 2)
    made = LogisticRegressionCV(
        Cs=10, cv=folds, max_iter=2_000, scoring="accuracy", l1_ratios=(0.0,), use_legacy_attributes=False
    )
    return _by_classes(made, kept.vectors, train, quality, test)


def neighbours_published(train: Sequence[str], quality: Sequence[float], test: Sequence[str], **_: Any) -> Scores:
    """The nearest samples by the published sentence vector, how many chosen by cross-validation."""
    folds = min(5, len(train) // 2)
    most = len(train) * (folds - 1) // folds
    grid = {"n_neighbors": [count for count in (1, 3, 5, 7, 11, 15, 25, 45) if count <= most]}
    made = GridSearchCV(KNeighborsClassifier(weights="distance"), grid, cv=folds, scoring="roc_auc")
    return _by_classes(made, kept.published, train, quality, test)


def words(train: Sequence[str], quality: Sequence[float], test: Sequence[str], **_: Any) -> Scores:
    """Logistic regression on what words and letters occur: single words and pairs, three to five letters in a row."""
    features = make_union(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True),
    )
    made = make_pipeline(features, LogisticRegression(C=10, max_iter=2_000))
    return _by_classes(made, list, train, quality, test)


def _by_classes(
    made: Any, seen: Callable[[Sequence[str]], Any], train: Sequence[str], quality: Sequence[float], test: Sequence[str]
) -> Scores:
    trained = made.fit(seen(train), np.array(quality) > 0.5)
    return [float(score) for score in trained.predict_proba(seen(test))[:, 1]]


# ---- the table -----------------------------------------------------------------------------------------------------

OURS = "ours"
NO_LABELS = "ours, labels unused"
LEVELS = {level: OURS if level == DEFAULT_EFFORT else f"ours, effort {level}" for level in EFFORTS}
"""What the product is called at each effort."""

METHODS: Mapping[str, Scorer] = {
    OURS: ours,
    NO_LABELS: partial(ours, labels=False),
    **{name: partial(ours, effort=level) for level, name in LEVELS.items() if name != OURS},
    "ours, mode layer6": partial(ours, mode="layer6"),
    "ours, mode static": partial(ours, mode="static"),
    "ours, encoder static": partial(ours, encoder="static"),
    "LogisticRegression, our vectors": logistic_ours,
    "LogisticRegressionCV, our vectors": logistic_cv_ours,
    "LogisticRegression, published vectors": logistic_published,
    "kNN, published vectors": neighbours_published,
    "LogisticRegression, TF-IDF": words,
}
BASELINES = tuple(name for name in METHODS if not name.startswith(OURS))
