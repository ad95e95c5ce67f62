"""Where words and sentences begin and end, in every script, and where a text may be cut.

Words are what readers see between two spaces. In scripts without spaces, such as Chinese and Thai, ICU finds them with
its dictionaries. Emoji are words. Punctuation belongs to its word. Neither a word nor a cut ever divides a character
that is several code points, such as a letter with its accents or a flag. Offsets count code points.

None of this affects a score: the pieces that are encoded are those of `segments`, which needs no dictionary.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Letters of scripts without spaces, for a class of characters in a pattern."""

_ALONE = re.compile(rf"(?![\u104a-\u104f\u17d4-\u17da])[{UNSPACED}\u2600-\u27bf\U0001f000-\U0001faff]")
_LETTER = re.compile(r"[^\W_]")
_BETWEEN_SPACES = re.compile(r"\S+")
# The dictionary knows few inflected forms, but no word begins with a small kana, and none ends with a small "tsu".
_SMALL_KANA = tuple("ぁぃぅぇぉっゃゅょァィゥェォッャュョー")
_SMALL_TSU = ("っ", "ッ")
_JAPANESE = re.compile("[\u3005\u3041-\u30ff\u3400-\u9fff]")
_ENDING = re.compile(
    "(?!この|その|あの|どの|もう|まだ|また|いま|よく|すぐ|ここ|そこ|どこ|いつ)"
    r"(?:[ぁ-ゖ]{1,2}|(?:ませ|まし|でし|だろ|かっ|なか|なけ|られ|させ|たく|くて|くな|から|まで|ので|けど|より|だけ|しか)[ぁ-ゖ]*)\W*"
)
# Lookbehinds and possessive quantifiers make the time linear in the length of any text, as in `segments`.
_CLOSING = r"[\"'”’»)\]」』）】》]*+"
_SENTENCE_END = re.compile(
    rf"(?<![.!?…])[.!?…]++{_CLOSING}\s++"
    rf"|[。．｡！？।॥؟۔։።፧။។៕།]++[!?…。！？]*+{_CLOSING}\s*+"
    rf"|(?<![!?…])[!?…]++(?=[{UNSPACED}])"
    r"|(?<!\s)[^\S\n]*+\n\s*+"
    # Thai and Lao have no full stop: a space ends a clause, except beside the marks of repetition and abbreviation.
    r"|(?<=[\u0e01-\u0e2e\u0e30-\u0e45\u0e47-\u0e4e\u0e81-\u0eae\u0eb0-\u0ec4\u0ec8-\u0ecd])[^\S\n]++"
    r"(?=[\u0e01-\u0e2e\u0e40-\u0e44\u0e81-\u0eae\u0ec0-\u0ec4])"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|mr|mrs|ms|dr|prof|st|vs|e\.g|i\.e|cf|fig|no|etc|approx)\.$", re.IGNORECASE
)


def words(text: str) -> list[tuple[int, int]]:
    """Start and end of every word, in order. They cover the text, without the white space between them."""
    if text.isascii():
        return [match.span() for match in _BETWEEN_SPACES.finditer(text)]
    spans: list[tuple[int, int]] = []
    whole, end, last = set(characters(text)), 0, " "
    for piece in _pieces(text):
        start, end = end, end + len(piece)
        kind = _kind(piece)
        if kind == " ":
            last = kind
            continue
        is_new = last == " " or (last == "a" and kind in "aw(") or (last == "w" and kind == "a")
        if not spans or (is_new and start in whole):
            spans.append((start, end))
        else:
            spans[-1] = (spans[-1][0], end)
        # Punctuation belongs to the word before it, and without one to the word after it.
        if piece.endswith(_SMALL_TSU):
            last = "("
        elif kind in "aw":
            last = kind
        elif last == " " or kind == "(":
            last = "("
    return spans


def with_endings(text: str) -> list[tuple[int, int]]:
    """The words, but in Japanese each with the particles and endings that follow it: what a reader takes in at once."""
    spans: list[tuple[int, int]] = []
    for start, end in words(text):
        if spans and spans[-1][1] == start and _JAPANESE.match(text, start - 1) and _ENDING.fullmatch(text, start, end):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def first_words(text: str, count: int) -> str:
    """The text up to the end of its first words."""
    spans = words(text)
    return text if len(spans) <= count else text[: spans[count - 1][1] if count else 0]


def beginning(text: str, length: int) -> str:
    """At most so many code points of the text, without dividing a character."""
    if len(text) <= length:
        return text
    return text[: max(start for start in characters(text[: length + 1]) if start <= length)]


def sentence_ends(text: str, pattern: re.Pattern[str] = _SENTENCE_END) -> list[int]:
    """Offsets where a sentence begins after the end of another one, by a pattern of marks and the space after them.

    A full stop after an abbreviation ends none, nor does any mark before a lower-case letter.
    """
    return [
        match.end()
        for match in pattern.finditer(text)
        if not text[match.end() : match.end() + 1].islower()
        and not (match[0].startswith(".") and _ABBREVIATION.search(text[max(0, match.start() - 8) : match.start() + 1]))
    ]


def characters(text: str) -> list[int]:
    """Offsets at which a character begins as a reader sees it, and the end of the text."""
    from icu4py.breakers import CharacterBreaker

    starts = [0]
    for piece in CharacterBreaker(_sound(text), "en"):
        starts.append(starts[-1] + len(piece))
    return starts


def _pieces(text: str) -> Iterator[str]:
    # Imported here because ICU's data takes a moment and 10 MB, and scores do not need it.
    from icu4py.breakers import WordBreaker

    end = 0
    for piece in WordBreaker(_sound(text), "en"):
        start, end = end, end + len(piece)
        yield text[start:end]


def _sound(text: str) -> str:
    """The text with a question mark in place of each half of a surrogate pair, which ICU refuses."""
    return text.encode(errors="replace").decode()


@cache
def _is_opening(character: str) -> bool:
    return unicodedata.category(character) in ("Ps", "Pi")


def _kind(piece: str) -> str:
    """White space, a letter's word, a word that stands alone without spaces, an opening bracket, or other marks."""
    if piece.isspace():
        return " "
    if piece.startswith(_SMALL_KANA):
        return "."
    if _ALONE.match(piece):
        return "a"
    if _LETTER.search(piece):
        return "w"
    return "(" if _is_opening(piece[0]) else "."
