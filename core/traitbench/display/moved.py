"""A text with its label, its score or those of two versions on bars, and the words that decide, as HTML."""

from collections.abc import Sequence
from html import escape

from traitbench.contract.explanations import Explanation
from traitbench.contract.scores import Confidence
from traitbench.display.colours import SIDES
from traitbench.display.pictures import bar
from traitbench.display.reasons import deciding
from traitbench.display.sides import side_at
from traitbench.display.text import shortened

STYLE = """
<style>
.tb-moved {
  display: grid; grid-template-columns: 1.3fr 0.5fr 1.4fr 1.1fr; gap: 4px 20px;
  align-items: center; font-size: 14px; line-height: 20px;
}
.tb-moved.one { grid-template-columns: 1.6fr 0.8fr 1.2fr; }
.tb-moved.one .side { grid-template-columns: 1fr 26px minmax(0, 8.5em); }
.tb-moved > div { min-width: 0; overflow-wrap: anywhere; }
.tb-moved .text {
  display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden; white-space: pre-line;
}
.tb-moved .side {
  display: grid; grid-template-columns: 14px 1fr 26px minmax(0, 8.5em); gap: 8px; align-items: center; font-size: 13px;
}
.tb-moved .words { display: flex; gap: 4px; height: 22px; overflow: hidden; flex-wrap: wrap; font-size: 13px; }
.tb-moved .words span { padding: 0 4px; border-radius: 3px; white-space: nowrap; }
@media (max-width: 640px) { .tb-moved, .tb-moved.one { grid-template-columns: 1fr; } }
.tb-moved .side b { font-variant-numeric: tabular-nums; }
</style>
"""
"""The style sheet of the texts, once for each page."""

_CUT = 300


def moved(
    text: str,
    about: str,
    label: str,
    positive: bool | None,
    poles: tuple[str, str],
    scores: Sequence[tuple[int, Confidence]],
    reasons: Sequence[Explanation] = (),
) -> str:
    """Draw a text; `about` names its trait, `label` is at the positive pole or not, `poles` begin with the negative.

    Without scores, `label` says why there are none. `reasons` are those of A and B, as far as they are known.
    """
    what = f'{escape(about)}<br><b style="color:{SIDES[positive].words}">{escape(label)}</b>'
    only = len(scores) == 1 and not reasons
    letters = ("",) if only else ("<span>A</span>", "<span>B</span>")
    sides = "".join(_side(letter, *score, poles) for letter, score in zip(letters, scores, strict=False))
    shown = f'<div class="text" dir="auto">{escape(shortened(text, _CUT))}</div><div>{what}</div><div>{sides}</div>'
    if only:
        return f'<div class="tb-moved one">{shown}</div>'
    why = "".join(f'<div class="words" dir="auto">{deciding(each, text)}</div>' for each in reasons)
    return f'<div class="tb-moved">{shown}<div>{why}</div></div>'


def _side(letter: str, score: int, sure: Confidence, poles: tuple[str, str]) -> str:
    negative, positive = poles
    words = side_at(score - 50, sure, positive_label=positive, negative_label=negative).words
    drawn = bar(score, sure, negative=negative, positive=positive, words=words)
    return f'<div class="side">{letter}{drawn}<b>{score}</b><span>{escape(words)}</span></div>'
