"""Read the labels of several raters from a table: one column of texts, one column of labels for each rater.

Nothing here calls the service or draws. The cells of a label column are read as `sample_files.check` reads those of
samples. An empty cell is a missing label. A rater's labels of the same text are one label; if they contradict each
other, that rater has none for this text.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from traitbench.analysis.agreement import Item, sides
from traitbench.as_read import read_hash
from traitbench.contract.samples import SampleInput, text_hash
from traitbench.contract.traits import Trait
from traitbench.tables import sample_files
from traitbench.tables.columns import FileReading
from traitbench.tables.rows import Problem, Row, Table, column_names
from traitbench.tables.sample_files import FileLayout
from traitbench.tables.writing import csv_file

MOST_RATERS = 8
"""The maximum number of label columns that are guessed and compared at once."""

OWN = "your_label"
"""The column of your labels in a downloaded file."""

_POLES = {"0", "0.0", "0.5", "1", "1.0"}


@dataclass(frozen=True, eq=False)
class Ratings:
    """The labels of every rater: qualities (n_items, n_raters), NaN where a label is missing.

    `contradictions` counts by rater the texts that were labelled in two ways. `problems` is empty only if every row
    could be read.
    """

    raters: tuple[str, ...]
    items: tuple[Item, ...]
    texts: Mapping[str, str]
    qualities: NDArray[np.float64]
    contradictions: Mapping[str, int]
    problems: tuple[Problem, ...]

    @property
    def traits(self) -> list[str]:
        """The keys of the traits that have labels, in order of appearance."""
        return list(dict.fromkeys(trait for trait, _ in self.items))

    @cached_property
    def by_rater(self) -> Mapping[str, Mapping[Item, float]]:
        """The labels of each rater: its quality of each item that it labelled."""
        return {
            rater: {
                item: quality
                for item, quality in zip(self.items, self.qualities[:, at].tolist(), strict=True)
                if quality == quality
            }
            for at, rater in enumerate(self.raters)
        }

    def of_trait(self, trait: str) -> NDArray[np.float64]:
        """Return the qualities of one trait, (n_texts, n_raters)."""
        return self.qualities[[item[0] == trait for item in self.items]]


def guess_raters(table: Table, traits: Sequence[Trait]) -> tuple[str | None, str | None, list[str]]:
    """Guess the columns of texts, of traits and of every rater's labels. There may be no rater."""
    text, trait, rater = sample_files.guess_columns(table, traits)
    raters: list[str] = []
    while rater is not None and len(raters) < MOST_RATERS:
        raters.append(rater)
        left = tuple(column for column in table.columns if column not in raters)
        rater = sample_files.guess_columns(replace(table, columns=left), traits)[2]
    others = [column for column in table.columns if column not in (text, trait, *raters)]
    raters += [column for column in others if _are_labels(table, column)]
    return text, trait, sorted(raters[:MOST_RATERS], key=table.columns.index)


@dataclass(frozen=True)
class LabelsOfPeople:
    """Labels of several people, a row for each text and a column for each person; `words` has their guessed qualities.

    `unclear` counts the rows that have several labels, whose cells are blank.
    """

    table: Table
    people: tuple[str, ...]
    words: Mapping[str, float]
    unclear: int


def labels_of_people(reading: FileReading) -> LabelsOfPeople | None:
    """Return the labels of a file with a row for each text and person; None unless it has one column of labels."""
    labelled = [each for each in reading.columns if each.traits]
    if reading.people is None or reading.column is None or len(labelled) != 1:
        return None
    [label] = labelled
    rows, unclear = dict[str, dict[str, str]](), 0
    numbers = dict[str, int]()
    for row in reading.table.rows:
        text, person = row.cells.get(reading.column, "").strip(), row.cells.get(reading.people, "").strip()
        if text and person:
            answers = label.answers.cells.get(row.cells.get(label.name, "").strip(), ())
            unclear += len(answers) > 1
            rows.setdefault(text, {})[person] = answers[0] if len(answers) == 1 else ""
            numbers.setdefault(text, row.number)
    people = list(dict.fromkeys(person for given in rows.values() for person in given))
    text, *names = column_names([reading.column, *(_person_named(reading.people, person) for person in people)])
    table = Table(
        (text, *names),
        tuple(
            Row(
                numbers[cell],
                {text: cell, **{name: given.get(person, "") for name, person in zip(names, people, strict=True)}},
            )
            for cell, given in rows.items()
        ),
        (),
    )
    return LabelsOfPeople(table, tuple(names), label.traits[0].words, unclear)


