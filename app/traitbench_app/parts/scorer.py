"""What scores a text on a page: a version, or the rehearsal of a draft.

Both score in this workbench, a version also where it cannot: then the service scores. The service explains a version,
as it does for everyone; a rehearsal, which the service does not have, is explained here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from traitbench.contract.explanations import Explanation
from traitbench.contract.scores import Card, Comparison
from traitbench.contract.versions import Version
from traitbench.local import preview
from traitbench.local.preview import PreviewUnavailable, Rehearsal
from traitbench.names import pin
from traitbench_app.parts.version_figures import label
from traitbench_app.shell.service import client
from traitbench_app.shell.service import version as whole


@dataclass(frozen=True)
class Scorer:
    """A version with its pinned handle, or a rehearsal, whose methods raise `PreviewUnavailable` if it cannot score.

    All methods raise the errors of the service.
    """

    pinned: str = ""
    by: Version | Rehearsal | None = None

    @property
    def identity(self) -> str:
        """The pinned handle; the hash of its parameters for a rehearsal."""
        return self.by.param_hash if isinstance(self.by, Rehearsal) else self.pinned

    def cards(self, texts: Sequence[str]) -> list[Card]:
        """The cards of texts."""
        if isinstance(self.by, Rehearsal):
            return preview.score_rehearsal(self.by, texts)
        if self.by is not None:
            try:
                return preview.score(self.by, texts)
            except PreviewUnavailable:
                pass
        return [client().scores.score(self.pinned, text) for text in texts]

    def compare(self, texts: tuple[str, str], cards: tuple[Card, Card]) -> Comparison:
        """The comparison of two texts by their cards."""
        if isinstance(self.by, Rehearsal):
            return preview.compare_rehearsal(self.by, *cards)
        if self.by is not None and preview.is_preview(cards[0]):
            return preview.compare(self.by, *cards)
        return client().scores.compare(self.pinned, *texts)

    def explain(self, text: str) -> Mapping[str, Explanation]:
        """The explanation of the text's scores, by trait."""
        if isinstance(self.by, Rehearsal):
            return preview.explain_rehearsal(self.by, text)
        return client().scores.score(self.pinned, text, explain=True).explanation or {}


def scorer_of(handle: str, version: Version) -> Scorer:
    """The scorer of a model's version."""
    return Scorer(pin(handle, label(version)), whole(handle, version))
