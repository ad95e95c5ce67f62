"""The first result of a model that was made from a file: how often it is right, a scored text, its worst mistakes."""

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.quality import by_trait, evidence_on
from traitbench.display.text import count, plain, shortened
from traitbench_app.from_file.making import plan_of
from traitbench_app.parts.controls import draw_title, primary_link, question
from traitbench_app.parts.scored_samples import NotKnown, draw_not_known, of, pole_in_words, texts_of
from traitbench_app.parts.scored_text import draw_scored_text
from traitbench_app.parts.strips import draw_more, draw_strips, first_few, how_to_read, weakest_first
from traitbench_app.shell import session
from traitbench_app.shell.navigation import model_link
from traitbench_app.shell.service import active_version, client

_TEXT, _STRIPS, _MISTAKES = "from_file.text", "from_file.traits", 4


def draw_result(model: Model) -> None:
    """Draw the verdict on the active version, a scored text and the first mistakes."""
    traits, version = client().traits.list(model.handle), active_version(model)
    if version is None:
        model_link("model", "Open the model", model=model.handle)
        return
    _draw_verdict(model, traits, version)
    shown = first_few(weakest_first(version, traits), key=_STRIPS)
    left, right = st.columns([1.8, 1], gap="small")
    with left:
        with question("Does it tell the sides apart?", key="sides"):
            st.caption(how_to_read(version))
            draw_strips(model, version, shown, among=traits)
            draw_more(traits, key=_STRIPS)
        with question("First mistakes", key="mistakes"):
            _draw_mistakes(model, version, traits)
    with right, question("Try it", key="try"):
        key = f"{_TEXT}.{model.handle}"
        if session.get(key) is None:
            plan = plan_of(model)
            session.put({key: plan.example if plan else _unseen(model)})
        draw_scored_text(model, version, traits, key=key)
        if not plan_of(model) and not any(trait.held_out_samples for trait in traits):
            st.caption("The model has learned from its samples, so type a new text to see how well it does.")
    with st.container(horizontal=True, vertical_alignment="center"):
        evidence = evidence_on(by_trait(version.metrics))
        if evidence is None or evidence.doubt or evidence.is_guessed or evidence.is_shared:
            model_link("batch", "Score a file", model=model.handle)
        else:
            primary_link("batch", "Score a file", model=model.handle)
        model_link("label", "Label more texts", model=model.handle)
        model_link("model", "Open the model", model=model.handle)


def _draw_verdict(model: Model, traits: list[Trait], version: Version) -> None:
    evidence = evidence_on(by_trait(version.metrics))
    plan = plan_of(model)
    said = f"{plan.said if plan else ''} {evidence.below(traits) if evidence else ''}"
    title = evidence.title if evidence else "How often it is right is not known"
    draw_title(plain(title), f"**{plain(model.handle)}** is trained. {plain(said)}")


def _unseen(model: Model) -> str:
    """Return the text of a test sample; without any, that of another sample."""
    for held_out in (True, None):
        if layout := client().samples.list(model.handle, held_out=held_out, limit=1).items:
            return layout[0].text
    return ""


def _draw_mistakes(model: Model, version: Version, traits: list[Trait]) -> None:
    """Draw the worst mistakes of all traits."""
    rows = of(model, version)
    if isinstance(rows, NotKnown):
        draw_not_known(model, version, rows)
        return
    by_key = {trait.key: trait for trait in traits}
    listed = texts_of(model, version, (row for row in rows.values() if row.right is False and row.trait in by_key))
    wrong = listed.scores
    for each in wrong[:_MISTAKES]:
        trait = by_key[each.axis.key]
        st.markdown(
            f"{plain(shortened(each.first.text, 90))}  \n:small[labelled **{pole_in_words(each.positive, trait)}**, "
            f"scored {each.points}]"
        )
    if not wrong:
        st.markdown("No mistakes: every sample is on the side of its label.")
    elif len(wrong) > _MISTAKES:
        st.caption(f"The worst {_MISTAKES} of {count(len(wrong) + listed.left_out, 'mistake')}.")
