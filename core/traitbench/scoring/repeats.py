"""Shorten long runs of one character before a text is encoded: forty thousand dots say no more than a few.

A run of more than `LONGEST` equal characters keeps the first `LONGEST`: three times the widest line that people draw
under a heading, so ordinary texts stay as they are. A run of more than `LONGEST` white space characters of any kind
becomes a blank line, a line break or a space. Paragraphs and sentences end where they did, and every position in the
short text maps to one in the original.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 256

# A longer run fills at least one whole block, so only such blocks are examined. An ordinary text costs one count per
# 128 characters, and other threads can run in between.
_BLOCK = LONGEST // 2


@dataclass(frozen=True)
class Shortened:
    """A text without its longest runs; from `after[i]` on, `missing[i]` characters of the original are missing."""

    text: str
    after: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()

    def origin(self, place: int) -> int:
        """The same position in the original; the end of a shortened run is the end of the whole run."""
        known = bisect_right(self.after, place)
        return place + (self.missing[known - 1] if known else 0)


def shorten(text: str) -> Shortened:
    """The text with every long run shortened; the same object if there is none."""
    if len(text) <= LONGEST:
        return Shortened(text)
    pieces, after, missing = list[str](), list[int](), list[int]()
    done = length = lost = 0
    for start, end in _runs(text):
        kept = _kept(text[start:end])
        pieces += [text[done:start], kept]
        length += start - done + len(kept)
        lost += end - start - len(kept)
        after.append(length)
        missing.append(lost)
        done = end
    if not pieces:
        return Shortened(text)
    return Shortened("".join([*pieces, text[done:]]), tuple(after), tuple(missing))


def _kept(run: str) -> str:
    if run[0].isspace():
        return "\n\n"[: run.count("\n")] or " "
    return run[:LONGEST]


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every run that is too long, in order."""
    done = 0
    for place in range(0, len(text) - _BLOCK + 1, _BLOCK):
        block = text[place : place + _BLOCK]
        sign = None if block[0].isspace() else block[0]  # as in `str.strip`: None means any white space
        if place < done or not _fills(block, sign):
            continue
        before = text[max(done, place - _BLOCK) : place]
        start, done = place - len(before) + len(before.rstrip(sign)), _end(text, place + _BLOCK, sign)
        if done - start > LONGEST:
            yield start, done


def _end(text: str, place: int, sign: str | None) -> int:
    """The end of the run that continues at this position."""
    while _fills(block := text[place : place + _BLOCK], sign):
        place += len(block)
    return place + len(block) - len(block.lstrip(sign))


def _fills(block: str, sign: str | None) -> bool:
    return block.isspace() if sign is None else 0 < len(block) == block.count(sign)
