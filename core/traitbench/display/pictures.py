"""The pictures that every page shares: strips of samples, bars, balances, intervals, differences, shares over time.

Each is a piece of HTML that says in words what it shows, names the poles at both ends, and loads nothing. The negative
pole is at the left. A position is a score from 0 to 100.
"""

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor
from typing import NamedTuple
from urllib.parse import quote

from traitbench.contract.metrics import Interval, Pole
from traitbench.contract.scores import Confidence
from traitbench.display.sides import COLOURS as SIDE_COLOURS
from traitbench.display.text import count, isolated, shortened
from traitbench.display.tokens import token

_NARROW = 30
_FEW, _SEVERAL = 400, 5  # samples of a pole that have a dot each, and how many a dot stands for where there are more
_TIGHT, _TIGHTEST = 2.0, 0.5  # pixels from one dot of a stack to the next
_NOTE = f"font-size:12px;line-height:16px;font-variant-numeric:tabular-nums;color:{token('ink-3')}"
_OPACITY: Mapping[Confidence, float] = {"high": 1.0, "moderate": 0.52, "low": 1.0}
_HATCHED = f"repeating-linear-gradient(-55deg, {token('line-strong')} 0 2px, transparent 2px 6px)"  # no side is claimed


RADIUS = 2.6
"""Of a dot in a strip, in pixels."""


def strip(
    counts: Mapping[Pole, Sequence[int]],
    *,
    negative: str,
    positive: str,
    width: int = 640,
    height: int = 112,
    radius: float = RADIUS,
    opens: bool = False,
    among: Sequence[Mapping[Pole, Sequence[int]]] = (),
    is_labelled: bool = True,
) -> str:
    """Draw the samples of both poles by their score: the positive ones stand up, the negative ones hang down.

    `counts` has, by pole, how many samples have the score 0, 1, ..., 100. A sample on the wrong side has a dark ring.
    Dots of a tall stack overlap. If it would not fit even so, a dot stands for several samples, and the picture says
    for how many; rings keep their share. `among` are the counts of strips beside it, which get the same scale. The
    labels keep their size when the picture gets narrower than `width`. With `opens`, the samples of each tenth are a
    button with a `data-cell`, such as `negative.30` for the scores from 30 to 39. Without `is_labelled`, who draws it
    writes the labels.
    """
    widest = 2 * radius + 0.6
    lowest = radius + 0.8
    room = height / 2 - lowest - radius
    columns = min(101, max(1, int(width / widest)))  # more columns than scores would leave empty ones between full ones
    every = (counts, *among)
    is_small = max(sum(by_score) for each in every for by_score in each.values()) <= _FEW
    tightest = (_TIGHTEST if is_small else _TIGHT) * radius / RADIUS
    per_dot = max(1 if is_small else _SEVERAL, ceil((_tallest(every, columns, 1) - 1) * tightest / room))
    step = min(widest, room / max(1, _tallest(every, columns, per_dot) - 1))
    middle = height / 2
    drawn, wrong = "", ""
    poles: tuple[tuple[Pole, str, int], ...] = (("negative", "left", 1), ("positive", "right", -1))
    for pole, side, up in poles:
        stacks = _stacks(counts[pole], pole, columns, per_dot)
        dots = [
            ((column + 0.5) * width / columns, middle + up * (lowest + above * step), above >= right)
            for column, (right, wrong) in enumerate(stacks)
            for above in range(right + wrong)
        ]
        path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y, _ in dots)
        round_dots = f'<path d="{path}" stroke="#000" stroke-width="{2 * radius:g}" stroke-linecap="round"/>'
        drawn += _layer(round_dots, side, width, height)
        wrong += "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>' for x, y, is_wrong in dots if is_wrong)
    if wrong:
        drawn += _layer(f'<g fill="none" stroke="#000" stroke-width="1.2">{wrong}</g>', "ink", width, height)
    across = f"left:0;right:0;top:50%;border-top:1px solid {token('line-strong')}"
    down = f"top:0;bottom:0;left:50%;border-left:1px dashed {token('ink-3')}"
    axis = "".join(f'<div style="position:absolute;{line}"></div>' for line in (across, down))
    labels = ""
    if is_labelled:
        labels = _corner(negative, "left:0;top:0", "left-ink") + _corner(positive, "right:0;bottom:0", "right-ink")
    if per_dot > 1:
        labels += f'<div style="position:absolute;left:50%;top:0;padding-left:6px;{_NOTE}">{_several(per_dot)}</div>'
    size = f"max-width:{width}px;aspect-ratio:{width}/{height}"
    words = _strip_in_words(counts, negative, positive, per_dot)
    picture = _picture(words, size, axis + drawn + labels)
    if not opens:
        return picture
    # An image hides its parts from screen readers, so the buttons stand beside it, not in it.
    buttons = "".join(_buttons(counts[pole], pole, label) for pole, label in _both(negative, positive))
    return f'<div style="position:relative;max-width:{width}px">{picture}{buttons}</div>'


