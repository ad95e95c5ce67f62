"""How well discovery recovers a hidden label from texts of one domain, beside plain principal components.

    python -m tests.benchmarks.discovery --data FOLDER [--quick]

The labels of a pool are hidden. What counts is the best AUROC, of either direction, of any axis that discovery shows,
beside that of as many first principal components of the same vectors. Tweets keep their neutral texts. The second
table says how often a name that calls texts positive and negative is right where the hidden label is favour.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tests.benchmarks import kept, protocol
from tests.benchmarks.page import Measured, Table, run
from traitbench.fitting.auroc import auroc
from traitbench.fitting.discover import discover
from traitbench.fitting.tones import contrasts

Floats = NDArray[np.float64]

TWEETS = ("english", "french", "german", "hindi", "portuguese")
FAVOUR = {"cr", "sst2", "emobank_v", *TWEETS}
SIZES = (40, 60, 150, 300)
_LOST = 0.02


def measure(folder: Path, *, sets: Sequence[str], sizes: Sequence[int], seeds: int) -> Measured:
    """Both tables; a cell of the first is the mean of all seeds, ours and that of plain components."""
    rows, cells, named = [], [], []
    with threadpool_limits(limits=1):
        directions = contrasts(kept.vectors)
        for name in sets:
            texts, labels = _labelled(name, folder)
            row = []
            for size in sizes:
                pools = [_drawn(labels, size, seed) for seed in range(seeds)]
                own = [_recovered([texts[i] for i in places], labels[places], directions) for places in pools]
                cells += [(size, *figures) for *figures, _ in own]
                named += [area for *_, areas in own for area in areas if name in FAVOUR]
                ours, plain, shown = np.mean([figures for *figures, _ in own], axis=0)
                row.append(f"{ours:.2f} / {plain:.2f} ({shown:.1f})")
            rows.append([name, *row])
    summary = []
    for size in sizes:
        ours, plain, shown = np.array([figures for at, *figures in cells if at == size]).T
        lost = np.mean(ours < plain - _LOST)
        summary.append([str(size), f"{ours.mean():.3f}", f"{plain.mean():.3f}", f"{shown.mean():.1f}", f"{lost:.0%}"])
    tables = [
        Table("Best AUROC of a hidden label: discovery / plain (axes)", ["set", *map(str, sizes)], rows),
        Table("All sets", ["texts", "discovery", "plain components", "axes", f"pools worse by {_LOST}"], summary),
    ]
    if named:
        right = sum(area > 0.5 for area in named)
        row = [str(len(named)), f"{right} of {len(named)}", f"{np.mean(named):.2f}"]
        tables.append(Table("Ends named positive and negative", ["axes", "the right way round", "mean AUROC"], [row]))
    return Measured(tables, {"cells": cells, "named": named})


def _labelled(name: str, folder: Path) -> tuple[list[str], Floats]:
    """Texts, and 1 or 0 for their pole, NaN for those in between."""
    if name in TWEETS:
        paths = [
            [folder / "xlmt" / f"{name}_{part}_{of}.txt" for of in ("text", "labels")] for part in ("train", "test")
        ]
        columns = [[path.read_text(encoding="utf-8").splitlines() for path in pair] for pair in paths]
        poles = {"0": 0.0, "1": np.nan, "2": 1.0}
        known = {text: poles[label] for texts, labels in columns for text, label in zip(texts, labels, strict=True)}
        return list(known), np.array(list(known.values()))
    data = protocol.load(name, folder)
    outer = np.where(data.quality > 2 / 3, 1.0, np.where(data.quality < 1 / 3, 0.0, np.nan))
    return list(data.pool), outer


def _drawn(labels: Floats, size: int, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng([seed, size]).permutation(len(labels))[:size]


def _recovered(texts: Sequence[str], labels: Floats, directions: Floats) -> tuple[float, float, int, list[float]]:
    """The best AUROC of discovery and of plain components, the number of axes, and that of axes named positive."""
    X, nothing = kept.vectors(texts), np.full(len(texts), np.nan)
    known = np.zeros((0, X.shape[1]))
    traits = discover(
        X, texts, ids=range(len(texts)), quality=nothing, known=known, effort="high", contrasts=directions
    ).traits
    centred = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    plain = np.linalg.svd(centred, full_matrices=False)[2][: len(traits)]
    labelled = ~np.isnan(labels)

    def area(axis: NDArray[np.floating]) -> float:
        return auroc(centred[labelled] @ axis.astype(np.float64), labels[labelled])

    best = [
        max((abs(area(axis) - 0.5) + 0.5 for axis in axes), default=0.5) for axes in ([t.axis for t in traits], plain)
    ]
    signs = {"positive": 1, "negative": -1}
    named = [(signs[w], t) for t in traits if (w := t.positive_label.partition(" ")[0]) in signs]
    return best[0], best[1], len(traits), [area(sign * trait.axis) for sign, trait in named]


if __name__ == "__main__":
    run(
        "discovery",
        measure,
        data=True,
        quick={"sets": ("cr",), "sizes": (60,), "seeds": 1},
        whole={"sets": (*protocol.SETS, *TWEETS), "sizes": SIZES, "seeds": 5},
    )
