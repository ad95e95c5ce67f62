"""Comparisons of two versions text by text, made in threads (`background`), and their results as a table."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traitbench.client import Traitbench
from traitbench.contract.batches import FailedLine
from traitbench.contract.comparisons import ComparedText, ScoreDelta
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.text import count
from traitbench.names import unpin
from traitbench.tables.rows import Table
from traitbench.tables.sample_files import FileLayout, read_labels
from traitbench.tables.writing import csv_file, jsonl_file
from traitbench_app.shell.people import OPERATOR
from traitbench_app.workspace import background
from traitbench_app.workspace.background import BackgroundWork, State
from traitbench_app.workspace.batches import CONFIDENCES, NONE, TIERS

MOST_COMPARED = 10_000
CHUNK = 500
"""Texts of one request."""


@dataclass(frozen=True)
class TextLabel:
    """The quality that a text should have on a trait, and whether its score has to be on that side of the middle."""

    quality: float
    must_pass: bool = False


@dataclass(frozen=True)
class ComparedInput:
    """A text with its labels by trait; texts from files usually have none."""

    text: str
    labels: Mapping[str, TextLabel] = field(default_factory=dict)


def of_samples(samples: Iterable[Sample]) -> list[ComparedInput]:
    """Return each distinct text of the samples, with the labels of all traits. Of two labels the newer one counts."""
    labels: dict[str, dict[str, TextLabel]] = {}
    for sample in samples:
        labels.setdefault(sample.text, {})[sample.trait] = TextLabel(sample.quality, sample.must_pass)
    return [ComparedInput(text, by_trait) for text, by_trait in labels.items()]


def of_table(table: Table, layout: FileLayout, traits: Sequence[Trait]) -> list[ComparedInput]:
    """Return the texts of a file with their labels. A label that cannot be read is none."""
    labels: dict[int, dict[str, TextLabel]] = {}
    for row, _, trait, quality in read_labels(table, layout, traits):
        if isinstance(trait, str) and isinstance(quality, float):
            labels.setdefault(row.number, {})[trait] = TextLabel(quality)
    return [ComparedInput(row.cells.get(layout.text, ""), labels.get(row.number, {})) for row in table.rows]


class SideColumn:
    """The scores of one trait by one version, stored compactly: one byte per text and column."""

    def __init__(self) -> None:
        self.scores, self.tiers, self.confidences = array("b"), array("b"), array("b")


@dataclass(frozen=True)
class TraitColumns:
    """The scores of one trait by both versions."""

    a: SideColumn = field(default_factory=SideColumn)
    b: SideColumn = field(default_factory=SideColumn)


class TextComparison(BackgroundWork):
    """A comparison of versions `a` and `b`, both pinned handles, on texts, and its results so far."""

    def __init__(
        self,
        client: Traitbench,
        a: str,
        b: str,
        texts: Sequence[ComparedInput],
        *,
        keys: Sequence[str],
        name: str,
        of_samples: bool = False,
        owner: str = OPERATOR.id,
    ) -> None:
        super().__init__(total=len(texts), owner=owner)
        self.a, self.b, self.texts, self.name, self.of_samples = a, b, texts, name, of_samples
        self.traits: Mapping[str, TraitColumns] = {key: TraitColumns() for key in keys}
        self.errors: dict[int, str] = {}
        self.computed: dict[Any, Any] = {}  # results that a page computed; discarded together with the comparison
        self._client = client

    @property
    def handles(self) -> tuple[str, ...]:
        """The models, without their versions."""
        return tuple(dict.fromkeys(unpin(each)[0] for each in (self.a, self.b)))

    def work(self) -> State:
        """Score the texts that are left with both versions."""
        while self.done < self.total:
            texts = [each.text for each in self.texts[self.done : self.done + CHUNK]]
            compared = self._client.versions.compare(self.a, self.b, texts=texts, traits=list(self.traits))
            for line in compared.texts or ():
                self._add(line)
            if self.asked_to_stop and self.done < self.total:
                return "stopped"
        return "done"

    def _add(self, line: ComparedText | FailedLine) -> None:
        """Store the whole row, and only then increase `done`, because pages read the rows up to it."""
        if isinstance(line, FailedLine):
            self.errors[self.done] = line.error.message
            self.failed += 1
        for key, columns in self.traits.items():
            score = None if isinstance(line, FailedLine) else line.traits.get(key)
            _add(columns.a, score, "a")
            _add(columns.b, score, "b")
        self.done += 1


def _add(column: SideColumn, score: ScoreDelta | None, side: str) -> None:
    if score is None:
        for values in (column.scores, column.tiers, column.confidences):
            values.append(NONE)
        return
    column.scores.append(getattr(score, side))
    column.tiers.append(TIERS.index(getattr(score, f"tier_{side}")))
    column.confidences.append(CONFIDENCES.index(getattr(score, f"confidence_{side}")))


def find(comparison_id: str | None, *, owner: str = OPERATOR.id) -> TextComparison | None:
    """Return a comparison of this owner by its id, or None if it is gone."""
    return background.find(comparison_id, TextComparison, owner=owner)


Kind = Literal["regression", "fixed", "side changed", ""]
Show = Literal["Moved", "All", "Regressions", "Fixed", "Side changed", "Must pass failed"]

TEXT, TRAIT, EXPECTED, KIND, DELTA = "text", "trait", "expected", "kind", "delta"
MUST_PASS, ERROR = "must_pass", "error"
SCORE_A, SCORE_B, TIER_A, TIER_B = "score_a", "score_b", "tier_a", "tier_b"
SURE_A, SURE_B = "confidence_a", "confidence_b"
UNCERTAIN = "uncertain"

Sides = NDArray[np.int64]

_MIDDLE_SCORE, _MIDDLE_QUALITY = 50, 0.5
_LEAST_MOVE = 2  # points; one point may be only the rounding of the scores
_RANKS: Mapping[Kind, int] = {"regression": 0, "side changed": 1}


def frame_of(comparison: TextComparison, *keys: str) -> pd.DataFrame:
    """Return the results of traits so far, a row per text, ordered: regressions, changed sides, biggest changes.

    `expected` is the expected quality, null if it is not known. `must_pass` is null for texts that need not pass. Of a
    comparison on samples, only those of the trait are in the table.
    """
    frame = pd.concat([_of_trait(comparison, key) for key in keys], ignore_index=True)
    ranks = frame[KIND].map(lambda kind: _RANKS.get(kind, len(_RANKS)))
    # Rows without a score come last: their size is 1, and all others are at most 0.
    order = pd.DataFrame({"rank": ranks, "size": -frame[DELTA].abs().astype("Float64").fillna(-1)})
    return frame.loc[order.sort_values(["rank", "size"], kind="stable").index]


def _of_trait(comparison: TextComparison, key: str) -> pd.DataFrame:
    done = comparison.done
    columns = comparison.traits[key]
    labels = [each.labels.get(key) for each in comparison.texts[:done]]
    frame = pd.DataFrame(
        {
            TEXT: pd.Series([each.text for each in comparison.texts[:done]], dtype="str"),
            TRAIT: key,
            EXPECTED: pd.Series([None if label is None else label.quality for label in labels], dtype="float64"),
            **_side(columns.a, done, SCORE_A, TIER_A, SURE_A),
            **_side(columns.b, done, SCORE_B, TIER_B, SURE_B),
            ERROR: pd.Series([comparison.errors.get(row, "") for row in range(done)], dtype="str"),
        }
    )
    frame.insert(5, DELTA, frame[SCORE_B] - frame[SCORE_A])
    a, b = (_sides(frame[score]) for score in (SCORE_A, SCORE_B))
    expected = np.sign(frame[EXPECTED].fillna(_MIDDLE_QUALITY).to_numpy() - _MIDDLE_QUALITY).astype(np.int64)
    scored = frame[SCORE_A].notna().to_numpy(dtype=bool)
    frame[KIND] = _kinds(a, b, expected, scored)
    frame[MUST_PASS] = [
        None if label is None or not label.must_pass or not ok else "passed" if side == wanted else "failed"
        for label, ok, side, wanted in zip(labels, scored, b, expected, strict=True)
    ]
    return frame[frame[EXPECTED].notna()] if comparison.of_samples else frame


def shown(frame: pd.DataFrame, show: Show) -> pd.DataFrame:
    """Return the rows of a filter, in their order. Sides also change where a text becomes wrong or right."""
    kinds = frame[KIND]
    moved = (frame[DELTA].abs() >= _LEAST_MOVE).fillna(True)  # what could not be scored stays on the list
    masks: Mapping[Show, pd.Series] = {
        "Moved": moved | (kinds != "") | (frame[MUST_PASS] == "failed"),
        "All": pd.Series(True, frame.index),
        "Regressions": kinds == "regression",
        "Fixed": kinds == "fixed",
        "Side changed": changed_sides(frame),
        "Must pass failed": frame[MUST_PASS] == "failed",
    }
    return frame[masks[show]]


def changed_sides(frame: pd.DataFrame) -> pd.Series:
    """Whether the two scores of each text are on different sides of the middle."""
    differs = _sides(frame[SCORE_A]) != _sides(frame[SCORE_B])
    return frame[SCORE_A].notna() & pd.Series(differs, frame.index)


def summary(frame: pd.DataFrame) -> str:
    """Return the counts as a sentence: `12 of 400 texts changed sides: 9 worse, 3 better.`"""
    scored = int(frame[SCORE_A].notna().sum())
    changed = int(changed_sides(frame).sum())
    counts = frame[KIND].value_counts()
    parts = [
        f"{number:,} {word}"
        for kind, word in (("regression", "worse"), ("fixed", "better"), ("side changed", "other"))
        if (number := int(counts.get(kind, 0)))
    ]
    said = [f"{changed:,} of {count(scored, 'text')} changed sides{': ' if parts else ''}{', '.join(parts)}."]
    if failed := int((frame[MUST_PASS] == "failed").sum()):
        must = int(frame[MUST_PASS].notna().sum())
        said.append(
            f"{failed:,} of {count(must, 'text')} that should never be wrong {'is' if failed == 1 else 'are'} wrong."
        )
    if failed := len(frame) - scored:
        said.append(f"{count(failed, 'text')} could not be scored.")
    return " ".join(said)


# ---- files ---------------------------------------------------------------------------------------------------------

COLUMNS = (
    TEXT, EXPECTED, KIND, SCORE_A, SCORE_B, DELTA, TIER_A, TIER_B, SURE_A, SURE_B, MUST_PASS, ERROR, TRAIT,
)  # fmt: skip


def as_csv(frame: pd.DataFrame, comparison: TextComparison) -> bytes:
    """Return the rows as a CSV file for spreadsheets."""
    return csv_file(*_file(frame, comparison))


def as_jsonl(frame: pd.DataFrame, comparison: TextComparison) -> bytes:
    """Return the rows as a JSONL file."""
    return jsonl_file(*_file(frame, comparison))


def _file(frame: pd.DataFrame, comparison: TextComparison) -> tuple[list[str], list[tuple[object, ...]]]:
    named = frame[list(COLUMNS)].assign(a=comparison.a, b=comparison.b)
    columns = [[None if pd.isna(cell) else cell for cell in column.tolist()] for _, column in named.items()]
    return [str(name) for name in named.columns], list(zip(*columns, strict=True))


def _side(column: SideColumn, done: int, score: str, tier: str, sure: str) -> dict[str, object]:
    scores = pd.Series(column.scores[:done], dtype="Int64")
    return {
        score: scores.mask(scores == NONE),
        tier: _words(column.tiers[:done], [each or UNCERTAIN for each in TIERS]),
        sure: _words(column.confidences[:done], CONFIDENCES),
    }


def _words(codes: Sequence[int], words: Sequence[str]) -> "pd.Categorical[str]":
    return pd.Categorical.from_codes(list(codes), categories=pd.Index(words))


def _sides(scores: pd.Series) -> Sides:
    """Return 1 above the middle, -1 below it, and 0 in the middle or without a score."""
    values: Sides = scores.fillna(_MIDDLE_SCORE).to_numpy(dtype=np.int64)
    return np.sign(values - _MIDDLE_SCORE)


def _kinds(a: Sides, b: Sides, expected: Sides, scored: NDArray[np.bool_]) -> list[Kind]:
    known = expected != 0
    right_a, right_b = a == expected, b == expected
    kinds = np.select(
        [known & right_a & ~right_b, known & ~right_a & right_b, a != b],
        ["regression", "fixed", "side changed"],
        "",
    )
    return [cast(Kind, str(kind)) if ok else "" for kind, ok in zip(kinds, scored, strict=True)]
