"""A text that is scored while someone edits it: a bar for each trait, and its words lit for the trait of a bar."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench_app.parts.bars import picked_bar
from traitbench_app.parts.card import draw_card
from traitbench_app.parts.lit_field import light, lit_field
from traitbench_app.parts.live import read_while_typing
from traitbench_app.parts.reasons import are_quick, by_words, draw_strongest, reasons_of
from traitbench_app.parts.scorecard import ordered, poles_of
from traitbench_app.parts.scorer import scorer_of
from traitbench_app.parts.version_figures import names_of
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt


def draw_scored_text(model: Model, version: Version, traits: Sequence[Trait], *, key: str) -> None:
    """Draw the field, whose text is at `key` of the session, and below it the scores by the version."""
    text, marks = lit_field(key, session.get(key, ""))
    words = st.container()
    read_while_typing(key)
    if text.strip():
        with attempt():
            draw_scores(model, version, traits, text, marks, words, key=f"{key}.card")


def draw_scores(
    model: Model,
    version: Version,
    traits: Sequence[Trait],
    text: str,
    marks: DeltaGenerator,
    words: DeltaGenerator,
    *,
    key: str,
) -> None:
    """Draw the bars here, and the reasons for the trait of the picked bar into their places.

    Raise the service's errors.
    """
    scorer, names, poles = scorer_of(model.handle, version), names_of(traits), poles_of(traits)
    [card] = scorer.cards([text])
    draw_card(card, names, poles, main=model.main_trait, key=key, can_pick=True)
    keys = ordered([*card.detail], model.main_trait)
    trait = keys[min(picked_bar(key), len(keys) - 1)]
    if are_quick([text]) and (reasons := reasons_of(scorer, text).get(trait)):
        light(marks, reasons, text, by_pieces=by_words(reasons))
        with words:
            name = names.get(trait, trait) if len(keys) > 1 else ""
            draw_strongest(reasons, text, poles.get(trait, ("negative", "positive")), name=name)
