"""Label some texts without seeing the labels of others: one text at a time, by keys.

Your labels belong to a trait and a text, not to a file, so they survive every run of the page and another upload in
the same tab. The texts are chosen by the trait, the texts and the first rater's labels: the same file gives the same
ones.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import streamlit as st

from traitbench.analysis.agreement import Item
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench.local.label_session import LabelSession, LabelWork, item_id
from traitbench.local.labeller import LabelAnswer
from traitbench.tables.rating_files import OWN, Ratings, in_order, labelled_file, preferred
from traitbench_app.parts.controls import download
from traitbench_app.parts.labeller import labeller
from traitbench_app.shell import session

GIVEN = "samples.blind"
"""The session key of your labels, before a colon and the handle of the model."""

_SHEETS = "samples.raters.sheets"
_DEFAULT, _FEWEST = 40, 10


@dataclass(frozen=True, eq=False)
class Sheet:
    """The texts of a trait to label, chosen from `candidates`, which have the first rater's qualities.

    `known` are your labels from a column of the file, by item.
    """

    handle: str
    trait: str
    candidates: Mapping[Item, float]
    known: Mapping[Item, float]

    @cached_property
    def seed(self) -> str:
        """A hash of the trait, its texts, and the first rater's labels."""
        seen = hashlib.sha256()
        for item, quality in sorted(self.candidates.items()):
            seen.update(f"{item} {quality}".encode())
        return seen.hexdigest()

    @cached_property
    def _preferred(self) -> list[Item]:
        return preferred(self.candidates, seed=self.seed, first=self.known)

    @property
    def key(self) -> str:
        """The session key of the number of texts."""
        return f"samples.raters.number:{self.seed}"

    @property
    def suggested(self) -> int:
        """40 texts, or those with a known label if they are more, but at most half: the others are for training."""
        half = max(len(self.candidates) // 2, min(_FEWEST, len(self.candidates)))
        return min(max(_DEFAULT, len(self.known)), half)

    @property
    def number(self) -> int:
        """The number of texts that was chosen."""
        return min(int(session.get(self.key, self.suggested)), len(self.candidates))

    @property
    def items(self) -> list[Item]:
        """The texts to label, in order."""
        return in_order(self._preferred[: self.number], seed=self.seed)


def sheets(handle: str, ratings: Ratings, first: str, trusted: str | None) -> dict[str, Sheet]:
    """Return the sheet of each trait. They are kept while the ratings and columns stay the same."""

    def sheet_of(trait: str) -> Sheet:
        known = ratings.by_rater[trusted] if trusted else {}
        candidates = {item: each for item, each in ratings.by_rater[first].items() if item[0] == trait}
        return Sheet(handle, trait, candidates, {item: known[item] for item in candidates if item in known})

    about = (ratings, handle, first, trusted)
    return session.once(_SHEETS, about, lambda: {trait: sheet_of(trait) for trait in ratings.traits})


def pick_number(sheet: Sheet) -> None:
    """Draw the number of texts to label."""
    available = len(sheet.candidates)
    if not available:
        return
    chosen = st.number_input(
        "Texts to label",
        min_value=min(_FEWEST, available),
        max_value=available,
        value=sheet.number,
        step=10,
        # With the number that is suggested, which is the value of a new widget only.
        key=f"samples.raters.texts.{sheet.seed}.{sheet.suggested}",
        width=160,
        help=f"Chosen at random from {count(available, 'text')}, with at least five of each pole if there are as many. "
        "More texts give narrower intervals; the others are for training.",
        persist_state="page",
    )
    session.store(sheet.key, int(chosen))


def your_labels(sheet: Sheet) -> dict[Item, float]:
    """Return your labels of the texts on a sheet."""
    given = _given(sheet.handle)
    labels = {item: given.get(item, sheet.known.get(item)) for item in sheet.items}
    return {item: quality for item, quality in labels.items() if quality is not None}


def draw_sheet(sheet: Sheet, trait: Trait, ratings: Ratings, *, file_name: str) -> None:
    """Draw the next text to label, or say that all are labelled."""
    if not sheet.items:
        st.caption(f"No text has a label for {plain(trait.name)}.")
        return
    labels, given = labels_of(sheet, trait, ratings), _given(sheet.handle)
    skipped = [item for item in sheet.items if item in given and given[item] is None]
    with st.container(border=True, key="samples.blind.card"):
        labeller(
            labels,
            key="samples.blind.labeller",
            run=sheet.seed,
            on_answers=partial(take, sheet, trait, ratings),
            empty=f"All {len(sheet.items):,} texts are done.",
            middle=True,
            leave=False,
        )
        with st.container(horizontal=True, vertical_alignment="center", key="samples.blind.ways"):
            if skipped:
                st.button(
                    f"Show {count(len(skipped), 'skipped text')} again",
                    icon=":material/replay:",
                    type="tertiary",
                    key="samples.blind.again",
                    on_click=_keep,
                    args=(sheet.handle, {item: each for item, each in given.items() if item not in skipped}),
                )
            if labels.done > len(skipped):
                download(
                    "Download with your labels",
                    lambda: labelled_file(ratings, {**sheet.known, **_given(sheet.handle)}),
                    f"{file_name}.csv",
                    key="samples.blind.download",
                    type="tertiary",
                    help=f"All texts and labels, and yours in the column {OWN}. Upload this file later to go on: your "
                    "labels are kept only in this tab.",
                )


def labels_of(sheet: Sheet, trait: Trait, ratings: Ratings) -> LabelSession:
    """Return the texts of a sheet in order, with your labels and without scores."""
    work = LabelWork(
        [trait],
        {text: ratings.texts[text] for _, text in sheet.items},
        hints=False,
        given={trait.key: {text: quality for (_, text), quality in sheet.known.items()}},
        decided={item_id(text, key): each for (key, text), each in _given(sheet.handle).items()},
    )
    return LabelSession(work)


def take(sheet: Sheet, trait: Trait, ratings: Ratings, answers: Sequence[LabelAnswer]) -> None:
    """Keep your answers in the session."""
    labels = labels_of(sheet, trait, ratings)
    labels.take(answers)
    decided = {(key, text): each for item, each in labels.decided.items() for text, _, key in [item.rpartition(":")]}
    _keep(sheet.handle, decided)


def _given(handle: str) -> dict[Item, float | None]:
    """Your labels in the order in which you gave them; None is a skipped text."""
    given: dict[Item, float | None] = session.get(f"{GIVEN}:{handle}", {})
    return given


def _keep(handle: str, given: Mapping[Item, float | None]) -> None:
    session.store(f"{GIVEN}:{handle}", given)