def tenth_of(score: int) -> int:
    """The first score of the tenth that a score is in; a strip opens tenths, and the last one has 100 too."""
    return min(score // 10 * 10, 90)


def tenth_in_words(first: int) -> str:
    """`score 30 to 39`, by its first score."""
    return f"score {first} to {100 if first == 90 else first + 9}"


def bar(score: int, confidence: Confidence, *, negative: str, positive: str, words: str) -> str:
    """Draw a score as a bar from the middle towards its pole; it is hatched if no side is claimed.

    `words` say the side, such as `clearly warm`.
    """
    pole = token("right" if score > 50 else "left")
    fill, edge = (_HATCHED, token("ink-3")) if confidence == "low" else (pole, pole)
    body = (
        f'<div style="position:absolute;left:{min(50, score)}%;width:{abs(score - 50)}%;top:0;bottom:0;'
        f'border-radius:4px;background:{fill};opacity:{_OPACITY[confidence]:g}"></div>'
        f'<div style="position:absolute;left:{score}%;top:50%;width:12px;height:12px;border-radius:50%;'
        f"box-sizing:border-box;transform:translate(-50%,-50%);border:3px solid {edge};"
        f'background:{token("surface")}"></div>'
    )
    alt = f"{words}: {score} from 0, {negative}, to 100, {positive}"
    return _picture(alt, f"height:8px;border-radius:4px;background:{token('sunk')}", body)


def small_bar(score: int, confidence: Confidence) -> str:
    """Return the address of a small picture of a score for a table: a bar from 50 to the score.

    It is hatched if no side is clear. A table has no style sheet, so the colours suit light and dark pages.
    """
    fill = "url(#h)" if confidence == "low" or score == 50 else SIDE_COLOURS[score > 50]
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="104" height="16" viewBox="-2 0 104 16"><defs><pattern id="h" '
        'width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(35)"><path d="M1 0v4" '
        'stroke="#808080" stroke-width="1.6"/></pattern></defs>'
        '<rect y="5" width="100" height="6" rx="3" fill="#808080" fill-opacity=".16"/>'
        f'<rect x="{min(50, score)}" y="4" width="{abs(score - 50)}" height="8" rx="1.5" fill="{fill}" '
        f'fill-opacity="{_OPACITY[confidence]:g}"/>'
        '<path d="M50 2v12" stroke="#808080" stroke-width="1"/></svg>'
    )
    return f"data:image/svg+xml,{quote(svg)}"


def interval(
    value: float, low: float, high: float, *, least: float, most: float, words: str, is_accented: bool = False
) -> str:
    """Draw a value with its interval on a range from `least` to `most`, as a line with a dot. `words` say both."""
    colour = token("accent") if is_accented else token("ink-2")
    at = [100 * (min(max(each, least), most) - least) / (most - least) for each in (value, low, high)]
    line = f'<div style="position:absolute;left:0;right:0;top:7.5px;height:1px;background:{token("line")}"></div>'
    return _picture(words, "height:16px", line + _span(at[1], at[2], colour) + _point(at[0], colour))


