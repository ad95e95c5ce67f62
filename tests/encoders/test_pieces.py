"""The pieces of a text compared with a plain reading of the file: the best path over its pieces, in Python."""

import re
import sys
import unicodedata
from operator import itemgetter

import pytest

from tests.real_encoder import KEPT
from tests.size import sized
from traitbench.encoders.e5_file import UNKNOWN, E5File, read_file
from traitbench.encoders.multilingual import tokenizer_content
from traitbench.encoders.pieces import Pieces
from traitbench.encoders.style import generic_texts

SCRIPTS = (
    "გამარჯობა, როგორ ხარ?", "Բարեւ, ինչպե՞ս ես։", "ሰላም፣ እንዴት ነህ?", "សួស្តី សុខសប្បាយទេ", "ສະບາຍດີ ເຈົ້າສະບາຍດີບໍ",
    "မင်္ဂလာပါ နေကောင်းလား", "ආයුබෝවන්, කොහොමද?", "నమస్కారం, ఎలా ఉన్నారు?", "ನಮಸ್ಕಾರ, ಹೇಗಿದ್ದೀರಿ?", "നമസ്കാരം, സുഖമാണോ?",
    "કેમ છો? મજામાં!", "ਸਤ ਸ੍ਰੀ ਅਕਾਲ, ਤੁਸੀਂ ਕਿਵੇਂ ਹੋ?", "ନମସ୍କାର, କେମିତି ଅଛନ୍ତି?", "བཀྲ་ཤིས་བདེ་ལེགས།", "ᠰᠠᠶᠢᠨ ᠪᠠᠶᠢᠨ᠎ᠠ", "ᎣᏏᏲ ᏙᎯᏧ",
    "ⴰⵣⵓⵍ ⵎⴰⵏⵣⴰⴽⵉⵏ", "ߌ ߣߌ ߛߐ߲߬ߜߐߡߊ", "ꦱꦸꦒꦼꦁꦫꦮꦸꦃ", "𐌷𐌰𐌹𐌻𐍃", "ܫܠܡܐ ܥܠܝܟ", "އައްސަލާމު ޢަލައިކުމް", "ꋬꐚꌠ", "𞤶𞤢𞤥 𞤱𞤢𞤤𞤭",
    "👩‍👩‍👧‍👦 🇯🇵 ☀️ ¯\\_(ツ)_/¯",
    "e\u0301te\u0301 ﬁne Ⅷ ① ｆｕｌｌ ｗｉｄｔｈ", "<s> </s> <mask> <pad> <unk>",
    "a\u00a0b\u3000c\u2028d\te\n\nf", "x" * 300, "ab" * 400,
    "", "   ", "\u200b\u200d\ufeff", "\u0000a\u0001",
)  # fmt: skip


@pytest.fixture(scope="module")
def file() -> E5File:
    return read_file()


@pytest.fixture(scope="module")
def ours(file: E5File) -> Pieces:
    return Pieces(tokenizer_content(file, cache=KEPT), file.normal)


class Reading:
    """The tokenizer as the file describes it."""

    def __init__(self, file: E5File) -> None:
        pieces = file.pieces()
        special = {*range(UNKNOWN + 1), len(pieces) - 1}
        self.score = {piece: (file.scores[i], i) for i, piece in enumerate(pieces) if i not in special}
        self.unknown = min(score for score, _ in self.score.values()) - 10
        self.longest, self.normal = max(map(len, self.score)), file.normal

    def ids(self, text: str) -> list[int]:
        """The best path over the pieces; a run of unknown characters is one unknown piece."""
        plain = re.sub(" +", " ", "".join(self.normal.get(ord(sign), sign) for sign in text)).strip(" ")
        if not plain:
            return []
        plain = "\u2581" + plain.replace(" ", "\u2581")
        best: list[tuple[float, int, int]] = [(0.0, 0, UNKNOWN)]
        for end in range(1, len(plain) + 1):
            ways = [
                (best[first][0] + known[0], first, known[1])
                for first in range(max(0, end - self.longest), end)
                if (known := self.score.get(plain[first:end]))
            ]
            # Of equal ways, the first has the longest piece.
            best.append(max([*ways, (best[end - 1][0] + self.unknown, end - 1, UNKNOWN)], key=itemgetter(0)))
        ids, end = list[int](), len(plain)
        while end:
            _, end, piece = best[end]
            if not (piece == UNKNOWN and ids and ids[-1] == UNKNOWN):
                ids.append(piece)
        return ids[::-1]


@pytest.fixture(scope="module")
def reading(file: E5File) -> Reading:
    return Reading(file)


@pytest.mark.parametrize("text", SCRIPTS)
def test_pieces_of_many_scripts_are_those_of_the_file(ours: Pieces, reading: Reading, text: str) -> None:
    assert ours.ids(text) == reading.ids(text)


def test_pieces_of_generic_texts_are_those_of_the_file(ours: Pieces, reading: Reading) -> None:
    texts = generic_texts(languages=True)
    assert [ours.ids(text) for text in texts] == [reading.ids(text) for text in texts]


def test_every_code_point_is_read_as_the_file_says(ours: Pieces, reading: Reading) -> None:
    """Alone between letters; code points that no standard assigns are sampled, and at the smaller size all others too:
    a block has sixteen at least."""
    points = [point for point in range(sys.maxunicode + 1) if _is_read(point)][:: sized(11, 1)]
    for first in range(0, len(points), 64):
        text = " ".join(f"a{chr(point)}b" for point in points[first : first + 64])
        assert ours.ids(text) == reading.ids(text), hex(points[first])


def _is_read(point: int) -> bool:
    category = unicodedata.category(chr(point))
    return category != "Cs" and (category not in ("Cn", "Co") or point % 101 == 0)


@pytest.mark.parametrize("text", [text for text in SCRIPTS if text.strip()])
def test_every_piece_of_a_text_belongs_to_the_stretch_that_has_its_last_character(ours: Pieces, text: str) -> None:
    middle = len(text) // 2
    owners = ours.owners(text, [middle, len(text)])
    assert len(owners) == len(ours.ids(text))
    assert owners == sorted(owners)
    assert set(owners) <= {0, 1}
    assert ours.owners(f"good {text}", [4, 5 + len(text)])[0] == 0
