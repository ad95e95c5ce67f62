"""Whether a text resembles the samples of a model, judged without any sample text.

Numbers of a text are compared with those of the samples. The first is the cosine between its vector and the mean of the
samples. From how many standard deviations it is below that of a sample follows the chance that the text is from the
source of the samples: it says nothing about which side is right, but whom to ask (`certainty`). The cosine of a sample
is with the mean of the other groups, so that no sample resembles itself. Versions of earlier releases refuse a text
beyond a bound instead.

For the other numbers, a bound is where a new sample would hardly ever lie: a prediction interval of Student's t. It has
a prior for the deviation, because a few samples say little about it. They depend on the encoder:

- One that knows many languages has a `Background`. Directions that tell languages apart are taken out of the mean, so
  that a text may be in any language; and a second direction tells text from nonsense in any script.
- For others, `spelling` is compared: the surprise of the letters and their share. Beside English samples, a text in
  another language is unlike too.

The vector of a long text is a mean over its segments, scaled to length one, so it lies further out on every axis than
a single segment does. So `Resemblance.shrinkage` says how much nearer to the middle the confidence of a longer text has
to be read.

The bounds were chosen on sets of real texts, see `core/docs/scoring.md`. 1 to 5 in 100 new texts of the same kind are
taken for unlike, and nearly all random strings are found, but not every text on another subject.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtrit

from traitbench.scoring.inputs import unit
from traitbench.scoring.segments import segment_count
from traitbench.scoring.spelling import spelling

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]

MOST_COMPARED = 4_096
"""The most samples that new texts are compared with."""

_PRIOR = 6.0  # samples that the prior deviation counts for
_COSINE, _SURPRISE, _LETTERS = 0.1, 0.25, 0.1  # prior standard deviations
_ENGLISH_SURPRISE = 2.75  # nats; sets of English texts have means of 2.4 to 2.7, other languages in Latin script more
_FEW_FOREIGN = 0.005  # share of English samples that may count as another language
_RARE_COSINE, _RARE_SPELLING = 0.005, 0.002  # share of new samples beyond each bound
# The same where a text may be in any language: the cosine with the mean, and that with the direction to text.
_RARE_SUBJECT, _RARE_TEXT = 0.015, 0.01
_TEXT = 0.06  # prior standard deviation of the latter
# The log-odds that a text is from the source of the samples: by standard deviations of the cosine, and at the mean. The
# slope is that of a logistic regression on samples and texts of other sources. At even odds the second would be 1.2.
_SAME_SLOPE, _SAME_MIDDLE = 1.4, 2.0
_MEAN_COSINE = 0.43  # the mean cosine of two segments of one text, in texts joined from nine sources
_LONG_SAMPLES = 0.9  # of the samples are not longer than the length that the samples know


@dataclass(frozen=True, eq=False)
class Background:
    """Directions in an encoder's space that have nothing to do with a subject.

    `languages` (r, d) are orthonormal and span the differences between languages; `text` (d,) points from nonsense to
    text, at length one.
    """

    languages: Floats
    text: Floats

    def part(self, columns: slice) -> "Background":
        """The background of a mode with these columns of the vector."""
        span = np.linalg.qr(self.languages[:, columns].T)[0].T
        return Background(span, unit(_without(span, self.text[np.newaxis, columns]))[0])


_MANY_LANGUAGES = "multilingual-e5"
"""What the id of an encoder begins with that knows many languages."""

_LANGUAGES = (
    "af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr hu hy id is it "
    "ja jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my ne nl no om or pa pl ps pt ro ru sa sd si sk sl so sq "
    "sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh"
)
"""The languages that its authors name, by their ISO 639 codes."""


def languages(encoder: str, known: "Resemblance | None") -> frozenset[str] | None:
    """The ISO 639 codes of the languages in which a version reads texts, by its encoder's id; None if not known."""
    if encoder.startswith(_MANY_LANGUAGES):
        return frozenset(_LANGUAGES.split())
    return frozenset({"en"}) if known is not None and known.is_english else None


