"""Texts as people write and paste them, made up by a seeded grammar: kinds of them, and strategies for hypothesis.

`nasty` has texts that are long and monotonous; these are short and of every kind. None is blank, only an address, or
invalid, so every one of them has a score, and every way in and out must keep it as it is.
"""

import base64
import csv
import io
import json
import random
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import cycle, islice

import pyarrow as pa
from hypothesis import strategies as st
from pyarrow import parquet

from tests.nasty import FAMILIES, WORDS
from tests.size import sized
from traitbench.contract.texts import is_url
from traitbench.formulas import as_written

Random = random.Random

MEGABYTE = 2**20
LONG = tuple(FAMILIES[name](MEGABYTE) for name in ("one word", "letters", "CJK"))
"""Words of a megabyte: of one letter, of many, and in a script without spaces."""

ODD = (
    *("\u0301\u0301", "a\u200bb", "\ufeffa", "\xada", "\u202ea"),
    *("=1+1", "@user", "'@user", "'=1", "+1", "-1", "\t=1", "=cmd|' /C calc'!A0", "--help", "-", "@file", "-- x"),
    *("http://", "https:// a", "ftp://x.example/y", "www.x.example", "mailto:a@b.example"),
    *("a\r\nb\r\n", "a\rb", "\u202eabc\u202c שלום", "\u2067مرحبا\u2069 abc", "\x1b[31mred\x1b[0m", "\uffff"),
    *("%00", "\\u0000", "<script>alert(1)</script>", "{{x}}"),
)
"""Texts that look like nothing, a formula, an option or an address, and have a score all the same."""

UNSEEN = ("\u200b", "\ufeff", "\u2060\u200d", "\u180e", "\u3164", "\u2800", "\xad", "\u202e", "\ufe0f \U000e0041")
"""Texts of which a person sees nothing. They are blank, but they may be names."""

NO_TEXTS = {
    "": "blank|at least 1 character",
    **dict.fromkeys((*UNSEEN, " \t\n", "\r\n", "\xa0", "\u3000", "\x85", "\x1c"), "blank"),
    **dict.fromkeys(("\x00", "a\x00b"), r"U\+0000"),
    **dict.fromkeys(("\ud800", "a\udfffb"), "surrogate"),
}
"""What no way in takes for a text, and what the reason has to name."""

HALF = "caf\udce9"
"""What Python makes of an argument or a file name that is not UTF-8."""

_SCRIPTS = """
    Latin with marks 00C0-024F, phonetic 0250-02AF, Greek 0386-03E1, Cyrillic 0400-052F, Armenian 0531-0587,
    Hebrew 05D0-05EA, Arabic 0620-064A, Syriac 0710-072F, Thaana 0780-07B0, N'Ko 07CA-07EA, Devanagari 0904-094D,
    Bengali 0985-09CD, Gurmukhi 0A05-0A4D, Gujarati 0A85-0ACD, Oriya 0B05-0B4D, Tamil 0B85-0BCD, Telugu 0C05-0C4D,
    Kannada 0C85-0CCD, Malayalam 0D05-0D4D, Sinhala 0D85-0DDF, Thai 0E01-0E4E, Lao 0E81-0ECD, Tibetan 0F40-0F84,
    Myanmar 1000-103F, Georgian 10D0-10FF, Hangul jamo 1100-11FF, Ethiopic 1200-135A, Cherokee 13A0-13F5,
    Canadian syllabics 1401-166C, Ogham 1681-169A, Runic 16A0-16EA, Khmer 1780-17D2, Mongolian 1820-1878,
    Balinese 1B05-1B44, Greek with marks 1F00-1FFC, Hiragana 3041-3096, Katakana 30A1-30FA, Bopomofo 3105-312F,
    Han 4E00-9FFF, Yi A000-A48C, Hangul AC00-D7A3, half width FF66-FFDC, Gothic 10330-1034A, Deseret 10400-1044F,
    cuneiform 12000-12399, hieroglyphs 13000-1342E, mathematical 1D400-1D7CB, Adlam 1E900-1E94A,
    Han beyond 16 bits 20000-2A6DD
"""
SCRIPTS: Mapping[str, tuple[int, int]] = {
    name.strip(): (int(first, 16), int(last, 16))
    for name, first, last in re.findall(r"([^,]+) ([0-9A-F]+)-([0-9A-F]+)", _SCRIPTS)
}
"""The first and the last character of each script; what is neither a letter nor a mark is left out."""

