"""Cards, written without being built: the lines of a batch, and the answer to a score, in the same bytes.

A card follows from its whole scores, but for the polarities. So what a trait says at a score is written once, and a
line is put together from such pieces.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import TypeAdapter

from traitbench.contract.batch import FailedLine, LineError
from traitbench.contract.scores import Breaks, Native, ScoreMetadata, TraitScore
from traitbench.errors import TraitbenchError
from traitbench.scoring import card
from traitbench.scoring.card import half_up
from traitbench.scoring.snapshot import Snapshot, TraitAxis

_NUMBERS = TypeAdapter(list[float])
_NAME = TypeAdapter(str)


class Lines:
    """Writes cards: of these traits of a snapshot, with this metadata."""

    def __init__(self, snapshot: Snapshot, traits: Sequence[int], metadata: Mapping[str, Any]) -> None:
        self._traits = [(i, _written(snapshot)[i]) for i in traits]
        self._end = b',"metadata":' + ScoreMetadata.model_validate(metadata).model_dump_json().encode() + b"}\n"

    def scored(self, positions: Sequence[float], tokens: int) -> bytes:
        """The line of a text, without its beginning; `positions` are those on all traits of the snapshot, in 0..1."""
        told = [trait.at(half_up(100 * positions[i])) for i, trait in self._traits]
        polarities = _NUMBERS.dump_json([2 * positions[i] - 1 for i, _ in self._traits])[1:-1].split(b",")
        sure = card.WEAKEST_FIRST[min([at.confidence for at in told])].encode()
        composite = card.composite([at.points for at in told])
        headroom = max([at.headroom for at in told if at.headroom is not None], default="null")
        return b"".join(
            (
                b'"scores":{',
                b",".join([at.score for at in told]),
                b'},"composite":%d,"confidence":"%s","headroom":' % (composite, sure),
                str(headroom).encode(),
                b',"detail":{',
                b",".join([at.detail + polarity + b"}}" for at, polarity in zip(told, polarities, strict=True)]),
                b'},"input_tokens":%d' % tokens,
                self._end,
            )
        )


def failed(error: TraitbenchError) -> bytes:
    """The line of a text that cannot be scored, without its beginning."""
    reason = LineError(code=error.code, message=error.message, details=error.details)
    line = FailedLine(index=0, error=reason).model_dump_json()
    return line.encode().removeprefix(b'{"index":0,') + b"\n"


def alone(rest: bytes) -> bytes:
    """A card that is no line among others."""
    return b"{" + rest.removesuffix(b"\n")


def begun(index: int, rest: bytes) -> bytes:
    """A whole line."""
    return b'{"index":%d,%s' % (index, rest)


class _At:
    """A trait at a score."""

    __slots__ = ("confidence", "detail", "headroom", "points", "score")

    def __init__(self, trait: TraitAxis, points: int) -> None:
        told = card.trait_score(trait, points / 100)
        key = _NAME.dump_json(trait.key)
        self.points = points
        self.headroom = told.headroom
        self.confidence = card.WEAKEST_FIRST.index(told.confidence)
        self.score = key + b":%d" % points
        # Up to where the polarity stands.
        self.detail = key + b":" + _detail(told).removesuffix(b"0.0}}")


class _Written:
    """A trait at all scores that it was seen at."""

    def __init__(self, trait: TraitAxis) -> None:
        self.at = cache(lambda points: _At(trait, points))


_KNOWN: WeakKeyDictionary[Snapshot, Sequence[_Written]] = WeakKeyDictionary()


def _written(snapshot: Snapshot) -> Sequence[_Written]:
    if snapshot not in _KNOWN:
        _KNOWN[snapshot] = [_Written(trait) for trait in snapshot.traits]
    return _KNOWN[snapshot]


def _detail(told: card.TraitScore) -> bytes:
    wire = TraitScore(
        score=told.score,
        label=told.label,
        confidence=told.confidence,
        band=list(told.band),
        headroom=told.headroom,
        breaks=Breaks(**vars(told.breaks)),
        native=Native(polarity=0.0),
    )
    return wire.model_dump_json().encode()
