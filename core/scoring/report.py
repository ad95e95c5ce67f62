"""What a search tells about itself, in the version's metrics: what was tried, what was chosen, and what that won."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from traitbench.scoring.candidates import Candidate
from traitbench.scoring.search import EFFORTS, Found

_FIXED = "no search: what the version before had chosen"
_NOTHING = "nothing to search: a pole has one text or none"
_FOUND = "nothing to search: the axis was found without labels"
_UNHEARD = "more samples than labels could add to"


def search_told(found: Found, *, blocks: Sequence[str], fixed: bool) -> dict[str, Any]:
    """`says`, how many candidates were `tried` by which `levels`, what was `chosen` and what the last step `gained`."""
    levels = [
        {
            "level": each.level,
            "tried": each.candidates,
            "cross_entropy": each.cross_entropy,
            "chosen": each.level == found.level,
        }
        for each in found.tried
    ]
    return {
        "says": _says(found, fixed),
        "tried": found.tried[-1].candidates if found.tried else 0,
        "levels": levels,
        "chosen": _chosen(found.shares, blocks),
        "gained": _gained(found),
    }


def labels_told(found: Found, *, asked: bool, intrinsic: bool) -> dict[str, Any]:
    """Whether the labels' axis was `used`, its `share` of the whole slope, its `gain` in cross-entropy, and `why`."""
    share = found.recipe.label_share if found.recipe is not None and found.recipe.label_axis is not None else 0.0
    return {"used": share > 0, "share": share, "gain": found.label_gain, "why": _why(found, asked, intrinsic, share)}


def _says(found: Found, fixed: bool) -> str:
    if found.level is not None:
        return EFFORTS[found.level].says
    if not found.shares:
        return _FOUND if found.held_out is not None else _NOTHING
    return _FIXED if fixed else _NOTHING


def _gained(found: Found) -> float:
    """The cross-entropy won over the level below the chosen one; 0 for the lowest."""
    best = None
    for each in found.tried:
        if each.level == found.level:
            return 0.0 if best is None else best - each.cross_entropy
        best = each.cross_entropy if best is None else min(best, each.cross_entropy)
    return 0.0


def _chosen(shares: Mapping[Candidate, float], blocks: Sequence[str]) -> dict[str, float]:
    """Means over what was chosen."""
    if not shares:
        return {}
    share = np.array(list(shares.values()))
    told = {
        "shrinkage, power of ten": float(share @ [each.power for each in shares]),
        "slope of the labels": float(share @ [each.labels for each in shares]),
    }
    if any(each.blocks for each in shares):
        for place, name in enumerate(blocks):
            logs = [np.log(each.blocks[place]) if each.blocks else 0.0 for each in shares]
            told[f"weight of {name}"] = float(np.exp(share @ logs))
    return told


def _why(found: Found, asked: bool, intrinsic: bool, share: float) -> str:
    if intrinsic:
        return "an axis found without labels stays as it is"
    if not asked:
        return "the labels were not asked"
    if found.recipe is None:
        return "too few samples to judge the labels by: they have their say beside them"
    if found.recipe.label_axis is None:
        return _UNHEARD
    if found.label_gain is None:
        return "as the version before had it"
    if found.label_gain > 0:
        return f"they foretell held-out samples better: a share of {share:.0%} won {found.label_gain:.3f} cross-entropy"
    return f"they foretell held-out samples no better, so a share of {share:.0%} is left to them"
