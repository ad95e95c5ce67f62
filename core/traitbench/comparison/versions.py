"""Two versions side by side: their scores of the same texts, and which one is better on the same test samples.

The service compares stored versions with this module, the command line exported files, the workbench a draft, and a
retrain the version that serves; so all give the same answer.

A trait is better if its AUROC rises or its error falls by more than chance explains, and neither gets worse. There are
two figures per trait, so each is tested at a level that is divided by the number of all figures (Bonferroni). A
comparison of two versions that do not differ is called better or worse at most 5 times in 100, however many traits it
has. A test sample that has to pass, passed before and fails now makes its trait worse, whatever the figures say.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from traitbench.comparison.paired import LEVEL, Difference, Verdict, auroc_difference, error_difference, on_side, shown
from traitbench.contract.batches import FailedLine, LineError
from traitbench.contract.comparisons import (
    Changed,
    ComparedText,
    ComparedVersion,
    CompositeDelta,
    FigureDelta,
    MustPass,
    SampleChanges,
    ScoreDelta,
    TraitDifference,
    VersionChanges,
    VersionsComparison,
)
from traitbench.contract.metrics import Metrics
from traitbench.display import verdicts
from traitbench.display.text import count
from traitbench.errors import BodyTooLarge, TraitbenchError
from traitbench.fitting.duplicates import near_duplicates, together
from traitbench.scoring import card
from traitbench.scoring.segments import Encode, EncodeOnce, embed
from traitbench.scoring.snapshot import Snapshot, TraitAxis

FEWEST = 5
"""Test samples that a pole needs for a verdict: near duplicates count once."""

MOST_TEST_TEXTS = 5_000
"""Distinct texts of test samples that are scored; beyond, those with the smallest hashes, a random but fixed choice."""

LEARNED = "a version was trained with the text"
CONTRADICTORY = "the text has different labels"
TOO_MANY = f"only {MOST_TEST_TEXTS:,} texts are scored"
TOO_LARGE = "the text is too large to score"

_SAME = "Both versions have the same parameters, so they give the same scores."
_NO_SAMPLES = "there are no test samples that both versions were measured on"
_AT_ONCE = 64  # texts, so that not all vectors of their segments are in memory


class Testable(Protocol):
    """The fields of a sample that decide whether it is a test of two versions."""

    @property
    def trait(self) -> str:
        """The key of its trait."""
        ...

    @property
    def content_sha256(self) -> str:
        """The hash of its text."""
        ...

    @property
    def quality(self) -> float:
        """Its quality, 0-1."""
        ...

    @property
    def must_pass(self) -> bool:
        """Whether its score has to be on its pole's side."""
        ...

    @property
    def group(self) -> str | None:
        """What it belongs to, as a conversation."""
        ...


class TextSample(Testable, Protocol):
    """A sample with its text."""

    @property
    def text(self) -> str:
        """The text."""
        ...


Candidate = TypeVar("Candidate", bound=Testable)


@dataclass(frozen=True)
class VersionSide:
    """One of the two versions."""

    handle: str
    version_no: int
    param_hash: str
    snapshot: Snapshot
    metrics: Metrics


@dataclass(frozen=True)
class RecordedChanges:
    """How the samples of two versions differ; `unrecorded` says why that is unknown."""

    samples: SampleChanges | None = None
    held_out: SampleChanges | None = None
    unrecorded: str | None = None


@dataclass(frozen=True)
class TestSample:
    """A test sample; `text` is the index of its text among the texts that were scored."""

    __test__ = False  # not a test of pytest

    trait: str
    text: int
    quality: float
    must_pass: bool = False
    group: str | None = None


@dataclass(frozen=True)
class TestSet:
    """Test samples and their distinct texts.

    `left_out` says how many were not used, by reason. `ids` are those of the samples, if the answer may have them.
    """

    __test__ = False  # not a test of pytest

    samples: Sequence[TestSample] = ()
    texts: Sequence[str] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    ids: Sequence[int] = ()

    @classmethod
    def of(cls, chosen: Sequence[Testable], texts: Mapping[str, str], left_out: Mapping[str, int]) -> "TestSet":
        """The chosen samples by the texts of their hashes; without a text, a sample is dropped."""
        indices = {digest: index for index, digest in enumerate(texts)}
        samples = [
            TestSample(each.trait, indices[each.content_sha256], each.quality, each.must_pass, each.group)
            for each in chosen
            if each.content_sha256 in indices
        ]
        return cls(samples, list(texts.values()), left_out)


