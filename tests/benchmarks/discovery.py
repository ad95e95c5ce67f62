"""How much of a hidden trait discovery finds, how stable its axes are, and how long it takes.

    python -m tests.benchmarks.discovery --data FOLDER [--quick] [--show FILE]

A pool has 300 texts of one set of `protocol`, as many of each pole, or 150 of each of two sets; the labels are hidden.
The recovery of a hidden trait by an axis is |AUROC - 0.5| x 2 of its labels along the axis. What counts is the best of
the first 3, 5 or 8 axes, as a person would choose. Beside the product: the principal axes with the most variance, and
random directions, on the same vectors. `--show` writes the axes of the first pools as the Traits page shows them.
"""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tests.benchmarks import kept, protocol
from tests.benchmarks.page import Measured, Table, parser, publish
from tests.contexts import AUTHOR, done_here, draft, fresh_settings, opened
from traitbench.contract.samples import MOST_SAMPLES, SampleInput, SamplesCreate
from traitbench.contract.traits import DiscoverRequest
from traitbench.fitting.discover import DiscoveredTrait, discover
from traitbench.fitting.evaluate import auroc
from traitbench.operations import discovery, samples

Floats = NDArray[np.float64]

SETS = ("bank_card", "clickbait", "spam", "cr", "sst2", "emobank_v")
FIRST = (3, 5, 8)
TIMED = (300, 1_000, 2_000)
LARGE = ("clickbait", "bank_card")
RUNS = (300, 3_000, 30_000)

_TEXTS, _SEEDS, _DRAWS, _SHOWN, _POOLS_SHOWN = 300, 3, 20, 5, 10
_EFFORT = "max"
_SAME = 0.7


@dataclass(frozen=True, eq=False)
class Pool:
    """Texts with their vectors, and the labels of each hidden trait: NaN for the texts that have none."""

    name: str
    texts: Sequence[str]
    X: NDArray[np.float32]
    hidden: Sequence[Floats]

    @property
    def mixed(self) -> bool:
        """Whether it has texts of two sets."""
        return len(self.hidden) > 1