def _person_named(column: str, person: str) -> str:
    """Return the name of a person, or `annotator 3` for one with a number."""
    return f"{column} {person}" if person.isdigit() else person


def _are_labels(table: Table, column: str) -> bool:
    """Whether a column has the numbers of poles and nothing else."""
    cells = {row.cells.get(column, "").strip() for row in table.rows} - {""}
    return bool(cells) and cells <= _POLES


def read_ratings(table: Table, layout: FileLayout, traits: Sequence[Trait] | None) -> Ratings:
    """Read the labels of every rater, a column each, and the problems of the rows that are not valid.

    With `traits` None, the cells of the column of traits are taken as they are.
    """
    checked = sample_files.check(table, layout, traits)
    raters = tuple(str(each.column) for each in layout.labels)
    labels: dict[Item, dict[str, list[float]]] = {}
    texts: dict[str, str] = {}
    first: dict[str, str] = {}
    for _, rater, sample in checked.entries:
        # Texts that look the same are one text: the first of them.
        item = (sample.trait, first.setdefault(read_hash(sample.text), text_hash(sample.text)))
        texts.setdefault(item[1], sample.text)
        labels.setdefault(item, {}).setdefault(str(rater), []).append(sample.quality)
    qualities = np.full((len(labels), len(raters)), np.nan)
    contradictions: Counter[str] = Counter()
    for row, given in enumerate(labels.values()):
        for at, rater in enumerate(raters):
            own = np.array(given.get(rater, []))
            if len(np.unique(sides(own))) > 1:
                contradictions[rater] += 1
            elif len(own):
                qualities[row, at] = own.mean()
    return Ratings(raters, tuple(labels), texts, qualities, dict(contradictions), checked.problems)


def samples_of(ratings: Ratings, rater: str, tests: Mapping[Item, float], present: set[Item]) -> list[SampleInput]:
    """Return a rater's labels as samples, and `tests` as test samples; items in `present` are left out of both.

    A text with a test label of a trait is not added to that trait from the rater.
    """
    trained = [
        SampleInput(trait=item[0], text=ratings.texts[item[1]], quality=quality)
        for item, quality in ratings.by_rater[rater].items()
        if item not in tests and item not in present
    ]
    held_out = [
        SampleInput(trait=item[0], text=ratings.texts[item[1]], quality=quality, held_out=True)
        for item, quality in tests.items()
        if item not in present
    ]
    return [*trained, *held_out]


def labelled_file(ratings: Ratings, labels: Mapping[Item, float | None]) -> bytes:
    """Return a CSV file with all texts and labels, and yours in the column `OWN`, to be uploaded again."""
    raters = [rater for rater in ratings.raters if rater != OWN]
    rows = (
        (
            ratings.texts[item[1]],
            item[0],
            *(ratings.by_rater[rater].get(item) for rater in raters),
            labels.get(item),
        )
        for item in ratings.items
    )
    return csv_file(("text", "trait", *raters, OWN), rows)


# ---- a blind subset --------------------------------------------------------------------------------------------------

_FEWEST_OF_A_POLE = 5


def preferred(candidates: Mapping[Item, float], *, seed: str, first: Collection[Item] = ()) -> list[Item]:
    """Return all items in a random order, the first ones with at least five of each pole if there are as many.

    `candidates` has the quality of each item by the rater whose poles have to occur. Items in `first` precede others.
    Equal seeds give equal orders.
    """
    shuffled = sorted(candidates, key=lambda item: _mixed(seed, item))
    of_side: dict[int, list[Item]] = {0: [], 1: [], 2: []}
    for item, side in zip(shuffled, sides(np.array([candidates[item] for item in shuffled])).tolist(), strict=True):
        of_side[side].append(item)
    forced = {item for pole in (0, 2) for item in of_side[pole][:_FEWEST_OF_A_POLE]}
    # The sort is stable, so each group keeps its random order.
    return sorted(shuffled, key=lambda item: (item not in first, item not in forced))


def in_order(items: Sequence[Item], *, seed: str) -> list[Item]:
    """Return the items in an order that shows no label."""
    return sorted(items, key=lambda item: _mixed(f"order {seed}", item))


def _mixed(seed: str, item: Item) -> str:
    # A hash and no generator, so the order of two items does not depend on which others there are.
    return hashlib.sha256("\n".join((seed, *item)).encode()).hexdigest()
