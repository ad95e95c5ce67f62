"""What the texts of a file are like before anything is done with them: markup, texts decoded twice, cut cells, answers
that say nothing. Pure, and quick enough for 100,000 texts.
"""

import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from traitbench.as_read import TextAsRead, rewritten
from traitbench.display.text import count

LONGEST_CELL = 32_767
"""The most characters that a cell of a spreadsheet holds; the rest of a longer text is lost."""

_MOST_NAMED = 5


Cleaning = Literal["html", "encoding"]
"""What can be done with texts on a person's word: read HTML as text, or repair what was decoded twice."""


@dataclass(frozen=True)
class Condition:
    """What `texts` texts are like: the positions of those with markup, decoded twice, cut, and saying nothing.

    `example` is the first text that was decoded twice, and the same text repaired. `cut_rows` has the numbers in the
    file of the rows that were cut. `is_partial` says that only the first texts were looked at.
    """

    texts: int
    markup: tuple[int, ...] = ()
    twice: tuple[int, ...] = ()
    cut: tuple[int, ...] = ()
    nothing: tuple[int, ...] = ()
    example: tuple[str, str] = ("", "")
    cut_rows: tuple[int, ...] = ()
    is_partial: bool = False

    @property
    def _of(self) -> str:
        return f"{'the first ' if self.is_partial else ''}{count(self.texts, 'text')}"

    def notes(self) -> list[str]:
        """Return what to say about the texts."""
        notes = []
        if self.markup:
            notes.append(f"{len(self.markup):,} of {self._of} {_have(self.markup)} HTML.")
        if self.twice:
            notes.append(
                f"{len(self.twice):,} of {self._of} {_look(self.twice)} decoded twice, such as "
                f"“{self.example[0]}” for “{self.example[1]}”."
            )
        if self.cut:
            named = self.cut_rows or [position + 1 for position in self.cut]
            listed = ", ".join(f"{each:,}" for each in named[:_MOST_NAMED]) + (", ..." if named[_MOST_NAMED:] else "")
            notes.append(
                f"{count(len(self.cut), 'text has', 'texts have')} exactly {LONGEST_CELL:,} characters, the most that "
                f"a cell can hold: probably cut (row{'s' if named[1:] else ''} {listed})."
            )
        if self.nothing:
            say = "says" if len(self.nothing) == 1 else "say"
            notes.append(f"{len(self.nothing):,} of {self._of} {say} nothing, such as “n/a” or “no comment”.")
        return notes


def condition_of(texts: Iterable[str]) -> Condition:
    """Return what texts are like; blank ones are not counted."""
    markup, twice, cut, nothing, filled = [], [], [], [], 0
    for position, text in enumerate(texts):
        if not text or text.isspace():
            continue
        filled += 1
        if has_markup(text):
            markup.append(position)
        if len(text) == LONGEST_CELL:
            cut.append(position)
        if says_nothing(text):
            nothing.append(position)
        if not text.isascii() and (repaired := decoded_once(text)) != text:
            twice.append((position, text, repaired))
    example = _example(*twice[0][1:]) if twice else ("", "")
    return Condition(filled, tuple(markup), tuple(each for each, *_ in twice), tuple(cut), tuple(nothing), example)


def cut_by_spreadsheets(texts: Iterable[str]) -> str:
    """Return a sentence about texts that do not fit into a cell of a spreadsheet; empty if all do."""
    longer = sum(len(text) > LONGEST_CELL for text in texts)
    if not longer:
        return ""
    some = count(longer, "text has", "texts have")
    return f"{some} more than {LONGEST_CELL:,} characters, and spreadsheets cut longer cells. Use JSONL or Parquet."


def cleaned(text: str, ways: Collection[Cleaning]) -> str:
    """Return a text cleaned in these ways: first its encoding, which may have broken its markup."""
    text = decoded_once(text) if "encoding" in ways else text
    return without_markup(text) if "html" in ways else text


def _have(some: Sequence[int]) -> str:
    return "has" if len(some) == 1 else "have"


def _look(some: Sequence[int]) -> str:
    return "looks" if len(some) == 1 else "look"


def _example(text: str, repaired: str) -> tuple[str, str]:
    """Return the first word of a text that the repair changes, as it is and repaired."""
    for word, better in zip(text.split(), repaired.split(), strict=False):
        if word != better and len(word) <= 40:
            return word, better
    return text[:20], repaired[:20]


