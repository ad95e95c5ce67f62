"""Choose test samples, and measure a version on them: it was not trained with them.

Scores are those of a score call, as whole points. A test sample counts only if it is real and unlike every training
sample of its trait: a version has learned a near duplicate or a variation of it. The poles have equal weight in AUROC
and Brier score, and so has every group at a pole: near duplicates, and samples that belong together.

The AUROC interval is that of `auroc.interval` with all samples: unlike out of fold, all of them were scored by the same
fit.
"""

import hashlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from traitbench.fitting.auroc import auroc, group_weights, independent, interval
from traitbench.fitting.axis import pole_weights
from traitbench.fitting.collect import HashedSample, Vector, group_names, text_groups
from traitbench.fitting.duplicates import counterparts, joined, near_duplicates, together
from traitbench.scoring.inputs import Floats, SampleLike

Points = NDArray[np.int64]
Marks = NDArray[np.bool_]

_NOTHING: Mapping[str, Any] = {"auroc": None, "auroc_interval": None, "brier": None, "error": None}


class HeldOutSample(HashedSample, Protocol):
    """A test sample."""

    @property
    def must_pass(self) -> bool:
        """Whether its score has to be on its pole's side."""
        ...


@dataclass(frozen=True, eq=False)
class _Tests:
    """The test samples of a trait (n,); `is_trained` if training had the text, a near duplicate or a variation, and
    `is_divided` if it had another text of its group.
    """

    y: Floats
    texts: NDArray[np.int64]
    groups: NDArray[np.int64]
    synthesized: Marks
    must_pass: Marks
    is_trained: Marks
    is_divided: Marks

    @property
    def counted(self) -> Marks:
        """(n,): whether the figures count the sample."""
        return ~self.synthesized & ~self.is_trained & ~self.is_divided


def measure(
    tests: Sequence[HeldOutSample],
    points: Mapping[str, Points],
    trained: Sequence[HashedSample],
    vectors: Mapping[str, Vector],
) -> dict[str, dict[str, Any]]:
    """The figures by trait key, for every trait with test samples.

    `points` (n_tests,) are the scores of all tests by trait key. `trained` are the training samples of the model, and
    `vectors` (d,) those of all texts by `content_sha256`.
    """
    # By id, because a seed must come before its variations.
    every = sorted([*tests, *trained], key=lambda sample: sample.id)
    groups = text_groups(every)
    names = group_names(every, groups)
    measured = {}
    for key in dict.fromkeys(sample.trait for sample in tests):
        if key not in points:
            continue
        rows = [row for row, sample in enumerate(tests) if sample.trait == key]
        own, others = [tests[row] for row in rows], [sample for sample in trained if sample.trait == key]
        described, resembling = _described(own, others, groups, names, vectors)
        figures = _figures(described, points[key][rows])
        counted = [sample for sample, counts in zip(own, described.counted.tolist(), strict=True) if counts]
        measured[key] = {**figures, "resembling": resembling, "test_set": digest(counted)}
    return measured


def digest(samples: Iterable[HashedSample]) -> str | None:
    """A digest that is equal for figures on the same texts with the same qualities; None without samples."""
    lines = sorted(f"{sample.content_sha256} {sample.quality!r}" for sample in samples)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest() if lines else None


def wrong_side(points: Points, y: Floats) -> Marks:
    """(n,): whether a score is not on its pole's side of the middle; a quality of 0.5 has no side."""
    return ((y > 0.5) & (points <= 50)) | ((y < 0.5) & (points >= 50))


