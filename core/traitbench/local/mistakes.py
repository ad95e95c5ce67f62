"""The scores of a version's samples from fits that did not see them: which are on the wrong side, and in which tier.

The service stores only counts, so the held-out scores are computed here again, with the settings that the version
chose. They are those of the training if the samples are the same. Test samples are scored with the version itself.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from cachetools import LRUCache, cached

from traitbench.contract.samples import Sample
from traitbench.contract.scores import TraitScore
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.fitting.fit import OutOfFold
from traitbench.local import preview
from traitbench.local.training import TrainingSettings, effort_of, identity, out_of_fold
from traitbench.local.version import LocalVersion
from traitbench.scoring.card import RawCard, half_up, tier, trait_score
from traitbench.scoring.snapshot import TraitAxis

_MOST_RESULTS = 16


@dataclass(frozen=True, eq=False)
class HeldOutScore:
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
    def is_wrong(self) -> bool:
        """Whether the score is not on the side of the label; a score of 50 is on neither."""
        return self.points <= 50 if self.positive else self.points >= 50

    @property
    def distance(self) -> float:
        """How far the score is from the pole of the label, 0..1."""
        return 1 - self.position if self.positive else self.position

    @property
    def score(self) -> TraitScore:
        """The score as a card has it."""
        card = RawCard({self.axis.key: trait_score(self.axis, self.position)})
        return TraitScore.model_validate(card.to_wire()["detail"][self.axis.key])


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """The held-out scores of a version by trait key; the samples of `changed` traits are not those of its training."""

    by_trait: Mapping[str, Sequence[HeldOutScore]]
    changed: frozenset[str]

    def wrong(self, trait: str) -> list[HeldOutScore]:
        """The texts on the wrong side of the middle, worst first."""
        wrong = [each for each in self.by_trait.get(trait, ()) if each.is_wrong]
        return sorted(wrong, key=lambda each: (-each.distance, each.first.id))


def learned(version: Version, samples: Sequence[Sample]) -> list[Sample]:
    """The samples that a version can have been trained with or measured on: those that are older than it."""
    return [each for each in samples if each.created_at <= version.created_at]


def held_out_scores(version: Version, traits: Sequence[Trait], samples: Sequence[Sample]) -> HeldOutScores:
    """Score the samples of a version; `version` has its snapshot. The result is cached.

    Raise `PreviewUnavailable` if this workbench cannot score with the version.
    """
    here = preview.version_of(version)
    given = [trait for trait in traits if trait.kind == "extrinsic"]
    own = learned(version, samples)
    return _scored(f"{version.param_hash}:{identity(given, own, here.encoder)}", version, here, given, own)


# With a condition, sessions that ask for the same wait for one computation.
@cached(LRUCache(_MOST_RESULTS), key=lambda identity, *_: identity, condition=threading.Condition())
def _scored(
    _identity: str, version: Version, here: LocalVersion, traits: Sequence[Trait], samples: Sequence[Sample]
) -> HeldOutScores:
    axes = {axis.key: axis for axis in here.snapshot.traits}
    traits = [trait for trait in traits if trait.key in axes]
    trained, tests = ([each for each in samples if each.held_out is is_test] for is_test in (False, True))
    # Scored again and not stored: a score per sample would tie versions to samples that may be deleted, and to texts
    # under zero retention. The price: this machine needs the encoder of the version.
    settings = TrainingSettings(effort_of(version.metrics.effort), version.metrics.use_labels is not False)
    fields = {"shares", "parameters"}
    chosen = {key: each.model_dump(include=fields) for key, each in version.metrics.traits.items()}
    fitted = out_of_fold(traits, trained, settings, chosen=chosen, encoder=here.encoder)
    placed = here.project([each.text for each in tests])
    on_tests = {
        each.id: dict(zip(axes, scored.positions, strict=True)) for each, scored in zip(tests, placed, strict=True)
    }
    by_trait, changed = {}, set()
    for trait in traits:
        axis, own = axes[trait.key], [each for each in trained if each.trait == trait.key]
        result = fitted.get(trait.key)
        positions = _by_id(own, result) if result else {}
        # Other parameters than the version has: its samples have changed since the training.
        if result and not np.array_equal(result.vector, axis.vector):
            changed.add(trait.key)
        positions |= {each.id: on_tests[each.id][axis.key] for each in tests if each.trait == trait.key}
        by_trait[trait.key] = _joined([each for each in samples if each.id in positions], positions, axis)
    return HeldOutScores(by_trait, frozenset(changed))


def _by_id(samples: Sequence[Sample], result: OutOfFold) -> dict[int, float]:
    pairs = zip(samples, result.positions.tolist(), strict=True)
    return {sample.id: position for sample, position in pairs if not np.isnan(position)}


def _joined(samples: Sequence[Sample], positions: Mapping[int, float], axis: TraitAxis) -> list[HeldOutScore]:
    """One score for each text and pole; a label in the middle has no side."""
    groups: dict[tuple[str, bool, bool], list[Sample]] = {}
    for sample in samples:
        if sample.quality != 0.5:
            groups.setdefault((sample.content_sha256, sample.quality > 0.5, sample.held_out), []).append(sample)
    return [HeldOutScore(tuple(own), positions[own[0].id], axis) for own in groups.values()]