@dataclass(frozen=True)
class PairScore:
    """A text by both versions; `vector` is that of the first version's encoder."""

    a: card.Placed
    b: card.Placed
    vector: NDArray[np.float32]


Scored = PairScore | TraitbenchError
ScorePairs = Callable[[Sequence[str]], Sequence[Scored]]
"""Texts by both versions; for a text that cannot be scored, the error that says why."""


def compare(
    a: VersionSide,
    b: VersionSide,
    tests: TestSet,
    score: ScorePairs,
    *,
    recorded: RecordedChanges,
    traits: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
) -> VersionsComparison:
    """The whole answer. `score` is called once, with the texts of the tests and then `texts`."""
    keys = common_traits(a.snapshot, b.snapshot, traits)
    scored = score([*tests.texts, *(texts or ())])
    tested, rest = scored[: len(tests.texts)], scored[len(tests.texts) :]
    tests, pairs = _scorable(tests, tested)
    same = a.param_hash == b.param_hash
    results = compare_traits(a.snapshot, b.snapshot, keys, tests, pairs, same=same)
    verdict, reason = overall(results, same=same)
    return VersionsComparison(
        a=ComparedVersion(handle=a.handle, version_no=a.version_no, param_hash=a.param_hash),
        b=ComparedVersion(handle=b.handle, version_no=b.version_no, param_hash=b.param_hash),
        verdict=verdict,
        reason=reason,
        traits=results,
        changed=_changes(a, b, recorded),
        texts=None if texts is None else [_line(a, b, keys, index, each) for index, each in enumerate(rest)],
    )


def compare_samples(
    a: VersionSide,
    b: VersionSide,
    candidates: Iterable[TextSample],
    learned: Collection[tuple[str, str]],
    score: ScorePairs,
    *,
    unrecorded: str,
    texts: Sequence[str] | None = None,
) -> VersionsComparison:
    """The answer by test samples at hand; `learned` has the traits and hashes of what a version was trained with."""
    keys = common_traits(a.snapshot, b.snapshot)
    chosen, left_out = choose_tests(
        [each for each in candidates if each.trait in keys], lambda trait, hashed: (trait, hashed) in learned
    )
    tests = TestSet.of(chosen, {each.content_sha256: each.text for each in chosen}, left_out)
    return compare(a, b, tests, score, recorded=RecordedChanges(unrecorded=unrecorded), texts=texts)


def common_traits(a: Snapshot, b: Snapshot, traits: Sequence[str] | None = None) -> list[str]:
    """The keys of the traits that both versions have, in the order of a; `traits` are keys or names."""
    others = {b.traits[index].key for index in card.choose(b, traits)}
    return [key for index in card.choose(a, traits) if (key := a.traits[index].key) in others]


def choose_tests(
    candidates: Iterable[Candidate], is_learned: Callable[[str, str], bool]
) -> tuple[list[Candidate], dict[str, int]]:
    """The test samples to use, and how many are left out, by reason.

    Equal samples count once. `is_learned` says of a trait and the hash of a text whether a version was trained with it.
    """
    several: dict[tuple[str, str], list[Candidate]] = {}
    for each in candidates:
        several.setdefault((each.trait, each.content_sha256), []).append(each)
    left_out = dict.fromkeys((LEARNED, CONTRADICTORY, TOO_MANY), 0)
    chosen: list[Candidate] = []
    for (trait, hashed), equal in several.items():
        if is_learned(trait, hashed):
            left_out[LEARNED] += 1
        elif len({each.quality for each in equal}) > 1:
            left_out[CONTRADICTORY] += 1
        else:
            chosen.append(max(equal, key=lambda each: each.must_pass))
    hashes = {*sorted({each.content_sha256 for each in chosen})[:MOST_TEST_TEXTS]}
    left_out[TOO_MANY] = sum(each.content_sha256 not in hashes for each in chosen)
    return [each for each in chosen if each.content_sha256 in hashes], left_out


