"""Whether confidence is a promise that is kept: how often the side is right, by confidence, on texts not learnt from.

    python -m tests.benchmarks.confidence --data FOLDER [--quick]

Every version is trained on real samples and, once more, on the same number of texts with labels assigned at random.
Each is then asked about the set's test texts, and about texts that are unlike all samples: other sets, random letters,
digits, and other languages. Last, every version scores the test texts of every other set, and tweets in several
languages if the folder has them (`protocol.tweets`).
"""

import random
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tests.benchmarks import kept, protocol
from tests.benchmarks.page import Measured, Table, run
from tests.benchmarks.protocol import LANGUAGES
from tests.benchmarks.scorers import fitted
from traitbench.scoring.card import ceiling, choose, project_whole, read
from traitbench.scoring.snapshot import Snapshot

KS = (2, 4, 8, 16, 64, 256)
LEVELS = ("high", "moderate", "low")
_MOST_FRESH = 500
_UNLIKE = 60

OTHER_LANGUAGES: Mapping[str, Sequence[str]] = {
    "German, French, Spanish": (
        "Vielen Dank für Ihre schnelle Hilfe, ich bin sehr zufrieden.",
        "Der Zug hatte heute wieder eine Stunde Verspätung.",
        "Ich möchte meine Bestellung stornieren.",
        "Merci beaucoup pour votre aide, je suis très content.",
        "Le train avait encore une heure de retard ce matin.",
        "Je voudrais annuler ma commande, s'il vous plaît.",
        "Muchas gracias por su ayuda, estoy muy contento.",
        "El tren llegó otra vez con una hora de retraso.",
        "Quisiera cancelar mi pedido, por favor.",
    ),
    "Russian, Chinese, Hindi": (
        "Большое спасибо за помощь, я очень доволен.",
        "Поезд снова опоздал на час.",
        "非常感谢您的帮助，我很满意。",
        "火车今天又晚点了一个小时。",
        "आपकी मदद के लिए बहुत धन्यवाद, मैं बहुत खुश हूँ।",
        "ट्रेन आज फिर एक घंटा देर से आई।",
    ),
}

_OPINIONS = ("cr", "sst2", *LANGUAGES)
_RELATED = "emobank_v"

# A name of texts and k, with real or random labels: how many texts have a confidence, and how many of these are right.
_Tally = Counter[tuple[str, int, bool, str, str]]


def measure(folder: Path, *, sets: Sequence[str], ks: Sequence[int], seeds: int) -> Measured:
    """All counts, and their tables."""
    tally: _Tally = Counter()
    datas = {name: protocol.load(name, folder) for name in sets}
    tweets = protocol.tweets(folder)
    pairs: _Tally = Counter()
    with threadpool_limits(limits=1):
        for data in (datas | tweets).values():
            for draw in protocol.draws(data, [k for k in ks if k > 2], min(seeds, 2)):
                _pairs(pairs, draw, datas | tweets)
        for data in datas.values():
            unlike = {**_gibberish(), **OTHER_LANGUAGES, "another set": _others(data.name, datas)}
            for draw in protocol.draws(data, ks, seeds):
                _cell(tally, draw, unlike)
    tables = [_kept(tally, ks), _shares(tally, ks), _of_pairs(pairs, [k for k in ks if k > 2])]
    counts = {name: [[*key, n] for key, n in sorted(of.items())] for name, of in (("counts", tally), ("pairs", pairs))}
    return Measured(tables, counts)


def pair(source: str, target: str) -> str:
    """What the texts of a set are to a version that was trained on another one."""
    if source == target:
        return "the same set"
    if source in LANGUAGES and target in LANGUAGES:
        if "hindi" in (source, target):
            return "tweets, from or to Hindi"
        if source == "english":
            return "tweets, from English"
        return "tweets, to English" if target == "english" else "tweets, between other languages"
    if source.startswith("emobank") and target.startswith("emobank"):
        return "another question, the same texts"
    elsewhere = "" if {source, target}.isdisjoint(LANGUAGES[1:]) else ", another language"
    if source in _OPINIONS and target in _OPINIONS:
        return f"the same question, another source{elsewhere}"
    if _RELATED in (source, target) and (source in _OPINIONS or target in _OPINIONS):
        return f"a related question{elsewhere}"
    return "an unrelated question"


def _pairs(tally: _Tally, draw: protocol.Draw, datas: Mapping[str, protocol.Data]) -> None:
    snapshot = fitted(draw.texts, draw.quality, trait=vars(draw.data.trait), effort="medium").snapshot
    for name, data in datas.items():
        truth = data.truth[:_MOST_FRESH]
        positive = truth > (np.median(truth) if data.graded else 0.5)
        _count(tally, snapshot, pair(draw.data.name, name), draw.k, True, data.test[:_MOST_FRESH], positive)


