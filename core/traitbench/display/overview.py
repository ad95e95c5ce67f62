"""What a scored frame says: the spread of each trait, the texts at both ends, and what has no side and why."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from traitbench.contract.scores import ConfidenceReason
from traitbench.contract.texts import is_missing, values_of
from traitbench.display import frames
from traitbench.display.html import draw, write_page
from traitbench.display.scored_rows import (
    CONFIDENCE,
    ERROR,
    REASON,
    SCORE,
    SIDE,
    UNNAMED,
    HasPoles,
    ScoredColumns,
    poles_of,
    scored_keys,
)
from traitbench.display.sides import UNCLEAR
from traitbench.display.text import count
from traitbench.display.words import REASONS
from traitbench.formulas import are_guarded, as_written

_BINS, _ENDS, _EXAMPLES = 20, 5, 2
_IN_THE_MIDDLE = "exactly in the middle"


class OverviewText(NamedTuple):
    """A text with its score; `positive` is None without a side, and `reason` then says why."""

    text: str
    score: int
    confidence: str
    positive: bool | None
    reason: ConfidenceReason | None


@dataclass(frozen=True)
class Unsided:
    """Why texts have no side: a few words, a sentence, how many texts, and some of them."""

    why: str
    sentence: str
    texts: int
    examples: Sequence[OverviewText] = field(repr=False)


@dataclass(frozen=True)
class TraitSpread:
    """How texts spread on a trait. `bins` counts scores from 0 to 4, 5 to 9, and so on; the last has 100 too.

    `lowest` and `highest` are the texts with a side at both ends, the most extreme first.
    """

    key: str
    poles: tuple[str, str]
    negative: int
    positive: int
    unclear: int
    bins: Sequence[int]
    lowest: Sequence[OverviewText] = field(repr=False)
    highest: Sequence[OverviewText] = field(repr=False)
    unsided: Sequence[Unsided] = field(repr=False)

    @property
    def scored(self) -> int:
        """How many texts have a score."""
        return self.negative + self.positive + self.unclear

    def __str__(self) -> str:
        if not self.scored:
            return f"{self.key}: no scores"
        sides = ((self.positive, self.poles[1]), (self.negative, self.poles[0]), (self.unclear, UNCLEAR))
        said = ", ".join(f"{100 * number / self.scored:.0f} % {name}" for number, name in sides)
        return f"{self.key}: {said}"


@dataclass(frozen=True)
class FrameOverview:
    """An overview of a scored frame. `errors` says why texts have no score, and how many.

    It counts scores, and scores err: `traitbench.share` gives an interval.
    """

    texts: int
    traits: Sequence[TraitSpread]
    errors: Mapping[str, int]

    def __str__(self) -> str:
        return "\n".join((self._headline, *map(str, self.traits)))

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a frame with a row for each trait: how many texts are on each side, and how many have none."""
        rows = [
            {"trait": each.key, "negative": each.negative, "positive": each.positive, "no_side": each.unclear}
            for each in self.traits
        ]
        return frames.frame(rows, backend)

    def write_html(self, path: str | Path) -> None:
        """Write the overview as a page that needs no other file. It has some of the texts."""
        write_page(path, "Overview of scored texts", self._repr_html_())

    @property
    def _headline(self) -> str:
        without = sum(self.errors.values())
        return count(self.texts, "text") + (f", {without:,} without a score" if without else "")

    def _repr_html_(self) -> str:
        return draw("overview", "overview", self._headline, self.traits, self.errors)