def score_pairs(a: Snapshot, b: Snapshot, encode_a: Encode, encode_b: Encode, texts: Sequence[str]) -> list[PairScore]:
    """Each text by both versions. Texts are encoded once if both versions have the same encoder."""
    distinct = list(dict.fromkeys(texts))
    scored: dict[str, PairScore] = {}
    for first in range(0, len(distinct), _AT_ONCE):
        some = distinct[first : first + _AT_ONCE]
        once_a = EncodeOnce(encode_a)
        once_b = once_a if a.encoder == b.encoder else EncodeOnce(encode_b)
        placed = zip(card.project(a, once_a, some), card.project(b, once_b, some), embed(once_a, some), strict=True)
        scored |= {text: PairScore(*each) for text, each in zip(some, placed, strict=True)}
    return [scored[text] for text in texts]


def compare_traits(
    a: Snapshot, b: Snapshot, keys: Sequence[str], tests: TestSet, scored: Sequence[PairScore], *, same: bool = False
) -> dict[str, TraitDifference]:
    """The traits on their test samples; `scored` are the texts that the samples refer to.

    `same` versions have equal parameters, so their difference is exactly 0.
    """
    groups = (
        near_duplicates(np.array([each.vector for each in scored], np.float32)) if scored else np.zeros(0, np.int64)
    )
    measured = {key: _of_trait(a, b, key, tests.samples, scored, groups) for key in keys}
    figures = 2 * sum(each.has_interval for each in measured.values())
    level = 1 - (1 - LEVEL) / max(figures, 1)
    return {key: _compare_trait(each, tests, level, same=same) for key, each in measured.items()}


def overall(results: Mapping[str, TraitDifference], *, same: bool = False) -> tuple[Verdict, str]:
    """The verdict on all traits, and the reason in one or two sentences; `same` versions have equal parameters."""
    if same:
        return "no_difference", _SAME
    if not results:
        return "unknown", "Not known: the versions have no trait in common."
    measured = sum(each.n for each in results.values())
    if not measured:
        return "unknown", f"Not known: {_NO_SAMPLES}."
    by_trait = [each.verdict for each in results.values()]
    failing = _failing(sum(each.must_pass.newly_failed for each in results.values()))
    sentences = [verdicts.reason(by_trait), failing, f"Measured on {count(measured, 'test sample')}."]
    return verdicts.overall(by_trait), " ".join(filter(None, sentences))


def compared_text(a: Snapshot, b: Snapshot, keys: Collection[str], index: int, scored: PairScore) -> ComparedText:
    """The scores of a text by both versions, on the traits of these keys."""
    one, other = (
        card.read(snapshot, [index for index, trait in enumerate(snapshot.traits) if trait.key in keys], placed)
        for snapshot, placed in ((a, scored.a), (b, scored.b))
    )
    return ComparedText(
        index=index,
        traits={key: _score(score, other.traits[key]) for key, score in one.traits.items()},
        composite=CompositeDelta(a=one.composite, b=other.composite, delta=other.composite - one.composite),
    )


def side_changed(a: int, b: int) -> bool:
    """Whether two scores, 0-100, are on different sides of the middle."""
    return (a > 50) - (a < 50) != (b > 50) - (b < 50)


def _scorable(tests: TestSet, scored: Sequence[Scored]) -> tuple[TestSet, list[PairScore]]:
    """The tests and their scores, without texts that are too large; any other error is raised."""
    fine: dict[int, PairScore] = {}
    for index, each in enumerate(scored):
        if isinstance(each, PairScore):
            fine[index] = each
        elif not isinstance(each, BodyTooLarge):
            raise each
    if len(fine) == len(scored):
        return tests, list(fine.values())
    indices = {index: at for at, index in enumerate(fine)}
    # A sample at 0.5 belongs to no pole and is ignored.
    samples = [
        replace(each, text=indices[each.text]) if each.text in indices else replace(each, text=0, quality=0.5)
        for each in tests.samples
    ]
    too_large = sum(each.text not in indices for each in tests.samples)
    left_out = {**tests.left_out, TOO_LARGE: too_large}
    return replace(tests, samples=samples, left_out=left_out), list(fine.values())


def _line(
    a: VersionSide, b: VersionSide, keys: Collection[str], index: int, scored: Scored
) -> ComparedText | FailedLine:
    if isinstance(scored, PairScore):
        return compared_text(a.snapshot, b.snapshot, keys, index, scored)
    error = LineError(code=scored.code, message=scored.message, details=scored.details)
    return FailedLine(index=index, error=error)


