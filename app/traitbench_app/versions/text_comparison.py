"""Comparisons of two versions text by text, which the workbench makes for its pages in threads (`background`)."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from traitbench.client import Traitbench
from traitbench.contract.batches import FailedLine
from traitbench.contract.comparisons import ComparedText, ScoreDelta
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.names import unpin
from traitbench.tables.rows import Row
from traitbench.tables.sample_files import as_number, folded, guess_words, trait_keys
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


@dataclass(frozen=True)
class TestColumns:
    """The columns of a file: text, expected quality, and the trait that the quality is about."""

    text: str
    quality: str | None = None
    trait: str | None = None


def of_rows(rows: Iterable[Row], columns: TestColumns, traits: Sequence[Trait], key: str) -> list[ComparedInput]:
    """Return the texts of a file. A quality is a number from 0 to 1, a pole's label or a word such as "positive".

    Without a trait column, the qualities are about the trait `key`. A quality that cannot be read is no label.
    """
    known = list(rows)
    keys = trait_keys(traits)
    words = guess_words({row.cells.get(columns.quality or "", "") for row in known}, traits)

    def labels(row: Row) -> dict[str, TextLabel]:
        cell = row.cells.get(columns.quality or "", "")
        number = as_number(cell)
        quality = words.get(cell) if number is None else number
        name = row.cells.get(columns.trait or "", "").strip()
        trait = key if columns.trait is None else keys.get(name, keys.get(folded(name)))
        return {} if quality is None or trait is None or not 0 <= quality <= 1 else {trait: TextLabel(quality)}

    return [ComparedInput(row.cells.get(columns.text, ""), labels(row)) for row in known]


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


def find(job_id: str | None, *, owner: str = OPERATOR.id) -> TextComparison | None:
    """Return a comparison of this owner by its id, or None if it is gone."""
    return background.find(job_id, TextComparison, owner=owner)
