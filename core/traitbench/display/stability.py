"""How stable a discovered axis is, in words."""

from traitbench.contract.rounding import rounded

_WORDS = ((0.9, "very"), (0.75, "quite"), (0.0, "moderately"))


def how_stable(similarity: float) -> str:
    """Return the word for the similarity of the axes of two halves of the texts: `very`, `quite` or `moderately`."""
    return next(word for least, word in _WORDS if rounded(similarity) >= least)
