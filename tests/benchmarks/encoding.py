"""How fast texts become vectors: by encoder and mode, one at a time and many at once, and how long the start takes.

    python -m tests.benchmarks.encoding [--quick] [--out FILE]

Texts of twenty words, each another. What a mode costs in quality is measured by `tests.benchmarks.quality`.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks import kept
from tests.benchmarks.page import Measured, Table, parser, publish
from traitbench.encoders import FULL, Encoder, EncoderUnavailable
from traitbench.encoders.registry import NAMES

SENTENCE = (
    "the committee thanked everyone for a long and careful evening of questions about roads schools water trees "
    "money time music bread winter letters neighbours gardens bridges colours numbers stories doctors engines maps"
)

_ROOT = Path(__file__).resolve().parents[2]
_START = """
import sys, time
from pathlib import Path
began = time.perf_counter()
from traitbench.encoders.registry import load_encoder
load_encoder(None, cache=Path(sys.argv[1])).encode(["ready"])
print(time.perf_counter() - began)
"""


def measure(*, calls: int, texts: int, starts: bool = True) -> Measured:
    """Milliseconds of so many single calls, texts a second of so many at once, seconds of a start."""
    results = [_way(encoder, mode, calls, texts) for encoder, mode in _ways()]
    whole = results[0]["processor_ms"]
    rows = [
        [
            each["encoder"],
            each["mode"],
            str(each["numbers"]),
            *(f"{each[key]:.2f}" for key in ("p50_ms", "p99_ms")),
            f"{each['texts_per_second']:.0f}",
            f"{each['processor_ms']:.2f}",
            f"{whole / each['processor_ms']:.1f}",
        ]
        for each in results
    ]
    columns = ["encoder", "mode", "numbers", "one text p50, ms", "p99, ms", "many: texts/s", "processor ms", "as fast"]
    note = "By the clock, but the last two: milliseconds of the processor a text, and how many times the first way."
    tables = [Table("Texts of 20 words to vectors", columns, rows, note)]
    if not starts:
        return Measured(tables, {"ways": results})
    result = _starts()
    tables.append(
        Table("Start of the default encoder, s", list(result), [[f"{value:.2f}" for value in result.values()]])
    )
    return Measured(tables, {"ways": results, "starts": result})


def texts_of(count: int, words: int = 20, seed: int = 0) -> list[str]:
    """Texts that differ from each other."""
    lot, known = np.random.default_rng(seed), SENTENCE.split()
    return [" ".join([*lot.choice(known, words - 1), str(i)]) for i in range(count)]


def _ways() -> list[tuple[Encoder, str]]:
    results = []
    for name in NAMES:
        try:
            encoder = kept.encoder(name)
        except EncoderUnavailable:
            continue
        results += [(encoder, mode) for mode in (FULL, *encoder.modes)]
    return results


def _way(encoder: Encoder, mode: str, calls: int, texts: int) -> dict[str, Any]:
    times = []
    for text in texts_of(calls):
        began = time.perf_counter()
        encoder.encode([text], mode=mode)
        times.append(1000 * (time.perf_counter() - began))
    many = texts_of(texts, seed=1)
    began, worked = time.perf_counter(), time.process_time()
    vectors = encoder.encode(many, mode=mode)
    taken, work = time.perf_counter() - began, time.process_time() - worked
    p50, p99 = (float(value) for value in np.percentile(times, (50, 99)))
    fields = {"encoder": encoder.id, "mode": mode, "numbers": vectors.shape[1], "p50_ms": p50, "p99_ms": p99}
    return {**fields, "texts_per_second": texts / taken, "processor_ms": 1000 * work / texts}


def _starts() -> dict[str, float]:
    """To the first vector, in a process of its own: what is kept is made, then read."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _START, folder]
        return {
            when: float(subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True).stdout)
            for when in ("first", "later")
        }


def main() -> None:
    """Read the arguments and measure."""
    asked = parser("Texts to vectors, by encoder and mode.").parse_args()
    calls, texts = (50, 500) if asked.quick else (500, 4_000)
    publish("encoding", lambda: measure(calls=calls, texts=texts), asked.out)


if __name__ == "__main__":
    main()
