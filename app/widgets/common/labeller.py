"""The labeller: one text a screen, labelled by keys, in a component that runs ahead of the server.

Interface, for every page that lets a person label texts (label mode, audits, a notebook):

    answers = labeller(
        [LabelItem("hash:warmth", text, "Warmth", PoleSign.negative("cold"), PoleSign.positive("warm"))],
        key="label.labeller",        # one component on the page
        run="some token",            # another token clears what is on screen; unsent answers are never cleared
        done=12, total=340,          # progress of what the server has handled
        handled=session state,       # {mount: last handled number}, as `Answers.handled` gave it
    )
    for answer in answers.new(handled): ...

Give at least as many items as a person answers while the page runs once: `BATCH`. The component keeps the item on
screen, drops items that were answered, and takes the rest in the order given, so a new order may be sent at any time.
It repeats its answers until `handled` covers them, and keeps them in the tab's storage across a reload (`keep`, empty
for never). Answers may therefore arrive again after a reload: handling one twice must do no harm.

Actions: "label" with a quality from 0 to 1, "skip", "undo" with the id of the item to take back, "leave" (Esc). Keys:
left and right arrow for the poles, down to skip, 0 to 9 for grades (the digit divided by 9), U undo, ? help, Esc. Items
without `score` show none: a blind audit gives none and sets `blind`, which also hides highlights.

The script is `app/labelling/labeller.js`. Its `render({element, data, send})` knows nothing about Streamlit; the last
lines below are the adapter. `data` is the JSON of `_data`, and `send` takes the JSON that `Answers.read` reads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from traitbench.app import labelling
from traitbench.app.shell.theme import SIDES

BATCH = 60
"""Items to send ahead."""

_FOLDER = Path(str(labelling.__file__)).parent
_ADAPTER = """
export default function ({ parentElement, data, setStateValue }) {
  const element = parentElement.querySelector('.mount')
  return render({ element, data, send: (answers) => setStateValue('answers', answers) })
}
"""
_component = st.components.v2.component(
    "traitbench_labeller",
    html='<div class="mount"></div>',
    css=(_FOLDER / "labeller.css").read_text("utf-8"),
    js=(_FOLDER / "labeller.js").read_text("utf-8") + _ADAPTER,
)

Action = Literal["label", "skip", "undo", "leave"]
Handled = Mapping[str, int]
"""For each mounted component, the number of its last answer that was handled."""


@dataclass(frozen=True)
class PoleSign:
    """How a pole is shown: its name, sign and colour."""

    label: str
    sign: str
    colour: str

    @classmethod
    def negative(cls, label: str) -> "PoleSign":
        """The pole at the left."""
        return cls(label, SIDES[False].sign, SIDES[False].colour)

    @classmethod
    def positive(cls, label: str) -> "PoleSign":
        """The pole at the right."""
        return cls(label, SIDES[True].sign, SIDES[True].colour)


@dataclass(frozen=True)
class ItemScore:
    """The score of an item now: 0 to 100, its headline (`clearly warm`), and the side that it claims."""

    score: int
    words: str
    positive: bool | None


@dataclass(frozen=True)
class LabelItem:
    """A text to label; `question` is the name of the trait. `highlights` are (start, end, strength from -1 to 1)."""

    id: str
    text: str
    question: str
    negative: PoleSign
    positive: PoleSign
    score: ItemScore | None = None
    highlights: Sequence[tuple[int, int, float]] = ()


@dataclass(frozen=True)
class Answer:
    """One decision; `seconds` is how long the text was on screen."""

    number: int
    id: str
    action: Action
    quality: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Answers:
    """What a component sent: all its answers that it does not know to be handled."""

    mount: str = ""
    answers: Sequence[Answer] = field(default=())

    @classmethod
    def read(cls, sent: object) -> "Answers":
        """Read what a browser sent; leave out what is not an answer."""
        if not isinstance(sent, Mapping) or not isinstance(mount := sent.get("mount"), str):
            return cls()
        events = sent.get("events")
        read = [_answer(each) for each in events] if isinstance(events, list | tuple) else []
        return cls(mount, tuple(each for each in read if each is not None))

    def new(self, handled: Handled) -> list[Answer]:
        """Return the answers that were not handled yet, in order."""
        return [each for each in self.answers if each.number > handled.get(self.mount, 0)]

    def handled(self, before: Handled) -> Handled:
        """Return `before` with these answers handled."""
        last = max([each.number for each in self.answers], default=0)
        return {**before, self.mount: max(last, before.get(self.mount, 0))} if self.mount else before


def labeller(
    items: Sequence[LabelItem],
    *,
    key: str,
    run: str,
    done: int,
    total: int,
    handled: Handled,
    on_answers: Callable[[], None],
    saved: int | None = None,
    blind: bool = False,
    last: str | None = None,
    keep: str = "",
    notice: str = "",
    empty: str = "",
    scorer: str = "Score now",
) -> None:
    """Draw the labeller; `on_answers` is called before the page runs again, and reads `answers_of(key)`.

    `saved` is the number of labels that the service confirmed; None if nothing is saved meanwhile. `last` is the id of
    the last decision, which U takes back after a reload. `notice` is an alert, such as a failed save. `empty` is shown
    when there is no item.
    """
    _component(
        data={
            "run": run,
            "items": [_item(each, blind=blind) for each in items],
            "done": done,
            "total": total,
            "saved": saved,
            "handled": dict(handled),
            "blind": blind,
            "last": last,
            "keep": keep,
            "notice": notice,
            "empty": empty,
            "scorer": scorer,
            "keys": "page",
        },
        key=key,
        on_answers_change=on_answers,
    )


def answers_of(key: str) -> Answers:
    """Return what the component with this key sent."""
    state = st.session_state.get(key)
    return Answers.read(state.get("answers") if isinstance(state, Mapping) else getattr(state, "answers", None))


def _item(item: LabelItem, *, blind: bool) -> dict[str, Any]:
    given: dict[str, Any] = {
        "id": item.id,
        "text": item.text,
        "trait": item.question,
        "negative": vars(item.negative),
        "positive": vars(item.positive),
    }
    if item.score is not None:
        given["hint"] = vars(item.score)
    if item.highlights and not blind:
        given["highlights"] = [list(each) for each in item.highlights]
    return given


def _answer(event: object) -> Answer | None:
    if not isinstance(event, Mapping):
        return None
    match event:
        case {"n": int(number), "id": str(item), "action": "label", "quality": int() | float() as quality}:
            return Answer(number, item, "label", float(quality), _seconds(event)) if 0 <= quality <= 1 else None
        case {"n": int(number), "id": str(item), "action": "skip" | "undo" | "leave" as action}:
            return Answer(number, item, action, None, _seconds(event))
    return None


def _seconds(event: Mapping[str, object]) -> float:
    seconds = event.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) else 0.0
