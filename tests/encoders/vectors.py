"""One hash over vectors, in this process or as the output of another.

Arguments: how many processors to use, how many texts to encode at a time, the folder of an encoder.
"""

import hashlib
import os
import sys

import numpy as np

from tests.real_encoder import KEPT
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.style import generic_texts

TEXTS = [*generic_texts()[:60], "", " ".join(generic_texts()[:40]), "今日は" * 40]


def hashed(size: int, folder: str) -> str:
    """Over the vectors of the built-in recipes with modes, the static one and that of a folder, in all modes."""
    result = hashlib.sha256()
    for encoder in [load_encoder(name, cache=KEPT) for name in ("multilingual", "minilm-full", "static", folder)]:
        for mode in ("full", *encoder.modes):
            batches = [encoder.encode(TEXTS[i : i + size], mode=mode) for i in range(0, len(TEXTS), size)]
            result.update(np.vstack(batches).tobytes())
    return result.hexdigest()


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[1])])
    sys.stdout.write(hashed(int(sys.argv[2]), sys.argv[3]))
