"""Figures from 0 to 1 in a few decimals, rounded so that they never look better than they are.

Pages, charts, cards, the notebook and the command line share it.
"""

_LIMITS = (0.5, 1.0)


def rounded(value: float, digits: int = 2) -> float:
    """Return the figure with that many decimals; it is not rounded up to chance (0.5) or to perfect (1).

    So 0.998 becomes 0.99 and 0.497 becomes 0.49, while 1 stays 1 and 0.502 becomes 0.5.
    """
    nearest = round(value, digits)
    if value < nearest and nearest in _LIMITS:
        return round(nearest - 10.0**-digits, digits)
    return nearest


def in_decimals(value: float, digits: int = 2) -> str:
    """Return the rounded figure as text: `0.92`."""
    return f"{rounded(value, digits):.{digits}f}"
