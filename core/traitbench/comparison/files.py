"""Compares two exported models as files: without a service, a key or a network.

Equal files give equal answers. The test samples are the held-out samples of both files. What a version was trained with
is not in its file, so a text counts as learned if it is a training sample of the file today.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from traitbench.comparison.version_comparison import Recorded, Side, TestSet, choose_tests, compared_text, comparison
from traitbench.comparison.versions import PairScore, TestSample, common_traits, compare_traits, score_pairs
from traitbench.contract.bundles import Bundle, BundledSample, BundleInvalid, choose_version, parse
from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.metrics import Metrics
from traitbench.contract.samples import text_hash
from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.registry import load_encoder_of
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid, param_hash

_UNRECORDED = "Exported files do not record which samples each version was trained with."
_AT_ONCE = 64  # texts


class NotComparable(Exception):
    """The files cannot be compared; the message says why and what to do."""


@dataclass(frozen=True)
class _Sample:
    """A sample of a file, with the hash of its text."""

    trait: str
    text: str
    content_sha256: str
    quality: float
    must_pass: bool


def read_bundle(content: bytes, *, name: str) -> Bundle:
    """The bundle in a file; raise `NotComparable` if it is none, or was changed since it was exported."""
    try:
        return parse(content, name=name)
    except BundleInvalid as error:
        raise NotComparable(str(error)) from error


def compare_bundles(
    a: Bundle,
    b: Bundle,
    *,
    cache: Path,
    version_a: str | None = None,
    version_b: str | None = None,
    encoder: str | None = None,
    texts: Sequence[str] | None = None,
) -> VersionsComparison:
    """The comparison of two versions, by default the active ones; `version_a` and `version_b` are `vN` or tags.

    `cache` is the folder of what is made from an encoder's weights, and `encoder` the name or folder of one that is not
    built in. Raise `NotComparable` if a version or its encoder is missing.
    """
    one, other = _side(a, version_a), _side(b, version_b)
    encoders = [_encoder(each.snapshot, configured=encoder, cache=cache) for each in (one, other)]
    keys = common_traits(one.snapshot, other.snapshot)
    everything = [*(a.samples or ()), *(b.samples or ())]
    learned = {(each.trait, text_hash(each.text)) for each in everything if not each.held_out and not each.pending}
    tests, left_out = choose_tests(
        [_sample(each) for each in everything if each.held_out and each.trait in keys],
        lambda trait, hashed: (trait, hashed) in learned,
    )
    distinct = list(dict.fromkeys([*(each.text for each in tests), *(texts or ())]))
    scored = dict(zip(distinct, _scored(one.snapshot, other.snapshot, encoders, distinct), strict=True))
    places = {text: place for place, text in enumerate(distinct)}
    samples = [TestSample(each.trait, places[each.text], each.quality, each.must_pass) for each in tests]
    tested = [scored[text] for text in distinct[: len({each.text for each in tests})]]
    same = one.param_hash == other.param_hash
    results = compare_traits(one.snapshot, other.snapshot, keys, samples, tested, same=same)
    lines = [
        compared_text(one.snapshot, other.snapshot, keys, index, scored[text]) for index, text in enumerate(texts or ())
    ]
    return comparison(
        one,
        other,
        results,
        recorded=Recorded(unrecorded=_UNRECORDED),
        tested=TestSet(left_out),
        texts=None if texts is None else lines,
    )


def _scored(a: Snapshot, b: Snapshot, encoders: Sequence[Encoder], texts: Sequence[str]) -> list[PairScore]:
    scored: list[PairScore] = []
    for first in range(0, len(texts), _AT_ONCE):
        some = texts[first : first + _AT_ONCE]
        scored += score_pairs(a, b, encoders[0].encode, encoders[1].encode, some)
    return scored


def _sample(sample: BundledSample) -> _Sample:
    return _Sample(sample.trait, sample.text, text_hash(sample.text), sample.quality, sample.must_pass)


def _side(bundle: Bundle, version: str | None) -> Side:
    try:
        chosen = choose_version(bundle, version)
    except BundleInvalid as error:
        raise NotComparable(str(error)) from error
    try:
        snapshot = Snapshot.from_json(chosen.snapshot)
    except SnapshotInvalid as error:
        raise NotComparable(
            f"v{chosen.version_no} of {bundle.handle} cannot be read: {error}. Export it again."
        ) from error
    return Side(
        bundle.handle, chosen.version_no, param_hash(snapshot), snapshot, Metrics.model_validate(chosen.metrics)
    )


def _encoder(snapshot: Snapshot, *, configured: str | None, cache: Path) -> Encoder:
    try:
        return load_encoder_of(snapshot.encoder, configured=configured, cache=cache)
    except EncoderUnavailable as error:
        raise NotComparable(str(error)) from error
