"""What a batch is asked with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from traitbench.contract.batches import Mode
from traitbench.names import pin


@dataclass(frozen=True)
class Asked:
    """The model, traits and mode with which all texts are scored."""

    handle: str
    traits: Sequence[str] | None = None
    mode: Mode = "full"

    def of_version(self, version: str) -> "Asked":
        """Return the same request pinned to a version, so that a new active version does not change it."""
        return replace(self, handle=pin(self.handle, version))
