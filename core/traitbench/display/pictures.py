"""The pictures that every page shares: a strip of samples, a bar between two poles, an interval and a difference.

Each is a piece of HTML that says in words what it shows, names the poles at both ends, and loads nothing. The negative
pole is at the left. A position is a score from 0 to 100.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import ceil
from typing import NamedTuple

from traitbench.contract.metrics import Pole
from traitbench.contract.scores import Confidence
from traitbench.display.text import count, shortened
from traitbench.display.tokens import token

_NARROW = 30
_OPACITY: Mapping[Confidence, float] = {"high": 1.0, "moderate": 0.52, "low": 1.0}
_HATCHED = f"repeating-linear-gradient(-55deg, {token('line-strong')} 0 2px, transparent 2px 6px)"  # no side is claimed


class _Dot(NamedTuple):
    x: float
    y: float
    is_wrong: bool


def strip(
    counts: Mapping[Pole, Sequence[int]],
    *,
    negative: str,
    positive: str,
    width: int = 640,
    height: int = 112,
    radius: float = 2.6,
) -> str:
    """Draw the samples of both poles by their score: the positive ones stand up, the negative ones hang down.

    `counts` has, by pole, how many samples have the score 0, 1, ..., 100. A sample on the wrong side has a dark ring.
    If a stack would not fit, a dot stands for several samples, and the words say so. The labels keep their size when
    the picture gets narrower than `width`.
    """
    step = 2 * radius + 0.6
    room = height / 2 - 1
    columns = max(1, int(width / step))
    stacks = {pole: _stacks(counts[pole], columns, is_positive=pole == "positive") for pole in counts}
    tallest = max((sum(each) for every in stacks.values() for each in every), default=0)
    per_dot = max(1, ceil(tallest * step / room))
    drawn = "".join(
        _dots(stacks[pole], pole=pole, per_dot=per_dot, step=step, radius=radius, width=width, middle=height / 2)
        for pole in stacks
    )
    middle = height / 2
    axis = (
        f'<line x1="0" x2="{width}" y1="{middle:g}" y2="{middle:g}" style="stroke:{token("line-strong")}"/>'
        f'<line x1="{width / 2:g}" x2="{width / 2:g}" y1="0" y2="{height}" stroke-dasharray="2 3"'
        f' style="stroke:{token("ink-3")}"/>'
    )
    svg = (
        f'<svg viewBox="0 0 {width} {height}" width="100%" style="display:block" aria-hidden="true">{axis}{drawn}</svg>'
    )
    labels = _corner(negative, "left:0;top:0", "left-ink") + _corner(positive, "right:0;bottom:0", "right-ink")
    return _picture(_strip_in_words(counts, negative, positive, per_dot), f"max-width:{width}px", svg + labels)


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


def _picture(alt: str, style: str, body: str) -> str:
    """A block that is one image for those who do not see it."""
    says = escape(alt)
    return f'<div role="img" aria-label="{says}" title="{says}" style="position:relative;{style}">{body}</div>'


def _stacks(by_score: Sequence[int], columns: int, *, is_positive: bool) -> list[tuple[int, int]]:
    """By column: how many samples are on the right side and how many on the wrong one."""
    right, wrong = [0] * columns, [0] * columns
    for score, samples in enumerate(by_score):
        column = min(columns - 1, score * columns // 101)
        is_right = score > 50 if is_positive else score < 50
        (right if is_right else wrong)[column] += samples
    return list(zip(right, wrong, strict=True))


def _dots(
    stacks: Sequence[tuple[int, int]],
    *,
    pole: Pole,
    per_dot: int,
    step: float,
    radius: float,
    width: int,
    middle: float,
) -> str:
    side, up = ("right", -1) if pole == "positive" else ("left", 1)
    ring = f' style="stroke:{token("ink")}" stroke-width="1.2"'
    circles = (
        f'<circle cx="{dot.x:.1f}" cy="{middle + up * dot.y:.1f}" r="{radius:g}"{ring if dot.is_wrong else ""}/>'
        for dot in _placed(stacks, per_dot, step, width)
    )
    return f'<g style="fill:{token(side)}">{"".join(circles)}</g>'


def _placed(stacks: Sequence[tuple[int, int]], per_dot: int, step: float, width: int) -> Iterator[_Dot]:
    for column, (right, wrong) in enumerate(stacks):
        x = (column + 0.5) * width / len(stacks)
        dots = [False] * ceil(right / per_dot) + [True] * ceil(wrong / per_dot)
        for height, is_wrong in enumerate(dots):
            yield _Dot(x, (height + 0.5) * step + 0.5, is_wrong)


def _strip_in_words(counts: Mapping[Pole, Sequence[int]], negative: str, positive: str, per_dot: int) -> str:
    """`Held-out scores from 0, cold, to 100, warm: 57 of 61 warm and 53 of 60 cold samples are on their side.`"""
    high, low = counts["positive"], counts["negative"]
    several = f" A dot is up to {count(per_dot, 'sample')}." if per_dot > 1 else ""
    return (
        f"Held-out scores from 0, {negative}, to 100, {positive}: {sum(high[51:]):,} of {sum(high):,} {positive} and "
        f"{sum(low[:50]):,} of {sum(low):,} {negative} samples are on their side.{several}"
    )


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
