"""The text as a person reads it. Scores, vectors, folds and duplicates go by it; reasons point into the text as sent.

Accents are composed (NFC), characters that nobody sees and that carry no meaning go, and of a long run of one character
256 count. Versions trained from now on also read a text in capitals as the sentences that it would be.

What goes, by Unicode's tables of format and default-ignorable characters:

- Soft hyphen, zero-width space, word joiner, byte-order mark, grapheme joiner, invisible operators, and controls that
  are no white space: they break lines, sort keys or steer machines.
- Marks, embeddings and isolates of direction: they place words on a line, and the words stay the same.
- Joiners, unless they shape what is seen: in Arabic, Indic and similar scripts, and between emoji.
- Variation selectors, unless they follow a symbol, a digit of a keycap or a Mongolian letter.
- Tags, unless they name the region of a flag. Fillers of Hangul, unless they are beside parts of a syllable.

The Hangul filler of keyboards and the Braille blank are seen as a space, so they become one.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from unicodedata import combining, is_normalized, normalize

FIRST, READING = 1, 2
"""The reading of versions from before there were several, and that of versions trained from now on."""

LONGEST_RUN = 256

_UNSEEN = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
    "\u00ad\u034f\u061c\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
)
_UNSEEN_BEYOND = "\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
_BLANKS = "\u2800\u3164\uffa0"
_SHAPING = "\u115f\u1160\u180b-\u180f\u200c\u200d\ufe00-\ufe0f"
_SHAPING_BEYOND = "\U000e0020-\U000e007f\U000e0100-\U000e01ef"
_UNSEEN_OR_BLANK = re.compile(f"[{_UNSEEN}{_BLANKS}{_UNSEEN_BEYOND}]")
_SHAPERS = re.compile(f"[{_SHAPING}{_SHAPING_BEYOND}]+")
# One range beyond the first plane, because each of them makes the search slower.
_BEYOND = "\U000e0000-\U000e0fff"
_ODD = re.compile(f"[{_UNSEEN}{_BLANKS}{_SHAPING}{_BEYOND}]")
_SEEN = re.compile(rf"[^\s{_UNSEEN}{_BLANKS}{_SHAPING}{_BEYOND}]")

_SYMBOL = re.compile("[\u00a9\u00ae\u203c\u2049\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001fbff]")
_SELECTOR = re.compile("[\ufe00-\ufe0f]")
_REGION = re.compile("[\U000e0020-\U000e007e]+\U000e007f")
_FLAG, _KEYCAP = "\U0001f3f4", "\u20e3"
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_MONGOLIAN, _MONGOLIAN_SHAPE = re.compile("[\u1800-\u180a\u1810-\u18af]"), re.compile("[\u180b-\u180f]")
_JAMO = re.compile("[\u1100-\u115e\u1161-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")
# The scripts in which a joiner shapes the letters beside it: those that connect letters, and those with conjuncts.
_SHAPED = re.compile(
    "[\u0620-\u0dff\u0f00-\u109f\u1700-\u180a\u1810-\u1c4f\ua800-\ua8ff\ua930-\ua9df\uaa00-\uaadf\uabc0-\uabff"
    "\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010aff\U00010d00-\U00010d3f\U00010f30-\U00010fdf\U00011000-\U00011fff"
    "\U0001e900-\U0001e95f]"
)

# Marks are put in order one by one, in quadratic time. A long run of them is part of a long stretch beyond ASCII.
_STRETCH = re.compile("[^\x00-\x7f]{64,}")
_SEVERAL_MARKS = {0x344: "\u0308\u0301", 0xF73: "\u0f71\u0f72", 0xF75: "\u0f71\u0f74", 0xF81: "\u0f71\u0f80"}

_CAPITALS_AMONG_LETTERS, _FEWEST_CAPITALS, _CHARACTERS_LOOKED_AT = 0.8, 2, 128
_CHEROKEE = re.compile("[\u13a0-\u13f5]")  # usually written in capitals
_DOTTED = re.compile("[\u0130\u011e]")  # languages with these letters have a small letter without a dot for I
_WORD_OR_END = re.compile(r"(?P<abbreviation>(?:[^\W\d_]\.){2,})|\w++|[.!?…](?=[\"'”’»)\]]*+\s)|[。\n]")

Edit = tuple[int, int, int]
"""Start and end of a stretch that was replaced, and the length of what replaced it."""


@dataclass(frozen=True)
class TextAsRead:
    """A text as it is read. `changes` has each text before a change, and what lists the edits of that change."""

    text: str
    changes: tuple[tuple[str, Callable[[str], Iterable[Edit]]], ...] = ()

    def origin(self, position: int) -> int:
        """The same position in the text as it was sent. The end of a shortened run is the end of the whole run.

        What was left out belongs to what comes before it, or at the beginning to what comes after it.
        """
        if not position:
            return 0
        for after, missing in self._moved:
            known = bisect_right(after, position)
            position += missing[known - 1] if known else 0
        return position

    @cached_property
    def _moved(self) -> list[tuple[list[int], list[int]]]:
        """By change, the last one first: from `after[i]` on, `missing[i]` characters of the text before are missing."""
        return [_missing(edits(before)) for before, edits in reversed(self.changes)]


def as_read(text: str, reading: int = READING) -> TextAsRead:
    """The text in a reading. Texts that a person cannot tell apart are equal as read."""
    changes: list[tuple[str, Callable[[str], Iterable[Edit]]]] = []
    if not (text.isascii() and text.isprintable()) and (_ODD.search(text) or not is_normalized("NFC", text)):
        for change, edits in _CHANGES:
            if (changed := change(text)) != text:
                changes.append((text, edits))
                text = changed
    if len(text) > LONGEST_RUN and (shortened := _shortened(text)) != text:
        changes.append((text, _shortenings))
        text = shortened
    if reading > FIRST and _in_capitals(text):
        text = _as_sentences(text)
    return TextAsRead(text, tuple(changes))


def rewritten(text: str, rules: Iterable[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]]) -> TextAsRead:
    """The text after one replacement after the other; `origin` leads back into the text as it was."""
    changes: list[tuple[str, Callable[[str], Iterable[Edit]]]] = []
    for pattern, replacement in rules:
        if (changed := pattern.sub(replacement, text)) != text:
            changes.append((text, _edits(pattern, replacement)))
            text = changed
    return TextAsRead(text, tuple(changes))


def read_hash(text: str) -> str:
    """The SHA-256 of the text as a person reads it, in hexadecimal: equal for texts that look the same."""
    return hashlib.sha256(as_read(text, FIRST).text.encode("utf-8", "surrogatepass")).hexdigest()


def is_blank(text: str) -> bool:
    """Whether nothing of a text is seen but space."""
    return not _SEEN.search(text)


def _missing(edits: Iterable[Edit]) -> tuple[list[int], list[int]]:
    after, missing, lost = [], [], 0
    for start, end, length in edits:
        after.append(start - lost + length)
        lost += end - start - length
        missing.append(lost)
    return after, missing


# ---- what is not seen ------------------------------------------------------------------------------------------------


def _seen(match: re.Match[str]) -> str:
    return " " if match[0] in _BLANKS else ""


def _shapers(match: re.Match[str]) -> str:
    """Of a run of characters that may shape what is beside them, those that do."""
    run, text = match[0], match.string
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    selector, joiner = _SELECTOR.search(run), ""
    if _SYMBOL.match(before):
        if before == _FLAG and (region := _REGION.match(run)):
            return region[0]
        joiner = _JOINER if _JOINER in run and _SYMBOL.match(after) else ""
        return (selector[0] if selector else "") + joiner
    if after == _KEYCAP and selector and before in "0123456789#*":
        return selector[0]
    if _SHAPED.search(_with_marks_before(text, match.start())):
        shape = _MONGOLIAN_SHAPE.search(run) if _MONGOLIAN.match(before) else None
        joiners = [each for each in run if each in (_JOINER, _NON_JOINER)]
        if joiners and (joiners[0] == _JOINER or _SHAPED.search(_with_marks_after(text, match.end()))):
            joiner = joiners[0]
        return (shape[0] if shape else "") + joiner
    if _JAMO.match(before) or _JAMO.match(after):
        return "".join(filler for filler in "\u115f\u1160" if filler in run)
    return ""


# Composing puts the marks of a letter in another order, so any of them may be the one beside a joiner.
def _with_marks_before(text: str, end: int) -> str:
    start = end
    while start and combining(text[start - 1]):
        start -= 1
    return text[max(0, start - 1) : end]


def _with_marks_after(text: str, start: int) -> str:
    end = start
    while end < len(text) and combining(text[end]):
        end += 1
    return text[start : max(end, start + 1)]


# ---- accents ---------------------------------------------------------------------------------------------------------


def _composed(text: str) -> str:
    return text if text.isascii() or is_normalized("NFC", text) else normalize("NFC", _STRETCH.sub(_in_order, text))


def _in_order(match: re.Match[str]) -> str:
    """A stretch with its marks in canonical order, so that composing it takes linear time."""
    pieces = groupby(match[0].translate(_SEVERAL_MARKS), key=lambda each: combining(each) > 0)
    return "".join("".join(sorted(piece, key=combining) if marks else piece) for marks, piece in pieces)


def _compositions(text: str) -> Iterator[Edit]:
    """Where composing changes the length. A stretch ends before a character that does not compose with it."""
    start, end, composed = 0, 0, ""
    for next_start, next_end in _with_marks(text):
        own = _composed(text[next_start:next_end])
        both = _composed(text[start:next_end])
        if both == composed + own:
            if len(composed) != end - start:
                yield start, end, len(composed)
            start, composed = next_start, own
        else:
            composed = both
        end = next_end
    if len(composed) != end - start:
        yield start, end, len(composed)


def _with_marks(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not (combining(text[at]) or ord(text[at]) in _SEVERAL_MARKS):
            yield start, at
            start = at


# ---- long runs -------------------------------------------------------------------------------------------------------

# A longer run fills at least one whole block, so only such blocks are examined. An ordinary text costs one count per
# 128 characters, and other threads can run in between.
_BLOCK = LONGEST_RUN // 2


def _shortened(text: str) -> str:
    pieces, done = list[str](), 0
    for start, end in _runs(text):
        pieces += [text[done:start], _start_and_end(text[start:end])]
        done = end
    return "".join([*pieces, text[done:]]) if pieces else text


def _shortenings(text: str) -> Iterator[Edit]:
    return ((start, end, len(_start_and_end(text[start:end]))) for start, end in _runs(text))


def _start_and_end(run: str) -> str:
    if run[0].isspace():
        return "\n\n"[: run.count("\n")] or " "
    return run[:LONGEST_RUN]


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every run that is too long, in order."""
    done = 0
    for position in range(0, len(text) - _BLOCK + 1, _BLOCK):
        block = text[position : position + _BLOCK]
        sign = None if block[0].isspace() else block[0]  # as in `str.strip`: None means any white space
        if position < done or not _fills(block, sign):
            continue
        before = text[max(done, position - _BLOCK) : position]
        start, done = position - len(before) + len(before.rstrip(sign)), _end(text, position + _BLOCK, sign)
        if done - start > LONGEST_RUN:
            yield start, done


