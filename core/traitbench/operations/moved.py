"""Which of the samples that changed between two versions moved the score of a text.

Of the changed samples of a trait, those most similar to the text are named. For the nearest few groups of them (near
duplicates form a group), the second version is fitted again with this one change undone. Added samples are left out,
removed ones are put back, relabelled ones get their old label. The parameters stay, so nothing is searched. The
difference of the two fits is the shift.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sqlalchemy import Connection

from traitbench.contract.comparisons import MovedBy
from traitbench.contract.metrics import Metrics
from traitbench.encoders import Encoder
from traitbench.fitting.collect import collect
from traitbench.fitting.duplicates import near_duplicates
from traitbench.fitting.fit import EncoderIdentity, fit
from traitbench.local.training import label_axes
from traitbench.operations import serving
from traitbench.operations.context import Context
from traitbench.operations.serving import Served
from traitbench.scoring import card
from traitbench.scoring.segments import embed
from traitbench.scoring.snapshot import Snapshot
from traitbench.store import samples, traits, vectors, version_samples
from traitbench.store.samples import Label
from traitbench.store.traits import TraitRow
from traitbench.store.vectors import Vector
from traitbench.store.version_samples import Records
from traitbench.synthesis.label_axis import LabelAxes

_NEAREST = 5
_REFITTED = 3  # groups for each text and trait
_MOST_SAMPLES = 2_000  # of a trait that is fitted again: a fit takes up to a second

_Qualities = Mapping[int, float]


@dataclass(frozen=True)
class _Change:
    """A changed sample: its row, its vector, and its quality in both versions; None where it is missing."""

    label: Label
    vector: Vector
    before: float | None
    after: float | None

    @property
    def kind(self) -> Literal["added", "removed", "relabelled"]:
        """How it changed."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "relabelled"


class Movers:
    """The changed samples of two versions, and the fits without some of these changes."""

    def __init__(
        self,
        connection: Connection,
        context: Context,
        a: Served,
        b: Served,
        metrics: Metrics,
        records: Sequence[Records],
    ) -> None:
        self._encoder = serving.of_version(context, b.snapshot)
        self._snapshot, self._metrics = b.snapshot, metrics
        self._axes = label_axes(self._encoder, context.settings.cache)
        self._traits = {row.key: row for row in traits.rows(connection, b.model.id) if row.kind == "extrinsic"}
        old, new = (_qualities(record) for record in records)
        known: dict[int, tuple[Label, Vector]] = {}
        for model_id in dict.fromkeys((a.model.id, b.model.id)):
            stored = vectors.read(connection, model_id, self._encoder.digest)
            for label in samples.labels(connection, model_id):
                if label.id in stored:
                    number = version_samples.number(label.trait, label.content_sha256)
                    known[number] = (label, stored[label.id])
        self._learned: dict[str, dict[int, tuple[Label, Vector]]] = defaultdict(dict)
        self._changes: dict[str, list[_Change]] = defaultdict(list)
        for number, (label, vector) in known.items():
            if number in new:
                self._learned[label.trait][number] = (label, vector)
            if old.get(number) != new.get(number):
                self._changes[label.trait].append(_Change(label, vector, old.get(number), new.get(number)))
        self._new = new
        self._groups = {
            key: near_duplicates(np.array([each.vector for each in changes], np.float32))
            for key, changes in self._changes.items()
        }
        self._fitted: dict[tuple[str, int | None], Snapshot | None] = {}

    def of(self, text: str, keys: Sequence[str]) -> list[MovedBy]:
        """The changed samples most similar to a text, by trait, the nearest first."""
        [vector] = embed(self._encoder.encode, [text])
        return [each for key in keys for each in self._of_trait(text, vector, key)]

    def _of_trait(self, text: str, vector: Vector, key: str) -> list[MovedBy]:
        changes = self._changes.get(key, [])
        similar = np.array([float(each.vector @ vector) for each in changes])
        nearest = sorted(range(len(changes)), key=lambda position: (-similar[position], changes[position].label.id))[
            :_NEAREST
        ]
        groups = list(dict.fromkeys(int(self._groups[key][position]) for position in nearest))[:_REFITTED]
        shifts = {group: self._shift(text, key, group) for group in groups}
        return [
            MovedBy(
                trait=key,
                sample_id=changes[position].label.id,
                change=changes[position].kind,
                quality_a=changes[position].before,
                quality_b=changes[position].after,
                similarity=round(float(similar[position]), 2) + 0.0,
                shift=shifts.get(int(self._groups[key][position])),
            )
            for position in nearest
        ]

    def _shift(self, text: str, key: str, group: int) -> float | None:
        """By how many points the changes of a group moved the text; None if this cannot be fitted."""
        positions = []
        for without in (None, group):
            if (key, without) not in self._fitted:
                self._fitted[key, without] = self._fit(key, without)
            snapshot = self._fitted[key, without]
            if snapshot is None:
                return None
            positions.append(card.project(snapshot, self._encoder.encode, [text])[0].positions[0])
        return round(100 * (positions[0] - positions[1]), 1) + 0.0

    def _fit(self, key: str, without: int | None) -> Snapshot | None:
        """The second version's trait, fitted again; with the changes of a group undone, if one is given."""
        trait, chosen = self._traits.get(key), self._metrics.traits.get(key)
        if trait is None or chosen is None or not chosen.shares:
            return None
        learned = {number: (label, vector, self._new[number]) for number, (label, vector) in self._learned[key].items()}
        for change, group in zip(self._changes[key], self._groups[key], strict=True):
            if group == without:
                number = version_samples.number(key, change.label.content_sha256)
                learned.pop(number, None)
                if change.before is not None:
                    learned[number] = (change.label, change.vector, change.before)
        qualities = [quality for _, _, quality in learned.values()]
        if len(learned) > _MOST_SAMPLES or not (any(q > 0.5 for q in qualities) and any(q < 0.5 for q in qualities)):
            return None
        return _fitted(self._encoder, trait, list(learned.values()), self._snapshot, self._metrics, self._axes)


def _fitted(
    encoder: Encoder,
    trait: TraitRow,
    learned: Sequence[tuple[Label, Vector, float]],
    snapshot: Snapshot,
    metrics: Metrics,
    axes: LabelAxes,
) -> Snapshot:
    """One trait, fitted with the parameters of a version."""
    labels = sorted((_relabelled(label, quality) for label, _, quality in learned), key=lambda each: each.id)
    known = {label.content_sha256: vector for label, vector, _ in learned}
    fixed: dict[str, Any] = {trait.key: metrics.traits[trait.key].model_dump(include={"shares", "parameters"})}
    use_labels = metrics.use_labels is not False
    collected = collect(
        # Spellings decide about resemblance only, and here only positions are read.
        [trait],
        labels,
        known,
        spellings={},
        axes={},
        label_axis=axes.of if use_labels else lambda _: None,
    )
    return fit(
        collected,
        encoder=EncoderIdentity.of(encoder),
        scoring_method=snapshot.scoring_method,
        max_depth=snapshot.max_depth,
        effort="low",
        fixed=fixed,
    ).snapshot


def _relabelled(label: Label, quality: float) -> Label:
    fields = {**vars(label), "quality": quality}
    return Label(**fields)


def _qualities(record: Records) -> _Qualities:
    """The qualities of the samples that a version was trained with, by number."""
    trained = record[~record["held_out"]]
    return dict(zip(trained["sample"].tolist(), trained["quality"].tolist(), strict=True))
