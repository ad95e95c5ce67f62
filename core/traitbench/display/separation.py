"""How well a trait tells its two poles apart, in words."""

from traitbench.contract.rounding import rounded

_WORDS = ((0.9, "very well"), (0.75, "well"), (0.6, "fairly"), (0.0, "hardly"))


def how_well(area: float) -> str:
    """Return the word for an AUROC or a discrimination: `very well`, `well`, `fairly` or `hardly`.

    It follows from the figure as it is shown, so that equal figures on screen have equal words.
    """
    return next(word for least, word in _WORDS if rounded(area) >= least)
