"""The words and phrases that a text affirms, those that set two groups apart, and labels that only negate.

A word after a negation is not affirmed: "we've had no problems" is not about problems. The negation and the word count
as one phrase instead: "no problems". In scripts without spaces, words are those of a dictionary (`scoring.words`).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from traitbench.scoring.words import UNSPACED
from traitbench.scoring.words import words as spans

# Vowel signs of Indic scripts, accents that follow their letter, and the signs in Persian and Indic words that keep two
# letters apart or together are not word characters of `re`.
MARKS = "".join(chr(code) for code in range(0x300, 0x1E00) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
"""For a class of characters in a pattern."""

_LETTER = rf"(?![{UNSPACED}])[^\W\d_]"
_LETTERS = rf"{_LETTER}(?:{_LETTER}|(?![{UNSPACED}])[{MARKS}]|[\u200c\u200d](?={_LETTER}))*"
# Without the punctuation of Burmese and Khmer, which is in the same blocks.
_UNSPACED_LETTER = rf"(?![\u104a-\u104f\u17d4-\u17da])[{UNSPACED}]"
_WORD = re.compile(rf"(?:{_UNSPACED_LETTER})+|{_LETTERS}(?:['’]{_LETTERS})*")
_UNSPACED_RUN = re.compile(rf"(?:{_UNSPACED_LETTER})+")
# A Korean syllable is a letter in Unicode and two or three in fact, so two of them make a word.
_SYLLABLES = re.compile("[\uac00-\ud7a3]")
# Bounded repetitions, so that the time grows only with the length of the text.
_NO_WORDS = re.compile(
    r"\bhttps?\b(?:://\S*)?|\bwww\.\S+"
    r"|(?:[a-z0-9-]{1,63}\.){1,9}[a-z]{2,24}/\S*"
    r"|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}"
    r"|(?<!\w)[@＠]\w+"
    r"|&#?\w{1,31};"
    r"|</?[a-z][^<>]{0,300}>",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.,;:!?()\[\]\"\n\u2013\u2014、。！，：；？،؛؟۔।]+")
# Tokenised corpora write "do n't" and "it 's".
_SPACED = re.compile(r" (?=['’](?:t|s|m|d|re|ve|ll)\b|n ?['’]t\b)")
# Not "glass" or "bus".
_PLURAL = re.compile(r"[^su']s$")
_SHORTEST = 3
_LONGEST = 3
_SCOPE = 3

_NEGATING = "not no never without neither nor none nothing nobody hardly barely cannot cant dont"
_NEGATIONS = frozenset(_NEGATING.split())
_NO_NEGATION_BEFORE = {"only", "just", "doubt"}
_SCOPE_ENDS = {"but", "although", "though", "however", "except", "yet"}
_LINKS = {"a", "an", "and", "for", "from", "in", "my", "of", "on", "the", "to", "with", "your"}
_PARTICLES = {"back", "down", "off", "out", "up"}

_FUNCTION_WORDS = """
a able about above after again all also although always am an and another any anything are aren't around as at away back
be because been before being below between both but by came can can't cannot cant come could couldn't did didn't do
does doesn't doing don't done dont down during each eight either else enough even ever every everything few first
five for four from further get gets getting give given go goes going gone got had hadn't has hasn't have
haven't having he he's her here hers herself him himself his how however i i'd i'll i'm i've if in into is
isn't it it'll it's its itself just keep know let let's like lot made make makes many may maybe me might more most much
must my myself need needs neither never nine no nobody none nor not nothing now of off often on once one only onto or
other others our ours ourselves out over own perhaps quite rather really said same say says second see seven
she she's should shouldn't since six so some something still such take tell ten than that that's the their theirs think
them themselves then there there's these they they'd they'll they're they've thing things third this those
though thought three through to too tried try trying two under until up upon us use used using
very want wants was wasn't way we we'd we'll we're we've well went
were weren't what what's when where whether which while who who's whom whose why will with within without
won't would wouldn't yes yet you you'd you'll you're you've your yours yourself yourselves
aber als auch auf aus bei das dass dem den der des doch dir durch ein eine einem einen einer eines euch für gibt haben
habe hier ich ihr immer ist jetzt kann kein keine mal mehr mein meine mich mir mit nach nicht noch nur oder schon sehr
sein sich sie sind über uns und viel vom von vor wenn werden wie wieder wir wird zum zur
alors après aussi avec avoir bien cette ces c'est comme dans des donc elle est être fait fois ils j'ai les leur mais
même mes moi nous ont ou par pas peu peut qu'il que quand qui quoi ses sont sur tout très une vous était
ao aos até com como cuando das del dos ele ela ella ellos em entre era ese esta está este estoy eu foi hay isso
las los lo mas más meu mi minha muito muy na não nas nem no nos nosso o os para pela pelo pero por porque pra que quem
se sem ser seu sin sobre sou sua también tem tenho todo todos um uma una uno você vou ya yo
alla anche che chi con cosa così della delle dei di dove già gli hanno ho il io loro lui ma mi molto nel nella non
ogni perché più quando quella quello questa questo sei sono suo tra tutti un
और का की के को में से है हैं था थी थे हो होता पर यह वह ये वो इस उस ने भी तो ही कि जो एक मैं हम आप मेरा अपने कर रहा रहे रही लिए
من في على إلى عن مع أن إن ما لا لم لن هذا هذه ذلك التي الذي كان كانت هو هي أنا نحن كل قد ثم أو بعد قبل حتى
и в на не что я он она мы вы они это как но по за из у же так бы все его ее их для мне меня был была было уже или
的 了 是 在 我 你 他 她 它 我们 你们 他们 这 那 这个 那个 也 都 和 就 还 有 到 着 过 吗 呢 吧 把 被 让 对 很 太
会 要 一 一个 个 上
は が を に の で と も へ や か ね よ な だ た て し です ます ました でした この その あの これ それ
ここ こと もの ので から まで する した して いる ある ない なる なり ませ ん いう よう ところ
ที่ และ ใน ของ เป็น มี ได้ ให้ กับ ว่า ไป มา แต่ ก็ จะ ไม่ นี้ นั้น อยู่ แล้ว จาก หรือ เรา ฉัน ผม คุณ ครับ ค่ะ นะ
"""
_FUNCTION_WORD_SET = frozenset(_FUNCTION_WORDS.split())


def words(text: str) -> list[str]:
    """The words of a text, case-folded, with a plain apostrophe; links, handles and numbers are none."""
    whole = (word.replace("’", "'") for word in _WORD.findall(_NO_WORDS.sub(" ", text).casefold()))
    return [part for word in whole for part in (_in_run(word) if _UNSPACED_RUN.match(word) else [word])]


def size(phrase: str) -> int:
    """The number of words of a phrase."""
    return len(spans(phrase))


def is_function_word(word: str) -> bool:
    """Whether a word says little about what a text is about."""
    return word in _FUNCTION_WORD_SET


def singular(phrase: str) -> str:
    """A phrase as the key under which its singular and plural count together."""
    return " ".join(word[:-1] if len(word) > _SHORTEST and _PLURAL.search(word) else word for word in phrase.split())


def phrases(text: str) -> set[str]:
    """The phrases of a text. A function word counts alone, or inside a phrase, or as in "top up"."""
    result: set[str] = set()
    for clause in _CLAUSE.split(_SPACED.sub("", _NO_WORDS.sub(" , ", text))):
        result.update(phrase for run in _UNSPACED_RUN.findall(clause) for phrase in _phrases_in_run(_in_run(run)))
        own = words(_UNSPACED_RUN.sub(" ", clause))
        affirmed = [True] * len(own)
        for i in (i for i, word in enumerate(own) if _negates(own, i)):
            scope = _scope(own, i)
            affirmed[i + 1 : i + 1 + len(scope)] = [False] * len(scope)
            last = next((k for k, word in enumerate(scope) if _is_content(word)), None)
            if last is not None:
                result.add(" ".join(own[i : i + last + 2]))
        for i in range(len(own)):
            for length in range(1, _LONGEST + 1):
                run = own[i : i + length]
                if len(run) == length and all(affirmed[i : i + length]) and _is_phrase(run):
                    result.add(" ".join(run))
    return result


def _in_run(run: str) -> list[str]:
    """The words of a run of letters without spaces."""
    return [run[start:end] for start, end in spans(run)]


def _phrases_in_run(own: list[str]) -> Iterator[str]:
    for i in range(len(own)):
        for length in range(1, _LONGEST + 1):
            run = own[i : i + length]
            phrase = "".join(run)
            if len(run) == length and len(phrase) > 1 and not (is_function_word(run[0]) or is_function_word(run[-1])):
                yield phrase


def _negates(own: list[str], i: int) -> bool:
    negation = own[i] in _NEGATIONS or own[i].endswith("n't")
    return negation and not (i + 1 < len(own) and own[i + 1] in _NO_NEGATION_BEFORE)


def _scope(own: list[str], i: int) -> list[str]:
    """The words that a negation denies."""
    scope = own[i + 1 : i + 1 + _SCOPE]
    end = next((k for k, word in enumerate(scope) if word in _SCOPE_ENDS), len(scope))
    return scope[:end]


def _is_content(word: str) -> bool:
    return _is_long_enough(word) and not is_function_word(word)


def _is_long_enough(word: str) -> bool:
    return len(word) >= _SHORTEST - bool(_SYLLABLES.match(word))


def _is_phrase(run: list[str]) -> bool:
    if len(run) == 1:
        return _is_long_enough(run[0])
    if run[-1] in _PARTICLES:
        return len(run) == 2 and _is_content(run[0])
    inside = run[1:-1]
    return _is_content(run[0]) and _is_content(run[-1]) and all(_is_content(w) or w in _LINKS for w in inside)


_NEGATION = re.compile(
    r"^(?:not?|non|un|never|neither|none|nothing|nobody|without|lack(?:ing|s)?|absence|anything|everything|something|none|others?|less|hardly|barely)"
    r"(?:\b|-)|\b(?:else|otherwise)\b",
    re.IGNORECASE,
)

# Other forms may mean people: "about others", "blames someone else".
_REST = re.compile(
    r"^(?:(?:about|on|any|all|the|some)\s++)*+(?:other\b(?!-)|another\b)|^(?:(?:all|the)\s++)*+others$"
    r"|^(?:all\s++)?+the\s++rest\b|^(?:anything|everything)$|\b(?:(?:any|every|some)thing|all)\s++else$",
    re.IGNORECASE,
)


def negates(label: str) -> bool:
    """Whether a pole's label is only a negation."""
    return _NEGATION.search(label.strip()) is not None


