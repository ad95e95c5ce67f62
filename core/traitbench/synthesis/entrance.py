"""Let made texts in that pass the exam of `traitbench.synthesis.quality_filter`, whatever generator made them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traitbench.scoring.inputs import unit
from traitbench.scoring.segments import Encode, Vectors, embed
from traitbench.synthesis import Exemplar, Reject
from traitbench.synthesis.filters import agreeing
from traitbench.synthesis.quality_filter import Reason, examine

NEAR_SEED = 0.7
"""A variation whose cosine to its seed is lower says something else."""


@dataclass(frozen=True)
class Admission:
    """The accepted texts and the rejected ones, in their order."""

    accepted: Sequence[Exemplar]
    rejects: Sequence[Reject]

    @classmethod
    def of(cls, made: Sequence[Exemplar], reasons: Sequence[Reason | None]) -> "Admission":
        """The texts by the reason of each; None is accepted."""
        accepted = [each for each, reason in zip(made, reasons, strict=True) if reason is None]
        return cls(accepted, [Reject(each, reason) for each, reason in zip(made, reasons, strict=True) if reason])


@dataclass(frozen=True, eq=False)
class Present:
    """The texts that a trait has, with their unit vectors (n, d)."""

    texts: Sequence[str]
    X: Vectors

    @classmethod
    def of(cls, texts: Sequence[str], encode: Encode) -> "Present":
        """The texts of a trait, encoded."""
        return cls(texts, at_length_one(embed(encode, texts)) if texts else np.zeros((0, 0), np.float32))


def admit_new(
    made: Sequence[Exemplar],
    present: Present,
    *,
    encode: Encode,
    axis: NDArray[np.floating] | None,
    pairs: Sequence[int] | None = None,
) -> Admission:
    """Examine texts that were written from the words of a trait."""
    texts, quality = [each.text for each in made], np.array([each.quality for each in made], float)
    reasons = examine(
        texts,
        quality,
        at_length_one(embed(encode, texts)) if texts else np.zeros((0, 0), np.float32),
        known_texts=present.texts,
        known=present.X,
        axis=None if axis is None else np.asarray(axis, np.float64),
        pairs=pairs,
    )
    return Admission.of(made, reasons)


def admit_varied(
    made: Sequence[Exemplar],
    seeds: Sequence[str],
    present: Present,
    *,
    encode: Encode,
    poles: Sequence[float],
    free: bool = False,
) -> Admission:
    """Examine variations; `seeds` (one per variation) are the varied texts and `poles` their qualities.

    A `free` variation has the voice of its seed only, so its content may be far from it.
    """
    if not made:
        return Admission([], [])
    distinct = list(dict.fromkeys(seeds))
    rows = [distinct.index(seed) for seed in seeds]
    X, originals = (at_length_one(embed(encode, texts)) for texts in ([each.text for each in made], distinct))
    quality = np.array(poles, float)
    reasons = examine(
        [each.text for each in made],
        quality,
        X,
        known_texts=present.texts,
        known=present.X,
        axis=_between(originals[rows], quality),
        seeds=originals[rows],
    )
    strayed = np.zeros(len(made), bool) if free else ~agreeing(X, rows, originals, least=NEAR_SEED)
    final: list[Reason | None] = [
        "strayed" if reason is None and far else reason for reason, far in zip(reasons, strayed.tolist(), strict=True)
    ]
    return Admission.of(made, final)


def _between(seeds: Vectors, quality: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The direction (d,) from the negative seeds to the positive ones; None if a pole has none."""
    positive, negative = quality > 0.5, quality < 0.5
    if not positive.any() or not negative.any():
        return None
    return unit(seeds[positive].astype(np.float64).mean(axis=0) - seeds[negative].astype(np.float64).mean(axis=0))


def at_length_one(X: Vectors) -> Vectors:
    """The rows at length one; a row of zeros stays as it is."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return (X / np.where(lengths > 0, lengths, 1)).astype(np.float32)
