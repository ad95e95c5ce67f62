"""What share of many texts is on a pole, from their scores and the labels of a few texts drawn at random."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from traitbench.analysis import corpus
from traitbench.estimators.labels import read_labels
from traitbench.estimators.score_card import ScoreCard
from traitbench.estimators.scorer import Scorer


def share(
    texts: Any,
    labels: Mapping[int, Any],
    *,
    scorer: Scorer | ScoreCard | str | Path,
    trait: str | None = None,
    pole: str | None = None,
    groups: Sequence[str] | None = None,
    stratified: bool = False,
    promised: float = corpus.PROMISED,
    seed: int | None = None,
) -> corpus.Answer:
    """Return what share of the texts is on a pole, with a 95 % interval, which counting scores cannot give.

    `labels` are those of texts drawn at random (`corpus.draw`) and labelled without looking at their scores, by row: a
    name of a pole, or a quality from 0 to 1. `trait` is the key or name of the trait if there are several. `pole` is
    the name of a pole, by default the positive one. The other arguments are those of `corpus.answer`.
    """
    fitted = Scorer.load(scorer, trait=trait) if isinstance(scorer, str | Path) else scorer
    fitted.check_fitted()
    at = _place(fitted, trait)
    negative, positive = fitted.traits_[at].poles
    wanted = positive if pole is None else pole
    if wanted not in (negative, positive):
        raise ValueError(f"{pole!r} is no pole of the scorer. Use {negative!r} or {positive!r}.")
    checked, rows = fitted.read(texts), list(labels)
    beyond = [row for row in rows if not 0 <= row < len(checked)]
    if beyond:
        raise ValueError(f"There is a label for row {beyond[0]}, but there are {len(checked):,} texts, counted from 0.")
    qualities = read_labels([labels[row] for row in rows], (negative, positive), rows=rows).qualities
    return corpus.answer(
        (fitted.score_texts(checked) if isinstance(fitted, Scorer) else fitted.score_texts(checked)[:, at]).tolist(),
        dict(zip(rows, qualities.tolist(), strict=True)),
        pole=wanted,
        positive=wanted == positive,
        groups=groups,
        stratified=stratified,
        promised=promised,
        seed=seed,
    )


def _place(fitted: Scorer | ScoreCard, trait: str | None) -> int:
    """The place of a trait among those of the fit; raise `ValueError` if it is unknown, or missing and needed."""
    scored = fitted.trait_keys()
    places = [
        place
        for place, each in enumerate(fitted.traits_)
        if each.key in scored and trait in (None, each.key, each.name)
    ]
    if len(places) != 1:
        known = ", ".join(map(repr, scored))
        raise ValueError(
            f"Name the trait: {known}." if trait is None else f"There is no trait {trait!r}, only {known}."
        )
    return places[0]
