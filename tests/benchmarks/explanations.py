"""Whether the words that an explanation names are those that decide: what leaving them out does to the score.

    python -m tests.benchmarks.explanations --data FOLDER [--quick]

One half of the texts of each demo model teaches, the other half is explained; of the sets, and of the tweets of each
language, 64 samples of each pole teach. Of our own reviews in other scripts (`reviews`), each half teaches, and pairs
of the other half are explained. From each explained text the five parts are left out that pull most towards its side,
and five others by lot. `moves more` is how often the first moves the score further, in log odds; `sum` is how far the
parts are from adding up.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from tests.benchmarks import protocol
from tests.benchmarks.page import Measured, Table, run
from tests.benchmarks.reviews import COMPLAINING, PRAISING
from traitbench.contract.explanations import Explanation, Piece
from traitbench.estimators.scorer import Scorer
from traitbench.sample_data import demo_models

LEFT_OUT = 5
FEWEST_PARTS = 2 * LEFT_OUT

_SETS = ("clickbait", "cr", "sst2")
_LANGUAGES = ("english", "german", "french", "portuguese", "hindi")
_TEACHING = 64
_SPACES = re.compile(" {2,}")


def measure(folder: Path, *, texts: int) -> Measured:
    """Explain so many texts of each trait."""
    lot = np.random.default_rng(0)
    moved: dict[str, list[tuple[float, float]]] = {}
    off: dict[str, float] = {}
    for name, learn, labels, judge in _sources(folder):
        scorer = Scorer().fit(learn, labels)
        explained = [(text, scorer.explain(text)) for text in judge[:texts]]
        fit = [(text, each) for text, each in explained if len(_parts(each)) >= FEWEST_PARTS and each.unit == "logit"]
        moved.setdefault(name, []).extend(_moved(scorer.decision_function, text, each, lot) for text, each in fit)
        sums = (each.baseline + sum(part.contribution for part in each.parts) - each.position for _, each in fit)
        off[name] = max((off.get(name, 0.0), *map(abs, sums)))
    rows, wins = [], list[bool]()
    for name, each in moved.items():
        own = [strongest > other for strongest, other in each]
        wins += own
        means = (float(np.mean(side)) for side in zip(*each, strict=True))
        row = (name, f"{len(own)}", f"{np.mean(own):.1%}", *(f"{mean:+.2f}" for mean in means), f"{off[name]:.0e}")
        rows.append(row)
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
    for language in _LANGUAGES:
        tweets, poles = _tweets(folder, language, "train")
        rows = [at for pole in ("positive", "negative") for at in _first(poles, pole)]
        judged, _ = _tweets(folder, language, "test")
        yield f"tweets {language}", [tweets[at] for at in rows], [poles[at] for at in rows], judged
    yield from _reviews()


def _reviews() -> Iterator[tuple[str, list[str], list[str], list[str]]]:
    for language, praising in PRAISING.items():
        texts = [text for pair in zip(praising, COMPLAINING[language], strict=True) for text in pair]
        labels = ["positive", "negative"] * len(praising)
        middle = len(praising)
        for taught, judged in ((slice(middle), slice(middle, None)), (slice(middle, None), slice(middle))):
            # Two reviews of a pole together have ten parts in every language.
            own = texts[judged]
            pairs = [f"{text}\n{own[(at + 2) % len(own)]}" for at, text in enumerate(own)]
            yield f"reviews {language}", texts[taught], labels[taught], pairs


def _tweets(folder: Path, language: str, part: str) -> tuple[list[str], list[str]]:
    """The texts at the poles and their labels; neutral ones are left out."""
    texts, labels = (
        (folder / "xlmt" / f"{language}_{part}_{of}.txt").read_text("utf-8").removesuffix("\n").split("\n")
        for of in ("text", "labels")
    )
    poles = {"0": "negative", "2": "positive"}
    rows = [(text, poles[label]) for text, label in zip(texts, labels, strict=True) if label in poles]
    return [text for text, _ in rows], [label for _, label in rows]


def _first(labels: Sequence[str], pole: str) -> list[int]:
    return [at for at, label in enumerate(labels) if label == pole][:_TEACHING]


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
    whole, strongest, other = odds([text, *(_without(text, [parts[at] for at in out]) for out in without)])
    return abs(float(whole - strongest)), abs(float(whole - other))


def _without(text: str, parts: Sequence[Piece]) -> str:
    """The text without these parts. The spaces around one become one, but no space comes where there was none."""
    for part in sorted(parts, key=lambda part: -part.start):
        text = text[: part.start] + text[part.end :]
    return _SPACES.sub(" ", text).strip()


if __name__ == "__main__":
    run("explanations", measure, quick={"texts": 10}, whole={"texts": 60}, data=True)
