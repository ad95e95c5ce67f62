"""Scores before rounding, for tests and benchmarks that look closer than whole points."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from traitbench.scoring.card import project
from traitbench.scoring.segments import Encode
from traitbench.scoring.snapshot import Snapshot


def positions(snapshot: Snapshot, encode: Encode, texts: Sequence[str]) -> NDArray[np.float64]:
    """(n_texts, n_traits): scores in 0..1; 0.5 for a text without a token."""
    rows = [placed.positions for placed in project(snapshot, encode, texts)]
    return np.array(rows, np.float64).reshape(len(texts), len(snapshot.traits))
