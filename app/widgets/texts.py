"""The texts of the Score page: from a link or a sample into the fields, into the copied link, and to the service."""

import hashlib
from dataclasses import dataclass

import streamlit as st

from app import session
from app.examples import examples, sample_texts
from app.service import attempt, client
from core.contract.scores import Card
from core.errors import TraitbenchError

TEXT, AGAINST, COMPARE = "score.text", "score.against", "score.compare"
TEXTS_IN_LINK = 1_000
"""Both texts together; longer ones make addresses that browsers and mail programs cut."""

_RESTORED, _OFFICIAL, _TURN = "score.restored", "score.official", "score.turn"
_STRIDE = 37


def restore_texts() -> None:
    """Put the texts of a link into the fields, once; what is typed afterwards stays."""
    linked = (st.query_params.get("text", ""), st.query_params.get("against", ""))
    if linked == ("", "") or session.kept(_RESTORED) == linked:
        return
    session.keep(_RESTORED, linked)
    session.keep(TEXT, linked[0])
    if linked[1]:
        session.keep(AGAINST, linked[1])
        session.keep(COMPARE, True)


def link_texts() -> dict[str, str | None]:
    """The texts as part of a link, unless they are too long for one."""
    text = session.kept(TEXT, "")
    against = session.kept(AGAINST, "") if session.kept(COMPARE) else ""
    if len(text) + len(against) > TEXTS_IN_LINK:
        return {}
    return {"text": text, "against": against}


def offer_text(handle: str) -> None:
    """A button that puts a text into the field, another one each time: an example of a demo model, else a sample."""
    st.button(
        "Try an example" if examples(handle) else "Take a sample of this model",
        icon=":material/shuffle:",
        type="tertiary",
        key="score.take",
        help=None if examples(handle) else "The model was taught with it, so its score flatters.",
        on_click=_take,
        args=(handle,),
    )


def _take(handle: str) -> None:
    turn = session.kept(_TURN, 0)
    try:
        texts = examples(handle) or sample_texts(handle)
    except TraitbenchError:
        session.flash("The samples of this model cannot be read with this workbench's API key.", "problem")
        return
    if not texts:
        session.flash("This model has no samples yet.", "note")
        return
    session.keep(TEXT, texts[(turn * _STRIDE) % len(texts) if len(texts) % _STRIDE else turn % len(texts)])
    session.keep(_TURN, turn + 1)


# ---- the official score ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Official:
    """A card of the service, and what it was asked."""

    asked: str
    card: Card


def draw_official(handle: str, version_no: str, text: str, shown: Card) -> None:
    """Ask the service for the same card; its request id finds the call in the service's log."""
    asked = _digest(handle, version_no, text)
    if st.button("Score with the service", icon=":material/verified:", key="score.ask"):
        with attempt():
            session.keep(_OFFICIAL, Official(asked, client().scores.score(f"{handle}@{version_no}", text)))
    official = session.kept(_OFFICIAL)
    if not isinstance(official, Official) or official.asked != asked:
        st.caption("The preview is computed in this workbench. The service gives the same numbers, and a request id.")
        return
    card = official.card
    same = (card.scores, card.composite, card.detail) == (shown.scores, shown.composite, shown.detail)
    with st.container(border=True, key="score.official_box"):
        st.markdown(
            f"**Scored by the service** with {card.metadata.version_id}, {card.input_tokens} tokens: composite "
            f"**{card.composite}**. "
            + (
                "The same numbers as above."
                if same
                else "The numbers above differ; the service's are those that count."
            )
        )
        st.markdown(f"Request `{card.metadata.request_id}`")
        st.download_button(
            "Card as JSON",
            card.model_dump_json(indent=2),
            file_name=f"{handle}-card.json",
            mime="application/json",
            icon=":material/download:",
            key="score.json",
            on_click="ignore",
            type="tertiary",
        )


def _digest(handle: str, version_no: str, text: str) -> str:
    return hashlib.sha256(repr((handle, version_no, text)).encode("utf-8", "surrogatepass")).hexdigest()
