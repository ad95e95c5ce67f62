"""Two versions that know all the texts there are: both are trained again in memory without some, and compared on these.

The code is that with which the service trains and compares. Nothing is stored, and no version changes.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np

from traitbench.comparison.versions import VersionSide, compare_samples, score_pairs
from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.metrics import Metrics
from traitbench.contract.models import DEFAULT_EFFORT, Model, TrainEffort
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.fitting.collect import text_groups
from traitbench.fitting.duplicates import alike, joined
from traitbench.local import held_out, preview
from traitbench.local.preview import PreviewUnavailable


class Trained(NamedTuple):
    """A version with the traits of its model and the samples that it was trained with."""

    model: Model
    traits: Sequence[Trait]
    version: Version
    samples: Sequence[Sample]


def compared_again(before: Trained, after: Trained) -> tuple[VersionsComparison, int]:
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
    related = text_groups(every)
    numbers = joined(np.array([related[each.id] for each in every]), alike(preview.vectors(every))).tolist()
    groups = dict(zip([each.content_sha256 for each in every], numbers, strict=True))
    aside = {groups[each.content_sha256] for each in tests}
    a, b = (_without(each, groups, aside) for each in (before, after))
    compared = compare_samples(
        a,
        b,
        [each.model_copy(update={"held_out": True}) for each in tests],
        set(),
        lambda texts: score_pairs(a.snapshot, b.snapshot, preview.encode, preview.encode, texts),
        unrecorded="both were trained again",
    )
    return compared, len({each.content_sha256 for each in tests})


def _without(side: Trained, groups: Mapping[str, int], aside: Collection[int]) -> VersionSide:
    model, traits, version, samples = side
    preview.snapshot_of(version)  # it has the encoder of this workbench
    if version.metrics.use_labels is False:
        raise PreviewUnavailable(f"v{version.version_no} was trained without its labels, which is not done here.")
    rest = [each for each in samples if groups[each.content_sha256] not in aside]
    rehearsed = preview.rehearse(
        model, traits, rest, effort=cast(TrainEffort, version.metrics.effort or DEFAULT_EFFORT)
    )
    metrics = Metrics.model_validate(rehearsed.metrics)
    return VersionSide(model.handle, version.version_no, rehearsed.param_hash, rehearsed.snapshot, metrics)
