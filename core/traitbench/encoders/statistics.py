"""The mean and standard deviation of each raw feature over generic text, computed once and shipped as files.

Standardising by the texts of a model would remove what they have in common, which is often the trait itself. So the
statistics are fixed, and come from about two hundred sentences in many registers (`generic.txt`). `python -m
traitbench.encoders.write_statistics` computes them again and writes the files beside this one.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_HERE = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class Statistics:
    """The mean and standard deviation (n,) of each feature."""

    mean: NDArray[np.float32]
    deviation: NDArray[np.float32]

    def standardise(self, features: NDArray[np.floating]) -> NDArray[np.float64]:
        """Features (..., n) minus their mean, in units of their standard deviation."""
        return (features.astype(np.float64) - self.mean) / self.deviation

    def part(self, columns: slice) -> "Statistics":
        """The statistics of some of the features."""
        return Statistics(self.mean[columns], self.deviation[columns])

    @property
    def digest(self) -> str:
        """SHA-256 over the figures."""
        return hashlib.sha256(self.mean.astype("<f4").tobytes() + self.deviation.astype("<f4").tobytes()).hexdigest()


def load_statistics(name: str) -> Statistics:
    """The shipped figures of an encoder's raw features."""
    table = np.load(_HERE / f"{name}.npy")
    return Statistics(mean=table[0], deviation=table[1])


def generic_texts(*, languages: bool = False) -> list[str]:
    """The texts that the statistics were computed on: English, and as many in other languages if these are wanted."""
    files = ("generic.txt", "generic-languages.txt") if languages else ("generic.txt",)
    return [line for name in files for line in (_HERE / name).read_text(encoding="utf-8").splitlines()]


def measure(features: NDArray[np.floating]) -> Statistics:
    """The statistics of features (n_texts, n); a feature that hardly varies keeps its scale."""
    exact = features.astype(np.float64)
    deviation = exact.std(axis=0)
    deviation[deviation < 1e-6] = 1.0
    return Statistics(mean=exact.mean(axis=0).astype(np.float32), deviation=deviation.astype(np.float32))


def centre(features: NDArray[np.floating]) -> Statistics:
    """The statistics that only subtract the mean of features (n_texts, n)."""
    mean = features.mean(axis=0, dtype=np.float64).astype(np.float32)
    return Statistics(mean=mean, deviation=np.ones_like(mean))
