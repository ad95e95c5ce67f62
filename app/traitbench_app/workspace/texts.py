"""The texts of the Score page: filled in from a link, a sample or a web page, and part of the copied link."""

from collections.abc import Sequence

import streamlit as st

from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client
from traitbench_app.workspace.score_texts import examples, texts_to_try

TEXT, AGAINST, COMPARE = "score.text", "score.against", "score.compare"
TEXTS_IN_LINK = 1_000
"""Characters of both texts together; browsers and mail programs cut off longer URLs."""

IN_USE = "in use"

_RESTORED, _READ, _TURN = "score.restored", "score.read", "score.turn"
_HANDED, _USUAL = "score.handed", "score.usual_version"
_STRIDE = 37


def restore_texts() -> None:
    """Fill the text fields from a fetched web page or from a link, once."""
    if read := session.get(_READ):
        session.put(read)
        session.store(_READ, None)
    if handed := session.get(_HANDED):
        session.put({_USUAL: handed, TEXT: handed[0], AGAINST: "", COMPARE: False})
        session.store(_HANDED, None)
        session.store("version", None)
    linked = (st.query_params.get("text", ""), st.query_params.get("against", ""))
    if linked == ("", "") or session.get(_RESTORED) == linked:
        return
    session.store(_RESTORED, linked)
    session.store(TEXT, linked[0])
    if linked[1]:
        session.store(AGAINST, linked[1])
        session.store(COMPARE, True)


def hand_over(text: str | None, version: str = "") -> None:
    """Pass one text, with a version, to the Score page for its next visit; None cancels it."""
    session.store(_HANDED, None if text is None else (text, version))


def usual_version(numbers: Sequence[str]) -> str:
    """The version that scores unless another one is chosen: the one that was handed over, else the active one.

    It is not in the address, because that would be a second step for the browser's Back.
    """
    _, handed = session.get(_USUAL, ("", ""))
    return handed if handed in numbers else IN_USE


def link_texts() -> dict[str, str | None]:
    """The texts as query parameters; empty if they are too long."""
    text = session.get(TEXT, "")
    against = session.get(AGAINST, "") if session.get(COMPARE) else ""
    if len(text) + len(against) > TEXTS_IN_LINK:
        return {}
    return {"text": text, "against": against}


def offer_text(handle: str) -> None:
    """Draw a button that fills in another text each time: an example for a demo model, else one of its samples."""
    st.button(
        "Try an example" if examples(handle) else "Use a sample",
        icon=":material/shuffle:",
        key="score.take",
        help=None if examples(handle) else "The model was trained on this text, so a new text may score less clearly.",
        on_click=_take,
        args=(handle,),
    )


def offer_reading(key: str, address: str) -> None:
    """Draw a button that fetches the web page whose URL is in the field, and fills the field with its text."""
    with st.container(border=True, key=f"{key}.address"):
        st.markdown("**This is a web address.** The service can fetch the page, so that you can score its text.")
        if st.button("Fetch the text", icon=":material/travel_explore:", key=f"{key}.read"):
            with attempt() as reading, st.spinner("Fetching", show_time=True):
                session.store(_READ, {key: client().extract(address.strip()).content})
            if reading.done:
                st.rerun()


def _take(handle: str) -> None:
    turn, texts = session.get(_TURN, 0), texts_to_try(handle)
    if not texts:
        return
    session.store(TEXT, texts[(turn * _STRIDE) % len(texts) if len(texts) % _STRIDE else turn % len(texts)])
    session.store(_TURN, turn + 1)
