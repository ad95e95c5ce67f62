"""Load whatever estimator is in a file."""

from pathlib import Path

from traitbench.estimators.score_card import ScoreCard
from traitbench.estimators.scorer import Scorer
from traitbench.local import version_files


def load(path: str | Path, *, version: str | None = None) -> Scorer | ScoreCard:
    """Return a `Scorer` if the file has one trait, else a `ScoreCard`.

    The file is one that `save` wrote, or a model exported from a service. Errors are those of `Scorer.load`.
    """
    several = len(version_files.read(path, version=version).training.traits) > 1
    kind = ScoreCard if several else Scorer
    return kind.load(path, version=version)
