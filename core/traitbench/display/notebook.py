"""How answers look in a notebook. Importing this module gives every answer its `_repr_html_`.

`templates/answers.html` has a macro for each type of answer; this module prepares what a template cannot compute.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from traitbench.contract.bundles import Bundle
from traitbench.contract.comparisons import ComparedText, VersionsComparison
from traitbench.contract.explanations import Explanation, Part
from traitbench.contract.fields import Wire
from traitbench.contract.models import Model
from traitbench.contract.page import Page
from traitbench.contract.samples import Sample
from traitbench.contract.scores import Card, Comparison
from traitbench.contract.texts import Extracted
from traitbench.contract.traits import Trait, TraitList
from traitbench.contract.versions import Version
from traitbench.display import held_out
from traitbench.display.html import MOST_ROWS, draw


def html(value: Wire) -> str:
    """Return one answer as HTML."""
    if isinstance(value, Page):
        return listing(value.items, more=value.next_cursor is not None)
    if isinstance(value, TraitList):
        return listing(value.traits)
    piece, further = next((each for kind, each in _PIECES.items() if isinstance(value, kind)), ("fields", _nothing))
    return draw("answers", piece, value, *further(value))


def listing(items: Sequence[object], *, more: bool = False) -> str:
    """Return answers of one type as an HTML table, one row each; `more` says that the service has further pages."""
    piece = next((name for kind, name in _LISTINGS.items() if items and isinstance(items[0], kind)), "anything")
    left = len(items) - MOST_ROWS
    notes = ["nothing to show"] if not items else []
    notes += [f"{left} more rows not shown"] if left > 0 else []
    notes += ["more pages: iterate to fetch them"] if more else []
    return draw("answers", piece, items[:MOST_ROWS]) + draw("pieces", "small", " · ".join(notes))


def _nothing(_value: Wire) -> tuple[()]:
    return ()


def _reasons(card: Card) -> tuple[dict[str, tuple[Any, ...]]]:
    return ({key: (each, *_shown(each)) for key, each in (card.explanation or {}).items()},)


def _shown(explanation: Explanation) -> tuple[list[tuple[Part, list[tuple[str, float | None]]]]]:
    """The parts that count most, in the order of the text, each with its spans."""
    most = max((abs(each.contribution) for part in explanation.parts for each in part.pieces or [part]), default=0.0)
    first = sorted(explanation.parts, key=lambda part: -abs(part.contribution))[:MOST_ROWS]
    return ([(part, list(_spans(part, most))) for part in sorted(first, key=lambda part: part.start)],)


def _spans(part: Part, most: float) -> Iterator[tuple[str, float | None]]:
    """The text of a part in pieces, each with how much it adds in relation to `most`; None where nothing is added."""
    at = part.start
    for each in (part.pieces or [part]) if part.text is not None else ():
        text = part.text or ""
        yield text[at - part.start : each.start - part.start], None
        yield text[each.start - part.start : each.end - part.start], each.contribution / most if most else 0.0
        at = each.end


def _moved(comparison: VersionsComparison) -> tuple[list[list[str]], int]:
    """The texts whose scores moved most, by their positions, and how many moved less."""
    keys = list(comparison.traits)
    texts = [each for each in comparison.texts or () if isinstance(each, ComparedText)] if keys else []
    texts.sort(key=lambda each: -max(abs(score.delta) for score in each.traits.values()))
    rows = [
        [f"text {each.index}", *(f"{each.traits[key].a} to {each.traits[key].b}" for key in keys)]
        for each in texts[:MOST_ROWS]
    ]
    return rows, len(texts) - len(rows)


def _tests(version: Version) -> tuple[str, list[tuple[str, Any]]]:
    title = held_out.headline(version.metrics) or "test samples"
    return f"{title[0].upper()}{title[1:]}", list(islice(held_out.by_trait(version.metrics).items(), MOST_ROWS))


_PIECES: Mapping[type[Wire], tuple[str, Callable[[Any], tuple[Any, ...]]]] = {
    Model: ("model", _nothing),
    Card: ("card", _reasons),
    Explanation: ("explanation", _shown),
    Comparison: ("comparison", _nothing),
    VersionsComparison: ("versions_comparison", _moved),
    Trait: ("trait", _nothing),
    Sample: ("sample", _nothing),
    Version: ("version", _tests),
    Extracted: ("extracted", _nothing),
    Bundle: ("bundle", _nothing),
}
"""The macro of each type, and what it needs beside the answer."""

_LISTINGS: Mapping[type[Wire], str] = {Model: "models", Trait: "traits", Sample: "samples", Version: "versions"}

# Set from here, so that the types need not know how they are drawn.
Wire._repr_html_ = html  # type: ignore[assignment, method-assign]