def _cell(tally: _Tally, draw: protocol.Draw, unlike: Mapping[str, Sequence[str]]) -> None:
    data, k = draw.data, draw.k
    fresh, truth = data.test[:_MOST_FRESH], data.truth[:_MOST_FRESH]
    positive = truth > (np.median(truth) if data.graded else 0.5)
    lot = np.random.default_rng([draw.seed, k])
    assigned = lot.permutation([1.0] * k + [0.0] * (len(draw.texts) - k)).tolist()
    for real, labels in ((True, draw.quality), (False, assigned)):
        trait = vars(data.trait) if real else {"name": "", "positive_label": "a", "negative_label": "b"}
        snapshot = fitted(draw.texts, labels, trait=trait, effort="medium", labels=real).snapshot
        _count(tally, snapshot, "new texts", k, real, fresh, positive if real else lot.random(len(fresh)) > 0.5)
        if real:
            for name, texts in unlike.items():
                _count(tally, snapshot, name, k, real, texts, None)


def _count(
    tally: _Tally,
    snapshot: Snapshot,
    name: str,
    k: int,
    real: bool,
    texts: Sequence[str],
    positive: NDArray[np.bool_] | None,
) -> None:
    """By the rule of today, and by the rule of quartiles alone, as it was before."""
    trait = snapshot.traits[0]
    for i, placed in enumerate(project_whole(snapshot, texts, kept.vectors(texts))):
        score = read(snapshot, choose(snapshot, None), placed).traits[trait.key]
        before = ceiling(score.score, trait.breaks, trait.positive, trait.negative)
        right = positive is not None and (score.score > 50) == bool(positive[i]) and score.score != 50
        for rule, level in (("now", score.confidence), ("before", before)):
            tally[name, k, real, rule, level] += 1
            tally[name, k, real, f"{rule}, right", level] += right
        tally[name, k, real, "now", "unlike"] += placed.unlike


def _kept(tally: _Tally, ks: Sequence[int]) -> Table:
    rows = [
        [f"{level}, {rule}", *(_share(tally, "new texts", k, True, f"{rule}, right", rule, level) for k in ks)]
        for rule in ("before", "now")
        for level in LEVELS
    ]
    note = "How often the side is right among the texts that have this confidence, and their share of all."
    return Table("Right side by confidence", ["confidence", *(f"k={k}" for k in ks)], rows, note)


def _shares(tally: _Tally, ks: Sequence[int]) -> Table:
    names = list(dict.fromkeys(name for name, *_ in tally))
    rows = [
        [f"random labels: {level}, {rule}", *(_part(tally, "new texts", k, False, rule, level) for k in ks)]
        for rule in ("before", "now")
        for level in ("high", "moderate")
    ]
    rows += [[f"{name}: unlike", *(_part(tally, name, k, True, "now", "unlike") for k in ks)] for name in names]
    rows += [
        [f"{name}: high, {rule}", *(_part(tally, name, k, True, rule, "high") for k in ks)]
        for rule in ("before", "now")
        for name in names
        if name != "new texts"
    ]
    return Table("Share of texts", ["texts", *(f"k={k}" for k in ks)], rows)


def _of_pairs(tally: _Tally, ks: Sequence[int]) -> Table:
    names = list(dict.fromkeys(name for name, *_ in tally))
    rows = [
        [f"{name}: {level}", *(_share(tally, name, k, True, "now, right", "now", level) for k in ks)]
        for name in names
        for level in ("high", "moderate")
    ]
    rows += [[f"{name}: unlike", *(_part(tally, name, k, True, "now", "unlike") for k in ks)] for name in names]
    note = "As above, on the texts of every set. An unrelated question has other labels, so only the shares count."
    return Table("Every set scored by the versions of every set", ["texts", *(f"k={k}" for k in ks)], rows, note)


def _share(tally: _Tally, name: str, k: int, real: bool, right: str, rule: str, level: str) -> str:
    count = tally[name, k, real, rule, level]
    if not count:
        return "none"
    return f"{tally[name, k, real, right, level] / count:.3f} ({_part(tally, name, k, real, rule, level)})"


def _part(tally: _Tally, name: str, k: int, real: bool, rule: str, level: str) -> str:
    total = sum(tally[name, k, real, rule, each] for each in LEVELS)
    return f"{100 * tally[name, k, real, rule, level] / total:.1f} %" if total else ""


def _gibberish() -> dict[str, Sequence[str]]:
    lot = random.Random(1)

    def words(alphabet: str) -> list[str]:
        made = [["".join(lot.choices(alphabet, k=lot.randint(3, 9))) for _ in range(4 + i % 8)] for i in range(_UNLIKE)]
        return [" ".join(each) for each in made]

    return {"random letters": words(string.ascii_lowercase), "digits": words(string.digits)}


def _others(name: str, datas: Mapping[str, protocol.Data]) -> list[str]:
    """Some texts of every set that is not of the same origin."""
    origin = protocol.SETS[name].origin
    others = [data for other, data in datas.items() if protocol.SETS[other].origin != origin]
    return [text for data in others for text in data.test[: _UNLIKE // 3]]


if __name__ == "__main__":
    run(
        "confidence",
        measure,
        data=True,
        quick={"sets": ("cr", "spam"), "ks": (8, 64), "seeds": 1},
        whole={"sets": tuple(protocol.SETS), "ks": KS, "seeds": protocol.SEEDS},
    )
