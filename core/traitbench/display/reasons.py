"""The explanation of a score for people: rows for a table or a file, and the text with highlighted parts.

Texts are not trusted: everything in the HTML is escaped. Colour is not the only sign. Parts that pull towards the
negative pole have a dashed underline, those towards the positive pole a solid one, and each part shows its number on
hover. The text keeps the colour of the theme.
"""

from collections.abc import Iterator, Sequence
from html import escape

from traitbench.contract.explanations import Explanation, Part, Piece
from traitbench.display.colours import NEGATIVE_SIGN, NEUTRAL_SIGN, PALETTE, POSITIVE_SIGN, seen_through
from traitbench.display.text import shortened

COLUMNS = ("Part", "Start", "End", "Adds", "Text")
MOST_SHOWN = 20_000
"""The number of characters that are highlighted; the table has all parts."""

_PUNCTUATION = ".,;:!?…\"'“”‘’()[]–—-、。！，：；？「」『』（）،؛؟۔। "
_FAINTEST, _STRONGEST = 0.06, 0.5
_LONGEST_WORDS, _LONGEST_ROW = 24, 120
_UNITS = {"logit": (2, 1.0), "score": (1, 100.0)}
_STYLE = """
<style>
.tb-adds { display: grid; grid-template-columns: minmax(0, 1.2fr) minmax(80px, 1fr) auto; font-size: 13px; }
.tb-adds > * { padding: 5px 0; border-top: 1px solid var(--tb-line, #80808040); min-width: 0; }
.tb-adds bdi { overflow-wrap: anywhere; padding-right: 12px; line-height: 18px; }
.tb-adds i { position: relative; display: block; }
.tb-adds i::before { content: ""; position: absolute; left: 50%; top: 0; bottom: 0; border-left: 1px solid #80808080; }
.tb-adds b { position: absolute; top: 50%; height: 10px; margin-top: -5px; border-radius: 3px; }
.tb-adds span { padding-left: 12px; text-align: right; font-variant-numeric: tabular-nums; line-height: 18px; }
.tb-why { white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.9; max-height: 26rem; overflow-y: auto; }
.tb-why { unicode-bidi: plaintext; text-align: start; }
.tb-why span[style], .tb-key span { border-radius: 3px; padding: 1px 2px; border-bottom: 2px solid transparent; }
.tb-key { font-size: .875rem; line-height: 1.9; }
</style>
"""

Row = tuple[str, int, int, float, str]


def text_of(part: Part, text: str) -> str:
    """Return the text of a part; the part itself has it if the content was a URL."""
    return text[part.start : part.end] if part.text is None else part.text


def rows(explanation: Explanation, text: str) -> list[Row]:
    """Return a row for each sentence, followed by rows for its words or phrases."""
    result: list[Row] = []
    for part in explanation.parts:
        words = text_of(part, text)
        result.append(("sentence", part.start, part.end, part.contribution, words))
        result += [
            ("piece", each.start, each.end, each.contribution, words[each.start - part.start : each.end - part.start])
            for each in part.pieces
        ]
    return result


def amount(value: float, unit: str) -> str:
    """Format a contribution: `+1.24`, or `+3.1 points` if its unit is the score."""
    digits, factor = _UNITS[unit]
    # Adding 0 turns -0.0 into 0.0, whose sign would be shown.
    shown = round(factor * value, digits) + 0.0
    return f"{shown:+.{digits}f}" + (" points" if unit == "score" else "")


def sign(value: float) -> str:
    """Return the sign of the pole that a contribution pulls towards."""
    return POSITIVE_SIGN if value > 0 else NEGATIVE_SIGN if value < 0 else NEUTRAL_SIGN


def highlighted(explanation: Explanation, text: str, *, by_pieces: bool) -> str:
    """Return the text as HTML, highlighted by words and phrases if they were analysed, or by sentences."""
    pieces = _parts(explanation, by_pieces=by_pieces)
    most = max((abs(piece.contribution) for piece in pieces), default=0.0)
    body = "".join(_pieces(pieces, explanation, text, most))
    more = "…" if len(text) > MOST_SHOWN else ""
    return f'{_STYLE}<div class="tb-why">{body}{more}</div>'


def adding(explanation: Explanation, text: str, *, by_pieces: bool, most: int = MOST_SHOWN) -> str:
    """Return what each part adds as HTML: its words, a bar from the middle, and its number; the first `most` parts."""
    parts = _parts(explanation, by_pieces=by_pieces)[:most]
    largest = max((abs(each.contribution) for each in parts), default=0.0) or 1.0
    return f'{_STYLE}<div class="tb-adds">{"".join(_row(each, explanation, text, largest) for each in parts)}</div>'


