"""Whether so many made texts were on the wrong side that the poles of a trait may be swapped.

A generator writes by the names of the poles. If the samples, or the labels in an answer, mean the opposite, more than
half of the texts still pass the exam, because it forgives a standard deviation. With the samples of the demo models as
made texts, 36 of a trait at a time, the exam rejects a median of 6 % for their side, and 31 % after the poles are
swapped. The alarm is then raised in 36 of 45 draws with swapped poles, and in 2 of 45 without, both of one trait whose
words say little about its samples.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from traitbench.synthesis import Exemplar, Reject

_SHARE, _FEWEST = 0.2, 5


def swapped(rejects: Sequence[Reject], accepted: Sequence[Exemplar], names: Mapping[str, str]) -> list[str]:
    """Return a sentence for each trait of which a generator made many texts on the wrong side; `names` are by key."""
    wrong = Counter(
        (each.exemplar.trait_key, each.exemplar.generator) for each in rejects if each.reason == "wrong_side"
    )
    judged = wrong + Counter((each.trait_key, each.generator) for each in accepted)
    return [
        f"{names[key]}: {number} of {judged[key, generator]} made texts were on the wrong side. Check whether its poles"
        " are swapped."
        for (key, generator), number in sorted(wrong.items())
        if number >= max(_FEWEST, _SHARE * judged[key, generator])
    ]