@cache
def background(encoder: str, dimension: int) -> Background | None:
    """The background of an encoder by its id; None for one that was trained on one language."""
    if not encoder.startswith(_MANY_LANGUAGES):
        return None
    table = np.load(Path(__file__).with_name("background.npy")).astype(np.float64)
    return Background(table[:-1], table[-1]) if table.shape[1] == dimension else None


def _without(directions: Floats, rows: Floats) -> Floats:
    """The rows (n, d) without their share in orthonormal directions (r, d)."""
    return rows - (rows @ directions.T) @ directions


# The nearest sample would tell more where there are many, but a snapshot would have to keep them all.
@dataclass(frozen=True, eq=False)
class Direction:
    """The mean of the samples at length one (d,), and the least cosine with it.

    `text` is the same for the direction from nonsense to text; None if the encoder has none. `same` are slope and
    offset of the log-odds that a text with this cosine is from the source of the samples. Versions of earlier releases
    have none: their texts below the least cosine are far.
    """

    mean: Vectors
    least: float
    text: "Direction | None" = None
    same: tuple[float, float] | None = None

    def far(self, rows: Floats) -> NDArray[np.bool_]:
        """(n,): whether each vector (n, d) lies beyond a bound."""
        beyond = np.zeros(len(rows), bool) if self.same else self._cosines(rows) < self.least
        return beyond if self.text is None else beyond | self.text.far(rows)

    def chance_of_same(self, rows: Floats) -> NDArray[np.int64]:
        """(n,): the chance in percent that each vector (n, d) is from the source of the samples; 100 if not known."""
        if self.same is None:
            return np.full(len(rows), 100)
        slope, offset = self.same
        percent: NDArray[np.int64] = np.rint(100 * expit(slope * self._cosines(rows) + offset)).astype(np.int64)
        return percent

    def _cosines(self, rows: Floats) -> Floats:
        # Each row is summed by itself: a matrix product would round differently for other numbers of rows.
        cosines: Floats = (rows * self.mean).sum(axis=1)
        return cosines


@dataclass(frozen=True, eq=False)
class Resemblance:
    """What a text has to be like; `modes` hold the same for the encoder's modes.

    `surprise` and `letters` are the least and the most of a text's spelling, None if the texts were not known. Some
    samples are in `other_languages`; versions from before this was looked at do not say so, but their surprise does.
    Nine in ten samples have at most so many `segments`; None if the version does not look at lengths.
    """

    direction: Direction
    surprise: tuple[float, float] | None
    letters: tuple[float, float] | None
    modes: Mapping[str, Direction] = field(default_factory=dict)
    other_languages: bool = False
    segments: int | None = None

    @property
    def is_english(self) -> bool:
        """Whether all samples are English, so that a text in another language is unlike them."""
        return not self.other_languages and self.surprise is not None and sum(self.surprise) / 2 < _ENGLISH_SURPRISE

    def unlike(self, texts: Sequence[str], vectors: Vectors) -> NDArray[np.bool_]:
        """(n,): whether each text resembles none of the samples; `vectors` (n, d) are those of whole texts."""
        far: NDArray[np.bool_] = self.direction.far(vectors.astype(np.float64)) | ~vectors.any(axis=1)
        if self.surprise is not None and self.letters is not None:
            spelled = spelling(texts)
            for values, (least, most) in zip(spelled.T, (self.surprise, self.letters), strict=False):
                far |= (values < least) | (values > most)
            if self.is_english:
                far |= spelled[:, 2] > 0
        return far

    def same(self, vectors: Vectors) -> NDArray[np.int64]:
        """(n,): the chance in percent that each text, by its vector (n, d), is from the source of the samples."""
        return self.direction.chance_of_same(vectors.astype(np.float64))

    def shrinkage(self, text: str) -> float:
        """The factor of the logit at which the confidence of a text is read: 1, or less for a text longer than the
        samples.
        """
        if self.segments is None:
            return 1.0
        own = segment_count(text)
        return 1.0 if own <= self.segments else _length(own) / _length(self.segments)

    def in_mode(self, mode: str) -> "Resemblance":
        """The resemblance of vectors of a mode."""
        return replace(self, direction=self.modes[mode], modes={})


