"""Compares two exported models as files: without a service, a key or a network.

Equal files give equal answers. The test samples are the held-out samples of both files. What a version was trained with
is not in its file, so a text counts as learned if it is a training sample of the file today.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from traitbench.comparison.versions import ScorePairs, VersionSide, compare_samples, score_pairs
from traitbench.contract.bundles import Bundle, BundledSample, BundleInvalid, choose_version, parse
from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.metrics import Metrics
from traitbench.contract.samples import text_hash
from traitbench.encoders import EncoderUnavailable
from traitbench.encoders.registry import load_encoder_of
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid, param_hash

_UNRECORDED = "Exported files do not record which samples each version was trained with."


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
    everything = [*(a.samples or ()), *(b.samples or ())]
    return compare_samples(
        one,
        other,
        [_sample(each) for each in everything if each.held_out],
        {(each.trait, text_hash(each.text)) for each in everything if not each.held_out and not each.pending},
        _scoring(one, other, configured=encoder, cache=cache),
        unrecorded=_UNRECORDED,
        texts=texts,
    )


def _sample(sample: BundledSample) -> _Sample:
    return _Sample(sample.trait, sample.text, text_hash(sample.text), sample.quality, sample.must_pass)


def _side(bundle: Bundle, version: str | None) -> VersionSide:
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
    return VersionSide(
        bundle.handle, chosen.version_no, param_hash(snapshot), snapshot, Metrics.model_validate(chosen.metrics)
    )


def _scoring(a: VersionSide, b: VersionSide, *, configured: str | None, cache: Path) -> ScorePairs:
    """How texts get their scores by both versions, each with its own encoder."""
    try:
        encoders = [
            load_encoder_of(each.snapshot.encoder, configured=configured, cache=cache).encode for each in (a, b)
        ]
    except EncoderUnavailable as error:
        raise NotComparable(str(error)) from error
    return lambda texts: score_pairs(a.snapshot, b.snapshot, encoders[0], encoders[1], texts)
