"""Choose the media type of an answer by the `Accept` header (RFC 9110, 12.5.1).

The most specific range decides the weight of an offer. Between equal weights, an offer that is named precedes one that
only a wildcard covers; then the service's own order decides. Parameters other than `q` are ignored.
"""

from collections.abc import Sequence

from traitbench.errors import NotAcceptable


def negotiate(accept: str, offers: Sequence[str]) -> str:
    """Return the best of `offers`, or the first if `accept` is empty; raise `NotAcceptable` if none is accepted."""
    if not accept.strip() or accept == "*/*":
        return offers[0]
    ranges = dict(_range(part) for part in accept.split(","))
    best = max(offers, key=lambda offer: _weight(offer, ranges))
    if _weight(best, ranges)[0] <= 0.0:
        raise NotAcceptable(
            f"The answer can be {' or '.join(offers)}; the Accept header accepts none of these.",
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
    """Return the weight and specificity of an offer; the weight is 0.0 if no range covers it."""
    covering = (offer, f"{offer.partition('/')[0]}/*", "*/*")
    for specificity, name in zip((2, 1, 0), covering, strict=True):
        if name in ranges:
            return ranges[name], specificity
    return 0.0, 0