def resemblance(
    X: Vectors,
    groups: Sequence[object],
    spellings: Floats | None,
    modes: Mapping[str, slice],
    beside: Background | None = None,
) -> Resemblance | None:
    """What the samples with vectors (n, d), groups (n,) and spellings (n, 4) have in common.

    None for fewer than two groups. Samples must be distinct and in a reproducible order; of very many, some are used.
    `modes` are the columns of the encoder's modes, `beside` is its background.
    """
    some = (
        np.unique(np.linspace(0, len(X) - 1, min(len(X), MOST_COMPARED)).astype(int)) if len(X) else np.array([], int)
    )
    _, group_of = np.unique([str(groups[i]) for i in some], return_inverse=True)
    if not group_of.any():
        return None
    rows = X[some].astype(np.float64)
    if beside is not None:
        return Resemblance(
            _direction(rows, group_of, beside),
            None,
            None,
            {name: _direction(unit(rows[:, own]), group_of, beside.part(own)) for name, own in modes.items()},
            segments=None if spellings is None else _most_segments(spellings[some, 3]),
        )
    return Resemblance(
        _direction(rows, group_of),
        None if spellings is None else _two_sided(spellings[some, 0], _SURPRISE),
        None if spellings is None else _two_sided(spellings[some, 1], _LETTERS),
        {name: _direction(unit(rows[:, columns]), group_of) for name, columns in modes.items()},
        spellings is not None and float(spellings[some, 2].mean()) > _FEW_FOREIGN,
    )


def _most_segments(counts: Floats) -> int:
    return max(1, int(np.ceil(np.quantile(counts, _LONG_SAMPLES))))


def _length(segments: int) -> float:
    """The length of the mean of so many segments' vectors, each of length one."""
    return float(np.sqrt(_MEAN_COSINE + (1 - _MEAN_COSINE) / segments))


def _direction(rows: Floats, group_of: NDArray[np.intp], beside: Background | None = None) -> Direction:
    subjects = rows if beside is None else _without(beside.languages, rows)
    totals = np.zeros((int(group_of.max()) + 1, rows.shape[1]))
    np.add.at(totals, group_of, subjects)
    total = totals.sum(axis=0)
    cosines = (rows * unit(total - totals)[group_of]).sum(axis=1)
    mean, same = unit(total[None])[0], _odds_of_same(cosines)
    if beside is None:
        return replace(_bounded(mean, cosines, _COSINE, _RARE_COSINE), same=same)
    text = _bounded(beside.text, (rows * beside.text).sum(axis=1), _TEXT, _RARE_TEXT)
    return replace(_bounded(mean, cosines, _COSINE, _RARE_SUBJECT), text=text, same=same)


def _bounded(direction: Floats, cosines: Floats, spread: float, rare: float) -> Direction:
    least, _ = _bounds(cosines, spread, rare)
    return Direction(direction.astype(np.float32), float(np.float32(least)))


def _odds_of_same(cosines: Floats) -> tuple[float, float]:
    """Slope and offset of the log-odds that a text with a cosine is from the source of samples with these."""
    mean, deviation, _ = _spread(cosines, _COSINE)
    slope = _SAME_SLOPE / deviation
    return float(np.float32(slope)), float(np.float32(_SAME_MIDDLE - slope * mean))


def _two_sided(values: Floats, spread: float) -> tuple[float, float]:
    least, most = _bounds(values, spread, _RARE_SPELLING)
    return float(np.float32(least)), float(np.float32(most))


def _bounds(values: Floats, spread: float, rare: float) -> tuple[float, float]:
    """Where a new value hardly ever lies beyond; `spread` is the prior standard deviation."""
    mean, deviation, freedom = _spread(values, spread)
    reach = float(stdtrit(freedom, 1 - rare)) * deviation
    return mean - reach, mean + reach


def _spread(values: Floats, prior: float) -> tuple[float, float, float]:
    """The mean, the standard deviation of a new value around it, and the degrees of freedom of the latter."""
    count, mean = len(values), float(values.mean())
    freedom = count - 1 + _PRIOR
    variance = (float(np.square(values - mean).sum()) + _PRIOR * prior**2) / freedom
    return mean, float(np.sqrt(variance * (1 + 1 / count))), freedom