def pools(folder: Path, *, sets: Sequence[str], seeds: int) -> Iterator[Pool]:
    """One-domain pools, then mixed ones of two sets in turn."""
    chosen = [(name,) for name in sets] + (list(pairwise([*sets, sets[0]])) if len(sets) > 2 else [])
    data = {name: protocol.load(name, folder) for name in sets}
    for names in chosen:
        for seed in range(seeds):
            parts = [_drawn(data[name], _TEXTS // len(names), seed) for name in names]
            texts = [text for own, _ in parts for text in own]
            hidden = []
            for place in range(len(parts)):
                labels = [y if i == place else np.full(len(y), np.nan) for i, (_, y) in enumerate(parts)]
                hidden.append(np.concatenate(labels))
            yield Pool(f"{' + '.join(names)}, {seed}", texts, kept.vectors(texts), hidden)


def _drawn(data: protocol.Data, count: int, seed: int) -> tuple[list[str], Floats]:
    """Texts of a set, half of each pole; of a graded one, from the outer thirds."""
    rng = np.random.default_rng([seed, len(data.name)])
    poles = (np.flatnonzero(data.quality < 1 / 3), np.flatnonzero(data.quality > 2 / 3))
    places = np.concatenate([rng.permutation(pole)[: count // 2] for pole in poles])
    return [data.pool[i] for i in places], (data.quality[places] > 0.5).astype(np.float64)


def found(pool: Pool, effort: str = _EFFORT, rows: NDArray[np.int64] | None = None) -> tuple[DiscoveredTrait, ...]:
    """The axes that the product finds in a pool, or in some of its texts."""
    rows = np.arange(len(pool.texts)) if rows is None else rows
    return discover(
        pool.X[rows],
        [pool.texts[i] for i in rows],
        ids=(rows + 1).tolist(),
        quality=np.full(len(rows), np.nan),
        known=np.zeros((0, pool.X.shape[1])),
        effort=effort,
    ).traits


# ---- recovery --------------------------------------------------------------------------------------------------------


def recovery(pool: Pool, axes: Floats) -> list[list[float]]:
    """For each hidden trait, the recovery by each of the axes (k, d)."""
    places = pool.X.astype(np.float64) @ axes.T
    return [
        [abs(2 * auroc(places[labelled, k], hidden[labelled]) - 1) for k in range(len(axes))]
        for hidden in pool.hidden
        for labelled in [~np.isnan(hidden)]
    ]


def best_of_first(by_trait: Sequence[Sequence[float]]) -> list[float]:
    """The best recovery among the first 3, 5 and 8 axes, the mean of the hidden traits."""
    return [mean(max(own[:count], default=0.0) for own in by_trait) for count in FIRST]


def principal(X: NDArray[np.float32], count: int) -> Floats:
    """The axes with the most variance (count, d)."""
    centred = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    axes: Floats = np.linalg.svd(centred, full_matrices=False)[2][:count]
    return axes


def methods(pool: Pool, ours: Sequence[DiscoveredTrait]) -> Mapping[str, list[float]]:
    """The best of the first axes of each method."""
    rng = np.random.default_rng(7)
    random = [best_of_first(recovery(pool, rng.normal(size=(max(FIRST), pool.X.shape[1])))) for _ in range(_DRAWS)]
    axes = np.array([trait.axis for trait in ours], np.float64).reshape(len(ours), pool.X.shape[1])
    return {
        "discovery": best_of_first(recovery(pool, axes)),
        "most variance": best_of_first(recovery(pool, principal(pool.X, max(FIRST)))),
        "random": np.mean(random, axis=0).tolist(),
    }


# ---- stability: in a half, and in a pool that was drawn with another seed --------------------------------------------


def found_again(pool: Pool, ours: Sequence[DiscoveredTrait]) -> list[float]:
    """For each axis, the best correlation of its scores with an axis of one half of the texts, the mean of both."""
    order = np.random.default_rng(11).permutation(len(pool.texts))
    halves = (np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :]))
    return np.mean([_matches(pool, ours, found(pool, rows=half)) for half in halves], axis=0).tolist() if ours else []


def _matches(pool: Pool, ours: Sequence[DiscoveredTrait], others: Sequence[DiscoveredTrait]) -> list[float]:
    scores = [pool.X.astype(np.float64) @ trait.axis for trait in (*ours, *others)]
    alike = np.abs(np.corrcoef(scores))[: len(ours), len(ours) :] if others else np.zeros((len(ours), 1))
    best: list[float] = alike.max(axis=1).tolist()
    return best


# ---- time ------------------------------------------------------------------------------------------------------------


def seconds(folder: Path, sizes: Sequence[int]) -> Iterator[tuple[int, str, float]]:
    """How long the search takes in one thread, without encoding; more texts than the last size are not analysed."""
    data = protocol.load("bank_card", folder)
    for size in sizes:
        texts = list(data.pool[:size])
        pool = Pool("", texts, kept.vectors(texts), [])
        for effort in ("low", "high", "max"):
            began = time.perf_counter()
            found(pool, effort)
            yield len(texts), effort, time.perf_counter() - began


def whole_runs(folder: Path, sizes: Sequence[int]) -> Iterator[tuple[int, float, float]]:
    """How long a discovery of labelled samples takes from start to end, texts that were never encoded, and again."""
    alone = list(dict.fromkeys(text for name in LARGE for text in protocol.load(name, folder).pool))
    # The sets are smaller than the largest run: more texts are pairs of these.
    texts = [*alone, *(f"{one} {other}" for step in (1, 2, 3) for one, other in zip(alone, alone[step:], strict=False))]
    for size in sizes:
        with (
            tempfile.TemporaryDirectory() as home,
            fresh_settings(Path(home), encoder=None) as settings,
            opened(settings, runs=False) as context,
        ):
            handle = draft(context)
            for first in range(0, min(size, len(texts)), MOST_SAMPLES):
                some = texts[first : min(first + MOST_SAMPLES, size)]
                given = [SampleInput(trait="warmth", text=text, quality=0.5) for text in some]
                samples.add(context, AUTHOR, handle, SamplesCreate(samples=given))
            took = []
            for effort in ("high", "low"):
                began = time.perf_counter()
                done_here(context, discovery.start(context, AUTHOR, handle, DiscoverRequest(effort=effort)).run_id)
                took.append(time.perf_counter() - began)
            yield min(size, len(texts)), took[0], took[1]


# ---- what it comes to ------------------------------------------------------------------------------------------------


def measure(
    folder: Path, *, sets: Sequence[str], seeds: int, sizes: Sequence[int], runs: Sequence[int], show: Path | None
) -> Measured:
    """All tables."""
    by_pool: dict[str, Mapping[str, list[float]]] = {}
    again: dict[str, list[float]] = {}
    of_set: dict[str, list[Sequence[DiscoveredTrait]]] = {}
    shown: list[str] = []
    with threadpool_limits(limits=1):
        every = list(pools(folder, sets=sets, seeds=seeds))
        for pool in every:
            ours = found(pool)
            by_pool[pool.name] = methods(pool, ours)
            kind = "mixed" if pool.mixed else "one domain"
            again.setdefault(f"{kind}, one half", []).extend(found_again(pool, ours))
            same = of_set.setdefault(pool.name.rpartition(", ")[0], [])
            for others in same:
                again.setdefault(f"{kind}, another seed", []).extend(_matches(pool, ours, others) if ours else [])
            same.append(ours)
            if show and pool.name.endswith(", 0") and len(shown) < _POOLS_SHOWN:
                shown.append(_page(pool, found(pool, "high")))
        times = list(seconds(folder, sizes))
    whole = list(whole_runs(folder, runs))
    if show:
        show.write_text("\n".join(shown), encoding="utf-8")
    kinds = {kind: [each.name for each in every if each.mixed is (kind == "mixed")] for kind in ("one domain", "mixed")}
    names = ["discovery", "most variance", "random"]
    summary = [
        [f"{kind}, {name}", *(f"{mean(by_pool[each][name][k] for each in own):.3f}" for k in range(len(FIRST)))]
        for kind, own in kinds.items()
        if own
        for name in names
    ]
    rows = [
        [pool, *("/".join(f"{each:.2f}" for each in figures[name]) for name in names)]
        for pool, figures in by_pool.items()
    ]
    stable = [
        [name, f"{mean(own):.2f}", f"{mean(each >= _SAME for each in own):.0%}"]
        for name, own in sorted(again.items())
        if own
    ]
    return Measured(
        [
            Table(
                f"Recovery, best of the first axes, effort {_EFFORT}",
                ["pools, method", *(str(count) for count in FIRST)],
                summary,
            ),
            Table("Recovery by pool, best of 3/5/8", ["pool", *names], rows),
            Table(
                "Axes found again in half of the texts, and in other texts of the set",
                ["pools, texts", "mean |r|", f"|r| >= {_SAME}"],
                stable,
            ),
            Table(
                "Seconds of the search, one thread",
                ["texts", "effort", "seconds"],
                [[f"{size:,}", effort, f"{took:.2f}"] for size, effort, took in times],
            ),
            Table(
                "Seconds of a whole run, all processors",
                ["samples", "first, effort high", "again, effort low"],
                [[f"{size:,}", f"{first:.1f}", f"{later:.1f}"] for size, first, later in whole],
            ),
        ],
        {"recovery": by_pool},
    )


def _page(pool: Pool, axes: Sequence[DiscoveredTrait]) -> str:
    """The axes of a pool as the Traits page shows them."""
    lines = [f"# Pool: {pool.name}", ""]
    for number, trait in enumerate(axes[:_SHOWN], start=1):
        lines += [f"## Axis {number}", ""]
        ends = (
            ("Negative pole", trait.phrases_negative, trait.anchor_negative),
            ("Positive pole", trait.phrases_positive, trait.anchor_positive),
        )
        for title, phrases, ids in ends:
            lines += [f"{title}: {', '.join(phrases)}", *(f"- {pool.texts[each - 1]}" for each in ids[:3]), ""]
    return "\n".join(lines)


def main() -> None:
    """Read the arguments and measure."""
    arguments = parser("What discovery finds.")
    arguments.add_argument("--data", type=Path, required=True, help="the folder of the sets")
    arguments.add_argument("--sets", default=",".join(SETS), help=f"of {', '.join(SETS)}")
    arguments.add_argument("--seeds", type=int, default=_SEEDS, help="pools for each set")
    arguments.add_argument("--show", type=Path, help="write the axes of some pools to this file")
    asked = arguments.parse_args()
    quick = asked.quick

    def run() -> Measured:
        return measure(
            asked.data,
            sets=("cr",) if quick else asked.sets.split(","),
            seeds=1 if quick else asked.seeds,
            sizes=TIMED[:1] if quick else TIMED,
            runs=RUNS[:1] if quick else RUNS,
            show=asked.show,
        )

    publish("discovery", run, asked.out)


if __name__ == "__main__":
    main()
