"""How well the product tells texts apart, measured on real data against a baseline in the same run. A script, no test.

    python tests/benchmarks/quality.py --bench ../shared/bench_scoring.py --data ../shared/data [--seeds 3] [--sets ...]

Three scorers see the same samples: the product (its encoder, `fit` and `score`, unrounded), LogisticRegression (C=1) on
the sentence vector that MiniLM's authors published, and LogisticRegression (C=10) on the product's vectors. Each is
also a scorer for the benchmark itself: `bench_scoring.py --scorer quality:product`, run in this folder. Vectors are
kept by text in a folder of the system's temporary one; `--speed` measures the encoder instead.
"""

# ruff: noqa: T201

import argparse
import hashlib
import importlib.util
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.encoders import Encoder  # noqa: E402
from core.encoders.registry import load_encoder  # noqa: E402
from core.scoring.card import positions  # noqa: E402
from core.scoring.fit import EncoderIdentity, TraitSamples, fit  # noqa: E402
from core.scoring.segments import embed  # noqa: E402
from tests.encoders.reference import Reference  # noqa: E402

Vectors = NDArray[np.float32]
Scores = Sequence[float]

KEPT = Path(tempfile.gettempdir()) / "traitbench-quality"
EFFORT = "high"

# SCORING.md C2, "no prior": five seeds, so three may differ by chance, most at k = 8.
REFERENCE: Mapping[str, Mapping[int, float]] = {
    "bank_card": {8: 0.795, 64: 0.930, 256: 0.959},
    "clickbait": {8: 0.979, 64: 0.992, 256: 0.997},
    "spam": {8: 0.991, 64: 0.994, 256: 0.997},
    "cr": {8: 0.792, 64: 0.903, 256: 0.923},
    "sst2": {8: 0.715, 64: 0.849, 256: 0.888},
}


def product(train: Sequence[str], quality: Sequence[float], test: Sequence[str], **_: Any) -> Scores:
    """The product: its encoder, its fit, its score."""
    encoder = _encoder()
    samples = TraitSamples(
        key="trait",
        name="trait",
        positive_label="positive",
        negative_label="negative",
        aggregation="mean",
        X=embed(_kept_encode, train),
        y=np.array(quality, np.float64),
        groups=[hashlib.sha256(text.encode()).hexdigest() for text in train],
    )
    identity = EncoderIdentity(encoder.id, encoder.dimension, encoder.digest)
    trained = fit([samples], encoder=identity, scoring_method="balanced_cosine", max_depth=1, effort=EFFORT)
    return [float(score) for score in positions(trained.snapshot, _kept_encode, test)[:, 0]]


def published(train: Sequence[str], quality: Sequence[float], test: Sequence[str], **_: Any) -> Scores:
    """The baseline: logistic regression on the published sentence vector."""
    return _logistic(_published_vectors, train, quality, test, strength=1.0)


def own_vectors(train: Sequence[str], quality: Sequence[float], test: Sequence[str], **_: Any) -> Scores:
    """Logistic regression on the product's vectors."""
    return _logistic(lambda texts: embed(_kept_encode, texts), train, quality, test, strength=10.0)


SCORERS = {"product": product, "LR published": published, "LR own": own_vectors}


def _logistic(
    vectors: Callable[[Sequence[str]], Vectors],
    train: Sequence[str],
    quality: Sequence[float],
    test: Sequence[str],
    *,
    strength: float,
) -> Scores:
    positive = np.array(quality) > 0.5
    learnt = LogisticRegression(C=strength, max_iter=2_000).fit(vectors(train), positive)
    return [float(score) for score in learnt.predict_proba(vectors(test))[:, 1]]


# ---- vectors, kept -------------------------------------------------------------------------------------------------


@cache
def _encoder() -> Encoder:
    return load_encoder(None, cache=KEPT)


def _kept_encode(texts: Sequence[str]) -> Vectors:
    encoder = _encoder()
    return _kept(encoder.digest, encoder.encode, texts)


def _published_vectors(texts: Sequence[str]) -> Vectors:
    return _kept("published", lambda missing: np.array([_reference().published(text) for text in missing]), texts)


@cache
def _reference() -> Reference:
    return Reference()