def _described(
    own: Sequence[HeldOutSample],
    trained: Sequence[HashedSample],
    groups: Mapping[int, str],
    names: Mapping[int, str],
    vectors: Mapping[str, Vector],
) -> tuple[_Tests, int]:
    """The test samples of a trait, and how many of its training samples resemble one of them."""
    X, others = (_stacked(samples, vectors) for samples in (own, trained))
    twins, their_twins = counterparts(X, others)
    mine, theirs = ([groups[sample.id] for sample in samples] for samples in (own, trained))
    shared = set(mine) & set(theirs)
    is_trained = (twins >= 0) | np.array([group in shared for group in mine], bool)
    resembling = (their_twins >= 0) | np.array([group in shared for group in theirs], bool)
    texts = joined(np.unique(mine, return_inverse=True)[1], near_duplicates(X))
    my_names, their_names = [names.get(sample.id) for sample in own], {names.get(sample.id) for sample in trained}
    tests = _Tests(
        y=np.array([sample.quality for sample in own], np.float64),
        texts=texts,
        groups=together(texts, my_names),
        synthesized=np.array([sample.provenance == "synthesized" for sample in own], bool),
        must_pass=np.array([sample.must_pass for sample in own], bool),
        is_trained=is_trained,
        is_divided=~is_trained & np.array([name is not None and name in their_names for name in my_names], bool),
    )
    return tests, int(resembling.sum())


def _stacked(samples: Sequence[HashedSample], vectors: Mapping[str, Vector]) -> NDArray[np.float32]:
    rows = np.array([vectors[sample.content_sha256] for sample in samples], np.float32)
    # Without samples the array has no second axis.
    return rows if len(samples) else rows.reshape(0, len(next(iter(vectors.values()), ())))


def _figures(tests: _Tests, points: Points) -> dict[str, Any]:
    counted = tests.counted
    y, own, groups = tests.y[counted], points[counted], tests.groups[counted]
    poles = [y > 0.5, y < 0.5]
    positive, negative = (int(pole.sum()) for pole in poles)
    wrong = wrong_side(points, tests.y)
    figures = dict(_NOTHING) if min(positive, negative) == 0 else _measured(own, y, groups, tests.texts[counted])
    if positive + negative:
        figures["error"] = float(wrong[counted].sum() / (positive + negative))
    count = len(np.unique(groups))
    return {
        **figures,
        **({"groups": count} if count < len(np.unique(tests.texts[counted])) else {}),
        "positive": positive,
        "negative": negative,
        "left_out": int((~counted).sum()),
        "must_pass": int(tests.must_pass.sum()),
        "must_pass_failed": int((wrong & tests.must_pass).sum()),
        "measured_on": _measured_on(tests, positive, negative),
    }


def _measured(points: Points, y: Floats, groups: NDArray[np.int64], texts: NDArray[np.int64]) -> dict[str, Any]:
    """The figures of samples at both poles."""
    weights = group_weights(y, groups)
    values = points.astype(np.float64)
    area = auroc(values, y, weights)
    return {
        "auroc": area,
        "auroc_interval": list(interval(area, *independent(values, y, groups, texts))),
        "brier": float(pole_weights(y, weights) @ np.square(points / 100 - y)),
    }


def _measured_on(tests: _Tests, positive: int, negative: int) -> str:
    counted = int(tests.counted.sum())
    made, trained, divided = (
        int(each.sum())
        for each in (tests.synthesized, tests.is_trained & ~tests.synthesized, tests.is_divided & ~tests.synthesized)
    )
    left_out = [f"{trained} left out because training has nearly the same text"] * (trained > 0)
    left_out += [f"{divided} left out because training has others of the same group"] * (divided > 0)
    left_out += [f"{made} left out because synthesized"] * (made > 0)
    if not counted:
        return "; ".join(["not measured", *left_out])
    side = "positive" if positive == 0 else "negative"
    one_sided = [f"no AUROC without a sample at the {side} pole"] * (min(positive, negative) == 0)
    texts, groups = (len(np.unique(each[tests.counted])) for each in (tests.texts, tests.groups))
    nearly = f", {counted - texts} of them nearly the same as another" if counted > texts else ""
    together_in = f", in {groups:,} group{'s' * (groups != 1)}" if texts > groups else ""
    return "; ".join([f"{counted} test sample{'s' * (counted != 1)}{nearly}{together_in}", *left_out, *one_sided])


SHARE = 0.2
AT_LEAST = 10
"""Test samples at each pole, and as many must remain to train with."""
_FEWEST_GROUPS = 4


class Markable(SampleLike, Protocol):
    """A sample that may be a test sample."""

    @property
    def held_out(self) -> bool:
        """Whether it is a test sample already."""
        ...