def legend(negative_label: str, positive_label: str) -> str:
    """Return the legend of the colours as HTML."""
    marks = (
        f'<span style="{look(-1.0)}">{NEGATIVE_SIGN} {escape(negative_label)}</span>',
        f'<span style="{look(1.0)}">{POSITIVE_SIGN} {escape(positive_label)}</span>',
    )
    return f'{_STYLE}<div class="tb-key">pulls towards {" ".join(marks)}; stronger colour, larger effect</div>'


def strongest(explanation: Explanation, text: str, *, positive: bool, most: int = 3) -> list[str]:
    """Return the words that pull most towards a pole, the strongest first; none that hardly count."""
    pieces = [
        (piece.contribution if positive else -piece.contribution, _bare(text[piece.start : piece.end]))
        for part in explanation.parts
        for piece in (part.pieces or [part])
    ]
    least = max((abs(amount) for amount, _ in pieces), default=0.0) * _FAINTEST / _STRONGEST
    pulling = sorted((each for each in pieces if each[0] > least and each[1]), reverse=True)
    return list(dict.fromkeys(words for _, words in pulling))[:most]


def changed_most(before: Explanation, after: Explanation, text: str, *, most: int = 2) -> list[str]:
    """Return the words of `after` that pull differently than in `before`, the largest difference first."""
    pulled = [0.0] * len(text)
    for each in _parts(before, by_pieces=True):
        pulled[each.start : each.end] = [each.contribution / (each.end - each.start)] * (each.end - each.start)
    changes = [
        (abs(each.contribution - sum(pulled[each.start : each.end])), _bare(text[each.start : each.end]))
        for each in _parts(after, by_pieces=True)
    ]
    return list(dict.fromkeys(words for _, words in sorted(changes, reverse=True) if words))[:most]


def deciding(explanation: Explanation, text: str, *, most: int = 3) -> str:
    """Return the words that count most for either pole, the strongest first, as HTML; each has its number."""
    parts = [piece for part in explanation.parts for piece in (part.pieces or [part])]
    named: dict[str, Piece] = {}
    for each in sorted(parts, key=lambda each: -abs(each.contribution)):
        named.setdefault(shortened(_bare(text[each.start : each.end]), _LONGEST_WORDS), each)
    first = [(words, each) for words, each in named.items() if words][:most]
    strongest = max((abs(each.contribution) for _, each in first), default=0.0) or 1.0
    return "".join(
        f'<span style="{look(each.contribution / strongest)}" title="{amount(each.contribution, explanation.unit)}">'
        f"{escape(words)}</span>"
        for words, each in first
    )


def _parts(explanation: Explanation, *, by_pieces: bool) -> list[Piece]:
    return [piece for part in explanation.parts for piece in (part.pieces if by_pieces and part.pieces else [part])]


def _row(piece: Piece, explanation: Explanation, text: str, largest: float) -> str:
    """A part that hardly adds anything has no bar."""
    share = piece.contribution / largest
    colour = PALETTE.positive if share > 0 else PALETTE.negative
    where = f"left:{50 + min(0.0, 50 * share):.1f}%;width:{abs(50 * share):.1f}%;background:{colour}"
    words = shortened(text[piece.start : piece.end], _LONGEST_ROW)
    number = amount(piece.contribution, explanation.unit)
    return f'<bdi>{escape(words)}</bdi><i><b style="{where}"></b></i><span>{number}</span>'


def _bare(words: str) -> str:
    """Words without the punctuation around them, unless they are nothing else."""
    return words.strip().strip(_PUNCTUATION) or words.strip()


def _pieces(pieces: Sequence[Piece], explanation: Explanation, text: str, most: float) -> Iterator[str]:
    at = 0
    for piece in pieces:
        if piece.start >= MOST_SHOWN:
            return
        yield escape(text[at : piece.start])
        yield _span(piece, explanation, text, most)
        at = piece.end
    yield escape(text[at:MOST_SHOWN])


def _span(piece: Piece, explanation: Explanation, text: str, most: float) -> str:
    says = f"{sign(piece.contribution)} {amount(piece.contribution, explanation.unit)}"
    css = look(piece.contribution / most if most else 0.0)
    style = f' style="{css}"' if css else ""
    return f'<span title="{says}"{style}>{escape(text[piece.start : min(piece.end, MOST_SHOWN)])}</span>'


def look(strength: float) -> str:
    """Return the CSS of a part by its strength, from -1 to 1; "" if it is very weak."""
    colour = PALETTE.positive if strength > 0 else PALETTE.negative
    opacity = abs(strength) * _STRONGEST
    if opacity < _FAINTEST:
        return ""
    line = "solid" if strength > 0 else "dashed"
    return (
        f"background-color: {seen_through(colour, opacity)}; border-bottom-color: {colour}; border-bottom-style: {line}"
    )