def overview(frame: Any, column: str | None = None, *, traits: Iterable[HasPoles] = ()) -> FrameOverview:
    """Return what a scored frame says: the spread by trait, texts at both ends, and what has no side and why.

    `frame` is what `traitbench.score` returns, or a downloaded batch: pandas, polars or Arrow. `column` has the texts,
    by default the one that `read_table` found, one named "text", or the only other column of texts. `traits` names the
    poles, as `scorer.traits_` does; else they are those that its sides name. Raise `ValueError` if the frame is not
    scored or the texts are in no clear column.

    >>> import pandas, traitbench as tb
    >>> texts, labels = ["Thank you!", "How kind.", "Denied.", "Go away."], [1, 1, 0, 0]
    >>> scorer = tb.Scorer("warmth", poles=("cold", "warm"), effort="low", encoder="ngrams").fit(texts, labels)
    >>> frame = tb.score(pandas.DataFrame({"text": [*texts, None]}), "text", scorer=scorer)
    >>> print(tb.overview(frame, traits=scorer.traits_))
    5 texts, 1 without a score
    warmth: 0 % warm, 0 % cold, 100 % no clear side
    """
    nw = frames.narwhals()
    table = nw.from_native(frame, eager_only=True)
    keys = scored_keys(table.columns)
    if not keys:
        raise ValueError("The frame has no scores with sides. Score it: tb.overview(tb.score(frame, scorer=...)).")
    given = getattr(frame, "attrs", {}).get("text") if column is None else column
    texts = [*values_of(table[_text_column(table, keys, given)].to_native())]
    if are_guarded(text for text in texts if isinstance(text, str)):
        texts = [as_written(text) if isinstance(text, str) else text for text in texts]
    named = poles_of(traits)
    errors = Counter(str(each) for each in _values(table, ERROR) if each)
    spreads = [_spread(table, key, texts, named.get(key)) for key in keys]
    return FrameOverview(len(texts), spreads, dict(errors.most_common()))


def _text_column(table: Any, keys: Sequence[str], given: str | None) -> str:
    """The column of the texts; raise `ValueError` if it is missing or must be named."""
    ours = set(ScoredColumns(keys, ("tier", "composite")).names)
    others = [name for name, kind in table.schema.items() if name not in ours and str(kind) in ("String", "Object")]
    column = given or ("text" if "text" in others else others[0] if len(others) == 1 else None)
    if column is None or column not in table.columns:
        raise ValueError(f"Name the column of the texts. The frame has: {', '.join(map(str, table.columns))}.")
    return column


def _values(table: Any, name: str) -> list[Any]:
    """The values of a column, None for whatever is missing; all None if there is no such column."""
    if name not in table.columns:
        return [None] * len(table)
    return [None if is_missing(value) else value for value in values_of(table[name].to_native())]


def _spread(table: Any, key: str, texts: Sequence[Any], poles: tuple[str, str] | None) -> TraitSpread:
    columns = (_values(table, f"{key}_{part}") for part in (SCORE, SIDE, CONFIDENCE, REASON))
    cells = [(text, *own) for text, *own in zip(texts, *columns, strict=True) if own[0] is not None]
    poles = poles or _poles_in([(score, side) for _, score, side, *_ in cells])
    scored = [
        OverviewText(str(text), int(score), confidence, None if side is None else side == poles[1], reason)
        for text, score, side, confidence, reason in cells
    ]
    bins = Counter(min(each.score * _BINS // 100, _BINS - 1) for each in scored)
    sides = Counter(each.positive for each in scored)
    ranked = sorted({each.text: each for each in scored}.values(), key=lambda each: each.score)
    return TraitSpread(
        key=key,
        poles=poles,
        negative=sides[False],
        positive=sides[True],
        unclear=sides[None],
        bins=[bins[at] for at in range(_BINS)],
        lowest=[each for each in ranked if each.positive is False][:_ENDS],
        highest=[each for each in reversed(ranked) if each.positive][:_ENDS],
        unsided=[*_unsided([each for each in scored if each.positive is None])],
    )


def _poles_in(sides: Iterable[tuple[int, str | None]]) -> tuple[str, str]:
    """The names of the poles, from scores and the names of their sides; a pole without texts has no name."""
    names = {score > 50: side for score, side in sides if side is not None}
    return names.get(False, UNNAMED[0]), names.get(True, UNNAMED[1])


def _unsided(texts: Sequence[OverviewText]) -> Iterator[Unsided]:
    """Why these texts have no side, the most frequent reason first."""
    for reason, number in Counter(each.reason for each in texts).most_common():
        words = REASONS[reason] if reason else None
        own = {each.text: each for each in texts if each.reason == reason}
        examples = [*own.values()][:_EXAMPLES]
        yield Unsided(words.short if words else _IN_THE_MIDDLE, words.sentence if words else "", number, examples)
