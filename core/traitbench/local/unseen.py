"""What a version says of its samples, read from the positions that they had when they were held out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from traitbench.contract.samples import Sample
from traitbench.contract.scores import TraitScore
from traitbench.contract.versions import Version
from traitbench.local.version import PreviewUnavailable, VersionChoice, load_once
from traitbench.scoring.card import RawCard, half_up, tier, trait_score
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid, TraitAxis


@dataclass(frozen=True, eq=False)
class UnseenScore:
    """A text with one label and its held-out score on that trait; `samples` are all samples with this text and pole."""

    samples: tuple[Sample, ...]
    position: float
    axis: TraitAxis

    @property
    def first(self) -> Sample:
        """The first of the samples."""
        return self.samples[0]

    @property
    def key(self) -> str:
        """A stable name of the text with its label, for as long as the samples do not change."""
        return f"{self.first.trait}:{self.first.id}"

    @property
    def points(self) -> int:
        """The score, 0-100."""
        return half_up(100 * self.position)

    @property
    def tier(self) -> str:
        """The tier of the score, as the confusion table counts it."""
        return tier(self.points, self.axis.breaks)

    @property
    def positive(self) -> bool:
        """Whether the label is at the positive pole."""
        return self.first.quality > 0.5

    @property
    def distance(self) -> float:
        """How far the score is from the pole of the label, 0..1."""
        return 1 - self.position if self.positive else self.position

    @property
    def score(self) -> TraitScore:
        """The score as a card has it."""
        card = RawCard({self.axis.key: trait_score(self.axis, self.position)})
        return TraitScore.model_validate(card.to_wire()["detail"][self.axis.key])


def axes_of(version: Version) -> Mapping[str, TraitAxis]:
    """The axes of a version, which has its snapshot, by trait key; raise `PreviewUnavailable` without one."""
    parameters = version.snapshot
    if parameters is None:
        raise PreviewUnavailable("This workbench's API key may score but not read snapshots.")
    try:
        loaded = load_once(VersionChoice(version.param_hash), lambda: Snapshot.from_json(parameters))
    except SnapshotInvalid as error:
        raise PreviewUnavailable(str(error)) from error
    return {axis.key: axis for axis in loaded.snapshot.traits}


class UnseenRow(NamedTuple):
    """A sample of a version and its position when it was held out (`VersionSample`); there may be very many."""

    sample_id: int
    trait: str
    position: float | None
    right: bool | None
    held_out: bool

    @property
    def points(self) -> int | None:
        """The score, 0-100; None if it was never held out."""
        return None if self.position is None else half_up(100 * self.position)

    @property
    def positive(self) -> bool | None:
        """Whether the label is at the positive pole; None if the row does not tell: a label in the middle, or 50."""
        points = self.points
        return None if self.right is None or points is None or points == 50 else (points > 50) == self.right

    @property
    def distance(self) -> float:
        """How far the score is from the pole of the label, 0..1."""
        position = 0.5 if self.position is None else self.position
        return position if self.positive is False else 1 - position


class LabelledScore(Protocol):
    """A score beside the pole of its label: `UnseenScore`, or what a row tells of one."""

    @property
    def positive(self) -> bool:
        """Whether the label is at the positive pole."""
        ...

    @property
    def points(self) -> int:
        """The score, 0-100."""
        ...

    @property
    def tier(self) -> str:
        """The tier of the score."""
        ...


@dataclass(frozen=True)
class PossibleScore:
    """What a row tells of its score, at one of the poles where its label may be."""

    positive: bool
    points: int
    tier: str


def possible_scores(row: UnseenRow, axis: TraitAxis) -> list[PossibleScore]:
    """The score of a row whose label has a side: one, or one for each pole if the row does not tell at which it is."""
    points = row.points
    if row.right is None or points is None:
        return []
    poles = (True, False) if row.positive is None else (row.positive,)
    return [PossibleScore(positive, points, tier(points, axis.breaks)) for positive in poles]


def worst_first(rows: Iterable[UnseenRow]) -> list[UnseenRow]:
    """The rows whose label has a side, those that are farthest from its pole first."""
    return sorted((row for row in rows if row.right is not None), key=lambda row: (-row.distance, row.sample_id))


def joined(rows: Sequence[UnseenRow], samples: Iterable[Sample], axes: Mapping[str, TraitAxis]) -> list[UnseenScore]:
    """One score for each text and pole of the rows, in their order; rows whose samples are gone are left out."""
    by_id = {sample.id: sample for sample in samples}
    groups: dict[tuple[str, str, bool, bool], tuple[float, list[Sample]]] = {}
    for row in rows:
        sample = by_id.get(row.sample_id)
        if sample is not None and sample.quality != 0.5 and row.trait in axes and row.position is not None:
            key = (row.trait, sample.content_sha256, sample.quality > 0.5, row.held_out)
            groups.setdefault(key, (row.position, []))[1].append(sample)
    return [UnseenScore(tuple(own), position, axes[trait]) for (trait, *_), (position, own) in groups.items()]
