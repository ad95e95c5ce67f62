"""What scores a text on a page: a version, or the rehearsal of a draft.

Both score in this workbench, a version also where it cannot: then the service scores. The service explains a version,
as it does for everyone; a rehearsal, which the service does not have, is explained here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from traitbench.contract.explanations import Explanation
from traitbench.contract.scores import Card, Comparison
from traitbench.contract.versions import Version
from traitbench.errors import Unreachable
from traitbench.local import preview
from traitbench.local.version import LOCAL, LocalVersion, PreviewUnavailable
from traitbench.names import pin
from traitbench_app.parts.version_figures import label
from traitbench_app.shell.service import client
from traitbench_app.shell.service import version as whole


@dataclass(frozen=True)
class PageScorer:
    """A version with its pinned handle, or a rehearsal, which has none; `by` is None where only the service scores.

    All methods raise the errors of the service.
    """

    pinned: str = ""
    by: LocalVersion | None = None

    @property
    def identity(self) -> str:
        """The pinned handle; the hash of its parameters for a rehearsal."""
        return self.pinned or (self.by.param_hash if self.by else "")

    def cards(self, texts: Sequence[str]) -> list[Card]:
        """The cards of texts."""
        if self.by:
            return self.by.score(texts)
        return [client().scores.score(self.pinned, text) for text in texts]

    def compare(self, texts: tuple[str, str], cards: tuple[Card, Card]) -> Comparison:
        """The comparison of two texts by their cards."""
        return self.by.compare(*cards) if self.by else client().scores.compare(self.pinned, *texts)

    def explain(self, text: str) -> Mapping[str, Explanation]:
        """The explanation of the text's scores, by trait; without similar samples if the service does not answer."""
        if self.by and not self.pinned:
            return self.by.explain(text)
        try:
            return client().scores.score(self.pinned, text, explain=True).explanation or {}
        except Unreachable:
            if self.by is None:
                raise
            return self.by.explain(text)


def scorer_of(handle: str, version: Version) -> PageScorer:
    """The scorer of a model's version."""
    pinned = pin(handle, label(version))
    try:
        return PageScorer(pinned, preview.version_of(whole(handle, version)))
    except PreviewUnavailable:
        return PageScorer(pinned)


def is_preview(card: Card) -> bool:
    """Whether a card was made here, not by the service."""
    return card.metadata.request_id == LOCAL
