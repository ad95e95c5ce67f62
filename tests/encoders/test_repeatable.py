"""The same text gives the same vector: in any process, with any number of threads, in any batch."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.encoders.folders import onnx_folder
from tests.real_encoder import KEPT
from traitbench.encoders import Encoder
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.statistics import generic_texts

ROOT = Path(__file__).parents[2]
TEXTS = [*generic_texts()[:60], "", " ".join(generic_texts()[:40]), "今日は" * 40]

# Arguments: how many processors to use, how many texts to encode at a time, the folder of an encoder.
ENCODE = """
import hashlib, os, sys
from pathlib import Path
import numpy as np
processors, size, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:processors])
from traitbench.encoders.registry import load_encoder
from tests.encoders.test_repeatable import TEXTS, hashed
from tests.real_encoder import KEPT
print(hashed([load_encoder(name, cache=KEPT) for name in ("full", "static", folder)], size))
"""


def hashed(encoders: Sequence[Encoder], size: int) -> str:
    """One hash over the vectors of all encoders in all modes."""
    result = hashlib.sha256()
    for encoder in encoders:
        for mode in ("full", *encoder.modes):
            batches = [encoder.encode(TEXTS[i : i + size], mode=mode) for i in range(0, len(TEXTS), size)]
            result.update(np.vstack(batches).tobytes())
    return result.hexdigest()


@pytest.mark.parametrize(("processors", "threads", "size"), [(1, "1", 1), (8, "4", 17)])
def test_vectors_do_not_depend_on_process_threads_or_batch(
    processors: int, threads: str, size: int, tmp_path: Path
) -> None:
    folder = onnx_folder(tmp_path)
    limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), threads)
    answer = subprocess.run(
        [sys.executable, "-c", ENCODE, str(processors), str(size), str(folder)],
        cwd=ROOT,
        env={**os.environ, **limits, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    here = hashed([load_encoder(name, cache=KEPT) for name in ("full", "static", str(folder))], len(TEXTS))
    assert answer.stdout.strip() == here
