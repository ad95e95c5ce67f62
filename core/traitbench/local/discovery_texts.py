"""The texts that a discovery reads: those of the samples, and those of the pool that have no label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from traitbench.analysis.condition import says_nothing
from traitbench.contract.samples import Sample
from traitbench.fitting.discover import FEWEST_TEXTS, MOST_TEXTS

__all__ = ["FEWEST_TEXTS", "MOST_TEXTS", "DiscoveryTexts", "texts_of"]

_MOST_CHARACTERS = 2_000_000


@dataclass(frozen=True)
class DiscoveryTexts:
    """Texts by hash: those of samples, and those without labels; `nothing` is the number of texts that say nothing."""

    labelled: Mapping[str, str]
    unlabelled: Mapping[str, str]
    nothing: int = 0

    def __len__(self) -> int:
        return len(self.labelled) + len(self.unlabelled)

    def to_send(self) -> list[str]:
        """The unlabelled texts that a discovery would analyse: those with the lowest hashes of all.

        Very long texts may fill the request before; then those with higher hashes are left out.
        """
        chosen, characters = list[str](), 0
        for digest in sorted({*self.labelled, *self.unlabelled})[:MOST_TEXTS]:
            text = self.unlabelled.get(digest, "")
            characters += len(text)
            if characters > _MOST_CHARACTERS:
                break
            if text:
                chosen.append(text)
        return chosen


def texts_of(samples: Sequence[Sample], pool: Mapping[str, str]) -> DiscoveryTexts:
    """The texts of samples and of a pool by hash; test samples are left out, also of the pool.

    Texts of the pool that say nothing are left out: they are alike, so they would be discovered before anything else.
    """
    labelled = {sample.content_sha256: sample.text for sample in samples if not sample.held_out}
    known = labelled.keys() | {sample.content_sha256 for sample in samples}
    free = {key: text for key, text in pool.items() if key not in known}
    some = {key: text for key, text in free.items() if not says_nothing(text)}
    return DiscoveryTexts(labelled, some, len(free) - len(some))