def difference(value: float, low: float, high: float, *, reach: float, words: str) -> str:
    """Draw a difference with its interval against a line at zero, on a range from `-reach` to `reach`.

    It has a colour only if the interval leaves zero out: the accent if it is above, red if it is below.
    """
    colour = token("accent") if low > 0 else token("bad") if high < 0 else token("ink-3")
    at = [50 + 50 * min(max(each / reach, -1.0), 1.0) for each in (value, low, high)]
    zero = f'<div style="position:absolute;left:50%;top:0;bottom:0;width:1px;background:{token("ink-3")}"></div>'
    return _picture(words, "height:16px", zero + _span(at[1], at[2], colour) + _point(at[0], colour))


def empty_strip(*, negative: str, positive: str, words: str, height: int = 72) -> str:
    """Draw the place of a strip whose samples are not known yet: both poles, and pale bars where most will be.

    `words` say why it is empty.
    """
    across, down = "left:0;right:0;top:50%;border-top", "top:0;bottom:0;left:50%;border-left"
    dashed = f"1px dashed {token('line-strong')}"
    axes = "".join(f'<div style="position:absolute;{line}:{dashed}"></div>' for line in (across, down))
    axes += "".join(
        f'<div style="position:absolute;{side}:{4 * step + 1}%;{edge}:calc(50% + 2px);width:6px;border-radius:3px;'
        f'height:{(0.3 * height) * (1 - step / 12) ** 2:.1f}px;background:{token("sunk")}"></div>'
        for side, edge in (("left", "top"), ("right", "bottom"))
        for step in range(10)
    )
    labels = _corner(negative, "left:0;top:0", "left-ink") + _corner(positive, "right:0;bottom:0", "right-ink")
    return _picture(words, f"height:{height}px", axes + labels)


def ticks(counts: Mapping[Pole, Sequence[int]]) -> str:
    """Draw where the samples of both poles score, below a bar: the positive ones above, the negative ones below.

    `counts` are those of `strip`. A score with more samples has a darker mark.
    """
    most = max((max(each, default=0) for each in counts.values()), default=0) or 1
    rows: tuple[tuple[Pole, str, int], ...] = (("positive", "right", 0), ("negative", "left", 6))
    marks = "".join(
        f'<i style="position:absolute;left:{score:.1f}%;top:{top}px;width:2px;height:5px;margin-left:-1px;'
        f'background:{token(side)};opacity:{0.35 + 0.65 * number / most:.2f}"></i>'
        for pole, side, top in rows
        for score, number in enumerate(counts[pole])
        if number
    )
    return f'<div aria-hidden="true" style="position:relative;height:11px;margin:2px 0">{marks}</div>'


def balance(negative_samples: int, positive_samples: int, *, negative: str, positive: str) -> str:
    """Draw how many samples are at each pole: two blocks beside each other, as wide as their shares."""
    alt = f"{negative_samples:,} {negative} and {positive_samples:,} {positive} samples"
    even = negative_samples == positive_samples
    left = _block(
        f"{negative_samples:,} {isolated(shortened(negative, _NARROW))}", 1 if even else negative_samples, "left"
    )
    right = _block(
        f"{isolated(shortened(positive, _NARROW))} {positive_samples:,}", 1 if even else positive_samples, "right"
    )
    return _picture(alt, "display:flex;gap:2px;margin:4px 0", left + right)


