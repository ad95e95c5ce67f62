"""Compute the shipped statistics again: `python -m traitbench.encoders.write_statistics`."""

import tempfile
from pathlib import Path

import numpy as np

from traitbench.encoders import minilm, style
from traitbench.encoders.statistics import generic_texts, measure


def main() -> None:
    """Compute the statistics of every block that is standardised, and write them beside this file."""
    with tempfile.TemporaryDirectory() as cache:
        for name, raw in (("style", style.raw), ("minilm", minilm.load(cache=Path(cache)).means)):
            statistics = measure(np.array([raw(text) for text in generic_texts()]))
            np.save(Path(__file__).with_name(f"{name}.npy"), np.stack([statistics.mean, statistics.deviation]))


if __name__ == "__main__":
    main()
