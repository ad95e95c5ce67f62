"""Vary a text a little, in the same voice.

Only edits that keep tone and meaning: a contraction expanded or made, a word replaced by one of the same register, a
number changed a little, two sentences swapped, one of at least three sentences left out. The author could have written
the text like that. Words are edited in English only; sentences and numbers in any language.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, pairwise, zip_longest

from traitbench.scoring.segments import parts

MOST = 400
"""The most variations of one text."""

# Expanded and contracted.
_NEGATIONS = {
    "do not": "don't",
    "does not": "doesn't",
    "did not": "didn't",
    "is not": "isn't",
    "are not": "aren't",
    "was not": "wasn't",
    "were not": "weren't",
    "has not": "hasn't",
    "have not": "haven't",
    "had not": "hadn't",
    "cannot": "can't",
    "could not": "couldn't",
    "will not": "won't",
    "would not": "wouldn't",
    "should not": "shouldn't",
}
_CONTRACTIONS = {
    "I am": "I'm",
    "I will": "I'll",
    "we are": "we're",
    "we will": "we'll",
    "you are": "you're",
    "you will": "you'll",
    "they are": "they're",
    "they will": "they'll",
}
_SAME_REGISTER = {
    "maybe": "perhaps",
    "almost": "nearly",
    "often": "frequently",
    "everybody": "everyone",
    "somebody": "someone",
    "anybody": "anyone",
    "nobody": "no one",
    "a lot of": "lots of",
    "toward": "towards",
}
# One way only, because "it's" or "whole" is ambiguous.
_ONE_WAY = {
    "it is": "it's",
    "that is": "that's",
    "there is": "there's",
    "I've": "I have",
    "we've": "we have",
    "you've": "you have",
    "they've": "they have",
    "begins": "starts",
    "began": "started",
    "entire": "whole",
    "instead of": "rather than",
    "right away": "at once",
}
_BOTH_WAYS = {**_NEGATIONS, **_CONTRACTIONS, **_SAME_REGISTER}
_SWAPS = {**_ONE_WAY, **_BOTH_WAYS, **{other: one for one, other in _BOTH_WAYS.items()}}
_FOLDED = {one.casefold(): other for one, other in _SWAPS.items()}
# A contraction needs a word after it: "that is what it's." is not English.
_SWAPPED = re.compile(
    r"\b(" + "|".join(sorted(map(re.escape, _SWAPS), key=len, reverse=True)) + r")\b(?=\s++\w)", re.IGNORECASE
)
_SHORT = {short.casefold() for short in _NEGATIONS.values()}
# Expanded before one of these, a question would read "do not you think".
_ASKED = re.compile(
    r"(?<!\s)\s++(?:i|you|he|she|it|we|they|this|that|there|the|a|an|my|your|our|their|anyone|everyone)\b",
    re.IGNORECASE,
)
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_NUMBER = re.compile(
    rf"(?<![\w.,:/#+-])[1-9]\d{{0,3}}(?!\w|[.,:/-]\d|-|\s++(?:of\s++)?(?:{_MONTHS})\b|\s++o['’]clock)", re.IGNORECASE
)
_MONTH = re.compile(rf"\b(?:{_MONTHS})\s++", re.IGNORECASE)
_MOVES = (1, -1, 2, -2, 3)


def variations(text: str) -> Iterator[str]:
    """Different variations of the text: first those by one edit, then those by two, and so on."""
    seen, layer = {text}, [text]
    while layer:
        following: list[str] = []
        for each in layer:
            for edited in _edited(each):
                if edited not in seen:
                    seen.add(edited)
                    following.append(edited)
                    yield edited
                if len(seen) > MOST:
                    return
        layer = following


def _edited(text: str) -> Iterator[str]:
    """The text after one edit. The kinds of edit alternate, each limited to `MOST`."""
    kinds: Sequence[Callable[[str], Iterator[str]]] = (_swapped, _moved, _renumbered, _shortened)
    turns = zip_longest(*(islice(kind(text), MOST) for kind in kinds))
    return (edited for edited in chain.from_iterable(turns) if edited is not None)


def _swapped(text: str) -> Iterator[str]:
    for match in _SWAPPED.finditer(text):
        words = match[0].casefold()
        if words in _SHORT and _ASKED.match(text, match.end()):
            continue
        other = _FOLDED[words]
        first = other[0].upper() if match[0][0].isupper() else other[0].lower()
        yield text[: match.start()] + first + other[1:] + text[match.end() :]


def _renumbered(text: str) -> Iterator[str]:
    after_month = {match.end() for match in _MONTH.finditer(text)}
    for move in _MOVES:
        for match in _NUMBER.finditer(text):
            moved = str(int(match[0]) + move)
            alike = len(moved) == len(match[0]) and min(int(match[0]), int(moved)) > 1
            if alike and match.start() not in after_month:
                yield text[: match.start()] + moved + text[match.end() :]


def _moved(text: str) -> Iterator[str]:
    """Swap two neighbouring sentences that have only a space between them."""
    sentences = parts(text, 3)
    for one, other in pairwise(sentences):
        between = text[one.end : other.start]
        if between == " " and text[other.end - 1 : other.end] in ".!?" and text[one.end - 1 : one.end] in ".!?":
            yield "".join(
                (
                    text[: one.start],
                    text[other.start : other.end],
                    between,
                    text[one.start : one.end],
                    text[other.end :],
                )
            )


def _shortened(text: str) -> Iterator[str]:
    """Leave out one of at least three sentences, unless it is half of the text."""
    sentences = parts(text, 3)
    if len(sentences) >= 3:
        for sentence in sentences:
            if 2 * (sentence.end - sentence.start) < len(text):
                yield (text[: sentence.start].rstrip(" ") + " " + text[sentence.end :].lstrip(" ")).strip()
