"""One row of a batch: its text, score and highlights; feedback on it, and a corrected text."""

import pandas as pd
import streamlit as st

from traitbench.as_read import is_blank
from traitbench.contract.batches import FailedLine
from traitbench.contract.models import Model
from traitbench.contract.scores import Card
from traitbench.contract.texts import is_url
from traitbench.contract.traits import Trait
from traitbench.display.text import plain, shortened
from traitbench.names import pin
from traitbench_app.batch.columns import ERROR, LINE, TEXT
from traitbench_app.parts.card import draw_card, ordered, picked_bar, poles_of
from traitbench_app.parts.feedback import draw_feedback
from traitbench_app.parts.reasons import draw_adding, draw_highlighted, draw_nearest, reasons_of
from traitbench_app.parts.scorer import PageScorer
from traitbench_app.parts.version_figures import names_of
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt, client
from traitbench_app.workspace import stored_batches
from traitbench_app.workspace.batches import Batch
from traitbench_app.workspace.texts import hand_over

_LONGEST_SHOWN = 2_000
_CARD = "batch.row.card"


def draw_row(model: Model, frame: pd.DataFrame, at: int, batch: Batch, traits: list[Trait], trait: Trait) -> None:
    """Draw the row in full, `trait` first; its card is read from the service with the version of the batch."""
    row = frame.loc[at]
    text = str(row[TEXT])
    with st.container(border=True, key="batch.row"):
        if row[ERROR]:
            st.error(plain(str(row[ERROR])) if not is_blank(text) else "This row has no text.", icon=":material/error:")
        card = None if row[ERROR] or is_blank(text) else _card(batch, text)
        if card is None or is_url(text):
            st.text(shortened(text, _LONGEST_SHOWN))
        if card is not None and is_url(text):
            # Reasons and feedback would make the service fetch the page.
            draw_card(card, names_of(traits), poles_of(traits), main=trait.key, key="batch.row.scores")
            st.caption("The address was scored as it stands. Its page was not fetched.")
        elif card is not None:
            _draw_why(card, text, batch, traits, trait, file_name=f"{batch.handle}-line-{row[LINE]}")
            with st.expander(
                "Wrong? Say what it should be", icon=":material/label:", key="batch.row.label", on_change="rerun"
            ) as label:
                if label.open:
                    draw_feedback(model, batch.version, text, card, traits)
        _draw_fix(model, batch, at, text)
        if not is_url(text):
            # Passed through the session, because the query parameter `version` is bound to the widget of this page.
            hand_over(text, batch.version)
            page_link("score", "Open on the Score page")


def _card(batch: Batch, text: str) -> Card | None:
    stored: tuple[tuple[str, str], Card] | None = session.get(_CARD)
    if stored and stored[0] == (batch.settings.handle, text):
        return stored[1]
    with attempt() as scoring:
        handle, traits = batch.settings.handle, batch.settings.traits
        card: Card | FailedLine
        if is_url(text):
            # A single score would fetch the page.
            [card] = client().scores.batch(handle, [text], traits=traits)
        else:
            card = client().scores.score(handle, text, traits=traits)
    if scoring.error or not isinstance(card, Card):
        return None
    session.store(_CARD, ((batch.settings.handle, text), card))
    return card


def _draw_why(card: Card, text: str, batch: Batch, traits: list[Trait], trait: Trait, *, file_name: str) -> None:
    """Draw the bars, and the text with the words that decide about the trait whose bar was picked."""
    poles, names = poles_of(traits), names_of(traits)
    slot = st.container()
    draw_card(card, names, poles, main=trait.key, key="batch.row.scores", can_pick=True)
    keys = ordered([*card.detail], trait.key)
    key = keys[min(picked_bar("batch.row.scores"), len(keys) - 1)]
    scorer = PageScorer(pin(batch.handle, batch.version))
    with slot:
        draw_highlighted(scorer, key, text)
    with st.expander(
        "What each part adds", icon=":material/troubleshoot:", key="batch.row.why", on_change="rerun"
    ) as why:
        if why.open:
            with attempt():
                reasons = reasons_of(scorer, text)
                draw_adding(reasons, key, names.get(key, key), text, file_name=file_name)
                draw_nearest(reasons[key], poles.get(key, ("negative", "positive")))


def _draw_fix(model: Model, batch: Batch, at: int, text: str) -> None:
    with st.expander("Fix the text", icon=":material/edit:", key="batch.row.fix", on_change="rerun") as fixing:
        if not fixing.open:
            return
        key = f"batch.row.text:{batch.id}:{at}"
        changed = st.text_area("Text", text, key=key, height=160, persist_state="page")
        if st.button("Score the new text", key="batch.row.rescore", disabled=changed == text or is_blank(changed)):
            with attempt() as scoring, st.spinner("Scoring"):
                [line] = list(
                    client().scores.batch(
                        batch.settings.handle, [changed], traits=batch.settings.traits, mode=batch.settings.mode
                    )
                )
            if scoring.error:
                return
            if not isinstance(line, Card):
                st.error(plain(line.error.message), icon=":material/error:")
                return
            stored_batches.correct(batch, at, changed, line)
            session.flash(f"Line {batch.lines[at]:,} was scored again. The file you uploaded stays as it is.")
            st.rerun()
