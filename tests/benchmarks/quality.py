"""How well the product tells texts apart, by the protocol, beside what one would do without it, all in one run.

    python -m tests.benchmarks.quality --data FOLDER [--sets cr,spam] [--methods "ours;ours, mode static"] [--seeds N]

`--data` holds the sets, see `protocol.SETS` for what, where from and under which licence. Every method sees the same
samples and is judged on the same texts. Vectors are kept between runs, so that a second one takes minutes. The last
table is about tweets in several languages, if the folder has them (`protocol.tweets`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from threadpoolctl import threadpool_limits

from tests.benchmarks import protocol
from tests.benchmarks.page import Measured, Table, parser, publish
from tests.benchmarks.scorers import BASELINES, LEVELS, METHODS, NO_LABELS, OURS, fitted

_KS_ACROSS = (8, 32)

_Extent = tuple[tuple[str, ...], tuple[int, ...], int]
_WHOLE: _Extent = (tuple(protocol.SETS), protocol.KS, protocol.SEEDS)
_QUICK: _Extent = (("cr", "spam", "emobank_v"), (8, 64), 1)

# What was asked of the product on all sets of the protocol, of which most are not among those here.
GOALS: Mapping[str, Mapping[int, float]] = {
    "auroc": {4: 0.775, 8: 0.795, 16: 0.817, 64: 0.855, 256: 0.888},
    "spearman": {4: 0.26, 16: 0.355, 64: 0.44, 256: 0.51},
    "brier": {4: 0.196, 16: 0.166, 64: 0.142, 256: 0.120},
    "ece": {4: 0.11, 64: 0.05, 256: 0.05},
}

FIGURES = {
    "auroc": "AUROC, binary sets",
    "spearman": "Rank correlation, graded sets",
    "brier": "Brier score, binary sets (less is better)",
    "ece": "Calibration error, binary sets (less is better)",
    "accuracy": "Accuracy at 0.5, binary sets",
}


@dataclass(frozen=True)
class Cell:
    """A method on a set, with so many samples, drawn in one way."""

    method: str
    set: str
    k: int
    seed: int
    figures: Mapping[str, float]


def measure(
    folder: Path,
    *,
    sets: Sequence[str],
    ks: Sequence[int],
    seeds: int,
    methods: Sequence[str] = tuple(METHODS),
) -> Measured:
    """All cells, and their tables."""
    with threadpool_limits(limits=1):
        results = Results(list(_cells(folder, sets, ks, seeds, methods)))
        languages = Results(list(_across(folder, seeds, methods)))
    return Measured(
        [*tables(results, seeds), *_by_language(languages)],
        _plain(results) | {"languages": _areas(languages)},
    )


def _cells(folder: Path, sets: Sequence[str], ks: Sequence[int], seeds: int, methods: Sequence[str]) -> Iterator[Cell]:
    for name in sets:
        for draw in protocol.draws(protocol.load(name, folder), ks, seeds):
            yield from (_cell(method, draw) for method in methods)


def _across(folder: Path, seeds: int, methods: Sequence[str]) -> Iterator[Cell]:
    """Tweets of each language, scored by what was learnt from that language and from English."""
    datas = protocol.tweets(folder)
    for source, target in [(name, name) for name in datas] + [("english", name) for name in list(datas)[1:]]:
        for draw in protocol.draws(datas[source], _KS_ACROSS, seeds):
            for method in methods:
                yield _cell(method, replace(draw, data=replace(datas[target], name=f"{target}, from {source}")))


def _cell(method: str, draw: protocol.Draw) -> Cell:
    trait = vars(draw.data.trait)
    scores = METHODS[method](draw.texts, draw.quality, draw.data.test, trait=trait, k=draw.k, seed=draw.seed)
    figures = protocol.judged(draw.data, scores)
    if (level := next((level for level, name in LEVELS.items() if name == method), None)) is not None:
        result = fitted(draw.texts, draw.quality, trait=trait, effort=level).metrics["traits"]["trait"]
        if result["cross_entropy"] is not None:
            figures["held_out"] = result["cross_entropy"]
    return Cell(method, draw.data.name, draw.k, draw.seed, figures)


# ---- what it comes to ----------------------------------------------------------------------------------------------


class Results:
    """All cells, asked by method, set, k and figure; None where nothing was measured."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._found: dict[tuple[str, str, int, str], list[float]] = {}
        for cell in cells:
            for figure, value in cell.figures.items():
                self._found.setdefault((cell.method, cell.set, cell.k, figure), []).append(value)
        self.methods = list(dict.fromkeys(cell.method for cell in cells))
        self.sets = list(dict.fromkeys(cell.set for cell in cells))
        self.ks = sorted({cell.k for cell in cells})

    def on(self, method: str, name: str, k: int, figure: str) -> float | None:
        """The mean over the seeds."""
        result = self._found.get((method, name, k, figure))
        return mean(result) if result else None

    def over_sets(self, method: str, k: int, figure: str) -> float | None:
        """The mean over the sets of the means over the seeds."""
        results = [value for name in self.sets if (value := self.on(method, name, k, figure)) is not None]
        return mean(results) if results else None

    def rank(self, method: str, name: str, k: int) -> float | None:
        """AUROC, or rank correlation where a set is graded."""
        return self.on(method, name, k, "spearman" if protocol.SETS[name].graded else "auroc")

    def best(self, methods: Sequence[str], name: str, k: int) -> float | None:
        """By rank, the best of these methods on a set."""
        return max((value for method in methods if (value := self.rank(method, name, k)) is not None), default=None)


