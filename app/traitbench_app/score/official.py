"""The service's own response next to the preview: a card or a comparison, each with its request id."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from traitbench.contract.scores import Card, Comparison
from traitbench.display.barchart import draw, draw_pair
from traitbench.display.text import plain
from traitbench.display.words import sentences
from traitbench.names import pin
from traitbench_app.parts.card import signed
from traitbench_app.parts.controls import download
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client

_CARD, _COMPARISON = "score.official", "score.official_pair"


@dataclass(frozen=True)
class Official:
    """A response of the service, and a digest of its request."""

    asked: str
    answer: Card | Comparison


def draw_official(handle: str, version_no: str, text: str, shown: Card) -> None:
    """Draw the button that scores with the service, and its response; the request id identifies it in the log."""
    asked = _digest(handle, version_no, text)
    if st.button("Score with the service", icon=":material/verified:", key="score.ask"):
        with attempt():
            session.store(_CARD, Official(asked, client().scores.score(pin(handle, version_no), text)))
    card = _stored(_CARD, asked)
    if not isinstance(card, Card):
        st.caption("The service returns the same scores as this preview, with a request ID.")
        return
    with st.container(border=True, key="score.official_box"):
        st.markdown(
            f"**Scored by the service** with {card.metadata.version_id}, {card.input_tokens} tokens: composite "
            f"**{card.composite}**. {_verdict([card], [shown])}"
        )
        st.markdown(f"Request `{card.metadata.request_id}`")
        download(
            "Card as JSON", card.model_dump_json(indent=2), f"{handle}-card.json", key="score.json", type="tertiary"
        )


def draw_official_pair(handle: str, version_no: str, texts: tuple[str, str], shown: Comparison) -> None:
    """Draw the button that compares with the service, and its response."""
    asked = _digest(handle, version_no, *texts)
    if st.button("Compare with the service", icon=":material/verified:", key="score.ask_pair"):
        with attempt():
            session.store(_COMPARISON, Official(asked, client().scores.compare(pin(handle, version_no), *texts)))
    comparison = _stored(_COMPARISON, asked)
    if not isinstance(comparison, Comparison):
        st.caption("The service returns the same comparison as this preview, with a request ID.")
        return
    a, b = comparison.a, comparison.b
    with st.container(border=True, key="score.official_pair_box"):
        st.markdown(
            f"**Compared by the service** with {a.metadata.version_id}: composite **{a.composite} → {b.composite}**, "
            f"{signed(comparison.improvement)}. {_verdict([a, b], [shown.a, shown.b])}"
        )
        st.markdown(f"Request `{a.metadata.request_id}`")
        download(
            "Comparison as JSON",
            comparison.model_dump_json(indent=2),
            f"{handle}-comparison.json",
            key="score.pair_json",
            type="tertiary",
        )


def draw_text(card: Card) -> None:
    """Draw the card as plain text, to copy."""
    st.code(draw(card), language=None)


def draw_text_pair(comparison: Comparison) -> None:
    """Draw both cards side by side as plain text, to copy."""
    st.code(draw_pair(comparison), language=None)


def _stored(key: str, asked: str) -> Card | Comparison | None:
    """The stored response, if it belongs to what is on screen."""
    official = session.get(key)
    return official.answer if isinstance(official, Official) and official.asked == asked else None


def _verdict(official: Sequence[Card], shown: Sequence[Card]) -> str:
    same = all(
        (one.scores, one.composite, one.detail) == (other.scores, other.composite, other.detail)
        for one, other in zip(official, shown, strict=True)
    )
    return "The scores are the same as above." if same else "The scores above differ. Use the service's scores."


def _digest(handle: str, version_no: str, *texts: str) -> str:
    return hashlib.sha256(repr((handle, version_no, texts)).encode("utf-8", "surrogatepass")).hexdigest()


_SURE = (
    "Sure: larger than the noise in the scores. For two texts at opposite poles, the order is right at least 9 times "
    "in 10."
)


def draw_differences(comparison: Comparison, names: Mapping[str, str]) -> None:
    """Draw in words which text is higher on which trait, and what that promises."""
    escaped = {key: f"**{plain(name)}**" for key, name in names.items()}
    st.markdown("\n".join(f"- {each}" for each in sentences(comparison, escaped, second="the second text")))
    st.caption(_SURE)
