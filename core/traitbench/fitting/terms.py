"""Texts as sets of words: their similarity, independent of any encoder, and the distinctive terms of two groups.

`kernel` compares texts by the words and word pairs they share. `Terms` ranks words and phrases by how much more often
one group of texts uses them than another. Only terms of several texts are named, so no rare name and no number of a
single text is revealed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from traitbench.fitting.phrases import is_function_word, phrases, singular, size, words

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
    alike: Floats = (weighted @ weighted.T).toarray() / np.maximum(np.outer(lengths, lengths), 1e-12)
    return alike


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
        places: NDArray[np.int64] = self.present.indices[first:last].astype(np.int64)
        return places

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
    places = [(row, column[term]) for row, own in enumerate(sets) for term in own]
    rows, columns = np.array(places, np.int64).reshape(-1, 2).T
    present = csr_array((np.ones(len(places)), (rows, columns)), shape=(len(sets), len(names)))
    present.sort_indices()
    return names, present
