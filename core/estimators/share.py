"""What share of many texts is on a pole, from their scores and the labels of a few texts drawn at random."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from traitbench import corpus
from traitbench.estimators.labels import read_labels
from traitbench.estimators.scorer import Scorer
from traitbench.estimators.texts import read_texts


def share(
    texts: Any,
    labels: Mapping[int, Any],
    *,
    scorer: Scorer | str | Path,
    pole: str | None = None,
    groups: Sequence[str] | None = None,
    stratified: bool = False,
    promised: float = corpus.PROMISED,
    seed: int | None = None,
) -> corpus.Answer:
    """Return what share of the texts is on a pole, with a 95 % interval, which counting scores cannot give.

    `labels` are those of texts drawn at random (`corpus.draw`) and labelled without looking at their scores, by row: a
    name of a pole, or a quality from 0 to 1. `pole` is the name of a pole, by default the positive one. The other
    arguments are those of `corpus.answer`.
    """
    fitted = Scorer.load(scorer) if isinstance(scorer, str | Path) else scorer
    fitted.check_fitted()
    negative, positive = fitted.poles_
    wanted = positive if pole is None else pole
    if wanted not in (negative, positive):
        raise ValueError(f"{pole!r} is no pole of the scorer. Use {negative!r} or {positive!r}.")
    checked, rows = read_texts(texts), list(labels)
    beyond = [row for row in rows if not 0 <= row < len(checked)]
    if beyond:
        raise ValueError(f"There is a label for row {beyond[0]}, but there are {len(checked):,} texts, counted from 0.")
    qualities = read_labels([labels[row] for row in rows], (negative, positive), rows=rows).qualities
    return corpus.answer(
        fitted.score_texts(checked).tolist(),
        dict(zip(rows, qualities.tolist(), strict=True)),
        pole=wanted,
        positive=wanted == positive,
        groups=groups,
        stratified=stratified,
        promised=promised,
        seed=seed,
    )
