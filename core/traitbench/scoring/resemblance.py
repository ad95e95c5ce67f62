"""Whether a text resembles the samples of a model, judged without any sample text.

Three numbers of a text are compared with those of the samples: the cosine between its vector and the mean of the
samples, and its `spelling` (the surprise of its letters and its share of letters). Beside English samples, a text in
another language is unlike too. For each number, the bound is where a new
sample would hardly ever lie: a prediction interval of Student's t, with a prior for the deviation, because a few
samples say little about it. The cosine of a sample is with the mean of the other groups, so that no sample resembles
itself.

Chosen on seven sets of real texts, see `core/docs/scoring.md`: 1 to 5 in 100 new texts of the same kind are taken for
unlike; nearly all random letters, strings of digits, foreign scripts and sentences in German, French or Spanish are
found, texts of another domain about half of the time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from traitbench.scoring.spelling import spelling
from traitbench.scoring.unit import unit

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]

MOST_COMPARED = 4_096
"""The most samples that new texts are compared with."""

_PRIOR = 6.0  # samples that the prior deviation counts for
_COSINE, _SURPRISE, _LETTERS = 0.1, 0.25, 0.1  # prior standard deviations
_ENGLISH_SURPRISE = 2.75  # nats; sets of English texts have means of 2.4 to 2.7, other languages in Latin script more
_FEW_FOREIGN = 0.005  # share of English samples that may count as another language
_RARE_COSINE, _RARE_SPELLING = 0.005, 0.002  # share of new samples beyond each bound


# The nearest sample would tell more where there are many, but a snapshot would have to keep them all.
@dataclass(frozen=True, eq=False)
class Direction:
    """The mean of the samples at length one (d,), and the least cosine with it."""

    mean: Vectors
    least: float


@dataclass(frozen=True, eq=False)
class Resemblance:
    """What a text has to be like; `modes` hold the same for the encoder's modes.

    `surprise` and `letters` are the least and the most of a text's spelling, None if the texts were not known. Some
    samples are in `other_languages`; versions from before this was looked at do not say so, but their surprise does.
    """

    direction: Direction
    surprise: tuple[float, float] | None
    letters: tuple[float, float] | None
    modes: Mapping[str, Direction] = field(default_factory=dict)
    other_languages: bool = False

    @property
    def is_english(self) -> bool:
        """Whether all samples are English, so that a text in another language is unlike them."""
        return not self.other_languages and self.surprise is not None and sum(self.surprise) / 2 < _ENGLISH_SURPRISE

    def unlike(self, texts: Sequence[str], vectors: Vectors) -> NDArray[np.bool_]:
        """(n,): whether each text resembles none of the samples; `vectors` (n, d) are those of whole texts."""
        # Each row is summed by itself: a matrix product would round differently for other numbers of rows.
        cosines = (vectors.astype(np.float64) * self.direction.mean).sum(axis=1)
        far: NDArray[np.bool_] = (cosines < self.direction.least) | ~vectors.any(axis=1)
        if self.surprise is not None and self.letters is not None:
            spelled = spelling(texts)
            for values, (least, most) in zip(spelled.T, (self.surprise, self.letters), strict=False):
                far |= (values < least) | (values > most)
            if self.is_english:
                far |= spelled[:, 2] > 0
        return far

    def in_mode(self, mode: str) -> "Resemblance":
        """The resemblance of vectors of a mode."""
        return replace(self, direction=self.modes[mode], modes={})


def resemblance(
    X: Vectors, groups: Sequence[object], spellings: Floats | None, modes: Mapping[str, slice]
) -> Resemblance | None:
    """What the samples with vectors (n, d), groups (n,) and spellings (n, 3) have in common.

    None for fewer than two groups. Samples must be distinct and in a reproducible order; of very many, some are used.
    `modes` are the columns of the encoder's modes.
    """
    some = (
        np.unique(np.linspace(0, len(X) - 1, min(len(X), MOST_COMPARED)).astype(int)) if len(X) else np.array([], int)
    )
    _, group_of = np.unique([str(groups[i]) for i in some], return_inverse=True)
    if not group_of.any():
        return None
    rows = X[some].astype(np.float64)
    return Resemblance(
        _direction(rows, group_of),
        None if spellings is None else _two_sided(spellings[some, 0], _SURPRISE),
        None if spellings is None else _two_sided(spellings[some, 1], _LETTERS),
        {name: _direction(unit(rows[:, columns]), group_of) for name, columns in modes.items()},
        spellings is not None and float(spellings[some, 2].mean()) > _FEW_FOREIGN,
    )


def _direction(rows: Floats, group_of: NDArray[np.intp]) -> Direction:
    totals = np.zeros((int(group_of.max()) + 1, rows.shape[1]))
    np.add.at(totals, group_of, rows)
    total = totals.sum(axis=0)
    cosines = (rows * unit(total - totals)[group_of]).sum(axis=1)
    least, _ = _bounds(cosines, _COSINE, _RARE_COSINE)
    return Direction(unit(total[None])[0].astype(np.float32), float(np.float32(least)))


def _two_sided(values: Floats, spread: float) -> tuple[float, float]:
    least, most = _bounds(values, spread, _RARE_SPELLING)
    return float(np.float32(least)), float(np.float32(most))


def _bounds(values: Floats, spread: float, rare: float) -> tuple[float, float]:
    """Where a new value hardly ever lies beyond; `spread` is the prior standard deviation."""
    count, mean = len(values), float(values.mean())
    freedom = count - 1 + _PRIOR
    variance = (float(np.square(values - mean).sum()) + _PRIOR * spread**2) / freedom
    reach = float(stdtrit(freedom, 1 - rare)) * float(np.sqrt(variance * (1 + 1 / count)))
    return mean - reach, mean + reach
