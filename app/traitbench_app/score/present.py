"""The presentation: the Score page before a room, which guesses before the score is revealed. Nothing is stored.

One component fills the window. Its script (`present.js`) draws what is computed here and answers with events: what was
typed, and the keys that need another text, version or fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import streamlit as st

from traitbench.contract.explanations import Explanation
from traitbench.contract.models import Model
from traitbench.contract.scores import Card, TraitScore
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.reasons import changed_most, highlighted, strongest
from traitbench.display.sides import Side, side_of
from traitbench.display.text import count, isolated, shortened
from traitbench.display.words import why
from traitbench.errors import TraitbenchError
from traitbench.local.preview import LocalVersion, PreviewUnavailable
from traitbench_app.parts.card import ordered
from traitbench_app.parts.reasons import reasons_of, shows_words
from traitbench_app.parts.scorer import PageScorer, scorer_of
from traitbench_app.parts.teaching import Taught, Teacher, rehearsed, teach, texts_taught, undo
from traitbench_app.parts.version_figures import label
from traitbench_app.score import audience
from traitbench_app.shell import session
from traitbench_app.workspace.texts import AGAINST, IN_USE, TEXT, texts_to_try

MOST_BARS = 6
"""The most bars that fit a screen of 720 lines."""

_PARAMETER, _KEY, _HIDDEN = "present", "present", "present.hidden"
_HANDLED, _ROUND, _AT = "present.handled", "present.round", "present.at"
_SIDE = "present.side"
_CHANGED, _WAS_OPEN = "present.changed", "present.was_open"
_MOVED = "present.moved"  # what moved the bars last: "taught", or the text or version that was on screen before
_OF_SIDE = {"A": TEXT, "B": AGAINST}
_NAMES = {"A": "first text", "B": "second text"}
_EXCERPT, _MOST_DOTS = 40, 12
_UNREADABLE = "This version cannot be read. Choose another one on the Score page."
_NOT_TRAINED = "Train this model first: its draft has too many samples to be scored here."
_SIDES = {True: "right", False: "left", None: ""}
_STYLE = """
<style>
[data-testid=stSidebar], [data-testid=stHeader], [data-testid=stExpandSidebarButton], [class*=st-key-present-hidden] {
  display: none !important;
}
[data-testid=stMain] { overflow: hidden; }
[data-testid=stMain] [data-stale] { opacity: 1 !important; }
</style>
"""
_HTML = """
<div class="page">
  <header><span class="model"></span><span class="sent"></span><span class="taught"></span></header>
  <h1 class="title"></h1>
  <div class="say">
    <div class="paint" dir="auto" aria-hidden="true"></div>
    <textarea class="field" dir="auto" aria-label="Text" placeholder="Type a text." spellcheck="false"></textarea>
  </div>
  <div class="stage"><div class="rows"></div><p class="hint" role="status"></p></div>
  <div class="code" hidden><div></div><p></p></div>
  <footer class="keys"></footer>