_TRICKY = "İıſKßŉǰΐΰŐﬁﬃﷺǅΣςͅ\u0345\u1e9eẞ𐐀"
_EMOJI = ("😀", "👩🏽‍🚀", "👨‍👩‍👧‍👦", "🏳️‍🌈", "❤️‍🔥", "1️⃣", "🇹🇷", "🇧🇷🇪🇺", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", "🤷🏿‍♀️", "☹", "™️", "🫠")
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\u034f\ufe0f\u2063"
_BIDI = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c"
_BREAKS = ("\n", "\r\n", "\r", "\n\n", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e")
_SPACES = " \t\xa0\u2003\u2009\u202f\u3000\u1680"
_CONTROLS = "\x01\x07\x08\x1b\x1f\x7f\x80\x9f\ufff9\ufffd\uffff\U0010ffff\ue000\U000f0000\u0378"
_BEGINNINGS = (
    *"\"'=@+-#,;|\\`*_<>[{(/%&~^$!?.:\t\n ",
    *("''", '""', "'=", "-- ", "=1+", "@SUM(", "＝", "\ufeff", "// ", "# "),
)
_LOOKALIKES = (
    *("None", "null", "NaN", "nan", "NA", "N/A", "#N/A", "inf", "-inf", "true", "FALSE", "[]", "{}", "{0}", "%s"),
    *("0", "-1", "007", "1e5", "1,5", "12%", "0x1F", "١٢٣", "½", "²", "Ⅳ", "2024-02-30", "12:30", "1/2", "undefined"),
    *(
        "${x}",
        "text",
        "label",
        "<NA>",
        "NaT",
        "{{x}}",
        "\\N",
        "\\u0041",
        "\\",
        "''",
        "__class__",
        "%00",
        "&#0;",
        "<!--",
        "]]>",
    ),
)
_HANDLES = ("@Acme", "@x_1", "@straße", "#Monday", "#日本", "#", "@")
_LINKS = (
    *("https://t.example/a?b=1&c=%20#d", "www.example.org/ü", "http://user:pass@example.org:8080/"),
    "mailto:a@b.example",
)


def some(chance: Random, least: int = 2, most: int = 9) -> str:
    """A few English words."""
    return " ".join(chance.choices(WORDS, k=chance.randint(least, most)))


def tweet(chance: Random) -> str:
    """Handles, links, emoji and hashtags around a few words."""
    parts = [chance.choice(_HANDLES), some(chance), chance.choice(_LINKS), *chance.choices(_EMOJI, k=3)]
    chance.shuffle(parts)
    return (
        f"RT {' '.join(parts)}" if chance.random() < 0.3 else "".join(chance.choice(("", " ")) + part for part in parts)
    )


def quoted(chance: Random) -> str:
    """Quotation marks that open and never close, close and never open, or are doubled."""
    mark = chance.choice(('"', "'", "“", "”", "„", "«", "「", "`", '""', "'''", '"""'))
    before, after = some(chance, 1, 4), some(chance, 1, 4)
    return chance.choice(
        (f"{mark}{before} {after}", f"{before}{mark} {after}", f"{before} {mark}{after}{mark},{mark}{before}")
    )


def html(chance: Random) -> str:
    """Elements, entities, comments and scripts."""
    name = chance.choice(("p", "a", "script", "style", "svg", "b", "textarea", "title"))
    return (
        f"<{name} class='x' href=\"javascript:1\">{some(chance)}&nbsp;&#x130;&amp;lt;<br/><!-- {some(chance, 1, 2)}"
        f"{chance.choice(('-->', ''))}</{chance.choice((name, 'div'))}>"
    )


def log(chance: Random) -> str:
    """Lines of a log, with colours and a traceback."""
    lines = [
        f"2026-02-{chance.randint(1, 28):02} 12:00:0{number},123 \x1b[3{number}mERROR\x1b[0m "
        f'[pid {chance.getrandbits(15)}] {some(chance)} "GET /a?b={chance.getrandbits(30):x} HTTP/1.1" 500'
        for number in range(chance.randint(1, 4))
    ]
    return chance.choice(("\n", "\r\n")).join([*lines, f'  File "a.py", line 3, in b\n{" " * 4}raise KeyError("x")'])


def code(chance: Random) -> str:
    """Some source text, or a row of a table in one of its forms."""
    words = WORDS[chance.randrange(9)], chance.choice(_LOOKALIKES)
    return chance.choice(
        (
            "def f(x):\n\treturn {{}} if x else '{0}'\n# {1}",
            "SELECT * FROM \"t\" WHERE a LIKE '%{0}\\_%' -- {1}; DROP TABLE t",
            "if (a<b && c>d) {{ return `${{{0}}}`; }} // {1}",
            '{0},{1};\t"{0}\n{1}",,""',
            "| {0} | {1} |\n|:--|--:|\n| *a* | `b` |\n\n1. [x](y) ![z](w)\n> # {0}",
            "\\begin{{{0}}} $\\frac{{1}}{{2}}$ \\%{1}",
        )
    ).format(*words)


def encoded(chance: Random) -> str:
    """Base64, hexadecimal digits, an escaped JSON, or a data address: words without a word."""
    raw = chance.randbytes(chance.randint(9, 90))
    return chance.choice(
        (
            base64.b64encode(raw).decode(),
            raw.hex(),
            json.dumps(json.dumps({some(chance, 1, 1): [raw.hex(), None]})),
            f"data:text/plain;base64,{base64.b64encode(raw).decode()}",
        )
    )


def marked(chance: Random) -> str:
    """Invisible characters and marks of direction, in words and around them."""
    signs = chance.choice((_INVISIBLE, _BIDI, _CONTROLS, _TRICKY))
    letters = [letter + (chance.choice(signs) if chance.random() < 0.3 else "") for letter in some(chance, 3, 6)]
    return "".join((chance.choice(("", *signs)), *letters))


def script(chance: Random, name: str = "") -> str:
    """A sentence in one of the scripts, composed, decomposed, or with a word of another."""
    others = chance.choices(list(SCRIPTS), k=2)
    words = [
        "".join(chance.choices(_letters(name or others[0]), k=chance.randint(1, 9)))
        for _ in range(chance.randint(1, 7))
    ]
    words.insert(chance.randrange(len(words) + 1), "".join(chance.choices(_letters(others[1]), k=3)))
    text = chance.choice((" ", " ", "", "、", ", ")).join(words) + chance.choice((".", "。", "؟", "।", "!", ""))
    return unicodedata.normalize(chance.choice(("NFC", "NFD")), text)


def stacked(chance: Random) -> str:
    """Letters under many combining marks."""
    return "".join(
        letter + "".join(chr(chance.randrange(0x300, 0x370)) for _ in range(chance.randint(0, 9)))
        for letter in some(chance, 1, 3)
    )


def glued(chance: Random) -> str:
    """No spaces at all."""
    return "".join(chance.choices([*WORDS, *_EMOJI, "İ", "...", "——", "www."], k=chance.randint(5, 60))).replace(
        " ", ""
    )


def broken(chance: Random) -> str:
    """Lines that end in every way, with spaces of every kind at their ends."""
    pieces = [f"{chance.choice(_SPACES)}{some(chance, 1, 3)}{chance.choice(_SPACES)}" for _ in range(4)]
    return "".join(piece + chance.choice(_BREAKS) for piece in pieces)


def begun(chance: Random) -> str:
    """A few words after a sign that means something to a program."""
    return f"{chance.choice(_BEGINNINGS)}{some(chance, 1, 4)}"


def lookalike(chance: Random) -> str:
    """What a program may take for a number, a date, nothing, or a part of a format."""
    return chance.choice(_LOOKALIKES)


def shouted(chance: Random) -> str:
    """Emphasis, emoticons and repeated signs, in any case."""
    word = chance.choice(WORDS)
    return (
        chance.choice((word.upper(), word.title(), word.swapcase()))
        + chance.choice("!?.oO😀") * chance.randint(1, 300)
        + " :-( ¯\\_(ツ)_/¯"
    )


_ALL = (tweet, quoted, html, log, code, encoded, marked, script, stacked, glued, broken, begun, lookalike, shouted)
KINDS: Mapping[str, Callable[[Random], str]] = {kind.__name__: kind for kind in _ALL}


def texts(number: int, seed: int = 7) -> list[str]:
    """Different texts, always the same: the kinds by turns, and sentences in every script once there are enough."""
    chance, found = Random(seed), dict[str, None]()
    scripts = cycle(SCRIPTS)
    for kind in islice(cycle(KINDS.values()), 20 * number):
        text = script(chance, next(scripts)) if kind is script else kind(chance)
        if _is_scored(text):
            found[text] = None
        if len(found) == number:
            break
    return list(found)


TEXTS = st.builds(
    lambda kind, chance: KINDS[kind](chance), st.sampled_from(sorted(KINDS)), st.randoms(use_true_random=False)
).filter(lambda text: _is_scored(text))
"""One of these texts, as a strategy."""


def is_sentence(text: str) -> bool:
    """Whether a person can read what was said: without the library's words, and with an end."""
    first = re.sub(r" \[req_\w+\]", "", text).strip().splitlines()[0]
    return first.endswith((".", "?", ")")) and not re.search(r"codec|Traceback|Value error|pattern '\\S'", text)


def as_sent(some: Sequence[str], kind: str) -> list[str]:
    """The texts that a file of this kind can have: a CSV from elsewhere may not look guarded against formulas."""
    return [text for text in some if kind != "csv" or as_written(text) == text]


def as_table(some: Sequence[str], kind: str) -> bytes:
    """A file as another program writes it correctly."""
    if kind == "jsonl":
        return "".join(json.dumps({"id": at, "text": text}) + "\n" for at, text in enumerate(some)).encode()
    if kind == "parquet":
        place = io.BytesIO()
        parquet.write_table(pa.table({"id": [*map(str, range(len(some)))], "text": some}), place)
        return place.getvalue()
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, quoting=csv.QUOTE_ALL)
    writer.writerows([("id", "text"), *((str(at), text) for at, text in enumerate(some))])
    return lines.getvalue().encode()


@cache
def _letters(name: str) -> Sequence[str]:
    first, last = SCRIPTS[name]
    return [letter for letter in map(chr, range(first, last + 1)) if unicodedata.category(letter)[0] in "LM"]


def _is_scored(text: str) -> bool:
    return bool(text.strip()) and not is_url(text)


MANY = list(dict.fromkeys([*texts(sized(100, 5_000)), *ODD]))
"""What every way in and out is given."""
