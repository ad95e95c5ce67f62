"""The same text gives the same vector: in any process, with any number of threads, in any batch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.encoders.folders import onnx_folder
from tests.encoders.vectors import TEXTS, hashed

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("processors", "threads", "size"), [("1", "1", "1"), pytest.param("8", "4", "17", marks=pytest.mark.soak)]
)
def test_vectors_do_not_depend_on_process_threads_or_batch(
    processors: str, threads: str, size: str, tmp_path: Path
) -> None:
    folder = str(onnx_folder(tmp_path))
    limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), threads)
    command = [sys.executable, "-m", "tests.encoders.vectors", processors, size, folder]
    answer = subprocess.run(command, cwd=ROOT, env={**os.environ, **limits}, capture_output=True, text=True, check=True)
    assert answer.stdout == hashed(len(TEXTS), folder)
