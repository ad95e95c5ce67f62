"""The entries about a search in a version's metrics: what was tried, what was chosen, and how much that gained."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from traitbench.fitting.candidates import Candidate
from traitbench.fitting.search import EFFORTS, SearchResult

_FIXED = "no search: settings of the previous version"
_NOTHING = "nothing to search: a pole has fewer than two texts"
_INTRINSIC = "nothing to search: discovery fixed the axis"
_MANY_SAMPLES = "there are so many samples that labels would add nothing"


def search_entry(result: SearchResult, *, blocks: Sequence[str], fixed: bool) -> dict[str, Any]:
    """The `search` entry of a trait's metrics: a summary, what was tried, what was chosen, and what it gained."""
    levels = [
        {
            "level": each.level,
            "tried": each.candidates,
            "cross_entropy": each.cross_entropy,
            "chosen": each.level == result.level,
        }
        for each in result.tried
    ]
    return {
        "says": _says(result, fixed),
        "tried": result.tried[-1].candidates if result.tried else 0,
        "levels": levels,
        "chosen": _chosen(result.shares, blocks),
        "gained": _gained(result),
    }


def labels_entry(result: SearchResult, *, asked: bool, intrinsic: bool, without: float | None = None) -> dict[str, Any]:
    """Whether the label axis was used, its share of the total slope, its gain in cross-entropy, the AUROC `without` it,
    and why.
    """
    why = _why(result, asked, intrinsic)
    if result.labels_unmeasured:
        return {"used": True, "share": None, "gain": None, "auroc_without": None, "why": why}
    share = _label_share(result)
    return {"used": share > 0, "share": share, "gain": result.label_gain, "auroc_without": without, "why": why}


def _says(result: SearchResult, fixed: bool) -> str:
    if result.level is not None:
        return EFFORTS[result.level].says
    if not result.shares:
        return _INTRINSIC if result.held_out is not None else _NOTHING
    return _FIXED if fixed else _NOTHING


def _gained(result: SearchResult) -> float:
    """The cross-entropy gained over the level below the chosen one; 0 for the lowest level."""
    best = None
    for each in result.tried:
        if each.level == result.level:
            return 0.0 if best is None else best - each.cross_entropy
        best = each.cross_entropy if best is None else min(best, each.cross_entropy)
    return 0.0


def _chosen(shares: Mapping[Candidate, float], blocks: Sequence[str]) -> dict[str, float]:
    """Weighted means of the chosen parameters."""
    if not shares:
        return {}
    weights = np.array(list(shares.values()))
    means = {
        "shrinkage, power of ten": float(weights @ [each.power for each in shares]),
        "slope of the labels": float(weights @ [each.labels for each in shares]),
    }
    if any(each.blocks for each in shares):
        for place, name in enumerate(blocks):
            logs = [np.log(each.blocks[place]) if each.blocks else 0.0 for each in shares]
            means[f"weight of {name}"] = float(np.exp(weights @ logs))
    return means


def _label_share(result: SearchResult) -> float:
    recipe = result.recipe
    return 0.0 if recipe is None or recipe.label_axis is None else recipe.label_share


def _why(result: SearchResult, asked: bool, intrinsic: bool) -> str:
    if intrinsic:
        return "a discovered axis does not use labels"
    if not asked:
        return "this training did not use labels"
    if result.labels_unmeasured:
        return "there are too few samples to measure what labels add, so the labels are used too"
    if result.recipe is None:
        return "there are too few samples to measure what labels add, so they are not used"
    if result.recipe.label_axis is None:
        return _MANY_SAMPLES
    if result.label_gain is None:
        return "as in the previous version"
    share = _label_share(result)
    if result.label_gain > 0:
        gain = f"at a share of {share:.0%}, cross-entropy is {result.label_gain:.3f} lower"
        return f"the labels improve held-out scores: {gain}"
    return f"the labels do not improve held-out scores, so their share is only {share:.0%}"
