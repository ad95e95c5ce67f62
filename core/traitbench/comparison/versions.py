"""Two versions side by side: their scores of the same texts, and which one is better on the same test samples.

The service compares stored versions with this module, and the command line compares exported files with it, so both
give the same answer.

A trait is better if its AUROC rises or its error falls by more than chance explains, and neither gets worse. There are
two figures per trait, so each is tested at a level that is divided by the number of all figures (Bonferroni): a
comparison of two versions that do not differ is called better or worse at most 5 times in 100, however many traits it
has. A test sample that has to pass, passed before and fails now makes its trait worse, whatever the figures say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from traitbench.comparison.paired import LEVEL, Difference, auroc_difference, error_difference, on_side
from traitbench.fitting.duplicates import alike
from traitbench.scoring import card
from traitbench.scoring.segments import Encode, EncodeOnce, embed
from traitbench.scoring.snapshot import Snapshot

Verdict = Literal["better", "worse", "no_difference", "unknown"]

FEWEST = 5
"""Test samples that a pole needs for a verdict: near duplicates count once."""

_FIRST_TO_LAST: tuple[Verdict, ...] = ("worse", "better", "no_difference", "unknown")
"""A comparison has the first of these verdicts that one of its traits has."""

_SAME = "Both versions have the same parameters, so they give the same scores."
_NO_SAMPLES = "there are no test samples that both versions were measured on"


@dataclass(frozen=True)
class TestSample:
    """A test sample; `text` is the index of its text among the texts that were scored."""

    __test__ = False  # not a test of pytest

    trait: str
    text: int
    quality: float
    must_pass: bool = False


@dataclass(frozen=True)
class PairScore:
    """A text by both versions; `vector` is that of the first version's encoder."""

    a: card.Placed
    b: card.Placed
    vector: NDArray[np.float32]


@dataclass(frozen=True)
class TraitResult:
    """A trait on its test samples.

    `failed_a` and `failed_b` are positions, among all test samples, of those that have to pass and fail. `left_out`
    says which samples were not used and why, as a part of a sentence.
    """

    positive: int
    negative: int
    groups: tuple[int, int]
    auroc: Difference | None
    error: Difference | None
    verdict: Verdict
    reason: str
    must_pass: int = 0
    failed_a: tuple[int, ...] = ()
    failed_b: tuple[int, ...] = ()

    @property
    def newly_failed(self) -> tuple[int, ...]:
        """The samples that have to pass, pass in a and fail in b."""
        return tuple(sorted({*self.failed_b} - {*self.failed_a}))

    @property
    def count(self) -> int:
        """The test samples at both poles."""
        return self.positive + self.negative

    @property
    def has_interval(self) -> bool:
        """Whether there are enough test samples for an interval."""
        return min(self.groups) >= FEWEST

    @property
    def measured_on(self) -> str:
        """The test samples as a phrase."""
        if not self.count:
            return "no test samples"
        alike = self.count - sum(self.groups)
        near = f", {alike} of them nearly the same as another" if alike else ""
        return f"{_many(self.count, 'test sample')} ({self.positive} positive, {self.negative} negative){near}"


def common_traits(a: Snapshot, b: Snapshot, traits: Sequence[str] | None = None) -> list[str]:
    """The keys of the traits that both versions have, in the order of a; `traits` are keys or names."""
    others = {b.traits[place].key for place in card.choose(b, traits)}
    return [key for place in card.choose(a, traits) if (key := a.traits[place].key) in others]


def score_pairs(a: Snapshot, b: Snapshot, encode_a: Encode, encode_b: Encode, texts: Sequence[str]) -> list[PairScore]:
    """Each text by both versions. Texts are encoded once if both versions have the same encoder."""
    once_a = EncodeOnce(encode_a)
    once_b = once_a if a.encoder == b.encoder else EncodeOnce(encode_b)
    vectors = embed(once_a, texts)
    placed = zip(card.place(a, once_a, texts), card.place(b, once_b, texts), vectors, strict=True)
    return [PairScore(*each) for each in placed]


