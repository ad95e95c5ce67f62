"""Compare what is trained in memory: a draft before its training, or two versions trained without some texts.

The code is that with which the service trains and compares. Nothing is stored, and no version changes.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from traitbench.comparison.versions import ScorePairs, VersionSide, compare_samples, score_pairs
from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.metrics import Metrics
from traitbench.contract.models import DEFAULT_EFFORT, Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.fitting.collect import together_groups
from traitbench.fitting.duplicates import joined, near_duplicates
from traitbench.local import held_out, preview
from traitbench.local.version import LocalVersion, PreviewUnavailable


class TrainedDraft(NamedTuple):
    """A version with the traits of its model and the samples that it was trained with."""

    model: Model
    traits: Sequence[Trait]
    version: Version
    samples: Sequence[Sample]


def compared_again(before: TrainedDraft, after: TrainedDraft) -> tuple[VersionsComparison, int]:
    """Compare two versions that are trained again without some texts, on these; return also how many texts these are.

    The texts are chosen among those that both learned from with the same label. What resembles them or was made from
    them is not used to train either. Raise `PreviewUnavailable` if there are too few texts, or if the versions cannot
    be trained again here.
    """
    labels = {(each.trait, each.content_sha256, each.quality) for each in before.samples}
    common = [each for each in after.samples if (each.trait, each.content_sha256, each.quality) in labels]
    chosen = held_out.choice(common, preview.vectors(common))
    if refusal := held_out.refusal(chosen, after.traits):
        raise PreviewUnavailable(f"Nothing was set aside. {refusal}")
    tests = [each for each in common if each.id in {*chosen.ids}]
    every = [*before.samples, *after.samples]
    related = np.unique([str(each) for each in together_groups(every)], return_inverse=True)[1]
    numbers = joined(related, near_duplicates(preview.vectors(every))).tolist()
    groups = dict(zip([each.content_sha256 for each in every], numbers, strict=True))
    aside = {groups[each.content_sha256] for each in tests}
    a, b = (_without(each, groups, aside) for each in (before, after))
    compared = compare_samples(
        _side(before.model.handle, before.version.version_no, a),
        _side(after.model.handle, after.version.version_no, b),
        [each.model_copy(update={"held_out": True}) for each in tests],
        set(),
        scoring(a, b),
        unrecorded="both were trained again",
    )
    return compared, len({each.content_sha256 for each in tests})


def compared_ahead(
    origin: str,
    version: Version,
    draft: Model,
    rehearsal: LocalVersion,
    samples: Sequence[Sample],
    learned: Sequence[Sample],
) -> VersionsComparison:
    """Compare a version of the model `origin` with the rehearsal of a draft, as after the training of the draft.

    `samples` are those of the draft, test samples included; `learned` are those that the version was trained with.
    Raise `PreviewUnavailable` if this workbench cannot score with the version.
    """
    before, every = preview.version_of(version), (*samples, *learned)
    return compare_samples(
        VersionSide(origin, version.version_no, version.param_hash, before.snapshot, version.metrics),
        _side(draft.handle, (draft.version_no or 0) + 1, rehearsal),
        [each for each in every if each.held_out],
        {(each.trait, each.content_sha256) for each in every if not each.held_out},
        scoring(before, rehearsal),
        unrecorded="the draft is not trained yet",
    )


def scoring(a: LocalVersion, b: LocalVersion) -> ScorePairs:
    """How texts get their scores by both versions, each with its own encoder."""
    encoders = a.encode, b.encode
    return lambda texts: score_pairs(a.snapshot, b.snapshot, *encoders, texts)


def _side(handle: str, version_no: int, version: LocalVersion) -> VersionSide:
    metrics = Metrics.model_validate(version.metrics)
    return VersionSide(handle, version_no, version.param_hash, version.snapshot, metrics)


def _without(trained: TrainedDraft, groups: Mapping[str, int], aside: Collection[int]) -> LocalVersion:
    model, traits, version, samples = trained
    if preview.version_of(version).encoder is not preview.encoder():
        raise PreviewUnavailable(f"v{version.version_no} has another encoder than a training here would use.")
    if version.metrics.use_labels is False:
        raise PreviewUnavailable(f"v{version.version_no} was trained without its labels, which is not done here.")
    rest = [each for each in samples if groups[each.content_sha256] not in aside]
    return preview.rehearse(model, traits, rest, effort=version.metrics.effort or DEFAULT_EFFORT)