@dataclass(frozen=True)
class TooFew:
    """A trait with too few distinct texts at a pole, or too few `groups` of them: how many it has at each, and how many
    it needs.
    """

    trait: str
    positive: int
    negative: int
    needed: int
    groups: bool = False


@dataclass(frozen=True)
class Choice:
    """The samples to set aside, and the traits that keep all their samples because they have too few."""

    ids: tuple[int, ...]
    too_few: tuple[TooFew, ...]


_Pole = tuple[str, bool]


def choose(
    samples: Sequence[Markable],
    groups: Sequence[Hashable],
    texts: Sequence[Hashable] | None = None,
    *,
    share: float = SHARE,
    at_least: int = AT_LEAST,
    seed: int = 0,
) -> Choice:
    """Choose test samples; `groups` (n,) are equal for samples that belong together, and go aside as a whole.

    `texts` (n,) are equal for those that count once, by default the groups. Test samples that exist already count, so a
    second choice adds only what is missing.
    """
    poles = _poles(samples, groups, groups if texts is None else texts)
    traits = list(dict.fromkeys(trait for trait, _ in poles))
    too_few = tuple(_too_few(traits, poles, needed=2 * at_least))
    left_out = {each.trait for each in too_few}
    poles = {pole: members for pole, members in poles.items() if pole[0] not in left_out}
    aside = {group for sample, group in zip(samples, groups, strict=True) if sample.held_out}
    left = {pole: sum(size for each, size in members.items() if each not in aside) for pole, members in poles.items()}
    poles_of = _by_group(poles)
    # Not a set, whose order differs between processes.
    order = _shuffled(list(dict.fromkeys(groups)), seed)
    for pole, members in poles.items():
        total = sum(members.values())
        target = max(at_least, round(share * total))
        for group in order:
            if total - left[pole] >= target:
                break
            own = poles_of.get(group, {})
            # A group beyond the target would leave too little to train with.
            fits = own.get(pole, 0) <= target and all(left[each] - size >= at_least for each, size in own.items())
            if pole in own and group not in aside and fits:
                aside.add(group)
                left |= {each: left[each] - size for each, size in own.items()}
    chosen = (
        sample.id
        for sample, group in zip(samples, groups, strict=True)
        if group in aside and not sample.held_out and sample.trait not in left_out
    )
    return Choice(tuple(chosen), too_few)


def _poles(
    samples: Sequence[Markable], groups: Sequence[Hashable], texts: Sequence[Hashable]
) -> dict[_Pole, dict[Hashable, int]]:
    """The groups with a real sample at each pole of each trait, and how many texts they have there."""
    poles: dict[_Pole, dict[Hashable, set[Hashable]]] = defaultdict(lambda: defaultdict(set))
    for sample, group, text in zip(samples, groups, texts, strict=True):
        if sample.provenance != "synthesized" and sample.quality != 0.5:
            poles[sample.trait, sample.quality > 0.5][group].add(text)
    return {pole: {group: len(own) for group, own in members.items()} for pole, members in sorted(poles.items())}


def _by_group(poles: Mapping[_Pole, Mapping[Hashable, int]]) -> dict[Hashable, dict[_Pole, int]]:
    poles_of: dict[Hashable, dict[_Pole, int]] = defaultdict(dict)
    for pole, members in poles.items():
        for group, size in members.items():
            poles_of[group][pole] = size
    return poles_of


def _too_few(traits: Sequence[str], poles: Mapping[_Pole, Mapping[Hashable, int]], *, needed: int) -> Iterator[TooFew]:
    for trait in traits:
        own = [poles.get((trait, above), {}) for above in (True, False)]
        positive, negative = (sum(members.values()) for members in own)
        if min(positive, negative) < needed:
            yield TooFew(trait, positive, negative, needed)
        elif min(map(len, own)) < _FEWEST_GROUPS:
            yield TooFew(trait, len(own[0]), len(own[1]), _FEWEST_GROUPS, groups=True)


def _shuffled(groups: Sequence[Hashable], seed: int) -> list[Hashable]:
    return [groups[position] for position in np.random.default_rng(seed).permutation(len(groups))]