def compare_traits(
    a: Snapshot,
    b: Snapshot,
    keys: Sequence[str],
    samples: Sequence[TestSample],
    scored: Sequence[PairScore],
    *,
    same: bool = False,
) -> dict[str, TraitResult]:
    """The traits on their test samples; `scored` are the texts that the samples refer to.

    `same` versions have equal parameters, so their difference is exactly 0.
    """
    groups = _groups([each.vector for each in scored])
    measured = {key: _of_trait(a, b, key, samples, scored, groups) for key in keys}
    figures = 2 * sum(min(each.groups_by_pole) >= FEWEST for each in measured.values())
    level = 1 - (1 - LEVEL) / max(figures, 1)
    results = {key: _compare_trait(each, level) for key, each in measured.items()}
    return {key: _without_difference(each) for key, each in results.items()} if same else results


def overall(results: Mapping[str, TraitResult], *, same: bool = False) -> tuple[Verdict, str]:
    """The verdict on all traits, and the reason in one or two sentences; `same` versions have equal parameters."""
    if same:
        return "no_difference", _SAME
    if not results:
        return "unknown", "Not known: the versions have no trait in common."
    measured = sum(each.count for each in results.values())
    if not measured:
        return "unknown", f"Not known: {_NO_SAMPLES}."
    by_verdict = {
        verdict: [key for key, each in results.items() if each.verdict == verdict] for verdict in _FIRST_TO_LAST
    }
    verdict = next(each for each, keys in by_verdict.items() if keys)
    failing = sum(len(each.newly_failed) for each in results.values())
    sentences = [
        _counted(by_verdict, len(results)),
        _failing(failing),
        f"Measured on {_many(measured, 'test sample')}.",
    ]
    return verdict, " ".join(filter(None, sentences))


def side_changed(a: int, b: int) -> bool:
    """Whether two scores, 0-100, are on different sides of the middle."""
    return (a > 50) - (a < 50) != (b > 50) - (b < 50)


@dataclass(frozen=True)
class _Measured:
    """The test samples of a trait: positions among all, qualities, groups, and what both versions give them."""

    places: NDArray[np.intp]
    y: NDArray[np.float64]
    groups: NDArray[np.int64]
    must_pass: NDArray[np.bool_]
    a: NDArray[np.float64]
    b: NDArray[np.float64]

    @property
    def groups_by_pole(self) -> tuple[int, int]:
        """The groups at the positive and at the negative pole."""
        return len(np.unique(self.groups[self.y > 0.5])), len(np.unique(self.groups[self.y < 0.5]))


def _of_trait(
    a: Snapshot,
    b: Snapshot,
    key: str,
    samples: Sequence[TestSample],
    scored: Sequence[PairScore],
    groups: NDArray[np.int64],
) -> _Measured:
    [in_a], [in_b] = card.choose(a, [key]), card.choose(b, [key])
    own = [place for place, each in enumerate(samples) if each.trait == key and each.quality != 0.5]
    texts = [samples[place].text for place in own]
    return _Measured(
        np.array(own, np.intp),
        np.array([samples[place].quality for place in own], np.float64),
        groups[texts] if texts else np.zeros(0, np.int64),
        np.array([samples[place].must_pass for place in own], np.bool_),
        np.array([scored[text].a.positions[in_a] for text in texts], np.float64),
        np.array([scored[text].b.positions[in_b] for text in texts], np.float64),
    )


def _compare_trait(measured: _Measured, level: float) -> TraitResult:
    y, groups = measured.y, measured.groups
    points_a, points_b = _points(measured.a), _points(measured.b)
    fails = [measured.must_pass & ~on_side(points, y) for points in (points_a, points_b)]
    failed_a, failed_b = (tuple(measured.places[each].tolist()) for each in fails)
    counts = measured.groups_by_pole
    result = TraitResult(
        int((y > 0.5).sum()),
        int((y < 0.5).sum()),
        counts,
        auroc=None,
        error=None,
        verdict="unknown",
        reason="",
        must_pass=int(measured.must_pass.sum()),
        failed_a=failed_a,
        failed_b=failed_b,
    )
    if min(counts) >= 2:
        auroc = auroc_difference(measured.a, measured.b, y, groups)
        result = replace(result, auroc=auroc, error=error_difference(points_a, points_b, y, groups))
    if not result.has_interval:
        return _judged(result, 0, "")
    strict = auroc_difference(measured.a, measured.b, y, groups, level=level)
    error = error_difference(points_a, points_b, y, groups, level=level)
    signs = _sign(strict.interval), -_sign(error.interval)
    return _judged(result, -1 if -1 in signs else max(signs), _figures(result, signs))


