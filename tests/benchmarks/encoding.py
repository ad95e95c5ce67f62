"""How fast texts become vectors: by encoder and mode, one at a time and many at once.

    python -m tests.benchmarks.encoding [--quick] [--out FILE]

Texts of twenty words, each another. What a mode costs in quality is measured by `tests.benchmarks.quality`.
"""

import time
from typing import Any

import numpy as np

from tests.benchmarks import kept
from tests.benchmarks.material import texts_of
from tests.benchmarks.page import Measured, Table, run
from traitbench.encoders import FULL, Encoder, EncoderUnavailable
from traitbench.encoders.registry import NAMES


def measure(*, calls: int, texts: int) -> Measured:
    """Milliseconds of so many single calls, and texts a second of so many at once."""
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
    return Measured([Table("Texts of 20 words to vectors", columns, rows, note)], {"ways": results})


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


if __name__ == "__main__":
    run("encoding", measure, quick={"calls": 50, "texts": 500}, whole={"calls": 500, "texts": 4_000})
