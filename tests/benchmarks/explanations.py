"""Whether the words that an explanation names are those that decide: what leaving them out does to the score.

    python -m tests.benchmarks.explanations --data FOLDER [--quick]

One half of the texts of each demo model teaches, the other half is explained; of the sets, 64 samples of each pole
teach. From each explained text the five parts are left out that pull most towards its side, and five others by lot.
`moves more` is how often the first moves the score further, in log odds; `sum` is how far the parts are from adding up.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from tests.benchmarks import protocol
from tests.benchmarks.page import Measured, Table, run
from traitbench.contract.explanations import Explanation, Piece
from traitbench.estimators.scorer import Scorer
from traitbench.sample_data import demo_models

LEFT_OUT = 5
FEWEST_PARTS = 2 * LEFT_OUT

_SETS = ("clickbait", "cr", "sst2")
_TEACHING = 64


def measure(folder: Path, *, texts: int) -> Measured:
    """Explain so many texts of each trait."""
    lot = np.random.default_rng(0)
    rows, wins = [], list[bool]()
    for name, learn, labels, judge in _sources(folder):
        scorer = Scorer().fit(learn, labels)
        explained = [(text, scorer.explain(text)) for text in judge[:texts]]
        fit = [(text, each) for text, each in explained if len(_parts(each)) >= FEWEST_PARTS and each.unit == "logit"]
        moved = [_moved(scorer.decision_function, text, each, lot) for text, each in fit]
        own = [strongest > other for strongest, other in moved]
        off = max(abs(each.baseline + sum(part.contribution for part in each.parts) - each.position) for _, each in fit)
        wins += own
        means = (float(np.mean(each)) for each in zip(*moved, strict=True))
        rows.append((name, f"{len(own)}", f"{np.mean(own):.1%}", *(f"{each:+.2f}" for each in means), f"{off:.0e}"))
    columns = ("set", "texts", "moves more", "the five strongest", "five by lot", "sum")
    return Measured([Table("Leaving out five parts", columns, rows)], {"moves_more": float(np.mean(wins))})


def _sources(folder: Path) -> Iterator[tuple[str, list[str], list[str], list[str]]]:
    """The name of each trait, texts with labels to learn from, and texts to explain."""
    for model in demo_models():
        for trait in model.traits:
            own = [each for each in model.samples if each["trait"] == trait["key"] and each["quality"] != 0.5]
            # The poles take turns.
            learn, judge = ([each for at, each in enumerate(own) if at // 2 % 2 == half] for half in (0, 1))
            labels = ["positive" if each["quality"] > 0.5 else "negative" for each in learn]
            texts = ([each["text"] for each in half] for half in (learn, judge))
            yield f"{model.handle} {trait['key']}", next(texts), labels, next(texts)
    for name in _SETS:
        for draw in protocol.draws(protocol.load(name, folder), [_TEACHING], 1):
            labels = ["positive" if quality > 0.5 else "negative" for quality in draw.quality]
            yield name, list(draw.texts), labels, list(draw.data.test)


def _parts(explanation: Explanation) -> list[Piece]:
    return [piece for part in explanation.parts for piece in (part.pieces or [part])]


def _moved(
    odds: Callable[[Sequence[str]], np.ndarray], text: str, explanation: Explanation, lot: np.random.Generator
) -> tuple[float, float]:
    """How far the score moves away from its side, in log odds: without the strongest parts, and without others."""
    parts = _parts(explanation)
    side = 1.0 if explanation.position > explanation.baseline else -1.0
    order = sorted(range(len(parts)), key=lambda at: -side * parts[at].contribution)
    without = [order[:LEFT_OUT], lot.choice(len(parts), LEFT_OUT, replace=False).tolist()]
    left = [" ".join(text[each.start : each.end] for at, each in enumerate(parts) if at not in out) for out in without]
    whole, strongest, other = odds([text, *left])
    return abs(float(whole - strongest)), abs(float(whole - other))


if __name__ == "__main__":
    run("explanations", measure, quick={"texts": 10}, whole={"texts": 60}, data=True)
