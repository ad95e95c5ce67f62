"""Shortcuts: a mark in the texts that alone tells the poles apart, such as a token, a link or the use of capitals.

A trait learns whatever separates its poles. If a token precedes every positive text, the trait measures the token, and
held-out texts that share it confirm that (Geirhos et al., Nature Machine Intelligence 2, 2020). Every mark is one test
(Fisher), with Bonferroni's correction for the marks that are frequent enough to matter, and its AUROC must be high
beyond the error of few texts. What a mark is worth follows from the texts without it: `without` removes it from texts
of both poles.

A word may be what the trait means, and so may numbers, capitals or length. A word that a label names is no shortcut.
Marks that some kinds of text have by nature must separate the poles almost perfectly, or the poles must be much harder
to tell apart without them. Pure.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from traitbench.analysis.condition import has_markup, without_markup
from traitbench.analysis.nuisance import CHANCE, Counts, by_chance
from traitbench.fitting.auroc import interval
from traitbench.fitting.phrases import MARKS, is_function_word, singular, words
from traitbench.scoring.inputs import Floats
from traitbench.scoring.words import UNSPACED, characters
from traitbench.scoring.words import words as spans

MarkKind = Literal["token", "link", "handle", "hashtag", "number", "emoji", "spelling"]

# An AUROC and the lower end of its interval, so that few texts need a clearer mark (core/docs/scoring.md, section 11).
_AREA, AT_LEAST = 0.82, 0.68
BY_NATURE = 0.87
"""The lower end of the interval from which on a natural mark counts, however well the poles differ without it."""

_SUSPECT = 0.75
LOST = 0.1
"""So much AUROC must be lost without a mark for it to be what mostly tells the poles apart."""

_SAME, _AS_CLEAR = 0.9, 0.05
_MOST = 3
_READ = 4_000  # characters of a text
_CAPITALIZED = 0.8
_FEWEST_WORDS = 3

MARKUP = "markup"
"""The form of the mark that a text has tags or entities."""

_LINK = re.compile(
    r"(?:https?://|www\.)\S*"
    r"|(?<![a-z0-9.-])(?:[a-z0-9-]{1,63}\.){1,10}(?:com|net|org|info|biz|io|co|uk|de|fr|eu)\b(?:/\S*)?",
    re.IGNORECASE,
)
_HANDLE = re.compile(r"(?<!\w)@\w+")
_HASHTAG = re.compile(r"(?<!\w)#\w*[^\W\d]\w*")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_SIGN = rf"(?:[^\W_][{MARKS}]*+)"
_TOKEN = re.compile(rf"{_SIGN}+(?:['’]{_SIGN}+)*|[^\w\s]{{2,}}")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_DIGIT = re.compile(r"\d")
_CODE = re.compile(r"\d[^\W\d]|[^\W\d]\d|\d{4}")
_LETTERS = re.compile(r"[^\W\d_]+")
_SKIN_TONES = "🏻🏼🏽🏾🏿"
_ENDS = ".,;:!?…。！？-\"'”’)"
_EDGE = ".,;:!?\"'()[]{}<>“”‘’„«»…*#-、。！，：；？「」『』（）،؛؟۔।"


@dataclass(frozen=True)
class Mark:
    """Something that a text has or has not: its form, and the word or character itself if it is one."""

    form: str
    value: str = ""

    @property
    def kind(self) -> MarkKind:
        """The kind of the mark."""
        return _FORMS[self.form].kind

    @property
    def says(self) -> str:
        """`“xyz” occurs`, before "in 61 of 64 texts"."""
        return _FORMS[self.form].says.format(self.value)

    @property
    def name(self) -> str:
        """`the word “xyz”`."""
        return _FORMS[self.form].name.format(self.value)

    @property
    def by_nature(self) -> bool:
        """Whether some kinds of text have it often, as messages from shops have numbers and apologies have "I"."""
        return _FORMS[self.form].by_nature or (self.form == "token" and is_function_word(self.value))

    def without(self, text: str) -> str:
        """The text without the mark, and without the extra spaces that it would leave."""
        return " ".join(_FORMS[self.form].mask(text, self.value).split())


class Accuracy(NamedTuple):
    """How well texts can be told apart: the out-of-fold AUROC, and how many are on their side."""

    auroc: float
    counts: Counts


@dataclass(frozen=True, eq=False)
class Shortcut:
    """A mark that alone tells the poles apart: how many of the `of` texts at each pole have it (positive, negative).

    `area` is the AUROC of the mark alone; `base` and `without` are measured on the texts as they are and without the
    mark, None if not measured. `has` (n,) says which texts have it. `others` are marks of the same texts.
    """

    mark: Mark
    counts: tuple[int, int]
    of: tuple[int, int]
    area: float
    has: NDArray[np.bool_]
    others: tuple[Mark, ...] = ()
    base: Accuracy | None = None
    without: Accuracy | None = None

    @property
    def loses(self) -> bool:
        """Whether the poles are known to be much harder to tell apart without the mark."""
        return self.base is not None and self.without is not None and self.base.auroc - self.without.auroc >= LOST

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The mark, then the others."""
        return self.mark, *self.others


