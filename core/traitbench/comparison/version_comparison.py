"""Compares two versions: builds the answer from snapshots, test samples and scored texts.

The service and the comparison of exported files (`traitbench.comparison.files`) both use it, so they give the same
answer.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from traitbench.comparison.paired import Difference
from traitbench.comparison.versions import PairScore, TraitResult, overall, side_changed
from traitbench.contract.batches import FailedLine
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
from traitbench.scoring import card
from traitbench.scoring.snapshot import Snapshot, TraitAxis

MOST_TEST_TEXTS = 5_000
"""Distinct texts of test samples that are scored; beyond, those with the smallest hashes, a random but fixed choice."""

LEARNED = "a version was trained with the text"
CONTRADICTORY = "the text has different labels"
TOO_MANY = f"only {MOST_TEST_TEXTS:,} texts are scored"


class Sample(Protocol):
    """The fields of a test sample that decide whether it is used."""

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


Candidate = TypeVar("Candidate", bound=Sample)


@dataclass(frozen=True)
class Side:
    """One of the two versions."""

    handle: str
    version_no: int
    param_hash: str
    snapshot: Snapshot
    metrics: Metrics


@dataclass(frozen=True)
class Recorded:
    """How the samples of two versions differ; `unrecorded` says why that is unknown."""

    samples: SampleChanges | None = None
    held_out: SampleChanges | None = None
    unrecorded: str | None = None


@dataclass(frozen=True)
class TestSet:
    """Test samples that are scored: `left_out` says how many were not, by reason; `ids` are theirs, if readable."""

    __test__ = False  # not a test of pytest

    left_out: Mapping[str, int] = field(default_factory=dict)
    ids: Sequence[int] = ()


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


def comparison(
    a: Side,
    b: Side,
    results: Mapping[str, TraitResult],
    *,
    recorded: Recorded,
    tested: TestSet,
    texts: Sequence[ComparedText | FailedLine] | None,
) -> VersionsComparison:
    """The answer from the figures by trait and the texts."""
    same = a.param_hash == b.param_hash
    verdict, reason = overall(results, same=same)
    return VersionsComparison(
        a=_version(a),
        b=_version(b),
        verdict=verdict,
        reason=reason,
        traits={key: _trait(result, tested) for key, result in results.items()},
        changed=_changes(a, b, recorded),
        texts=None if texts is None else list(texts),
    )


def compared_text(a: Snapshot, b: Snapshot, keys: Collection[str], index: int, scored: PairScore) -> ComparedText:
    """The scores of a text by both versions, on the traits of these keys."""
    one = card.read(a, _places(a, keys), scored.a)
    other = card.read(b, _places(b, keys), scored.b)
    return ComparedText(
        index=index,
        traits={key: _score(score, other.traits[key]) for key, score in one.traits.items()},
        composite=CompositeDelta(a=one.composite, b=other.composite, delta=other.composite - one.composite),
    )


def _places(snapshot: Snapshot, keys: Collection[str]) -> list[int]:
    return [place for place, trait in enumerate(snapshot.traits) if trait.key in keys]


def _score(a: card.TraitScore, b: card.TraitScore) -> ScoreDelta:
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


def _version(side: Side) -> ComparedVersion:
    return ComparedVersion(handle=side.handle, version_no=side.version_no, param_hash=side.param_hash)


def _trait(result: TraitResult, tested: TestSet) -> TraitDifference:
    ids = [tested.ids[place] for place in result.newly_failed] if tested.ids else []
    reasons = [f"{count} left out: {why}" for why, count in tested.left_out.items() if count]
    return TraitDifference(
        auroc=_figure(result.auroc, known=result.has_interval),
        error=_figure(result.error, known=result.has_interval),
        n=result.count,
        positive=result.positive,
        negative=result.negative,
        measured_on="; ".join([result.measured_on, *reasons]),
        must_pass=MustPass(
            samples=result.must_pass,
            failed_a=len(result.failed_a),
            failed_b=len(result.failed_b),
            newly_failed=len(result.newly_failed),
            sample_ids=ids,
        ),
        verdict=result.verdict,
        reason=result.reason,
    )


def _figure(figure: Difference | None, *, known: bool) -> FigureDelta | None:
    if figure is None:
        return None
    interval = list(figure.interval) if known else None
    return FigureDelta(a=figure.a, b=figure.b, delta=figure.delta, interval=interval)


def _changes(a: Side, b: Side, recorded: Recorded) -> VersionChanges:
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


def _parameters(a: Side, b: Side) -> Iterator[Changed]:
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
