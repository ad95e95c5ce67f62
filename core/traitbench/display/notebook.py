"""How answers look in a notebook. Importing this module gives every answer its `_repr_html_`.

`templates/answers.html` has a macro for each type of answer; this module prepares what a template cannot compute.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from traitbench.contract.bundles import Bundle
from traitbench.contract.comparisons import ComparedText, ScoreDelta, VersionsComparison
from traitbench.contract.explanations import Explanation, Part
from traitbench.contract.fields import Wire, known_of, with_known
from traitbench.contract.models import Model
from traitbench.contract.page import Page
from traitbench.contract.samples import Sample
from traitbench.contract.scores import Card, Comparison
from traitbench.contract.texts import Extracted
from traitbench.contract.traits import Trait, TraitList
from traitbench.contract.versions import Version
from traitbench.display import held_out
from traitbench.display.html import MOST_ROWS, draw
from traitbench.display.scored_rows import UNNAMED, HasPoles, poles_of

_PARTS = 8
"""How many parts of an explanation are shown at once; the others are folded."""


def html(value: Wire, *, traits: Iterable[HasPoles] = ()) -> str:
    """Return one answer as HTML.

    `traits` names the poles, as `client.traits.list(handle)` and `scorer.traits_` do. Answers of estimators know them;
    else they are called negative and positive.
    """
    if named := poles_of(traits):
        value = with_known(value.model_copy(), poles=named)
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


def or_plain(draw: Callable[..., str], *given: Any, **options: Any) -> str | None:
    """Return the HTML, or None where its library is missing, as in `traitbench-client`: then a notebook shows text."""
    try:
        return draw(*given, **options)
    except ModuleNotFoundError:
        return None


def _nothing(_value: Wire) -> tuple[()]:
    return ()


Spans = list[tuple[Part, list[tuple[str, float | None]]]]


class _Poles(defaultdict[str, tuple[str, str]]):
    """The names of both poles by trait key; those without names are called negative and positive."""

    def __init__(self, answer: Wire) -> None:
        super().__init__(lambda: UNNAMED, known_of(answer).get("poles", {}))


def _reasons(card: Card) -> tuple[_Poles, dict[str, tuple[Any, ...]]]:
    poles = _Poles(card)
    return poles, {key: (each, poles[key], *_parts(each)) for key, each in (card.explanation or {}).items()}


def _shown(explanation: Explanation) -> tuple[tuple[str, str], Spans, Spans, int]:
    [poles] = known_of(explanation).get("poles", {"": UNNAMED}).values()
    return poles, *_parts(explanation)


def _parts(explanation: Explanation) -> tuple[Spans, Spans, int]:
    """The parts that count most, more of them, and how many are left; each in the order of the text with its spans."""
    most = max((abs(each.contribution) for part in explanation.parts for each in part.pieces or [part]), default=0.0)
    ranked = sorted(explanation.parts, key=lambda part: -abs(part.contribution))
    first, others = (
        [(part, list(_spans(part, most))) for part in sorted(some, key=lambda part: part.start)]
        for some in (ranked[:_PARTS], ranked[_PARTS:MOST_ROWS])
    )
    return first, others, len(ranked) - MOST_ROWS


def _compared(comparison: Comparison) -> tuple[_Poles, list[str]]:
    return _Poles(comparison), known_of(comparison).get("texts", [])


def _spans(part: Part, most: float) -> Iterator[tuple[str, float | None]]:
    """The text of a part in pieces, each with how much it adds in relation to `most`; None where nothing is added."""
    at = part.start
    for each in (part.pieces or [part]) if part.text is not None else ():
        text = part.text or ""
        yield text[at - part.start : each.start - part.start], None
        yield text[each.start - part.start : each.end - part.start], each.contribution / most if most else 0.0
        at = each.end


def _moved(comparison: VersionsComparison) -> tuple[_Poles, list[tuple[str, dict[str, ScoreDelta]]], int]:
    """The texts whose scores moved most, by their positions if they are not known, and how many moved less."""
    known = known_of(comparison).get("texts", {})
    scored = comparison.texts if comparison.traits else None
    texts = [each for each in scored or () if isinstance(each, ComparedText)]
    texts.sort(key=lambda each: -max(abs(score.delta) for score in each.traits.values()))
    rows = [(known.get(each.index, f"text {each.index}"), each.traits) for each in texts[:MOST_ROWS]]
    return _Poles(comparison), rows, len(texts) - len(rows)


def _tests(version: Version) -> tuple[str, list[tuple[str, Any]]]:
    title = held_out.headline(version.metrics) or "test samples"
    return f"{title[0].upper()}{title[1:]}", list(islice(held_out.by_trait(version.metrics).items(), MOST_ROWS))


_PIECES: Mapping[type[Wire], tuple[str, Callable[[Any], tuple[Any, ...]]]] = {
    Model: ("model", _nothing),
    Card: ("card", _reasons),
    Explanation: ("explanation", _shown),
    Comparison: ("comparison", _compared),
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
Wire._repr_html_ = lambda answer: or_plain(html, answer)  # type: ignore[assignment, method-assign]
