"""Cards as bytes: the answer to a score, and the lines of a batch."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json

from traitbench.contract.batch import LineError
from traitbench.errors import TraitbenchError
from traitbench.scoring import card
from traitbench.scoring.snapshot import Snapshot


def values(
    snapshot: Snapshot, chosen: Sequence[int], positions: Sequence[float], tokens: int, metadata: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of a card (`contract.scores.Card`); `positions` in 0..1 are those on all traits of the snapshot."""
    return {**card.read(snapshot, chosen, positions).to_wire(), "input_tokens": tokens, "metadata": metadata}


def failed(error: TraitbenchError) -> bytes:
    """The result of a text that cannot be scored."""
    return to_json({"error": LineError(code=error.code, message=error.message, details=error.details)})


def line(index: int, result: bytes) -> bytes:
    """A line of a batch: a result, a JSON object, with its index in front."""
    return b'{"index":%d,%b\n' % (index, result[1:])
