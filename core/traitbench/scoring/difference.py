"""Whether two texts surely differ on a trait, by their scores from one version."""

from collections.abc import Mapping
from typing import Protocol

from traitbench.scoring.certainty import Certainty
from traitbench.scoring.snapshot import Snapshot


class Scored(Protocol):
    """The fields of a trait's score that decide it."""

    @property
    def score(self) -> int:
        """The score, 0-100."""
        ...

    @property
    def confidence_reason(self) -> str | None:
        """Why the confidence is not high."""
        ...


def certain(snapshot: Snapshot, a: Mapping[str, Scored], b: Mapping[str, Scored]) -> dict[str, bool]:
    """By the key of each trait on both cards: whether the texts surely differ.

    A text that is unlike the samples surely differs from none.
    """
    return {
        trait.key: _certain(trait.certainty, a[trait.key], b[trait.key])
        for trait in snapshot.traits
        if trait.key in a and trait.key in b
    }


def _certain(certainty: Certainty, a: Scored, b: Scored) -> bool:
    resemble = "unlike_samples" not in (a.confidence_reason, b.confidence_reason)
    return resemble and certainty.differ(a.score, b.score)