@dataclass(frozen=True)
class _MeasuredTests:
    """The test samples of a trait: positions among all, qualities, near duplicates, groups, and what both versions give
    them.
    """

    indices: NDArray[np.intp]
    y: NDArray[np.float64]
    texts: NDArray[np.int64]
    groups: NDArray[np.int64]
    must_pass: NDArray[np.bool_]
    a: NDArray[np.float64]
    b: NDArray[np.float64]

    @property
    def groups_by_pole(self) -> tuple[int, int]:
        """The groups at the positive and at the negative pole."""
        return len(np.unique(self.groups[self.y > 0.5])), len(np.unique(self.groups[self.y < 0.5]))

    @property
    def has_interval(self) -> bool:
        """Whether there are enough test samples for an interval and a verdict."""
        return min(self.groups_by_pole) >= FEWEST

    @property
    def measured_on(self) -> str:
        """The test samples as a phrase."""
        if not len(self.y):
            return "no test samples"
        positive = int((self.y > 0.5).sum())
        repeated = len(self.y) - sum(len(np.unique(self.texts[pole])) for pole in (self.y > 0.5, self.y < 0.5))
        near = f", {repeated} of them nearly the same as another" if repeated else ""
        groups = len(np.unique(self.groups))
        near += f", in {count(groups, 'group')}" if groups < len(np.unique(self.texts)) else ""
        return f"{count(len(self.y), 'test sample')} ({positive} positive, {len(self.y) - positive} negative){near}"


def _of_trait(
    a: Snapshot,
    b: Snapshot,
    key: str,
    samples: Sequence[TestSample],
    scored: Sequence[PairScore],
    groups: NDArray[np.int64],
) -> _MeasuredTests:
    [in_a], [in_b] = card.choose(a, [key]), card.choose(b, [key])
    own = [index for index, each in enumerate(samples) if each.trait == key and each.quality != 0.5]
    texts = [samples[index].text for index in own]
    distinct = groups[texts] if texts else np.zeros(0, np.int64)
    return _MeasuredTests(
        np.array(own, np.intp),
        np.array([samples[index].quality for index in own], np.float64),
        distinct,
        together(distinct, [samples[index].group for index in own]),
        np.array([samples[index].must_pass for index in own], np.bool_),
        np.array([scored[text].a.positions[in_a] for text in texts], np.float64),
        np.array([scored[text].b.positions[in_b] for text in texts], np.float64),
    )


def _compare_trait(measured: _MeasuredTests, tests: TestSet, level: float, *, same: bool) -> TraitDifference:
    y, groups = measured.y, measured.groups
    points_a, points_b = _points(measured.a), _points(measured.b)
    fails_a, fails_b = (measured.must_pass & ~on_side(points, y) for points in (points_a, points_b))
    newly = measured.indices[fails_b & ~fails_a].tolist()
    auroc = error = None
    signs = 0, 0
    if min(measured.groups_by_pole) >= 2:
        auroc = auroc_difference(measured.a, measured.b, y, groups)
        error = error_difference(points_a, points_b, y, groups)
    if measured.has_interval:
        strict = auroc_difference(measured.a, measured.b, y, groups, level=level)
        signs = strict.sign, -error_difference(points_a, points_b, y, groups, level=level).sign
    verdict, reason = _judged(measured, auroc, error, signs, len(newly))
    left_out = [f"{number} left out: {why}" for why, number in tests.left_out.items() if number]
    return TraitDifference(
        auroc=_figure(auroc, measured, same=same),
        error=_figure(error, measured, same=same),
        n=len(y),
        positive=int((y > 0.5).sum()),
        negative=int((y < 0.5).sum()),
        measured_on="; ".join([measured.measured_on, *left_out]),
        must_pass=MustPass(
            samples=int(measured.must_pass.sum()),
            failed_a=int(fails_a.sum()),
            failed_b=int(fails_b.sum()),
            newly_failed=len(newly),
            sample_ids=[tests.ids[index] for index in newly] if tests.ids else [],
        ),
        verdict="no_difference" if same else verdict,
        reason=_SAME if same else reason,
    )


