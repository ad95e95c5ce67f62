"""The columns of scored texts: one schema for frames, engines, commands, downloads and audit files.

A row has `row`, the data row from 1; for each trait `KEY_score`, `KEY_side`, `KEY_confidence` and `KEY_reason`; then
`version` and `error`. `KEY_tier` and `composite` are there if they are asked for. A row without a score has only
`error`, which says why. `is_scored` and `scored_keys` find these columns in a table again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

from traitbench.contract.scores import Card, Confidence, ConfidenceReason, Tier
from traitbench.display.sides import side_at

Also = Literal["tier", "composite"]
"""What is in a row only if it is asked for."""

ROW, COMPOSITE, VERSION, ERROR = "row", "composite", "version", "error"
SCORE, SIDE, CONFIDENCE, REASON, TIER = "score", "side", "confidence", "reason", "tier"

Poles = Mapping[str, tuple[str, str]]
"""The names of the negative and the positive pole by the key of their trait."""

UNNAMED = ("negative", "positive")
"""The names of poles without names."""

_ALWAYS = (SCORE, SIDE, CONFIDENCE, REASON)
_OLD = frozenset({"line", "composite", "confidence", "version"})
_INPUT = "_input"


class _Score(Protocol):
    """The score of a text on a trait, on the wire or in memory."""

    @property
    def score(self) -> int: ...
    @property
    def label(self) -> Tier | None: ...
    @property
    def confidence(self) -> Confidence: ...
    @property
    def confidence_reason(self) -> ConfidenceReason | None: ...


class HasPoles(Protocol):
    """A trait of a service, or of an estimator."""

    @property
    def key(self) -> str:
        """The key of the trait."""

    @property
    def negative_label(self) -> str:
        """The name of the negative pole."""

    @property
    def positive_label(self) -> str:
        """The name of the positive pole."""


class TraitCells(NamedTuple):
    """The cells of one trait; `side` is the name of the pole, None without a side."""

    score: int
    side: str | None
    confidence: Confidence
    reason: ConfidenceReason | None
    tier: Tier | None

    @staticmethod
    def of(score: _Score, polarity: float, poles: tuple[str, str]) -> "TraitCells":
        """Return the cells of a score; `poles` are the names of the negative and the positive pole."""
        side = side_at(polarity, score.confidence, negative_label=poles[0], positive_label=poles[1])
        return TraitCells(score.score, side.pole or None, score.confidence, score.confidence_reason, score.label)


def cells_of(card: Card, poles: Poles) -> dict[str, TraitCells]:
    """Return the cells of a card by trait; poles without a name are called negative and positive."""
    return {
        key: TraitCells.of(each, each.native.polarity, poles.get(key, UNNAMED)) for key, each in card.detail.items()
    }


def poles_of(traits: Iterable[HasPoles]) -> dict[str, tuple[str, str]]:
    """Return the names of the poles of traits by their keys."""
    return {trait.key: (trait.negative_label, trait.positive_label) for trait in traits}


@dataclass(frozen=True)
class ScoredColumns:
    """The columns of some traits, by their keys.

    Without `numbered` there is no `row`, without `versioned` no `version`. Without `details` there are the scores and
    `error` alone.
    """

    keys: Sequence[str]
    also: Collection[Also] = ()
    numbered: bool = True
    versioned: bool = True
    details: bool = True

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns, in their order."""
        parts = (SCORE,) if not self.details else (*_ALWAYS, *((TIER,) if TIER in self.also else ()))
        return [
            *([ROW] if self.numbered and self.details else []),
            *(f"{key}_{part}" for key in self.keys for part in parts),
            *([COMPOSITE] if COMPOSITE in self.also else []),
            *([VERSION] if self.versioned and self.details else []),
            ERROR,
        ]

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The names of the columns of whole numbers; all others are of texts."""
        return frozenset({ROW, COMPOSITE, *(f"{key}_{SCORE}" for key in self.keys)})

    def cells(
        self,
        row: int | None,
        traits: Mapping[str, TraitCells],
        *,
        composite: int | None = None,
        version: str | None = None,
        error: str | None = None,
    ) -> list[Any]:
        """Return the cells of a row, in the order of `names`; no `traits` if the text has no score."""
        known: dict[str, Any] = {ROW: row, COMPOSITE: composite, VERSION: version, ERROR: error or None}
        for key in self.keys:
            if cells := traits.get(key):
                known |= {f"{key}_{part}": value for part, value in cells._asdict().items()}
        return [known.get(name) for name in self.names]


def as_sentence(problem: str) -> str:
    """Return why a text has no score as a sentence, without the name that the text has in a request."""
    problem = problem.removeprefix("content: ")
    return problem[:1].upper() + problem[1:]


def input_names(columns: Sequence[str], ours: Collection[str]) -> list[str]:
    """Return the names of columns of the input beside ours: one with a name of ours comes out as `NAME_input`."""
    names = list[str]()
    taken = {*columns, *ours}
    for column in columns:
        name = column
        if column in ours:
            while name in taken:
                name += _INPUT
            taken.add(name)
        names.append(name)
    return names


def scored_keys(columns: Sequence[str]) -> list[str]:
    """Return the keys of the traits whose scores are in a table, those of its last scoring; empty if there are none."""
    names = list(columns)
    first = names.index(ROW) + 1 if ROW in names else 0
    end = names.index(ERROR, first) if ERROR in names[first:] else len(names)
    return _keys(names[first:end]) or _keys(names)


def is_scored(columns: Sequence[str]) -> bool:
    """Whether a table is the output of a batch, of this release or an earlier one."""
    return {*columns} >= _OLD or ({*columns} >= {ROW, ERROR} and bool(scored_keys(columns)))


def _keys(names: Sequence[str]) -> list[str]:
    known, ending = {*names}, f"_{SCORE}"
    keys = [name.removesuffix(ending) for name in names if name.endswith(ending)]
    return [key for key in keys if known.issuperset(f"{key}_{part}" for part in _ALWAYS)]
