"""How often `hold_if_worse` holds a retrain: with right feedback it should not, with wrong feedback it should.

    python -m tests.benchmarks.holding --data FOLDER [--quick] [--out FILE]

A model is trained on k samples a pole. Then comes feedback on other texts, with right labels or with flipped ones. The
judgment is made as in the service: out of fold, and on test samples that are set aside. "Really worse" is the AUROC on
the set's own test texts, which no judgment sees, falling by more than the same limit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from tests.benchmarks import kept, protocol
from tests.benchmarks.page import Measured, Table, parser, publish
from traitbench.comparison.retrains import MOST_OF_MEAN, Change, MeasuredOn, Tested, on_test_samples, out_of_fold, worse
from traitbench.fitting.auroc import auroc
from traitbench.fitting.candidates import Candidate
from traitbench.fitting.fit import TraitSamples
from traitbench.fitting.search import EFFORTS, SearchResult, evidence, search

SETS = ("cr", "spam", "clickbait", "emobank_v")
EFFORT = "medium"
TESTS_PER_POLE = (10, 40)
FEEDBACK = (("right", 10), ("right", 40), ("wrong", 1), ("wrong", 10), ("wrong", 40))
_TEXTS = 800  # of the texts to be judged on


@dataclass(frozen=True)
class Case:
    """A retrain: by how much the real AUROC fell, and the judgments by name, None if it could not be judged."""

    set: str
    k: int
    seed: int
    feedback: str
    lines: int
    really: float
    held: dict[str, bool | None]


def measure(folder: Path, *, ks: Sequence[int], seeds: int) -> Measured:
    """All cases, and their table."""
    cases = []
    with threadpool_limits(limits=1):
        for name, k, seed in product(SETS, ks, range(seeds)):
            for case in _cases(protocol.load(name, folder), k, seed):
                cases.append(case)
    return Measured([table(cases, k) for k in ks], {"cases": [vars(case) for case in cases]})


def table(cases: Sequence[Case], k: int) -> Table:
    """How often a retrain was held, by the feedback that came."""
    names = ["out of fold", *(f"{count} tests a pole" for count in TESTS_PER_POLE)]
    rows = []
    for kind, lines in FEEDBACK:
        own = [case for case in cases if (case.k, case.feedback, case.lines) == (k, kind, lines)]
        worse_ones = [case for case in own if case.really > MOST_OF_MEAN]
        rows.append(
            [
                f"{lines} {kind}",
                f"{np.mean([case.really for case in own]):+.3f}",
                f"{len(worse_ones)} of {len(own)}",
                *(f"{sum(bool(case.held[name]) for case in own)} of {len(own)}" for name in names),
                f"{sum(bool(case.held['out of fold']) for case in worse_ones)} of {len(worse_ones)}",
            ]
        )
    columns = ["feedback", "real fall", "really worse", *(f"held, {name}" for name in names), "worse ones held, oof"]
    return Table(f"Retrains held, {k} samples a pole", columns, rows)


def _cases(data: protocol.Data, k: int, seed: int) -> Iterator[Case]:
    lot = np.random.default_rng(seed)
    quality = np.where(data.quality > 0.5, 1.0, 0.0) if not data.graded else data.quality
    poles = [lot.permutation(np.flatnonzero(pole)) for pole in (quality > 0.5, quality < 0.5)]
    tests = max(TESTS_PER_POLE)
    known = np.concatenate([pole[:k] for pole in poles])
    aside = np.concatenate([pole[k : k + tests] for pole in poles])
    more = np.concatenate([pole[k + tests : k + tests + 40] for pole in poles])
    more = more.reshape(2, -1).T.ravel()  # the poles take turns
    rows = lot.permutation(len(data.test))[:_TEXTS]
    judged, truth = kept.vectors([data.test[i] for i in rows]), _poles(data.truth[rows])
    X = kept.vectors([data.pool[i] for i in (*known, *aside, *more)])
    base, test_X, more_X = X[: len(known)], X[len(known) : len(known) + len(aside)], X[len(known) + len(aside) :]
    first = _fitted(base, quality[known])
    before = auroc(judged @ first.vector, truth)
    for kind, lines in FEEDBACK:
        labels = quality[more[:lines]] if kind == "right" else 1 - quality[more[:lines]]
        every_X, every_y = np.concatenate([base, more_X[:lines]]), np.concatenate([quality[known], labels])
        then = _fitted(every_X, every_y, first.shares)
        really = before - auroc(judged @ then.vector, truth)
        is_known = np.arange(len(every_y)) < len(known)
        change = out_of_fold(_trait(every_X, every_y), is_known, shares=first.shares, effort=EFFORT)
        held = {"out of fold": _held(change, "out_of_fold")}
        for count in TESTS_PER_POLE:
            some = np.concatenate([np.arange(count), tests + np.arange(count)])
            change = on_test_samples(
                [
                    Tested(float(quality[aside[i]]), False, _position(first, test_X[i]), _position(then, test_X[i]))
                    for i in some
                ]
            )
            held[f"{count} tests a pole"] = _held(change, "held_out")
        yield Case(data.name, k, seed, kind, lines, really, held)


def _poles(truth: protocol.Floats) -> protocol.Floats:
    middle = 0.5 if set(np.unique(truth)) <= {0.0, 1.0} else float(np.median(truth))
    return (truth > middle).astype(float)


def _held(change: Change | None, where: MeasuredOn) -> bool | None:
    return None if change is None else worse({"trait": change}, must_pass_failed=0, measured_on=where) is not None


def _position(result: SearchResult, x: kept.Vectors) -> float:
    return float(1 / (1 + np.exp(-(x.astype(np.float64) @ result.vector + result.offset))))


def _trait(X: kept.Vectors, y: protocol.Floats) -> TraitSamples:
    return TraitSamples("trait", "Trait", "positive", "negative", "mean", X, y, [str(i) for i in range(len(y))])


def _fitted(X: kept.Vectors, y: protocol.Floats, shares: Mapping[Candidate, float] | None = None) -> SearchResult:
    return search(evidence(X, y, list(range(len(y)))), EFFORTS[EFFORT], shares=shares)


if __name__ == "__main__":
    arguments = parser(__doc__ or "")
    arguments.add_argument("--data", type=Path, required=True, help="the folder of the sets")
    given = arguments.parse_args()
    ks, seeds = ((64,), 1) if given.quick else ((16, 64, 256), 10)
    publish("holding", lambda: measure(given.data, ks=ks, seeds=seeds), given.out)