def shares(
    at_negative: int, at_neither: int, at_positive: int, *, negative: str, positive: str, opacity: float = 1.0
) -> str:
    """Draw how many texts are at each pole and at neither: three parts of one bar, as wide as their shares."""
    names = [isolated(shortened(each, _NARROW)) for each in (negative, positive)]
    parts = (
        (at_negative, f"{names[0]} {at_negative:,}", "left-ink", token("left")),
        (at_neither, f"no clear side {at_neither:,}", "ink-2", _HATCHED),
        (at_positive, f"{names[1]} {at_positive:,}", "right-ink", token("right")),
    )
    # The labels stand below: a share that is narrower than its label must not look larger than it is.
    seen = [each for each in parts if each[0]]
    bar = "".join(
        f'<div style="flex:{number} 1 0;background:{fill};opacity:{opacity:g}"></div>' for number, _, _, fill in seen
    )
    labels = "".join(
        f'<bdi style="font-weight:600;color:{token(ink)}">{escape(label)}</bdi>' for _, label, ink, _ in seen
    )
    words = f"{at_negative:,} {negative}, {at_neither:,} no clear side, {at_positive:,} {positive}"
    return _picture(
        words,
        "margin:4px 0 12px",
        f'<div style="display:flex;height:32px;border-radius:6px;overflow:hidden">{bar}</div>'
        f'<div style="display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 16px;{_NOTE}">{labels}</div>',
    )


def histogram(counts: Sequence[int], *, step: int, unit: str, words: str) -> str:
    """Draw how many values are in each step from 0 on, in grey; the largest number is written on its bar.

    `words` say what is counted, and the axis ends at the end of the last step.
    """
    most = max(counts, default=0) or 1
    tallest = counts.index(max(counts)) if counts else 0
    bars = "".join(
        f'<div style="flex:1;min-width:1px;text-align:center;white-space:nowrap;font-size:12px;line-height:16px;'
        f'color:{token("ink-3")}">'
        f"{f'<span>{number:,}</span>' if index == tallest and number else ''}"
        f'<div style="height:{48 * number / most:.1f}px;min-height:{2 if number else 0}px;border-radius:2px;'
        f'background:{token("line-strong")}"></div></div>'
        for index, number in enumerate(counts)
    )
    end = step * len(counts)
    axis = f"<span>0</span><span>{end // 2:,} {escape(unit)}</span><span>{end:,}</span>"
    return _picture(
        words,
        "",
        f'<div style="display:flex;align-items:flex-end;gap:2px;height:66px">{bars}</div>'
        f'<div style="display:flex;justify-content:space-between;border-top:1px solid {token("line")};'
        f'padding-top:2px;{_NOTE}">{axis}</div>',
    )


def listed(numbers: Mapping[str, int]) -> str:
    """Names and their numbers below each other; a zero is grey."""
    return "".join(
        f'<div style="display:flex;justify-content:space-between;gap:8px;font-size:13px;line-height:22px;'
        f'color:{token("ink-2")}"><span>{escape(name)}</span>'
        f'<span style="font-variant-numeric:tabular-nums;color:{token("ink" if number else "ink-3")}">{number:,}</span>'
        "</div>"
        for name, number in numbers.items()
    )


class RightShare(NamedTuple):
    """How many of some samples are right, with the 95 % interval of the share, and what it is a share of.

    `is_joined` says that it was measured on the same samples as the one before it, so that the two can be compared.
    """

    name: str
    note: str
    right: int
    samples: int
    interval: Interval
    is_accented: bool = False
    is_joined: bool = False


