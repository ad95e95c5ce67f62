"""What a text costs inside an engine, by mode: the UDF on Arrow batches, against the bare encoder on the same texts.

    python -m tests.benchmarks.engines [--quick] [--out FILE]

Processor time of one thread, in turns, so that other work on the machine does not matter. A model of one trait; texts
of twenty words, no two the same. The core-hours are those of 100 million such texts.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from tests.benchmarks import kept
from tests.benchmarks.material import texts_of
from tests.benchmarks.page import Measured, Table, run
from tests.conftest import COLD, WARM
from traitbench import UDF, Scorer
from traitbench.encoders.scheduler import SCHEDULER, BatchQueue

MODES = ("full", "layer6", "static")
MANY = 100_000_000


def measure(*, rounds: int, sizes: Sequence[int] = (200, 400, 4_000)) -> Measured:
    """Milliseconds of the processor per text, by mode; `sizes` are how many texts each mode gets in a round."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "warmth.tb"
        labels = [1] * len(WARM) + [0] * len(COLD)
        scorer = Scorer("Warmth", poles=("cold", "warm"), effort="low", use_labels=False)
        scorer.fit([*WARM, *COLD], labels).save(path)
        results = [_compared(path, mode, size, rounds) for mode, size in zip(MODES, sizes, strict=True)]
    rows = [
        (
            mode,
            f"{bare:.3f}",
            f"{udf:.3f}",
            f"{bare / udf:.2f}",
            f"{1000 / udf:,.0f}",
            f"{udf * MANY / 3.6e6:,.0f}",
        )
        for mode, (bare, udf) in zip(MODES, results, strict=True)
    ]
    columns = ("mode", "encoder, ms", "UDF, ms", "throughput / encoder", "texts/s per core", "core-hours")
    return Measured(
        [Table("One text of 20 words, in ms of one core; and 100 million of them", columns, rows)],
        {
            mode: {"bare_ms": bare, "udf_ms": udf, "throughput_of_bare": bare / udf}
            for mode, (bare, udf) in zip(MODES, results, strict=True)
        },
    )


def _compared(path: Path, mode: str, size: int, rounds: int) -> tuple[float, float]:
    """(bare, UDF): the best of the rounds, because other work on the machine only ever adds to a round."""
    udf, encoder = UDF(path, mode), kept.encoder()
    udf(texts_of(8)), encoder.encode(texts_of(8), mode=mode)
    bare, whole = list[float](), list[float]()
    for number in range(rounds):
        texts = texts_of(size, seed=number)
        batch = pa.record_batch({"text": texts})
        ways = [(bare, partial(_encode, texts, mode)), (whole, partial(udf, batch))]
        for times, way in ways if number % 2 else reversed(ways):
            times.append(_milliseconds(way) / size)
    return min(bare), min(whole)


def _encode(texts: Sequence[str], mode: str) -> None:
    # In a slot the encoder starts no threads, as inside the UDF.
    with SCHEDULER.slot(BatchQueue()):
        kept.encoder().encode(texts, mode=mode)


def _milliseconds(way: Callable[[], object]) -> float:
    began = time.process_time()
    way()
    return 1000 * (time.process_time() - began)


if __name__ == "__main__":
    run("engines", measure, quick={"rounds": 2}, whole={"rounds": 8})