def shortcuts(
    texts: Sequence[str],
    y: Floats,
    names: Iterable[str] = (),
    measure: Callable[[Sequence[str]], Accuracy | None] | None = None,
) -> list[Shortcut]:
    """Return the marks that alone tell the poles apart, the clearest first, at most three.

    `names` are the name and the labels of the trait; their words are no shortcuts. `measure` measures changed
    texts, in the same order. `y` (n,) are qualities.
    """
    if min((y > 0.5).sum(), (y < 0.5).sum()) < 2:
        return []
    named = {singular(word) for name in names for word in words(name)}
    clear: list[Shortcut] = []
    for each in _grouped(_candidates([marks_of(text, named) for text in texts], y))[:_MOST]:
        shortcut = each
        if measure is not None and (base := clear[0].base if clear else measure(texts)) is not None:
            shortcut = replace(each, base=base, without=measure([masked(text, each.marks) for text in texts]))
        if _is_clear(shortcut):
            clear.append(shortcut)
    return clear


def masked(text: str, marks: Iterable[Mark]) -> str:
    """The text without these marks."""
    for mark in marks:
        text = mark.without(text)
    return text


def marks_of(text: str, named: Collection[str] = ()) -> set[Mark]:
    """The marks of a text, without words whose singular is in `named`."""
    bare = text[:_READ].strip()
    if not bare:
        return set()
    folded = bare.casefold()
    outer = [piece for start, end in spans(folded) if (piece := folded[start:end].strip(_EDGE))]
    tokens = [("token", token) for token in _tokens(bare)]
    if outer:
        tokens += [("first", outer[0]), ("last", outer[-1])]
    return {
        *([Mark(MARKUP)] if has_markup(bare) else []),
        *_kinds(bare),
        *_spelling(bare),
        *(Mark(form, token) for form, token in tokens if singular(token) not in named),
        *(Mark("pattern", _DIGIT.sub("0", token)) for _, token in tokens if _CODE.search(token)),
    }


# ---- marks -----------------------------------------------------------------------------------------------------------


