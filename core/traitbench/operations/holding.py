"""Whether a retrained version is worse than the active one, for models with `hold_if_worse`.

It is measured on the test samples if every trait has enough of them, otherwise out of fold (`comparison.retrains`). If
it cannot be measured at all, the version is not held: nothing shows that it is worse.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine

from traitbench.comparison import retrains
from traitbench.comparison.retrains import Change
from traitbench.comparison.versions import PairScore, TestSample, TestSet, common_traits, compare_traits, score_pairs
from traitbench.contract.comparisons import TraitDifference
from traitbench.encoders import Encoder
from traitbench.errors import UnreadableRow
from traitbench.fitting.fit import TraitSamples, feature_blocks
from traitbench.fitting.search import chosen_before
from traitbench.operations.sample_vectors import texts_of
from traitbench.runs.execution import Execution
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid
from traitbench.store import samples, versions
from traitbench.store.database import reading

_TEXTS_AT_ONCE = 32

Label = samples.Label


def reason_to_hold(
    engine: Engine,
    encoder: Encoder,
    execution: Execution,
    *,
    active_version_id: int,
    after: Snapshot,
    traits: Sequence[TraitSamples],
    labels: Sequence[Label],
    fixed: Mapping[str, Any],
    on_progress: Callable[[], object],
) -> dict[str, Any] | None:
    """`metrics.held` if the version is worse than the active one; None if it is not.

    `traits` are the samples that it was trained with, from these `labels`; `fixed` are the settings of the active
    version. `on_progress` is called before each piece of work. Raise `Fenced` if texts were purged meanwhile.
    """
    with reading(engine) as connection:
        before = _snapshot(connection, active_version_id)
        compared_with = versions.by_id(connection, active_version_id)
        tests = samples.held_out_labels(connection, execution.run.model_id)
    tested: dict[str, TraitDifference] = {}
    if before is not None and before.encoder.digest == encoder.digest:
        tested = _tested(engine, encoder, execution, before, after, tests, on_progress)
    given = [trait for trait in traits if trait.intrinsic_axis is None]
    return retrains.reason_to_hold(
        [trait.key for trait in given],
        tested,
        lambda: _out_of_fold(encoder, given, labels, fixed, execution.run.effort, on_progress),
        compared_with=None if compared_with is None else compared_with.version_no,
    )


def _snapshot(connection: Connection, version_id: int) -> Snapshot | None:
    try:
        return Snapshot.from_json(versions.snapshot(connection, version_id))
    except (UnreadableRow, SnapshotInvalid):
        return None


def _out_of_fold(
    encoder: Encoder,
    traits: Sequence[TraitSamples],
    labels: Sequence[Label],
    fixed: Mapping[str, Any],
    effort: str,
    on_progress: Callable[[], object],
) -> dict[str, Change]:
    blocks = list(feature_blocks(encoder.modes, encoder.dimension).values())
    changes = {}
    for trait in traits:
        on_progress()
        known = np.array([not label.pending for label in labels if label.trait == trait.key], bool)
        shares = chosen_before(fixed.get(trait.key))
        change = retrains.out_of_fold(trait, known, shares=shares, effort=effort, blocks=blocks)
        if change is not None:
            changes[trait.key] = change
    return changes


def _tested(
    engine: Engine,
    encoder: Encoder,
    execution: Execution,
    before: Snapshot,
    after: Snapshot,
    tests: Sequence[Label],
    on_progress: Callable[[], object],
) -> dict[str, TraitDifference]:
    """Both versions on the test samples of the traits that both have."""
    keys = common_traits(before, after)
    own = [label for label in tests if label.trait in keys]
    scored: list[PairScore] = []
    for first in range(0, len(own), _TEXTS_AT_ONCE):
        on_progress()
        some = own[first : first + _TEXTS_AT_ONCE]
        texts = texts_of(engine, execution, [label.id for label in some])
        scored += score_pairs(before, after, encoder.encode, encoder.encode, [texts[label.id] for label in some])
    given = [TestSample(label.trait, at, label.quality, label.must_pass, label.group) for at, label in enumerate(own)]
    return compare_traits(before, after, keys, TestSet(given), scored)
