"""What changes between two estimators: the scores of the same texts by both."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from traitbench.comparison.versions import common_traits, compared_text, score_pairs
from traitbench.contract.comparisons import ComparedText
from traitbench.display import frames
from traitbench.display.html import MOST_ROWS, draw, write_page
from traitbench.display.scored_rows import UNNAMED, poles_of
from traitbench.estimators.fitted import Fitted
from traitbench.estimators.functions import load


@dataclass(frozen=True)
class Diff:
    """The scores of texts by two estimators. `changes` are in the order of the texts, on the traits that both have.

    `same` says that both have the same parameters, so all scores are equal.
    """

    traits: list[str]
    texts: list[str] = field(repr=False)
    changes: list[ComparedText] = field(repr=False)
    same: bool
    poles: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a frame with a row for each text and trait: both scores, the change, and whether the side changed."""
        rows = [
            {
                "text": text,
                "trait": key,
                "a": each.a,
                "b": each.b,
                "delta": each.delta,
                "side_changed": each.side_changed,
            }
            for text, change in zip(self.texts, self.changes, strict=True)
            for key, each in change.traits.items()
        ]
        return frames.frame(rows, backend)

    def write_html(self, path: str | Path) -> None:
        """Write the difference as a page that needs no other file. It has the texts that moved most."""
        write_page(path, "Difference of two scorers", self._repr_html_())

    def _sentences(self) -> Iterator[str]:
        if self.same:
            yield "Both have the same parameters, so all scores are equal."
            return
        for key in self.traits:
            deltas = [each.traits[key] for each in self.changes]
            moved, sides = sum(each.delta != 0 for each in deltas), sum(each.side_changed for each in deltas)
            mean = fmean(each.delta for each in deltas)
            yield (
                f"{key}: {moved} of {len(deltas)} scores change (on average by {mean:+.1f} points); {sides}"
                f" {'text changes' if sides == 1 else 'texts change'} sides."
            )

    def _repr_html_(self) -> str:
        changes = [] if self.same else sorted(zip(self.texts, self.changes, strict=True), key=_largest)
        poles = {key: self.poles.get(key, UNNAMED) for key in self.traits}
        return draw("local", "diff", self._sentences(), poles, changes[:MOST_ROWS], len(changes) - MOST_ROWS)


def diff(a: Fitted | str | Path, b: Fitted | str | Path, texts: Any) -> Diff:
    """Return how the scores of texts change from one fitted estimator, or saved one, to another.

    >>> import traitbench as tb
    >>> texts, labels = ["Thank you!", "How kind.", "Denied.", "Go away."], [1, 1, 0, 0]
    >>> scorer = tb.Scorer("warmth", poles=("cold", "warm"), effort="low", encoder="ngrams").fit(texts, labels)
    >>> print(tb.diff(scorer, scorer, ["Thanks!"]))
    Both have the same parameters, so all scores are equal.
    """
    one, other = (load(each) if isinstance(each, str | Path) else each for each in (a, b))
    for each in (one, other):
        each.check_fitted()
    checked = one.read(texts)
    other.read(checked)
    common = set(common_traits(one.snapshot_, other.snapshot_))
    keys = [key for key in one.trait_keys() if key in common and key in other.trait_keys()]
    if not keys:
        known = (", ".join(each.trait_keys()) for each in (one, other))
        raise ValueError(f"They have no trait in common: {'; '.join(known)}.")
    encode_a, encode_b = one.loaded.encode, other.loaded.encode
    pairs = score_pairs(one.snapshot_, other.snapshot_, encode_a, encode_b, checked)
    changes = [compared_text(one.snapshot_, other.snapshot_, keys, index, pair) for index, pair in enumerate(pairs)]
    return Diff(keys, checked, changes, one.param_hash_ == other.param_hash_, poles_of(one.traits_))


def _largest(changed: tuple[str, ComparedText]) -> int:
    """The order of texts by their largest change, the largest first."""
    return -max(abs(each.delta) for each in changed[1].traits.values())
