"""Why a text scores as it does, on a page: the text with its sentences and words highlighted, and samples like it."""

import hashlib
import json
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from traitbench.app import session
from traitbench.app.reasons import COLUMNS, MOST_SHOWN, amount, highlighted, legend, rows, sign
from traitbench.app.service import client
from traitbench.app.text import plain, shortened
from traitbench.app.theme import NEGATIVE_SIGN, POSITIVE_SIGN
from traitbench.app.widgets.chart import download_table, only_our_csv
from traitbench.contract.explanations import Explanation, Neighbour
from traitbench.contract.names import pin
from traitbench.contract.scores import Card
from traitbench.contract.traits import Trait

WHY = "score.why"
HELP = (
    "What each sentence, and in a short text each word, adds to a trait's score; and the samples that are most like "
    "the text. It takes a moment: the text is read many times over, with and without each part."
)

_EXPLAINED = "score.explained"
_EXCERPT = 160


def explained(handle: str, version_no: str, text: str) -> Mapping[str, Explanation]:
    """The service's reasons of the text; they are asked for once, as long as it is the same text and version."""
    asked = hashlib.sha256(repr((handle, version_no, text)).encode("utf-8", "surrogatepass")).hexdigest()
    known, card = session.kept(_EXPLAINED, (None, None))
    if known != asked:
        card = client().scores.score(pin(handle, version_no), text, explain=True)
        session.keep(_EXPLAINED, (asked, card))
    return (card.explanation or {}) if isinstance(card, Card) else {}


def pick_text(texts: Sequence[str]) -> int:
    """Which of the texts has its reasons shown."""
    if len(texts) == 1:
        return 0
    names = ("Text", "Second text")
    chosen = st.segmented_control("Reasons of", names, default=names[0], required=True, key="score.why_text")
    return names.index(chosen) if chosen in names else 0


def draw_reasons(
    reasons: Mapping[str, Explanation],
    card: Card,
    text: str,
    traits: Sequence[Trait],
    names: Mapping[str, str],
    *,
    file_name: str,
) -> None:
    """One trait's reasons at a time, and all of them as a file; the card is the text's."""
    known = {trait.key: trait for trait in traits}
    with st.container(border=True, key="score.why_box"):
        key = st.selectbox(
            "Trait",
            list(reasons),
            format_func=lambda key: f"{names.get(key, key)} {card.scores[key]}, {_sum_in_short(reasons[key])}",
            key="score.why_trait",
        )
        if key is None:
            return
        told, trait = reasons[key], known.get(key)
        poles = (trait.negative_label, trait.positive_label) if trait else (NEGATIVE_SIGN, POSITIVE_SIGN)
        st.markdown(_sum_in_words(told, poles))
        _draw_text(told, text, poles, file_name=f"{file_name}-reasons-{key}")
        _draw_decided(told, text)
        _draw_nearest(told, poles)
        st.download_button(
            "All reasons as JSON",
            json.dumps({key: each.model_dump(mode="json") for key, each in reasons.items()}, indent=2),
            file_name=f"{file_name}-reasons.json",
            mime="application/json",
            icon=":material/download:",
            key="score.why_json",
            on_click="ignore",
            type="tertiary",
        )


def _sum(told: Explanation) -> float:
    return told.position - told.baseline


def _sum_in_short(told: Explanation) -> str:
    return f"{sign(_sum(told))} {amount(_sum(told), told)}"


def _sum_in_words(told: Explanation, poles: tuple[str, str]) -> str:
    total = _sum(told)
    if not total:
        return "The text lies in the middle: nothing in it pulls to either side."
    scale = "points of the score" if told.unit == "score" else "on the trait's axis, in logits: 0 is score 50, 2 is 88"
    pole = plain(poles[total > 0])
    return (
        f"The text lies **{amount(total, told)}** from the middle, towards **{pole}** ({scale}). "
        "What its parts add is exactly that."
    )


def _draw_text(told: Explanation, text: str, poles: tuple[str, str], *, file_name: str) -> None:
    by_pieces = any(part.pieces for part in told.parts)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        if by_pieces and len(told.parts) > 1:
            by = st.segmented_control(
                "Highlight", ["words", "sentences"], default="words", required=True, key="score.why_by",
                label_visibility="collapsed",
            )  # fmt: skip
            by_pieces = by != "sentences"
        as_table = st.toggle("As a table", key="score.why_as_table", persist_state="session")
        table = _table(told, text)
        download_table(table, key="score.why", file_name=file_name)
    if as_table:
        only_our_csv("score.why_rows")
        columns = {
            "Adds": st.column_config.NumberColumn(format="%+.3f"),
            "Text": st.column_config.Column(width="large"),
        }
        shown = table[["Part", "Adds", "Text"]]
        st.dataframe(shown, hide_index=True, width="stretch", key="score.why_rows", column_config=columns)
    else:
        st.html(legend(*poles))
        st.html(highlighted(told, text, by_pieces=by_pieces))
    if len(text) > MOST_SHOWN and not as_table:
        st.caption(f"The first {MOST_SHOWN:,} characters of {len(text):,}; the table has every part.")
    if not told.refined:
        st.caption("The text is long: only the stretches that count most were taken apart into sentences.")


def _draw_decided(told: Explanation, text: str) -> None:
    decided = told.decided_by
    if decided is not None:
        excerpt = plain(shortened(text[decided.start : decided.end], _EXCERPT))
        st.markdown(f"**Decided by one part**, the only one that counts on this trait: “{excerpt}”")


def _draw_nearest(told: Explanation, poles: tuple[str, str]) -> None:
    if told.nearest is not None:
        st.markdown("**Samples most like the text**")
        sides = (told.nearest.negative, told.nearest.positive)
        for place, pole, mark, side in zip(st.columns(2), poles, (NEGATIVE_SIGN, POSITIVE_SIGN), sides, strict=True):
            with place:
                st.caption(f"{mark} {plain(pole)}")
                st.markdown("\n".join(map(_neighbour, side)) or "none")
    if told.note:
        st.caption(plain(told.note))


def _neighbour(near: Neighbour) -> str:
    said = f": {plain(shortened(near.text, _EXCERPT))}" if near.text else ""
    return f"- **{near.similarity:.2f}** \\#{near.id}{said}"


def _table(told: Explanation, text: str) -> pd.DataFrame:
    return pd.DataFrame(rows(told, text), columns=list(COLUMNS))
