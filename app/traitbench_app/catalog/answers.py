"""Who answers two words: a trained model that has them as the poles of a trait, else the words alone.

Both give bars and the words of the text that decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from traitbench.analysis.languages import language
from traitbench.contract.explanations import Explanation, Part
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.colours import SIDES
from traitbench.display.languages import ENGLISH, name_of
from traitbench.errors import InternalError
from traitbench.local.names import KEY, NamesScorer, NoNamesAxis, reads_other_languages, scorer_by_names
from traitbench_app.catalog.listing import FIRST_DEMO, is_demo, traits_of
from traitbench_app.parts.card import ScoreRow, poles_of, row_by_names, score_rows
from traitbench_app.parts.door import Poles, problem_of
from traitbench_app.parts.reasons import reasons_of
from traitbench_app.parts.scorer import PageScorer, scorer_of
from traitbench_app.parts.taught_text import TeachableText, teachable_text
from traitbench_app.parts.version_figures import names_of
from traitbench_app.shell.service import active_version

_MOST_LOOKED_AT = 24


@dataclass(frozen=True)
class HomeAnswer:
    """The bars of a text, that of the two words first, and why that one is where it is.

    A text that leans is `teachable`.
    """

    text: str
    rows: Sequence[ScoreRow]
    reasons: Explanation | None
    teachable: TeachableText | None = None


@dataclass(frozen=True)
class TrainedPoles:
    """A trait of a model in use whose poles are the two words; it `is_turned` if they are exchanged."""

    model: Model
    version: Version
    traits: Sequence[Trait]
    trait: Trait
    is_turned: bool = False

    @property
    def poles(self) -> Poles:
        """The poles of the trait, the negative one first."""
        return self.trait.negative_label, self.trait.positive_label

    def score(self, text: str, *, field: str) -> HomeAnswer:
        """Return what the model says of the text, which is in a field with this key; raise the service's errors."""
        scorer, key = scorer_of(self.model.handle, self.version), self.trait.key
        [card] = scorer.cards([text])
        rows = score_rows(card, names_of(self.traits), poles_of(self.traits), main=key, leans=True)
        teachable = None
        if not self.is_turned:
            teachable = teachable_text(self.model, self.traits, self.version, key, card, field=field)
        if teachable:
            rows = [teachable.change(key, rows[0]), *rows[1:]]
            scorer = teachable.scorer or scorer
        reasons = reasons_of(scorer, text).get(key)
        if self.is_turned:
            rows = [_turned(rows[0]), *rows[1:]]
            reasons = reasons and _turned_reasons(reasons)
        return HomeAnswer(text, rows, reasons, teachable)


@dataclass(frozen=True)
class Untested:
    """Two words without a model."""

    poles: Poles
    scorer: NamesScorer

    def score(self, text: str, *, field: str) -> HomeAnswer:
        """Return what the words say; raise `BodyTooLarge` for a text that is too long to score."""
        [named] = self.scorer.score([text])
        reasons = reasons_of(PageScorer(by=self.scorer.version), text).get(KEY)
        return HomeAnswer(text, [row_by_names(*self.poles, named)], reasons)


def first_trained(listed: Sequence[Model]) -> TrainedPoles | None:
    """Return the trait that is asked first: the main one of the first demo model, or else of another model in use."""
    for model in sorted(listed, key=lambda each: (each.handle != FIRST_DEMO, not is_demo(each))):
        if known := _known(model):
            version, traits = known
            return TrainedPoles(
                model, version, traits, next((t for t in traits if t.key == model.main_trait), traits[0])
            )
    return None


def answer_of(listed: Sequence[Model], poles: Poles, first: TrainedPoles | None) -> TrainedPoles | Untested:
    """Return who answers two words, the model of `first` before others.

    Raise `NoNamesAxis` with the reason in Markdown if nothing can.
    """
    wanted = tuple(map(str.casefold, poles))
    others = [each for each in listed if first is None or each.handle != first.model.handle]
    for model in [*([first.model] if first else []), *others][:_MOST_LOOKED_AT]:
        version, traits = _known(model) or (None, ())
        for trait in traits if version else ():
            own = trait.negative_label.casefold(), trait.positive_label.casefold()
            if version and wanted in (own, own[::-1]):
                return TrainedPoles(model, version, traits, trait, is_turned=wanted != own)
    if problem := problem_of(poles):
        raise NoNamesAxis(problem)
    return Untested(poles, scorer_by_names(*poles))


def draw_language(words: str) -> None:
    """Say what two words are worth for texts in another language than English, and what is worth more."""
    code = language(words)
    if code is None or code == ENGLISH:
        return
    name = name_of(code)
    if reads_other_languages():
        says = (
            f"These words are {name}. Two names in English find the right side more often, also for {name} texts: about"
            " 8 in 10 in a small trial, instead of 7. A model that learns from your own texts does better."
        )
    else:
        says = (
            f"These words are {name}, and the encoder here knows English only: the side is hardly better than a guess."
            " Set `TRAITBENCH_ENCODER=multilingual`, or label texts of your own and check the model's figures."
        )
    with st.container(key="home.language"):
        st.caption(f":material/translate: {says}")


def _known(model: Model) -> tuple[Version, Sequence[Trait]] | None:
    """The version in use and the traits that it scores; None without one, or if it cannot be read."""
    if model.state == "archived":
        return None
    try:
        version = active_version(model)
        scored = version.metrics.traits if version else {}
        traits = [each for each in traits_of(model) if each.key in scored] if version else []
    except InternalError:
        return None
    return (version, traits) if version and traits else None


def _turned(row: ScoreRow) -> ScoreRow:
    """The row between exchanged poles."""
    sides = {SIDES[True].sign: False, SIDES[False].sign: True}
    look = SIDES[sides.get(row.sign)]
    return replace(
        row,
        negative=row.positive,
        positive=row.negative,
        score=100 - row.score,
        sign=look.sign,
        colour=look.words,
        fill=look.colour,
    )


def _turned_reasons(reasons: Explanation) -> Explanation:
    """The reasons between exchanged poles."""

    def turned(part: Part) -> Part:
        pieces = [each.model_copy(update={"contribution": -each.contribution}) for each in part.pieces]
        return part.model_copy(update={"contribution": -part.contribution, "pieces": pieces})

    middle = 2 * reasons.baseline
    return reasons.model_copy(
        update={"position": middle - reasons.position, "parts": [turned(each) for each in reasons.parts]}
    )
