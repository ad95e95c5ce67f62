"""Traits that nobody defined: the dialog that has them looked for, how it ended, and what is known of each.

Every figure stands with what it was measured on, and in words: a discovered trait is a suggestion.
"""

from collections.abc import Mapping, Sequence
from typing import get_args

import streamlit as st

from traitbench.app import session
from traitbench.app.navigation import page_link
from traitbench.app.sample_list import all_samples
from traitbench.app.service import client
from traitbench.app.text import ago, count, plain, shortened
from traitbench.app.theme import NEGATIVE_SIGN, POSITIVE_SIGN
from traitbench.app.widgets.derive import begin, draw_failure, notes, pick_effort
from traitbench.contract.models import Effort, Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.scoring.discover import EFFORTS, FEWEST_TEXTS, MOST_TEXTS
from traitbench.scoring.discover import Effort as Search

_OPEN = "traits.discover"
_TOLD_APART = ((0.9, "very well"), (0.75, "well"), (0.6, "fairly"), (0.0, "hardly"))
_LONGEST = 240


def start() -> None:
    """Open the dialog; a button's callback."""
    session.keep(_OPEN, True)


def discovery(model: Model, traits: Sequence[Trait]) -> None:
    """Draw the dialog while it is open."""
    if session.kept(_OPEN):
        st.dialog("Discover traits", icon=":material/explore:", width="medium", on_dismiss=_close)(_ask)(model, traits)


def _close() -> None:
    session.keep(_OPEN, None)


def _ask(model: Model, traits: Sequence[Trait]) -> None:
    st.markdown(
        "Looks through the texts of all samples for differences that nobody has named yet, and adds those that repeat "
        "themselves as traits. They are suggestions: look at them, rename them, delete what means nothing."
    )
    different = len({sample.content_sha256 for sample in all_samples(model.handle, traits)}) if traits else 0
    if different < FEWEST_TEXTS:
        st.warning(
            f"It needs **{FEWEST_TEXTS} different texts**; here are {different}. Their labels do not matter: texts of "
            "which you know nothing can go in as *in between*.",
            icon=":material/info:",
        )
        page_link("samples", "Add samples")
        _close()  # nothing here can bring the dialog up again, and the link leaves the page
        return
    if any(trait.kind == "intrinsic" for trait in traits):
        st.caption("Earlier suggestions that nobody has renamed, edited or given samples give way to the new ones.")
    effort = pick_effort({name: _in_words(EFFORTS[name]) for name in get_args(Effort)}, key="discover.effort")
    looked_at = f"{MOST_TEXTS:,} of the {different:,}" if different > MOST_TEXTS else f"all {different:,}"
    st.caption(f"It reads {looked_at} different texts. Traits that are here already are taken out of the search first.")
    refusal = st.container()
    with st.container(horizontal=True, horizontal_alignment="right"):
        sent = st.button("Discover", type="primary", icon=":material/explore:", key="traits.discover_send")
    if sent:
        with refusal:
            begun = begin(
                lambda: client().traits.discover(model.handle, effort=effort),
                already="These samples have been searched with this effort before: what was found stands among the "
                "traits. Take another effort, or add samples first.",
            )
        if begun:
            _close()
            st.rerun()


def _in_words(effort: Search) -> str:
    halves = "either half of the texts" + (f", halved in {effort.splits} ways" if effort.splits > 1 else "")
    return (
        f"Considers {effort.candidates} candidates and shows at most {effort.shown}. Each has to be found again in "
        f"{halves}."
    )


# ---- how it ended ----------------------------------------------------------------------------------------------------


def draw_outcome(model: Model, traits: Sequence[Trait]) -> None:
    """What the last discovery gave, for as long as it is the last thing that was done."""
    last = model.last_operation
    if last is None or last.kind != "discover" or draw_failure(model, what="The discovery"):
        return
    if last.status == "succeeded":
        found = sum(trait.kind == "intrinsic" for trait in traits)
        said = f"**Discovery was run {ago(last.started_at)}.** "
        said += (
            f"{count(found, 'discovered trait')} {'stands' if found == 1 else 'stand'} below. Read the typical texts, "
            "then give names that you understand. "
            if found
            else "There is no discovered trait now. "
        )
        st.info(said + notes(model), icon=":material/explore:")


# ---- what is known of one --------------------------------------------------------------------------------------------


def draw_figures(trait: Trait) -> None:
    """How much there is to a discovered trait, in words."""
    lines = []
    if trait.discrimination is not None:
        how = next(words for least, words in _TOLD_APART if trait.discrimination >= least)
        lines.append(
            f"**Discrimination {trait.discrimination:.2f}:** words alone tell its two ends apart {how}, measured on "
            "texts held out; 0.5 is chance, 1 is perfect."
        )
    if trait.explained_variance is not None:
        lines.append(
            f"**Explained variance {_percent(trait.explained_variance)}:** so much of the difference between texts "
            "lies along it, measured on halves of them that did not make it."
        )
    st.markdown("\n".join(f"- :small[{line}]" for line in lines))


def draw_anchors(trait: Trait, texts: Mapping[int, Sample]) -> None:
    """The typical texts of both ends."""
    ids = trait.anchor_sample_ids
    if ids is None:
        return
    ends = (
        (f"{NEGATIVE_SIGN} {plain(trait.negative_label)}", ids.negative),
        (f"{POSITIVE_SIGN} {plain(trait.positive_label)}", ids.positive),
    )
    shown = [(title, [texts[each].text for each in own if each in texts]) for title, own in ends]
    if not any(own for _, own in shown):
        st.caption("Its typical texts are no longer here.")
        return
    with st.expander("Typical texts", icon=":material/format_quote:", key=f"traits.anchors.{trait.key}"):
        for column, (title, own) in zip(st.columns(2, gap="medium"), shown, strict=True):
            with column:
                st.markdown(f"**{title}**")
                st.markdown("\n".join(f"- {plain(shortened(text, _LONGEST))}" for text in own) or "*None left.*")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
