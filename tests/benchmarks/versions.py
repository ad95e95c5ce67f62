"""Whether a comparison of two versions is right: coverage of its intervals, and its verdicts on pairs of known truth.

    python -m tests.benchmarks.versions --data FOLDER [--quick]

Two versions are trained on real samples, and all test texts of the set say which one is truly better. Then a few of
these texts at a time, drawn with replacement, are the test samples of a comparison. So the truth is known exactly.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tests.benchmarks import kept, protocol
from tests.benchmarks.page import Measured, Table, run
from tests.benchmarks.scorers import fitted
from traitbench.comparison.paired import LEVEL, auroc_difference, error_difference, on_side
from traitbench.scoring.card import half_up, of_vectors
from traitbench.scoring.snapshot import Snapshot

Floats = NDArray[np.float64]

KS = (8, 32, 128)
SIZES = (10, 20, 40, 100, 200, 400)
KINDS = ("same samples", "another draw", "20 % of labels flipped", "twice the samples")
_FLIPPED = 0.2
_MOST_TEXTS = 800  # of a set, as the truth
_COPIES = 3  # near duplicates of each text in the clustered draws


@dataclass(frozen=True, eq=False)
class Pair:
    """The positions of all test texts by two versions, their poles, and how the versions differ."""

    name: str
    k: int
    kind: str
    a: Floats
    b: Floats
    y: Floats

    def drawn(self, rows: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
        """The positions and poles of some texts."""
        return self.a[rows], self.b[rows], self.y[rows]


def pairs(folder: Path, *, sets: Sequence[str], ks: Sequence[int], seeds: int) -> Iterator[Pair]:
    """All pairs of versions."""
    for name in sets:
        data = protocol.load(name, folder)
        texts, truth = data.test[:_MOST_TEXTS], data.truth[:_MOST_TEXTS]
        y = (truth > (np.median(truth) if data.graded else 0.5)).astype(np.float64)
        vectors = kept.vectors(texts)
        for k in ks:
            for seed in range(seeds):
                trainings = dict(_trainings(data, k, seed, other_seed=seeds + seed))
                positions = {
                    kind: of_vectors(_trained(data, *training), vectors)[:, 0] for kind, training in trainings.items()
                }
                yield from (Pair(name, k, kind, positions[KINDS[0]], second, y) for kind, second in positions.items())


def _trainings(
    data: protocol.Data, k: int, seed: int, *, other_seed: int
) -> Iterator[tuple[str, tuple[NDArray[np.int64], Floats]]]:
    """By kind: the samples and qualities of a version; none if the set is too small."""
    chosen, other = protocol.sample(data, 2 * k, seed), protocol.sample(data, k, other_seed)
    if chosen is None or other is None:
        return
    # Of either pole the first k; those of a graded set, which lie along the scale, every second one.
    half = chosen[::2] if data.graded else np.concatenate([chosen[:k], chosen[2 * k : 3 * k]])
    quality = data.quality[half].copy()
    wrong = np.random.default_rng([seed, k]).permutation(len(half))[: round(_FLIPPED * len(half))]
    quality[wrong] = 1 - quality[wrong]
    qualities = (data.quality[half], data.quality[other], quality, data.quality[chosen])
    yield from zip(KINDS, zip((half, other, half, chosen), qualities, strict=True), strict=True)


def _trained(data: protocol.Data, rows: NDArray[np.int64], quality: Floats) -> Snapshot:
    train = [data.pool[int(row)] for row in rows]
    return fitted(train, quality.tolist(), trait=vars(data.trait), effort="low", labels=True).snapshot


def measure(folder: Path, *, sets: Sequence[str], ks: Sequence[int], seeds: int, draws: int) -> Measured:
    """Coverage and verdicts over all pairs."""
    covered: Counter[tuple[str, ...]] = Counter()
    verdicts: Counter[tuple[str, str, str]] = Counter()
    lot = np.random.default_rng(13)
    with threadpool_limits(limits=1):
        for pair in pairs(folder, sets=sets, ks=ks, seeds=seeds):
            for size in SIZES:
                for _ in range(draws):
                    _draw(pair, size, lot, covered, verdicts)
    figures = {"covered": [[*key, n] for key, n in sorted(covered.items())]}
    return Measured([_coverage(covered), _verdicts(verdicts)], figures)


def _draw(
    pair: Pair, size: int, lot: np.random.Generator, covered: Counter[tuple[str, ...]], verdicts: Counter[Any]
) -> None:
    """One comparison on so many test samples, and one more in which each text has near duplicates."""
    truth = _true_differences(pair)
    rows = np.concatenate([lot.choice(np.flatnonzero(pair.y == pole), size // 2) for pole in (1.0, 0.0)])
    copies = np.repeat(rows[:: _COPIES - 1], _COPIES)
    for form, own, groups in (
        ("alone", rows, np.arange(len(rows))),
        ("near duplicates", copies, np.repeat(np.arange(len(copies) // _COPIES), _COPIES)),
    ):
        a, b, y = pair.drawn(own)
        for figure, difference, true in zip(
            ("AUROC", "error"), _differences(a, b, y, groups, LEVEL), truth, strict=True
        ):
            if pair.kind != "same samples":
                key = (form, figure, str(size))
                covered[*key, "all"] += 1
                low, high = difference.interval
                covered[*key, "inside"] += low <= true <= high
                covered[*key, "below"] += true < low
                covered[*key, "width"] += round(1e6 * (high - low))
    a, b, y = pair.drawn(rows)
    strict = _differences(a, b, y, np.arange(len(rows)), 1 - (1 - LEVEL) / 2)
    signs = [_sign(strict[0].interval), -_sign(strict[1].interval)]
    verdict = "worse" if -1 in signs else "better" if 1 in signs else "no_difference"
    verdicts[pair.kind, str(size), verdict] += 1
    gains = truth[0], -truth[1]
    wrong = (verdict == "better" and max(gains) <= 0) or (verdict == "worse" and min(gains) >= 0)
    verdicts[pair.kind, str(size), "wrong"] += wrong


def _differences(a: Floats, b: Floats, y: Floats, groups: NDArray[np.int64], level: float) -> list[Any]:
    first, second = (np.array([half_up(100 * each) for each in values.tolist()], np.float64) for values in (a, b))
    return [auroc_difference(a, b, y, groups, level=level), error_difference(first, second, y, groups, level=level)]


def _true_differences(pair: Pair) -> tuple[float, float]:
    """The differences of AUROC and of error over all texts; both poles count equally, as in the draws."""
    groups = np.arange(len(pair.y))
    points = [np.floor(100 * values + 0.5) for values in (pair.a, pair.b)]
    errors = [np.mean([(~on_side(values, pair.y))[pair.y == pole].mean() for pole in (1.0, 0.0)]) for values in points]
    return auroc_difference(pair.a, pair.b, pair.y, groups).delta, float(errors[1] - errors[0])


def _sign(interval: tuple[float, float]) -> int:
    return (interval[0] > 0) - (interval[1] < 0)


def _coverage(covered: Counter[tuple[str, ...]]) -> Table:
    rows = []
    for form, figure in (
        ("alone", "AUROC"),
        ("alone", "error"),
        ("near duplicates", "AUROC"),
        ("near duplicates", "error"),
    ):
        counts = [(form, figure, str(size)) for size in SIZES]
        shares = [f"{100 * covered[*key, 'inside'] / covered[*key, 'all']:.1f} %" for key in counts]
        widths = [f"{covered[*key, 'width'] / 1e6 / covered[*key, 'all']:.3f}" for key in counts]
        rows += [[f"{figure}, {form}: covered", *shares], [f"{figure}, {form}: mean width", *widths]]
    note = "How often the 95 % interval of the difference contains the truth, by the number of test samples."
    return Table("Coverage", ["interval", *map(str, SIZES)], rows, note)


def _verdicts(verdicts: Counter[tuple[str, str, str]]) -> Table:
    rows = []
    for kind in KINDS:
        totals = [
            sum(verdicts[kind, str(size), each] for each in ("better", "worse", "no_difference")) for size in SIZES
        ]
        for verdict in ("better", "worse", "wrong"):
            shares = [
                100 * verdicts[kind, str(size), verdict] / (total or 1)
                for size, total in zip(SIZES, totals, strict=True)
            ]
            rows.append([f"{kind}: {verdict}", *(f"{share:.1f} %" for share in shares)])
    note = (
        "The second version against the first. Wrong: better although neither figure is, or worse although neither is."
    )
    return Table("Verdicts", ["second version", *map(str, SIZES)], rows, note)


if __name__ == "__main__":
    run(
        "versions",
        measure,
        data=True,
        quick={"sets": ("cr", "spam"), "ks": (8, 32), "seeds": 1, "draws": 20},
        whole={"sets": tuple(protocol.SETS), "ks": KS, "seeds": 3, "draws": 40},
    )
