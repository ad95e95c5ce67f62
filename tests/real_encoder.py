"""The encoder that serves, for tests that want real vectors: loaded once, its files kept between runs."""

import tempfile
from functools import cache
from pathlib import Path

from traitbench.encoders import Encoder
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.vocabulary import load_vocabulary
from traitbench.scoring.inputs import Vocabulary

KEPT = Path(tempfile.gettempdir()) / "traitbench-tests-cache"


def best() -> Encoder:
    return load_encoder(None, cache=KEPT)


@cache
def vocabulary() -> Vocabulary:
    return load_vocabulary(best(), cache=KEPT)
