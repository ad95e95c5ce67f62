"""How answers look in a notebook: small pieces of HTML. Importing this module gives every answer its `_repr_html_`.

Everything from a model or a text is escaped. The HTML loads nothing and needs no style sheet: text has the
notebook's own colour and bars have a mid-tone, so that both are legible on light and dark pages.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from html import escape
from itertools import islice
from typing import Any

from traitbench.contract.bundles import Bundle
from traitbench.contract.comparisons import ComparedText, FigureDelta, VersionsComparison
from traitbench.contract.explanations import Explanation, Neighbour, Part, Piece
from traitbench.contract.fields import Wire
from traitbench.contract.metrics import Interval, TraitMetrics
from traitbench.contract.models import LastOperation, Model
from traitbench.contract.page import Page
from traitbench.contract.rounding import in_decimals
from traitbench.contract.samples import Sample
from traitbench.contract.scores import Card, Comparison
from traitbench.contract.texts import Extracted
from traitbench.contract.traits import Trait, TraitList
from traitbench.contract.versions import Version
from traitbench.display import held_out
from traitbench.display.barchart import DOTS
from traitbench.display.differences import verdict
from traitbench.display.html import MOST_CHARACTERS, Html, Row, bar, bold, line, quoted, small, table
from traitbench.display.text import beginning
from traitbench.display.words import why_not_high, why_short

_TOWARDS, _AGAINST = "62,134,196", "201,112,30"
_MOST_ROWS = 100


def html(value: Wire) -> str:
    """Return one answer as HTML."""
    draw = next((drawing for kind, drawing in _DRAWINGS.items() if isinstance(value, kind)), _fields)
    return draw(value)


def listing(items: Sequence[object], *, more: bool = False) -> str:
    """Return answers of one type as an HTML table, one row each; `more` says that the service has further pages."""
    heads, row = next((table for kind, table in _TABLES.items() if items and isinstance(items[0], kind)), _ANYTHING)
    left = len(items) - _MOST_ROWS
    notes = ["nothing to show"] if not items else []
    notes += [f"{left} more rows not shown"] if left > 0 else []
    notes += ["more pages: iterate to fetch them"] if more else []
    return table(heads, map(row, items[:_MOST_ROWS])) + small(" · ".join(notes))


# ---- one answer ------------------------------------------------------------------------------------------------------


def _model(model: Model) -> str:
    title = line(bold(model.handle), _state(model), *(f"#{tag}" for tag in model.version_tags))
    facts: list[Row] = [
        ("Traits", ", ".join(model.traits) or "none yet"),
        ("Scoring", f"{model.scoring_method}, depth {model.max_depth}"),
        ("Zero data retention", "on" if model.zero_data_retention else "off"),
        ("Last operation", _operation(model.last_operation)),
    ]
    return title + (line(model.description) if model.description else "") + table((), facts)


def _card(card: Card) -> str:
    rows: list[Row] = [
        (
            *(key, bar(trait.score), trait.score, DOTS[trait.confidence], why_short(trait)),
            *(trait.label or "", _or_dash(trait.headroom)),
        )
        for key, trait in card.detail.items()
    ]
    if len(rows) > 1:
        total = (card.composite, DOTS[card.confidence], "", "", _or_dash(card.headroom))
        rows.append((bold("Composite"), bar(card.composite), *total))
    about = [card.metadata.version_id, _count(card.input_tokens, "token")]
    about += [f"feedback stored as {', '.join(map(str, card.metadata.sample_ids))}"] if card.metadata.sample_ids else []
    shown = table(("trait", "", "score", "confidence", "why not high", "tier", "to next tier"), rows)
    shown += small(" · ".join(about))
    reasons = (card.explanation or {}).items()
    return shown + "".join(line(bold(key), card.scores.get(key, "")) + _explanation(each) for key, each in reasons)


def _explanation(explanation: Explanation) -> str:
    far = explanation.position - explanation.baseline
    decided = explanation.decided_by
    title = line(
        bold(f"{_amount(far, explanation)} from the middle"),
        f"decided by characters {decided.start} to {decided.end}" if decided else "",
    )
    most = max((abs(each.contribution) for part in explanation.parts for each in part.pieces or [part]), default=0.0)
    shown = sorted(
        sorted(explanation.parts, key=lambda part: -abs(part.contribution))[:_MOST_ROWS], key=lambda part: part.start
    )
    parts = table(
        ("adds", "part"), ((_amount(part.contribution, explanation), _highlighted(part, most)) for part in shown)
    )
    left = len(explanation.parts) - len(shown)
    near = explanation.nearest
    sides = (
        ((mark, each) for mark, side in (("▲", near.positive), ("▼", near.negative)) for each in side) if near else ()
    )
    samples = table(("like", "sample", "quality", "text"), (_near(*each) for each in sides)) if near else ""
    return title + parts + small(f"{left} more parts" if left else "") + samples + small(explanation.note or "")


def _comparison(comparison: Comparison) -> str:
    rows: list[Row] = [
        (key, bar(each.a), each.a, bar(each.b), each.b, _signed(each.delta), verdict(each.delta, each.certain))
        for key, each in comparison.per_trait.items()
    ]
    a, b = comparison.a.composite, comparison.b.composite
    change = _signed(comparison.improvement), verdict(comparison.improvement, comparison.certain)
    rows.append((bold("Composite"), bar(a), a, bar(b), b, *change))
    return table(("trait", "", "a", "", "b", "change", ""), rows) + small(comparison.a.metadata.version_id)


def _versions_comparison(comparison: VersionsComparison) -> str:
    names = (f"{each.handle}@v{each.version_no}" for each in (comparison.a, comparison.b))
    title = line(bold(" to ".join(names)), comparison.reason)
    rows: list[Row] = [
        (key, each.verdict.replace("_", " "), *_both(each.auroc), *_both(each.error), each.measured_on)
        for key, each in comparison.traits.items()
    ]
    heads = ("trait", "verdict", "AUROC", "95 % of b - a", "error", "95 % of b - a", "measured on")
    return title + (table(heads, rows) if rows else "") + _moved(comparison)


def _moved(comparison: VersionsComparison) -> str:
    """The texts whose scores moved most, by their positions."""
    texts = [each for each in comparison.texts or () if isinstance(each, ComparedText)]
    keys = list(comparison.traits)
    if not texts or not keys:
        return ""
    texts.sort(key=lambda each: -max(abs(score.delta) for score in each.traits.values()))
    rows: list[Row] = [
        (f"text {each.index}", *(f"{each.traits[key].a} to {each.traits[key].b}" for key in keys))
        for each in texts[:_MOST_ROWS]
    ]
    left = len(texts) - len(rows)
    return table(("", *keys), rows) + small(f"{left} more texts moved less" if left else "")


def _both(figure: FigureDelta | None) -> tuple[str, str]:
    if figure is None:
        return "–", ""
    low, high = figure.interval or (None, None)
    span = "" if low is None or high is None else f"{low:+.3f} – {high:+.3f}"
    return f"{_figure(figure.a)} to {_figure(figure.b)}", span


def _trait(trait: Trait) -> str:
    about = line(trait.description) if trait.description else ""
    return line(bold(trait.name), f"{trait.negative_label} … {trait.positive_label}") + about + listing([trait])


def _sample(sample: Sample) -> str:
    marks = ["test sample, must pass" if sample.must_pass else "test sample"] if sample.held_out else []
    facts = (sample.trait, f"{sample.quality:g}", *marks, sample.provenance, _when(sample.created_at))
    return line(bold(f"#{sample.id}"), *facts) + quoted(sample.text)


def _version(version: Version) -> str:
    title = line(bold(f"v{version.version_no}"), version.triggered_by, _when(version.created_at), *_tags(version))
    facts = line(_count(version.sample_count, "sample"), _short(version.param_hash, 19))
    rows: list[Row] = [
        (
            *(key, _figure(each.auroc), _interval(each.auroc_interval), _figure(each.brier)),
            *(_figure(each.calibration_error), _high_confidence(each), each.measured_on or ""),
        )
        for key, each in islice(version.metrics.traits.items(), _MOST_ROWS)
    ]
    heads = ("trait", "AUROC", "95 %", "Brier", "calibration error", "high confidence", "measured on")
    tests = _tests(version)
    apart = line(bold("Out of fold")) if tests and rows else ""
    return title + facts + tests + apart + (table(heads, rows) if rows else "")


def _tests(version: Version) -> str:
    """The figures on test samples; empty if there are none."""
    rows: list[Row] = [
        (
            *(key, _figure(each.auroc), _interval(each.auroc_interval), _figure(each.brier), _figure(each.error)),
            *(f"{each.must_pass_failed} of {each.must_pass}" if each.must_pass else "", each.measured_on or ""),
        )
        for key, each in islice(held_out.by_trait(version.metrics).items(), _MOST_ROWS)
    ]
    heads = ("trait", "AUROC", "95 %", "Brier", "wrong side", "must-pass failed", "measured on")
    title = held_out.headline(version.metrics) or "test samples"
    return line(bold(f"{title[0].upper()}{title[1:]}")) + table(heads, rows) if rows else ""


def _unsure(comparison: Comparison) -> str:
    """Why the confidence of scores is not high, one line for each text and reason."""
    return "".join(
        small(f"{side}, {', '.join(keys)}: {level} confidence. {reason}")
        for side, card in (("a", comparison.a), ("b", comparison.b))
        for (level, reason), keys in why_not_high(card).items()
    )


def _extracted(extracted: Extracted) -> str:
    return line(bold(extracted.url), _when(extracted.fetched_at)) + quoted(extracted.content)


def _bundle(bundle: Bundle) -> str:
    samples = "no samples" if bundle.samples is None else _count(len(bundle.samples), "sample")
    about = (_count(len(bundle.traits), "trait"), samples, _count(len(bundle.versions), "version"))
    return line(bold(bundle.handle), "bundle", *about, _short(bundle.sha256, 19))


def _page(page: Page[Any]) -> str:
    return listing(page.items, more=page.next_cursor is not None)


def _fields(value: Wire) -> str:
    return table((), ((name, _short(str(each), MOST_CHARACTERS)) for name, each in value))


_DRAWINGS: Mapping[type[Wire], Callable[[Any], str]] = {
    Model: _model,
    Card: _card,
    Explanation: _explanation,
    Comparison: lambda answer: _comparison(answer) + _unsure(answer),
    VersionsComparison: _versions_comparison,
    Trait: _trait,
    TraitList: lambda answer: listing(answer.traits),
    Sample: _sample,
    Version: _version,
    Extracted: _extracted,
    Bundle: _bundle,
    Page: _page,
}

# ---- lists -----------------------------------------------------------------------------------------------------------


def _model_row(model: Model) -> Row:
    return bold(model.handle), _state(model), ", ".join(model.traits), _short(model.description, 80)


def _trait_row(trait: Trait) -> Row:
    counts = f"{trait.positive_samples} + {trait.negative_samples}"
    return bold(trait.key), trait.name, trait.negative_label, trait.positive_label, counts, trait.kind


def _sample_row(sample: Sample) -> Row:
    return sample.id, sample.trait, f"{sample.quality:g}", sample.provenance, _short(sample.text, 120)


def _near(mark: str, near: Neighbour) -> Row:
    quality = "" if near.quality is None else f"{near.quality:g}"
    return f"{mark} {near.similarity:.2f}", near.id, quality, _short(near.text or "", 120)


def _version_row(version: Version) -> Row:
    tests, mean = (_figure(each) for each in (held_out.mean_auroc(version.metrics), version.metrics.auroc))
    number, when = bold(f"v{version.version_no}"), _when(version.created_at)
    return number, " ".join(_tags(version)), version.triggered_by, version.sample_count, tests, mean, when


_ANYTHING: tuple[Sequence[str], Callable[[Any], Row]] = ((), lambda item: (_short(str(item), MOST_CHARACTERS),))

_TABLES: Mapping[type[Wire], tuple[Sequence[str], Callable[[Any], Row]]] = {
    Model: (("handle", "state", "traits", "description"), _model_row),
    Trait: (("key", "name", "negative pole", "positive pole", "samples (+ and -)", "kind"), _trait_row),
    Sample: (("id", "trait", "quality", "from", "text"), _sample_row),
    Version: (("version", "tags", "by", "samples", "AUROC on test samples", "AUROC", "made"), _version_row),
}

# ---- pieces ----------------------------------------------------------------------------------------------------------


def _highlighted(part: Part, most: float) -> Html:
    """Return a part with its words shaded by how much they add, or its position if there is no text."""
    if part.text is None:
        return Html(f"characters {part.start} to {part.end}")
    at, html = part.start, ""
    for each in part.pieces or [part]:
        html += escape(part.text[at - part.start : each.start - part.start])
        html += _marked(each, part.text[each.start - part.start : each.end - part.start], most)
        at = each.end
    return Html(html)


def _marked(piece: Piece, text: str, most: float) -> str:
    share = abs(piece.contribution) / most if most else 0.0
    line = "solid" if piece.contribution > 0 else "dashed"
    hue = _TOWARDS if piece.contribution > 0 else _AGAINST
    look = f"background:rgba({hue},{share / 2:.2f});border-bottom:2px {line} rgba({hue},{share:.2f})"
    return f'<span style="{look}">{escape(text)}</span>'


# ---- words -----------------------------------------------------------------------------------------------------------


def _state(model: Model) -> str:
    return model.state if model.version_no is None else f"{model.state}, v{model.version_no}"


def _operation(operation: LastOperation | None) -> str:
    if operation is None:
        return "none"
    far = f", {operation.progress.fraction:.0%}" if operation.progress and operation.status == "running" else ""
    why = f": {operation.error.message}" if operation.error else ""
    return f"{operation.kind} {operation.status}{far}{why} ({_when(operation.started_at)})"


def _tags(version: Version) -> list[str]:
    return [f"#{tag}" for tag in version.tags]


def _figure(value: float | None) -> str:
    return "–" if value is None else in_decimals(value, 3)


def _interval(ends: Interval | None) -> str:
    return f"{_figure(ends[0])} – {_figure(ends[1])}" if ends else ""


def _high_confidence(figures: TraitMetrics) -> str:
    """How many of the held-out samples have high confidence, and how many of these are right."""
    known = figures.confidence or {}
    whole = sum(each.samples for each in known.values())
    high = known.get("high")
    return f"{high.samples} of {whole}, {high.right} right" if high and whole else ""


def _amount(value: float, explanation: Explanation) -> str:
    points = explanation.unit == "score"
    return f"{100 * value:+.1f} points" if points else f"{value:+.2f}"


def _signed(number: int) -> str:
    return f"{'▲' if number > 0 else '▼' if number < 0 else '■'} {number:+d}"


def _or_dash(value: object) -> object:
    return "–" if value is None else value


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _when(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def _short(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else f"{beginning(line, length - 1)}…"


# Set from here, so that the types need not know how they are drawn.
Wire._repr_html_ = html  # type: ignore[assignment, method-assign]