def _judged(
    measured: _MeasuredTests,
    auroc: Difference | None,
    error: Difference | None,
    signs: tuple[int, int],
    newly_failed: int,
) -> tuple[Verdict, str]:
    """The verdict and its reason; `signs` are those of what both figures show, 1 for better."""
    parts = [
        f"{name} {figure.a:.3f} to {figure.b:.3f} ({figure.delta:+.3f}, 95 % interval {low:+.3f} to {high:+.3f})"
        for name, figure in (("AUROC", auroc), ("error", error))
        if figure is not None and measured.has_interval
        for low, high in [figure.interval]
    ]
    # Those that decide, or both if none does.
    deciding = [part for part, sign in zip(parts, signs, strict=bool(parts)) if sign] or parts
    figures = f"{'; '.join(deciding)}." if parts else ""
    if newly_failed:
        return "worse", f"Worse: {_failing(newly_failed)} {figures}".rstrip()
    if not figures:
        few = f"there are only {measured.measured_on}, and a pole needs {FEWEST}" if len(measured.y) else _NO_SAMPLES
        return "unknown", f"Not known: {few}."
    verdict = shown(-1 if -1 in signs else max(signs))
    return verdict, f"{verdicts.title(verdict)}: {figures}"


def _figure(figure: Difference | None, measured: _MeasuredTests, *, same: bool) -> FigureDelta | None:
    if figure is None:
        return None
    interval = [0.0, 0.0] if same else list(figure.interval)
    return FigureDelta(a=figure.a, b=figure.b, delta=figure.delta, interval=interval if measured.has_interval else None)


def _failing(number: int) -> str:
    """How many samples that must pass fail now, as a sentence; empty for none."""
    fail = "fails" if number == 1 else "fail"
    return f"{count(number, 'test sample')} that must pass {fail} now." if number else ""


def _points(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([card.half_up(100 * position) for position in positions.tolist()], np.float64)


def _score(a: card.RawScore, b: card.RawScore) -> ScoreDelta:
    return ScoreDelta(
        a=a.score,
        b=b.score,
        delta=b.score - a.score,
        tier_a=a.label,
        tier_b=b.label,
        confidence_a=a.confidence,
        confidence_b=b.confidence,
        side_changed=side_changed(a.score, b.score),
    )


def _changes(a: VersionSide, b: VersionSide, recorded: RecordedChanges) -> VersionChanges:
    traits_a, traits_b = ({trait.key: trait for trait in side.snapshot.traits} for side in (a, b))
    encoders = a.snapshot.encoder, b.snapshot.encoder
    return VersionChanges(
        samples=recorded.samples,
        held_out=recorded.held_out,
        unrecorded=recorded.unrecorded,
        traits_added=[key for key in traits_b if key not in traits_a],
        traits_removed=[key for key in traits_a if key not in traits_b],
        traits_changed=[
            changed for key, trait in traits_a.items() if key in traits_b for changed in _words(trait, traits_b[key])
        ],
        parameters=list(_parameters(a, b)),
        encoder=None
        if encoders[0] == encoders[1]
        else Changed(name="encoder", trait=None, a=vars(encoders[0]), b=vars(encoders[1])),
    )


def _words(a: TraitAxis, b: TraitAxis) -> Iterator[Changed]:
    for name in ("name", "positive_label", "negative_label", "aggregation"):
        one, other = getattr(a, name), getattr(b, name)
        if one != other:
            yield Changed(name=name, trait=a.key, a=one, b=other)


def _parameters(a: VersionSide, b: VersionSide) -> Iterator[Changed]:
    """The settings and chosen parameters that differ."""
    settings = {
        "scoring_method": (a.snapshot.scoring_method, b.snapshot.scoring_method),
        "max_depth": (a.snapshot.max_depth, b.snapshot.max_depth),
        "effort": (a.metrics.effort, b.metrics.effort),
        "use_labels": (a.metrics.use_labels, b.metrics.use_labels),
    }
    for name, (one, other) in settings.items():
        if one != other:
            yield Changed(name=name, trait=None, a=one, b=other)
    for key, trait in a.metrics.traits.items():
        others = b.metrics.traits.get(key)
        if others is not None and trait.shares != others.shares:
            yield Changed(name="shares", trait=key, a=trait.shares, b=others.shares)
