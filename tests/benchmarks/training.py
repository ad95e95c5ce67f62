"""How long a training takes, given the vectors, against logistic regression on the same matrix.

    python -m tests.benchmarks.training [--quick] [--out FILE]

One trait, half of the samples at either pole, the poles apart as in real vectors, a tenth of the qualities wrong. The
product's figure is what its worker calls, with all that belongs to it: the search with the axis of the labels, the
figures held out, two modes. Both take one thread. Logistic regression may stop after the hundred steps that are its
default.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from threadpoolctl import threadpool_limits

from tests.benchmarks.page import Measured, Table, run
from tests.benchmarks.scorers import DEFAULT_EFFORT
from traitbench.fitting.fit import EncoderIdentity, TraitSamples, fit

_WIDE = 1_091
"""As many numbers as the default encoder gives."""

SHAPES = ((100, _WIDE), (1_000, _WIDE), (10_000, _WIDE), (100_000, 256))

_WRONG = 0.1

X = NDArray[np.float32]
Y = NDArray[np.float64]


def measure(*, shapes: Sequence[tuple[int, int]] = SHAPES, tries: int = 3) -> Measured:
    """Seconds and ratios."""
    values = {shape: _against_logistic(*matrix(*shape), tries) for shape in shapes}
    return Measured([_ratios(values)], {"against": [{"n": n, "d": d, **result} for (n, d), result in values.items()]})


def matrix(n: int, d: int) -> tuple[X, Y]:
    """Unit rows (n, d) whose directions matter less and less, and their qualities."""
    lot = np.random.default_rng(0)
    spread = 1 / np.sqrt(1 + np.arange(d))
    y = np.arange(n) % 2
    rows = (lot.standard_normal((n, d)) + 1.5 * np.outer(2 * y - 1, lot.standard_normal(d) / np.sqrt(d))) * spread
    values = np.where(lot.random(n) < _WRONG, 1 - y, y)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), values.astype(np.float64)


def ours(rows: X, y: Y, effort: str = DEFAULT_EFFORT) -> object:
    """The product's training."""
    samples = TraitSamples(
        key="trait",
        name="Trait",
        positive_label="much",
        negative_label="little",
        aggregation="mean",
        X=rows,
        y=y,
        groups=np.arange(len(y)).astype(str),
        label_axis=rows[y > 0.5][:8].mean(axis=0) - rows[y < 0.5][:8].mean(axis=0),
    )
    d = rows.shape[1]
    return fit(
        [samples],
        encoder=EncoderIdentity("benchmark", d, "0" * 64),
        scoring_method="balanced_cosine",
        max_depth=1,
        effort=effort,
        modes={"first": slice(0, d // 3), "last": slice(d - d // 3, d)},
    )


def seconds(work: Callable[[], object], tries: int) -> float:
    """The quickest of so many; of what takes long, one will do."""
    taken: list[float] = []
    while len(taken) < tries and sum(taken) < 5:
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def _against_logistic(rows: X, y: Y, tries: int) -> dict[str, float]:
    positive = y > 0.5
    strengths = {"Cs": 10, "cv": 5, "scoring": "accuracy", "l1_ratios": (0.0,), "use_legacy_attributes": False}
    works = {
        "ours": partial(ours, rows, y),
        "chosen": partial(LogisticRegressionCV(**strengths).fit, rows, positive),
        "one": partial(LogisticRegression().fit, rows, positive),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with threadpool_limits(limits=1):
            return {name: seconds(work, tries) for name, work in works.items()}


def _ratios(results: Mapping[tuple[int, int], Mapping[str, float]]) -> Table:
    rows = [
        [
            f"{n} x {d}",
            *(f"{seconds:.3f}" for seconds in result.values()),
            *(f"{result['ours'] / result[name]:.2f}" for name in ("chosen", "one")),
        ]
        for (n, d), result in results.items()
    ]
    columns = ["samples", "ours, s", "CV, s", "one, s", "ours/CV", "ours/one"]
    note = (
        "CV: LogisticRegressionCV(Cs=10, cv=5); one: a single LogisticRegression. Seconds of the processor, one thread."
    )
    return Table("Training, given the vectors", columns, rows, note)


if __name__ == "__main__":
    run("training", measure, quick={"shapes": SHAPES[:2]}, whole={})