def course(shares: Sequence[RightShare]) -> str:
    """Draw shares over time in right of 10, each with its interval; only comparable neighbours are joined by a line."""
    least = min([floor(10 * each.interval[0]) / 10 for each in shares] + [0.8])
    at = [100 * (index + 0.5) / max(len(shares), 1) for index in range(len(shares))]
    down = [_down(each.right / each.samples, least) for each in shares]
    grid = "".join(
        f'<div style="position:absolute;left:0;right:0;top:{_down(tenth / 10, least):.1f}%;'
        f'border-top:1px solid {token("line")}"><span style="position:absolute;left:0;top:-16px;{_NOTE}">{tenth}</span>'
        "</div>"
        for tenth in _ticks(least)
    )
    joined = "".join(
        _line((at[index - 1], down[index - 1]), (at[index], down[index]))
        for index, each in enumerate(shares)
        if index and each.is_joined
    )
    marks = "".join(map(_mark, shares, at, down, [least] * len(shares)))
    names = "".join(
        f'<div style="flex:1;min-width:0;text-align:center;overflow-wrap:anywhere;{_NOTE}">'
        f'<b style="color:{token("ink")}">{escape(each.name)}</b><br>{escape(each.note)}<br>'
        f"{each.right:,} of {each.samples:,}</div>"
        for each in shares
    )
    return _picture(
        _course_in_words(shares),
        "padding-top:16px",
        f'<div style="position:relative;height:112px">{grid}{joined}{marks}</div>'
        f'<div style="display:flex;gap:4px;padding-top:6px">{names}</div>',
    )


def _picture(alt: str, style: str, body: str) -> str:
    """A block that is one image for those who do not see it."""
    says = escape(alt)
    return f'<div role="img" aria-label="{says}" title="{says}" style="position:relative;{style}">{body}</div>'