</div>
"""

_component = st.components.v2.component(
    "traitbench_present",
    html=_HTML,
    css=files(__package__).joinpath("present.css").read_text("utf-8"),
    js=files(__package__).joinpath("present.js").read_text("utf-8"),
)

Words = list[tuple[str, str]]
"""Words with the side whose colour they have, "left" or "right", or ""."""


def presenting() -> bool:
    """Whether the address asks for the presentation."""
    return st.query_params.get(_PARAMETER) == "1"


def start() -> None:
    """Begin to present. A callback."""
    st.query_params[_PARAMETER] = "1"


def present(model: Model, traits: Sequence[Trait], versions: Sequence[Version], chosen: str) -> None:
    """Draw the presentation; `chosen` is the label of the version that scores, empty for a draft."""
    st.html(_STYLE)
    session.store(_CHANGED, None)
    every = audience.POLL_SECONDS if audience.room() else None
    st.fragment(_draw, run_every=every)(model, traits, versions, chosen)


def _draw(model: Model, traits: Sequence[Trait], versions: Sequence[Version], chosen: str) -> None:
    """Draw it again; the whole page after an event, which may have chosen another version or opened the room."""
    if session.get(_CHANGED) or bool(audience.room()) < bool(session.get(_WAS_OPEN)):
        session.store(_WAS_OPEN, None)
        st.rerun()
    session.store(_WAS_OPEN, bool(audience.room()))
    side, round_no = session.get(_SIDE, "A"), session.get(_ROUND)
    if round_no is None and not session.get(TEXT):
        _next_example(model)
    text, problem, rows = session.get(_OF_SIDE[side], ""), "", list[dict[str, Any]]()
    by_key = {trait.key: trait for trait in traits}
    shown = [by_key[key] for key in ordered([*by_key], model.main_trait)[:MOST_BARS]]
    try:
        with st.container(key=f"{_HIDDEN}_draft"):
            stage = _stage(model, traits, versions, chosen)
        if stage and text.strip():
            rows = stage.rows(shown, text)
    except (TraitbenchError, PreviewUnavailable) as error:
        stage, problem = None, str(error)
    if stage is None:
        problem = problem or (_UNREADABLE if chosen else _NOT_TRAINED)
    taught = texts_taught(model.handle)
    data = {
        "handled": session.get(_HANDLED, 0),
        "round": round_no or 0,
        "model": ", ".join([model.handle, chosen or "draft", *(["second text"] if side == "B" else [])]),
        "taught_as": [_SIDES[each.positive] for each in taught[-_MOST_DOTS:]],
        "taught_say": f"{count(len(taught), 'text')} taught · Nothing is stored",
        "side": side,
        "text": text,
        "rows": rows or [_empty(trait) for trait in shown],
        "problem": problem,
        "examples": bool(_examples(model)),
        "versions": len(versions) > 1,
        "room": audience.for_browser(),
    }

    def answer() -> None:
        events = (session.get(_KEY) or {}).get("events") or []
        for event in events:
            # The component sends its events again until the page says that they are handled.
            if event["n"] > session.get(_HANDLED, 0):
                session.store(_HANDLED, event["n"])
                session.store(_CHANGED, True)
                _act(event, model, [f"v{each.version_no}" for each in versions], chosen)

    _component(data=data, key=_KEY, height=1, on_events_change=answer)


# ---- what is on screen -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Stage:
    """What scores the texts of a model: a version or its draft, and what can be taught."""

    model: Model
    scorer: PageScorer
    teacher: Teacher | None
    others: Mapping[str, Version]

    def rows(self, traits: Sequence[Trait], text: str) -> list[dict[str, Any]]:
        """The bars of a text for the browser, without those of traits that have no score."""
        taught = texts_taught(self.model.handle) if self.teacher else ()
        card, before = self._card(text, taught), self._before(text, taught)
        known = [trait for trait in traits if trait.key in card.detail]
        return [self._row(trait, text, card.detail[trait.key], before.get(trait.key), taught) for trait in known]

    def _by(self, trait: str, taught: Sequence[Taught]) -> PageScorer:
        is_taught = any(each.trait == trait for each in taught)
        return self.teacher.scorer(trait, taught) if self.teacher and is_taught else self.scorer

    def _card(self, text: str, taught: Sequence[Taught]) -> Card:
        card = self.scorer.cards([text])[0]
        new = {key: self._by(key, taught).cards([text])[0].detail[key] for key in {each.trait for each in taught}}
        return card.model_copy(update={"detail": {**card.detail, **new}})

    def _before(self, text: str, taught: Sequence[Taught]) -> dict[str, tuple[str, TraitScore]]:
        """What the bars slide from, by trait, with its caption."""
        kind, name = session.get(_MOVED) or ("", "")
        if kind == "taught" and self.teacher and taught and taught[-1].text == text:
            # Without this text the fit is that of the version, unless its samples have changed since.
            was = self.teacher.scorer(name, taught[:-1]).cards([text])[0].detail[name]
            return {name: ("was", was)}
        card = None
        if kind == "text" and (other := session.get(_OF_SIDE[name], "")).strip():
            card, name = self._card(other, taught), _NAMES[name]
        elif kind == "version" and name in self.others:
            card = scorer_of(self.model.handle, self.others[name]).cards([text])[0]
        return {key: (name, each) for key, each in card.detail.items()} if card else {}

    def _row(
        self,
        trait: Trait,
        text: str,
        score: TraitScore,
        before: tuple[str, TraitScore] | None,
        taught: Sequence[Taught],
    ) -> dict[str, Any]:
        key, poles = trait.key, (trait.negative_label, trait.positive_label)
        side = side_of(score, negative_label=poles[0], positive_label=poles[1])
        reasons = reasons_of(self._by(key, taught), text).get(key)
        just_taught = before is not None and session.get(_MOVED) == ("taught", key)
        if just_taught and reasons and self.teacher:
            was = reasons_of(self.teacher.scorer(key, taught[:-1]), text)[key]
            says = _of_teaching(taught[-1], poles, changed_most(was, reasons, text))
        else:
            says = _of_score(side, why(score), reasons, text)
        return _empty(trait) | {
            "score": score.score,
            "side": _SIDES[side.positive],
            "sure": score.confidence,
            "alt": f"{trait.name}: {side.words}, {score.score} from 0, {poles[0]}, to 100, {poles[1]}",
            "says": says,
            "lit": highlighted(reasons, text, by_pieces=shows_words(reasons, text)) if reasons else "",
            "before": before and {"caption": before[0], "score": before[1].score},
            "taught": just_taught,
            "teachable": self.teacher is not None and self.teacher.can_teach(key),
        }


def _stage(model: Model, traits: Sequence[Trait], versions: Sequence[Version], chosen: str) -> _Stage | None:
    """Return what scores; None while a large draft waits for its training."""
    others = {label(each): each for each in versions}
    by = others.get(chosen) if chosen else rehearsed(model, traits)
    if by is None:
        return None
    scorer = PageScorer(by=by) if isinstance(by, LocalVersion) else scorer_of(model.handle, by)
    # The samples are those of the version in use. What another one learned from is not known here.
    is_current = isinstance(by, LocalVersion) or by.version_no == model.version_no
    teacher = Teacher.of(model, traits, by) if is_current else None
    if teacher:
        teacher.prepare()
    return _Stage(model, scorer, teacher, others)


def _empty(trait: Trait) -> dict[str, Any]:
    """A bar without a score."""
    first = f"{trait.negative_label[:1].upper()}{trait.negative_label[1:]}"
    return {
        "key": trait.key,
        "name": trait.name,
        "title": [(first, "left"), (" or ", ""), (trait.positive_label, "right"), ("?", "")],
        "negative": trait.negative_label,
        "positive": trait.positive_label,
        "score": None,
        "lit": "",
    }


def _of_score(side: Side, why_open: str, reasons: Explanation | None, text: str) -> Words:
    """`It says probably cold. “subject to” and “it qualifies” outweigh “love to”.`"""
    if side.positive is None:
        return [("It cannot tell. ", ""), (why_open, "")]
    said: Words = [("It says ", ""), (side.words, _SIDES[side.positive]), (". ", "")]
    pulling = _quoted(strongest(reasons, text, positive=side.positive, most=2)) if reasons else []
    against = _quoted(strongest(reasons, text, positive=not side.positive, most=1)) if reasons else []
    one = len(pulling) == 1
    if pulling and against:
        said.append((f"{' and '.join(pulling)} {'outweighs' if one else 'outweigh'} {against[0]}.", ""))
    elif pulling:
        said.append((f"{' and '.join(pulling)} {'decides' if one else 'decide'}.", ""))
    return said


def _of_teaching(taught: Taught, poles: tuple[str, str], changed: Sequence[str]) -> Words:
    """`Taught as warm. Changed most: “carrier where” and “the parcel”.`"""
    said: Words = [("Taught as ", ""), (poles[taught.positive], _SIDES[taught.positive]), (". ", "")]
    return [*said, (f"Changed most: {' and '.join(_quoted(changed))}.", "")] if changed else said


def _quoted(words: Sequence[str]) -> list[str]:
    return [f"“{isolated(shortened(each, _EXCERPT))}”" for each in words]


# ---- what the keys do ------------------------------------------------------------------------------------------------


def _act(event: Mapping[str, Any], model: Model, labels: Sequence[str], chosen: str) -> None:
    """Do what an event of the browser asks for; `chosen` is the label of the version on screen."""
    side, kind = session.get(_SIDE, "A"), event["kind"]
    if event["text"] is not None:
        session.store(_OF_SIDE[side], event["text"])
    text = session.get(_OF_SIDE[side], "")
    moved: tuple[str, str] | None = None
    if kind in ("left", "right") and text.strip():
        teach(model.handle, Taught(event["trait"], text, positive=kind == "right"))
        moved = ("taught", event["trait"])
    elif kind == "undo":
        undo(model.handle)
    elif kind == "next":
        _next_example(model)
    elif kind in _OF_SIDE and kind != side:
        # The second text begins as a copy of the first, to change a word in it.
        session.put({_SIDE: kind, _OF_SIDE[kind]: session.get(_OF_SIDE[kind]) or text})
        moved = ("text", side)
    elif kind == "version" and chosen in labels:
        following = labels[(labels.index(chosen) + 1) % len(labels)]
        session.store("version", IN_USE if following == f"v{model.version_no}" else following)
        moved = ("version", chosen)
    elif kind in ("open", "close", "show", "reject"):
        moved = session.get(_MOVED)
        if sent := audience.act(kind):
            session.put({_OF_SIDE[side]: sent, _ROUND: session.get(_ROUND, 0) + 1})
            moved = None
    elif kind == "leave":
        audience.leave(*_OF_SIDE.values())
        undo(model.handle, everything=True)
        for each in (_SIDE, _ROUND, _AT):
            session.store(each, None)
        st.query_params.pop(_PARAMETER, None)
    session.put({_MOVED: moved})


def _next_example(model: Model) -> None:
    """Put the next text to try on screen, which the room has not seen."""
    texts, key = _examples(model), _OF_SIDE[session.get(_SIDE, "A")]
    now = session.get(key, "")
    at = texts.index(now) + 1 if now in texts else session.get(_AT, 0)
    if texts:
        session.put({key: texts[at % len(texts)], _AT: at + 1})
    session.store(_ROUND, session.get(_ROUND, 0) + 1)


def _examples(model: Model) -> list[str]:
    """The texts to try, read once."""
    key = f"present.texts:{model.handle}"
    if session.get(key) is None:
        session.store(key, texts_to_try(model))
    texts: list[str] = session.get(key)
    return texts
