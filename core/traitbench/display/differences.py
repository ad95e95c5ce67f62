"""Words for the differences of a comparison: which text is higher on a trait, and whether that is sure."""

from collections.abc import Mapping

from traitbench.contract.scores import Comparison
from traitbench.display.barchart import TOTAL

_SURE: Mapping[int, str] = {1: "{} is higher (sure)", -1: "{} is lower (sure)"}
_NO_SURE_DIFFERENCE = "no sure difference"
_NOT_KNOWN = "not known if the difference is sure"


def verdict(delta: int, certain: bool | None, *, second: str = "b") -> str:
    """`b is higher (sure)`, `no sure difference`, or that the version cannot judge it; `second` names the text."""
    if certain is None:
        return _NOT_KNOWN
    sign = (delta > 0) - (delta < 0)
    return _SURE[sign].format(second) if certain else _NO_SURE_DIFFERENCE


def leaning(delta: int, certain: bool | None, *, positive_label: str, negative_label: str) -> str:
    """`closer to warm`, or `no sure difference`: where the second text is compared with the first."""
    if certain is False or not delta:
        return _NO_SURE_DIFFERENCE
    return f"closer to {positive_label if delta > 0 else negative_label}"


def sentences(comparison: Comparison, names: Mapping[str, str], *, second: str = "b") -> list[str]:
    """One sentence for each verdict with the names of its traits, then one for the composite of several traits."""
    by_verdict: dict[str, list[str]] = {}
    for key, each in comparison.per_trait.items():
        by_verdict.setdefault(verdict(each.delta, each.certain, second=second), []).append(names.get(key, key))
    said = [f"{_capitalized(words)}: {', '.join(traits)}." for words, traits in by_verdict.items()]
    if len(comparison.per_trait) > 1:
        total = verdict(comparison.improvement, comparison.certain, second=second)
        said.append(f"{TOTAL}: {total}.")
    return said


def _capitalized(words: str) -> str:
    return words[:1].upper() + words[1:]
