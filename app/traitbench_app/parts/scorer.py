"""What scores on the Score page: a version or the rehearsal of a draft, both without the service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from traitbench.contract.explanations import Explanation
from traitbench.contract.scores import Card, Comparison
from traitbench.contract.versions import Version
from traitbench.local import preview
from traitbench.local.preview import Rehearsal


@dataclass(frozen=True)
class Scorer:
    """A version or a rehearsal; its methods raise `PreviewUnavailable` if this workbench cannot score with it."""

    by: Version | Rehearsal

    @property
    def identity(self) -> str:
        """A hash of the parameters."""
        return self.by.param_hash

    def cards(self, texts: Sequence[str]) -> list[Card]:
        """The cards of texts."""
        if isinstance(self.by, Version):
            return preview.score(self.by, texts)
        return preview.score_rehearsal(self.by, texts)

    def compare(self, a: Card, b: Card) -> Comparison:
        """The comparison of two cards."""
        if isinstance(self.by, Version):
            return preview.compare(self.by, a, b)
        return preview.compare_rehearsal(self.by, a, b)

    def highlights(self, text: str) -> Mapping[str, Explanation]:
        """The quick explanation of a text, by trait."""
        if isinstance(self.by, Version):
            return preview.highlights(self.by, text)
        return preview.highlights_of_rehearsal(self.by, text)
