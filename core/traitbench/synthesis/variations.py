"""Vary a text in the same voice, as much as edits allow that keep tone and meaning.

A contraction is expanded or made, a word replaced by one of the same register, a word of emphasis left out, a clause or
a time moved, sentences joined, parted or swapped, one of at least three left out. The author could have written the
text like that. Words and clauses are edited in English only; sentences in any language. Numbers stay: a text that
differs in a number only is the same text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, pairwise, zip_longest

from traitbench.fitting.duplicates import plain
from traitbench.scoring.segments import parts

MOST = 400
"""The most variations of one text."""

_FOLLOWED = 12
_LEAST_LEFT = 0.6

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
    "among": "amongst",
    "anyway": "in any case",
    "at the moment": "right now",
    "bought": "purchased",
    "boss": "manager",
    "buy": "purchase",
    "certainly": "definitely",
    "clever": "smart",
    "dad": "father",
    "despite": "in spite of",
    "even though": "although",
    "for example": "for instance",
    "had to": "needed to",
    "has to": "needs to",
    "have to": "need to",
    "horrible": "dreadful",
    "journey": "trip",
    "kids": "children",
    "kind of": "sort of",
    "mum": "mother",
    "of course": "naturally",
    "over and over": "again and again",
    "quickly": "rapidly",
    "rarely": "seldom",
    "really": "truly",
    "rich": "wealthy",
    "rubbish": "garbage",
    "several": "a number of",
    "sometimes": "at times",
    "thanks for": "thank you for",
    "until": "till",
    "usually": "normally",
    "weird": "strange",
    "wonderful": "marvellous",
}
# One way only, because "it's" or "film" is ambiguous. Both words begin with a vowel or neither does: "a", "an".
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
    "instead of": "rather than",
    "right away": "at once",
    "as soon as possible": "without delay",
    "beautiful": "lovely",
    "due to": "because of",
    "folks": "people",
    "in order to": "to",
    "movie": "film",
    "movies": "films",
    "photo": "picture",
    "photos": "pictures",
    "telephone": "phone",
    "upset": "unhappy",
    "upon": "on",
}
_BOTH_WAYS = {**_NEGATIONS, **_CONTRACTIONS, **_SAME_REGISTER}
_SWAPS = {**_ONE_WAY, **_BOTH_WAYS, **{other: one for one, other in _BOTH_WAYS.items()}}
_FOLDED = {one.casefold(): other for one, other in _SWAPS.items()}
# A contraction needs a word after it: "that is what it's." is not English.
# In ASCII, because "i" in any case would also match the Turkish İ and ı, which no word in `_FOLDED` has.
_SWAPPED = re.compile(r"\b(?ai:" + "|".join(sorted(map(re.escape, _SWAPS), key=len, reverse=True)) + r")\b(?=\s++\w)")
_SHORT = {short.casefold() for short in _NEGATIONS.values()}
# Expanded before one of these, a question would read "do not you think".
_ASKED = re.compile(
    r"(?<!\s)\s++(?:i|you|he|she|it|we|they|this|that|there|the|a|an|my|your|our|their|anyone|everyone)\b",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(
    r"(?<=[a-z,] )(?<!an )(?:really|quite|actually|truly|absolutely|simply|totally|honestly) (?=[a-z])"
    r"(?!an? |the |as )"
)
_SUBJECT = re.compile(
    r"(?:I|we|you|he|she|it|they|this|that|there|the|a|an|my|our|your|his|her|their)\b", re.IGNORECASE
)
_SMALL_START = re.compile(r"(?:We|You|He|She|It|They|This|That|There|The|A|An|My|Our|Your|His|Her|Their)\b")
_WHEN = ("today", "yesterday", "tomorrow", "tonight", "this morning", "last night", "last week", "last month", "now")
_BINDS = "because|although|if|when|after|before|while|since|unless"
_BINDS_FIRST = re.compile(rf"(?:{_BINDS}) ", re.IGNORECASE)
_BINDS_WITHIN = re.compile(rf" (?=(?:{_BINDS}) )")
_HALF = re.compile(r", (?=(?:and|but) )")
_NUMBER = re.compile(r"\d+")


def variations(text: str) -> Iterator[str]:
    """Different variations of the text: first those by one edit, then those by more, and so on."""
    seen, layer = {text}, [text]
    least = _LEAST_LEFT * len(text)
    while layer:
        following: list[str] = []
        for each in layer:
            for edited in _edited(each):
                if edited not in seen and len(edited) >= least:
                    seen.add(edited)
                    following.append(edited)
                    yield edited
                if len(seen) > MOST:
                    return
        layer = diverse(text, following, _FOLLOWED)


def diverse(text: str, varied: Sequence[str], most: int) -> list[str]:
    """The variations that differ from the text, each as different as possible from it and from those before it.

    At most `most` are returned. They are compared by pairs of neighbouring words; numbers do not count.
    """
    pairs = [_pairs(each) for each in varied]
    distances = [_distance(_pairs(text), each) for each in pairs]
    order: list[str] = []
    while distances and len(order) < most and (farthest := max(distances)) > 0:
        chosen = distances.index(farthest)
        order.append(varied[chosen])
        distances = [min(each, _distance(pairs[chosen], own)) for each, own in zip(distances, pairs, strict=True)]
    return order


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    words = ["", *_NUMBER.sub("0", plain(text)).split(), ""]
    return frozenset(pairwise(words))


def _distance(one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]) -> float:
    return 1 - len(one & other) / len(one | other)


def _edited(text: str) -> Iterator[str]:
    """The text after one edit. The kinds of edit alternate, each limited to `MOST`."""
    kinds: Sequence[Callable[[str], Iterator[str]]] = (
        _turned,
        _swapped,
        _joined,
        _parted,
        _moved,
        _plainer,
        _shortened,
    )
    alternating = zip_longest(*(islice(kind(text), MOST) for kind in kinds))
    return (edited for edited in chain.from_iterable(alternating) if edited is not None)


def _swapped(text: str) -> Iterator[str]:
    for match in _SWAPPED.finditer(text):
        words = match[0].casefold()
        if words in _SHORT and _ASKED.match(text, match.end()):
            continue
        other = _FOLDED[words]
        first = other[0].upper() if match[0][0].isupper() else other[0].lower()
        yield text[: match.start()] + first + other[1:] + text[match.end() :]


def _plainer(text: str) -> Iterator[str]:
    """Leave out a word of emphasis."""
    for match in _EMPHASIS.finditer(text):
        yield text[: match.start()] + text[match.end() :]


def _turned(text: str) -> Iterator[str]:
    """Move a clause or a time from one end of its sentence to the other."""
    for sentence in parts(text, 3):
        own, end = text[sentence.start : sentence.end - 1], text[sentence.end - 1 : sentence.end]
        if end in (".", "!") and not {*own} & {";", ":"}:
            for turned in (_time_turned(own), _clause_turned(own)):
                if turned:
                    yield text[: sentence.start] + turned + end + text[sentence.end :]


def _time_turned(own: str) -> str:
    """`Yesterday we met` for `We met yesterday`, and the reverse; "" if it has no time at an end."""
    small = own.lower()
    for when in _WHEN:
        first = small.startswith((f"{when}, ", f"{when} "))
        rest = own[len(when) :].lstrip(", ") if first else own[: -len(when) - 1]
        if "," in rest or not _SUBJECT.match(rest) or not (first or small.endswith(f" {when}")):
            continue
        return f"{_raised(rest)} {when}" if first else f"{_raised(when)}, {_lowered(rest)}"
    return ""


def _clause_turned(own: str) -> str:
    """`Because it rained, we left` for `We left because it rained`, and the reverse; "" if it has no such clause."""
    halves = own.split(", ") if _BINDS_FIRST.match(own) else _BINDS_WITHIN.split(own)
    if len(halves) != 2 or "," in "".join(halves):
        return ""
    if _BINDS_FIRST.match(own):
        clause, main = halves
        return f"{_raised(main)} {clause[:1].lower()}{clause[1:]}" if _SUBJECT.match(main) else ""
    main, clause = halves
    bound = clause.partition(" ")[2]
    return f"{_raised(clause)}, {_lowered(main)}" if _SUBJECT.match(main) and _SUBJECT.match(bound) else ""


def _joined(text: str) -> Iterator[str]:
    """Join two neighbouring sentences by "and"."""
    for one, other in pairwise(parts(text, 3)):
        follows = text[other.start : other.end]
        if text[one.end : other.start] == " " and text[one.end - 1] == "." and _begins_small(follows):
            yield f"{text[: one.end - 1]}, and {_lowered(text[other.start :])}"


def _parted(text: str) -> Iterator[str]:
    """Part a sentence before ", and" or ", but"."""
    for match in _HALF.finditer(text):
        word, rest = text[match.end() : match.end() + 3], text[match.end() + 4 :]
        if _SUBJECT.match(rest):
            yield f"{text[: match.start()]}. {f'But {rest}' if word == 'but' else _raised(rest)}"


def _begins_small(text: str) -> bool:
    """Whether the first word can be written small, because it is no name."""
    return _SMALL_START.match(text) is not None or text.startswith(("I ", "I'"))


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if _SMALL_START.match(text) else text


def _raised(text: str) -> str:
    return text[:1].upper() + text[1:]


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
    """Leave out one of at least three sentences."""
    sentences = parts(text, 3)
    if len(sentences) >= 3:
        for sentence in sentences:
            yield (text[: sentence.start].rstrip(" ") + " " + text[sentence.end :].lstrip(" ")).strip()
