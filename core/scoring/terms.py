"""Texts as sets of words: their similarity, independent of any encoder, and the distinctive terms of two groups.

`kernel` compares texts by the words and word pairs they share. `distinctive_terms` ranks words by how much more often
one group of texts uses them than another. Only words that occur in several texts are named, so no rare name and no
number of a single text is revealed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SHORTEST = 3
_PRIOR_TEXTS = 10.0
_MANY_TEXTS = 60

_FUNCTION_WORDS = """
a about above after again all also although always am an and another any anything are aren't as at away back
be because been before being below between both but by came can can't cannot come could couldn't did didn't do
does doesn't doing don't done down during each eight either else enough even ever every everything few first
five for four from further get gets getting give given go goes going gone got had hadn't has hasn't have
haven't having he he's her here hers herself him himself his how however i i'd i'll i'm i've if in into is
isn't it it'll it's its itself just keep let let's like made make makes many may maybe me might more most much
must my myself neither never nine no nobody none nor not nothing now of off often on once one only onto or
other others our ours ourselves out over own perhaps quite rather really said same say says second see seven
she she's should shouldn't since six so some something still such take ten than that that's the their theirs
them themselves then there there's these they they'd they'll they're they've thing things third this those
though three through to too two under until up upon us very was wasn't we we'd we'll we're we've well went
were weren't what what's when where whether which while who who's whom whose why will with within without
won't would wouldn't yes yet you you'd you'll you're you've your yours yourself yourselves
"""
_FUNCTION_WORD_SET = frozenset(_FUNCTION_WORDS.split())


def words(text: str) -> list[str]:
    """The words of a text, case-folded, with a plain apostrophe."""
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]


def kernel(texts: Sequence[str]) -> Floats:
    """(n, n): the cosine of every two texts by their words and word pairs, weighted by inverse document frequency."""
    grams = [[*own, *map(" ".join, pairwise(own))] for own in map(words, texts)]
    _, present = _incidence([set(own) for own in grams])
    rarity = np.log((1 + len(texts)) / (1 + present.sum(axis=0))) + 1
    weighted = present.multiply(rarity).tocsr()
    lengths = np.sqrt(weighted.multiply(weighted).sum(axis=1))
    alike: Floats = (weighted @ weighted.T).toarray() / np.maximum(np.outer(lengths, lengths), 1e-12)
    return alike


def distinctive_terms(
    texts: Sequence[str], high: NDArray[np.bool_], low: NDArray[np.bool_]
) -> tuple[list[str], list[str]]:
    """The distinctive words of the texts `high` (n,) against those of `low`, and the reverse, most distinctive first.

    The measure is the z-score of the log-odds ratio with an informative prior from all texts (Monroe, Colaresi and
    Quinn, Political Analysis 16, 2008, 372-403). Unlike there, it counts texts that have the word, not occurrences.
    Function words come last.
    """
    names, present = _incidence([set(words(text)) for text in texts])
    everywhere = present.sum(axis=0)
    above, below = present[high].sum(axis=0), present[low].sum(axis=0)
    prior = _PRIOR_TEXTS * (everywhere + 0.5) / (len(texts) + 1)
    odds = _log_odds(above + prior, high.sum() + _PRIOR_TEXTS) - _log_odds(below + prior, low.sum() + _PRIOR_TEXTS)
    z_scores = odds / np.sqrt(1 / (above + prior) + 1 / (below + prior))
    common = everywhere >= (3 if len(texts) >= _MANY_TEXTS else 2)
    return _ranked(names, z_scores, common), _ranked(names, -z_scores, common)


def _ranked(names: Sequence[str], z_scores: Floats, common: NDArray[np.bool_]) -> list[str]:
    usable = [
        (names[i] in _FUNCTION_WORD_SET, -z_scores[i], names[i])
        for i in np.flatnonzero(common & (z_scores > 1)).tolist()
        if len(names[i]) >= _SHORTEST
    ]
    return [name for _, _, name in sorted(usable)]


def _log_odds(count: Floats, total: float) -> Floats:
    odds: Floats = np.log(count / (total - count))
    return odds


def _incidence(sets: Sequence[Iterable[str]]) -> tuple[list[str], csr_array]:
    """Terms in alphabetical order, and (n_texts, n_terms) with 1 where the text has the term."""
    names = sorted(Counter(term for own in sets for term in own))
    column = {name: i for i, name in enumerate(names)}
    places = [(row, column[term]) for row, own in enumerate(sets) for term in own]
    rows, columns = np.array(places, np.int64).reshape(-1, 2).T
    present = csr_array((np.ones(len(places)), (rows, columns)), shape=(len(sets), len(names)))
    present.sort_indices()
    return names, present
