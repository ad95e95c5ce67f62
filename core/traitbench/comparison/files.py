"""Compares two exported models as files: without a service, a key or a network.

Equal files give equal answers. The test samples are the held-out samples of both files. What a version was trained with
is not in its file, so a text counts as learned if it is a training sample of the file today.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from traitbench.comparison.drafts import scoring
from traitbench.comparison.versions import VersionSide, compare_samples
from traitbench.contract.bundles import Bundle, BundledSample, BundleInvalid, choose_version, parse
from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.metrics import Metrics
from traitbench.contract.samples import text_hash
from traitbench.errors import LocalError
from traitbench.local.version import LocalVersion, PreviewUnavailable
from traitbench.local.version_files import snapshot_of

_UNRECORDED = "Exported files do not record which samples each version was trained with."


class NotComparable(LocalError):
    """The files cannot be compared; the message says why and what to do."""


@dataclass(frozen=True)
class _Sample:
    """A sample of a file, with the hash of its text."""

    trait: str
    text: str
    content_sha256: str
    quality: float
    must_pass: bool
    group: str | None


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
    version_a: str | None = None,
    version_b: str | None = None,
    texts: Sequence[str] | None = None,
) -> VersionsComparison:
    """The comparison of two versions, by default the active ones; `version_a` and `version_b` are `vN` or tags.

    Raise `NotComparable` if a version or its encoder is missing.
    """
    everything = [*(a.samples or ()), *(b.samples or ())]
    try:
        one, other = _side(a, version_a), _side(b, version_b)
        score = scoring(*(LocalVersion(each.snapshot) for each in (one, other)))
    except (BundleInvalid, PreviewUnavailable) as error:
        raise NotComparable(str(error)) from error
    return compare_samples(
        one,
        other,
        [_sample(each) for each in everything if each.held_out],
        {(each.trait, text_hash(each.text)) for each in everything if not each.held_out and not each.pending},
        score,
        unrecorded=_UNRECORDED,
        texts=texts,
    )


def _sample(sample: BundledSample) -> _Sample:
    return _Sample(sample.trait, sample.text, text_hash(sample.text), sample.quality, sample.must_pass, sample.group)


def _side(bundle: Bundle, version: str | None) -> VersionSide:
    chosen = choose_version(bundle, version)
    snapshot = snapshot_of(chosen, name=f"v{chosen.version_no} of {bundle.handle}")
    metrics = Metrics.model_validate(chosen.metrics)
    return VersionSide(bundle.handle, chosen.version_no, chosen.param_hash, snapshot, metrics)
