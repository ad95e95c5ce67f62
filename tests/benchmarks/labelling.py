"""What the order of label mode is worth: how many labels it needs for what random order reaches with more.

    python -m tests.benchmarks.labelling --data FOLDER [--sets cr,spam] [--seeds N] [--orders informative,random]

The sets and their tests are those of `protocol`. For each seed, a heap is drawn from the pool in its own proportions,
and labelled one text at a time from none, in every order; the heap's true qualities answer. At each budget the product
is trained (effort low) and judged. Curves are means over seeds. The worth is the number of labels with which an order
first reaches what random order has at a budget, divided by that budget.
"""

# ruff: noqa: T201

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tests.benchmarks import kept, protocol
from tests.benchmarks.page import Measured, Table, parser, publish
from tests.benchmarks.scorers import label_axis, ours
from traitbench.analysis.active_learning import ORDERS, LabelQueue, Order

BUDGETS = (8, 16, 24, 32, 48, 64, 96, 128)
ASKED_AT = (16, 32, 64, 96, 128)
"""The budgets of random order that the others have to reach."""

_HEAP, _TESTS = 1_500, 1_000
_SEEDS, _QUICK = 5, ("cr",)


@dataclass(frozen=True)
class Curve:
    """AUROC, or rank correlation on a graded set, by budget."""

    set: str
    order: str
    seed: int
    figures: Mapping[int, float]


def measure(
    folder: Path,
    *,
    sets: Sequence[str],
    orders: Sequence[Order],
    seeds: int,
    on_curve: Callable[[Curve], None] = lambda curve: None,
) -> Measured:
    """All curves, and their tables."""
    curves = []
    with threadpool_limits(limits=1):
        for name in sets:
            data = protocol.load(name, folder)
            for seed in range(seeds):
                for order in orders:
                    curves.append(_curve(data, order, seed))
                    on_curve(curves[-1])
    return reported(curves)


def _curve(data: protocol.Data, order: Order, seed: int) -> Curve:
    heap = np.random.default_rng(seed).permutation(len(data.pool))[:_HEAP]
    texts, quality = [data.pool[i] for i in heap], data.quality[heap]
    X = kept.vectors(texts)
    axis = label_axis(vars(data.trait))
    prior = None if axis is None else X @ axis
    queue, labelled, figures = LabelQueue(X, prior), list[int](), {}
    while len(labelled) < BUDGETS[-1]:
        free = np.ones(len(texts), bool)
        free[labelled] = False
        labelled.append(int(queue.first(order, 1, free=free, seed=seed)[0]))
        if order != "random":
            queue.learn(labelled, X[labelled], quality[labelled], None if prior is None else prior[labelled])
        if len(labelled) in BUDGETS:
            figures[len(labelled)] = _judged(data, [texts[i] for i in labelled], quality[labelled])
    return Curve(data.name, order, seed, figures)


def _judged(data: protocol.Data, texts: Sequence[str], quality: NDArray[np.float64]) -> float:
    """The figure of the product on the tests; without a label at both poles, that of the label axis alone."""
    tests = np.linspace(0, len(data.test) - 1, min(_TESTS, len(data.test))).astype(int)
    asked = [data.test[i] for i in tests]
    trait = vars(data.trait)
    if (quality > 0.5).any() and (quality < 0.5).any():
        scores = ours(texts, quality.tolist(), asked, trait=trait, effort="low")
    else:
        axis = label_axis(trait)
        scores = [0.5] * len(asked) if axis is None else (0.5 + kept.vectors(asked) @ axis / 2).tolist()
    part = protocol.Data(data.name, data.trait, data.graded, [], quality, asked, data.truth[tests])
    return protocol.judged(part, scores)["spearman" if data.graded else "auroc"]


# ---- what it comes to ------------------------------------------------------------------------------------------------


def reported(curves: Sequence[Curve]) -> Measured:
    """The worth by set and order, and the mean curves."""
    sets, orders = (list(dict.fromkeys(getattr(each, field) for each in curves)) for field in ("set", "order"))
    means = {(name, order): _mean(curves, name, order) for name in sets for order in orders}
    worth = {
        (name, order): [_needed(means[name, order], means[name, "random"], budget) / budget for budget in ASKED_AT]
        for name, order in means
        if "random" in orders
    }
    others = [order for order in orders if order != "random"]
    rows = [[name, *(f"{median(worth[name, order]):.2f}" for order in others)] for name in sets if worth]
    over_all = [[ratio for name in sets for ratio in worth[name, order]] for order in others if worth]
    rows.append(["median of all", *(f"{median(ratios):.2f}" for ratios in over_all)])
    per_budget = [
        [f"{budget}", *(f"{median(worth[name, order][place] for name in sets):.2f}" for order in others)]
        for place, budget in enumerate(ASKED_AT)
        if worth
    ]
    shown = [
        [f"{name}, {order}", *(f"{means[name, order][budget]:.3f}" for budget in BUDGETS)] for name, order in means
    ]
    note = "Labels needed for what random order reaches, divided by those of random order. Less than 1 is better."
    return Measured(
        [
            Table("Labels needed, by set", ["set", *others], rows, note),
            Table("Labels needed, by budget of random order, median of the sets", ["budget", *others], per_budget),
            Table("AUROC, or rank correlation where graded", ["set, order", *map(str, BUDGETS)], shown),
        ],
        {"worth": {f"{name}, {order}": ratios for (name, order), ratios in worth.items()}},
    )


def _mean(curves: Sequence[Curve], name: str, order: str) -> Mapping[int, float]:
    own = [each.figures for each in curves if (each.set, each.order) == (name, order)]
    return {budget: float(np.mean([each[budget] for each in own])) for budget in BUDGETS}


def _needed(curve: Mapping[int, float], reference: Mapping[int, float], budget: int) -> float:
    """The labels with which a curve first reaches the best of the reference up to a budget, interpolated.

    A curve that never does counts as needing half as many again as were tried.
    """
    goal = max(figure for labels, figure in reference.items() if labels <= budget)
    before = (0, -1.0)
    for labels, figure in curve.items():
        if figure >= goal:
            if before[0] == 0:
                return float(labels)
            share = (goal - before[1]) / (figure - before[1])
            return before[0] + share * (labels - before[0])
        before = (labels, max(before[1], figure))
    return 1.5 * BUDGETS[-1]


def main() -> None:
    """Read the arguments and measure."""
    arguments = parser("What the order of label mode is worth.")
    arguments.add_argument("--data", type=Path, required=True, help="the folder of the sets")
    arguments.add_argument("--sets", help=f"of {', '.join(protocol.SETS)}; default all")
    arguments.add_argument("--orders", default="random,informative", help=f"of {', '.join(ORDERS)}")
    arguments.add_argument("--seeds", type=int, default=_SEEDS, help="heaps for each set")
    asked = arguments.parse_args()
    sets = asked.sets.split(",") if asked.sets else _QUICK if asked.quick else tuple(protocol.SETS)
    orders: list[Order] = [each for each in ORDERS if each in asked.orders.split(",")]

    def note(curve: Curve) -> None:
        print(json.dumps(vars(curve)), file=sys.stderr, flush=True)

    publish(
        "labelling",
        lambda: measure(asked.data, sets=sets, orders=orders, seeds=1 if asked.quick else asked.seeds, on_curve=note),
        asked.out,
    )


if __name__ == "__main__":
    main()