def _stacks(by_score: Sequence[int], pole: Pole, columns: int, per_dot: int) -> list[tuple[int, int]]:
    """By column: how many dots are on the right side and how many on the wrong one.

    A dot is drawn where the first of its samples is, so of each kind there is at most one dot too many in all.
    """
    right, wrong = [0] * columns, [0] * columns
    seen = {True: 0, False: 0}
    for score, samples in enumerate(by_score):
        column = min(columns - 1, score * columns // 101)
        is_right = score > 50 if pole == "positive" else score < 50
        before = ceil(seen[is_right] / per_dot)
        seen[is_right] += samples
        (right if is_right else wrong)[column] += ceil(seen[is_right] / per_dot) - before
    return list(zip(right, wrong, strict=True))


def _tallest(every: Sequence[Mapping[Pole, Sequence[int]]], columns: int, per_dot: int) -> int:
    """The most dots in a column of some strips."""
    return max(sum(dots) for each in every for pole in each for dots in _stacks(each[pole], pole, columns, per_dot))


def _layer(shapes: str, colour: str, width: int, height: int) -> str:
    """Shapes in a colour, as a mask: Streamlit removes SVG elements from HTML, and an image knows no variables."""
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">{shapes}</svg>'
    mask = f"url('data:image/svg+xml,{quote(svg, safe=' /:=.,-')}') 0 0/100% 100% no-repeat"
    return f'<div style="position:absolute;inset:0;background:{token(colour)};-webkit-mask:{mask};mask:{mask}"></div>'


def _both(negative: str, positive: str) -> tuple[tuple[Pole, str], tuple[Pole, str]]:
    return ("negative", negative), ("positive", positive)


def _buttons(by_score: Sequence[int], pole: Pole, label: str) -> str:
    """A button over the samples of each tenth that has some."""
    tenths = [0] * 10
    for score, samples in enumerate(by_score):
        tenths[tenth_of(score) // 10] += samples
    half = "top:50%" if pole == "negative" else "top:0"
    return "".join(
        f'<button data-cell="{pole}.{first}" aria-label="{says}" title="{says}" style="position:absolute;{half};'
        f'height:50%;left:{first / 1.01:.2f}%;width:{(11 if first == 90 else 10) / 1.01:.2f}%"></button>'
        for first, samples in zip(range(0, 100, 10), tenths, strict=True)
        if samples
        for says in [escape(f"{samples:,} {label}, {tenth_in_words(first)}")]
    )


def _strip_in_words(counts: Mapping[Pole, Sequence[int]], negative: str, positive: str, per_dot: int) -> str:
    """`Held-out scores from 0, cold, to 100, warm: 57 of 61 warm and 53 of 60 cold samples are on their side.`"""
    high, low = counts["positive"], counts["negative"]
    several = f" {_several(per_dot)}." if per_dot > 1 else ""
    return (
        f"Held-out scores from 0, {negative}, to 100, {positive}: {sum(high[51:]):,} of {sum(high):,} {positive} and "
        f"{sum(low[:50]):,} of {sum(low):,} {negative} samples are on their side.{several}"
    )


def _several(per_dot: int) -> str:
    return f"A dot is up to {count(per_dot, 'sample')}"


def _corner(label: str, where: str, colour: str) -> str:
    return (
        f'<bdi style="position:absolute;{where};font-size:13px;line-height:16px;color:{token(colour)}" '
        f'title="{escape(label)}">{escape(shortened(label, _NARROW))}</bdi>'
    )


def _span(low: float, high: float, colour: str) -> str:
    return (
        f'<div style="position:absolute;left:{low:.2f}%;width:{high - low:.2f}%;top:6px;height:4px;border-radius:2px;'
        f'background:{colour};opacity:.45"></div>'
    )


def _point(at: float, colour: str) -> str:
    return (
        f'<div style="position:absolute;left:{at:.2f}%;top:3px;width:10px;height:10px;border-radius:50%;'
        f'margin-left:-5px;background:{colour}"></div>'
    )


def _block(label: str, share: int, side: str) -> str:
    """A part of a balance; a pole without samples keeps room for its name."""
    return (
        f'<bdi style="flex:{share} 1 0;min-width:fit-content;padding:0 8px;border-radius:4px;text-align:{side};'
        f"font-size:13px;line-height:24px;font-variant-numeric:tabular-nums;overflow-wrap:anywhere;"
        f'color:{token(f"{side}-ink")};background:{token(f"{side}-soft")}">{escape(label)}</bdi>'
    )


def _down(share: float, least: float) -> float:
    """How far below the top of the picture a share is, in percent."""
    return 100 * (1 - share) / (1 - least)


def _ticks(least: float) -> list[int]:
    """The tenths that have a line, at most six."""
    first = round(10 * least)
    step = 1 if first >= 5 else 2
    return list(range(10, first - 1, -step))


def _line(start: tuple[float, float], end: tuple[float, float]) -> str:
    """A line between two points, which are in percent: the diagonal of a box."""
    (left, top), (right, bottom) = start, end
    towards = "top right" if bottom > top else "bottom right"
    colour = token("line-strong")
    return (
        f'<div class="line" style="position:absolute;left:{left:.2f}%;width:{right - left:.2f}%;'
        f"top:{min(top, bottom):.2f}%;height:{abs(bottom - top):.2f}%;min-height:2px;"
        f"background:linear-gradient(to {towards},transparent calc(50% - 1px),{colour} calc(50% - 1px),"
        f'{colour} calc(50% + 1px),transparent calc(50% + 1px))"></div>'
    )


def _mark(share: RightShare, across: float, down: float, least: float) -> str:
    colour = token("accent") if share.is_accented else token("ink-3")
    low, high = (_down(each, least) for each in share.interval)
    fill = colour if share.is_accented else token("surface")
    return (
        f'<div style="position:absolute;left:{across:.2f}%;top:{high:.1f}%;height:{low - high:.1f}%;width:3px;'
        f'margin-left:-1.5px;border-radius:2px;background:{colour}"></div>'
        f'<div style="position:absolute;left:{across:.2f}%;top:{down:.1f}%;width:12px;height:12px;border-radius:50%;'
        f'box-sizing:border-box;transform:translate(-50%,-50%);border:2px solid {colour};background:{fill}"></div>'
    )


def _course_in_words(shares: Sequence[RightShare]) -> str:
    """`Right in 10: v1 9 Nov 8.7 (7.9 to 9.2), v2 ...`."""
    return "Right in 10: " + ", ".join(
        f"{each.name} {each.note} {10 * each.right / each.samples:.1f} "
        f"({10 * each.interval[0]:.1f} to {10 * each.interval[1]:.1f})"
        for each in shares
    )
