"""What is labelled on the page: the pool with its decisions, and the samples that the model has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from traitbench.analysis.active_learning import Order
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.local.label_session import LabelWork, Learner, item_id
from traitbench_app.workspace.pool import Decision


@dataclass(frozen=True, eq=False)
class PoolWork:
    """A person's pool with what is decided and labelled, and the traits to label."""

    texts: Mapping[str, str]
    traits: Sequence[Trait]
    decisions: Sequence[Decision]
    samples: Sequence[Sample]

    def labelled(self, order: Order = "random", learner: Learner | None = None, *, hints: bool = True) -> LabelWork:
        """Return what a session labels. Test samples teach nothing, and a saved decision teaches by its sample."""
        given, keys = dict[str, dict[str, float | None]](), {trait.key for trait in self.traits}
        for each in self.samples:
            given.setdefault(each.trait, {})[each.content_sha256] = None if each.held_out else each.quality
        decided = {
            item_id(each.hash, each.trait): each.quality if each.pending else None
            for each in self.decisions
            if each.trait in keys
        }
        others = {each.content_sha256: each.text for each in self.training}
        return LabelWork(self.traits, self.texts, order, learner, hints, given, decided, others)

    @property
    def training(self) -> list[Sample]:
        """The samples to learn from."""
        return [each for each in self.samples if not each.held_out]

    def skipped(self) -> list[Decision]:
        """Return the skipped texts of these traits."""
        keys = {trait.key for trait in self.traits}
        return [each for each in self.decisions if each.quality is None and each.trait in keys]

    @property
    def saved(self) -> int:
        """How many labels of these traits the service confirmed."""
        keys = {trait.key for trait in self.traits}
        return sum(each.quality is not None and not each.pending for each in self.decisions if each.trait in keys)

    def balance(self, trait: Trait) -> tuple[int, int]:
        """Return how many samples of a trait are at the negative and at the positive pole, without test samples."""
        own = [each.quality for each in self.training if each.trait == trait.key]
        return sum(quality < 0.5 for quality in own), sum(quality > 0.5 for quality in own)
