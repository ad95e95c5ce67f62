"""The phrases of a text: words, and runs of two or three words, that the text affirms.

A word after a negation is not affirmed: "we've had no problems" is not about problems. The negation and the word count
as one phrase instead: "no problems".
"""

import re

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_CLAUSE = re.compile(r"[.,;:!?()\[\]\"\n\u2013\u2014]+")
_SPACED = re.compile(r" (?=['’](?:t|s|m|d|re|ve|ll)\b|n['’]t\b)")
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
a able about above after again all also although always am an and another any anything are aren't as at away back
be because been before being below between both but by came can can't cannot cant come could couldn't did didn't do
does doesn't doing don't done dont down during each eight either else enough even ever every everything few first
five for four from further get gets getting give given go goes going gone got had hadn't has hasn't have
haven't having he he's her here hers herself him himself his how however i i'd i'll i'm i've if in into is
isn't it it'll it's its itself just keep know let let's like lot made make makes many may maybe me might more most much
must my myself need needs neither never nine no nobody none nor not nothing now of off often on once one only onto or
other others our ours ourselves out over own perhaps quite rather really said same say says second see seven
she she's should shouldn't since six so some something still such take tell ten than that that's the their theirs
them themselves then there there's these they they'd they'll they're they've thing things third this those
though three through to too tried try trying two under until up upon us use used using
very want wants was wasn't way we we'd we'll we're we've well went
were weren't what what's when where whether which while who who's whom whose why will with within without
won't would wouldn't yes yet you you'd you'll you're you've your yours yourself yourselves
"""
_FUNCTION_WORD_SET = frozenset(_FUNCTION_WORDS.split())


def words(text: str) -> list[str]:
    """The words of a text, case-folded, with a plain apostrophe."""
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]


def is_function_word(word: str) -> bool:
    """Whether a word says little about what a text is about."""
    return word in _FUNCTION_WORD_SET


def singular(phrase: str) -> str:
    """A phrase as the key under which its singular and plural count together."""
    return " ".join(word[:-1] if len(word) > _SHORTEST and _PLURAL.search(word) else word for word in phrase.split())


def phrases(text: str) -> set[str]:
    """The phrases of a text. A function word counts alone, or inside a phrase, or as in "top up"."""
    result: set[str] = set()
    for clause in _CLAUSE.split(_SPACED.sub("", text)):
        own = words(clause)
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


def _negates(own: list[str], i: int) -> bool:
    negation = own[i] in _NEGATIONS or own[i].endswith("n't")
    return negation and not (i + 1 < len(own) and own[i + 1] in _NO_NEGATION_BEFORE)


def _scope(own: list[str], i: int) -> list[str]:
    """The words that a negation denies."""
    scope = own[i + 1 : i + 1 + _SCOPE]
    end = next((k for k, word in enumerate(scope) if word in _SCOPE_ENDS), len(scope))
    return scope[:end]


def _is_content(word: str) -> bool:
    return len(word) >= _SHORTEST and not is_function_word(word)


def _is_phrase(run: list[str]) -> bool:
    if len(run) == 1:
        return len(run[0]) >= _SHORTEST
    if run[-1] in _PARTICLES:
        return len(run) == 2 and _is_content(run[0])
    inside = run[1:-1]
    return _is_content(run[0]) and _is_content(run[-1]) and all(_is_content(w) or w in _LINKS for w in inside)
