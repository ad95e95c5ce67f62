"""Choose test samples at random: a share of the texts at each pole of each trait.

Texts that belong together go aside together: equal texts, near duplicates, and a text with its variations. A text that
is labelled for several traits goes aside in all of them. Only real samples count, so a synthesized one goes aside only
together with a real one. Equal samples and an equal seed give an equal choice.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from traitbench.scoring.inputs import SampleLike

SHARE = 0.2
AT_LEAST = 10
"""Test samples at each pole, and as many must remain to train with."""


class Markable(SampleLike, Protocol):
    """A sample that may be a test sample."""

    @property
    def held_out(self) -> bool:
        """Whether it is a test sample already."""
        ...


@dataclass(frozen=True)
class TooFew:
    """A trait with too few distinct texts at a pole: how many it has at each, and how many it needs."""

    trait: str
    positive: int
    negative: int
    needed: int


@dataclass(frozen=True)
class Choice:
    """The samples to set aside, and the traits that keep all their samples because they have too few."""

    ids: tuple[int, ...]
    too_few: tuple[TooFew, ...]


_Pole = tuple[str, bool]


def choose(
    samples: Sequence[Markable],
    groups: Sequence[Hashable],
    *,
    share: float = SHARE,
    at_least: int = AT_LEAST,
    seed: int = 0,
) -> Choice:
    """Choose test samples; `groups` (n,) are equal for samples that belong together.

    Test samples that exist already count, so a second choice adds only what is missing.
    """
    poles = _poles(samples, groups)
    traits = list(dict.fromkeys(trait for trait, _ in poles))
    too_few = tuple(_too_few(traits, poles, needed=2 * at_least))
    left_out = {each.trait for each in too_few}
    poles = {pole: members for pole, members in poles.items() if pole[0] not in left_out}
    aside = {group for sample, group in zip(samples, groups, strict=True) if sample.held_out}
    left = {pole: len(members - aside) for pole, members in poles.items()}
    poles_of = _by_group(poles)
    order = _shuffled(list(dict.fromkeys(groups)), seed)
    for pole, members in poles.items():
        target = max(at_least, round(share * len(members)))
        for group in order:
            if len(members) - left[pole] >= target:
                break
            own = poles_of.get(group, ())
            if pole in own and group not in aside and all(left[each] > at_least for each in own):
                aside.add(group)
                left |= {each: left[each] - 1 for each in own}
    chosen = (
        sample.id
        for sample, group in zip(samples, groups, strict=True)
        if group in aside and not sample.held_out and sample.trait not in left_out
    )
    return Choice(tuple(chosen), too_few)


def _poles(samples: Sequence[Markable], groups: Sequence[Hashable]) -> dict[_Pole, set[Hashable]]:
    """The groups with a real sample at each pole of each trait."""
    poles: dict[_Pole, set[Hashable]] = defaultdict(set)
    for sample, group in zip(samples, groups, strict=True):
        if sample.provenance != "synthesized" and sample.quality != 0.5:
            poles[sample.trait, sample.quality > 0.5].add(group)
    return dict(sorted(poles.items()))


def _by_group(poles: Mapping[_Pole, set[Hashable]]) -> dict[Hashable, list[_Pole]]:
    poles_of: dict[Hashable, list[_Pole]] = defaultdict(list)
    for pole, members in poles.items():
        for group in members:
            poles_of[group].append(pole)
    return poles_of


def _too_few(traits: Sequence[str], poles: Mapping[_Pole, set[Hashable]], *, needed: int) -> Iterator[TooFew]:
    for trait in traits:
        positive, negative = (len(poles.get((trait, above), ())) for above in (True, False))
        if min(positive, negative) < needed:
            yield TooFew(trait, positive, negative, needed)


def _shuffled(groups: Sequence[Hashable], seed: int) -> list[Hashable]:
    return [groups[place] for place in np.random.default_rng(seed).permutation(len(groups))]