def _tokens(bare: str) -> set[str]:
    for pattern in (_LINK, _HANDLE, _HASHTAG):
        bare = pattern.sub(" ", bare)
    folded = bare.casefold()
    return {folded[start:end].replace("’", "'") for start, end in _spans(folded)}


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every token."""
    for match in _TOKEN.finditer(text):
        if _UNSPACED.search(match[0]):
            yield from ((match.start() + start, match.start() + end) for start, end in spans(match[0]))
        else:
            yield match.span()


_PATTERNS: Mapping[MarkKind, re.Pattern[str]] = {
    "link": _LINK,
    "handle": _HANDLE,
    "hashtag": _HASHTAG,
    "number": _NUMBER,
}


def _kinds(bare: str) -> Iterator[Mark]:
    """Links, handles, hashtags and numbers, anywhere and at either end, and emoji; some also by name."""
    for kind, pattern in _PATTERNS.items():
        spans = [match.span() for match in pattern.finditer(bare)]
        if spans:
            yield Mark(kind)
            if not bare[: spans[0][0]].strip(_EDGE):
                yield Mark(f"first {kind}")
            if not bare[spans[-1][1] :].strip(_EDGE):
                yield Mark(f"last {kind}")
            if kind in ("handle", "hashtag"):
                yield from (Mark(f"one {kind}", bare[start:end].casefold()) for start, end in spans)
    emoji = {each for each in _as_read(bare) if _is_emoji(each[0])}
    yield from (Mark("one emoji", each) for each in emoji)
    if emoji:
        yield Mark("emoji")


def _spelling(bare: str) -> Iterator[Mark]:
    """Habits of capitals, punctuation, accents and spaces."""
    letters = [character for character in bare if character.lower() != character.upper()]
    its_words = _LETTERS.findall(bare)
    long_words = [word for word in its_words if len(word) > _FEWEST_WORDS]
    habits = {
        "lower": bool(letters) and not any(map(str.isupper, letters)),
        "upper": bool(letters) and not any(map(str.islower, letters)),
        "first capital": bool(letters) and letters[0].isupper(),
        "capitals": any(len(word) > 2 and word.isupper() for word in its_words),
        "title": len(long_words) >= _FEWEST_WORDS
        and sum(word[0].isupper() for word in long_words) >= _CAPITALIZED * len(long_words),
        "accent": any(character > "\x7f" and _bare_letter(character) != character for character in bare),
        "line": "\n" in bare,
        "spaces": "  " in bare,
        "no punctuation": not any(map(_is_punctuation, bare)),
        "no end": not _is_punctuation(bare[-1]),
    }
    yield from (Mark(habit) for habit, has in habits.items() if has)
    yield from (Mark("character", each) for each in set(filter(_is_punctuation, bare)))
    if _is_punctuation(bare[-1]):
        yield Mark("end", bare[-1])
    if _is_punctuation(bare[0]):
        yield Mark("start", bare[0])


def _is_punctuation(character: str) -> bool:
    if character.isascii():
        return not (character.isalnum() or character.isspace())
    return unicodedata.category(character)[0] in "PS" and not _is_emoji(character)


def _is_emoji(character: str) -> bool:
    return character > "\u2000" and (unicodedata.category(character) == "So" or character in _SKIN_TONES)


def _as_read(text: str) -> Iterator[str]:
    """The characters as a reader sees them: a flag is one, and so is a family."""
    return iter(text) if text.isascii() else (text[start:end] for start, end in pairwise(characters(text)))


def _bare_letter(character: str) -> str:
    parts = unicodedata.normalize("NFD", character)
    return parts[0] if len(parts) > 1 and all(map(unicodedata.combining, parts[1:])) else character


Mask = Callable[[str, str], str]


def _cut(pattern: re.Pattern[str]) -> Mask:
    return lambda text, _: pattern.sub(" ", text)


def _cut_tokens(same: Callable[[str], str]) -> Mask:
    def without(text: str, value: str) -> str:
        for start, end in reversed(list(_spans(text))):
            if same(text[start:end]) == value:
                text = f"{text[:start]} {text[end:]}"
        return text

    return without


def _cut_characters(is_cut: Callable[[str], bool]) -> Mask:
    return lambda text, _: "".join(" " if is_cut(each[0]) else each for each in _as_read(text))


def _cut_first(text: str, value: str) -> str:
    start, end = next(iter(spans(text)), (0, 0))
    return text[end:] if text[start:end].casefold().strip(_EDGE) == value else text


def _cut_last(text: str, value: str) -> str:
    start, end = next(reversed(spans(text)), (0, 0))
    return text[:start] if text[start:end].casefold().strip(_EDGE) == value else text


def _lower(text: str, _: str) -> str:
    return text.lower()


@dataclass(frozen=True)
class _Form:
    """A kind of mark, its sentence and its name with a place for the value, how it is removed, and `by_nature`."""

    kind: MarkKind
    says: str
    name: str
    mask: Mask
    by_nature: bool = False


_FORMS: Mapping[str, _Form] = {
    MARKUP: _Form("spelling", "A tag or entity of HTML occurs", "HTML", lambda text, _: without_markup(text)),
    "one handle": _Form("handle", "The handle “{}” occurs", "the handle “{}”", _cut(_HANDLE)),
    "one hashtag": _Form("hashtag", "The hashtag “{}” occurs", "the hashtag “{}”", _cut(_HASHTAG)),
    "one emoji": _Form("emoji", "The emoji “{}” occurs", "the emoji “{}”", _cut_characters(_is_emoji)),
    "emoji": _Form("emoji", "An emoji occurs", "emoji", _cut_characters(_is_emoji)),
    "accent": _Form(
        "spelling", "A letter with an accent occurs", "accents", lambda text, _: "".join(map(_bare_letter, text))
    ),
    "token": _Form(
        "token",
        "“{}” occurs",
        "the word “{}”",
        _cut_tokens(lambda token: token.casefold().replace("’", "'")),
    ),
    "pattern": _Form(
        "token",
        "A word like “{}” occurs",
        "words like “{}”",
        _cut_tokens(lambda token: _DIGIT.sub("0", token.casefold())),
    ),
    **{
        kind: _Form(kind, f"A {kind} occurs", f"{kind}s", _cut(pattern), kind == "number")
        for kind, pattern in _PATTERNS.items()
    },
    "first": _Form("token", "The first word is “{}”", "the first word “{}”", _cut_first),
    "last": _Form("token", "The last word is “{}”", "the last word “{}”", _cut_last),
    **{
        f"{edge} {kind}": _Form(
            kind,
            f"A {kind} is the {edge} word",
            f"{kind}s",
            _cut(pattern),
            (edge, kind) == ("last", "number"),
        )
        for kind, pattern in _PATTERNS.items()
        for edge in ("first", "last")
    },
    "lower": _Form("spelling", "Capital letters are missing", "capital letters", _lower),
    "upper": _Form("spelling", "All letters are capitals", "capital letters", _lower),
    "title": _Form("spelling", "Most words begin with a capital letter", "capital letters", _lower, by_nature=True),
    "capitals": _Form("spelling", "A word in capitals occurs", "capital letters", _lower, by_nature=True),
    "first capital": _Form("spelling", "The first letter is a capital", "capital letters", _lower),
    "line": _Form("spelling", "A line break occurs", "line breaks", lambda text, _: text, by_nature=True),
    "spaces": _Form("spelling", "A double space occurs", "double spaces", lambda text, _: text),
    "character": _Form(
        "spelling", "The character “{}” occurs", "the character “{}”", lambda text, value: text.replace(value, " ")
    ),
    "end": _Form(
        "spelling", "The last character is “{}”", "punctuation at the end", lambda text, _: text.rstrip(_ENDS)
    ),
    "no end": _Form(
        "spelling", "Punctuation is missing at the end", "punctuation at the end", lambda text, _: text.rstrip(_ENDS)
    ),
    "start": _Form(
        "spelling", "The first character is “{}”", "the character “{}”", lambda text, value: text.replace(value, " ")
    ),
    "no punctuation": _Form("spelling", "Punctuation is missing", "punctuation", _cut_characters(_is_punctuation)),
}
"""All forms of marks. If several are in the same texts, the first names the shortcut."""

_DERIVED = {"character", "end", "no end", "start", "no punctuation", "first capital"}
"""Forms that often follow from another mark, as the "@" from a handle."""


# ---- which are shortcuts ---------------------------------------------------------------------------------------------


def _candidates(marks: Sequence[Set[Mark]], y: Floats) -> list[Shortcut]:
    """The marks that separate the poles by more than chance, the clearest first."""
    poles = [np.flatnonzero(pole).tolist() for pole in (y > 0.5, y < 0.5)]
    above, below = (Counter(mark for row in rows for mark in marks[row]) for rows in poles)
    n, m = map(len, poles)
    # Rarer marks cannot separate the poles enough. That follows from their total alone, so they are no tests.
    frequent = [mark for mark in {**above, **below} if above[mark] + below[mark] >= (2 * _SUSPECT - 1) * min(n, m)]
    forms, result = list(_FORMS), []
    for mark in frequent:
        one, other = above[mark], below[mark]
        area = 0.5 + abs(one / n - other / m) / 2
        least = _SUSPECT if mark.by_nature else _AREA
        if mark.form == MARKUP:
            # No trait means tags, so they are a test of their own, with the lower bar of a suspicion.
            clear = area >= _SUSPECT and by_chance(one, n, other, m) < CHANCE
        else:
            tests = len(frequent)
            clear = (
                area >= least and interval(area, n, m)[0] >= AT_LEAST and tests * by_chance(one, n, other, m) < CHANCE
            )
        if clear:
            has = np.fromiter((mark in own for own in marks), bool, len(marks))
            result.append(Shortcut(mark, (one, other), (n, m), area, has))
    return sorted(result, key=lambda each: (-each.area, forms.index(each.mark.form), each.mark.value))


def _grouped(candidates: Sequence[Shortcut]) -> list[Shortcut]:
    """One shortcut for all marks of about the same texts, or of the texts that the clearest mark is missing in.

    A handle names it rather than its character "@", if it is about as clear.
    """
    groups: list[list[Shortcut]] = []
    for each in candidates:
        agreements = [float((group[0].has == each.has).mean()) for group in groups]
        same = [group for group, share in zip(groups, agreements, strict=True) if max(share, 1 - share) >= _SAME]
        if same:
            same[0].append(each)
        else:
            groups.append([each])
    forms, named = list(_FORMS), []
    for group in groups:
        margin = _AS_CLEAR if group[0].mark.by_nature or group[0].mark.form in _DERIVED else 0.0
        as_clear = [each for each in group if each.area >= group[0].area - margin]
        first = min(as_clear, key=lambda each: (each.mark.by_nature, forms.index(each.mark.form)))
        named.append(replace(first, others=tuple(each.mark for each in group if each is not first)))
    return named


def _is_clear(shortcut: Shortcut) -> bool:
    """Whether to report a mark: a natural one only if it is nearly perfect or the texts without it lose much."""
    if not shortcut.mark.by_nature or interval(shortcut.area, *shortcut.of)[0] >= BY_NATURE:
        return True
    return shortcut.loses
