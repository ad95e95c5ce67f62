"""What made texts are worth: alone, and with a few real samples, against the label axis alone.

    python -m tests.benchmarks.synthesis --data FOLDER [--quick]

`offline` are texts from word frames. `endpoint` is a service on this machine that answers, over real HTTP, with texts
of the set's own pool, one in ten with the wrong label, as JSON that breaks off in every fourth answer. It stands for a
language model that writes like the real thing: a bound, not a measurement of any model. `varied` are variations of the
real samples, offline. All pass the quality filter. AUROC for sets with two labels, Spearman for graded ones.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tests.benchmarks import kept, protocol
from tests.benchmarks.page import Measured, Table, run
from tests.benchmarks.scorers import fitted, label_axis
from tests.llm_endpoint import MODEL, llm_endpoint
from tests.scoring.positions import positions
from traitbench.encoders.vocabulary import load_vocabulary
from traitbench.scoring.inputs import Vocabulary
from traitbench.synthesis import Exemplar, Seed, TraitPoles, written
from traitbench.synthesis.language_model import Endpoint
from traitbench.synthesis.offline import synthesize

SETS = ("cr", "sst2", "clickbait", "spam", "bank_card", "emobank_v")
QUICK = ("cr", "clickbait", "spam", "emobank_v")
KS = (4, 8)

_EFFORT = "medium"
_WRONG, _BROKEN = 10, 4
_PER_ANSWER = 4

Made = Sequence[Exemplar]


@dataclass(frozen=True)
class Cell:
    """How well a way of teaching did on a set, and how many made texts it had and rejected."""

    way: str
    set: str
    figure: float
    made: int = 0
    rejected: int = 0


def cells(folder: Path, sets: Sequence[str], seeds: int) -> Iterator[Cell]:
    """Every way on every set; what depends on a draw has one cell per seed."""
    for name in sets:
        data = protocol.load(name, folder)
        poles = TraitPoles("trait", **vars(data.trait))
        axis = label_axis(vars(data.trait))
        test = kept.vectors(data.test)
        yield Cell("label axis", name, _figure(data, (test @ axis) if axis is not None else np.zeros(len(test))))
        offline = _offline(poles, "from_traits")
        yield Cell("offline", name, _taught(data, [], offline[0]), len(offline[0]), offline[1])
        for seed in range(seeds):
            for k in KS:
                chosen = protocol.sample(data, k, seed)
                if chosen is None:
                    continue
                real = [(data.pool[i], float(data.quality[i])) for i in chosen.tolist()]
                if k == KS[0]:
                    asked = _asked(data, poles, seed, {text for text, _ in real})
                    yield Cell("endpoint", name, _taught(data, [], asked[0]), len(asked[0]), asked[1])
                yield Cell(f"k={k}", name, _taught(data, real, ()))
                yield Cell(f"k={k} + offline", name, _taught(data, real, offline[0]), len(offline[0]))
                yield Cell(f"k={k} + endpoint", name, _taught(data, real, asked[0]), len(asked[0]))
                varied = _offline(poles, "diversify", [Seed("trait", *each) for each in real])
                yield Cell(f"k={k} + varied", name, _taught(data, real, varied[0]), len(varied[0]), varied[1])


def _figure(data: protocol.Data, scores: Sequence[float] | NDArray[np.floating]) -> float:
    return protocol.rank(data, np.asarray(scores, np.float64))


def _taught(data: protocol.Data, real: Sequence[tuple[str, float]], made: Made) -> float:
    """The figure of a training on real and made texts."""
    texts = [*(text for text, _ in real), *(each.text for each in made)]
    if not texts:
        return float("nan")
    quality = [*(quality for _, quality in real), *(each.quality for each in made)]
    groups = [_group(real, each) for each in (*real, *made)]
    trained = fitted(texts, quality, trait=vars(data.trait), effort=_EFFORT, groups=groups, synthesized=len(made))
    return _figure(data, positions(trained.snapshot, kept.encoded, data.test)[:, 0])


def _group(real: Sequence[tuple[str, float]], each: Any) -> str:
    """A variation goes with its seed."""
    if isinstance(each, Exemplar):
        return each.text if each.seed_index is None else real[each.seed_index][0]
    return str(each[0])


def _offline(poles: TraitPoles, synth_type: str, seeds: Sequence[Seed] = ()) -> tuple[Made, int]:
    words = _vocabulary()
    try:
        result = synthesize(
            [poles],
            synth_type=synth_type,
            effort=_EFFORT,
            encode=kept.encoded,
            words=words.words,
            word_vectors=words.vectors,
            seeds=seeds,
        )
    except ValueError:
        return (), 0
    return result.exemplars, sum(result.rejected.values())


@cache
def _vocabulary() -> Vocabulary:
    return load_vocabulary(kept.encoder(), cache=kept.FOLDER)


def _asked(data: protocol.Data, poles: TraitPoles, seed: int, known: set[str]) -> tuple[Made, int]:
    """What passes the quality filter of the answers of an endpoint that has texts like those of the set."""
    with llm_endpoint(_script(data, seed, known)) as service:
        result = written.generate(
            Endpoint(service.url, MODEL),
            [poles],
            synth_type="from_traits",
            effort=_EFFORT,
            seeds=(),
            known={"trait": sorted(known)},
            encode=kept.encoded,
            axis=lambda poles: label_axis(vars(data.trait)),
            on_progress=lambda _done, _total: None,
        )
    return result.exemplars, len(result.rejects) + result.invalid


def _script(data: protocol.Data, seed: int, known: set[str]) -> Callable[[dict[str, Any]], str]:
    lot = np.random.default_rng([seed, 17])
    quality = np.asarray(data.quality, float)
    ends = np.quantile(quality, (0.2, 0.8)) if data.graded else (0.5, 0.5)
    poles = [np.flatnonzero(quality >= ends[1]), np.flatnonzero(quality <= ends[0])]
    if not data.graded:
        poles = [np.flatnonzero(quality > 0.5), np.flatnonzero(quality < 0.5)]
    answers = 0

    def answer(_: dict[str, Any]) -> str:
        nonlocal answers
        answers += 1
        items = []
        for pole, rows in enumerate(poles):
            for row in lot.choice(rows, _PER_ANSWER, replace=False).tolist():
                wrong = lot.integers(_WRONG) == 0
                if data.pool[row] not in known:
                    items.append({"text": data.pool[row], "quality": float(pole if wrong else 1 - pole)})
        content = json.dumps({"items": items})
        return content[: len(content) * 2 // 3] if answers % _BROKEN == 0 else content

    return answer


# ---- tables ----------------------------------------------------------------------------------------------------------


def measure(folder: Path, *, sets: Sequence[str], seeds: int) -> Measured:
    """All cells, and their table: means over the seeds."""
    with threadpool_limits(limits=1):
        every = list(cells(folder, sets, seeds))
    ways = list(dict.fromkeys(cell.way for cell in every))
    means = {
        (way, name): np.mean([cell.figure for cell in every if (cell.way, cell.set) == (way, name)])
        for way in ways
        for name in sets
    }
    rows = []
    for way in ways:
        own = [cell for cell in every if cell.way == way]
        made, rejected = (np.mean([getattr(cell, field) for cell in own]) for field in ("made", "rejected"))
        figures = [f"{means[way, name]:.3f}" for name in sets]
        rows.append(
            [way, *figures, f"{np.mean([means[way, name] for name in sets]):.3f}", f"{made:.0f}", f"{rejected:.0f}"]
        )
    columns = ["taught by", *sets, "mean", "made", "rejected"]
    return Measured([Table("What made texts are worth", columns, rows)], {"cells": [vars(cell) for cell in every]})


if __name__ == "__main__":
    run("synthesis", measure, data=True, quick={"sets": QUICK, "seeds": 1}, whole={"sets": SETS, "seeds": 3})
