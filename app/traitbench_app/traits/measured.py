"""How well a version separates the sides of each trait, and the title and subtitle of the Traits page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from traitbench.contract.metrics import ScoreCounts, TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.quality import Evidence
from traitbench.display.text import count, plain, shortened
from traitbench_app.parts.model_actions import origin_of
from traitbench_app.shell.service import client

MANY = 5
"""With more traits than this, the page lists them instead of a card for each."""

Separation = Literal["apart", "hardly", "not trained"]

_HARDLY = 2 / 3
_NAME = 40


@dataclass(frozen=True)
class MeasuredTrait:
    """A trait, and how many of its samples have each held-out score by pole; None if that was not measured.

    Then `why` says why not, in Markdown; it is empty before the first training.
    """

    trait: Trait
    counts: ScoreCounts | None = None
    why: str = ""

    @property
    def right(self) -> int:
        """How many samples are on the side of their label; a score of 50 is on neither side."""
        return sum(self.counts["positive"][51:]) + sum(self.counts["negative"][:50]) if self.counts else 0

    @property
    def samples(self) -> int:
        """How many samples were measured."""
        return sum(map(sum, self.counts.values())) if self.counts else 0

    @property
    def wrong(self) -> int:
        """How many measured samples are not on the side of their label."""
        return self.samples - self.right

    @property
    def separation(self) -> Separation:
        """How well the two sides are separated."""
        if not self.samples:
            return "not trained"
        return "hardly" if self.right < _HARDLY * self.samples else "apart"


def source_of(model: Model) -> tuple[Model, Version] | None:
    """Return the version whose figures the page shows, with its model: the one in use or, for a draft that is not
    trained, the one that the draft was made from. None if there is none, or if it cannot be read.
    """
    owner, number = model, model.version_no
    if number is None and model.forked_from is not None and model.forked_from.version_no is not None:
        origin = origin_of(model)
        if origin is None:
            return None
        owner, number = origin, model.forked_from.version_no
    if number is None:
        return None
    listed = client().versions.list(owner.handle)
    version = next((each for each in listed if each.version_no == number), None)
    return None if version is None else (owner, version)


def measured(traits: Sequence[Trait], version: Version | None, before: Sequence[Trait] = ()) -> list[MeasuredTrait]:
    """Return the traits with their figures of a version.

    `before` are the traits of the model that the version belongs to, if that is another one: where a draft has
    exchanged the poles of a trait, the figures are exchanged too.
    """
    labels = {each.key: (each.negative_label, each.positive_label) for each in before}
    result = []
    for trait in traits:
        figures = None if version is None else version.metrics.traits.get(trait.key)
        counts = None if figures is None else figures.score_counts
        now = (trait.negative_label, trait.positive_label)
        if counts is not None and now[0] != now[1] and labels.get(trait.key) == now[::-1]:
            counts = {"positive": counts["negative"][::-1], "negative": counts["positive"][::-1]}
        result.append(MeasuredTrait(trait, counts, "" if version is None or counts else _why_none(version, figures)))
    return result


def _why_none(version: Version, figures: TraitMetrics | None) -> str:
    name = f"v{version.version_no}"
    if figures is None:
        return f"Not part of {name}. After training, its samples are dots here."
    if figures.why_not:
        return f"Not measured in {name}: {plain(figures.why_not.partition(';')[0])}."
    return f"{name} is of an older release, which did not count the scores of its samples. Train again to see them."


def weakest_first(every: Sequence[MeasuredTrait]) -> list[MeasuredTrait]:
    """Sort by the share that is right. What is not trained but has samples comes first, and what has none last."""

    def rank(each: MeasuredTrait) -> tuple[int, float]:
        if each.samples:
            return 1, each.right / each.samples
        return (0, 0.0) if each.trait.stored_samples else (2, 0.0)

    return sorted(every, key=rank)


def title_of(every: Sequence[MeasuredTrait]) -> tuple[str, str]:
    """Return the title and the line below it, both as Markdown."""
    number, trained = count(len(every), "trait"), [each for each in every if each.samples]
    if not trained:
        if why := next((each.why for each in every if each.why), ""):
            return f"{number}, not measured", why
        return f"{number}, not trained yet", "After training, a dot is a sample, and a ring is on the wrong side."
    hardly, apart = ([each for each in trained if each.separation == separation] for separation in ("hardly", "apart"))
    rest = len(every) - len(trained)
    said = [_hardly(hardly)] if hardly else []
    if rest:
        said.append(f"{rest} {'is' if rest == 1 else 'are'} not trained")
    if len(every) > MANY and said:
        others = f"The other {_is(len(apart))} {_in_words(apart)}." if apart else ""
        return f"{number}: {', '.join(said)}", " ".join(filter(None, (others, "Weakest first.")))
    weakest = min(trained, key=lambda each: each.right / each.samples)
    best = max(trained, key=lambda each: each.right / each.samples)
    if not hardly and weakest.right / weakest.samples < best.right / best.samples:
        said.insert(0, f"{_name(weakest)} least")
    right, samples = sum(each.right for each in trained), sum(each.samples for each in trained)
    lead = (
        f"{right:,} of {count(samples, 'sample')} {'falls' if right == 1 else 'fall'} on the side of their label. "
        "A dot is a sample, a ring is on the wrong side."
    )
    return f"{number}: {', '.join([_in_words(trained), *said])}", lead


def _in_words(every: Sequence[MeasuredTrait]) -> str:
    """`about 9 in 10 right`."""
    right, samples = sum(each.right for each in every), sum(each.samples for each in every)
    return f"{Evidence(right, samples, on_tests=False, auroc=None, interval=None).in_words} right"


def _hardly(every: Sequence[MeasuredTrait]) -> str:
    names = f"{len(every)} are" if len(every) > 1 else f"{_name(every[0])} is"
    return f"{names} hardly told apart"


def _is(number: int) -> str:
    return "one is" if number == 1 else f"{number} are"


def _name(each: MeasuredTrait) -> str:
    return plain(shortened(each.trait.name, _NAME))
