"""Whether a retrained version is worse than the active one, for models with `hold_if_worse`.

It is measured on the test samples if every trait has enough of them, otherwise out of fold (`comparison.retrains`). If
it cannot be measured at all, the version is not held: nothing shows that it is worse.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine

from traitbench.comparison import retrains
from traitbench.comparison.retrains import Change, MeasuredOn, Tested
from traitbench.encoders import Encoder
from traitbench.errors import UnreadableRow
from traitbench.fitting.fit import TraitSamples, feature_blocks
from traitbench.fitting.search import chosen_before
from traitbench.runs.execution import Fenced
from traitbench.scoring import card
from traitbench.scoring.segments import EncodeOnce
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid
from traitbench.store import samples, versions
from traitbench.store.database import reading

_TEXTS_AT_ONCE = 32

Label = samples.Label


def reason_to_hold(
    engine: Engine,
    encoder: Encoder,
    *,
    run_id: str,
    model_id: int,
    active_version_id: int,
    after: Snapshot,
    traits: Sequence[TraitSamples],
    labels: Sequence[Label],
    fixed: Mapping[str, Any],
    effort: str,
    on_progress: Callable[[], object],
) -> dict[str, Any] | None:
    """`metrics.held` if the version is worse than the active one; None if it is not.

    `traits` are the samples that it was trained with, from these `labels`; `fixed` are the settings of the active
    version. `on_progress` is called before each piece of work. Raise `Fenced` if texts were purged meanwhile.
    """
    with reading(engine) as connection:
        before = _snapshot(connection, active_version_id)
        compared_with = versions.by_id(connection, active_version_id)
        tests = [label for label in samples.all_labels(connection, model_id) if label.held_out]
    tested: dict[str, list[Tested]] = {}
    if before is not None and before.encoder.digest == encoder.digest:
        tested = _tested(engine, encoder, run_id, before, after, tests, on_progress)
    given = [trait for trait in traits if trait.intrinsic_axis is None]
    changes = _on_tests(given, tested)
    measured_on: MeasuredOn = "out_of_fold" if changes is None else "held_out"
    if changes is None:
        changes = _out_of_fold(encoder, given, labels, fixed, effort, on_progress)
    failed = sum(each.fails_now for own in tested.values() for each in own)
    because = retrains.worse(changes, must_pass_failed=failed, measured_on=measured_on)
    if because is None:
        return None
    return {
        "because": because,
        "measured_on": measured_on,
        "compared_with": None if compared_with is None else compared_with.version_no,
        "traits": {key: vars(change) for key, change in changes.items()},
        "must_pass_failed": failed,
    }


def _snapshot(connection: Connection, version_id: int) -> Snapshot | None:
    try:
        return Snapshot.from_json(versions.snapshot(connection, version_id))
    except (UnreadableRow, SnapshotInvalid):
        return None


def _on_tests(traits: Sequence[TraitSamples], tested: Mapping[str, Sequence[Tested]]) -> dict[str, Change] | None:
    """The changes on test samples; None unless every trait has enough of them."""
    changes = {trait.key: retrains.on_test_samples(tested.get(trait.key, ())) for trait in traits}
    known = {key: change for key, change in changes.items() if change is not None}
    return known if known and len(known) == len(changes) else None


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
    run_id: str,
    before: Snapshot,
    after: Snapshot,
    tests: Sequence[Label],
    on_progress: Callable[[], object],
) -> dict[str, list[Tested]]:
    """The test samples of each trait, scored by both versions as a score call would."""
    places = {trait.key: at for at, trait in enumerate(after.traits)}
    old_places = {trait.key: at for at, trait in enumerate(before.traits)}
    tested: dict[str, list[Tested]] = {key: [] for key in places if key in old_places}
    for some in _batches([each for each in tests if each.trait in tested]):
        on_progress()
        with reading(engine) as connection:
            texts = samples.texts(connection, [each.id for each in some])
        if len(texts) < len(some):
            raise Fenced(run_id)
        encode = EncodeOnce(encoder.encode)
        own = [texts[each.id] for each in some]
        scored = [card.place(snapshot, encode, own) for snapshot in (before, after)]
        for label, old, new in zip(some, *scored, strict=True):
            positions = (old.positions[old_places[label.trait]], new.positions[places[label.trait]])
            tested[label.trait].append(Tested(label.quality, label.must_pass, *positions))
    return tested


def _batches(labels: Sequence[Label]) -> Iterator[Sequence[Label]]:
    for first in range(0, len(labels), _TEXTS_AT_ONCE):
        yield labels[first : first + _TEXTS_AT_ONCE]
