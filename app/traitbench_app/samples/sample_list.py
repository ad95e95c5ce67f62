"""The list of samples: a component whose rows are drawn in the browser, and what it sends back.

A row is picked in the browser at once, by a click or the arrow keys, and the page follows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, get_args

import streamlit as st

from traitbench.contract.sample_changes import SampleChange
from traitbench.contract.samples import Provenance, Sample
from traitbench.contract.scores import Confidence
from traitbench.contract.traits import Trait
from traitbench.display.text import count, shortened
from traitbench_app.samples.listed import Unseen, is_wrong
from traitbench_app.samples.words import LabelWords, label_words

LIST = "samples.list"

_EXCERPT, _GROUP, _NAME = 320, 60, 12
_KEY = "key_"
"""How the id of a key begins, which stands for one without a name."""

_ORIGIN: Mapping[Provenance, str] = {"authored": "", "score_feedback": "corrected", "synthesized": "synthesized"}
_TEXT, _LABEL, _SCORE, _FOR, _OF_GROUP, _BY = "minmax(0, 1fr)", "112px", "122px", "40px", "60px", "112px"

Happening = Literal["pick", "more", "paste"]

_component = st.components.v2.component(
    "traitbench_samples",
    html='<div class="list"></div>',
    css=files(__package__).joinpath("sample_list.css").read_text("utf-8"),
    js=files(__package__).joinpath("sample_list.js").read_text("utf-8"),
)


@dataclass(frozen=True)
class ListEvent:
    """What a person did in the list: the sample that was picked, or that more rows or the paste form were asked for."""

    kind: Happening
    sample_id: int | None = None

    @classmethod
    def read(cls, sent: object) -> "ListEvent | None":
        """Read what the browser sent; None if that is no event."""
        parts = sent.split(" ") if isinstance(sent, str) else []
        if len(parts) != 3 or parts[1] not in get_args(Happening):
            return None
        about = int(parts[2]) if parts[2].isdecimal() and len(parts[2]) < 17 else None
        return None if parts[1] == "pick" and about is None else cls(parts[1], about)  # type: ignore[arg-type]


@dataclass(frozen=True)
class ListedSample:
    """What the list shows of a sample: its label in words, its score, how sure that is, and whether it was changed."""

    sample: Sample
    label: LabelWords
    unseen: Unseen | None
    sureness: Confidence
    by: str
    changed: bool = False

    def to_wire(self) -> dict[str, Any]:
        """Return the row as the script draws it."""
        points = None if self.unseen is None else self.unseen.points
        wrong = points is not None and is_wrong(self.sample.quality, points)
        side = (
            ""
            if points is None
            else f"Scored {points}, {'on the wrong side' if wrong else 'on the side'} of {self.label}"
        )
        return {
            "id": self.sample.id,
            "text": shortened(" ".join(self.sample.text[: 4 * _EXCERPT].split()), _EXCERPT),
            "label": {"how": self.label.how, "word": self.label.word, "side": self.label.side},
            "score": points,
            "sure": "low" if points == 50 else self.sureness,
            "wrong": wrong,
            "says": side,
            "test": "test" if self.sample.held_out else "",
            "group": shortened(self.sample.group or "", _GROUP),
            "by": self.by,
            "changed": self.changed,
        }


def added_by(sample: Sample) -> str:
    """Return when a sample was added, after how, if it was not written or imported by a person."""
    day = f"{sample.created_at.day} {sample.created_at:%b}"
    origin = _ORIGIN[sample.provenance]
    return f"{origin}, {day}" if origin else day


def changed_by(sample: Sample, change: SampleChange | None, own_name: str) -> str:
    """Return who changed or added a sample last and when, `Ana, 3 Nov`; if nobody did, when and how it came.

    `own_name` is what changes of the person who reads are recorded with.
    """
    kind = next((each.kind for each in change.samples if each.sample_id == sample.id), None) if change else None
    if change is None or not change.by or (kind == "add" and _ORIGIN[sample.provenance]):
        return added_by(sample)
    if change.by != own_name and change.by.startswith(_KEY):
        return added_by(sample)
    name = "you" if change.by == own_name else shortened(change.by.partition("@")[0], _NAME)
    return f"{name}, {change.at.day} {change.at:%b}"


def row_of(
    sample: Sample, trait: Trait, unseen: Unseen | None, sureness: Confidence, *, changed: bool, by: str = ""
) -> ListedSample:
    """Return what the list shows of a sample."""
    return ListedSample(sample, label_words(trait, sample.quality), unseen, sureness, by or added_by(sample), changed)


def list_data(
    rows: Sequence[ListedSample], matching: int, *, picked: int | None, scored: bool, order: str, step: int
) -> dict[str, Any]:
    """Return what the component is given; `matching` samples pass, and `step` more are shown on request."""
    grouped = any(row.sample.group for row in rows)
    widths = [_TEXT, _LABEL, *([_SCORE] if scored else []), _FOR, *([_OF_GROUP] if grouped else []), _BY]
    said = (
        f"{len(rows):,} of {matching:,}, {order}" if len(rows) < matching else f"{count(matching, 'sample')}, {order}"
    )
    rest = min(step, matching - len(rows))
    return {
        "rows": [row.to_wire() for row in rows],
        "picked": picked,
        "columns": {"scored": scored, "grouped": grouped, "widths": " ".join(widths)},
        "foot": {"said": said, "more": f"Show {rest} more" if rest > 0 else ""},
    }


def draw_list(data: Mapping[str, Any], *, on_event: Callable[[ListEvent], None]) -> None:
    """Draw the list; `on_event` is called before the page, or the fragment around the list, runs again."""

    def hear() -> None:
        if (event := ListEvent.read(st.session_state[LIST].get("event"))) is not None:
            on_event(event)

    _component(data=data, key=LIST, on_event_change=hear)
