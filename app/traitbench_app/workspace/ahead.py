"""A draft that is not trained yet against a version: what a training would give, on the draft's test samples.

The code is that with which the service compares versions, so the verdict after the training is the same if nothing else
changes. Nothing is stored.
"""

from collections.abc import Sequence

from traitbench.comparison.versions import VersionSide, compare_samples, score_pairs
from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.metrics import Metrics
from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.versions import Version
from traitbench.local import preview
from traitbench.local.preview import Rehearsal


def compared_ahead(
    origin: str,
    version: Version,
    draft: Model,
    rehearsal: Rehearsal,
    samples: Sequence[Sample],
    learned: Sequence[Sample],
) -> VersionsComparison:
    """Compare a version of the model `origin` with the rehearsal of a draft.

    `samples` are those of the draft, test samples included; `learned` are those that the version was trained with.
    Raise `PreviewUnavailable` if this workbench cannot score with the version.
    """
    before, after = preview.snapshot_of(version), rehearsal.snapshot
    metrics, next_no = Metrics.model_validate(rehearsal.metrics), (draft.version_no or 0) + 1
    every = (*samples, *learned)
    return compare_samples(
        VersionSide(origin, version.version_no, version.param_hash, before, version.metrics),
        VersionSide(draft.handle, next_no, rehearsal.param_hash, after, metrics),
        [each for each in every if each.held_out],
        {(each.trait, each.content_sha256) for each in every if not each.held_out},
        lambda texts: score_pairs(before, after, preview.encode, preview.encode, texts),
        unrecorded="the draft is not trained yet",
    )