def _end(text: str, position: int, sign: str | None) -> int:
    """The end of the run that continues at this position."""
    while _fills(block := text[position : position + _BLOCK], sign):
        position += len(block)
    return position + len(block) - len(block.lstrip(sign))


def _fills(block: str, sign: str | None) -> bool:
    return block.isspace() if sign is None else 0 < len(block) == block.count(sign)


# ---- capitals --------------------------------------------------------------------------------------------------------


def _in_capitals(text: str) -> bool:
    """Whether at least four in five letters are capitals; in a long text, of every n-th character."""
    some = text[:: len(text) // _CHARACTERS_LOOKED_AT + 1]
    capitals = sum(map(str.isupper, some))
    if capitals < _FEWEST_CAPITALS or capitals < _CAPITALS_AMONG_LETTERS * sum(map(str.isalpha, some)):
        return False
    return not _CHEROKEE.search(text)


def _as_sentences(text: str) -> str:
    """The text in small letters, of the same length. The first letter of each sentence stays, and so does "U.S.A."."""
    small = (text.replace("I", "\u0131") if _DOTTED.search(text) else text).replace("\u0130", "i").lower()
    pieces, done, begins = list[str](), 0, True
    for match in _WORD_OR_END.finditer(text):
        is_word = match[0][0].isalnum()
        if as_it_is := match["abbreviation"] or (match[0][0] if begins and is_word else ""):
            pieces += [small[done : match.start()], as_it_is]
            done = match.start() + len(as_it_is)
        begins = not is_word
    return "".join([*pieces, small[done:]])


def _edits(pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str]) -> Callable[[str], Iterator[Edit]]:
    def edits(text: str) -> Iterator[Edit]:
        for match in pattern.finditer(text):
            if len(new := replacement(match)) != len(match[0]):
                yield match.start(), match.end(), len(new)

    return edits


# Composed first, because a letter that looks like a symbol may be one of a composed form; and again, because what went
# may have been between a letter and its accent.
_CHANGES: tuple[tuple[Callable[[str], str], Callable[[str], Iterable[Edit]]], ...] = (
    (lambda text: _UNSEEN_OR_BLANK.sub(_seen, text), _edits(_UNSEEN_OR_BLANK, _seen)),
    (_composed, _compositions),
    (lambda text: _SHAPERS.sub(_shapers, text), _edits(_SHAPERS, _shapers)),
    (_composed, _compositions),
)
