"""How often a version is right on texts it has not seen, in plain words: `about 9 in 10 right`.

The share is of test samples if there are any, else of samples that were scored out of fold. A figure that flatters is
said as what it is. Such are a share that always answering one pole gets too, a figure of texts that share a shortcut,
and an AUROC near 1 of few samples. Samples that belong together tell no more than their groups.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt

from traitbench.contract.metrics import POLES, Interval, Metrics, Pole, ShortcutFigures, TraitMetrics
from traitbench.contract.rounding import in_decimals, rounded
from traitbench.contract.traits import Trait
from traitbench.display.text import count

_Z = 1.96
_SEPARATES = ((0.9, "very well"), (0.75, "well"), (0.6, "fairly"), (0.0, "hardly"))
_STABLE = ((0.9, "very"), (0.75, "quite"), (0.0, "moderately"))
_UNSURE = 0.2
_NEARLY_ALL = 0.975
_NEAR_ONE = 0.98
_FAR_BELOW = 0.15


@dataclass(frozen=True)
class Evidence:
    """How many of the samples that a version had not seen are on their pole's side.

    `auroc` is the mean over `traits` traits; `interval` is that of a single trait. `larger` is how many samples are at
    the larger pole of each trait, and `pole` is that pole of a single trait. `shortcuts` are those of the traits, by
    key. `weakest` is the evidence on the trait that is right least often, if it is far below the rest. `groups` is how
    many groups the samples are in, if they belong together, else 0; `is_shown` says whether these groups show that the
    version is better than a guess.
    """

    right: int
    samples: int
    on_tests: bool
    auroc: float | None
    interval: Interval | None
    traits: int = 1
    larger: int = 0
    pole: Pole | None = None
    shortcuts: Mapping[str, ShortcutFigures] = field(default_factory=dict)
    trait: str = ""
    weakest: "Evidence | None" = None
    groups: int = 0
    is_shown: bool = True

    @property
    def share(self) -> float:
        """The share that is right."""
        return self.right / self.samples

    @property
    def wrong(self) -> int:
        """How many are on the wrong side."""
        return self.samples - self.right

    @property
    def in_words(self) -> str:
        """`about 9 in 10`, `nearly all`, or `all 20`."""
        return _in_words(self.right, self.samples)

    @property
    def is_guessed(self) -> bool:
        """Whether always answering the larger pole is right as often, or sounds the same in words; or whether too few
        groups of samples show more.
        """
        return not self.is_shown or self._is_as_larger

    @property
    def _is_as_larger(self) -> bool:
        return self.larger >= self.right or _in_words(self.larger, self.samples) == self.in_words

    @property
    def is_shared(self) -> bool:
        """Whether the samples share a shortcut with those that the version learned from."""
        return any(not self.on_tests or each.in_tests for each in self.shortcuts.values())

    @property
    def in_short(self) -> str:
        """`about 9 in 10 right`; less if the figure flatters."""
        if self.is_guessed:
            return f"{self._guess} than a guess"
        return f"{self.in_words} right{' on texts with its shortcut' if self.is_shared else ''}{self._at_worst}"

    @property
    def title(self) -> str:
        """`About 9 in 10 right on texts it has not seen`; less if the figure flatters or is of few samples."""
        if self.is_guessed:
            return f"{self._guess[0].upper()}{self._guess[1:]} than a guess"
        right = f"{self.in_words[0].upper()}{self.in_words[1:]} right"
        if self.is_shared:
            return f"{right}, but only on texts that have the same shortcut"
        right += self.few or " on texts it has not seen"
        return f"{right}{self._at_worst}"

    @property
    def _guess(self) -> str:
        return "no better" if self._is_as_larger else "not shown to be better"

    @property
    def _at_worst(self) -> str:
        """`, about 6 in 10 on its weakest trait`; empty if no trait is far below the rest."""
        return "" if self.weakest is None else f", {self.weakest.in_words} on its weakest trait"

    def lead(self, traits: Sequence[Trait]) -> str:
        """The counts behind the title, and those of always guessing one pole, as plain text without figures."""
        verb = "falls" if self.right == 1 else "fall"
        samples = count(self.samples, "test sample" if self.on_tests else "sample")
        samples += f" in {count(self.groups, 'group')}" if self.groups else ""
        said = f"{self.right:,} of {samples} {verb} on the side of their label."
        if not self.larger:
            return said
        side = self._label(traits) or ("the larger side" if self.traits > 1 or self.pole else "one side")
        return f"{said} Always guessing {side} would get {self.larger:,}."

    def _label(self, traits: Sequence[Trait]) -> str:
        """`“warm”`: the larger pole of a single trait; empty if there is none."""
        own = next((each for each in traits if self.traits == 1 and self.pole and each.key == self.trait), None)
        return "" if own is None else f"“{own.positive_label if self.pole == 'positive' else own.negative_label}”"

    def says(self, who: str, traits: Sequence[Trait]) -> str:
        """`v1 gets about 9 in 10 right on texts it has not seen`; less if the figure flatters, as plain text."""
        if not self.is_shown and not self._is_as_larger:
            return (
                f"{who} is not shown to be better than a guess: {count(self.groups, 'group')} of samples say too little"
            )
        if self.is_guessed:
            answer = self._label(traits) or ("the more frequent pole" if self.traits > 1 else "either pole")
            only = " on texts with the same shortcut" if self.is_shared else ""
            guess = _in_words(self.larger, self.samples)
            too = " too" if guess == self.in_words else ""
            return f"{who} is no better than a guess: always answering {answer} gets {guess} right{too}{only}"
        if self.is_shared:
            return f"{who} gets {self.in_words} right, but only on texts that have the same shortcut"
        right = f"{self.in_words} right{self.few or ' on texts it has not seen'}"
        return f"{who} gets {right}{self._at_worst}"

    def warnings(self, traits: Sequence[Trait]) -> list[str]:
        """One sentence for each shortcut, as plain text; read them before any figure."""
        own = {trait.key: trait for trait in traits}
        return [
            f"{own[key].name}: {each.claim(own[key].positive_label, own[key].negative_label)}."
            if key in own
            else f"{key}: {each.claim()}."
            for key, each in self.shortcuts.items()
        ]

    def below(self, traits: Sequence[Trait]) -> str:
        """The sentences below the title, as plain text without AUROC: warnings, counts, and how much they tell."""
        return " ".join(filter(None, (*self.warnings(traits), self.lead(traits), self.doubt)))

    @property
    def figure(self) -> str:
        """`AUROC 0.92, 0.87 to 0.96`; empty if it was not measured."""
        if self.auroc is None:
            return ""
        if self.traits > 1:
            return f"mean AUROC {in_decimals(self.auroc)} of {self.traits} traits"
        between = f", {' to '.join(map(in_decimals, self.interval))}" if self.interval else ""
        return f"AUROC {in_decimals(self.auroc)}{between}"

    @property
    def few(self) -> str:
        """`, from few test samples`, which names what is few; empty without a doubt."""
        few = "groups" if self.groups else "test samples" if self.on_tests else "samples"
        return f", from few {few}" if self.doubt else ""

    @property
    def doubt(self) -> str:
        """A sentence if there is so little evidence that the true share may be quite different; else empty."""
        units, what = (self.groups, "group") if self.groups else (self.samples, "sample")
        low, high = wilson(self.share * units, units)
        area, least = self.auroc or 0.0, self.interval[0] if self.interval else 1.0
        if area >= _NEAR_ONE > least and not self.is_shared:
            return (
                f"With only {count(units, what)}, this may be luck, or a shortcut that these texts share: "
                f"the true share may be as low as {round(100 * low)} in 100."
            )
        if high - low <= _UNSURE:
            return ""
        return (
            f"This is little evidence: with {count(units, what)}, the true share may be anywhere from "
            f"{round(100 * low)} to {round(100 * high)} in 100."
        )


def _in_words(right: int, samples: int) -> str:
    if right == samples:
        return f"all {samples:,}"
    share = right / samples
    if share >= _NEARLY_ALL:
        return "nearly all"
    tenths = round(10 * share)
    return "more than 9 in 10" if tenths == 10 else f"about {tenths} in 10"


def evidence_of(key: str, figures: TraitMetrics) -> Evidence | None:
    """The evidence on one trait; None if nothing was measured."""
    test = figures.test
    shortcuts = {} if figures.shortcut is None else {key: figures.shortcut}
    if test is not None and test.error is not None and test.samples:
        right = test.samples - round(test.error * test.samples)
        larger, pole = _larger(test.positive, test.negative)
        return Evidence(
            right,
            test.samples,
            True,
            test.auroc,
            test.auroc_interval,
            1,
            larger,
            pole,
            shortcuts,
            trait=key,
            groups=test.groups,
            is_shown=_is_shown(test.groups, test.auroc_interval),
        )
    known = (figures.confidence or {}).values()
    samples, right = sum(each.samples for each in known), sum(each.right for each in known)
    if not samples or figures.auroc is None:
        return None
    tiers = figures.confusion or {}
    larger, pole = _larger(*(sum(tiers[each].values()) if each in tiers else 0 for each in POLES))
    measured = (figures.auroc, figures.auroc_interval, 1, larger, pole, shortcuts)
    groups = figures.counts.get("groups", 0)
    shown = _is_shown(groups, figures.auroc_interval)
    return Evidence(right, samples, False, *measured, trait=key, groups=groups, is_shown=shown)


def _is_shown(groups: int, interval: Interval | None) -> bool:
    """Whether the groups show that a trait is better than a guess; samples of which each is its own group do."""
    return not groups or (interval is not None and interval[0] > 0.5)


def _larger(positive: int, negative: int) -> tuple[int, Pole | None]:
    """How many samples are at the larger pole, and which it is; None if both are equal."""
    if positive == negative:
        return positive, None
    return max(positive, negative), "positive" if positive > negative else "negative"


def by_trait(metrics: Metrics) -> dict[str, Evidence]:
    """The evidence by trait key, the weakest trait first; traits that were not measured are left out."""
    known = {key: evidence for key, each in metrics.traits.items() if (evidence := evidence_of(key, each))}
    return dict(sorted(known.items(), key=lambda each: (each[1].share, each[1].auroc or 0.0)))


def evidence_on(known: Mapping[str, Evidence]) -> Evidence | None:
    """The evidence on several traits together; None without any.

    If some traits have test samples, only these traits count. The shortcuts of all are kept.
    """
    tested = [each for each in known.values() if each.on_tests]
    together = _together(tested or known.values())
    every = {key: shortcut for each in known.values() for key, shortcut in each.shortcuts.items()}
    return None if together is None else replace(together, shortcuts=every)


def _together(parts: Iterable[Evidence]) -> Evidence | None:
    every = list(parts)
    if len(every) < 2:
        return every[0] if every else None
    areas = [each.auroc for each in every if each.auroc is not None]
    mean = sum(areas) / len(areas) if areas else None
    right, samples, larger = (sum(getattr(each, name) for each in every) for name in ("right", "samples", "larger"))
    low = min(every, key=lambda each: each.share)
    weakest = low if low.share <= right / samples - _FAR_BELOW else None
    groups = sum(each.groups or each.samples for each in every) if any(each.groups for each in every) else 0
    return Evidence(
        *(right, samples, every[0].on_tests, mean, None, len(every), larger),
        weakest=weakest,
        groups=groups,
        is_shown=any(each.is_shown for each in every),
    )


def wilson(right: float, samples: int) -> Interval:
    """The 95 % interval of a share (Wilson, 1927)."""
    share, spread = right / samples, _Z**2 / samples
    middle = (share + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * sqrt(share * (1 - share) / samples + spread / (4 * samples))
    return max(0.0, middle - half), min(1.0, middle + half)


def how_well(area: float) -> str:
    """Return the word for an AUROC or a discrimination: `very well`, `well`, `fairly` or `hardly`.

    It follows from the figure as it is shown, so that equal figures on screen have equal words.
    """
    return next(word for least, word in _SEPARATES if rounded(area) >= least)


def how_stable(similarity: float) -> str:
    """Return the word for the similarity of the axes of two halves of the texts: `very`, `quite` or `moderately`."""
    return next(word for least, word in _STABLE if rounded(similarity) >= least)