def _kept(kind: str, make: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> Vectors:
    known = _memory(kind)
    missing = list(dict.fromkeys(text for text in texts if text not in known))
    if missing:
        made = dict(zip(missing, make(missing), strict=True))
        known.update(made)
        with _store() as store:
            rows = [(kind, text, row.astype(np.float32).tobytes()) for text, row in made.items()]
            store.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
    return np.array([known[text] for text in texts])


@cache
def _memory(kind: str) -> dict[str, Vectors]:
    found = _store().execute("SELECT text, vector FROM vectors WHERE kind = ?", (kind,))
    return {text: np.frombuffer(vector, np.float32) for text, vector in found}


@cache
def _store() -> sqlite3.Connection:
    KEPT.mkdir(exist_ok=True)
    store = sqlite3.connect(KEPT / "vectors.db")
    store.execute("CREATE TABLE IF NOT EXISTS vectors (kind TEXT, text TEXT, vector BLOB, PRIMARY KEY (kind, text))")
    return store


# ---- the run -------------------------------------------------------------------------------------------------------


def _load_bench(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_scoring", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _quality(bench: ModuleType, folder: Path, sets: Sequence[str], ks: Sequence[int], seeds: int) -> None:
    print(f"AUROC, {seeds} seeds; C2 = SCORING.md, no prior, five seeds; Brier and ECE of product and LR published")
    print("set         k   product  LR publ.  LR own     C2   to C2  to LR    Brier        ECE")
    for name in sets:
        data = bench.load(name, str(folder))
        for k in ks:
            print(_row(name, k, _measured(bench, data, k, seeds)), flush=True)


def _measured(bench: ModuleType, data: Mapping[str, Any], k: int, seeds: int) -> dict[str, dict[str, float]]:
    found: dict[str, list[dict[str, float]]] = {name: [] for name in SCORERS}
    for seed in range(seeds):
        chosen = bench.sample(data, k, seed)
        train = [data["pool_texts"][i] for i in chosen]
        for name, scorer in SCORERS.items():
            scores = scorer(train, data["pool_y"][chosen], data["test_texts"])
            found[name].append(bench.metrics(data["test_y"], scores, False))
    return {name: {key: statistics.mean(run[key] for run in runs) for key in runs[0]} for name, runs in found.items()}


def _row(name: str, k: int, found: Mapping[str, Mapping[str, float]]) -> str:
    ours, theirs, own = (found[scorer]["auroc"] for scorer in SCORERS)
    known = REFERENCE.get(name, {}).get(k, float("nan"))
    rest = "  ".join(
        f"{found['product'][figure]:.3f} {found['LR published'][figure]:.3f}" for figure in ("brier", "ece")
    )
    return (
        f"{name:10s} {k:3d}    {ours:.4f}    {theirs:.4f}  {own:.4f}  {known:.3f}"
        f"  {ours - known:+.3f} {ours - theirs:+.3f}   {rest}"
    )


# ---- speed ---------------------------------------------------------------------------------------------------------

_START = """
import sys, time
from pathlib import Path
began = time.perf_counter()
from core.encoders.registry import load_encoder
load_encoder(None, cache=Path(sys.argv[1])).encode(["ready"])
print(time.perf_counter() - began)
"""


def _speed() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for when in ("first", "later"):
            took = subprocess.run(
                [sys.executable, "-c", _START, folder], cwd=ROOT, capture_output=True, text=True, check=True
            )
            print(f"load and first vector, {when} start: {float(took.stdout):.2f} s")
    words = "one text of twenty words with a number at its end so that every single one of them is another: {}"
    encoder, times = _encoder(), []
    for i in range(500):
        began = time.perf_counter()
        encoder.encode([words.format(i)])
        times.append(1000 * (time.perf_counter() - began))
    print(f"20 words, one text: p50 {np.percentile(times, 50):.2f} ms, p99 {np.percentile(times, 99):.2f} ms")
    began = time.perf_counter()
    encoder.encode([words.format(1000 + i) for i in range(1_000)])
    print(f"20 words, 1000 texts at once: {1_000 / (time.perf_counter() - began):.0f} texts/s")


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description="Quality and speed of encoder and scoring on real texts.")
    parser.add_argument("--bench", type=Path, help="bench_scoring.py")
    parser.add_argument("--data", type=Path, help="the folder of its data sets")
    parser.add_argument("--sets", default=",".join(REFERENCE))
    parser.add_argument("--k", default="8,64,256")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--speed", action="store_true")
    chosen = parser.parse_args()
    if chosen.speed:
        _speed()
    else:
        ks = [int(k) for k in chosen.k.split(",")]
        _quality(_load_bench(chosen.bench), chosen.data, chosen.sets.split(","), ks, chosen.seeds)


if __name__ == "__main__":
    main()
