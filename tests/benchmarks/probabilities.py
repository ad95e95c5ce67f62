"""Whether the probabilities that doors give are those of the poles: how often a text is at the pole, by probability.

    python -m tests.benchmarks.probabilities --data FOLDER [--quick]

Every version is trained on real samples of a set and asked about its test texts, the two poles of them equally often.
What is asked is the probability of the positive pole as other programs get it (`traitbench.doors.probability`), beside
the position of the text, which it is without the rule for low confidence. The expected calibration error takes ten bins
of equal width, weighted by their texts.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tests.benchmarks import kept, protocol
from tests.benchmarks.page import Measured, Table, run
from tests.benchmarks.scorers import fitted
from traitbench.doors import probability
from traitbench.scoring.card import choose, project_whole, read

BINS = 10
_MOST_TEXTS = 500
ALL, SURE, UNSURE = "all", "high or moderate", "low"

# By set, k and confidence: the position and the probability of each text, and whether it is at the positive pole.
_Rows = Mapping[tuple[str, int, str], Sequence[tuple[float, float, bool]]]


def measure(folder: Path, *, sets: Sequence[str], ks: Sequence[int], seeds: int) -> Measured:
    """The calibration errors by set, and the bins of all sets."""
    rows: dict[tuple[str, int, str], list[tuple[float, float, bool]]] = defaultdict(list)
    with threadpool_limits(limits=1):
        for name in sets:
            for draw in protocol.draws(protocol.load(name, folder), ks, seeds):
                for row, confidence in _scored(draw):
                    rows[name, draw.k, SURE if confidence != "low" else UNSURE].append(row)
    tables = [_errors(rows, sets, ks), *(_bins(rows, k) for k in ks)]
    return Measured(tables, {"rows": [[*key, own] for key, own in rows.items()]})


def _scored(draw: protocol.Draw) -> Iterator[tuple[tuple[float, float, bool], str]]:
    data = draw.data
    snapshot = fitted(draw.texts, draw.quality, trait=vars(data.trait), effort="medium").snapshot
    texts, truth = data.test[:_MOST_TEXTS], data.truth[:_MOST_TEXTS]
    positive = truth > (np.median(truth) if data.graded else 0.5)
    chosen, key = choose(snapshot, None), snapshot.traits[0].key
    for place, is_positive in zip(project_whole(snapshot, texts, kept.vectors(texts)), positive, strict=True):
        score = read(snapshot, chosen, place).traits[key]
        given = probability.at(score.polarity, score.confidence)
        yield ((score.polarity + 1) / 2, given, bool(is_positive)), score.confidence


def calibration_error(given: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """The mean distance of probability and frequency in bins of equal width, weighted by their texts."""
    bins = np.minimum((given * BINS).astype(int), BINS - 1)
    own = [bins == number for number in range(BINS)]
    return float(sum(abs(given[each].mean() - positive[each].mean()) * each.mean() for each in own if each.any()))


def _columns(rows: _Rows, sets: Sequence[str], k: int, confidence: str) -> tuple[NDArray[np.float64], ...]:
    levels = (SURE, UNSURE) if confidence == ALL else (confidence,)
    some = [row for name in sets for level in levels for row in rows.get((name, k, level), ())]
    return tuple(np.array(column, np.float64) for column in zip(*some, strict=True)) if some else (np.empty(0),) * 3


def _errors(rows: _Rows, sets: Sequence[str], ks: Sequence[int]) -> Table:
    lines = []
    for label, own in [*((name, [name]) for name in sets), ("all sets", [*sets])]:
        cells = []
        for k in ks:
            _, sure, is_sure = _columns(rows, own, k, SURE)
            position, given, positive = _columns(rows, own, k, ALL)
            cells.append(
                f"{calibration_error(sure, is_sure > 0):.3f} ({len(sure) / len(given):.0%}), "
                f"{calibration_error(given, positive > 0):.3f}, {calibration_error(position, positive > 0):.3f}"
                if len(sure)
                else f"-, {calibration_error(given, positive > 0):.3f}, {calibration_error(position, positive > 0):.3f}"
            )
        lines.append([label, *cells])
    note = (
        "Expected calibration error of the probability at confidence high or moderate (their share of the texts), of"
        " the probability of all texts, and of the position of all texts."
    )
    return Table("Reliability of probabilities", ["set", *(f"k={k}" for k in ks)], lines, note)


def _bins(rows: _Rows, k: int) -> Table:
    sets = sorted({name for name, *_ in rows})
    lines = []
    for number in range(BINS):
        cells = [f"{number / BINS:.1f} to {(number + 1) / BINS:.1f}"]
        for confidence in (SURE, UNSURE):
            _, given, positive = _columns(rows, sets, k, confidence)
            own = np.minimum((given * BINS).astype(int), BINS - 1) == number
            cells += [f"{own.sum()}", f"{given[own].mean():.2f}" if own.any() else "", ""]
            cells[-1] = f"{positive[own].mean():.2f}" if own.any() else ""
        lines.append(cells)
    head = ["probability", "texts, sure", "mean", "at the pole", "texts, low", "mean", "at the pole"]
    return Table(f"By probability, {k} samples per pole, all sets", head, lines)


if __name__ == "__main__":
    run(
        "probabilities",
        measure,
        data=True,
        quick={"sets": ("cr", "spam"), "ks": (8, 64), "seeds": 1},
        whole={"sets": tuple(protocol.SETS), "ks": (4, 8, 32, 128), "seeds": 2},
    )