def _without_difference(result: TraitResult) -> TraitResult:
    figures = [None if each is None else replace(each, interval=(0.0, 0.0)) for each in (result.auroc, result.error)]
    return replace(result, auroc=figures[0], error=figures[1], verdict="no_difference", reason=_SAME)


def _judged(result: TraitResult, sign: int, figures: str) -> TraitResult:
    """The result with its verdict. `sign` is that of the figures; `figures` is empty if there are too few samples."""
    if result.newly_failed:
        reason = f"Worse: {_failing(len(result.newly_failed))} {figures}".rstrip()
        return replace(result, verdict="worse", reason=reason)
    if not figures:
        few = _NO_SAMPLES if not result.count else f"there are only {result.measured_on}, and a pole needs {FEWEST}"
        return replace(result, verdict="unknown", reason=f"Not known: {few}.")
    verdicts: Mapping[int, tuple[Verdict, str]] = {
        1: ("better", "Better"),
        -1: ("worse", "Worse"),
        0: ("no_difference", "No difference shown"),
    }
    verdict, word = verdicts[sign]
    return replace(result, verdict=verdict, reason=f"{word}: {figures}")


def _failing(count: int) -> str:
    """How many samples that must pass fail now, as a sentence; empty for none."""
    return f"{_many(count, 'test sample')} that must pass fail{'s' if count == 1 else ''} now." if count else ""


def _figures(result: TraitResult, signs: tuple[int, int]) -> str:
    """The figures as a sentence: those that decide, or both if none does."""
    assert result.auroc is not None
    assert result.error is not None
    parts = [_figure("AUROC", result.auroc, 3), _figure("error", result.error, 3)]
    deciding = [part for part, sign in zip(parts, signs, strict=True) if sign] or parts
    return f"{'; '.join(deciding)}."


def _figure(name: str, figure: Difference, digits: int) -> str:
    low, high = figure.interval
    span = f"95 % interval {low:+.{digits}f} to {high:+.{digits}f}"
    return f"{name} {figure.a:.{digits}f} to {figure.b:.{digits}f} ({figure.delta:+.{digits}f}, {span})"


def _counted(by_verdict: Mapping[Verdict, Sequence[str]], total: int) -> str:
    """How many traits have each verdict, as a sentence."""
    words: Mapping[Verdict, str] = {
        "worse": "worse on {}",
        "better": "better on {}",
        "no_difference": "no difference shown on {}",
        "unknown": "not known on {}",
    }
    counts = [(words[verdict], len(keys)) for verdict, keys in by_verdict.items() if keys]
    if total == 1:
        sentence = counts[0][0].removesuffix(" on {}")
        return f"{sentence[0].upper()}{sentence[1:]}."
    if len(counts) == 1:
        sentence = counts[0][0].format("both traits" if total == 2 else f"all {total} traits")
    else:
        (first, count), *others = counts
        rest = [phrase.format(count) for phrase, count in others]
        sentence = "; ".join([first.format(f"{count} of {total} traits"), *rest])
    return f"{sentence[0].upper()}{sentence[1:]}."


def _points(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([card.half_up(100 * position) for position in positions.tolist()], np.float64)


def _groups(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.int64]:
    """(n,): equal for texts that are near duplicates."""
    return alike(np.array(vectors, np.float32)) if vectors else np.zeros(0, np.int64)


def _sign(interval: tuple[float, float]) -> int:
    return (interval[0] > 0) - (interval[1] < 0)


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