def names_the_rest(label: str) -> bool:
    """Whether a pole's label means every text that is not at the other pole: "other text", "something else"."""
    return _REST.search(label.strip()) is not None


Floats = NDArray[np.float64]

_PRIOR_TEXTS = 10.0
_MANY_TEXTS = 60
_LONGER = 0.7


def kernel(texts: Sequence[str]) -> Floats:
    """(n, n): the cosine of every two texts by their words and word pairs, weighted by inverse document frequency."""
    grams = [[*own, *map(" ".join, pairwise(own))] for own in map(words, texts)]
    _, present = _incidence([set(own) for own in grams])
    rarity = np.log((1 + len(texts)) / (1 + present.sum(axis=0))) + 1
    weighted = present.multiply(rarity).tocsr()
    lengths = np.sqrt(weighted.multiply(weighted).sum(axis=1))
    similarity: Floats = (weighted @ weighted.T).toarray() / np.maximum(np.outer(lengths, lengths), 1e-12)
    return similarity


@dataclass(frozen=True, eq=False)
class Terms:
    """The phrases that several texts affirm, and which texts do."""

    columns: Mapping[str, int]
    present: csc_array

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Terms":
        """The terms of these texts. Singular and plural count together, under the more frequent of the two."""
        forms: dict[str, Counter[str]] = {}
        sets = []
        for text in texts:
            own = {form: singular(form) for form in phrases(text)}
            sets.append(set(own.values()))
            for form, key in own.items():
                forms.setdefault(key, Counter())[form] += 1
        counts = Counter(key for own in sets for key in own)
        fewest = 3 if len(texts) >= _MANY_TEXTS else 2
        keys, present = _incidence([{key for key in own if counts[key] >= fewest} for own in sets])
        names = (_most_frequent(forms[key]) for key in keys)
        return cls({name: column for column, name in enumerate(names)}, present.tocsc())

    def texts_with(self, term: str) -> NDArray[np.int64]:
        """The places of the texts that affirm a term."""
        first, last = self.present.indptr[self.columns[term] :][:2]
        cells: NDArray[np.int64] = self.present.indices[first:last].astype(np.int64)
        return cells

    def distinctive(self, high: NDArray[np.bool_], low: NDArray[np.bool_]) -> tuple[list[str], list[str]]:
        """The distinctive terms of the texts `high` (n,) against those of `low`, and the reverse, the best first.

        The measure is the z-score of the log-odds ratio with an informative prior from all texts (Monroe, Colaresi and
        Quinn, Political Analysis 16, 2008, 372-403). Unlike there, it counts texts that have the term, not occurrences.
        Longer phrases come before their words if they are about as distinctive. Function words come last.
        """
        everywhere = self.present.sum(axis=0)
        above, below = high @ self.present, low @ self.present
        prior = _PRIOR_TEXTS * (everywhere + 0.5) / (self.present.shape[0] + 1)
        odds = _log_odds(above + prior, high.sum() + _PRIOR_TEXTS) - _log_odds(below + prior, low.sum() + _PRIOR_TEXTS)
        z_scores = odds / np.sqrt(1 / (above + prior) + 1 / (below + prior))
        return self._ranked(z_scores), self._ranked(-z_scores)

    def _ranked(self, z_scores: Floats) -> list[str]:
        usable = [(name, z_scores[column]) for name, column in self.columns.items() if z_scores[column] > 1]
        return [name for name, _ in sorted(usable, key=lambda each: _rank(*each))]


def _most_frequent(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form))


def _rank(name: str, z_score: float) -> tuple[bool, float, str]:
    return is_function_word(name), -z_score * (1 + _LONGER * (size(name) - 1)), name


def _log_odds(count: Floats, total: float) -> Floats:
    odds: Floats = np.log(count / (total - count))
    return odds


def _incidence(sets: Sequence[Iterable[str]]) -> tuple[list[str], csr_array]:
    """Terms in alphabetical order, and (n_texts, n_terms) with 1 where the text has the term."""
    names = sorted({term for own in sets for term in own})
    column = {name: i for i, name in enumerate(names)}
    cells = [(row, column[term]) for row, own in enumerate(sets) for term in own]
    rows, columns = np.array(cells, np.int64).reshape(-1, 2).T
    present = csr_array((np.ones(len(cells)), (rows, columns)), shape=(len(sets), len(names)))
    present.sort_indices()
    return names, present
