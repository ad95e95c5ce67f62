"""Compute the shipped statistics again: `python -m traitbench.encoders.write_statistics`."""

import tempfile
from pathlib import Path

import numpy as np

from traitbench.encoders import minilm, multilingual, style
from traitbench.encoders.statistics import Statistics, centre, generic_texts, measure


def main() -> None:
    """Compute the statistics of every block that is standardised, and write them beside this file."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        english, all_texts = generic_texts(), generic_texts(languages=True)
        _write("style", measure(np.array([style.raw(text) for text in english])))
        transformer = minilm.load(cache=cache).transformer
        _write("minilm", measure(np.array([transformer.means(text) for text in english])))
        encoder = multilingual.load(cache=cache)
        _write("multilingual", centre(np.array([encoder.means(text) for text in all_texts])))


def _write(name: str, statistics: Statistics) -> None:
    np.save(Path(__file__).with_name(f"{name}.npy"), np.stack([statistics.mean, statistics.deviation]))


if __name__ == "__main__":
    main()
