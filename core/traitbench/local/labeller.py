"""The labeller: one text a screen, labelled by keys. Its script, and what it answers.

One script serves Streamlit (`app/traitbench_app/parts/labeller.py`) and notebooks
(`core/traitbench/estimators/label_widget.py`). It draws with `render({element, data, send})`: `data` is what
`LabelSession.to_wire` returns, and `send` takes the JSON that `Answers.read` reads.

Give at least as many items as a person answers while Python is busy: `BATCH`. The script keeps the item on screen,
drops items that were answered, and takes the rest in the order given, so a new order may be sent at any time. It
repeats its answers until `handled` covers them, so handling an answer twice must do no harm.

Actions: "label" with a quality from 0 to 1, "skip", "undo" with the id of the item to take back, "leave" (Esc). Keys:
left and right arrow for the poles, down to skip, up for the middle where it is offered, 0 to 9 for grades (the digit
divided by 9), U undo, ? help, Esc. Items without `hint` show no score: a blind audit gives none and sets `blind`, which
also hides highlights.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Literal

from traitbench.contract.explanations import Explanation

BATCH = 60
"""Items to send ahead."""

SCRIPT = files(__package__).joinpath("labeller.js").read_text("utf-8")
STYLE = files(__package__).joinpath("labeller.css").read_text("utf-8")

Action = Literal["label", "skip", "undo", "leave"]
Highlights = Sequence[tuple[int, int, float]]
"""Parts of a text: start, end, and strength from -1 to 1."""

Handled = Mapping[str, int]
"""For each mounted component, the number of its last answer that was handled."""


@dataclass(frozen=True)
class LabelAnswer:
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
    answers: Sequence[LabelAnswer] = field(default=())

    @classmethod
    def read(cls, sent: object) -> "Answers":
        """Read what a browser sent; leave out what is not an answer."""
        if not isinstance(sent, Mapping) or not isinstance(mount := sent.get("mount"), str):
            return cls()
        events = sent.get("events")
        read = [_answer(each) for each in events] if isinstance(events, list | tuple) else []
        return cls(mount, tuple(each for each in read if each is not None))

    def new(self, handled: Handled) -> list[LabelAnswer]:
        """Return the answers that were not handled yet, in order."""
        return [each for each in self.answers if each.number > handled.get(self.mount, 0)]

    def handled(self, before: Handled) -> Handled:
        """Return `before` with these answers handled."""
        last = max([each.number for each in self.answers], default=0)
        return {**before, self.mount: max(last, before.get(self.mount, 0))} if self.mount else before


def decide(decided: Mapping[str, float | None], answers: Sequence[LabelAnswer]) -> dict[str, float | None]:
    """Return the decisions by item after some answers, None for a skip; the newest decision is the last one.

    An answer that arrives again changes nothing but its place.
    """
    after = dict(decided)
    for answer in answers:
        if answer.action != "leave":
            after.pop(answer.id, None)
        if answer.action in ("label", "skip"):
            after[answer.id] = answer.quality
    return after


def highlights_of(reasons: Explanation) -> Highlights:
    """Return how strongly each part of a text speaks for a pole."""
    pieces = [piece for part in reasons.parts for piece in (part.pieces or [part])]
    most = max((abs(each.contribution) for each in pieces), default=0.0)
    return [(each.start, each.end, round(each.contribution / most, 2)) for each in pieces] if most else ()


def _answer(event: object) -> LabelAnswer | None:
    if not isinstance(event, Mapping):
        return None
    match event:
        case {"n": int(number), "id": str(item), "action": "label", "quality": int() | float() as quality}:
            return LabelAnswer(number, item, "label", float(quality), _seconds(event)) if 0 <= quality <= 1 else None
        case {"n": int(number), "id": str(item), "action": "skip" | "undo" | "leave" as action}:
            return LabelAnswer(number, item, action, None, _seconds(event))
    return None


def _seconds(event: Mapping[str, object]) -> float:
    seconds = event.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) else 0.0
