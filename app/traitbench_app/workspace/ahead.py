"""A draft that is not trained yet against a version: what a training would give, on the draft's test samples.

The code is that with which the service compares versions, so the verdict after the training is the same if nothing else
changes. Nothing is stored.
"""

from collections.abc import Sequence

from traitbench.comparison.version_comparison import Recorded, Side, TestSet, choose_tests, comparison
from traitbench.comparison.versions import TestSample, common_traits, compare_traits, score_pairs
from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.metrics import Metrics
from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.versions import Version
from traitbench.local import preview
from traitbench.local.preview import Rehearsal

_UNRECORDED = "the draft is not trained yet"


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
    before = preview.snapshot_of(version)
    after = rehearsal.snapshot
    keys = common_traits(before, after)
    trained = {(each.trait, each.content_sha256) for each in (*samples, *learned) if not each.held_out}
    tests, left_out = choose_tests(
        [each for each in (*samples, *learned) if each.held_out and each.trait in keys],
        lambda trait, hashed: (trait, hashed) in trained,
    )
    places = {text: place for place, text in enumerate(dict.fromkeys(each.text for each in tests))}
    scored = score_pairs(before, after, preview.encode, preview.encode, list(places))
    given = [TestSample(each.trait, places[each.text], each.quality, each.must_pass) for each in tests]
    new_hash = rehearsal.param_hash
    results = compare_traits(before, after, keys, given, scored, same=version.param_hash == new_hash)
    return comparison(
        Side(origin, version.version_no, version.param_hash, before, version.metrics),
        Side(draft.handle, (draft.version_no or 0) + 1, new_hash, after, Metrics.model_validate(rehearsal.metrics)),
        results,
        recorded=Recorded(unrecorded=_UNRECORDED),
        tested=TestSet(left_out),
        texts=None,
    )