# ---- markup ----------------------------------------------------------------------------------------------------------

_BLOCKS = (
    "address|article|aside|blockquote|body|br|center|dd|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|"
    "header|hr|html|li|main|nav|ol|option|p|pre|section|select|table|tbody|td|tfoot|th|thead|title|tr|ul"
)
_INLINE = (
    "a|abbr|acronym|b|bdi|bdo|big|button|cite|code|data|del|dfn|em|embed|font|i|iframe|img|input|ins|kbd|label|link|"
    "mark|meta|object|picture|q|rp|rt|ruby|s|samp|small|source|span|strike|strong|sub|sup|svg|time|tt|u|var|video|wbr|"
    r"o:p|v:\w+|w:\w+|st1:\w+"
)
_TAG = re.compile(rf"</?(?:{_BLOCKS}|{_INLINE})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BLOCK = re.compile(rf"</?(?:{_BLOCKS})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_UNSEEN = re.compile(r"<!--.*?-->|<!doctype[^<>]*>|<(script|style|template)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_BREAK = re.compile("\n")
# Those that `html.unescape` reads, which also knows some without their semicolon.
_REFERENCE = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")
_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n\s*")
_ENDS = re.compile(r"\A\s++|(?<!\s)\s++\Z")

# Line breaks in HTML are blanks, and those that are read come from its tags.
_TAGS = ((_BREAK, lambda _: " "), (_BLOCK, lambda _: "\n"), (_TAG, lambda _: ""))
_REST = (
    (_REFERENCE, lambda reference: html.unescape(reference[0])),
    *((_BLANKS, lambda _: " "), (_LINES, lambda _: "\n"), (_ENDS, lambda _: "")),
)


def has_markup(text: str) -> bool:
    """Whether a text has tags or entities of HTML."""
    if "<" in text and (_TAG.search(text) or _UNSEEN.search(text)):
        return True
    return "&" in text and any(html.unescape(each[0]) != each[0] for each in _ENTITY.finditer(text))


def without_markup(text: str) -> str:
    """Return what a person reads of a text with tags and entities; any other text as it is."""
    return read_markup(text).text


def read_markup(text: str) -> TextAsRead:
    """Return the result of `without_markup` with the way back into the text as it was."""
    if not has_markup(text):
        return TextAsRead(text)
    has_tags = _TAG.search(_UNSEEN.sub(" ", text))
    return rewritten(text, ((_UNSEEN, lambda _: " "), *(_TAGS if has_tags else ()), *_REST))


# ---- texts decoded twice ---------------------------------------------------------------------------------------------


def _bytes_of(codec: str) -> dict[str, int]:
    """Return the byte beyond ASCII that each character stands for."""
    # What a code page leaves undefined is often kept as a control character.
    known = {chr(each): each for each in range(0x80, 0xA0)} if codec == "cp1252" else {}
    for each in range(0x80, 0x100):
        with suppress(UnicodeDecodeError):
            known[bytes([each]).decode(codec)] = each
    return known


def _sequences(codec: str) -> str:
    """Return a pattern of what a character of UTF-8 with several bytes became."""

    def of(low: int, high: int) -> str:
        return f"[{re.escape(''.join(each for each, byte in _bytes_of(codec).items() if low <= byte < high))}]"

    inside = of(0x80, 0xC0)
    return f"{of(0xC2, 0xE0)}{inside}|{of(0xE0, 0xF0)}{inside}{{2}}|{of(0xF0, 0xF5)}{inside}{{3}}"


class _Decoding:
    """A wrong way in which UTF-8 was decoded, and the `pattern` of what it made of characters of several bytes."""

    def __init__(
        self,
        codec: str,
        pattern: re.Pattern[str],
        leads: str,
        weak: str,
        *,
        share: float,
        sure: re.Pattern[str] | None = None,
        only_leads: bool = False,
    ) -> None:
        self._byte, self.pattern = _bytes_of(codec), pattern
        self._leads, self._weak, self._share, self._only_leads = leads, {*weak}, share, only_leads
        self._sure = sure

    def repaired(self, text: str) -> str:
        """Return a text decoded once, or as it is unless it was clearly decoded twice in this way."""
        if not self.pattern.search(text):
            return text
        matches = [(each[0], better) for each in self.pattern.finditer(text) if (better := self._decoded(each[0]))]
        strong = [given for given, _ in matches if not self._weak.issuperset(given[1:])]
        usual = [each for each in strong if each[0] in self._leads or (len(each) > 2 and not self._only_leads)]
        is_usual = bool(usual) or (len({*strong}) > 1 and not self._only_leads)
        if not is_usual and not (matches and self._sure and self._sure.search(text)):
            return text
        if sum(len(given) for given, _ in matches) < self._share * sum(character > "\x7f" for character in text):
            return text
        return self.pattern.sub(lambda each: self._decoded(each[0]) or each[0], text)

    def _decoded(self, given: str) -> str:
        try:
            return bytes(self._byte[character] for character in given).decode()
        except UnicodeDecodeError:
            return ""


# Quotation marks and dashes follow letters in good texts too, so alone they show nothing.
_QUOTES = "“”‘’„‚…–—«»‹›\u00a0°ºª´"
_IN_CP1252 = re.compile(_sequences("cp1252"))
_IN_CP1250 = re.compile(_sequences("cp1250"))
_IN_CP1251 = re.compile(_sequences("cp1251"))
_IN_MAC_ROMAN = re.compile(_sequences("mac_roman"))
_SURE = re.compile("[a-zà-öø-ÿ]Ã[^\\w\\s]|\\b[a-zà-ÿ]*Ã\u00a0")
_DECODINGS = (
    _Decoding("cp1252", _IN_CP1252, "ÃÂ", _QUOTES, share=0.0, sure=_SURE),
    _Decoding("cp1250", _IN_CP1250, "ĹĂ", "“”‘’„–—«»", share=0.5),
    _Decoding("cp1251", _IN_CP1251, "", f"{_QUOTES}ёієїјѕґ№", share=0.8),
    # Its quotation marks begin a character before many accented letters, so only signs that no text has count.
    _Decoding("mac_roman", _IN_MAC_ROMAN, "√¬‚", "“”‘’‚„…–—«»‹›†°", share=0.5, only_leads=True),
)
_MOST_TIMES = 3
# The third byte of a closing quotation mark has no character in Windows-1252, and programs drop it or replace it.
_LOST_QUOTE = re.compile("â€(?:\ufffd|(?=[\\s.,;:!?)]|$))")
_LOST_BLANK = re.compile(r"\bÃ(?: |\u00a0)?(?= |$)|\bÃ (?=\w)")


def decoded_once(text: str) -> str:
    """Return a text whose UTF-8 was decoded as another encoding and saved again, as it was; any other text as it is."""
    for _ in range(_MOST_TIMES):
        better = next((each for way in _DECODINGS if (each := way.repaired(text)) != text), text)
        if better == text and not (_LOST_QUOTE.search(text) and "â€" in text):
            return text
        better = _LOST_QUOTE.sub("”", better)
        text = _LOST_BLANK.sub("à ", better).replace("à  ", "à ")
    return text


# ---- answers that say nothing ----------------------------------------------------------------------------------------

_NOTHING = frozenset(
    each.strip()
    for line in """
n/a, n.a, n. a, na, n/d, nan, none, null, nil, nope, nah, no, nop, nothing, nothing really, not really, nothing at all
nothing to add, nothing to say, nothing to report, nothing to declare, nothing else, nothing more, nothing further
nothing i can think of, not that i know of, i dont have any, dont have any,
nothing comes to mind, nothing specific, nothing in particular, naught
no comment, no comments, no comment at all, no answer, no response, no opinion, no idea, no suggestions, no suggestion
no feedback, no further comments, no further comment, none that i can think of, none at this time, none really, noone
not applicable, not sure, unsure, not relevant, dont know, i dont know, do not know, i do not know, dunno, idk, dk
don t know, i don t know, cant think of anything, can t think of anything, i have none, i have nothing
see above, see previous, see previous answer, see below, as above, as before, same, same as above, same as before, ditto
already answered, already said, already mentioned, same answer, see last answer, idem, dito, s.o, s. o, s.a, siehe oben
pass, skip, skipped, blank, empty, left blank, test, testing, asdf, asdfg, asdfgh, qwerty, qwertz, xyz, abc, bla, blah
blabla, bla bla, blah blah, tbd, tba, tbc, nichts, nix, nö, ne, nee, nein, keine, keiner, keines, kein, keins
kein kommentar, keine kommentare, keine angabe, keine angaben, keine antwort, keine ahnung, keine meinung, k.a, k. a
ka, kA, weiß nicht, weiss nicht, weiß ich nicht, keine idee, keine anmerkungen, keine anmerkung, keine vorschläge
nichts besonderes, nichts weiter, nichts zu sagen, entfällt, trifft nicht zu, wie oben, wie vorher, gleiche antwort
rien, rien à dire, rien à signaler, rien de spécial, rien de particulier, ras, r.a.s, aucun, aucune
aucun commentaire, pas de commentaire, pas de commentaires, sans commentaire, sans réponse, pas de réponse, sans opinion
ne sais pas, je ne sais pas, sais pas, nsp, néant, non, sans objet, voir ci-dessus, cf ci-dessus, cf. ci-dessus
voir plus haut, pareil, nada, ninguno, ninguna, ningún, ningún comentario, ninguna sugerencia, sin comentarios
sin comentario, sin respuesta, sin opinión, no sé, no se, no sabe, ns/nc, no aplica, ver arriba, igual, lo mismo
nada que añadir, nada que decir, nada en especial, niente, nulla, nessuno, nessuna, nessun commento, non so, non saprei
vedi sopra, come sopra, niente da dire, niente da aggiungere, nenhum, nenhuma, nenhum comentário, sem comentários
sem comentário, sem resposta, não sei, não, nao, nao sei, não se aplica, ver acima, idem acima, nada a declarar
nada a acrescentar, niets, geen, geen commentaar, geen idee, geen mening, geen antwoord, weet niet, weet ik niet, nvt
n.v.t, zie boven, nee, nic, brak, brak uwag, brak odpowiedzi, bez komentarza, nie wiem, nie dotyczy, nie, nie mam
inget, ingenting, ingen, inga, inga kommentarer, ingen kommentar, ingen åsikt, vet ej, vet inte, nej, intet, ikke noget
ingen kommentarer, ingen bemærkninger, ved ikke, vet ikke, nei, ei, ei mitään, ei kommentteja, en tiedä, ei ole
нет, ничего, не знаю, без комментариев, нет комментариев, нет ответа, затрудняюсь ответить, н/д, нечего сказать
см. выше, смотри выше, то же самое, никаких, нету, ні, нічого, не знаю, немає, без коментарів, nevím, žádné, žádný, ne
bez komentáře, semmi, nincs, nem tudom, nem, nimic, nu știu, nu stiu, niciunul, fără comentarii, nu, yok, hiç, hiçbir
hiçbir şey, bilmiyorum, yorum yok, fikrim yok, hayır, yukarıda, δεν ξέρω, τίποτα, κανένα, όχι, κανένα σχόλιο
なし, 無し, 無, ない, とくになし, 特になし, 特に無し, 特にない, 特にありません, ありません, わからない
分からない, わかりません, 同上, 上記の通り, 該当なし, 無回答, 没有, 沒有, 无, 無, 没, 不知道, 不清楚, 没意见, 没有意见
無意見, 没什么, 暂无, 無可奉告, 无可奉告, 不适用, 没有了, 없음, 없다, 없습니다, 없어요, 특별히 없음, 딱히 없음, 모름
모르겠음, 모르겠다, 모르겠습니다, 위와 같음, 상동, 무, 해당없음, 해당 없음, لا, لا شيء, لا شئ, لا يوجد, لا تعليق
لا أعرف, لا اعرف, لا أدري, لا ينطبق, كما سبق, هیچ, هیچی, نمی دانم, ندارد, ندارم, نظری ندارم, אין, אין תגובה
אין הערות, לא יודע, לא יודעת, לא רלוונטי, כלום, לא, कुछ नहीं, नहीं, पता नहीं, कोई नहीं
मालूम नहीं, লাগু নেই, কিছু না, জানি না, নেই, না
ไม่มี, ไม่ทราบ, ไม่รู้, ไม่มีความคิดเห็น, không, không có, không biết, không có ý kiến, tidak, tidak ada, tidak tahu
tidak ada komentar, nihil, kosong, wala, hakuna, sijui
""".strip().splitlines()
    for each in line.split(",")
)
# A word for no, words for more, and a word for what is not there; and where the answer is instead.
_NO_WORDS = re.compile(
    r"(?:i have |i ve |have |there is |there are |got )?(?:no|zero|without|not any)"
    r"(?: (?:further|other|more|additional|specific|particular|real))*"
    r" (?:comments?|opinions?|ideas?|clue|suggestions?|feedback|answers?|responses?|remarks?|thoughts?|preference)"
    r"(?: (?:at all|at this time|at the moment|for now|to add|to make|here|yet))?"
    r"|(?:ich habe )?keine?n?(?: (?:weiteren?|anderen?|besonderen?|sonstigen?))*"
    r" (?:kommentare?|angaben?|antwort(?:en)?|ahnung|meinung|anmerkung(?:en)?|(?:verbesserungs)?vorschl[aä]ge?|ideen?|"
    r"hinweise?|ergänzung(?:en)?|bemerkung(?:en)?|wünsche|anregung(?:en)?)"
    r"|(?:je n ai )?(?:aucune?|pas d|pas de|sans)(?: autres?)? (?:commentaires?|remarques?|suggestions?|idées?|avis|"
    r"réponses?|opinions?|observations?)(?: particuli[eè]re?s?)?"
    r"|(?:ning[uú]n[ao]?|sin|no tengo)(?: (?:más|otr[ao]s?))? (?:comentarios?|sugerencias?|ideas?|respuestas?|"
    r"opini[oó]n|observaci[oó]n(?:es)?)(?: adicional(?:es)?)?"
    r"|(?:nessun[ao]?|senza|nessun altro) (?:commento|commenti|suggerimento|suggerimenti|idea|risposta|opinione|"
    r"osservazione)"
    r"|(?:nenhum[a]?|sem|não tenho)(?: (?:mais|outr[ao]s?))? (?:comentários?|sugest(?:ão|ões)|ideias?|respostas?|"
    r"opini(?:ão|ões)|observaç(?:ão|ões))"
    r"|geen(?: (?:verdere|andere))? (?:opmerkingen?|commentaar|idee(?:ën)?|mening|antwoord|suggesties?)"
    r"|(?:brak|bez) (?:uwag|odpowiedzi|zdania|komentarzy?|sugestii|opinii)"
    r"|(?:please |bitte |pls )?(?:see|refer to|cf|vgl|siehe|s|as (?:mentioned|stated|said|written|noted)|same as|"
    r"voir|cf|ver|vea|véase|vedi|come|zie|wie|як|см|same answer as)(?: my| the| in| to| dem| der| meine)*"
    r" (?:above|below|previous|prior|earlier|before|last|question|q|answer|comment|oben|unten|vorher|vorherige|frage|"
    r"antwort|ci dessus|plus haut|arriba|anterior|acima|sopra|prima|boven|vorige|выше)"
    r"(?: (?:question|answer|comment|response|frage|antwort|pregunta|respuesta|réponse|domanda|risposta|q|no|nr|"
    r"please|thanks))*(?: \d+)?"
)
_APOSTROPHES = re.compile(r"[’'`´ʼ]")
_BETWEEN_WORDS = re.compile(r"[\s.,;:!?_-]+")
_LETTER = re.compile(r"[^\W_]")
_SIGNS = frozenset(" -–—_.,…·•。、?？¿!！/\\*~+=#|\"'“”„«»’`´")
_LONGEST_NOTHING = 50


def says_nothing(text: str) -> bool:
    """Whether an answer says nothing: `n/a`, `-`, `no comment`, `see above`, `なし`, only signs, or one letter."""
    if len(text) > _LONGEST_NOTHING:
        return False
    bare = " ".join(text.split()).casefold()
    if not _LETTER.search(bare):
        # A smile is an answer, and so is a picture.
        return not {*bare} - _SIGNS
    bare = unicodedata.normalize("NFC", _APOSTROPHES.sub("", bare)).strip(' .!?…。！？،,;:-–—_*#()[]{}<>"“”„«»/\\|~+=')
    if bare.isascii() and bare.isalpha() and len({*bare}) == 1:
        return True
    words = _BETWEEN_WORDS.sub(" ", _APOSTROPHES.sub(" ", " ".join(text.split()).casefold())).strip()
    return bare in _NOTHING or bare.replace(" / ", "/") in _NOTHING or _NO_WORDS.fullmatch(words) is not None
