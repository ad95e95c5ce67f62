"""The reasons for a score, on a page: the text with highlighted sentences and words, and the most similar samples."""

import hashlib
import json
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from traitbench.contract.explanations import Explanation, Neighbour
from traitbench.contract.scores import Card
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN
from traitbench.display.reasons import COLUMNS, MOST_SHOWN, highlighted, legend, rows
from traitbench.display.text import plain, shortened
from traitbench.names import pin
from traitbench_app.parts.chart import download_table
from traitbench_app.shell import session
from traitbench_app.shell.service import client

WHY = "score.why"
HELP = (
    "Shows what each sentence (in a short text, each word) adds to a trait's score, and the most similar samples. It "
    "takes a moment, because the text is scored many times, with and without each part."
)

_EXPLAINED = "score.explained"
_EXCERPT = 160


def explained(handle: str, version_no: str, text: str) -> Mapping[str, Explanation]:
    """The service's reasons for a text, by trait; cached in the session for the same text and version."""
    asked = hashlib.sha256(repr((handle, version_no, text)).encode("utf-8", "surrogatepass")).hexdigest()
    known, card = session.get(_EXPLAINED, (None, None))
    if known != asked:
        card = client().scores.score(pin(handle, version_no), text, explain=True)
        session.store(_EXPLAINED, (asked, card))
    return (card.explanation or {}) if isinstance(card, Card) else {}


def pick_text(texts: Sequence[str]) -> int:
    """The index of the text whose reasons are shown."""
    if len(texts) == 1:
        return 0
    names = ("Text", "Second text")
    chosen = st.segmented_control("Reasons for", names, default=names[0], required=True, key="score.why_text")
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
    """Draw the reasons of one trait at a time, with a download of all; `card` is the card of `text`."""
    known = {trait.key: trait for trait in traits}
    with st.container(border=True, key="score.why_box"):
        key = st.selectbox(
            "Trait",
            list(reasons),
            format_func=lambda key: f"{names.get(key, key)} {card.scores[key]}",
            key="score.why_trait",
        )
        if key is None:
            return
        explanation, trait = reasons[key], known.get(key)
        poles = (trait.negative_label, trait.positive_label) if trait else (NEGATIVE_SIGN, POSITIVE_SIGN)
        st.markdown(_sum_in_words(explanation, poles))
        _draw_text(explanation, text, poles, file_name=f"{file_name}-reasons-{key}")
        _draw_decided(explanation, text)
        _draw_nearest(explanation, poles)
        st.download_button(
            "Download reasons (JSON)",
            json.dumps({key: each.model_dump(mode="json") for key, each in reasons.items()}, indent=2),
            file_name=f"{file_name}-reasons.json",
            mime="application/json",
            icon=":material/download:",
            key="score.why_json",
            on_click="ignore",
            type="tertiary",
        )


def _sum(explanation: Explanation) -> float:
    return explanation.position - explanation.baseline


def _sum_in_words(explanation: Explanation, poles: tuple[str, str]) -> str:
    total = _sum(explanation)
    if not total:
        return "Nothing in the text points to either side."
    return f"Together its parts point towards **{plain(poles[total > 0])}**. They add up to the score."


def _draw_text(explanation: Explanation, text: str, poles: tuple[str, str], *, file_name: str) -> None:
    by_pieces = any(part.pieces for part in explanation.parts)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        if by_pieces and len(explanation.parts) > 1:
            by = st.segmented_control(
                "Highlight", ["words", "sentences"], default="words", required=True, key="score.why_by",
                label_visibility="collapsed",
            )  # fmt: skip
            by_pieces = by != "sentences"
        as_table = st.toggle("As a table", key="score.why_as_table", persist_state="session")
        table = _table(explanation, text)
        download_table(table, key="score.why", file_name=file_name)
    if as_table:
        columns = {
            "Adds": st.column_config.NumberColumn(format="%+.3f"),
            "Text": st.column_config.Column(width="large"),
        }
        shown = table[["Part", "Adds", "Text"]]
        st.dataframe(shown, hide_index=True, width="stretch", key="score.why_rows", column_config=columns)
    else:
        st.html(legend(*poles))
        st.html(highlighted(explanation, text, by_pieces=by_pieces))
    if len(text) > MOST_SHOWN and not as_table:
        st.caption(f"The first {MOST_SHOWN:,} of {len(text):,} characters are shown. The table has every part.")
    if not explanation.refined:
        st.caption("The text is long, so only its most important segments are split into sentences.")


def _draw_decided(explanation: Explanation, text: str) -> None:
    decided = explanation.decided_by
    if decided is not None:
        excerpt = plain(shortened(text[decided.start : decided.end], _EXCERPT))
        st.markdown(f"**Decided by one part.** Only this part counts for the trait: “{excerpt}”")


def _draw_nearest(explanation: Explanation, poles: tuple[str, str]) -> None:
    if explanation.nearest is not None:
        st.markdown("**Most similar samples**")
        sides = (explanation.nearest.negative, explanation.nearest.positive)
        for place, pole, mark, side in zip(st.columns(2), poles, (NEGATIVE_SIGN, POSITIVE_SIGN), sides, strict=True):
            with place:
                st.caption(f"{mark} {plain(pole)}")
                st.markdown("\n".join(map(_neighbour, side)) or "None")
    if explanation.note:
        st.caption(plain(explanation.note))


def _neighbour(near: Neighbour) -> str:
    excerpt = f": {plain(shortened(near.text, _EXCERPT))}" if near.text else ""
    return f"- **{near.similarity:.2f}** \\#{near.id}{excerpt}"


def _table(explanation: Explanation, text: str) -> pd.DataFrame:
    return pd.DataFrame(rows(explanation, text), columns=list(COLUMNS))
