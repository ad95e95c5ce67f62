"""Which media type an answer takes (RFC 9110, 12.5.1): the offer that `Accept` weighs most.

The most specific range decides an offer's weight. Between equal weights the offer that was named goes before one that
only a wildcard covers, then the service's own order decides. Parameters other than `q` are not looked at.
"""

from collections.abc import Sequence

from traitbench.errors import NotAcceptable


def negotiate(accept: str, offers: Sequence[str]) -> str:
    """The best of `offers`; the first when `accept` is empty. Raise `NotAcceptable` when none is accepted."""
    if not accept.strip() or accept == "*/*":
        return offers[0]
    ranges = dict(_range(part) for part in accept.split(","))
    best = max(offers, key=lambda offer: _weight(offer, ranges))
    if _weight(best, ranges)[0] <= 0.0:
        raise NotAcceptable(
            f"The answer can be {' or '.join(offers)}; the Accept header takes none of these.",
            details={"offers": [*offers]},
        )
    return best


def _range(part: str) -> tuple[str, float]:
    name, *parameters = (piece.strip().lower() for piece in part.split(";"))
    weights = [value.strip() for key, _, value in (piece.partition("=") for piece in parameters) if key.strip() == "q"]
    try:
        return name, min(1.0, float(weights[0])) if weights else 1.0
    except ValueError:
        return name, 0.0


def _weight(offer: str, ranges: dict[str, float]) -> tuple[float, int]:
    """Weight and specificity, 0.0 when nothing covers the offer."""
    covering = (offer, f"{offer.partition('/')[0]}/*", "*/*")
    for specificity, name in zip((2, 1, 0), covering, strict=True):
        if name in ranges:
            return ranges[name], specificity
    return 0.0, 0