def tables(results: Results, seeds: int) -> list[Table]:
    """What there is to read."""
    made = [_over_sets(results, figure, f"{title}, mean of {seeds} draws") for figure, title in FIGURES.items()]
    made += [_per_set(results, BASELINES, "best baseline"), _per_set(results, [NO_LABELS], "ours without the labels")]
    return [table for table in [*made, _by_effort(results)] if table.rows]


def _over_sets(results: Results, figure: str, title: str) -> Table:
    goals = GOALS.get(figure, {})
    rows = [[method, *(_three(results.over_sets(method, k, figure)) for k in results.ks)] for method in results.methods]
    rows = [row for row in rows if set(row[1:]) != {""}]
    if rows and goals:
        rows.append(["asked for, on all sets of the protocol", *(_three(goals.get(k)) for k in results.ks)])
    return Table(title, ["method", *_columns(results.ks)], rows)


def _per_set(results: Results, others: Sequence[str], what: str) -> Table:
    rows = []
    for name in results.sets:
        pairs = [(results.rank(OURS, name, k), results.best(others, name, k)) for k in results.ks]
        if any(None not in pair for pair in pairs):
            rows.append([name, *(_beside(*pair) for pair in pairs)])
    note = "AUROC, or rank correlation for emobank_v and emobank_a, which are graded."
    return Table(f"Ours by set, and how much more than {what}", ["set", *_columns(results.ks)], rows, note)


def _by_language(results: Results) -> list[Table]:
    rows = [
        [name, method, *(_three(results.on(method, name, k, "auroc")) for k in results.ks)]
        for name in results.sets
        for method in results.methods
    ]
    table = Table("AUROC on tweets by language", ["texts, and samples", "method", *_columns(results.ks)], rows)
    return [table] if rows else []


def _by_effort(results: Results) -> Table:
    rows = [
        [f"{level}, {text}", *(_three(results.over_sets(name, k, figure), 4) for k in results.ks)]
        for figure, text in (("held_out", "held out of the samples"), ("cross_entropy", "on the test texts"))
        for level, name in LEVELS.items()
        if name in results.methods
    ]
    note = "The test texts are those of the binary sets, the samples those of all."
    return Table("Cross-entropy by effort (less is better)", ["effort", *_columns(results.ks)], rows, note)


def _columns(ks: Sequence[int]) -> list[str]:
    return [f"k={k}" for k in ks]


def _three(value: float | None, digits: int = 3) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _beside(ours: float | None, other: float | None) -> str:
    return "" if ours is None or other is None else f"{ours:.3f} {ours - other:+.3f}"


def _plain(results: Results) -> dict[str, Any]:
    """By figure, method and k, over the sets; and by method, set and k, the rank."""
    return {
        "over_sets": {
            figure: {m: {str(k): results.over_sets(m, k, figure) for k in results.ks} for m in results.methods}
            for figure in (*FIGURES, "held_out", "cross_entropy")
        },
        "by_set": {
            m: {n: {str(k): results.rank(m, n, k) for k in results.ks} for n in results.sets} for m in results.methods
        },
    }


def _areas(results: Results) -> dict[str, Any]:
    """AUROC by method, set and k."""
    return {
        m: {n: {str(k): results.on(m, n, k, "auroc") for k in results.ks} for n in results.sets}
        for m in results.methods
    }


# ---- the script ----------------------------------------------------------------------------------------------------


def main() -> None:
    """Read the arguments and measure."""
    arguments = parser("Quality on real texts, beside what one would do without the product.")
    arguments.add_argument("--data", type=Path, required=True, help="the folder of the sets")
    arguments.add_argument("--sets", help=f"of {', '.join(protocol.SETS)}; default all")
    arguments.add_argument("--methods", help=f"separated by semicolons, of {'; '.join(METHODS)}; default all")
    arguments.add_argument("--k", help="samples a pole; default 4,8,16,64,256")
    arguments.add_argument("--seeds", type=int, help="draws; default 5")
    asked = arguments.parse_args()
    sets, ks, seeds = _QUICK if asked.quick else _WHOLE
    sets = asked.sets.split(",") if asked.sets else sets
    ks = tuple(int(k) for k in asked.k.split(",")) if asked.k else ks
    methods = asked.methods.split(";") if asked.methods else tuple(METHODS)
    seeds = asked.seeds or seeds
    publish("quality", lambda: measure(asked.data, sets=sets, ks=ks, seeds=seeds, methods=methods), asked.out)


if __name__ == "__main__":
    main()
