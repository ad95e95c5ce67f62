"""Verdicts in words: whether one version or encoder is better than another.

Programs read `better`, `worse`, `no_difference` and `unknown`; people read the words of this module, everywhere.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from statistics import NormalDist

from traitbench.contract.comparisons import FigureDelta, TraitDifference, VersionVerdict
from traitbench.display.text import count, shortened

VERDICTS: Mapping[VersionVerdict, str] = {
    "worse": "worse",
    "better": "better",
    "no_difference": "no difference shown",
    "unknown": "not known",
}
"""The words of each verdict, from the one that decides first to the one that decides last."""

LEVEL = 0.95
"""That of the intervals on the wire."""

_SHOWN: Sequence[VersionVerdict] = ("worse", "better")
_FEW, _MANY, _LONGEST = 3, 6, 40


def title(verdict: VersionVerdict) -> str:
    """The words of a verdict as the start of a sentence."""
    return _sentence(VERDICTS[verdict])


def sentence(verdicts: Mapping[str, VersionVerdict], a: str, b: str) -> str:
    """The verdicts by the name of the trait as a heading: `v2 is better at Warmth. Clarity: no difference shown.`

    Many traits with the same verdict are counted instead of named. `a` and `b` may begin with "the".
    """
    if not verdicts or {*verdicts.values()} == {"unknown"}:
        return f"Not known whether {b} is better than {a}"
    if {*verdicts.values()} == {"no_difference"}:
        return f"No difference shown between {a} and {b}"
    names = {each: [name for name, own in verdicts.items() if own == each] for each in VERDICTS}
    shown = [f"{each} at {_named(names[each], ' and ')}" for each in _SHOWN if names[each]]
    rest = [f"{_named(own, ', ')}: {VERDICTS[each]}" for each, own in names.items() if own and each not in _SHOWN]
    who = f"T{b[1:]}" if b.startswith("the ") else b
    return ". ".join([*([f"{who} is {', '.join(shown)}"] if shown else []), *rest])


def shown_first(traits: Mapping[str, TraitDifference]) -> tuple[list[str], list[str]]:
    """The keys of the traits to draw, those with a shown difference first, and of the others if there are many."""
    order = sorted(traits, key=lambda key: [*VERDICTS].index(traits[key].verdict))
    most = max(_FEW, sum(each.verdict in _SHOWN for each in traits.values()))
    return (order, []) if len(order) <= _MANY else (order[:most], order[most:])


def rest(traits: Mapping[str, TraitDifference], keys: Sequence[str]) -> str:
    """`9 traits: no difference shown`."""
    verdicts = [traits[key].verdict for key in keys]
    return "; ".join(
        f"{count(verdicts.count(each), 'trait')}: {words}" for each, words in VERDICTS.items() if each in verdicts
    )


def figures(traits: Mapping[str, TraitDifference]) -> int:
    """How many figures the verdicts rest on: AUROC and error of each trait with an interval."""
    return 2 * sum(each.error is not None and each.error.interval is not None for each in traits.values())


def right(error: FigureDelta, figures: int) -> tuple[float, float, tuple[float, float] | None]:
    """The share of test samples that a and b have on the right side, and the interval of the difference.

    The interval on the wire is widened to the level at which each of `figures` figures is tested (Bonferroni). So all
    intervals together are true 95 times in 100, and a picture agrees with the verdicts.
    """
    if error.interval is None:
        return 1 - error.a, 1 - error.b, None
    normal = NormalDist()
    wider = normal.inv_cdf(1 - (1 - LEVEL) / 2 / max(figures, 1)) / normal.inv_cdf((1 + LEVEL) / 2)
    low, high = (max(-1.0, min(1.0, -error.delta - wider * (end - error.delta))) for end in reversed(error.interval))
    return 1 - error.a, 1 - error.b, (low, high)


def counts(each: TraitDifference) -> tuple[int, int] | None:
    """How many test samples a and b have on the right side; None without figures, or if near duplicates count once."""
    both = [] if each.error is None else [each.n * (1 - share) for share in (each.error.a, each.error.b)]
    whole = [round(number) for number in both]
    exact = all(abs(number - nearest) < 1e-6 for number, nearest in zip(both, whole, strict=True))
    return (whole[0], whole[1]) if whole and exact else None


def points(share: float) -> str:
    """`+17`, `−3` or `0`: a difference of shares in 100."""
    return f"{round(100 * share):+d}".replace("-", "−") if round(100 * share) else "0"


def least_shown(error: FigureDelta, figures: int) -> float | None:
    """The smallest difference of a share that these test samples show, in either direction; None without an interval.

    It is half the width of the paired interval of `right`, which depends on the number of test samples and on how often
    the versions differ on one. It is no power calculation: a true difference of this size is shown half of the time.
    """
    between = right(error, figures)[2]
    return None if between is None else (between[1] - between[0]) / 2


def notes(traits: Mapping[str, TraitDifference]) -> dict[str, str]:
    """By trait key: what the verdict rests on, and of no difference the smallest one that could have been shown."""
    number = figures(traits)
    return {key: _note(each, number) for key, each in traits.items()}


def because(verdict: VersionVerdict, reason: str) -> str:
    """A reason of the service without the words of its verdict, which the reader has seen."""
    said = reason.removeprefix(f"{title(verdict)}: ")
    return said[:1].upper() + said[1:]


def overall(verdicts: Sequence[VersionVerdict]) -> VersionVerdict:
    """The verdict on all traits, by the verdicts on each: worse if one is worse, else better if one is better."""
    return next((each for each in VERDICTS if each in verdicts), "unknown")


def counted(verdicts: Sequence[VersionVerdict]) -> str:
    """How many traits have each verdict, such as `worse on 1 of 3 traits; better on 2`."""
    numbers = [(words, verdicts.count(each)) for each, words in VERDICTS.items() if each in verdicts]
    if not numbers:
        return VERDICTS["unknown"]
    (first, number), *others = numbers
    if len(verdicts) == 1:
        return first
    if not others:
        return f"{first} on {'both' if number == 2 else f'all {number:,}'} traits"
    return "; ".join([f"{first} on {number} of {count(len(verdicts), 'trait')}", *(f"{w} on {n}" for w, n in others)])


def reason(verdicts: Sequence[VersionVerdict]) -> str:
    """`counted` as a sentence."""
    return f"{_sentence(counted(verdicts))}."


def _named(names: Sequence[str], last: str) -> str:
    """The names, or how many traits there are."""
    if len(names) > _FEW:
        return count(len(names), "trait")
    return last.join(shortened(each, _LONGEST) for each in names)


def _note(each: TraitDifference, figures: int) -> str:
    error, auroc = each.error, each.auroc
    between = None if error is None else right(error, figures)[2]
    if error is None or auroc is None or between is None or between[0] == between[1]:
        return because(each.verdict, each.reason)
    low, high = between
    failing = each.must_pass.newly_failed
    must = (
        f"{count(failing, 'text')} that should never be wrong {'is' if failing == 1 else 'are'} wrong now. "
        if failing
        else ""
    )
    if each.verdict == "no_difference":
        least = ceil(100 * (least_shown(error, figures) or 0))
        return f"{count(each.n, 'test text')} can only show a difference of {least} in 100 or more."
    whole = counts(each)
    more = whole[1] - whole[0] if whole else 0
    if low > 0 or high < 0 or must:
        moved = f"{abs(more):,} {'more' if more > 0 else 'fewer'} of {each.n:,} right. " if more else ""
        return f"{must}{moved}In 100: {points(error.a - error.b)}, from {points(low)} to {points(high)}."
    return f"Of 100 pairs of a text of each pole, {100 * auroc.b:.0f} are in the right order, not {100 * auroc.a:.0f}."


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"
