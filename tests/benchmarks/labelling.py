"""What the order of label mode is worth: how many labels it needs for what random order reaches with more.

    python -m tests.benchmarks.labelling --data FOLDER [--quick]

The sets and their tests are those of `protocol`. For each seed, some texts are drawn from the pool in its own
proportions, and labelled one text at a time from none, in every order; their true qualities answer. At each budget the
product is trained (effort low) and judged. Curves are means over seeds. The worth is the number of labels with which an
order first reaches what random order has at a budget, divided by that budget.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tests.benchmarks import kept, protocol
from tests.benchmarks.page import Measured, Table, run
from tests.benchmarks.scorers import label_axis, ours
from traitbench.analysis.active_learning import LabelQueue, Order

BUDGETS = (8, 16, 24, 32, 48, 64, 96, 128)
ASKED_AT = (16, 32, 64, 96, 128)
"""The budgets of random order that the others have to reach."""

ORDERS: Sequence[Order] = ("random", "informative")

_TEXTS, _TESTS = 1_500, 1_000


@dataclass(frozen=True)
class Curve:
    """AUROC, or rank correlation on a graded set, by budget."""

    set: str
    order: str
    seed: int
    figures: Mapping[int, float]


def measure(folder: Path, *, sets: Sequence[str], seeds: int) -> Measured:
    """All curves, and their tables."""
    with threadpool_limits(limits=1):
        datas = [protocol.load(name, folder) for name in sets]
        curves = [_curve(data, order, seed) for data in datas for seed in range(seeds) for order in ORDERS]
    return reported(curves)


def _curve(data: protocol.Data, order: Order, seed: int) -> Curve:
    chosen = np.random.default_rng(seed).permutation(len(data.pool))[:_TEXTS]
    texts, quality = [data.pool[i] for i in chosen], data.quality[chosen]
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
    return protocol.rank(part, np.asarray(scores, np.float64))


# ---- what it comes to ------------------------------------------------------------------------------------------------


def reported(curves: Sequence[Curve]) -> Measured:
    """The worth by set and order, and the mean curves."""
    sets = list(dict.fromkeys(each.set for each in curves))
    means = {(name, order): _mean(curves, name, order) for name in sets for order in ORDERS}
    worth = {
        name: [_needed(means[name, "informative"], means[name, "random"], budget) / budget for budget in ASKED_AT]
        for name in sets
    }
    rows = [[name, f"{median(ratios):.2f}"] for name, ratios in worth.items()]
    rows.append(["median of all", f"{median(ratio for ratios in worth.values() for ratio in ratios):.2f}"])
    per_budget = [
        [f"{budget}", f"{median(ratios[place] for ratios in worth.values()):.2f}"]
        for place, budget in enumerate(ASKED_AT)
    ]
    shown = [
        [f"{name}, {order}", *(f"{means[name, order][budget]:.3f}" for budget in BUDGETS)] for name, order in means
    ]
    note = "Labels needed for what random order reaches, divided by those of random order. Less than 1 is better."
    return Measured(
        [
            Table("Labels needed, by set", ["set", "informative"], rows, note),
            Table(
                "Labels needed, by budget of random order, median of the sets", ["budget", "informative"], per_budget
            ),
            Table("AUROC, or rank correlation where graded", ["set, order", *map(str, BUDGETS)], shown),
        ],
        {"worth": worth},
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


if __name__ == "__main__":
    run(
        "labelling",
        measure,
        data=True,
        quick={"sets": ("cr",), "seeds": 1},
        whole={"sets": tuple(protocol.SETS), "seeds": 5},
    )
