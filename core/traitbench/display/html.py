"""HTML for notebooks and reports, from the templates beside this module.

Every value is escaped unless it is HTML already, so nothing from a model or a text becomes a tag.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitbench.contract.comparisons import FigureDelta
from traitbench.contract.metrics import Interval, TraitMetrics
from traitbench.contract.models import LastOperation, Model
from traitbench.contract.rounding import in_decimals
from traitbench.contract.scores import TraitScore
from traitbench.display import held_out, text
from traitbench.display.barchart import DOTS
from traitbench.display.colours import pole_sign
from traitbench.display.reasons import MOST_SHOWN, amount, look, sign
from traitbench.display.sides import COLOURS, SIGNS, side_of
from traitbench.display.words import verdict, why_not_high, why_short

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_CHARACTERS = 400
MOST_ROWS = 100


def draw(template: str, piece: str, *values: Any) -> str:
    """Return one piece (a macro) of a template as HTML."""
    return str(getattr(_templates().get_template(f"{template}.html").module, piece)(*values))


def write_page(path: str | Path, title: str, body: str) -> None:
    """Write a page that needs no other file, follows the reader's light or dark theme, and loads nothing."""
    page = _templates().get_template("page.html").render(title=title, body=body)
    Path(path).write_text(page, encoding="utf-8", errors="xmlcharrefreplace")  # half of a surrogate pair has no UTF-8


def one_line(value: str, length: int) -> str:
    """Return a text on one line, cut if it is longer."""
    line = " ".join(value.split())
    return line if len(line) <= length else f"{text.beginning(line, length - 1)}…"


# ---- filters of the templates ----------------------------------------------------------------------------------------


def _cut(value: str, most: int) -> str:
    """The beginning of a text; all of it if what follows is hardly longer than the words that would say so."""
    return value if len(value) <= 1.2 * most else text.beginning(value, most)


def _after(value: str, beginning: str) -> str:
    """What follows the beginning of a text, as far as a display goes."""
    left = len(value) - MOST_SHOWN
    return value[len(beginning) : MOST_SHOWN] + (f"… ({left:,} more characters)" if left > 0 else "")


def _side(trait: TraitScore, poles: Sequence[str]) -> str:
    return side_of(trait, negative_label=poles[0], positive_label=poles[1]).words


def _label(quality: float) -> str:
    return f"{pole_sign(quality)} {quality:g}"


def _more(number: int, what: str) -> str:
    return f"{number:,} more {what}" if number > 0 else ""


def _signed(number: int) -> str:
    return f"{'▲' if number > 0 else '▼' if number < 0 else '■'} {number:+d}"


def _figure(value: float | None) -> str:
    return "–" if value is None else in_decimals(value, 3)


def _interval(ends: Interval | None) -> str:
    return f"{_figure(ends[0])} – {_figure(ends[1])}" if ends else ""


def _both(figure: FigureDelta | None) -> list[str]:
    """A figure of both versions, and the interval of its change."""
    if figure is None:
        return ["–", ""]
    low, high = figure.interval or (None, None)
    span = "" if low is None or high is None else f"{low:+.3f} – {high:+.3f}"
    return [f"{_figure(figure.a)} to {_figure(figure.b)}", span]


def _high_confidence(figures: TraitMetrics) -> str:
    """How many of the held-out samples have high confidence, and how many of these are right."""
    known = figures.confidence or {}
    whole = sum(each.samples for each in known.values())
    high = known.get("high")
    return f"{high.samples} of {whole}, {high.right} right" if high and whole else ""


def _when(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def _state(model: Model) -> str:
    return model.state if model.version_no is None else f"{model.state}, v{model.version_no}"


def _operation(operation: LastOperation | None) -> str:
    if operation is None:
        return "none"
    far = f", {operation.progress.fraction:.0%}" if operation.progress and operation.status == "running" else ""
    why = f": {operation.error.message}" if operation.error else ""
    return f"{operation.kind} {operation.status}{far}{why} ({_when(operation.started_at)})"


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "after": _after,
    "amount": amount,
    "both": _both,
    "count": text.count,
    "cut": _cut,
    "dots": DOTS.__getitem__,
    "figure": _figure,
    "grade": lambda quality: f"{quality:g}",
    "high_confidence": _high_confidence,
    "interval": _interval,
    "isolated": text.isolated,
    "label": _label,
    "look": look,
    "more": _more,
    "operation": _operation,
    "or_dash": lambda value: "–" if value is None else value,
    "pull": lambda value, unit: f"{sign(value)} {amount(value, unit)}",
    "short": one_line,
    "side": _side,
    "signed": _signed,
    "state": _state,
    "tags": lambda names: [f"#{name}" for name in names],
    "test_auroc": held_out.mean_auroc,
    "verdict": verdict,
    "when": _when,
    "why_not_high": why_not_high,
    "why_short": why_short,
}


@cache
def _templates() -> "Environment":
    # Loaded with the first display, because most programs draw nothing.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(_FILTERS)
    made.globals.update(most_characters=MOST_CHARACTERS, most_rows=MOST_ROWS, colours=COLOURS, signs=SIGNS)
    return made
